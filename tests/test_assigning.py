from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from recon import assigning
from recon.assigning import Applied
from recon.doors.store import cases as book
from recon.doors.store import leases, outbox, queue
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.conditions import Unfit
from recon.model.errors import ConfigurationError, LeaseHeld, Report
from recon.model.records.cases import Case, Change, Owner
from recon.model.records.notices import Topic
from recon.model.records.runs import HOUR
from recon.model.records.words import (
    Actor,
    CaseState,
    Kind,
    NoticeState,
    Resolution,
    Severity,
)
from recon.model.settings import Settings, SlackSettings
from recon.rules import moves, stories
from tests import seeds
from tests.builders import NOON
from tests.hours import a_town, twice
from tests.sandboxes import Street
from tests.town import a_notice

NOW = datetime(2026, 3, 6, 23, 30, tzinfo=UTC)
EVERYTHING = {"name": "everything", "owner": "refund operators", "target": "#refund-operators"}
LEADS = {
    "target": "#leads",
    "group": "S0123",
    "zone": "Europe/Berlin",
    "quiet_hours": "22:00-07:00",
    "escalation": [{"after_minutes": 60, "owner": "refund operators"}],
}
DOUBLES = {"name": "doubles", "kind": "duplicate", "owner": "leads"}
OPERATORS = Owner("refund operators", "#refund-operators", "everything")
LEAD = Owner("leads", "#leads", "doubles")


def ruled(*rules: dict[str, Any], severities: list[dict[str, Any]] | None = None) -> Settings:
    """Settings with these rules after the catch-all; every case is high, as the seeded doubles are."""
    owners = {"rules": [EVERYTHING, *rules], "owners": {"leads": LEADS}}
    owners["severities"] = severities or [{"level": "high"}]
    return Settings(owners=owners, slack=SlackSettings(operators_channel="#operators"))


SETTINGS = ruled(DOUBLES)


@pytest.fixture
def doubles(database: Database) -> tuple[Case, ...]:
    """Three cases of order refunded twice, which the operators own, and one of a lost refund."""
    seen = [seeds.duplicate(number, at=NOON + timedelta(hours=number)) for number in range(3)]
    return seeds.run(database, seen, now=NOW - timedelta(minutes=10))


def apply(database: Database, settings: Settings = SETTINGS, **options: Any) -> Applied:  # noqa: ANN401  # as apply takes
    return assigning.apply(database, settings, **{"clock": lambda: NOW} | options)


def as_stored(database: Database, case: Case) -> Case:
    found = book.get(database, case.id)
    assert found is not None
    return found


def move(database: Database, change: Change | moves.Illegal) -> Case:
    assert isinstance(change, Change), change
    book.move(database, change)
    return change.case


def by_hand(database: Database, case: Case) -> Case:
    """Give a case to Cy, by Ana's hand."""
    cy = Owner("Cy", "U0CY", "assigned by Ana")
    by: dict[str, Any] = {"actor": Actor("Ana"), "reason": "Hers.", "now": NOW, "action_id": f"a-{case.id}"}
    return move(database, moves.assign(case, owner=cy, **by))


def written(database: Database) -> list[int]:
    """How many rows there are of what an application may write."""
    with database.read() as connection:
        return [
            len(connection.execute(select(table)).all())
            for table in (tables.entries, tables.notices, tables.leases)
        ]


def test_every_open_case_gets_the_owner_that_the_rules_say(
    database: Database, doubles: tuple[Case, ...]
) -> None:
    applied = apply(database)

    assert [as_stored(database, case).owner for case in doubles] == [LEAD] * 3
    assert {change.case.id for change in applied.changes} == {case.id for case in doubles}
    assert applied.was[doubles[0].id] == doubles[0]
    assert book.verify(database) == ()
    assert [stories.unexplained(*told) for told in book.stories(database)] == [None] * 3


def test_owners_are_told_once_and_when_they_are_awake(database: Database, doubles: tuple[Case, ...]) -> None:
    applied = apply(database)
    found = outbox.recent(database, 10)

    assert [notice.verb for notice in reversed(found)] == ["root", "reply"]
    assert {notice.target for notice in found} == {"#leads"}
    assert {notice.dedupe_key for notice in applied.notices} == {notice.dedupe_key for notice in found}
    assert {case_id for notice in found for case_id in notice.case_ids} == {case.id for case in doubles}
    assert {notice.next_at for notice in found} == {datetime(2026, 3, 7, 6, tzinfo=UTC)}  # Seven in Berlin.


