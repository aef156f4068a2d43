from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recon.delivery import deliver
from recon.doors.slack.posts import Slack
from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model.records.deliveries import Delivered, NotSent
from recon.model.records.notices import Message
from recon.model.records.words import NoticeState
from tests.doors.store.books import put_root
from tests.town import Town, a_notice, town

__all__ = ["town"]  # A fixture: pytest finds it by this name.

POST, EDIT = "POST /api/chat.postMessage", "POST /api/chat.update"


AFTER = ["drop_after", "hang_after", "cut_body_after", "html_200_after", "500_after", "fatal_error_after"]
BEFORE = ["drop_before", "500_before", "429", "fatal_error_before"]


@pytest.mark.parametrize("fault", AFTER)
def test_a_message_sent_without_an_answer_is_found_and_not_sent_again(town: Town, fault: str) -> None:
    town.sandbox.fault(POST, fault, after_s=1.5)
    town.add(a_notice("root"), a_notice("reply", "reply"))

    first = town.turn()
    assert (first.left[NoticeState.UNKNOWN], first.complete) == (1, False)
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


def test_a_message_that_fell_back_to_the_operators_is_looked_for_there(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.sandbox.control("slack", channels=[{"name": "closed", "archived": True}])
    town.add(a_notice("root", target="#closed"))
    with monkeypatch.context() as dying:
        dying.setattr(outbox, "record", _killed)
        with pytest.raises(Killed):
            town.turn()

    assert town.turns().complete
    assert len(town.sandbox.messages()) == 1


@pytest.mark.parametrize("verb", ["reply", "call"])
def test_a_reply_that_had_to_stand_by_itself_is_looked_for_in_the_channel(
    town: Town, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    town.add(a_notice("old"))
    town.turn()
    town.add(a_notice("new", message=Message("")), a_notice("alone", verb))
    town.turn(limit=1)
    town.sleep(1)
    with monkeypatch.context() as dying:
        dying.setattr(outbox, "record", _killed)
        with pytest.raises(Killed):
            town.turn()
    assert town.shown() == ["old", "alone"]

    town.turns()

    assert town.shown() == ["old", "alone"]


def test_a_reply_that_is_tried_in_its_thread_again_is_looked_for_where_it_ended(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.add(a_notice("root"))
    town.turn()
    put_root(town.database, "t1", channel=town.sandbox.messages()[0]["channel"], root_ts="1.000001")
    # It stood by itself before, without success; now its thread is gone, and it stands by itself again.
    town.add(a_notice("news", "reply", channel="#refunds"))
    town.sleep(1)
    with monkeypatch.context() as dying:
        dying.setattr(outbox, "record", _killed)
        with pytest.raises(Killed):
            town.turn()

    assert town.turns().complete
    assert town.shown() == ["root", "news"]


@pytest.mark.parametrize("verb", ["reply", "call"])
def test_a_reply_is_looked_for_in_the_thread_that_it_was_sent_to(
    town: Town, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    town.add(a_notice("root"))
    town.turn()
    town.add(a_notice("news", verb))
    town.sleep(1)
    with monkeypatch.context() as dying:
        dying.setattr(outbox, "record", _killed)
        with pytest.raises(Killed):
            town.turn()
    # Meanwhile the root could not be edited any more, and was posted anew.
    town.add(a_notice("anew", "edit"))
    monkeypatch.setattr(Slack, "edit", lambda *_, **__: NotSent("edit_window_closed", gone=True))
    town.sleep(1)
    assert town.turn().sent == 1

    assert town.turns().complete
    assert town.shown() == ["root", "news", "anew"]


def test_a_killed_edit_is_made_again_and_not_looked_for(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.add(a_notice("root"))
    town.turn()
    town.add(a_notice("edited", "edit"))
    with monkeypatch.context() as dying:
        dying.setattr(outbox, "record", _killed)
        with pytest.raises(Killed):
            town.turn()

    assert town.turns().complete
    assert town.shown() == ["edited"]
    assert town.sandbox.requests(path="/api/conversations.history") == []


def test_a_killed_senders_message_is_looked_for_a_timeout_and_a_minute_after_it_can_have_been_sent(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.add(a_notice("root"))
    with monkeypatch.context() as dying:
        dying.setattr(Slack, "post", _killed)
        with pytest.raises(Killed):
            town.turn()
    # It may have been sent until a timeout before the end of its claim.
    slack = town.settings.slack
    last = slack.claim - timedelta(seconds=slack.timeout_seconds)
    town.sleep((last + slack.look_up_after).total_seconds() - 1)
    assert town.turn().postponed == 0

    town.sleep(1)
    assert town.turn().postponed == 1
    assert len(town.sandbox.requests(path="/api/conversations.history")) == 1


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
        town.sleep(130)
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

    # Three silences in a row are taken for an outage, which the next turn may find over.
    reports = (town.turns(60) for _ in range(20))

    assert any(report.complete for report in reports)
    assert town.delivery_ids() == Counter(notice.delivery_id for notice in town.notices().values())
    assert len(town.sandbox.messages()) == 8


def _killed(*args: object, **more: object) -> None:
    raise Killed
