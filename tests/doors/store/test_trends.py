from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from random import Random

from sqlalchemy import insert

from recon.doors.store import runs, trends
from recon.doors.store.engines import Database
from recon.doors.store.rows import case_row, entry_row
from recon.model import tables
from recon.model.records.cases import JOB, Case, Entry
from recon.model.records.queues import WAITING
from recon.model.records.results import Money
from recon.model.records.trends import Agreed, Answer, Day, Group, Heap, Past, Step, Took
from recon.model.records.words import Action, Actor, CaseState, Kind, RunId, Subject, Verdict
from recon.rules import trends as rules
from tests.builders import NOON, a_case, a_mismatch
from tests.doors.store.books import a_run

HOUR = timedelta(hours=1)
OPEN, TAKEN, RESOLVED = CaseState.OPEN, CaseState.ACKNOWLEDGED, CaseState.RESOLVED
ACCEPTED, CLEARED = CaseState.ACCEPTED, CaseState.CLEARED
# Where a case can go from a state; the second time that it stands there is a comment.
WAYS: Mapping[CaseState, tuple[CaseState, ...]] = {
    OPEN: (OPEN, TAKEN, RESOLVED, ACCEPTED, CLEARED),
    TAKEN: (TAKEN, OPEN, RESOLVED, ACCEPTED, CLEARED),
    RESOLVED: (RESOLVED, OPEN, CLEARED),
    ACCEPTED: (ACCEPTED, OPEN, RESOLVED, CLEARED),
    CLEARED: (CLEARED, OPEN),
}

Turn = tuple[CaseState, datetime]


def live(
    database: Database, number: int, *turns: Turn, kind: Kind = Kind.DUPLICATE, **changes: object
) -> Case:
    """Write a case with the entries that led it from state to state."""
    mismatch = a_mismatch(kind=kind, subject=Subject(f"intent:{number}"), at_risk=Money(100 + number, "usd"))
    state, at = turns[-1]
    case = a_case(mismatch, state=state, version=len(turns), opened_at=turns[0][1], updated_at=at)
    case = replace(case, **changes)  # type: ignore[arg-type]  # any field of the record
    before: CaseState | None = None
    rows = []
    for place, (after, when) in enumerate(turns, 1):
        entry = Entry(
            case_id=case.id,
            action=Action.OPENED if before is None else Action.COMMENTED,
            actor=JOB if before is None else Actor("ada"),
            at=when,
            reason="A reason.",
            from_state=before,
            to_state=after,
            version=place,
            action_id=f"{case.id}:{place}",
        )
        rows.append(entry_row(entry) | {"previous_hash": "", "hash": ""})
        before = after
    with database.write() as connection:
        connection.execute(insert(tables.cases).values(case_row(case) | {"head": ""}))
        connection.execute(insert(tables.entries), rows)
    return case


def read(database: Database, *, days: int = 3, now: datetime = NOON) -> Past:
    return trends.past(database, days=days, now=now)


def test_an_empty_database_has_a_past_too(database: Database) -> None:
    assert read(database) == Past(NOON, date(2026, 3, 4), (), (), (), ())


def test_what_waits_is_counted_by_group_and_age(database: Database) -> None:
    live(database, 1, (OPEN, NOON - HOUR))
    live(database, 2, (OPEN, NOON - HOUR + timedelta(microseconds=1)), owner=None)
    live(database, 3, (OPEN, NOON - 31 * 24 * HOUR), (TAKEN, NOON), kind=Kind.MISSING)
    live(database, 4, (OPEN, NOON - 31 * 24 * HOUR), (CLEARED, NOON), kind=Kind.MISSING)
    live(database, 5, (OPEN, NOON - 2 * HOUR))

    assert sorted(read(database).heaps, key=lambda heap: heap.at_risk_minor) == [
        Heap(Group(Kind.DUPLICATE, "", "usd"), 0, 1, 102),
        Heap(Group(Kind.MISSING, "Payments on call", "usd"), 4, 1, 103),
        Heap(Group(Kind.DUPLICATE, "Payments on call", "usd"), 1, 2, 206),
    ]


def test_only_what_begins_or_ceases_to_wait_is_a_step_of_its_day(database: Database) -> None:
    midnight = datetime(2026, 3, 5, tzinfo=NOON.tzinfo)
    instant = timedelta(microseconds=1)
    group = Group(Kind.DUPLICATE, "Payments on call", "usd")
    live(database, 1, (OPEN, midnight - instant), (TAKEN, midnight), (RESOLVED, NOON), (CLEARED, NOON))
    live(database, 2, (OPEN, midnight - 24 * HOUR - instant), (CLEARED, midnight), (OPEN, midnight))

    assert sorted(read(database).steps, key=lambda step: step.day) == [
        Step(date(2026, 3, 4), group, 1, 101),
        Step(date(2026, 3, 5), group, 0, 0),
        Step(date(2026, 3, 6), group, -1, -101),
    ]


