from dataclasses import replace
from datetime import timedelta

from recon.delivery import deliver
from recon.doors.store import outbox
from recon.model.records.notices import Message, Thread
from recon.model.records.words import NoticeState
from tests.doors.store.books import put_root
from tests.town import START, Town, a_notice, town

__all__ = ["town"]  # A fixture: pytest finds it by this name.

POST, EDIT = "POST /api/chat.postMessage", "POST /api/chat.update"


def test_a_root_comes_before_its_replies_and_a_second_turn_says_nothing(town: Town) -> None:
    town.add(a_notice("root"), a_notice("reply 1", "reply"), a_notice("reply 2", "reply"))

    report = town.turn()
    again = town.turn()

    assert town.shown() == ["root", "reply 1", "reply 2"]
    root, first, second = town.sandbox.messages()
    assert (first["thread_ts"], second["thread_ts"]) == (root["ts"], root["ts"])
    assert (report.sent, report.postponed, report.waiting, report.complete) == (3, 0, 0, True)
    assert (again.sent, again.complete) == (0, True)
    told = town.notices()["root"]
    assert (told.state, told.ts, told.attempts) == (NoticeState.SENT, root["ts"], 1)


def test_a_reply_waits_for_its_root_without_using_up_attempts(town: Town) -> None:
    town.add(a_notice("root", next_at=START + timedelta(minutes=2)), a_notice("reply", "reply"))

    first = town.turn()

    assert (town.shown(), first.postponed, first.waiting) == ([], 0, 2)
    assert town.notices()["reply"].attempts == 0
    town.turns()
    assert town.shown() == ["root", "reply"]


def test_an_edit_stands_in_the_place_of_the_root(town: Town) -> None:
    town.add(a_notice("root"))
    town.turn()
    town.add(a_notice("edited", "edit"))

    assert town.turn().sent == 1
    assert town.shown() == ["edited"]


def test_an_edit_never_puts_the_past_over_a_later_one(town: Town) -> None:
    town.add(a_notice("root"))
    town.turn()
    town.add(a_notice("older", "edit", next_at=START + timedelta(minutes=3)), a_notice("newer", "edit"))

    town.turns()

    assert town.shown() == ["newer"]
    assert town.notices()["older"].state is NoticeState.SENT
    assert len(town.sandbox.requests(path="/api/chat.update")) == 1


def test_a_root_that_is_gone_is_posted_anew_and_later_replies_follow_it(town: Town) -> None:
    town.add(a_notice("root"))
    town.turn()
    channel = outbox.threads(town.database, ["t1"])["t1"].channel
    assert channel is not None
    put_root(town.database, "t1", channel=channel, root_ts="1.000001")
    town.add(a_notice("anew", "edit"), a_notice("reply", "reply"))
    town.sleep(1)

    assert town.turns().complete
    anew, reply = town.sandbox.messages()[1:]
    assert (anew["text"], anew["thread_ts"]) == ("anew", None)
    assert (reply["text"], reply["thread_ts"]) == ("reply", anew["ts"])


def test_a_reply_whose_thread_is_gone_stands_by_itself(town: Town) -> None:
    town.add(a_notice("root"))
    town.turn()
    channel = outbox.threads(town.database, ["t1"])["t1"].channel
    assert channel is not None
    put_root(town.database, "t1", channel=channel, root_ts="1.000001")
    town.sandbox.fault(POST, "latency", after_s=0)  # The answer that says so.
    town.sandbox.fault(POST, "drop_after")
    town.add(a_notice("reply", "reply"))

    assert town.turns().complete
    assert [message["thread_ts"] for message in town.sandbox.messages()] == [None, None]
    assert town.shown() == ["root", "reply"]


def test_one_message_a_second_and_channel_is_never_exceeded(town: Town) -> None:
    town.add(*(a_notice(f"n{n}", thread=f"t{n}") for n in range(5)))

    report = town.turn()

    assert report.sent == 5
    assert {
        request["answer"]["status"] for request in town.sandbox.requests(path="/api/chat.postMessage")
    } == {200}


