"""What a desk's queue is asked, question by question, and how long the database takes to answer."""

import statistics
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial

from recon.doors.store import queue
from recon.doors.store.engines import Database
from recon.model.records.queues import WAITING, Cursor, QueueFilters
from recon.model.records.results import Money
from recon.model.records.words import AccountId, CaseState, Kind, Severity
from tests import crowd

PAGE = 50  # Cases on a page, as config/recon.toml has it.
FAR = 2_000  # Pages in: the last one of a hundred thousand cases.
RUNS = 9


def filters(now: datetime, *, named: str) -> Mapping[str, QueueFilters]:
    """Return the questions; named: an order, a customer or the like that exists.

    The second of a pair lets so little through that nearly every case has to be passed by.
    """
    team, person = crowd.TEAMS[3].name, crowd.PEOPLE[3]
    day = timedelta(days=1)
    return {
        "first page": QueueFilters(),
        "kind": QueueFilters(kinds=(Kind.STUCK,)),
        "kind, rare": QueueFilters(kinds=(Kind.CURRENCY_MISMATCH,)),
        "state": QueueFilters(states=(CaseState.ACKNOWLEDGED,)),
        "state, over": QueueFilters(states=(CaseState.RESOLVED,)),
        "state, any": QueueFilters(states=()),
        "owner": QueueFilters(owners=(team,)),
        "owner, nobody": QueueFilters(owners=("",)),
        "owner, unknown": QueueFilters(owners=("No such team",)),
        "severity": QueueFilters(severities=(Severity.LOW,)),
        "account": QueueFilters(accounts=(crowd.ACCOUNTS[1],)),
        "account, rare": QueueFilters(accounts=(crowd.ACCOUNTS[-1],)),
        "account, unknown": QueueFilters(accounts=(AccountId("acct_none"),)),
        "person": QueueFilters(person=person),
        "person, unknown": QueueFilters(person="no such person"),
        "age": QueueFilters(opened_from=now - day * 2, opened_before=now - day),
        "age, no such day": QueueFilters(opened_before=now - day * 900),
        "amount": QueueFilters(at_least=Money(100_00, "usd")),
        "amount, rare": QueueFilters(at_least=Money(10_000_00, "gbp")),
        "text": QueueFilters(search=named),
        "text, unknown": QueueFilters(search="no such order"),
        "kind, owner, amount": QueueFilters(
            kinds=(Kind.DUPLICATE,), owners=(team,), at_least=Money(50_00, "eur")
        ),
        "kind, account, age": QueueFilters(
            kinds=(Kind.OVERDUE,), accounts=(crowd.ACCOUNTS[4],), opened_from=now - day * 7
        ),
        "all at once": QueueFilters(
            states=WAITING[1:],
            kinds=(Kind.MISSING, Kind.ORPHAN),
            severities=(Severity.HIGH,),
            owners=(team, ""),
            accounts=(crowd.ACCOUNTS[0],),
            person=person,
            opened_from=now - day * 30,
            at_least=Money(1_00, "usd"),
        ),
    }


def far(database: Database) -> Cursor | None:
    """Return where the last page of a hundred thousand cases begins, found by one long look."""
    after: Cursor | None = None
    for _ in range(FAR * PAGE // queue.CHUNK):
        page = queue.page(database, after=after, limit=queue.CHUNK)
        if page.next is None:
            break
        after = page.next
    return after


def asked(database: Database, now: datetime) -> Mapping[str, float]:
    """Return the median milliseconds of each question, and of what stands beside the page."""
    some = queue.page(database, limit=1).cases
    named = next((case.mismatch.order_id or case.id for case in some), "")
    place = far(database)
    questions: dict[str, Callable[[], object]] = {
        name: partial(queue.page, database, these, limit=PAGE)
        for name, these in filters(now, named=named).items()
    }
    questions[f"page {FAR:,}"] = partial(queue.page, database, after=place, limit=PAGE)
    questions["summary"] = partial(queue.summary, database)
    return {name: _median(question) for name, question in questions.items()}


def _median(question: Callable[[], object]) -> float:
    found = []
    for run in range(RUNS + 1):
        started = time.perf_counter()
        question()
        if run:
            found.append((time.perf_counter() - started) * 1000)
    return round(statistics.median(found), 2)
