"""Dates that run out and the digest of each day, on a real database: each is told once."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recon.doors.store import cases as book
from recon.doors.store import reminders as door
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.records.cases import Change, Owner
from recon.model.records.results import Money
from recon.model.records.words import Action, Actor, CaseState, Kind, Resolution, RunId, Severity
from recon.model.settings import Settings
from recon.rules import moves
from tests.builders import NOON
from tests.doors.store.books import a_lease, a_run, opened
from tests.waits import HOUR, MINUTE, OPERATORS, lead_case, move, open_cases, remind, said, tell


@pytest.mark.parametrize(
    "changes, told",
    [
        ({}, 1),
        ({"state": CaseState.ACKNOWLEDGED}, 1),  # Whoever took it on put it off.
        ({"state": CaseState.CLEARED}, 0),
        ({"owner": None}, 0),
        ({"owner": Owner("nobody, on purpose", "", "x")}, 0),
        ({"snoozed_until": NOON + HOUR + timedelta(microseconds=1)}, 0),
    ],
)
def test_only_who_waits_still_and_has_an_owner_wakes(
    database: Database, changes: dict[str, Any], told: int
) -> None:
    case = lead_case(snoozed_until=NOON + HOUR)
    book.save_run(database, a_lease(database), Saving(a_run(), changes=(opened(replace(case, **changes)),)))

    done = [remind(database, HOUR).snoozes for _ in range(3)]

    assert sum(done) == told


def test_snoozes_of_one_owner_are_one_message(database: Database) -> None:
    cases = [lead_case(number, snoozed_until=NOON + HOUR) for number in range(3)]
    other = lead_case(9, owner=OPERATORS, snoozed_until=NOON + HOUR)
    open_cases(database, *cases, other)

    assert remind(database, 2 * HOUR).snoozes == 2
    assert sorted(len(each.case_ids) for each in said(database, "snooze")) == [1, 3]


def test_a_look_at_what_was_so_leaves_out_what_was_said_or_has_moved_since(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    early, moving, late = (
        lead_case(number, snoozed_until=NOON + (HOUR if number == 1 else 2 * HOUR)) for number in (1, 2, 3)
    )
    open_cases(database, early, moving, late)
    remind(database, HOUR)
    move(database, moving, Action.ACKNOWLEDGED, HOUR, state=CaseState.ACKNOWLEDGED)
    monkeypatch.setattr(door, "awake", lambda *_, **__: (early, moving, late))

    remind(database, 2 * HOUR)

    assert [each.case_ids for each in said(database, "snooze")] == [(early.id,), (late.id,)]


@pytest.mark.parametrize(
    "until, told", [(25 * HOUR + timedelta(microseconds=1), 0), (25 * HOUR, 1), (HOUR, 1), (MINUTE, 1)]
)
def test_an_acceptance_that_ends_within_a_day_is_told_once(
    database: Database, until: timedelta, told: int
) -> None:
    case = lead_case(state=CaseState.ACCEPTED, accepted_until=NOON + until, decided_at=NOON, decided_fence=1)
    open_cases(database, case)

    done = [remind(database, HOUR + minutes * timedelta(0)).acceptances for minutes in range(3)]

    assert sum(done) == told
    assert len(said(database, "acceptance")) == told


def test_an_acceptance_that_is_made_longer_is_told_again_before_its_end(database: Database) -> None:
    case = lead_case(
        state=CaseState.ACCEPTED, accepted_until=NOON + 9 * HOUR, decided_at=NOON, decided_fence=1
    )
    open_cases(database, case)
    remind(database, HOUR)
    later = moves.accept(
        case,
        until=NOON + 99 * HOUR,
        fence=1,
        actor=Actor("ada"),
        reason="Next week.",
        now=NOON + 2 * HOUR,
        action_id="click",
    )
    assert isinstance(later, Change)
    book.move(database, later)

    done = [remind(database, hours * HOUR).acceptances for hours in (3, 74, 75, 76)]

    assert done == [0, 0, 1, 0]


DAILY: dict[str, Any] = {
    "owners": {
        "support leads": {"target": "#support-leads", "zone": "Europe/Berlin", "digest_at": "09:00"},
        "refund operators": {"target": "#refund-operators", "digest_at": ""},
    },
    "rules": [
        {"name": "everything", "owner": "support leads"},
        {"name": "imports", "owner": "refund operators", "tool": "importer"},
    ],
}
DAYS = Settings(owners=DAILY)
NINE = 20 * HOUR  # From noon in UTC to nine o'clock in Berlin, next day.


def digests(database: Database, *after: timedelta) -> list[int]:
    return [remind(database, each, DAYS).digests for each in after]


def test_each_owner_hears_in_the_morning_how_their_cases_stand(database: Database) -> None:
    asleep = lead_case(2, snoozed_until=NOON + 99 * HOUR)
    taken = lead_case(3, state=CaseState.ACKNOWLEDGED)
    accepted = lead_case(
        4, state=CaseState.ACCEPTED, accepted_until=NOON + 72 * HOUR, decided_at=NOON, decided_fence=1
    )
    cleared = lead_case(5, state=CaseState.CLEARED)
    resolved = lead_case(6, state=CaseState.RESOLVED, resolution=Resolution.RECOVERED, decided_at=NOON)
    yen = lead_case(7, severity=Severity.CRITICAL)
    yen = replace(yen, mismatch=replace(yen.mismatch, at_risk=Money(9000, "jpy"), kind=Kind.MISSING))
    open_cases(database, lead_case(1), asleep, taken, accepted, cleared, resolved, yen)
    digests(database, MINUTE)

    assert digests(database, NINE - MINUTE, NINE, NINE + MINUTE) == [0, 1, 0]
    (told,) = said(database, "digest")
    assert (told.target, told.urgency, told.verb) == ("#support-leads", 0, "root")
    assert told.message.text == (
        "Today: 4 cases wait, test mode, 9,000 JPY and 147.00 USD at risk: 3 refunded twice (duplicate), "
        "1 refund missing. 2 unanswered. 1 snoozed, the first until 2026-03-10 15:00 UTC. 1 acceptance ends "
        "within a week, the first at 2026-03-09 12:00 UTC. Since yesterday 1 cleared and 1 resolved. Owner: "
        "support leads. What to do: Answer the unanswered first, from the top; acknowledge what you are at. "
        "http://127.0.0.1:8501"
    )


@pytest.mark.parametrize(
    "looks, told",
    [
        ([NINE], [1]),
        ([NINE - MINUTE], [0]),
        ([NINE + MINUTE, NINE + 2 * MINUTE], [1, 0]),  # The minute was missed.
        ([NINE + 14 * HOUR, NINE + 15 * HOUR], [1, 0]),  # Most of the day was, and then it is the next.
        ([NINE + 15 * HOUR], [0]),
        ([NINE, NINE + 24 * HOUR, NINE + 48 * HOUR], [1, 1, 1]),
        ([NINE, NINE + 72 * HOUR], [1, 1]),
    ],
)
def test_a_digest_is_told_once_a_day_of_its_owners_calendar(
    database: Database, looks: list[timedelta], told: list[int]
) -> None:
    open_cases(database, lead_case())
    digests(database, MINUTE)

    assert digests(database, *looks) == told


def test_nobody_hears_in_the_afternoon_what_opened_since_the_morning(database: Database) -> None:
    quiet = digests(database, NINE)
    case = lead_case(opened_at=NOON + NINE + HOUR, updated_at=NOON + NINE + HOUR)
    open_cases(database, case)
    tell(database, case, at=NINE + HOUR)

    assert (quiet, digests(database, NINE + 2 * HOUR, NINE + 24 * HOUR)) == ([0], [0, 1])


def test_who_is_given_a_case_in_the_afternoon_has_heard_of_it(database: Database) -> None:
    open_cases(database, lead_case())
    digests(database, NINE)
    ada = Owner("ada", "U0ADA", "assigned by ada")
    case = move(database, lead_case(), Action.ASSIGNED, NINE + HOUR, owner=ada, pinned=True)
    tell(database, case, at=NINE + HOUR)

    today, tomorrow = digests(database, NINE + 2 * HOUR, 45 * HOUR)  # Nine o'clock in UTC.

    assert (today, tomorrow) == (0, 1)
    assert said(database, "digest")[-1].target == "U0ADA"


def test_what_nobody_was_told_of_is_in_no_digest(database: Database) -> None:
    kept_back = lead_case(2)
    open_cases(database, lead_case(1))
    saving = Saving(a_run(id=RunId("run_2"), fence=2), changes=(opened(kept_back, run="run_2"),))
    book.save_run(database, a_lease(database, now=NOON + HOUR), saving)

    digests(database, NINE)

    assert said(database, "digest")[0].message.text.startswith("Today: 1 case waits")


def test_where_nothing_waits_nothing_is_told(database: Database) -> None:
    open_cases(database, lead_case(1, state=CaseState.CLEARED))

    assert digests(database, NINE, NINE + HOUR) == [0, 0]


def test_a_digest_that_comes_late_lets_its_owner_sleep(database: Database) -> None:
    rest = {"support leads": DAILY["owners"]["support leads"] | {"quiet_hours": "22:00-07:00"}}
    open_cases(database, lead_case())

    remind(database, 34 * HOUR, Settings(owners=DAILY | {"owners": DAILY["owners"] | rest}))

    (told,) = said(database, "digest")
    assert told.next_at == NOON + 42 * HOUR  # Composed an hour before midnight in Berlin.
