"""Until when sign-ins no longer count, person by person."""

from datetime import datetime

from sqlalchemy import select

from recon.doors.store.engines import Database
from recon.doors.store.statements import insert
from recon.model.records.words import Actor
from recon.model.rights import sign_outs


def latest(database: Database, name: Actor) -> datetime | None:
    """Return when somebody was last signed out; None where nobody ever did that."""
    with database.read() as connection:
        found: datetime | None = connection.scalar(select(sign_outs.c.at).where(sign_outs.c.name == name))
    return found


def put(database: Database, name: Actor, at: datetime) -> None:
    """Let no sign-in count that is of this time or before; a later time that is known stands."""
    with database.write() as connection:
        connection.execute(
            insert(connection, sign_outs)
            .values(name=name, at=at)
            .on_conflict_do_update(
                index_elements=[sign_outs.c.name], set_={"at": at}, where=sign_outs.c.at < at
            )
        )
