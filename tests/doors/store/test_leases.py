from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from recon.doors.store import leases, mirror
from recon.doors.store.engines import Database
from recon.model.errors import LeaseHeld, LeaseLost
from recon.model.records.runs import Account, Lease
from tests.builders import NOON, PLATFORM, a_refund
from tests.doors.store.books import DURATION, count

SECOND = timedelta(seconds=1)
HOURS = timedelta(hours=24)


def take(database: Database, holder: str, *, late: timedelta = timedelta(0)) -> Lease:
    return leases.take(database, "hour", holder, now=NOON + late, duration=DURATION)


def test_a_free_lease_is_taken_until_its_end(database: Database) -> None:
    assert take(database, "ada") == Lease("hour", "ada", 1, NOON + DURATION)


def test_a_held_lease_is_refused_and_the_holder_named(database: Database) -> None:
    take(database, "ada")

    with pytest.raises(LeaseHeld, match=r"'hour'.*held by ada until 2026-03-06T12:05:00Z"):
        take(database, "bob", late=DURATION - SECOND)


@pytest.mark.parametrize("ahead, fence", [(HOURS, None), (HOURS + SECOND, 2)])
def test_an_end_that_only_a_wrong_clock_can_have_written_holds_nobody_up(
    database: Database, ahead: timedelta, fence: int | None
) -> None:
    leases.take(database, "hour", "died", now=NOON + ahead, duration=DURATION)

    if fence is None:
        with pytest.raises(LeaseHeld):
            take(database, "next")
    else:
        assert take(database, "next").fence == fence


def test_a_lapsed_lease_is_taken_with_a_greater_fence(database: Database) -> None:
    take(database, "ada")

    assert take(database, "bob", late=DURATION).fence == 2


def test_a_released_lease_is_free_at_once_and_its_fence_still_grows(database: Database) -> None:
    leases.release(database, take(database, "ada"))

    assert take(database, "bob", late=SECOND).fence == 2


def test_a_late_release_does_not_free_what_another_holds(database: Database) -> None:
    late = take(database, "ada")
    take(database, "bob", late=DURATION)

    leases.release(database, late)

    with pytest.raises(LeaseHeld, match="bob"):
        take(database, "eve", late=DURATION + SECOND)


def test_a_renewed_lease_is_held_longer(database: Database) -> None:
    lease = leases.renew(database, take(database, "ada"), now=NOON + SECOND, duration=DURATION)

    assert lease == Lease("hour", "ada", 1, NOON + SECOND + DURATION)
    with pytest.raises(LeaseHeld):
        take(database, "bob", late=DURATION)


def test_a_lapsed_lease_that_nobody_took_can_be_renewed(database: Database) -> None:
    lease = take(database, "ada")

    assert leases.renew(database, lease, now=NOON + 2 * DURATION, duration=DURATION).fence == 1


def test_a_lost_lease_cannot_be_renewed(database: Database) -> None:
    lease = take(database, "ada")
    take(database, "bob", late=DURATION)

    with pytest.raises(LeaseLost, match="fence 1, found fence 2"):
        leases.renew(database, lease, now=NOON + DURATION, duration=DURATION)


def test_the_newest_fence_is_known_without_a_lease(database: Database) -> None:
    assert leases.newest(database, "hour") == 0

    take(database, "ada")
    take(database, "bob", late=DURATION)

    assert leases.newest(database, "hour") == 2


def test_whoever_lost_the_lease_writes_nothing(database: Database) -> None:
    lease = take(database, "ada")
    take(database, "bob", late=DURATION)

    with pytest.raises(LeaseLost):
        mirror.save_page(database, lease, [a_refund()])
    with pytest.raises(LeaseLost):
        mirror.save_account(database, lease, Account(PLATFORM, livemode=False))

    assert (count(database, "refunds"), count(database, "accounts")) == (0, 0)


def test_of_many_takers_one_gets_it(database: Database) -> None:
    def attempt(number: int) -> int:
        try:
            return take(database, f"taker {number}").fence
        except LeaseHeld:
            return 0

    with ThreadPoolExecutor(8) as threads:
        fences = list(threads.map(attempt, range(16)))

    assert sorted(fences) == [0] * 15 + [1]