def test_an_answer_took_as_long_as_the_case_last_waited_for_it(database: Database) -> None:
    begin = NOON - 10 * HOUR
    live(
        database,
        1,
        (OPEN, begin),
        (OPEN, begin + HOUR),  # A comment changes nothing.
        (TAKEN, begin + 2 * HOUR),
        (RESOLVED, begin + 3 * HOUR),
        (OPEN, begin + 5 * HOUR),
        (ACCEPTED, begin + 5 * HOUR + timedelta(minutes=7, seconds=59)),
    )
    live(
        database, 2, (OPEN, begin), (CLEARED, begin + HOUR), owner=None
    )  # A run cleared it: nobody answered.
    live(database, 3, (OPEN, begin), (TAKEN, begin - HOUR))  # By another machine's clock.
    long_ago = NOON - 100 * HOUR
    live(database, 4, (OPEN, long_ago), (TAKEN, long_ago), (RESOLVED, begin))

    def of(answer: Answer, minutes: int, owner: str = "Payments on call") -> Took:
        return Took(answer, Kind.DUPLICATE, owner, minutes, 1)

    assert sorted(read(database).took, key=lambda took: (took.answer, took.minutes)) == [
        of(Answer.ACKNOWLEDGED, 0),
        of(Answer.ACKNOWLEDGED, 7),
        of(Answer.ACKNOWLEDGED, 120),
        of(Answer.SETTLED, 7),
        of(Answer.SETTLED, 60, ""),
        of(Answer.SETTLED, 180),
        of(Answer.SETTLED, 90 * 60),
    ]


def test_a_day_agrees_as_its_complete_runs_do(database: Database) -> None:
    def run(number: int, at: datetime, verdict: Verdict = Verdict.BREAKS, matched: int = 8) -> None:
        counts = {"intents": 10, "matched": matched}
        with database.write() as connection:
            runs.put(
                connection,
                a_run(id=RunId(f"run_{number}"), as_of=at, verdict=verdict, counts=counts, accounts=()),
            )

    run(1, NOON - 60 * HOUR - timedelta(microseconds=1))
    run(2, NOON - 24 * HOUR)
    run(3, NOON - 23 * HOUR, matched=10)
    run(4, NOON - HOUR, Verdict.INCOMPLETE)
    run(5, NOON - HOUR, Verdict.RECONCILED, matched=10)

    assert read(database).agreed == (
        Agreed(date(2026, 3, 5), 2, 20, 18),
        Agreed(date(2026, 3, 6), 1, 10, 10),
    )


def test_the_past_told_backwards_is_what_the_entries_replayed_say(database: Database) -> None:
    chance = Random(5)
    stories = [live(database, number, *story(chance), kind=chance.choice(list(Kind))) for number in range(60)]
    told = [(case, entries_of(database, case)) for case in stories]

    found = rules.waited(read(database, days=12))

    assert [day.day for day in found] == [date(2026, 2, 23) + timedelta(days=place) for place in range(12)]
    assert list(found) == [replayed(told, day.day) for day in found]
    assert sum(heap.cases for heap in read(database).heaps) == sum(case.state in WAITING for case in stories)


def story(chance: Random) -> list[Turn]:
    turns: list[Turn] = [(OPEN, NOON - chance.randrange(20 * 24) * HOUR)]
    for _ in range(chance.randrange(7)):
        state, at = turns[-1]
        later = min(at + chance.randrange(5 * 24) * HOUR, NOON)
        turns.append((chance.choice(WAYS[state]), later))
    return turns


def entries_of(database: Database, case: Case) -> list[Turn]:
    table = tables.entries.c
    with database.read() as connection:
        rows = connection.execute(
            tables.entries.select().where(table.topic == case.id).order_by(table.version)
        ).mappings()
        return [(CaseState(row["to_state"]), row["at"]) for row in rows]


def replayed(told: list[tuple[Case, list[Turn]]], day: date) -> Day:
    """Slowly: where each case stood at the end of the day, by its entries alone."""
    cases, at_risk = 0, Counter[str]()
    for case, turns in told:
        states = [state for state, at in turns if at.date() <= day]
        if states and states[-1] in WAITING:
            cases += 1
            at_risk[case.mismatch.at_risk.currency] += case.mismatch.at_risk.amount_minor
    return Day(day, cases, dict(at_risk))
