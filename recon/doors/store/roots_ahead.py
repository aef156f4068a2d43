"""Roots that are on their way, so that two who begin a thread at once do not post two.

Part of recon/doors/store/outbox.py, which alone calls it.
"""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, select

from recon.doors.store.statements import chunks
from recon.model.records.notices import Topic
from recon.model.records.words import NoticeState
from recon.model.tables import notices, threads


def begun(connection: Connection, keys: Iterable[str], on_the_way: Collection[NoticeState]) -> set[str]:
    """Return those of these threads of cases whose root is on its way.

    Nobody else begins one of them before the transaction ends. on_the_way: the states of what is.
    """
    columns, found = notices.c, set[str]()
    for chunk in chunks(sorted(key for key in keys if Topic.read(key) is not None)):
        held = select(threads.c.key).where(threads.c.key.in_(chunk)).order_by(threads.c.key)
        connection.execute(held.with_for_update())
        query = select(columns.thread_key).where(
            columns.thread_key.in_(chunk), columns.verb == "root", columns.state.in_(on_the_way)
        )
        found.update(connection.scalars(query))
    return found
