"""The runs that saved something. Written by cases.save_run, in the transaction of what they found."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, Select, insert, select

from recon.doors.store.engines import Database
from recon.model.records.runs import AccountReading, Run
from recon.model.records.words import AccountId, RunId, Verdict
from recon.model.tables import run_accounts, runs


def last_saved(database: Database) -> Run | None:
    """Return the run that saved last; None before the first."""
    return _last(database, select(runs))


def first(database: Database) -> Run | None:
    """Return the first run of all that saved something; None before it."""
    with database.read() as connection:
        found = those(connection, select(runs).order_by(runs.c.number).limit(1))
    return found[0] if found else None


def last_complete(database: Database) -> Run | None:
    """Return the last run that read everything; None before the first."""
    return _last(database, select(runs).where(runs.c.verdict != Verdict.INCOMPLETE))


def recent(database: Database, limit: int) -> tuple[Run, ...]:
    """Return the latest runs, newest first."""
    with database.read() as connection:
        return those(connection, select(runs).order_by(runs.c.number.desc()).limit(limit))


def recent_complete(database: Database, limit: int) -> tuple[Run, ...]:
    """Return the latest runs that read everything, newest first."""
    complete = select(runs).where(runs.c.verdict != Verdict.INCOMPLETE)
    with database.read() as connection:
        return those(connection, complete.order_by(runs.c.number.desc()).limit(limit))


def those(connection: Connection, query: Select[Any]) -> tuple[Run, ...]:
    """Return the runs of a query over all their columns, in its order."""
    rows = connection.execute(query).all()
    accounts: dict[str, list[AccountReading]] = {row.id: [] for row in rows}
    of_these = run_accounts.c.run_id.in_(list(accounts))
    for row in connection.execute(select(run_accounts).where(of_these).order_by(run_accounts.c.account)):
        accounts[row.run_id].append(_reading(row._mapping))  # noqa: SLF001 -- public, in spite of its name
    return tuple(_run(row, tuple(accounts[row.id])) for row in rows)


def put(connection: Connection, run: Run) -> None:
    """Write a run down within the transaction that saves what it found."""
    row = {column.name: getattr(run, column.name) for column in runs.c if column.name != "number"}
    connection.execute(insert(runs).values(row | {"counts": dict(run.counts), "at_risk": dict(run.at_risk)}))
    if run.accounts:
        connection.execute(insert(run_accounts), [_account_row(run.id, each) for each in run.accounts])


def _last(database: Database, query: Select[Any]) -> Run | None:
    with database.read() as connection:
        found = those(connection, query.order_by(runs.c.number.desc()).limit(1))
    return found[0] if found else None


def _run(row: Row[Any], accounts: tuple[AccountReading, ...]) -> Run:
    return Run(
        id=RunId(row.id),
        fence=row.fence,
        started_at=row.started_at,
        finished_at=row.finished_at,
        as_of=row.as_of,
        verdict=Verdict(row.verdict),
        mark=row.mark,
        policy_digest=row.policy_digest,
        full=row.full,
        counts=row.counts,
        at_risk=row.at_risk,
        opened=row.opened,
        cleared=row.cleared,
        healed=row.healed,
        accounts=accounts,
        heads_digest=row.heads_digest,
    )


def _reading(row: Mapping[Any, Any]) -> AccountReading:
    return AccountReading(
        account=AccountId(row["account"]),
        from_at=row["from_at"],
        to_at=row["to_at"],
        complete=row["complete"],
        pages=row["pages"],
        refunds=row["refunds"],
        changed=row["changed"],
        error=row["error"],
    )


def _account_row(run_id: RunId, reading: AccountReading) -> dict[str, object]:
    return {"run_id": run_id} | {
        column.name: getattr(reading, column.name) for column in run_accounts.c if column.name != "run_id"
    }
