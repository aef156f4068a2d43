"""The right to write: one row per job, taken by comparing and setting; its fence grows with every taking.

Whoever lost the lease without noticing, a process that slept say, finds a newer fence and writes nothing.
Never waits for a lease.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection, Update, or_, select, update

from recon.doors.store.engines import Database
from recon.doors.store.statements import insert
from recon.model.errors import LeaseHeld, LeaseLost
from recon.model.records.runs import Lease
from recon.model.rights import leases
from recon.model.stored import EPOCH

# An end that far ahead cannot be true: a clock that was wrong wrote it, and its run died. Others are waited
# for, because the clocks of two hosts differ; for more than that there is the fence.
_LONGEST = timedelta(days=1)


def take(database: Database, name: str, holder: str, *, now: datetime, duration: timedelta) -> Lease:
    """Return the lease, with a fence greater than every earlier one of its name.

    Raises:
        LeaseHeld: Somebody holds it until later than now, and not later than can be. Nothing was written.
    """
    with database.write() as connection:
        first = insert(connection, leases).values(
            name=name, holder=holder, fence=1, expires_at=now + duration
        )
        taking = first.on_conflict_do_update(
            index_elements=[leases.c.name],
            set_={"holder": holder, "fence": leases.c.fence + 1, "expires_at": now + duration},
            where=or_(leases.c.expires_at <= now, leases.c.expires_at > now + duration + _LONGEST),
        ).returning(leases.c.fence)
        fence = connection.scalar(taking)
        if fence is None:
            held = connection.execute(select(leases).where(leases.c.name == name)).one()
            raise LeaseHeld(
                f"Expected the lease {name!r} to be free, found it held by {held.holder} "
                f"until {held.expires_at:%Y-%m-%dT%H:%M:%SZ}, when it lapses even if that process was killed."
            )
        return Lease(name, holder, int(fence), now + duration)


def renew(database: Database, lease: Lease, *, now: datetime, duration: timedelta) -> Lease:
    """Return the same lease with a later end; a lapsed one that nobody took since is still ours.

    Raises:
        LeaseLost: Another has taken it. Nothing was written.
    """
    with database.write() as connection:
        check(connection, lease)
        connection.execute(_own(lease).values(expires_at=now + duration))
    return Lease(lease.name, lease.holder, lease.fence, now + duration)


def release(database: Database, lease: Lease) -> None:
    """Let the next one take it at once; nothing if another has taken it already."""
    with database.write() as connection:
        connection.execute(_own(lease).values(expires_at=EPOCH))


def held(database: Database, name: str, *, now: datetime) -> Lease | None:
    """Return the lease that somebody holds; None where it is free, or has lapsed."""
    with database.read() as connection:
        row = connection.execute(
            select(leases).where(leases.c.name == name, leases.c.expires_at > now)
        ).one_or_none()
    return None if row is None else Lease(row.name, row.holder, int(row.fence), row.expires_at)


def newest(database: Database, name: str) -> int:
    """Return the greatest fence ever given out under this name, 0 before the first."""
    with database.read() as connection:
        return int(connection.scalar(select(leases.c.fence).where(leases.c.name == name)) or 0)


def check(connection: Connection, lease: Lease) -> None:
    """Return if the lease is still the newest; until this transaction ends nobody else can take it.

    Raises:
        LeaseLost: It is not: leave the transaction.
    """
    fence = connection.scalar(
        select(leases.c.fence).where(leases.c.name == lease.name).with_for_update(read=True)
    )
    if fence != lease.fence:
        raise LeaseLost(
            f"Expected the lease {lease.name!r} with fence {lease.fence}, found fence {fence}: "
            "another run has taken over."
        )


def _own(lease: Lease) -> Update:
    return update(leases).where(leases.c.name == lease.name, leases.c.fence == lease.fence)
