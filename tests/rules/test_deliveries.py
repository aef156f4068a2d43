from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.deliveries import (
    Absent,
    Delivered,
    Finding,
    Held,
    NotSent,
    Outcome,
    Unknown,
    Unreadable,
)
from recon.model.records.notices import Message, Notice
from recon.model.records.words import NoticeState
from recon.model.settings import SlackSettings
from recon.rules import deliveries

NOW = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)
BEFORE = NOW - timedelta(hours=1)
SETTINGS = SlackSettings(
    attempt_limit=3, look_up_after=timedelta(seconds=70), retry_after_limit=timedelta(seconds=300)
)
WAITING, UNKNOWN, SENT, UNDELIVERABLE = (
    NoticeState.WAITING,
    NoticeState.UNKNOWN,
    NoticeState.SENT,
    NoticeState.UNDELIVERABLE,
)
NOTICE = Notice(
    id=1,
    dedupe_key="k",
    delivery_id="d",
    thread_key="t",
    target="#refunds",
    verb="root",
    message=Message("hello"),
    case_ids=(),
    state=WAITING,
    created_at=BEFORE,
    next_at=BEFORE,
    attempts=1,
    first_sent_at=BEFORE,
)
NO = NotSent("no")
SLOW = NotSent("slow", retry_after_seconds=30, counted=False)


@pytest.mark.parametrize(
    "attempts,outcome,state,seconds,left",
    [
        # Sent for good.
        (1, Delivered("C1", "1.2"), SENT, None, 1),
        # A clear no of this message: growing pauses, until the limit.
        (1, NO, WAITING, 15, 1),
        (2, NO, WAITING, 30, 2),
        (3, NO, UNDELIVERABLE, None, 3),
        (4, NO, UNDELIVERABLE, None, 4),
        (1, replace(NO, retry_after_seconds=40.0), WAITING, 40, 1),
        (1, replace(NO, retry_after_seconds=9.0), WAITING, 15, 1),
        (1, replace(NO, retry_after_seconds=301.0), WAITING, 300, 1),
        (1, replace(NO, permanent=True), UNDELIVERABLE, None, 1),
        # A no that says nothing of this message: the attempt is taken back, however often.
        (1, SLOW, WAITING, 30, 0),
        (3, SLOW, WAITING, 30, 2),
        (9, SLOW, WAITING, 30, 8),
        (1, replace(SLOW, retry_after_seconds=0.0), WAITING, 1, 0),
        (1, replace(SLOW, retry_after_seconds=0.5), WAITING, 1, 0),
        (1, replace(SLOW, retry_after_seconds=9999.0), WAITING, 300, 0),
        (1, replace(SLOW, retry_after_seconds=None), WAITING, 30, 0),
        # Something else must come first.
        (1, Held("not now"), WAITING, 15, 0),
        (3, Held("not now"), WAITING, 15, 2),
        # Unknown: looked for, not before the timeout and a minute.
        (1, Unknown("silence"), UNKNOWN, 70, 1),
        (3, Unknown("silence"), UNKNOWN, 70, 3),
        (9, Unknown("silence"), UNKNOWN, 70, 9),
        # An edit is repeated instead, however long the silence lasts: nothing was said of this message.
        (1, Unknown("silence", repeatable=True), WAITING, 30, 0),
        (3, Unknown("silence", repeatable=True), WAITING, 30, 2),
    ],
)
def test_what_a_send_leads_to(
    attempts: int, outcome: Outcome, state: NoticeState, seconds: float | None, left: int
) -> None:
    after = deliveries.after(replace(NOTICE, attempts=attempts), outcome, now=NOW, settings=SETTINGS)

    assert (after.state, after.attempts) == (state, left)
    assert after.next_at == (BEFORE if seconds is None else NOW + timedelta(seconds=seconds))
    assert after.first_sent_at == (BEFORE if left else None)


@pytest.mark.parametrize(
    "attempts,misses,finding,state,seconds,missed,left",
    [
        (1, 0, Delivered("C1", "1.2"), SENT, None, 0, 1),
        (1, 1, Delivered("C1", "1.2"), SENT, None, 0, 1),
        (1, 0, Absent(), UNKNOWN, 60, 1, 1),
        (3, 0, Absent(), UNKNOWN, 60, 1, 3),
        # Never there: the attempt is taken back, however often, or an outage would use them all up.
        (1, 1, Absent(), WAITING, 0, 0, 0),
        (2, 1, Absent(), WAITING, 0, 0, 1),
        (3, 1, Absent(), WAITING, 0, 0, 2),
        (1, 0, Unreadable("no"), UNKNOWN, 60, 0, 1),
        (1, 1, Unreadable("no"), UNKNOWN, 60, 1, 1),
        (9, 1, Unreadable("no"), UNKNOWN, 60, 1, 9),
    ],
)
def test_what_a_look_up_leads_to(  # noqa: PLR0917 - the columns of the table
    attempts: int,
    misses: int,
    finding: Finding,
    state: NoticeState,
    seconds: float | None,
    missed: int,
    left: int,
) -> None:
    claimed = replace(NOTICE, state=UNKNOWN, attempts=attempts, misses=misses)

    after = deliveries.after(claimed, finding, now=NOW, settings=SETTINGS)

    assert (after.state, after.misses, after.attempts) == (state, missed, left)
    assert after.next_at == (BEFORE if seconds is None else NOW + timedelta(seconds=seconds))
    assert after.first_sent_at == BEFORE


