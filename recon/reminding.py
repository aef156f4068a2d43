"""What time alone makes worth saying: cases nobody answers, dates that run out, the digest of each day.

Each is put into the outbox and written down as said in one transaction, so that a tick that dies loses
nothing and two ticks at once say nothing twice. Never sends anything: delivery does.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from recon.doors.store import holdings, mirror, outbox
from recon.doors.store import reminders as door
from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.notices import Manner
from recon.model.records.owners import Profile
from recon.model.records.reminders import Note, Unanswered
from recon.model.settings import Settings
from recon.rules import ownership
from recon.rules import reminders as rules
from recon.rules.reminders import Morning, Said

# How often a look that finds nothing is written down: the next one covers as much more, which costs little.
_LOOKS_APART = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Reminded:
    """How many messages one look has put into the outbox, by what they are about."""

    escalations: int = 0
    snoozes: int = 0
    acceptances: int = 0
    digests: int = 0

    @property
    def total(self) -> int:
        """Return how many in all."""
        return self.escalations + self.snoozes + self.acceptances + self.digests


@dataclass(frozen=True, slots=True)
class _Look:
    """What an owner has not answered. recent: the look before was. whole: nothing was left for the next."""

    profile: Profile
    found: tuple[Unanswered, ...]
    recent: bool
    whole: bool


def remind(database: Database, settings: Settings, *, clock: Callable[[], datetime]) -> Reminded:
    """Say everything whose time has come and that was not said, and return how many messages that takes.

    Raises:
        ConfigurationError: owners.toml is not as it should be. Nothing was written.
        DatabaseUnavailable: what was said before stands, and the rest is said by the next look.
    """
    now = clock()
    profiles = ownership.parse(settings.owners).owners
    livemode = mirror.livemode(database)
    manner = Manner.of(settings, profiles, livemode=livemode, as_of=now, now=now)
    return Reminded(
        escalations=_escalations(database, manner),
        snoozes=_dated(database, door.awake(database, now=now), Note.snooze, rules.snoozes_over, manner),
        acceptances=_dated(
            database,
            door.ending(database, before=now + rules.NOTICE),
            Note.acceptance,
            rules.acceptances_ending,
            manner,
        ),
        digests=_digests(database, manner),
    )


def _escalations(database: Database, manner: Manner) -> int:
    """Say what nobody has answered, to whoever comes next; return how many messages that takes."""
    owners = [each for each in manner.profiles.values() if each.steps and each.target]
    looked_at = door.looked_at(database, owners)
    looks = [_look(database, each, looked_at.get(each.name), manner) for each in owners]
    found = [each for look in looks for each in look.found]
    if not found and all(look.recent for look in looks):
        return 0
    with database.write() as connection:
        held = door.hold(connection, (each.case for each in found))
        fresh = [replace(each, said=held[each.case.id]) for each in found if each.case.id in held]
        said = rules.escalations(fresh, manner)
        door.note(connection, said.notes, at=manner.now)
        outbox.add(connection, said.notices)
        whole = [look.profile for look in looks if look.whole and all(e.case.id in held for e in look.found)]
        door.look_again(connection, whole, at=manner.now)
    return len(said.notices)


def _look(database: Database, profile: Profile, since: datetime | None, manner: Manner) -> _Look:
    """Return what an owner has not answered, as far as a look since then has to go."""
    if since is not None and since > manner.now:  # A clock that was ahead: what it has seen says nothing.
        since = None
    operators = manner.operators_channel
    found = door.unanswered(
        database, profile, now=manner.now, since=since, operators=operators, limit=door.LIMIT
    )
    recent = since is not None and manner.now - since < _LOOKS_APART
    return _Look(profile, found, recent=recent, whole=len(found) < door.LIMIT)


def _dated(
    database: Database,
    found: Iterable[Case],
    name: Callable[[Case], Note],
    compose: Callable[[Iterable[Case], Manner], Said],
    manner: Manner,
) -> int:
    """Say which dates run out; return how many messages that takes."""
    found = tuple(found)
    if not found:
        return 0
    with database.write() as connection:
        held = door.hold(connection, found)
        fresh = [case for case in found if case.id in held and name(case).name not in held[case.id]]
        said = compose(fresh, manner)
        door.note(connection, said.notes, at=manner.now)
        outbox.add(connection, said.notices)
    return len(said.notices)


def _digests(database: Database, manner: Manner) -> int:
    """Say the digests of the day that are due; return how many were not empty."""
    due = rules.mornings(holdings.targets(database), manner.profiles, now=manner.now)
    done = door.noted(database, map(rules.note_of, due))
    return sum(_digest(database, each, manner) for each in due if rules.note_of(each) not in done)


def _digest(database: Database, morning: Morning, manner: Manner) -> int:
    standing = holdings.holdings(
        database,
        morning.profile.target,
        since=morning.since,
        due_at=morning.at,
        now=manner.now,
        until=manner.now + rules.WEEK,
    )
    said = rules.digest(morning, standing, manner)
    with database.write() as connection:
        if not door.note_first(connection, rules.note_of(morning), at=manner.now):
            return 0  # Another tick was faster.
        outbox.add(connection, said.notices)
    return len(said.notices)
