"""Who may do what at the desk: a person as they came in and as the database has them, and the role it takes.

Never reads the database: whoever asks has read it just before, because a tab may be older than a decision.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from recon.model.phrases import lately
from recon.model.records.cases import JOB
from recon.model.records.people import Operator
from recon.model.records.words import Role

# Each role may do what those before it may.
RANKS: Final[Mapping[Role, int]] = {role: rank for rank, role in enumerate(Role)}


def standing(told: Operator, known: Operator | None) -> Operator:
    """Return somebody as they stand now.

    told: as they came in, with the role that the sign-in gives. known: as the database has them; None where
    nobody put them down. The database may take rights away, never add any: whoever left a group at the
    provider has left the desk.
    """
    if known is None:
        return told
    role = min(told.role, known.role, key=RANKS.__getitem__)
    return replace(known, role=role, active=told.active and known.active, since=told.since)


def ended(told: Operator, *, out_at: datetime | None, session: timedelta, now: datetime) -> str | None:
    """Return why somebody's sign-in no longer counts; None while it does, or where none is asked for.

    out_at: when they were last signed out, by themselves or by others; None is never. A sign-in of that very
    moment is from before it.
    """
    if told.since is None:
        return None
    if out_at is not None and told.since <= out_at:
        return f"You were signed out {lately(out_at, now)}: sign in again to go on."
    if told.since + session <= now:
        counts = f"that counts for {session / timedelta(hours=1):g} hours"
        return f"You signed in {lately(told.since, now)}, and {counts}: sign in again to go on."
    return None


def reaches(role: Role, needed: Role) -> bool:
    """Return whether a role is that one or one above it."""
    return RANKS[role] >= RANKS[needed]


def allows(person: Operator, needed: Role) -> bool:
    """Return whether somebody, as they stand now, has a role or one above it."""
    return refusal(person, needed) is None


def refusal(person: Operator, needed: Role) -> str | None:
    """Return why somebody, as they stand now, may not do what takes a role; None where they may."""
    if person.name == JOB:
        return f"{JOB} is the job's own name: nobody acts by it. Give the operator another."
    if not person.active:
        return f"{person.name} may no longer act at this desk."
    if reaches(person.role, needed):
        return None
    enough = " or ".join(role for role in Role if reaches(role, needed))
    return f"{person.name} has the role {person.role}; this takes {enough}."