def test_somebody_elses_messages_only_make_ours_later(town: Town) -> None:
    town.sandbox.fault(POST, "429", times=9, after_s=3)
    town.add(a_notice("root"))

    first = town.turn()

    assert (first.postponed, first.given_up, first.reasons) == (1, 0, ("Slack said ratelimited",))
    assert town.turns().complete
    assert town.shown() == ["root"]


def test_without_a_token_notices_wait_and_the_report_says_so(town: Town) -> None:
    town.add(a_notice("root"))

    report = deliver(town.database, None, town.settings, clock=town.clock)

    assert (report.enabled, report.sent, report.waiting) == (False, 0, 1)
    assert town.notices()["root"].attempts == 0


def test_a_turn_has_a_limit(town: Town) -> None:
    town.add(*(a_notice(f"n{n}", thread=f"t{n}") for n in range(3)))

    report = town.turn(limit=2)

    assert (report.sent, report.waiting) == (2, 1)


def test_a_person_is_written_to_by_address_and_operators_when_nobody_has_it(town: Town) -> None:
    town.add(
        a_notice("known", target="ann@shop.example", thread="t1"),
        a_notice("nobody", target="gone@shop.invalid", thread="t2"),
        a_notice("group", target="S0123456789", thread="t3"),
    )

    town.turn()

    channels = {message["text"]: message["channel_name"] for message in town.sandbox.messages()}
    nobody = "Meant for gone@shop.invalid, where Slack takes no message from us. nobody"
    assert channels[nobody] == channels["group"] == "refund-operators"
    assert channels["known"] != "refund-operators"


def test_a_target_that_takes_no_message_falls_back_to_the_operators_with_its_replies(town: Town) -> None:
    town.sandbox.control("slack", channels=[{"name": "closed", "archived": True}])
    town.add(a_notice("root", target="#closed"), a_notice("reply", "reply", target="#closed"))

    assert town.turn().complete
    root, reply = town.sandbox.messages()
    assert (root["channel_name"], reply["thread_ts"]) == ("refund-operators", root["ts"])
    assert root["text"] == "Meant for #closed, where Slack takes no message from us. root"


def test_what_slack_will_never_take_is_given_up_and_counted(town: Town) -> None:
    town.add(a_notice("root", message=Message("")), a_notice("fine", thread="t2"))

    report = town.turn()

    assert (report.sent, report.given_up, report.complete) == (1, 1, False)
    assert report.left[NoticeState.UNDELIVERABLE] == 1


def test_a_thread_is_known_by_its_target_and_where_its_root_is(town: Town) -> None:
    town.add(a_notice("root"))

    town.turn()

    (message,) = town.sandbox.messages()
    root = town.notices()["root"]
    expected = Thread("t1", "#refunds", message["channel"], message["ts"], root.id)
    assert outbox.threads(town.database, ["t1"])["t1"] == expected


def test_a_call_is_in_its_thread_and_in_the_channel(town: Town) -> None:
    town.add(a_notice("root"), a_notice("call", "call"), a_notice("reply", "reply"))

    town.turn()

    root, *others = town.sandbox.messages()
    assert [(each["thread_ts"], each["broadcast"]) for each in others] == [
        (root["ts"], True),
        (root["ts"], False),
    ]


def test_a_new_root_takes_over_what_follows_and_an_older_edit_shows_how_the_former_one_ended(
    town: Town,
) -> None:
    town.add(a_notice("old"), a_notice("old reply", "reply"))
    town.turn()
    town.add(a_notice("edit", "edit"), a_notice("new"), a_notice("new reply", "reply"))
    town.sleep(1)

    assert town.turn().complete
    old, old_reply, new, new_reply = town.sandbox.messages()
    assert (old["text"], bool(old["edited"]), old_reply["thread_ts"]) == ("edit", True, old["ts"])
    assert (new["text"], new["thread_ts"], new_reply["thread_ts"]) == ("new", None, new["ts"])
    thread = outbox.threads(town.database, ["t1"])["t1"]
    assert (thread.root_ts, thread.root_id) == (new["ts"], town.notices()["new"].id)


