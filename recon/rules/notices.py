"""What is said to whom: changes in, messages out; nothing new, nothing said.

One root message per thread shows how its cases stand and is edited in place; one reply per run or move says
what is new. Never says anything about a person but ids, and never lets a stranger's text ping or link.
Replanning gives the same notices: their keys come from cases and versions, not from clocks or chance.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from recon.model import alarms, messages
from recon.model.messages import News
from recon.model.particulars import largest
from recon.model.phrases import minute
from recon.model.records.cases import Case, Change, Owner
from recon.model.records.notices import (
    ALARM,
    URGENCY,
    Known,
    Manner,
    Message,
    Notice,
    Standing,
    Thread,
    Topic,
    key_of,
)
from recon.model.records.queues import WAITING
from recon.model.records.results import Reject
from recon.model.records.runs import AccountReading, Run
from recon.model.records.words import AccountId, Action, CaseId, CaseState, Kind, RunId, Severity
from recon.model.wording import plain

INCOMPLETE = "incomplete|"  # What the key of the alarm of an incomplete run, and of its thread, begins with.
# What an incomplete reading makes out of what it did not see: told only once the account was read completely.
RESTS_ON_ABSENCE = frozenset({Kind.MISSING, Kind.ORPHAN, Kind.STUCK})

# What a run or a person does to a case that its owner is told; the rest only changes the root.
_TOLD = frozenset(Action) - {Action.HEALED, Action.COMMENTED, Action.UNLINKED, Action.LOOKED}
# What is heard in the channel as well; so is a case that arrives from another thread.
_RINGS = frozenset({Action.OPENED, Action.REOPENED, Action.REGRESSED, Action.PROPOSED})
# What a person does to a case that nobody was told of, and that is news all the same.
_TELLS = frozenset({Action.ASSIGNED, Action.REOPENED, Action.PROPOSED})


def topics(cases: Iterable[Case], *, livemode: bool) -> tuple[Topic, ...]:
    """Return the topics that these cases are told in, each once."""
    found = (Topic.of(case, livemode=livemode) for case in cases)
    return tuple(dict.fromkeys(topic for topic in found if topic is not None))


def compose(
    changes: Iterable[Change],
    known: Known,
    *,
    before: Mapping[CaseId, Case],
    manner: Manner,
    held: Iterable[Case] = (),
    unread: Collection[AccountId] = (),
) -> tuple[Notice, ...]:
    """Return what these changes give to say; empty when nothing is new.

    before: the changed cases as they were. held: cases that an earlier incomplete reading opened and kept to
    itself, and that are told now. unread: the accounts not read completely; what rests on absence there is
    kept back. A surge comes first, then each thread's root before its replies.
    """
    told, quiet = _sorted_out(changes, held, unread, known.told)
    notices = []
    fresh = [each for each in told if _swells(each)]
    if len(fresh) > manner.surge_limit:
        notices.append(_surge([each.case for each in fresh], manner))
        told = [each for each in told if not _swells(each)]
        quiet += fresh
    news = _by_topic(told, before, manner)
    touched = dict.fromkeys([*news, *_by_topic(quiet, before, manner)])
    changed = _by_topic([*told, *quiet], before, manner)
    for topic in sorted(touched, key=_worst_first):
        notices += _thread(topic, news.get(topic, ()), changed[topic], known, manner)
    return tuple(notices)


def root(topic: Topic, standing: Standing, manner: Manner, *, ping: bool) -> Message:
    """Return a thread's root as it stands."""
    owners = _owners(topic, standing.waiting or standing.over, manner)
    return messages.root(topic, owners, standing, manner, ping=ping)


def may_be_kept_back(case: Case) -> bool:
    """Return whether this is a case that an incomplete run keeps to itself while nobody has answered it."""
    return case.state is CaseState.OPEN and case.mismatch.kind in RESTS_ON_ABSENCE


def unread_before(runs: Iterable[Run], read: Collection[AccountId]) -> frozenset[AccountId]:
    """Return which of these accounts, read completely now, the latest run that asked for them could not read.

    runs: newest first; no more of them are looked at than need be.
    """
    latest: dict[AccountId, bool] = {}
    wanted = set(read)
    for run in runs:
        for each in run.accounts:
            if each.account in wanted:
                latest.setdefault(each.account, each.complete)
        if wanted <= latest.keys():
            break
    return frozenset(account for account, complete in latest.items() if not complete)


def incomplete(
    readings: Iterable[AccountReading], sentences: Iterable[str], *, since: RunId | None, manner: Manner
) -> Notice:
    """Return the alarm that a run is not to be trusted: one per outage and set of accounts it hits.

    sentences: why, where it is not an account's reading. since: the latest complete run, None where there
    was none.
    """
    readings = tuple(readings)
    accounts = sorted(each.account for each in readings if not each.complete)
    return _alarm(_outage(since, accounts, manner), alarms.incomplete(readings, sentences, manner), manner)


