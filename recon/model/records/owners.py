"""Owners as owners.toml tells of them: where they read, when they rest, and who is asked after them.

Never says which case is whose: rules/ownership.py does.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta, tzinfo

from recon.model.records.cases import Owner

DIGEST_AT = time(9)  # When a working day has begun, and before its first meeting is over.
_GROUP = re.compile(r"S[A-Z0-9]+")


def is_group(target: str) -> bool:
    """Return whether a target is a user group's id; no channel, person or address is written so."""
    return _GROUP.fullmatch(target) is not None


@dataclass(frozen=True, slots=True)
class Step:
    """Who is told when nobody has answered. after: since the owner was told. owner: by name."""

    after: timedelta
    owner: str
    target: str


@dataclass(frozen=True, slots=True)
class Profile:
    """One owner.

    name: as people say it, unique. target: a channel, a person's id or e-mail address, or a user group's id.
    group: a user group to mention when something opens; None mentions nobody. zone: of their clocks. rest:
    local times from and to which nothing but critical messages is sent; None never rests. digest_at: local
    time of the daily digest; None wants none. steps: the chain, soonest first.
    """

    name: str
    target: str
    group: str | None = None
    zone: tzinfo = UTC
    rest: tuple[time, time] | None = None
    digest_at: time | None = DIGEST_AT
    steps: tuple[Step, ...] = ()

    def awake_at(self, now: datetime) -> datetime:
        """Return the first moment from now on, aware UTC, at which this owner does not rest."""
        if self.rest is None:
            return now
        begins, ends = self.rest
        local = now.astimezone(self.zone)
        at = local.time()
        resting = begins <= at < ends if begins < ends else at >= begins or at < ends
        if not resting:
            return now
        day = local.date() if at < ends else local.date() + timedelta(days=1)
        return datetime.combine(day, ends, tzinfo=self.zone).astimezone(now.tzinfo)


def profile_of(owner: Owner, profiles: Mapping[str, Profile]) -> Profile:
    """Return what is known of a case's owner, reading where the case says.

    Whom no file names, because a person chose them, rests never and has no chain.
    """
    known = profiles.get(owner.name) or Profile(owner.name, owner.target)
    return replace(known, target=owner.target)
