from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recon.doors.store import cases, queue
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.changes import Illegal
from recon.model.records.cases import JOB, Case
from recon.model.records.queues import QueueFigures, QueueFilters, QueueSummary
from recon.model.records.results import Money
from recon.model.records.words import (
    AccountId,
    Action,
    Actor,
    CaseState,
    Kind,
    RefundId,
    Severity,
    Subject,
)
from recon.rules import proposals
from tests.builders import NOON, PLATFORM, a_case, a_mismatch, an_owner
from tests.doors.store.books import a_lease, a_run, acknowledged, opened

CRITICAL = replace(a_case(a_mismatch(subject=Subject("intent:critical"))), severity=Severity.CRITICAL)
NEW = a_case(a_mismatch(subject=Subject("intent:new")), opened_at=NOON + timedelta(hours=2))
OLD = a_case(
    a_mismatch(
        subject=Subject("refund:re_old"),
        kind=Kind.ORPHAN,
        account=AccountId("acct_2"),
        intent_key=None,
        order_id="order_old",
        customer_id="cus_old",
        payment="pi_old",
        refund_ids=(RefundId("re_old"),),
        at_risk=Money(2**53 + 1, "jpy"),
    ),
    opened_at=NOON,
    owner=None,
    state=CaseState.ACKNOWLEDGED,
)
LOW = a_case(
    a_mismatch(subject=Subject("intent:low"), at_risk=Money(0, "eur")),
    severity=Severity.LOW,
    owner=an_owner(name="Ada"),
)
CLEARED = a_case(a_mismatch(subject=Subject("intent:cleared")), state=CaseState.CLEARED)
EVERYTHING = (LOW, NEW, CLEARED, CRITICAL, OLD)


def fill(database: Database, *books: Case) -> None:
    cases.save_run(database, a_lease(database), Saving(a_run(), changes=tuple(map(opened, books))))


def test_the_queue_is_most_severe_first_then_longest_waiting(database: Database) -> None:
    fill(database, *EVERYTHING)

    page = queue.page(database)

    assert page.cases == (CRITICAL, OLD, NEW, LOW)
    assert page.next is None


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_pages_go_on_from_one_severity_to_the_next(database: Database, limit: int) -> None:
    fill(database, *EVERYTHING)

    page = queue.page(database, limit=limit)
    found = [*page.cases]
    while page.next is not None:
        page = queue.page(database, after=page.next, limit=limit)
        assert 0 < len(page.cases) <= limit
        found += page.cases

    assert found == [CRITICAL, OLD, NEW, LOW]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_follow_each_other_without_a_gap_or_a_repeat(database: Database, limit: int) -> None:
    # Equal severities and times: only the id tells these apart.
    books = tuple(a_case(a_mismatch(subject=Subject(f"intent:{number}"))) for number in range(7))
    fill(database, *books)

    found: list[Case] = []
    page = queue.page(database, limit=limit)
    found += page.cases
    while page.next is not None:
        page = queue.page(database, after=page.next, limit=limit)
        assert page.cases
        found += page.cases

    assert found == sorted(books, key=lambda case: case.id)