@pytest.mark.usefixtures("doubles")
def test_applied_twice_the_second_changes_and_says_nothing(database: Database) -> None:
    apply(database)
    before = written(database)
    again = apply(database)

    assert (again.changes, again.notices) == ((), ())
    assert written(database) == before


def test_ages_are_counted_to_the_time_of_the_latest_run(database: Database) -> None:
    ladder: list[dict[str, Any]] = [{"level": "high"}, {"level": "critical", "older_than_minutes": 60}]
    seeds.run(
        database,
        [
            seeds.duplicate(1, at=NOW - timedelta(minutes=70)),
            seeds.duplicate(2, at=NOW - timedelta(minutes=71)),
        ],
        now=NOW - timedelta(minutes=10),
    )
    applied = apply(database, ruled(severities=ladder))

    assert applied.judged_at == NOW - timedelta(minutes=11)
    assert [change.case.mismatch.order_id for change in applied.changes] == ["order_2"]


@pytest.mark.usefixtures("doubles")
def test_a_dry_run_says_the_same_and_writes_nothing(database: Database) -> None:
    before, fence = written(database), leases.newest(database, HOUR)
    dry = apply(database, dry_run=True)

    assert (written(database), leases.newest(database, HOUR)) == (before, fence)
    wet = apply(database)
    assert [change.case for change in dry.changes] == [change.case for change in wet.changes]
    assert [notice.message for notice in dry.notices] == [notice.message for notice in wet.notices]
    assert (dry.dry, wet.dry) == (True, False)


def test_what_a_person_gave_to_somebody_stays_there(database: Database, doubles: tuple[Case, ...]) -> None:
    given = by_hand(database, doubles[1])
    applied = apply(database)

    assert as_stored(database, given) == given
    assert (len(applied.changes), applied.pinned) == (2, 1)


@pytest.mark.parametrize("state", [CaseState.RESOLVED, CaseState.ACCEPTED])
def test_a_decided_case_stays_as_it_is(
    database: Database, doubles: tuple[Case, ...], state: CaseState
) -> None:
    by: dict[str, Any] = {
        "actor": Actor("Ana"),
        "reason": "So.",
        "now": NOW,
        "action_id": "decided",
        "fence": 1,
    }
    if state is CaseState.RESOLVED:
        change = moves.resolve(doubles[0], code=Resolution.RECOVERED, **by)
    else:
        change = moves.accept(doubles[0], until=NOW + timedelta(days=3), **by)
    decided = move(database, change)
    apply(database)

    assert as_stored(database, decided) == decided


def test_while_a_run_is_at_it_nothing_is_written(database: Database, doubles: tuple[Case, ...]) -> None:
    held = leases.take(database, HOUR, "a run", now=NOW, duration=timedelta(minutes=5))
    before = written(database)
    with pytest.raises(LeaseHeld):
        apply(database)

    assert written(database) == before
    assert as_stored(database, doubles[0]) == doubles[0]
    leases.release(database, held)
    assert len(apply(database).changes) == 3


def test_the_lease_is_given_back(database: Database, doubles: tuple[Case, ...]) -> None:
    applied = apply(database)

    assert len(applied.changes) == len(doubles)
    assert leases.held(database, HOUR, now=NOW) is None


def busy(database: Database, case: Case, clicks: int) -> Iterator[None]:
    """Somebody comments on a case each time, so many times, once the lease is held."""
    for number in range(clicks):
        while leases.held(database, HOUR, now=NOW) is None:
            yield
        by: dict[str, Any] = {"actor": Actor("Ana"), "reason": "Hm.", "now": NOW, "action_id": f"c{number}"}
        move(database, moves.comment(as_stored(database, case), **by))
        yield
    while True:
        yield


@pytest.mark.parametrize("clicks, expected, left", [(1, LEAD, 0), (2, LEAD, 0), (9, OPERATORS, 1)])
def test_a_case_that_people_move_meanwhile_is_planned_again_and_at_last_left_to_the_next_run(
    database: Database, doubles: tuple[Case, ...], *, clicks: int, expected: Owner, left: int
) -> None:
    clicking = busy(database, doubles[0], clicks)

    def clock() -> datetime:  # It is asked between the reading and the saving.
        next(clicking)
        return NOW

    applied = apply(database, clock=clock)

    assert as_stored(database, doubles[0]).owner == expected
    assert applied.moved == left
    assert len(applied.changes) == 3 - left
    assert book.verify(database) == ()


def test_a_case_that_a_person_gives_to_somebody_meanwhile_stays_there(
    database: Database, doubles: tuple[Case, ...]
) -> None:
    given: list[Case] = []

    def clock() -> datetime:
        if leases.held(database, HOUR, now=NOW) is not None and not given:
            given.append(by_hand(database, doubles[0]))
        return NOW

    applied = apply(database, clock=clock)

    assert [as_stored(database, doubles[0])] == given
    assert (len(applied.changes), applied.moved, applied.pinned) == (2, 0, 1)


