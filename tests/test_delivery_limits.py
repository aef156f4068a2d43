"""What Slack's limits and its outages make of an outbox: paced, in order, and nothing lost."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from recon.delivery import SILENCES, deliver, deliver_all
from recon.doors.slack.posts import Slack
from recon.model.records.notices import Notice
from recon.model.records.words import NoticeState
from recon.sandbox.faults import Faults
from tests.town import START, Town, a_notice, town

__all__ = ["town"]  # A fixture: pytest finds it by this name.

POST, EDIT = "POST /api/chat.postMessage", "POST /api/chat.update"
SENT_TO = "/api/chat.postMessage"


def two_channels() -> Iterator[Notice]:
    """Return three threads in each of two channels."""
    for name in "ab":
        yield from (a_notice(f"{name}{n}", thread=f"{name}{n}", target=f"#{name}") for n in range(3))


def seconds(town: Town) -> float:
    """Return how long the town's clock has gone."""
    return (town.now - START).total_seconds()


def posts(town: Town) -> list[str]:
    """Return what was asked to be posted, in order, whatever came of it."""
    return [request["form"]["text"] for request in town.sandbox.requests(path=SENT_TO)]


def test_channels_that_rest_are_waited_for_only_when_nothing_goes_elsewhere(town: Town) -> None:
    town.add(
        *(a_notice(f"{name}{n}", thread=f"{name}{n}", target=f"#{name}") for name in "ab" for n in range(3))
    )

    assert town.turn().sent == 6
    assert posts(town) == ["a0", "b0", "a1", "b1", "a2", "b2"]
    assert {each["answer"]["status"] for each in town.sandbox.requests(path=SENT_TO)} == {200}
    assert 2 <= seconds(town) < 2.5


def test_a_channel_has_one_pace_under_all_its_names(town: Town) -> None:
    town.add(a_notice("a"), a_notice("b", thread="t2", target="ann@shop.example"))
    town.turn()
    town.sleep(1)
    # Another sender, which knows the channels by their threads only.
    town.add(a_notice("in a", "reply"), a_notice("c", thread="t3"))
    town.add(a_notice("in b", "reply", "t2"), a_notice("d", thread="t4", target="ann@shop.example"))

    assert town.turn().sent == 4
    assert {each["answer"]["status"] for each in town.sandbox.requests(path=SENT_TO)} == {200}


def test_the_workspace_takes_so_many_messages_a_minute(town: Town) -> None:
    told = replace(town.settings.slack, messages_per_minute=20)
    town.settings = replace(town.settings, slack=told)
    town.add(*(a_notice(f"n{n}", thread=f"t{n}", target=f"#c{n}") for n in range(5)))

    assert town.turn().sent == 5
    assert 4 * 3 <= seconds(town) < 13


def test_edits_keep_their_own_pace_and_hold_up_no_message(town: Town) -> None:
    town.add(*(a_notice(f"n{n}", thread=f"t{n}", target=f"#c{n}") for n in range(4)))
    town.turn()
    town.sleep(1)
    began = seconds(town)
    town.add(*(a_notice(f"e{n}", "edit", thread=f"t{n}") for n in range(4)), a_notice("new", thread="t9"))

    assert town.turn().sent == 5
    assert 3 * 1.2 <= seconds(town) - began < 4.5
    assert [each["path"] for each in town.sandbox.requests()][-5:].index(SENT_TO) == 1


def test_a_channel_that_was_too_much_for_rests_and_the_others_go_on(town: Town) -> None:
    town.sandbox.fault(POST, "429", after_s=120, match={"channel": "#a"})
    town.add(
        *(a_notice(f"{name}{n}", thread=f"{name}{n}", target=f"#{name}") for name in "ab" for n in range(3))
    )

    first = town.turn()

    assert posts(town) == ["a0", "b0", "b1", "b2"]
    assert (first.sent, first.postponed, first.waiting, first.late) == (3, 1, 3, 3)
    town.sleep(100)
    assert town.turn().sent == 0  # Another process, say: it obeys as well.
    assert town.turns().complete
    assert sorted(posts(town)[4:]) == ["a0", "a1", "a2"]
    assert {notice.attempts for notice in town.notices().values()} == {1}


@pytest.mark.parametrize("asked, rests", [(30.0, 30), (86_400.0, 300)])
def test_a_rest_is_as_long_as_slack_asks_and_no_longer_than_the_limit(
    town: Town, asked: float, rests: int
) -> None:
    town.sandbox.fault(POST, "429", after_s=asked)
    town.add(a_notice("a"), a_notice("b", thread="t2"))

    town.turn()

    resting = {notice.next_at - town.now for notice in town.notices().values()}
    assert all(timedelta(seconds=rests - 1) < each <= timedelta(seconds=rests) for each in resting)


