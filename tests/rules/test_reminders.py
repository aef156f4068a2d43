"""Who is reminded when: tables of the chain and of days, and the law that a day has one digest at most."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.cases import Case, Owner
from recon.model.records.notices import Manner, Topic
from recon.model.records.owners import Profile, Step
from recon.model.records.reminders import Holdings, Note, Pile, Unanswered
from recon.model.records.words import Kind, Severity
from recon.model.settings import Settings
from recon.rules import reminders
from tests.builders import NOON, a_case, a_mismatch
from tests.doors.store.books import case_of

HOUR = timedelta(hours=1)
LEADS = Profile(
    "leads",
    "#leads",
    steps=(Step(HOUR, "head", "U0HEAD"), Step(4 * HOUR, "operators", "#operators")),
)
HEAD = Profile("head", "U0HEAD", zone=ZoneInfo("Europe/Berlin"), rest=(time(22), time(7)))
PROFILES = {each.name: each for each in (LEADS, HEAD)}


def manner(now: datetime = NOON) -> Manner:
    return Manner.of(Settings(), PROFILES, livemode=True, as_of=now, now=now)


def unanswered(
    number: int = 1, *, said: frozenset[str] = frozenset(), severity: Severity = Severity.HIGH
) -> Unanswered:
    case = replace(case_of(number), owner=Owner("leads", "#leads", "everything"), severity=severity)
    return Unanswered(case, since=3, told_at=NOON, said=said)


def step(number: int) -> str:
    return f"escalation {number} of leads since version 3"


@pytest.mark.parametrize(
    "after, said, target, noted",
    [
        (timedelta(0), (), None, ()),
        (HOUR - timedelta(microseconds=1), (), None, ()),
        (HOUR, (), "U0HEAD", (1,)),
        (3 * HOUR, (1,), None, ()),
        (4 * HOUR, (1,), "#operators", (2,)),
        (4 * HOUR, (), "#operators", (1, 2)),
        (9 * HOUR, (1, 2), None, ()),
        (9 * HOUR, (2,), None, (1,)),  # A louder one stood for it.
    ],
)
def test_the_last_step_that_is_due_is_said_and_those_before_it_count_as_said(
    after: timedelta, said: tuple[int, ...], target: str | None, noted: tuple[int, ...]
) -> None:
    waiting = unanswered(said=frozenset(map(step, said)))

    found = reminders.escalations([waiting], manner(NOON + after))

    assert [each.target for each in found.notices] == ([target] if target else [])
    assert found.notes == tuple(Note(waiting.case.id, step(number)) for number in noted)


@pytest.mark.parametrize(
    "severity, held",
    [(Severity.CRITICAL, False), (Severity.HIGH, True), (Severity.MEDIUM, True), (Severity.LOW, True)],
)
def test_only_what_is_critical_wakes_who_comes_next(severity: Severity, held: bool) -> None:  # noqa: FBT001
    late = datetime(2026, 3, 6, 21, 30, tzinfo=UTC)  # Half past ten in Berlin.
    waiting = replace(unanswered(severity=severity), told_at=late - HOUR)

    (notice,) = reminders.escalations([waiting], manner(late)).notices

    assert notice.next_at == (datetime(2026, 3, 7, 6, 0, tzinfo=UTC) if held else late)


def test_nobody_is_asked_after_a_case_that_is_nobodys() -> None:
    nobodys = [replace(unanswered().case, owner=owner) for owner in (None, Owner("nobody", "", "x"))]

    found = reminders.escalations([Unanswered(case, 1, NOON) for case in nobodys], manner(NOON + 99 * HOUR))

    assert found == reminders.Said()


def test_replanning_says_the_same_and_the_order_changes_only_the_order() -> None:
    waiting = [unanswered(number) for number in range(9)]

    first, again = (
        reminders.escalations(each, manner(NOON + HOUR)).notices for each in (waiting, waiting[::-1])
    )

    assert [each.dedupe_key for each in first] == [each.dedupe_key for each in again]
    assert [each.message.text for each in first] == [each.message.text for each in again]


def test_two_steps_with_one_target_are_two_messages() -> None:
    same = replace(LEADS, steps=tuple(replace(each, target="U0HEAD", owner="head") for each in LEADS.steps))
    told = [
        reminders.escalations(
            [unanswered(said=said)],
            replace(manner(NOON + after), profiles={"leads": same}),
        ).notices[0]
        for after, said in ((HOUR, frozenset()), (4 * HOUR, frozenset({step(1)})))
    ]

    assert len({each.dedupe_key for each in told}) == len({each.delivery_id for each in told}) == 2


DAYS = [
    # In a zone without changes, at nine.
    ("UTC", time(9), None, date(2026, 3, 6), "2026-03-06T09:00"),
    # A zone fourteen hours ahead: its day begins on the day before.
    ("Pacific/Kiritimati", time(9), None, date(2026, 3, 6), "2026-03-05T19:00"),
    ("Pacific/Kiritimati", time(0), None, date(2026, 3, 6), "2026-03-05T10:00"),
    ("Etc/GMT+12", time(9), None, date(2026, 3, 6), "2026-03-06T21:00"),
    # Clocks go on: half past two is not there, and told when it would have been.
    ("Europe/Berlin", time(2, 30), None, date(2026, 3, 29), "2026-03-29T01:30"),
    ("Europe/Berlin", time(9), None, date(2026, 3, 29), "2026-03-29T07:00"),
    # Clocks go back: half past two is there twice, and told the first time.
    ("Europe/Berlin", time(2, 30), None, date(2026, 10, 25), "2026-10-25T00:30"),
    ("Europe/Berlin", time(9), None, date(2026, 10, 25), "2026-10-25T08:00"),
    # There is no midnight on that day.
    ("America/Havana", time(0), None, date(2026, 3, 8), "2026-03-08T05:00"),
    # At rest: told when the rest ends, on the same day.
    ("UTC", time(6), (time(22), time(7)), date(2026, 3, 6), "2026-03-06T07:00"),
    ("UTC", time(23), (time(22), time(7)), date(2026, 3, 6), "2026-03-06T07:00"),
    ("UTC", time(7), (time(22), time(7)), date(2026, 3, 6), "2026-03-06T07:00"),
    ("UTC", time(12), (time(12), time(14)), date(2026, 3, 6), "2026-03-06T14:00"),
]


@pytest.mark.parametrize("zone, at, rest, day, expected", DAYS)
def test_a_digest_is_due_at_its_time_of_its_owners_day(
    zone: str, at: time, rest: tuple[time, time] | None, day: date, expected: str
) -> None:
    profile = Profile("ana", "#ana", zone=ZoneInfo(zone), rest=rest, digest_at=at)

    moment = reminders.digest_moment(profile, day)

    assert f"{moment:%Y-%m-%dT%H:%M}" == expected


ZONES = ["UTC", "Europe/Berlin", "Pacific/Kiritimati", "America/Havana", "Australia/Lord_Howe", "Etc/GMT+12"]
times = st.times().map(lambda each: each.replace(second=0, microsecond=0))
profiles = st.builds(
    Profile,
    name=st.just("ana"),
    target=st.just("#ana"),
    zone=st.sampled_from(ZONES).map(ZoneInfo),
    rest=st.none() | st.tuples(times, times).filter(lambda pair: pair[0] != pair[1]),
    digest_at=times,
)


@given(
    profile=profiles,
    begins=st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 30)).map(lambda at: at.replace(tzinfo=UTC)),  # noqa: DTZ001 -- hypothesis wants naive bounds
    pauses=st.lists(st.timedeltas(timedelta(seconds=1), timedelta(hours=30)), max_size=40),
)
def test_a_day_has_one_digest_where_somebody_looked_after_it_was_due_and_never_two(
    profile: Profile, begins: datetime, pauses: list[timedelta]
) -> None:
    now, told = begins, []
    expected = set()
    for pause in pauses:
        now += pause
        day = now.astimezone(profile.zone).date()
        expected |= {day} if now >= reminders.digest_moment(profile, day) else set()
        for morning in reminders.mornings([], {"ana": profile}, now=now):
            note = reminders.note_of(morning)
            if note not in told:
                told.append(note)
                assert profile.awake_at(morning.at) == morning.at
                assert morning.at.astimezone(profile.zone).date() == morning.day == day
                assert morning.since < morning.at

    assert [each.name for each in told] == [f"digest {day}" for day in sorted(expected)]


def test_who_reads_in_one_place_gets_one_digest_and_who_wants_none_gets_none() -> None:
    ana, ben = Profile("ana", "#both", digest_at=time(10)), Profile("ben", "#both", digest_at=time(8))
    no = Profile("no", "#no", digest_at=None)
    known = {each.name: each for each in (ben, ana, no)}

    found = reminders.mornings(["#both", "#no", "U0HAND", ""], known, now=NOON)

    assert [(each.profile.target, each.at.hour) for each in found] == [("#both", 10), ("U0HAND", 9)]


def test_a_morning_without_a_case_is_done_without_a_word() -> None:
    (morning,) = reminders.mornings([], {"ana": Profile("ana", "#ana")}, now=NOON)
    pile = Pile(Kind.DUPLICATE, Severity.HIGH, 1, 1, {"usd": 1}, NOON)
    some = Holdings("#ana", ("ana",), piles=(pile,))

    said = [
        len(reminders.digest(morning, each, manner()).notices)
        for each in (some, replace(some, piles=()), replace(some, known=False))
    ]

    assert said == [1, 0, 0]


def test_dates_that_run_out_are_told_where_each_owner_reads() -> None:
    def of(number: int, target: str, severity: Severity = Severity.LOW) -> Case:
        case = replace(case_of(number), snoozed_until=NOON, severity=severity)
        return replace(case, owner=Owner(f"owner {number}", target, "x"))

    cases = [of(1, "#a"), of(2, "#a", Severity.CRITICAL), of(3, "#b"), replace(of(4, ""), owner=None)]

    said = reminders.snoozes_over(cases, manner())

    assert [(each.target, each.urgency, len(each.case_ids)) for each in said.notices] == [
        ("#a", 3, 2), ("#b", 0, 1)
    ]  # fmt: skip
    assert [note.about for note in said.notes] == [case.id for case in cases[:3]]


def test_a_thread_of_reminders_is_no_thread_of_cases() -> None:
    case = a_case(a_mismatch(), snoozed_until=NOON, owner=Owner("leads", "#leads|duplicate|high", "x"))
    said = [
        *reminders.snoozes_over([case], manner()).notices,
        *reminders.escalations([Unanswered(case, 1, NOON - 9 * HOUR)], manner()).notices,
    ]

    assert [Topic.read(each.thread_key) for each in said] == [None] * len(said)
