"""Who is reminded when: the chain of those asked when nobody answers, dates that run out, the day's digest.

Never reads a clock or a table: what was said before comes with the cases. Replanning gives the same notices.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from recon.model import reminders
from recon.model.records import reminders as names
from recon.model.records.cases import Case
from recon.model.records.notices import URGENCY, Manner, Message, Notice, Topic, key_of
from recon.model.records.owners import Profile, Step
from recon.model.records.reminders import Holdings, Note, Unanswered
from recon.model.records.words import CaseId, Severity

NOTICE = timedelta(hours=24)  # How long before an acceptance ends that is said: time to look at it again.
WEEK = timedelta(days=7)  # Of acceptances' ends that a digest tells: what the days to come will bring.

_DIGEST = 0  # The urgency of a digest: it tells nothing new.


@dataclass(frozen=True, slots=True)
class Said:
    """What is said, and what is written down so that it is not said again; saved together or not at all."""

    notices: tuple[Notice, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Morning:
    """A digest that is due. at: since when. since: when the one before was: from then on news counts."""

    profile: Profile
    day: date
    at: datetime
    since: datetime


def escalations(unanswered: Iterable[Unanswered], manner: Manner) -> Said:
    """Return one message for each step's target and thread, of the cases for which the step is due.

    Where several steps are due at once the last is said, and those before it count as said.
    """
    notes: list[Note] = []
    groups: dict[tuple[str, Topic], list[_Asked]] = defaultdict(list)
    for each in unanswered:
        owner, topic = each.case.owner, Topic.of(each.case, livemode=manner.livemode)
        if owner is None or topic is None:
            continue
        due = [step for step in manner.profile(owner).steps if manner.now - each.told_at >= step.after]
        steps = [f"{names.escalation(n, owner.name)}{each.since}" for n in range(1, len(due) + 1)]
        notes += [Note(each.case.id, name) for name in steps if name not in each.said]
        if due and steps[-1] not in each.said:
            groups[due[-1].target, topic].append(_Asked(each, due[-1], steps[-1]))
    notices = [_escalation(target, topic, groups[target, topic], manner) for target, topic in groups]
    return Said(tuple(notices), tuple(notes))


def snoozes_over(cases: Iterable[Case], manner: Manner) -> Said:
    """Return one message for each owner's place of the cases that sleep no longer."""
    return _dated("snooze", cases, manner, compose=reminders.snoozes_over, note=Note.snooze)


def acceptances_ending(cases: Iterable[Case], manner: Manner) -> Said:
    """Return one message for each owner's place of the cases whose acceptance ends soon."""
    return _dated("acceptance", cases, manner, compose=reminders.acceptances_ending, note=Note.acceptance)


def mornings(
    targets: Iterable[str], profiles: Mapping[str, Profile], *, now: datetime
) -> tuple[Morning, ...]:
    """Return the digests whose time has come on the day that it is there, whether they were said or not.

    targets: where owners of cases read. Where several read in one place, the first by name that wants one
    says when; who has no profile is as one that says nothing of it.
    """
    wanted: dict[str, Profile] = {}
    known = {profile.target for profile in profiles.values()}
    for profile in sorted(profiles.values(), key=lambda each: each.name):
        if profile.target and profile.digest_at is not None:
            wanted.setdefault(profile.target, profile)
    wanted |= {target: Profile(target, target) for target in targets if target and target not in known}
    found = []
    for target in sorted(wanted):
        profile = wanted[target]
        day = now.astimezone(profile.zone).date()
        at = digest_moment(profile, day)
        if now >= at:
            found.append(Morning(profile, day, at, digest_moment(profile, day - timedelta(days=1))))
    return tuple(found)


def digest_moment(profile: Profile, day: date) -> datetime:
    """Return when a day's digest is due, aware UTC: at its time, or when the rest ends that it falls into."""
    assert profile.digest_at is not None, f"{profile.name} wants no digest"
    wanted = datetime.combine(day, profile.digest_at, tzinfo=profile.zone)
    at = profile.awake_at(wanted.astimezone(UTC)).astimezone(profile.zone).time()
    return datetime.combine(day, at, tzinfo=profile.zone).astimezone(UTC)


def digest(morning: Morning, holdings: Holdings, manner: Manner) -> Said:
    """Return a day's digest; without a notice where nothing waits that was told there before it was due.

    The day is done all the same: what opens later is told as it opens, and not once more.
    """
    note = note_of(morning)
    if not (holdings.waiting and holdings.known):
        return Said((), (note,))
    said = reminders.digest(holdings, manner)
    thread = f"digest|{morning.profile.target}"
    key = f"{thread}|{morning.day:%Y-%m-%d}"
    return Said((_notice(key, thread, morning.profile, said, (), urgency=_DIGEST, manner=manner),), (note,))


def note_of(morning: Morning) -> Note:
    """Return under which name a day's digest is said once."""
    return Note(morning.profile.target, names.digest(morning.day))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A case of which the next in the chain is told. name: under which that is said once."""

    unanswered: Unanswered
    step: Step
    name: str


def _escalation(target: str, topic: Topic, group: Sequence[_Asked], manner: Manner) -> Notice:
    """Return what whoever comes next is told."""
    owner = group[0].step.owner
    reader = replace(manner.profiles.get(owner) or Profile(owner, target), target=target)
    thread = f"escalation|{target}|{key_of([topic.key])}"
    key = f"{thread}|{key_of(f'{each.unanswered.case.id} {each.name}' for each in group)}"
    said = reminders.escalation(topic, reader, [each.unanswered for each in group], manner)
    ids = tuple(each.unanswered.case.id for each in group)
    return _notice(key, thread, reader, said, ids, urgency=URGENCY[topic.severity], manner=manner)


def _dated(
    what: str,
    cases: Iterable[Case],
    manner: Manner,
    *,
    compose: Callable[[Sequence[Case], Manner], Message],
    note: Callable[[Case], Note],
) -> Said:
    """Return what owners are told of dates that run out, one message for each place where they read."""
    groups: dict[str, list[Case]] = defaultdict(list)
    readers: dict[str, Profile] = {}
    for case in cases:
        if case.owner is not None and case.owner.target:
            groups[case.owner.target].append(case)
            readers.setdefault(case.owner.target, manner.profile(case.owner))
    notices: list[Notice] = []
    notes: list[Note] = []
    for target, group in groups.items():
        urgency = max(URGENCY[case.severity] for case in group)
        thread = f"{what}|{target}|{urgency}"  # One that wakes somebody stands behind none that waits.
        key = f"{thread}|{key_of(f'{case.id}@{case.version}' for case in group)}"
        ids, said = tuple(case.id for case in group), compose(group, manner)
        notices.append(_notice(key, thread, readers[target], said, ids, urgency=urgency, manner=manner))
        notes += map(note, group)
    return Said(tuple(notices), tuple(notes))


def _notice(
    key: str,
    thread: str,
    reader: Profile,
    message: Message,
    about: tuple[CaseId, ...],
    *,
    urgency: int,
    manner: Manner,
) -> Notice:
    """Return a message of its own to somebody, when they do not rest; only what is critical wakes them."""
    wakes = urgency == URGENCY[Severity.CRITICAL]
    return Notice.new(
        key,
        "root",
        message,
        thread_key=thread,
        target=reader.target,
        urgency=urgency,
        now=manner.now,
        next_at=None if wakes else reader.awake_at(manner.now),
        case_ids=about,
    )
