from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from sqlalchemy import select

from recon.doors.store import signatures
from recon.doors.store.engines import Database
from recon.model import rights
from tests.builders import NOON


def test_a_signature_is_taken_once(database: Database) -> None:
    taken = [signatures.take(database, each, now=NOON) for each in ("v0=a", "v0=b", "v0=a")]

    assert taken == [True, True, False]


def test_of_many_at_once_one_is_first(database: Database) -> None:
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: signatures.take(database, "v0=a", now=NOON), range(16)))

    assert sum(taken) == 1


def test_what_is_too_old_to_come_again_is_dropped_and_nothing_else(database: Database) -> None:
    later = NOON + signatures.KEPT
    signatures.take(database, "v0=old", now=NOON - timedelta(microseconds=1))
    signatures.take(database, "v0=young", now=NOON)
    signatures.take(database, "v0=new", now=later)

    with database.read() as connection:
        kept = set(connection.scalars(select(rights.signatures.c.signature)))

    assert kept == {"v0=young", "v0=new"}
