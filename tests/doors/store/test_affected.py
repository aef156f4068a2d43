from dataclasses import replace
from datetime import timedelta

import pytest

from recon.doors.store import affected, cases
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.incidents import Totals, Window
from recon.model.records.provider import Intent, Refund
from recon.model.records.results import Money
from recon.model.records.words import AccountId, CaseState, IntentKey, Kind, RefundId, Subject
from tests.builders import NOON, a_case, a_mismatch, a_refund, an_intent
from tests.doors.store.books import a_lease, a_run, opened, put

MINUTE = timedelta(minutes=1)
WINDOW = Window(NOON, NOON + 10 * MINUTE)
OTHER = AccountId("acct_2")


def double(number: int, minutes: float, **changes: object) -> Case:
    mismatch = a_mismatch(
        subject=Subject(f"intent:{number}"),
        intent_key=IntentKey(str(number)),
        order_id=f"order_{number}",
        customer_id=f"cus_{number}",
        refund_ids=(RefundId(f"re_{number}"), RefundId(f"re_{number}_2")),
        extra_refund_ids=(RefundId(f"re_{number}_2"),),
        since=NOON + minutes * MINUTE,
    )
    return a_case(replace(mismatch, **changes))  # type: ignore[arg-type]  # any field of the record


def fill(database: Database, *books: Case) -> None:
    cases.save_run(database, a_lease(database), Saving(a_run(), changes=tuple(map(opened, books))))


def test_a_window_holds_its_beginning_and_not_its_end_and_one_kind_only(database: Database) -> None:
    first, last = double(1, 0), double(2, 9.99)
    fill(database, last, double(3, -0.01), double(4, 10), double(5, 5, kind=Kind.MISSING), first)

    found = affected.incident(database, Kind.DUPLICATE, WINDOW)

    assert found.cases == (first, last)


def test_totals_never_add_currencies_and_count_people_once_in_each_account(database: Database) -> None:
    resolved = replace(double(4, 3, at_risk=Money(2**53 + 1, "jpy")), state=CaseState.CLEARED)
    fill(
        database,
        double(1, 1),
        double(2, 2, customer_id="cus_1", order_id="order_1"),
        double(3, 2, customer_id="cus_1", order_id=None, account=OTHER),
        resolved,
        double(5, 4, customer_id=None, at_risk=Money(0, "eur")),
    )

    assert affected.incident(database, Kind.DUPLICATE, WINDOW).totals == Totals(
        cases=5,
        customers=3,
        orders=3,
        without_customer=1,
        states=dict.fromkeys(CaseState, 0) | {CaseState.OPEN: 4, CaseState.CLEARED: 1},
        at_risk={"jpy": 2**53 + 1, "usd": 14_700},
        first_at=NOON + MINUTE,
        last_at=NOON + 4 * MINUTE,
    )


def test_the_rows_behind_it_are_those_that_the_cases_or_their_refunds_name(database: Database) -> None:
    fill(database, double(1, 1), double(2, 2, account=OTHER))
    theirs = [
        a_refund(id=RefundId("re_1"), intent_key=IntentKey("first attempt"), created_at=NOON),
        a_refund(id=RefundId("re_1_2"), intent_key=None, created_at=NOON + MINUTE),
        a_refund(id=RefundId("re_2"), intent_key=None, account=OTHER, created_at=NOON + 2 * MINUTE),
    ]
    ours = [
        an_intent(key=IntentKey("first attempt"), created_at=NOON, refund_id=None),
        an_intent(key=IntentKey("1"), created_at=NOON + MINUTE, refund_id=None),
        an_intent(key=IntentKey("told"), created_at=NOON + 2 * MINUTE, refund_id=RefundId("re_1_2")),
    ]
    strangers: list[Intent | Refund] = [
        a_refund(id=RefundId("re_2"), intent_key=None),
        an_intent(key=IntentKey("2"), refund_id=None),
        an_intent(key=IntentKey("nobody's"), refund_id=RefundId("re_2")),
    ]
    put(database, *theirs, *ours, *strangers)

    found = affected.incident(database, Kind.DUPLICATE, WINDOW)

    assert (found.refunds, found.intents) == (tuple(theirs), tuple(ours))


def test_more_cases_than_are_listed_are_all_counted(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(affected, "LISTED", 2)
    fill(database, *(double(number, number) for number in range(5)))

    found = affected.incident(database, Kind.DUPLICATE, WINDOW)

    assert ([case.subject for case in found.cases], found.totals.cases) == (["intent:0", "intent:1"], 5)


def test_nothing_in_a_window_is_an_answer(database: Database) -> None:
    found = affected.incident(database, Kind.DUPLICATE, WINDOW)

    assert (found.cases, found.totals.cases, found.totals.first_at, found.totals.at_risk) == ((), 0, None, {})


def test_beginnings_are_those_of_one_kind_so_long_before_its_latest(database: Database) -> None:
    fill(database, double(1, 0), double(2, 1), double(3, 61), double(4, 900, kind=Kind.MISSING))

    found = affected.beginnings(database, Kind.DUPLICATE, timedelta(hours=1))

    assert found == (NOON + 61 * MINUTE,)
    assert affected.beginnings(database, Kind.ORPHAN, timedelta(hours=1)) == ()


def test_an_incident_is_found_by_its_index(database: Database) -> None:
    if database.dialect != "sqlite":
        pytest.skip("PostgreSQL chooses by the size of the table")
    with database.read() as connection:
        plan = connection.exec_driver_sql(
            "EXPLAIN QUERY PLAN SELECT * FROM cases WHERE kind = 'duplicate' AND since >= 5 AND since < 9 "
            "ORDER BY since, id LIMIT 500"
        ).all()

    assert "USING INDEX ix_cases_kind_since" in plan[0][3]
