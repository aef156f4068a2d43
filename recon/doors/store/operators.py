"""Who may use the desk, as the database has it. Never signs anybody in."""

from sqlalchemy import delete, insert, select

from recon.doors.store.engines import Database
from recon.model.records.people import Operator
from recon.model.records.words import Actor, Role
from recon.model.tables import operators


def get(database: Database, name: Actor) -> Operator | None:
    """Return the operator of this name; None where nobody put one down."""
    with database.read() as connection:
        row = connection.execute(select(operators).where(operators.c.name == name)).one_or_none()
    return None if row is None else Operator(Actor(row.name), Role(row.role), active=row.active)


def put(database: Database, operator: Operator) -> None:
    """Write an operator down, in place of what was known of that name."""
    with database.write() as connection:
        connection.execute(delete(operators).where(operators.c.name == operator.name))
        connection.execute(
            insert(operators).values(name=operator.name, role=operator.role, active=operator.active)
        )
