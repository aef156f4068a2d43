"""A database as a large company has it after a bad quarter: cases that wait by the hundred thousand.

The rows are made by the store's own functions: stories explain their cases, chains and seals hold. What
waits was opened in the last weeks, hundreds an hour; what is over tells most of the entries.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from random import Random
from typing import Any

from psycopg.sql import SQL, Identifier
from sqlalchemy import Connection, Table, insert

from recon.doors.store import chains, runs, seals
from recon.doors.store.engines import Database
from recon.doors.store.rows import case_row, entry_row
from recon.model import tables
from recon.model.records.cases import JOB, Case, Entry, Owner, case_id
from recon.model.records.results import Mismatch
from recon.model.records.runs import AccountReading, Run
from recon.model.records.words import (
    AccountId,
    Action,
    Actor,
    CaseState,
    Certainty,
    IntentKey,
    Kind,
    RefundId,
    Resolution,
    RunId,
    Severity,
    Subject,
    Verdict,
)
from tests import seeds

KINDS = {
    Kind.DUPLICATE: 40,
    Kind.STUCK: 20,
    Kind.MISSING: 15,
    Kind.ORPHAN: 10,
    Kind.AMOUNT_MISMATCH: 6,
    Kind.STATUS_MISMATCH: 4,
    Kind.OVERDUE: 3,
    Kind.REFUND_FAILED: 1.9,
    Kind.CURRENCY_MISMATCH: 0.1,  # Rare: a filter must pass by nearly all to find one page.
}
SEVERITIES = {Severity.CRITICAL: 3, Severity.HIGH: 27, Severity.MEDIUM: 50, Severity.LOW: 20}
ACCOUNTS = [AccountId(""), *(AccountId(f"acct_{number}") for number in range(8))]
SHARES = [60, 15, 10, 5, 4, 3, 2, 0.9, 0.1]
CURRENCIES = {"usd": 60, "eur": 30, "gbp": 9, "jpy": 1}
TEAMS = [Owner(f"Team {number:02}", f"#team-{number}", rule=f"team {number}") for number in range(24)]
PEOPLE = [Actor(f"person_{number}") for number in range(12)]
WEEKS, QUARTER = timedelta(days=40), timedelta(days=90)
HOUR = timedelta(hours=1)
PART = 5_000  # Cases written at once.
LONGEST = 5  # Entries of one story.


@dataclass
class Story:
    """A case that is being told. entries: oldest first."""

    case: Case
    entries: list[Entry] = field(default_factory=list)

    def go_on(self, action: Action, *, after: timedelta, actor: Actor = JOB, **changes: Any) -> None:  # noqa: ANN401 -- any field of the case
        """Add what was done so long after the entry before; changes: of the case."""
        before = self.case if self.entries else None
        at = before.updated_at + after if before else self.case.opened_at
        version = len(self.entries) + 1
        self.case = replace(self.case, **changes, version=version, updated_at=at)
        self.entries.append(
            Entry(
                case_id=self.case.id,
                action=action,
                actor=actor,
                at=at,
                reason=self.case.mismatch.why if actor == JOB else "Looked into it with the bank.",
                from_state=before.state if before else None,
                to_state=self.case.state,
                version=version,
                action_id=f"{self.case.id}:{version}",
                run_id=run_at(at) if actor == JOB else None,
                resolution=self.case.resolution if action is Action.RESOLVED else None,
            )
        )


def fill(database: Database, *, waiting: int, told: int, now: datetime) -> None:
    """Put cases that wait into a migrated, empty database, and former ones until told entries are there."""
    now = now.replace(minute=0, second=0, microsecond=0)
    with database.write() as connection:
        _write_runs(connection, [_run(at) for at in hours(now)[:-1]])
        mirror_of(connection, now)
        waits, over, left = _waiting(waiting, now), _over(now), told
        while part := list(islice(waits, PART)):
            left -= _write(connection, part)
        while left > 0:
            left -= _write(connection, list(islice(over, min(PART, left // LONGEST + 1))))
        last = _run(now)
        digest = seals.close(connection, last.id)
        runs.put(connection, replace(last, heads_digest=digest))
        connection.execute(tables.touches.delete())  # The last run saw them.


def hours(now: datetime) -> Sequence[datetime]:
    """Return when the quarter's runs ended, oldest first, the last of them now."""
    return [now - HOUR * number for number in range(QUARTER // HOUR, -1, -1)]


def run_at(at: datetime) -> RunId:
    """Return the run of that hour."""
    return RunId(f"run_{at:%Y%m%d%H}")


def mirror_of(connection: Connection, now: datetime) -> None:
    """Say that every account was read up to now."""
    rows = [
        {"account": each, "livemode": True, "covered_from": now - QUARTER, "watermark_at": now}
        for each in ACCOUNTS
    ]
    connection.execute(insert(tables.accounts), rows)


def _run(at: datetime) -> Run:
    reading = AccountReading(ACCOUNTS[0], at - HOUR, at, complete=True, pages=3, refunds=212, changed=20)
    return Run(
        id=run_at(at),
        fence=1,
        started_at=at - timedelta(seconds=40),
        finished_at=at,
        as_of=at - timedelta(minutes=1),
        verdict=Verdict.BREAKS,
        mark=0,
        policy_digest="crowd",
        full=False,
        counts={"intents": 9_000, "refunds": 9_000, "matched": 8_700},
        at_risk={"usd": 4_900},
        opened=100,
        cleared=90,
        healed=3,
        accounts=(reading,),
    )


def _waiting(number: int, now: datetime) -> Iterator[Story]:
    """Yield cases that somebody must still act on: most are as a run left them, some are somebody's."""
    random = Random(1)
    for place in range(number):
        story = _begun(place, now - HOUR * random.randint(1, WEEKS // HOUR), random)
        for _ in range(random.choice([0, 0, 1, 2])):
            story.go_on(Action.CHANGED, after=timedelta(minutes=7))
        if random.random() < 0.2:
            taken = {"state": CaseState.ACKNOWLEDGED}
            person = random.choice(PEOPLE)
            story.go_on(Action.ACKNOWLEDGED, after=timedelta(minutes=9), actor=person, **taken)
            story.go_on(Action.COMMENTED, after=timedelta(minutes=9), actor=person)
        yield story


def _over(now: datetime) -> Iterator[Story]:
    """Yield cases that are over, without an end: most have cleared, the rest is resolved."""
    random = Random(2)
    place = 10**8
    while True:
        place += 1
        age = random.randint(3, QUARTER // HOUR - 1)
        story, person = _begun(place, now - HOUR * age, random), random.choice(PEOPLE)
        if random.random() < 0.5:
            taken = {"state": CaseState.ACKNOWLEDGED}
            story.go_on(Action.ACKNOWLEDGED, after=timedelta(minutes=9), actor=person, **taken)
            story.go_on(Action.COMMENTED, after=timedelta(minutes=9), actor=person)
            settled = {"decided_fence": 1, "decided_at": story.case.updated_at + timedelta(minutes=9)}
            story.go_on(
                Action.RESOLVED,
                after=timedelta(minutes=9),
                actor=person,
                state=CaseState.RESOLVED,
                resolution=Resolution.RECOVERED,
                **settled,
            )
        if random.random() < 0.9:
            story.go_on(
                Action.CLEARED,
                after=HOUR,
                state=CaseState.CLEARED,
                resolution=None,
                decided_at=None,
                decided_fence=None,
            )
        elif story.case.state is CaseState.OPEN:
            continue
        yield story


def _begun(number: int, at: datetime, random: Random) -> Story:
    mismatch = _mismatch(number, at, random)
    severity = random.choices(list(SEVERITIES), list(SEVERITIES.values()))[0]
    case = Case(
        id=case_id(mismatch.account, mismatch.subject),
        account=mismatch.account,
        subject=mismatch.subject,
        mismatch=mismatch,
        state=CaseState.OPEN,
        version=1,
        severity=severity,
        owner=random.choice(TEAMS) if random.random() < 0.97 else None,
        opened_at=at,
        updated_at=at,
    )
    story = Story(case)
    story.go_on(Action.OPENED, after=timedelta(0))
    return story


def _mismatch(number: int, at: datetime, random: Random) -> Mismatch:
    kind = random.choices(list(KINDS), list(KINDS.values()))[0]
    currency = random.choices(list(CURRENCIES), list(CURRENCIES.values()))[0]
    amount = int(random.lognormvariate(8.5, 1.1)) + 1  # Half of them below 50.00; a few above 1,000.00.
    since = at - timedelta(minutes=20, microseconds=random.randrange(10**9))
    mismatch = replace(
        seeds.duplicate(number, at=since, amount_minor=amount, currency=currency),
        kind=kind,
        account=random.choices(ACCOUNTS, SHARES)[0],
        customer_id=f"cus_{number // 3}",
    )
    if kind is Kind.DUPLICATE:
        return mismatch
    refunds = () if kind in {Kind.MISSING, Kind.STUCK} else (RefundId(f"re_{number}"),)
    orphan = kind is Kind.ORPHAN
    return replace(
        mismatch,
        certainty=Certainty.CONFIRMED,
        subject=Subject(f"refund:re_{number}") if orphan else mismatch.subject,
        intent_key=None if orphan else IntentKey(f"refund_order:{number}"),
        order_id=None if orphan else mismatch.order_id,
        refund_ids=refunds,
        extra_refund_ids=(),
        why=f"Order order_{number}: {kind.value.replace('_', ' ')}.",
    )


def _write(connection: Connection, stories: Sequence[Story]) -> int:
    """Write what these stories tell, and return how many entries that was."""
    books, links = [], []
    for story in stories:
        head = chains.FIRST
        for entry in story.entries:
            links.append(chains.link(entry_row(entry), head))
            head = links[-1]["hash"]
        books.append(case_row(story.case) | {"head": head})
    found = [story.case for story in stories]
    named = [{"case_id": case.id, "refund_id": each} for case in found for each in case.mismatch.refund_ids]
    _put(connection, tables.cases, books)
    _put(connection, tables.entries, links)
    _put(connection, tables.seals, [{"topic": each["topic"], "version": each["version"]} for each in links])
    _put(connection, tables.case_refunds, named)
    return len(links)


def _write_runs(connection: Connection, finished: Sequence[Run]) -> None:
    columns, of_accounts = tables.runs.c, tables.run_accounts.c
    names = [column.name for column in columns if column.name != "number"]
    told = [column.name for column in of_accounts if column.name != "run_id"]
    _put(connection, tables.runs, [{name: getattr(run, name) for name in names} for run in finished])
    readings = [
        {"run_id": run.id} | {name: getattr(reading, name) for name in told}
        for run in finished
        for reading in run.accounts
    ]
    _put(connection, tables.run_accounts, readings)


def _put(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows of the same columns: by PostgreSQL's COPY, which takes a tenth of an INSERT's time."""
    if not rows:
        return
    if connection.dialect.name == "sqlite":
        connection.execute(insert(table), rows)
        return
    names = list(rows[0])
    kept = [table.c[name].type.dialect_impl(connection.dialect) for name in names]
    bound = [(name, each.bind_processor(connection.dialect)) for name, each in zip(names, kept, strict=True)]
    driver = connection.connection.driver_connection
    assert driver is not None
    columns = SQL(", ").join(map(Identifier, names))
    copy = SQL("COPY {} ({}) FROM STDIN").format(Identifier(table.name), columns)
    with driver.cursor().copy(copy) as lines:
        for row in rows:
            lines.write_row([bind(row[name]) if bind else row[name] for name, bind in bound])
