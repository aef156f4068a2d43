"""Who may use the desk, as the database has it. Never signs anybody in."""

from sqlalchemy import Connection, Row, delete, insert, select
from sqlalchemy.exc import IntegrityError

from recon.doors.store.engines import Database
from recon.model.errors import Report
from recon.model.records.people import Operator
from recon.model.records.words import Actor, Role
from recon.model.rights import operators


def get(database: Database, name: Actor) -> Operator | None:
    """Return the operator of this name; None where nobody put one down."""
    with database.read() as connection:
        row = connection.execute(select(operators).where(operators.c.name == name)).one_or_none()
    return None if row is None else _record(row)


def in_slack(database: Database, slack_id: str) -> Operator | None:
    """Return who has this id in Slack, active or not; None where nobody has."""
    with database.read() as connection:
        row = connection.execute(select(operators).where(operators.c.slack_id == slack_id)).one_or_none()
    return None if row is None else _record(row)


def every(database: Database) -> tuple[Operator, ...]:
    """Return every operator there ever was, by name."""
    with database.read() as connection:
        return tuple(map(_record, connection.execute(select(operators).order_by(operators.c.name))))


def put(database: Database, operator: Operator) -> None:
    """Write an operator down, in place of what was known of that name.

    Raises:
        Report: somebody else has that id in Slack. Nothing was written.
    """
    try:
        with database.write() as connection:
            _check_free(connection, operator)
            connection.execute(delete(operators).where(operators.c.name == operator.name))
            connection.execute(
                insert(operators).values(
                    name=operator.name,
                    role=operator.role,
                    active=operator.active,
                    slack_id=operator.slack_id,
                )
            )
    except IntegrityError:  # On PostgreSQL: another hand wrote the name or the id at this moment.
        raise Report(
            f"Expected nobody else to write {operator.name!r} or {operator.slack_id} down just now, "
            "found somebody who did: see recon operators list, then try again."
        ) from None


def _check_free(connection: Connection, operator: Operator) -> None:
    """Return if nobody else has the operator's id in Slack.

    Raises:
        Report: somebody has: leave the transaction.
    """
    if operator.slack_id is None:
        return
    columns = operators.c
    others = select(columns.name).where(columns.slack_id == operator.slack_id, columns.name != operator.name)
    other = connection.scalar(others)
    if other is not None:
        raise Report(
            f"Expected a Slack id that nobody has, found {operator.slack_id}, which is {other}'s: "
            f"run recon operators remove {other!r} first."
        )


def _record(row: Row[tuple[object, ...]]) -> Operator:
    return Operator(Actor(row.name), Role(row.role), active=row.active, slack_id=row.slack_id)
