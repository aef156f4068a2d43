from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from recon import assigning
from recon.doors.store import cases as book
from recon.doors.store import leases, outbox, queue
from recon.doors.store.engines import Database
from recon.model import rights, tables
from recon.model.errors import ConfigurationError, LeaseHeld
from recon.model.records.cases import Case, Owner
from recon.model.records.runs import HOUR
from recon.model.records.words import Actor, CaseState, Kind, Resolution, Severity
from recon.rules import moves, stories
from tests import rosters, seeds
from tests.builders import NOON
from tests.hours import a_town, twice
from tests.rosters import DOUBLES, LEAD, NOW, OPERATORS, SETTINGS, apply, as_stored, by_hand, move, ruled
from tests.sandboxes import Street


@pytest.fixture(name="doubles")
def seeded(database: Database) -> tuple[Case, ...]:
    """Three cases of orders refunded twice, which the operators own."""
    return rosters.doubles(database)


def written(database: Database) -> list[int]:
    """How many rows there are of what an application may write."""
    with database.read() as connection:
        return [
            len(connection.execute(select(table)).all())
            for table in (tables.entries, tables.notices, rights.leases)
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


def test_every_open_case_is_read_however_many_there_are(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assigning, "_PAGE", 2)
    seen = [seeds.duplicate(number, at=NOON) for number in range(5)]
    seeds.run(database, seen, now=NOW - timedelta(minutes=10))

    assert len(apply(database).changes) == 5
    assert {case.owner for case in queue.page(database, limit=10).cases} == {LEAD}