def test_what_was_sent_says_where_it_is_and_nothing_went_wrong() -> None:
    claimed = replace(NOTICE, error="silence")

    after = deliveries.after(claimed, Delivered("C1", "1.2"), now=NOW, settings=SETTINGS)

    assert (after.channel, after.ts, after.sent_at, after.error) == ("C1", "1.2", NOW, None)


def test_a_new_silence_begins_the_looking_anew() -> None:
    claimed = replace(NOTICE, misses=1, attempts=2)

    assert deliveries.after(claimed, Unknown("silence"), now=NOW, settings=SETTINGS).misses == 0


def test_the_reason_is_kept_for_people() -> None:
    assert deliveries.after(NOTICE, NO, now=NOW, settings=SETTINGS).error == "no"
    last = deliveries.after(replace(NOTICE, attempts=3), NO, now=NOW, settings=SETTINGS)
    assert last.error == "no; given up after 3 attempts"


@pytest.mark.parametrize(
    "outcome,seconds",
    [
        (Delivered("C1", "1.2"), None),
        (NO, None),
        (Unknown("silence"), None),
        (replace(SLOW, retry_after_seconds=None), None),
        (SLOW, 30),
        (replace(SLOW, retry_after_seconds=0.0), 1),
        (replace(SLOW, retry_after_seconds=300.0), 300),
        (replace(SLOW, retry_after_seconds=86_400.0), 300),
        (replace(SLOW, retry_after_seconds=float("inf")), 300),
    ],
)
def test_a_place_rests_as_long_as_slack_asks_within_a_limit(outcome: Outcome, seconds: float | None) -> None:
    rest = deliveries.rest(outcome, SETTINGS)

    assert rest == (None if seconds is None else timedelta(seconds=seconds))


@pytest.mark.parametrize(
    "outcome,silent",
    [
        (Delivered("C1", "1.2"), False),
        (NO, False),
        (Absent(), False),
        (Held("claim"), False),
        (Unreadable("not_in_channel"), False),
        (Unknown("silence"), True),
        (Unknown("silence", repeatable=True), True),
        (Unreadable("silence", silent=True), True),
        (Held("silence", silent=True), True),
    ],
)
def test_silence_is_what_says_nothing_of_the_message(outcome: Outcome | Finding, silent: bool) -> None:  # noqa: FBT001
    assert deliveries.silent(outcome) == silent


HELLO = Message("hello", ({"type": "divider"},))


def test_a_message_for_somebody_who_cannot_be_written_to_says_whom_it_was_meant_for() -> None:
    meant = deliveries.addressed(HELLO, "ann@shop.example <!channel>")

    said = "Meant for ann@shop.example &lt;!channel&gt;, where Slack takes no message from us."
    assert meant.text == f"{said} hello"
    assert [block["type"] for block in meant.blocks] == ["context", "divider"]
    assert said in str(meant.blocks[0])
    assert deliveries.addressed(Message("hello"), "#closed").blocks == ()


@pytest.mark.parametrize(
    "full", [Message("x" * 3_990), Message("hello", tuple({"type": "divider"} for _ in range(50)))]
)
def test_a_message_that_has_no_room_for_it_stays_as_it_is(full: Message) -> None:
    assert deliveries.addressed(full, "#closed") == full


REASON = st.text("ab", max_size=3)
SECONDS = st.none() | st.floats(0, 1e9)
UNKNOWNS = st.builds(Unknown, REASON, st.booleans())
OUTCOMES = st.one_of(
    st.builds(Delivered, st.just("C1"), st.just("1.2")),
    st.builds(NotSent, REASON, SECONDS, st.booleans(), st.booleans(), st.booleans()),
    UNKNOWNS,
    st.builds(Held, REASON),
    st.builds(Unreadable, REASON),
    st.just(Absent()),
)


@given(
    outcome=OUTCOMES,
    attempts=st.integers(0, 10_000),
    misses=st.integers(0, 1),
    state=st.sampled_from([WAITING, UNKNOWN]),
)
def test_every_outcome_lets_go_and_never_names_another_message(
    outcome: Outcome | Finding, attempts: int, misses: int, state: NoticeState
) -> None:
    claimed = replace(NOTICE, attempts=attempts, misses=misses, state=state)

    after = deliveries.after(claimed, outcome, now=NOW, settings=SETTINGS)

    assert after.state is not NoticeState.SENDING
    assert (after.state is SENT) == isinstance(outcome, Delivered)
    assert (after.delivery_id, after.dedupe_key, after.message) == ("d", "k", NOTICE.message)
    assert after.next_at <= NOW + SETTINGS.retry_after_limit


@given(outcome=UNKNOWNS)
def test_what_may_have_been_sent_is_never_sent_again_without_two_complete_looks(outcome: Unknown) -> None:
    claimed = deliveries.after(NOTICE, replace(outcome, repeatable=False), now=NOW, settings=SETTINGS)
    once = deliveries.after(claimed, Absent(), now=NOW, settings=SETTINGS)
    unread = deliveries.after(once, Unreadable("no"), now=NOW, settings=SETTINGS)
    twice = deliveries.after(unread, Absent(), now=NOW, settings=SETTINGS)

    assert [each.state for each in (claimed, once, unread, twice)] == [UNKNOWN, UNKNOWN, UNKNOWN, WAITING]
