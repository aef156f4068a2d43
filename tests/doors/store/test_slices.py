from datetime import timedelta

import pytest

from recon.doors.store import leases, mirror, slices
from recon.doors.store.engines import Database
from recon.model.errors import LeaseLost
from recon.model.records.runs import Slice
from recon.model.records.words import AccountId, RefundId
from tests.builders import NOON, PLATFORM, a_refund
from tests.doors.store.books import a_lease

HOUR = timedelta(hours=1)
OTHER = AccountId("acct_2")
FIRST, SECOND = (Slice(NOON + n * HOUR, NOON + (n + 1) * HOUR, NOON + 9 * HOUR) for n in (0, 1))


def test_slices_are_kept_for_their_account_and_written_twice_they_are_one(database: Database) -> None:
    lease = a_lease(database)
    slices.save(database, lease, PLATFORM, [SECOND, FIRST])
    slices.save(database, lease, PLATFORM, [FIRST._replace(read_at=NOON + 10 * HOUR)])

    assert slices.read(database, PLATFORM) == (FIRST._replace(read_at=NOON + 10 * HOUR), SECOND)
    assert slices.read(database, OTHER) == ()


def test_slices_are_forgotten_within_a_window_and_when_they_are_old(database: Database) -> None:
    lease = a_lease(database)
    before = Slice(NOON - 5 * HOUR, NOON - HOUR, NOON + 9 * HOUR)
    old = Slice(NOON - 9 * HOUR, NOON - 8 * HOUR, NOON - HOUR)
    for account in (PLATFORM, OTHER):
        slices.save(database, lease, account, [before, old, FIRST, SECOND])

    slices.forget(database, lease, PLATFORM, within=(NOON, NOON + 2 * HOUR), read_before=NOON)

    assert slices.read(database, PLATFORM) == (before,)
    assert slices.read(database, OTHER) == (old, before, FIRST, SECOND)


def test_who_lost_the_lease_writes_no_slice_and_forgets_none(database: Database) -> None:
    lease = a_lease(database)
    slices.save(database, lease, PLATFORM, [FIRST])
    leases.take(database, lease.name, "another", now=lease.expires_at, duration=HOUR)

    with pytest.raises(LeaseLost):
        slices.save(database, lease, PLATFORM, [SECOND])
    with pytest.raises(LeaseLost):
        slices.forget(database, lease, PLATFORM, within=(NOON, NOON + 2 * HOUR), read_before=NOON)

    assert slices.read(database, PLATFORM) == (FIRST,)


def test_the_mirror_says_when_refunds_were_made_and_with_which_key(database: Database) -> None:
    refunds = [
        a_refund(id=RefundId("re_1"), created_at=NOON, request_key="k1"),
        a_refund(id=RefundId("re_2")),
    ]
    mirror.save_page(database, a_lease(database), refunds)

    found = slices.mirrored(database, PLATFORM, [RefundId("re_1"), RefundId("re_9")])

    assert found == {"re_1": (NOON, "k1")}