@pytest.mark.parametrize(
    "filters, found",
    [
        (QueueFilters(states=()), {CRITICAL, NEW, OLD, LOW, CLEARED}),
        (QueueFilters(states=(CaseState.CLEARED,)), {CLEARED}),
        (QueueFilters(states=(CaseState.ACKNOWLEDGED,)), {OLD}),
        (QueueFilters(states=(CaseState.OPEN, CaseState.CLEARED)), {CRITICAL, NEW, LOW, CLEARED}),
        (QueueFilters(kinds=(Kind.ORPHAN, Kind.MISSING)), {OLD}),
        (QueueFilters(severities=(Severity.LOW, Severity.CRITICAL)), {CRITICAL, LOW}),
        (QueueFilters(owners=("Ada",)), {LOW}),
        (QueueFilters(owners=("",)), {OLD}),
        (QueueFilters(owners=("", "Ada")), {LOW, OLD}),
        (QueueFilters(kinds=(Kind.DUPLICATE,), owners=("Ada",)), {LOW}),
        (QueueFilters(accounts=(AccountId("acct_2"),)), {OLD}),
        (QueueFilters(accounts=(PLATFORM,)), {CRITICAL, NEW, LOW}),
        (QueueFilters(accounts=(PLATFORM, AccountId("acct_2"))), {CRITICAL, NEW, OLD, LOW}),
        (QueueFilters(person="Ada"), {LOW}),
        (QueueFilters(person="nobody of ours"), set()),
        (QueueFilters(opened_from=NOON + timedelta(hours=2)), {NEW}),
        (QueueFilters(opened_from=NOON + timedelta(hours=2, microseconds=1)), set()),
        (QueueFilters(opened_before=NOON), set()),
        (QueueFilters(opened_before=NOON + timedelta(microseconds=1)), {OLD}),
        (QueueFilters(at_least=Money(4900, "usd")), {CRITICAL, NEW}),
        (QueueFilters(at_least=Money(4901, "usd")), set()),
        (QueueFilters(at_least=Money(2**53 + 1, "jpy")), {OLD}),
        (QueueFilters(at_least=Money(2**53 + 2, "jpy")), set()),
        (QueueFilters(at_least=Money(0, "eur")), {LOW}),
        (QueueFilters(search=LOW.id), {LOW}),
        (QueueFilters(search="order_old"), {OLD}),
        (QueueFilters(search="cus_old"), {OLD}),
        (QueueFilters(search="pi_old"), {OLD}),
        (QueueFilters(search="re_old"), {OLD}),
        (QueueFilters(search="re_8812_2"), {CRITICAL, NEW, LOW}),
        (QueueFilters(search="re_8812_2", states=(CaseState.CLEARED,)), {CLEARED}),
        (QueueFilters(search="re_881"), set()),
        (QueueFilters(search="critical"), {CRITICAL}),
        (QueueFilters(search="refund_order:8812"), {CRITICAL, NEW, LOW}),
        (QueueFilters(search="%"), set()),
    ],
)
def test_filters_narrow_the_queue(database: Database, filters: QueueFilters, found: set[Case]) -> None:
    fill(database, *EVERYTHING)

    assert {case.id for case in queue.page(database, filters).cases} == {case.id for case in found}


def test_what_somebody_acknowledged_is_theirs_too(database: Database) -> None:
    fill(database, *EVERYTHING)
    move = acknowledged(NEW)
    cases.move(database, move)

    found = {
        name: {case.id for case in queue.page(database, QueueFilters(person=name)).cases}
        for name in (move.entry.actor, "Ada", JOB)
    }

    assert found == {move.entry.actor: {NEW.id}, "Ada": {LOW.id}, JOB: set()}


def test_what_waits_for_a_second_person_is_shown_by_itself_until_it_is_answered(database: Database) -> None:
    fill(database, *EVERYTHING)
    by: dict[str, Any] = {"actor": Actor("Ana"), "reason": "Why.", "now": NOON}
    told, wanted = {"code": "recovered"}, QueueFilters(proposed=True)
    made = proposals.propose(NEW, Action.RESOLVED, told, None, action_id="a", **by)
    assert not isinstance(made, Illegal)
    cases.move(database, made[0], proposal=made[1])
    waiting = queue.page(database, wanted).cases
    declined = proposals.decline(made[0].case, made[1], action_id="b", **by)
    assert not isinstance(declined, Illegal)
    cases.move(database, declined[0], proposal=declined[1])

    assert [case.id for case in waiting] == [NEW.id]
    assert queue.page(database, wanted).cases == ()


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize(
    "filters",
    [
        QueueFilters(states=()),
        QueueFilters(states=(CaseState.CLEARED, CaseState.ACKNOWLEDGED)),
        QueueFilters(states=(CaseState.RESOLVED, CaseState.CLEARED)),
        QueueFilters(states=(), severities=(Severity.HIGH, Severity.LOW)),
        QueueFilters(states=(), kinds=(Kind.DUPLICATE,), accounts=(PLATFORM,)),
    ],
)
def test_pages_of_every_filter_are_parts_of_its_whole(
    database: Database, filters: QueueFilters, limit: int
) -> None:
    over = [
        a_case(
            a_mismatch(subject=Subject(f"intent:over {number}")),
            state=CaseState.RESOLVED if number % 2 else CaseState.CLEARED,
            opened_at=NOON + timedelta(hours=number),
        )
        for number in range(4)
    ]
    fill(database, *EVERYTHING, *over)

    page = queue.page(database, filters, limit=limit)
    found = [*page.cases]
    while page.next is not None:
        page = queue.page(database, filters, after=page.next, limit=limit)
        assert 0 < len(page.cases) <= limit
        found += page.cases

    ranks = {Severity.CRITICAL: 0, Severity.HIGH: 1, Severity.LOW: 3}
    fitting = [
        case
        for case in (*EVERYTHING, *over)
        if case.state in (filters.states or tuple(CaseState))
        and case.severity in (filters.severities or tuple(Severity))
        and case.mismatch.kind in (filters.kinds or tuple(Kind))
        and case.account in (filters.accounts or (PLATFORM, "acct_2"))
    ]
    assert found == sorted(fitting, key=lambda case: (ranks[case.severity], case.opened_at, case.id))
    assert [case for some in queue.every(database, filters) for case in some] == found
    assert queue.count(database, filters, limit=100) == len(found)