def test_what_an_incomplete_run_kept_to_itself_is_not_told(database: Database) -> None:
    lost = replace(seeds.duplicate(1, at=NOON), kind=Kind.ORPHAN, extra_refund_ids=())
    (case,) = seeds.run(database, [lost], now=NOW - timedelta(minutes=10), complete=False)
    applied = apply(database, ruled(DOUBLES | {"kind": "orphan"}))

    assert as_stored(database, case).owner == LEAD
    assert applied.notices == ()


def test_without_a_run_there_is_nothing_to_give(database: Database) -> None:
    applied = apply(database)

    assert (applied.changes, applied.judged_at, len(applied.was)) == ((), None, 0)


def test_a_mistake_in_the_rules_stops_it_before_anything(
    database: Database, doubles: tuple[Case, ...]
) -> None:
    with pytest.raises(ConfigurationError):
        apply(database, ruled(DOUBLES | {"owner": "nobody known"}))

    assert as_stored(database, doubles[0]) == doubles[0]


def test_the_next_run_finds_nothing_else_to_say(database: Database, sandbox: Street) -> None:
    town = a_town(database, sandbox)
    twice(town, "8812")
    town.run()
    town.settings = replace(town.settings, owners=SETTINGS.owners)
    applied = assigning.apply(database, town.settings, clock=lambda: town.now)
    after = town.run()

    assert len(applied.changes) == 1
    assert (after.changes, after.notices) == ((), ())


@pytest.mark.parametrize("seconds, expected", [(-1, Severity.LOW), (0, Severity.HIGH)])
def test_an_open_case_is_rated_anew_exactly_when_it_is_old_enough(
    database: Database, sandbox: Street, seconds: int, expected: Severity
) -> None:
    ladder: list[dict[str, Any]] = [{"level": "low"}, {"level": "high", "older_than_minutes": 60}]
    town = a_town(database, sandbox, owners=ruled(severities=ladder).owners)
    twice(town, "8812")
    town.run()
    (case,) = town.waiting()
    at = case.mismatch.since + timedelta(hours=1, seconds=seconds)
    town.pass_time(hours=1)
    town.run(as_of=at)
    (after,) = town.waiting()

    assert (case.severity, after.severity) == (Severity.LOW, expected)


def told(database: Database, case: Case, *, sent_at: datetime, verb: str = "root") -> None:
    """Let a notice about a case have gone out to its owner."""
    topic = Topic.of(case, livemode=False)
    assert topic is not None
    notice = a_notice(
        f"{verb}-{case.id}",
        verb=verb,
        thread=topic.key,
        target=topic.target,
        case_ids=(case.id,),
        created_at=sent_at,
    )
    with database.write() as connection:
        outbox.add(connection, [notice], [])
        columns = tables.notices.c
        connection.execute(
            tables.notices.update()
            .where(columns.dedupe_key == notice.dedupe_key)
            .values(state=NoticeState.SENT, sent_at=sent_at)
        )


def explained(
    database: Database, case: Case, settings: Settings = SETTINGS, *, now: datetime = NOW
) -> assigning.Explanation:
    return assigning.explain(database, settings, case.id, now=now)


def test_each_rule_is_tried_and_the_first_matcher_that_fails_is_named(
    database: Database, doubles: tuple[Case, ...]
) -> None:
    small = {"name": "small", "owner": "leads", "kind": "duplicate", "amount_below_minor": {"usd": 100}}
    found = explained(database, doubles[0], ruled(DOUBLES, small))

    assert [(each.name, each.says, each.unfit, each.wins) for each in found.rules] == [
        ("everything", "refund operators", None, False),
        ("doubles", "leads", None, True),
        ("small", "leads", Unfit("amount_below_minor", "49.00 USD", "less than 1.00 USD"), False),
    ]
    assert [(each.says, each.wins) for each in found.severities] == [("high", True)]
    assert (found.owner, found.severity, found.pinned_by) == (LEAD, Severity.HIGH, None)


def test_whoever_gave_a_case_to_its_owner_by_hand_is_named(
    database: Database, doubles: tuple[Case, ...]
) -> None:
    by_hand(database, doubles[0])
    apply(database, ruled(DOUBLES, severities=[{"level": "low"}]))  # Which moves it as well.
    found = explained(database, as_stored(database, doubles[0]))

    assert (found.pinned_by, found.case.owner and found.case.owner.name, found.owner) == ("Ana", "Cy", LEAD)
    assert found.profile is not None
    assert (found.profile.target, found.profile.steps) == ("U0CY", ())


