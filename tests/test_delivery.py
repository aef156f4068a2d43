from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recon.delivery import DeliveryReport, deliver, deliver_all
from recon.doors.slack import Slack
from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model.records.deliveries import Delivered
from recon.model.records.notices import Message, Notice, Thread
from recon.model.records.words import NoticeState
from recon.model.settings import Secret, Settings, SlackSettings
from tests.sandboxes import SLACK_TOKEN, Street

POST, EDIT = "POST /api/chat.postMessage", "POST /api/chat.update"
START = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)


@dataclass
class Town:
    """A database, a sandbox whose time is ours, and the settings that tie them together."""

    database: Database
    sandbox: Street
    settings: Settings
    now: datetime = START

    def clock(self) -> datetime:
        """Return the town's time, a moment later each time it is asked."""
        self.now += timedelta(milliseconds=1)
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass, here and there."""
        self.now += timedelta(seconds=seconds)
        self.sandbox.advance(seconds)

    def turn(self, *, limit: int = 200) -> DeliveryReport:
        """Take one turn."""
        slack = Slack(self.settings.slack)
        return deliver(self.database, slack, self.settings, clock=self.clock, sleep=self.sleep, limit=limit)

    def turns(self, minutes: float = 10) -> DeliveryReport:
        """Take turns until all is told."""
        slack, budget = Slack(self.settings.slack), timedelta(minutes=minutes)
        return deliver_all(
            self.database, slack, self.settings, clock=self.clock, sleep=self.long_sleep, budget=budget
        )

    def long_sleep(self, seconds: float) -> None:
        """Let more time pass than is asked for: fewer turns, the same end."""
        self.sleep(max(seconds, 20))

    def add(self, *notices: Notice) -> None:
        """Put notices into the outbox."""
        with self.database.write() as connection:
            outbox.add(connection, notices, [])

    def notices(self) -> dict[str, Notice]:
        """Return the outbox by dedupe key."""
        return {notice.dedupe_key: notice for notice in outbox.recent(self.database, 1000)}

    def shown(self) -> list[str]:
        """Return what people see, in order."""
        return [message["text"] for message in self.sandbox.messages()]

    def delivery_ids(self) -> Counter[str]:
        """Return how often each delivery id is visible."""
        return Counter(m["metadata"]["event_payload"]["delivery_id"] for m in self.sandbox.messages())


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    """A town at noon."""
    sandbox.set_time(START.isoformat())
    told = SlackSettings(bot_token=Secret(SLACK_TOKEN), base_url=sandbox.slack_url, timeout_seconds=1)
    return Town(database, sandbox, Settings(slack=told))


def a_notice(key: str, verb: str = "root", thread: str = "t1", **more: Any) -> Notice:  # noqa: ANN401 - any field
    ordinary = Notice(
        id=None,
        dedupe_key=key,
        delivery_id=f"delivery-{key}",
        thread_key=thread,
        target="#refunds",
        verb=verb,
        message=Message(key),
        case_ids=(),
        state=NoticeState.WAITING,
        created_at=START,
        next_at=START,
    )
    return replace(ordinary, **more)


# ------------------------------------------------------------------------------------ the ordinary day


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

    assert (town.shown(), first.postponed, first.complete) == ([], 1, False)
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
    outbox.save_root(town.database, "t1", channel=channel, root_ts="1.000001")
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
    outbox.save_root(town.database, "t1", channel=channel, root_ts="1.000001")
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


# ------------------------------------------------------------------------------------------- targets


def test_a_person_is_written_to_by_address_and_operators_when_nobody_has_it(town: Town) -> None:
    town.add(
        a_notice("known", target="ann@shop.example", thread="t1"),
        a_notice("nobody", target="gone@shop.invalid", thread="t2"),
        a_notice("group", target="S0123456789", thread="t3"),
    )

    town.turn()

    channels = {message["text"]: message["channel_name"] for message in town.sandbox.messages()}
    assert channels["nobody"] == channels["group"] == "refund-operators"
    assert channels["known"] != "refund-operators"


def test_a_target_that_takes_no_message_falls_back_to_the_operators_with_its_replies(town: Town) -> None:
    town.sandbox.control("slack", channels=[{"name": "closed", "archived": True}])
    town.add(a_notice("root", target="#closed"), a_notice("reply", "reply", target="#closed"))

    assert town.turn().complete
    root, reply = town.sandbox.messages()
    assert (root["channel_name"], reply["thread_ts"]) == ("refund-operators", root["ts"])


def test_what_slack_will_never_take_is_given_up_and_counted(town: Town) -> None:
    town.add(a_notice("root", message=Message("")), a_notice("fine", thread="t2"))

    report = town.turn()

    assert (report.sent, report.given_up, report.complete) == (1, 1, False)
    assert report.left[NoticeState.UNDELIVERABLE] == 1


# ------------------------------------------------------------------------------------------- weather

AFTER = ["drop_after", "hang_after", "cut_body_after", "html_200_after", "500_after", "fatal_error_after"]
BEFORE = ["drop_before", "500_before", "429", "fatal_error_before"]


@pytest.mark.parametrize("fault", AFTER)
def test_a_message_sent_without_an_answer_is_found_and_not_sent_again(town: Town, fault: str) -> None:
    town.sandbox.fault(POST, fault, after_s=1.5)
    town.add(a_notice("root"), a_notice("reply", "reply"))

    first = town.turn()
    assert first.left[NoticeState.UNKNOWN] == 1
    last = town.turns()

    assert town.shown() == ["root", "reply"]
    assert last.complete
    assert len(town.sandbox.requests(path="/api/chat.postMessage")) == 2


@pytest.mark.parametrize("fault", BEFORE)
def test_a_message_lost_on_its_way_is_sent_again_after_two_looks(town: Town, fault: str) -> None:
    town.sandbox.fault(POST, fault)
    town.add(a_notice("root"))

    assert town.turns().complete

    assert town.shown() == ["root"]
    assert set(town.delivery_ids().values()) == {1}
    looks = len(town.sandbox.requests(path="/api/conversations.history"))
    assert looks == (0 if fault == "429" else 2)


def test_a_look_that_fails_proves_nothing(town: Town) -> None:
    town.sandbox.fault(POST, "drop_after")
    town.sandbox.fault("POST /api/conversations.history", "500_before", times=5)
    town.add(a_notice("root"))

    assert town.turns(20).complete

    assert town.shown() == ["root"]
    assert len(town.sandbox.requests(path="/api/chat.postMessage")) == 1


def test_an_unknown_edit_is_repeated(town: Town) -> None:
    town.add(a_notice("root"))
    town.turn()
    town.sandbox.fault(EDIT, "drop_after")
    town.add(a_notice("edited", "edit"))

    assert town.turns().complete
    assert town.shown() == ["edited"]


def test_slack_being_away_for_hours_loses_nothing(town: Town) -> None:
    away = replace(town.settings, slack=replace(town.settings.slack, base_url="http://127.0.0.1:9/api/"))
    town.add(a_notice("root"))
    for _ in range(30):
        report = deliver(town.database, Slack(away.slack), away, clock=town.clock, sleep=town.sleep)
        assert report.given_up == 0
        town.sleep(300)

    assert town.turns().complete
    assert town.shown() == ["root"]


# --------------------------------------------------------------------------------- senders that die


class Killed(BaseException):
    """What SIGKILL is to a process: nothing more is written."""


def test_a_sender_that_dies_between_commit_and_send_loses_nothing(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.add(a_notice("root"))
    with monkeypatch.context() as dying:
        dying.setattr(Slack, "post", _killed)
        with pytest.raises(Killed):
            town.turn()
    assert town.notices()["root"].state is NoticeState.SENDING

    assert town.turn().sent == 0  # Its claim still holds.
    assert town.turns().complete

    assert town.shown() == ["root"]


def test_a_sender_that_dies_between_send_and_commit_is_not_repeated(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.add(a_notice("root"), a_notice("reply", "reply"))
    with monkeypatch.context() as dying:
        dying.setattr(outbox, "record", _killed)
        with pytest.raises(Killed):
            town.turn()
    assert town.shown() == ["root"]

    assert town.turns().complete

    assert town.shown() == ["root", "reply"]
    assert town.notices()["root"].ts == town.sandbox.messages()[0]["ts"]


def test_a_sender_whose_claim_ran_out_sends_nothing_more(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.add(a_notice("root"))
    real = outbox.threads

    def slowly(database: Database, keys: list[str]) -> Any:  # noqa: ANN401 - as the real one
        monkeypatch.setattr(outbox, "threads", real)
        town.sleep(59.5)
        return real(database, keys)

    monkeypatch.setattr(outbox, "threads", slowly)

    report = town.turn(limit=1)

    assert (report.sent, report.postponed, town.shown()) == (0, 1, [])
    assert town.turns().complete
    assert town.shown() == ["root"]


def test_a_sender_that_lost_its_claim_writes_nothing_over_its_successor(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.add(a_notice("root"))
    real = Slack.post

    def overtaken(self: Slack, message: Message, **sent: Any) -> Any:  # noqa: ANN401 - as the real one
        outcome = real(self, message, **sent)
        monkeypatch.setattr(Slack, "post", real)
        town.sleep(61)
        assert town.turn().sent == 1  # The successor looks, and finds it.
        assert isinstance(outcome, Delivered)
        return replace(outcome, ts="9.999999")

    monkeypatch.setattr(Slack, "post", overtaken)
    town.turn()

    assert town.notices()["root"].ts == town.sandbox.messages()[0]["ts"]
    assert town.shown() == ["root"]


FAULTS = [*AFTER, *BEFORE, "html_200_after"]


@pytest.mark.parametrize("seed", range(6))
def test_whatever_goes_wrong_every_message_is_seen_exactly_once(town: Town, seed: int) -> None:
    for number in range(12):
        fault = FAULTS[(seed * 7 + number * 5) % len(FAULTS)]
        place = (POST, "POST /api/conversations.history", "POST /api/conversations.replies")[number % 3]
        town.sandbox.fault(place, fault, times=1 + number % 2, after_s=1.2)
    town.add(*(a_notice(f"root {n}", thread=f"t{n}") for n in range(4)))
    town.add(*(a_notice(f"reply {n}", "reply", thread=f"t{n % 4}") for n in range(4)))

    report = town.turns(60)

    assert report.complete
    assert town.delivery_ids() == Counter(notice.delivery_id for notice in town.notices().values())
    assert len(town.sandbox.messages()) == 8


def _killed(*args: object, **more: object) -> None:
    raise Killed


def test_threads_are_known_by_their_own_target(town: Town) -> None:
    town.add(a_notice("root"))
    assert outbox.place(town.database, "#refunds") is None

    town.turn()

    thread = outbox.threads(town.database, ["t1"])["t1"]
    assert thread == Thread("t1", "#refunds", thread.channel, town.sandbox.messages()[0]["ts"])
    assert outbox.place(town.database, "#refunds") == thread.channel