def over(
    runs: Iterable[Run], threads: Mapping[str, Thread], *, since: RunId | None, manner: Manner
) -> tuple[Notice, ...]:
    """Return the word that a run has read everything, for each alarm since the latest complete one.

    runs: the latest, newest first. threads: those of alarms, by their keys. since: as of `incomplete`.
    """
    outages = takewhile(lambda run: run.id != since, runs)
    unread = ([each.account for each in run.accounts if not each.complete] for run in outages)
    keys = dict.fromkeys(_outage(since, sorted(accounts), manner) for accounts in unread)
    told = alarms.over(manner)
    return tuple(
        Notice.new(
            f"over|{key}",
            "reply",
            told,
            thread_key=key,
            target=threads[key].target,
            urgency=ALARM,
            now=manner.now,
            run_id=manner.run_id,
        )
        for key in keys
        if key in threads
    )


def rejected(rejects: Iterable[Reject], *, manner: Manner) -> Notice:
    """Return the notice that rows could not be judged: one per set of them, whichever run meets it."""
    rejects = tuple(rejects)
    told = key_of({"\x1f".join((each.source, each.id or "", each.reason)) for each in rejects})
    return _alarm(f"rejected|{manner.mode}|{told}", alarms.rejected(rejects, manner), manner)


def _outage(since: RunId | None, accounts: Sequence[AccountId], manner: Manner) -> str:
    """Return the key of an alarm, and of its thread. accounts: sorted."""
    return f"{INCOMPLETE}{manner.mode}|{key_of([since or '', *accounts])}"


def _sorted_out(
    changes: Iterable[Change],
    held: Iterable[Case],
    unread: Collection[AccountId],
    told_of: Collection[CaseId],
) -> tuple[list[News], list[News]]:
    """Return what is told, and what only changes a root; what is kept back is in neither.

    A held case that changes now is told as opened, and not at all if it clears. Nor is anything told of what
    ends a case that nobody had heard of.
    """
    late = {case.id: News(case, Action.OPENED, case.mismatch.why) for case in held}
    told: list[News] = []
    quiet: list[News] = []
    for change in changes:
        news = _news(change)
        if late.pop(news.case.id, None):
            if not news.over:
                told.append(replace(news, action=Action.OPENED, why=news.case.mismatch.why, by=None))
        elif news.action not in _TOLD or _unheard(news, told_of):
            quiet += [news] if news.case.id in told_of else []
        elif news.by is not None or _handed_on(news, told_of) or not _kept_back(news.case, unread):
            told.append(news)
    return [*late.values(), *told], quiet


def _news(change: Change) -> News:
    """Return what a change is as news: a run's own sentence, of a person's no word but who and until when."""
    case, entry = change.case, change.entry
    if entry.run_id is not None:
        return News(case, entry.action, entry.reason)
    why = ""
    if entry.action is Action.RESOLVED and case.resolution is not None:
        why = f"As {plain(case.resolution)}."
    elif entry.action is Action.ASSIGNED and case.owner is not None:
        why = f"To {case.owner.name}."
    elif entry.action is Action.PROPOSED:
        why = "Another person must approve it at the desk."
    elif until := {Action.ACCEPTED: case.accepted_until, Action.SNOOZED: case.snoozed_until}.get(
        entry.action
    ):
        why = f"Until {minute(until)}."
    return News(case, entry.action, why, by=entry.actor)


def _unheard(news: News, told_of: Collection[CaseId]) -> bool:
    """Return whether this goes on with, or ends, a story that nobody has heard the beginning of."""
    if news.case.id in told_of:
        return False
    return news.action is Action.CLEARED if news.by is None else news.action not in _TELLS


def _handed_on(news: News, told_of: Collection[CaseId]) -> bool:
    """Return whether only the owner or the severity of a known story changed: no reading says that."""
    return news.action is Action.ASSIGNED and news.case.id in told_of


def _kept_back(case: Case, unread: Collection[AccountId]) -> bool:
    return case.account in unread and case.mismatch.kind in RESTS_ON_ABSENCE


def _swells(news: News) -> bool:
    """Return whether this counts towards a surge."""
    return news.action is Action.OPENED and news.case.mismatch.kind in RESTS_ON_ABSENCE


def _by_topic(news: Iterable[News], before: Mapping[CaseId, Case], manner: Manner) -> dict[Topic, list[News]]:
    """Return the news of each thread; a case that changed threads is news in both."""
    found: dict[Topic, list[News]] = defaultdict(list)
    for each in news:
        was = before.get(each.case.id)
        former = Topic.of(was, livemode=manner.livemode) if was and was.state in WAITING else None
        now = Topic.of(each.case, livemode=manner.livemode)
        if now is not None:
            handed_over = former is not None and was is not None and _whose(was) != _whose(each.case)
            found[now].append(replace(each, arrived=handed_over or former not in {None, now}))
        if former is not None and former != now:
            found[former].append(replace(each, gone=True))
    return found


