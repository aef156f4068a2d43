from datetime import timedelta

import pytest

from recon.doors.store import keeping, leases
from recon.doors.store.engines import Database
from recon.model.errors import LeaseHeld
from recon.model.records.progress import Waiting
from tests.builders import NOON

DURATION = timedelta(minutes=5)


@pytest.mark.parametrize("wait, slept", [(0, []), (0.5, [0.5]), (1, [1.0]), (2.5, [1.0, 1.0, 0.5])])
def test_a_held_lease_is_waited_for_as_long_as_was_said(
    database: Database, wait: float, slept: list[float]
) -> None:
    leases.take(database, "hour", "another", now=NOON, duration=DURATION)
    sleeps: list[float] = []
    with (
        pytest.raises(LeaseHeld, match="another"),
        keeping.kept(
            database,
            "hour",
            duration=DURATION,
            clock=lambda: NOON,
            wait=timedelta(seconds=wait),
            sleep=sleeps.append,
        ),
    ):
        pass

    assert sleeps == slept


def test_whom_it_waits_for_is_said_once(database: Database) -> None:
    leases.take(database, "hour", "vm, process 32265", now=NOON, duration=DURATION)
    told: list[Waiting] = []
    with (
        pytest.raises(LeaseHeld),
        keeping.kept(
            database,
            "hour",
            duration=DURATION,
            clock=lambda: NOON,
            wait=timedelta(seconds=3),
            sleep=lambda _: None,
            tell=told.append,
        ),
    ):
        pass

    assert [str(each) for each in told] == [
        "Waiting for vm, process 32265, which holds the lease until 12:05:00 UTC."
    ]


def test_who_does_not_wait_is_told_by_the_error_alone(database: Database) -> None:
    leases.take(database, "hour", "another", now=NOON, duration=DURATION)
    told: list[Waiting] = []
    with (
        pytest.raises(LeaseHeld),
        keeping.kept(database, "hour", duration=DURATION, clock=lambda: NOON, tell=told.append),
    ):
        pass

    assert told == []


def test_a_lease_that_is_given_back_meanwhile_is_taken(database: Database) -> None:
    held = leases.take(database, "hour", "another", now=NOON, duration=DURATION)
    with keeping.kept(
        database,
        "hour",
        duration=DURATION,
        clock=lambda: NOON,
        wait=timedelta(seconds=9),
        sleep=lambda _: leases.release(database, held),
    ) as keeper:
        assert keeper.current().fence == 2
    assert leases.take(database, "hour", "a third", now=NOON, duration=DURATION).fence == 3


def test_a_lease_is_renewed_once_a_third_of_it_is_gone(database: Database) -> None:
    now = NOON
    with keeping.kept(database, "hour", duration=DURATION, clock=lambda: now) as keeper:
        now = NOON + DURATION / 3
        early = keeper.current().expires_at
        now += timedelta(seconds=1)
        late = keeper.current().expires_at

    assert (early, late) == (NOON + DURATION, now + DURATION)
