from datetime import timedelta

from recon.doors.store import sign_outs
from recon.doors.store.engines import Database
from recon.model.records.words import Actor
from tests.builders import NOON

ANA, BO = Actor("ana@example.com"), Actor("bo@example.com")


def test_nobody_is_signed_out_before_somebody_does_it(database: Database) -> None:
    sign_outs.put(database, BO, NOON)

    assert sign_outs.latest(database, ANA) is None


def test_the_latest_sign_out_stands_in_whatever_order_they_are_written(database: Database) -> None:
    found = []
    for minutes in (0, 5, 3):
        sign_outs.put(database, ANA, NOON + timedelta(minutes=minutes))
        found.append(sign_outs.latest(database, ANA))

    assert found == [NOON, NOON + timedelta(minutes=5), NOON + timedelta(minutes=5)]