def test_every_case_comes_in_parts_of_one_view(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "CHUNK", 2)
    fill(database, *EVERYTHING)

    parts = queue.every(database, QueueFilters())
    first = next(parts)
    cases.move(database, acknowledged(NEW))  # While it is read, somebody goes on.

    assert [first, *parts] == [(CRITICAL, OLD), (NEW, LOW)]


def test_cases_are_counted_no_further_than_asked(database: Database) -> None:
    fill(database, *EVERYTHING)

    assert [queue.count(database, QueueFilters(), limit=limit) for limit in (3, 4, 5)] == [3, 4, 4]


def test_a_case_is_found_by_the_refunds_of_its_latest_evidence_alone(database: Database) -> None:
    fill(database, NEW)
    move = acknowledged(NEW)
    mismatch = replace(NEW.mismatch, refund_ids=(RefundId("re_8812"), RefundId("re_third")))
    cases.move(database, replace(move, case=replace(move.case, mismatch=mismatch)))

    found = {
        name: queue.page(database, QueueFilters(search=name)).cases for name in ("re_8812_2", "re_third")
    }

    assert {name: len(these) for name, these in found.items()} == {"re_8812_2": 0, "re_third": 1}


def test_the_summary_counts_what_waits(database: Database) -> None:
    fill(database, *EVERYTHING)

    assert queue.summary(database) == QueueSummary(
        waiting=4,
        kinds=dict.fromkeys(Kind, 0) | {Kind.DUPLICATE: 3, Kind.ORPHAN: 1},
        severities={Severity.CRITICAL: 1, Severity.HIGH: 2, Severity.MEDIUM: 0, Severity.LOW: 1},
        owners={"": 1, "Ada": 1, "Payments on call": 2},
        accounts={PLATFORM: 3, AccountId("acct_2"): 1},
        at_risk={"jpy": 2**53 + 1, "usd": 9800},
        oldest_opened_at=NOON,
    )


def test_what_the_filters_let_through_is_counted_per_currency(database: Database) -> None:
    fill(database, *EVERYTHING)
    whole, duplicates = QueueFilters(), QueueFilters(kinds=(Kind.DUPLICATE,), severities=(Severity.HIGH,))

    found = queue.figures(database, whole)
    waits = queue.summary(database)
    assert found == QueueFigures(waits.waiting, waits.at_risk, waits.oldest_opened_at)
    narrowed = [case for case in EVERYTHING if case in queue.page(database, duplicates).cases]
    assert queue.figures(database, duplicates) == QueueFigures(
        len(narrowed),
        {"usd": sum(case.mismatch.at_risk.amount_minor for case in narrowed)},
        min(case.opened_at for case in narrowed),
    )
    assert queue.figures(database, QueueFilters(search="nowhere")) == QueueFigures(0, {}, None)


def test_an_empty_queue_has_a_summary_too(database: Database) -> None:
    summary = queue.summary(database)

    assert (summary.waiting, summary.at_risk, summary.oldest_opened_at) == (0, {}, None)
    assert queue.page(database).cases == ()