@pytest.mark.parametrize(
    "severity, at, expected, resting",
    [
        ("high", "2026-03-06T20:59:59Z", "2026-03-06T20:59:59Z", False),
        ("high", "2026-03-06T21:00:00Z", "2026-03-07T06:00:00Z", True),  # Ten at night in Berlin.
        ("critical", "2026-03-06T21:00:00Z", "2026-03-06T21:00:00Z", False),
    ],
)
def test_the_next_message_waits_for_quiet_hours_to_end_unless_it_is_critical(
    database: Database, doubles: tuple[Case, ...], *, severity: str, at: str, expected: str, resting: bool
) -> None:
    settings = ruled(DOUBLES, severities=[{"level": severity}])
    apply(database, settings)
    found = explained(database, doubles[0], settings, now=datetime.fromisoformat(at))

    assert found.awake_at == datetime.fromisoformat(expected)
    assert found.resting is resting


def test_a_chain_is_counted_from_when_its_owner_was_told(
    database: Database, doubles: tuple[Case, ...]
) -> None:
    told(database, doubles[0], sent_at=NOW - timedelta(minutes=5))  # To whoever had it before.
    apply(database)
    untold = explained(database, doubles[0])
    told(database, as_stored(database, doubles[0]), sent_at=NOW + timedelta(minutes=1), verb="edit")
    edited = explained(database, doubles[0])
    told(database, as_stored(database, doubles[0]), sent_at=NOW + timedelta(minutes=2), verb="reply")
    heard = explained(database, doubles[0])

    assert (untold.told_at, edited.told_at, heard.told_at) == (None, None, NOW + timedelta(minutes=2))
    assert heard.profile is not None
    assert [step.owner for step in heard.profile.steps] == ["refund operators"]


def test_of_a_decided_case_nobody_is_told(database: Database, doubles: tuple[Case, ...]) -> None:
    by: dict[str, Any] = {
        "actor": Actor("Ana"),
        "reason": "So.",
        "now": NOW,
        "action_id": "decided",
        "fence": 1,
    }
    decided = move(database, moves.resolve(doubles[0], code=Resolution.RECOVERED, **by))
    found = explained(database, decided)

    assert (found.decided, found.profile, found.awake_at) == (True, None, None)


def test_of_a_case_that_is_nobodys_on_purpose_nobody_is_told(
    database: Database, doubles: tuple[Case, ...]
) -> None:
    settings = ruled({"name": "closed", "unowned": "Says finance."})
    apply(database, settings)
    found = explained(database, doubles[0], settings)

    assert (found.decided, found.profile) == (False, None)


@pytest.mark.parametrize("named", ["", "C-AAAAAAAAAA", "C-\x00", "\ud800", "x" * 10_000, "%"])
def test_a_case_that_is_not_there_is_said(database: Database, named: str) -> None:
    with pytest.raises(Report, match="found none with the id"):
        assigning.explain(database, SETTINGS, named, now=NOW)


def test_the_rules_in_force_are_counted(database: Database, doubles: tuple[Case, ...]) -> None:
    other = replace(seeds.duplicate(7, at=NOON), kind=Kind.MISSING, team=None)
    seeds.run(database, [other], now=NOW, number=2)
    by_hand(database, doubles[0])
    found = assigning.survey(SETTINGS, database)

    assert [(rule.name, rule.wins) for rule in found.rules] == [("everything", 1), ("doubles", 3)]
    assert [(level.says, level.wins) for level in found.severities] == [("high", 4)]
    assert found.caught == {("", ""): 1}
    assert (found.pinned, found.moves) == (1, 2)
    assert [remark.found for remark in found.remarks] == [
        "2 open cases would get another owner or severity now."
    ]
    apply(database)
    assert assigning.survey(SETTINGS, database).remarks == ()


def test_without_a_database_the_rules_are_looked_over_all_the_same() -> None:
    found = assigning.survey(ruled(DOUBLES, DOUBLES | {"name": "again"}), None)

    assert [rule.wins for rule in found.rules] == [0, 0, 0]
    assert ["'doubles' never wins" in remark.found for remark in found.remarks] == [True]
    assert found.judged_at is None


def test_every_open_case_is_read_however_many_there_are(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assigning, "_PAGE", 2)
    seen = [seeds.duplicate(number, at=NOON) for number in range(5)]
    seeds.run(database, seen, now=NOW - timedelta(minutes=10))

    assert len(apply(database).changes) == 5
    assert {case.owner for case in queue.page(database, limit=10).cases} == {LEAD}