def test_an_edit_that_had_to_be_posted_is_the_root_of_its_thread(town: Town) -> None:
    town.add(a_notice("root"))
    town.turn()
    town.add(a_notice("edit", "edit"))
    put_root(town.database, "t1", channel=town.sandbox.messages()[0]["channel"], root_ts="1.000001")
    town.sleep(1)

    town.turn()

    thread = outbox.threads(town.database, ["t1"])["t1"]
    assert (thread.root_ts, thread.root_id) == (town.sandbox.messages()[1]["ts"], town.notices()["edit"].id)


def test_what_was_to_go_under_a_root_that_never_came_stands_by_itself(town: Town) -> None:
    town.add(
        a_notice("root", message=Message("")),
        a_notice("reply", "reply"),
        a_notice("call", "call"),
        a_notice("edit", "edit"),
    )

    report = town.turns()

    assert (report.given_up, report.waiting) == (1, 0)
    assert town.notices()["root"].state is NoticeState.UNDELIVERABLE
    assert town.notices()["root"].error == "The message has 0 characters; expected 1 to 4000."
    shown = {each["text"]: each["thread_ts"] for each in town.sandbox.messages()}
    edit = next(each["ts"] for each in town.sandbox.messages() if each["text"] == "edit")
    # The edit, which shows how the thread stands, is its root from then on.
    assert set(shown) == {"reply", "call", "edit"}
    assert set(shown.values()) <= {None, edit}
    assert outbox.threads(town.database, ["t1"])["t1"].root_ts == edit


def test_without_a_root_only_the_latest_edit_is_posted(town: Town) -> None:
    town.add(a_notice("root", message=Message("")), a_notice("older", "edit"), a_notice("newer", "edit"))

    town.turns()

    assert town.shown() == ["newer"]
    assert town.notices()["older"].state is NoticeState.SENT
    assert outbox.roots(town.database, "t1", limit=9) == (
        (town.sandbox.messages()[0]["channel"], town.sandbox.messages()[0]["ts"]),
    )


def test_under_a_former_root_nothing_is_said_of_a_new_one_that_never_came(town: Town) -> None:
    town.add(a_notice("old"))
    town.turn()
    town.add(a_notice("new", message=Message("")), a_notice("reply", "reply"))
    town.sleep(1)

    town.turn()

    assert [(each["text"], each["thread_ts"]) for each in town.sandbox.messages()] == [
        ("old", None),
        ("reply", None),
    ]


def test_a_poisoned_reply_ends_visibly_and_what_follows_goes_on(town: Town) -> None:
    town.add(a_notice("root"), a_notice("poison", "reply", message=Message("")), a_notice("next", "reply"))

    report = town.turn()

    assert (report.sent, report.given_up, report.complete) == (2, 1, False)
    assert report.reasons == ("The message has 0 characters; expected 1 to 4000.",)
    assert town.shown() == ["root", "next"]


def test_a_notice_that_waits_for_its_owners_morning_is_not_late(town: Town) -> None:
    town.add(a_notice("root", next_at=START + timedelta(hours=9)), a_notice("reply", "reply"))

    report = town.turn()

    assert (report.waiting, report.late, report.complete) == (2, 0, True)
    town.sleep(9 * 3600)
    assert town.turn().sent == 2


def test_an_owners_file_that_is_wrong_keeps_no_message_back(town: Town) -> None:
    topic = "#refunds|duplicate|high||live"
    town.settings = replace(town.settings, owners={"rules": 3})
    town.add(a_notice("root", thread=topic), a_notice("stale", thread="stale|none|00000"))

    assert town.turn().sent == 2