def _whose(case: Case) -> str | None:
    return case.owner.name if case.owner is not None else None


def _worst_first(topic: Topic) -> tuple[int, str]:
    return list(Severity).index(topic.severity), topic.key


def _thread(
    topic: Topic, news: Sequence[News], changed: Sequence[News], known: Known, manner: Manner
) -> Iterator[Notice]:
    """Yield the root or its edit, then the replies.

    news: what is told. changed: that, and what only changes how the thread stands.
    """
    anew = any(not each.over for each in news) and not known.active(topic.key)
    if not anew and topic.key not in known.begun:
        return  # It ends what was never begun here.
    owners = _owners(topic, [each.case for each in news or changed], manner)
    said = _Said(topic, owners, manner)
    state = _versions([each.case for each in changed])
    stands = _after(known.standing.get(topic.key, Standing()), changed)
    first = root(topic, stands, manner, ping=anew)
    about = [case.id for case in largest(stands.waiting)]
    if anew:
        yield said.notice(f"root|{topic.key}|{state}", "root", first, about)
    else:
        yield said.notice(f"edit|{topic.key}|{state}", "edit", first, about)
    rings = not anew and any(not each.over and (each.action in _RINGS or each.arrived) for each in news)
    version = _versions([each.case for each in news])
    for number, (reply, part) in enumerate(messages.replies(topic, owners, news, manner, ping=rings)):
        verb = "call" if rings and number == 0 else "reply"
        yield said.notice(
            f"reply|{topic.key}|{version}|{number}", verb, reply, [each.case.id for each in part]
        )


def _owners(topic: Topic, cases: Iterable[Case], manner: Manner) -> tuple[Owner, ...]:
    """Return who reads a thread, by the names that these cases have for them; else the only owner there.

    Where several read there, or nobody whom owners.toml names, it is where it is read.
    """
    here = (case.owner for case in cases if case.owner and case.owner.target == topic.target)
    named = {owner.name: owner for owner in here}
    if named:
        return tuple(named[name] for name in sorted(named))
    there = [name for name, profile in manner.profiles.items() if profile.target == topic.target]
    return (Owner(there[0] if len(there) == 1 else topic.target, topic.target, ""),)


def _after(before: Standing, changed: Iterable[News]) -> Standing:
    """Return how a thread stands once its cases have changed, as far as can be said before it is saved."""
    changed = tuple(changed)
    ids = {each.case.id for each in changed}
    waiting = [case for case in before.waiting if case.id not in ids]
    waiting += [each.case for each in changed if not each.over]
    over = [each.case for each in changed if each.over] + [case for case in before.over if case.id not in ids]
    return Standing(tuple(waiting), tuple(over))


@dataclass(frozen=True, slots=True)
class _Said:
    """What the notices of one thread have in common."""

    topic: Topic
    owners: Sequence[Owner]
    manner: Manner

    def notice(self, dedupe_key: str, verb: str, message: Message, about: Sequence[CaseId]) -> Notice:
        """Return a notice; an edit makes no sound, and all else waits until one of its owners is awake."""
        now, severity = self.manner.now, self.topic.severity
        at_once = verb == "edit" or severity is Severity.CRITICAL
        return Notice.new(
            dedupe_key,
            verb,
            message,
            thread_key=self.topic.key,
            target=self.topic.target,
            urgency=URGENCY[severity],
            now=now,
            next_at=now if at_once else min(self.manner.profile(each).awake_at(now) for each in self.owners),
            case_ids=tuple(about),
            run_id=self.manner.run_id,
        )


def _surge(cases: Sequence[Case], manner: Manner) -> Notice:
    """Return the one message for many new cases that rest on absence."""
    key, about = f"surge|{manner.mode}|{_versions(cases)}", tuple(case.id for case in cases)
    return _alarm(key, alarms.surge(cases, manner), manner, about=about)


def _alarm(key: str, message: Message, manner: Manner, *, about: tuple[CaseId, ...] = ()) -> Notice:
    """Return what operators are told at once, in a thread of its own."""
    return Notice.new(
        key,
        "root",
        message,
        thread_key=key,
        target=manner.operators_channel,
        urgency=ALARM,
        now=manner.now,
        case_ids=about,
        run_id=manner.run_id,
    )


def _versions(cases: Iterable[Case]) -> str:
    """Return a name for these cases as they are: another version, another name."""
    return key_of([f"{case.id}@{case.version}" for case in cases])
