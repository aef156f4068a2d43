"""What a run leaves beside the cases it moved: the rows that could not be judged, and no touch it has seen.

Part of the transaction that saves the run; never moves a case.
"""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, or_, text, tuple_

from recon.doors.store.rows import INTENTS, REFUNDS, reject_row
from recon.doors.store.statements import chunks, insert
from recon.model import subjects, tables
from recon.model.records.results import Reject
from recon.model.records.words import AccountId, Subject

READ = (INTENTS, REFUNDS)


def replace_rejects(
    connection: Connection,
    rejects: Sequence[Reject],
    judged: Iterable[tuple[AccountId, Subject]],
    *,
    full: bool,
) -> None:
    """Put a run's rejects in the place of those of the rows it read. full: it read every row."""
    table = tables.rejects
    if full:
        connection.execute(delete(table).where(table.c.source.in_(READ)))
    named = {(each.account, each.id) for each in rejects} | {
        (account, subjects.parted(subject)[1]) for account, subject in judged
    }
    for chunk in chunks(sorted(named, key=str)):
        of_these = tuple_(table.c.account, table.c.id).in_(chunk)
        connection.execute(delete(table).where(table.c.source.in_(READ), of_these))
    rows = [reject_row(each) for each in rejects if each.source in READ]
    if rows:
        connection.execute(insert(connection, table), rows)


def prune_touches(connection: Connection, mark: int) -> None:
    """Forget the touches that this run has seen; no later run asks for them."""
    touches = tables.touches
    if connection.dialect.name == "sqlite":
        connection.execute(delete(touches).where(touches.c.id <= mark))
        return
    # Numbers from beyond this server's future came with a dump of another; reading then reads everything.
    alien = text(
        "xact >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint "
        "AND xact <> pg_current_xact_id()::text::bigint"
    )
    connection.execute(delete(touches).where(or_(touches.c.xact <= mark, alien)))
