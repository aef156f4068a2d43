from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select, text

from recon.doors.store import cases as book
from recon.doors.store import holdings, reminders
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.cases import Case, Owner
from recon.model.records.owners import Profile, Step
from recon.model.records.reminders import Note
from recon.model.records.results import Money
from recon.model.records.words import CaseState, Kind, Severity
from tests.builders import NOON
from tests.doors.store.books import a_lease, a_run, acknowledged, case_of, opened
from tests.waits import HOUR, LEADS, lead_case, open_cases

CHAIN = Profile("support leads", "#support-leads", steps=(Step(HOUR, "head", "U0HEAD"),))
DAY = timedelta(days=1)


def save(database: Database, *cases: Case) -> None:
    book.save_run(database, a_lease(database), Saving(a_run(), changes=tuple(map(opened, cases))))


def test_what_is_held_is_as_it_was_read_and_says_what_was_said(database: Database) -> None:
    same, moved, unknown = lead_case(1), lead_case(2), lead_case(3)
    save(database, same, moved)
    book.move(database, acknowledged(moved))

    with database.write() as connection:
        reminders.note(connection, [Note(same.id, "one"), Note(same.id, "two"), Note("else", "x")], at=NOON)
        held = reminders.hold(connection, [same, moved, unknown])

    assert held == {same.id: frozenset({"one", "two"})}


def test_nobody_moves_a_case_while_it_is_held(database: Database) -> None:
    case = lead_case()
    save(database, case)

    with ThreadPoolExecutor(1) as threads:
        with database.write() as connection:
            held = reminders.hold(connection, [case])
            clicked = threads.submit(book.move, database, acknowledged(case))
            wait([clicked], timeout=0.5)  # It is done long before, where nothing holds it up.
            version = connection.scalar(select(tables.cases.c.version))
        clicked.result(30)

    assert (list(held), version) == ([case.id], 1)
    found = book.get(database, case.id)
    assert found is not None
    assert found.version == 2


def test_of_many_who_say_the_same_at_once_one_is_first(database: Database) -> None:
    note = Note("#ana", "digest 2026-03-06")

    def say(_: int) -> bool:
        with database.write() as connection:
            return reminders.note_first(connection, note, at=NOON)

    with ThreadPoolExecutor(4) as threads:
        first = list(threads.map(say, range(12)))

    assert first.count(True) == 1
    assert reminders.noted(database, [note, Note("#ana", "digest 2026-03-07"), Note("#ben", note.name)]) == {
        note
    }


def test_a_look_is_remembered_until_the_chain_is_another(database: Database) -> None:
    other = replace(CHAIN, steps=(*CHAIN.steps, Step(2 * HOUR, "operators", "#operators")))
    with database.write() as connection:
        reminders.look_again(connection, [CHAIN], at=NOON)
        reminders.look_again(connection, [CHAIN], at=NOON + HOUR)

    assert reminders.looked_at(database, [CHAIN]) == {"support leads": NOON + HOUR}
    assert reminders.looked_at(database, [other]) == {}


def test_the_targets_are_those_of_all_cases_each_once(database: Database) -> None:
    owners = [
        Owner("ana", "#b", "x"),
        Owner("ben", "#a", "x"),
        Owner("cy", "#b", "x"),
        Owner("none", "", "x"),
        None,
    ]

    assert holdings.targets(database) == ()
    save(database, *(replace(case_of(number), owner=owner) for number, owner in enumerate(owners)))

    assert holdings.targets(database) == ("#a", "#b")


def test_an_owners_holdings_are_counted_per_kind_severity_and_currency(database: Database) -> None:
    def of(number: int, currency: str, **changes: object) -> Case:
        case = lead_case(number, **changes)
        return replace(case, mismatch=replace(case.mismatch, at_risk=Money(number, currency)))

    critical = of(8, "usd", severity=Severity.CRITICAL, state=CaseState.ACKNOWLEDGED)
    orphan = of(16, "usd")
    orphan = replace(orphan, mismatch=replace(orphan.mismatch, kind=Kind.ORPHAN, since=NOON - HOUR))
    open_cases(
        database,
        of(1, "usd"),
        of(2, "usd", snoozed_until=NOON + HOUR),
        of(4, "eur", snoozed_until=NOON),
        critical,
        orphan,
        of(32, "usd", owner=Owner("ana", "#ana", "x")),
        of(64, "usd", state=CaseState.CLEARED, updated_at=NOON - DAY),
        of(128, "usd", state=CaseState.CLEARED, updated_at=NOON - DAY - HOUR),
        of(256, "usd", state=CaseState.ACCEPTED, accepted_until=NOON + 7 * DAY),
        of(512, "usd", state=CaseState.ACCEPTED, accepted_until=NOON + 7 * DAY + HOUR),
        of(600, "usd", state=CaseState.ACCEPTED, accepted_until=NOON),  # Ended: the next run sees to it.
        of(1024, "usd", state=CaseState.RESOLVED, decided_at=NOON - DAY - HOUR),
    )

    found = holdings.holdings(
        database, LEADS.target, since=NOON - DAY, due_at=NOON + HOUR, now=NOON, until=NOON + 7 * DAY
    )

    assert [
        (pile.severity, pile.kind, pile.waiting, pile.unanswered, dict(pile.at_risk)) for pile in found.piles
    ] == [
        (Severity.CRITICAL, Kind.DUPLICATE, 1, 0, {"usd": 8}),
        (Severity.HIGH, Kind.DUPLICATE, 3, 2, {"eur": 4, "usd": 3}),
        (Severity.HIGH, Kind.ORPHAN, 1, 1, {"usd": 16}),
    ]
    assert (found.waiting, found.snoozed, found.wakes_at) == (5, 1, NOON + HOUR)
    assert (found.ending, found.ends_at) == (1, NOON + 7 * DAY)
    assert (found.cleared, found.resolved) == (1, 0)
    assert (found.oldest, found.names, found.known) == (orphan, ("support leads",), True)


def test_what_was_told_after_a_digest_was_due_is_not_known_by_it(database: Database) -> None:
    open_cases(database, lead_case())

    known = [
        holdings.holdings(
            database, LEADS.target, since=NOON, due_at=NOON + each, now=NOON + HOUR, until=NOON + DAY
        ).known
        for each in (timedelta(0), timedelta(microseconds=1))
    ]

    assert known == [False, True]


@pytest.mark.parametrize(
    "query, index",
    [
        (
            "SELECT id FROM cases WHERE waiting AND snoozed_until <= 9 AND owner_target <> ''",
            "ix_cases_snoozed_until",
        ),
        (
            "SELECT case_ids FROM notices WHERE target IN ('#a', '#b') AND sent_at > 1 AND sent_at <= 9",
            "ix_notices_target_sent_at",
        ),
    ],
)
def test_what_each_minute_asks_is_served_by_an_index(database: Database, query: str, index: str) -> None:
    explain = "EXPLAIN QUERY PLAN " if database.dialect == "sqlite" else "EXPLAIN "
    with database.write() as connection:
        if database.dialect == "postgresql":
            connection.execute(
                text("SET LOCAL enable_seqscan = off")
            )  # It would read an empty table through.
        plan = "\n".join(str(row[-1]) for row in connection.execute(text(explain + query)))

    assert index in plan