def test_too_many_edits_rest_all_edits_and_no_message(town: Town) -> None:
    town.add(a_notice("a"), a_notice("b", thread="t2"))
    town.turn()
    town.sandbox.fault(EDIT, "429", after_s=60)
    town.sleep(1)
    town.add(a_notice("ea", "edit"), a_notice("eb", "edit", thread="t2"), a_notice("c", thread="t3"))

    report = town.turn()

    assert (report.sent, report.postponed, report.waiting) == (1, 1, 2)
    assert len(town.sandbox.requests(path="/api/chat.update")) == 1
    assert town.turns().complete
    assert set(town.shown()) == {"ea", "eb", "c"}


@pytest.mark.parametrize("budget, sent", [(0, 9), (3, 4)])
def test_no_message_is_begun_after_the_budget_and_without_one_each_is_tried_once(
    town: Town, budget: int, sent: int
) -> None:
    town.add(*(a_notice(f"n{number}", thread=f"t{number}") for number in range(9)))
    report = deliver_all(
        town.database,
        Slack(town.settings.slack),
        town.settings,
        clock=town.clock,
        sleep=town.sleep,
        budget=timedelta(seconds=budget),
    )

    assert (report.sent, report.waiting) == (sent, 9 - sent)


def test_urgent_messages_go_first_and_hold_up_nobody_for_ever(town: Town) -> None:
    early = START - timedelta(hours=1)
    town.add(a_notice("digest", thread="d", urgency=0, next_at=early))
    town.add(*(a_notice(f"critical {n}", thread=f"t{n}", urgency=3) for n in range(9)))

    town.turn()

    assert posts(town).index("digest") == 4
    assert posts(town)[:4] == [f"critical {n}" for n in range(4)]


def test_an_outage_of_a_day_loses_nothing_and_ends_without_a_storm(town: Town) -> None:
    hours, beats = 24, 2
    town.add(*(a_notice(f"r{n}", thread=f"t{n}", target=f"#c{n % 3}") for n in range(9)))
    town.add(*(a_notice(f"r{n}-{m}", "reply", thread=f"t{n}") for n in range(9) for m in range(3)))
    for method in ("chat.postMessage", "conversations.history", "conversations.replies"):
        town.sandbox.fault(f"POST /api/{method}", "500_before", times=10_000)
    for _ in range(hours * beats):
        report = town.turn()
        assert (report.given_up, report.away) == (0, True)
        town.sleep(3600 / beats)
    asked, unknown = len(town.sandbox.requests()), report.left[NoticeState.UNKNOWN]
    town.sandbox.running.state.faults = Faults()

    assert any(town.turns(60).complete for _ in range(3))

    assert town.delivery_ids() == Counter({each.delivery_id: 1 for each in town.notices().values()})
    for n in range(9):
        thread = [text for text in town.shown() if text.startswith(f"r{n}")]
        assert thread == [f"r{n}", *(f"r{n}-{m}" for m in range(3))]
    assert {notice.attempts for notice in town.notices().values()} == {1}
    # What was asked in vain: a few questions a turn, of a few messages.
    assert (unknown, asked) <= (SILENCES, hours * beats * (2 * SILENCES + 1))
    answers = town.sandbox.requests()[asked:]
    assert Counter(each["answer"]["status"] for each in answers) == {200: len(answers)}


def test_slack_that_cannot_be_reached_ends_the_turn_at_once(town: Town) -> None:
    told = replace(town.settings.slack, base_url="http://127.0.0.1:9/api/")
    away = replace(town.settings, slack=told)
    town.add(*(a_notice(f"n{n}", thread=f"t{n}") for n in range(3)))

    report = deliver(town.database, Slack(told), away, clock=town.clock, sleep=town.sleep)

    assert (report.away, report.postponed, report.waiting) == (True, 1, 3)
    assert report.reasons == ("Slack was not reached (ConnectionRefusedError).",)


def test_an_address_that_cannot_be_asked_for_holds_up_nobody_else(town: Town) -> None:
    town.sandbox.fault("POST /api/users.lookupByEmail", "500_before", times=2)
    town.add(a_notice("ann", target="ann@shop.example", urgency=3), a_notice("fine", thread="t2"))

    first = town.turn()

    assert (first.sent, first.postponed, first.away) == (1, 1, False)
    assert town.notices()["ann"].attempts == 0
    assert town.turns().complete
