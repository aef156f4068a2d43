"""Signatures of requests that came over HTTP: each is taken once, by whichever process is first.

Never says whether one is genuine.
"""

from datetime import datetime, timedelta

from sqlalchemy import delete

from recon.doors.store.engines import Database
from recon.doors.store.statements import insert
from recon.model.rights import signatures

# Twice as long as a request is new, because it may be signed that long before our own time, or after it.
# Source: https://docs.slack.dev/authentication/verifying-requests-from-slack, five minutes.
KEPT = timedelta(minutes=10)


def take(database: Database, signature: str, *, now: datetime) -> bool:
    """Keep a signature; return whether it is the first time. Older ones than can count are dropped."""
    with database.write() as connection:
        connection.execute(delete(signatures).where(signatures.c.at < now - KEPT))
        adding = insert(connection, signatures).values(signature=signature, at=now).on_conflict_do_nothing()
        return connection.scalar(adding.returning(signatures.c.signature)) is not None
