"""What is said to whom: changes in, messages out; nothing new, nothing said.

One root message per thread shows how its cases stand and is edited in place; one reply per run says what is
new. Never says anything about a person but ids, and never lets a stranger's text ping or link. Replanning
gives the same notices: their keys come from cases and versions, not from clocks or chance.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from uuid import UUID, uuid5

from recon.model import messages
from recon.model.messages import News, Topic
from recon.model.records.cases import Case, Change
from recon.model.records.notices import Manner, Message, Notice
from recon.model.records.queues import WAITING
from recon.model.records.results import Reject
from recon.model.records.runs import AccountReading, Run
from recon.model.records.words import AccountId, Action, CaseId, CaseState, Kind, NoticeState, RunId, Severity

# What an incomplete reading makes out of what it did not see: told only once the account was read completely.
RESTS_ON_ABSENCE = frozenset({Kind.MISSING, Kind.ORPHAN, Kind.STUCK})

_DELIVERIES = UUID("7b1f6a0e-4d0c-5a51-9d0e-3b0c6f2f8f11")  # Our namespace of delivery ids; any would do.

# What a run does to a case that its owner is told; people know what they did themselves.
_TOLD = frozenset(
    {
        Action.OPENED,
        Action.REOPENED,
        Action.REGRESSED,
        Action.CHANGED,
        Action.RECLASSIFIED,
        Action.ASSIGNED,
        Action.CLEARED,
    }
)
_RINGS = frozenset({Action.OPENED, Action.REOPENED, Action.REGRESSED})  # Worth mentioning a group for.


def thread_key(case: Case, *, livemode: bool) -> str | None:
    """Return the key of the thread that a case is told in; None where nobody is to be told."""
    if case.owner is None or not case.owner.target:
        return None
    mode = "live" if livemode else "test"
    return f"{case.owner.target}|{case.mismatch.kind}|{case.severity}|{mode}"


def by_thread(cases: Iterable[Case], *, livemode: bool) -> dict[str, tuple[Case, ...]]:
    """Return the cases that wait for somebody, by the key of their thread."""
    threads: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        key = thread_key(case, livemode=livemode)
        if key is not None and case.state in WAITING:
            threads[key].append(case)
    return {key: tuple(members) for key, members in threads.items()}


def compose(
    changes: Iterable[Change],
    cases_by_thread: Mapping[str, Sequence[Case]],
    threads: Collection[str],
    *,
    before: Mapping[CaseId, Case],
    manner: Manner,
    held: Iterable[Case] = (),
    unread: Collection[AccountId] = (),
) -> tuple[Notice, ...]:
    """Return what these changes give to say; empty when nothing is new.

    cases_by_thread: the waiting cases after the changes, as `by_thread` gives them. threads: the keys of
    those that have a root already. before: the changed cases as they were. held: cases that an earlier
    incomplete reading opened and kept to itself, and that are told now. unread: the accounts not read
    completely; what rests on absence there is kept back. A surge comes first, then each thread's root
    before its replies.
    """
    told, quiet = _sorted_out(changes, held, unread)
    notices = []
    fresh = [each for each in told if _swells(each)]
    if len(fresh) > manner.surge_limit:
        notices.append(_surge([each.case for each in fresh], manner))
        told = [each for each in told if not _swells(each)]
        quiet += fresh
    news = _by_thread(told, before, manner)
    touched = {key: each.case for each in quiet for key in _keys(each, before, manner) if key in threads}
    touched |= {key: each[0].case for key, each in news.items() if key in threads or key in cases_by_thread}
    for key in sorted(touched, key=_worst_first):
        members = cases_by_thread.get(key, ())
        some = members[0] if members else touched[key]
        notices += _thread(key, some, members, news.get(key, ()), known=key in threads, manner=manner)
    return tuple(notices)


def kept_back(cases: Iterable[Case], runs: Iterable[Run], read: Collection[AccountId]) -> tuple[Case, ...]:
    """Return the open cases that runs, newest first, kept back, of accounts that are now read completely."""
    since: dict[AccountId, datetime] = {}
    whole: set[AccountId] = set()
    for run in runs:
        whole |= {each.account for each in run.accounts if each.complete}
        if whole.issuperset(read):
            break
        since |= dict.fromkeys(set(read) - whole, run.started_at)
    return tuple(
        case
        for case in cases
        if case.state is CaseState.OPEN and case.mismatch.kind in RESTS_ON_ABSENCE
        if case.account in since and case.updated_at >= since[case.account]
    )


def incomplete(
    readings: Iterable[AccountReading], sentences: Iterable[str], *, since: RunId | None, manner: Manner
) -> Notice:
    """Return the alarm that a run is not to be trusted: one per outage and set of accounts it hits.

    sentences: why, where it is not an account's reading. since: the latest complete run, None where there
    was none.
    """
    readings = tuple(readings)
    accounts = sorted(each.account for each in readings if not each.complete)
    key = f"incomplete|{manner.mode}|{_digest([since or '', *accounts])}"
    said = messages.incomplete(readings, sentences, manner)
    return _notice(key, key, manner.operators_channel, "root", said, about=(), manner=manner)


def rejected(rejects: Iterable[Reject], *, manner: Manner) -> Notice:
    """Return the notice that rows could not be judged: one per set of them, whichever run meets it."""
    rejects = tuple(rejects)
    told = _digest({"\x1f".join((each.source, each.id or "", each.reason)) for each in rejects})
    key = f"rejected|{manner.mode}|{told}"
    said = messages.rejected(rejects, manner)
    return _notice(key, key, manner.operators_channel, "root", said, about=(), manner=manner)


def _sorted_out(
    changes: Iterable[Change], held: Iterable[Case], unread: Collection[AccountId]
) -> tuple[list[News], list[News]]:
    """Return what is told, and what only changes a root; what is kept back is in neither.

    A held case that changes now is told as opened, and not at all if it clears.
    """
    late = {case.id: News(case, Action.OPENED, case.mismatch.why) for case in held}
    told: list[News] = []
    quiet: list[News] = []
    for change in changes:
        news = News(change.case, change.entry.action, change.entry.reason)
        if late.pop(news.case.id, None):
            news = news if news.action is Action.CLEARED else replace(news, action=Action.OPENED)
            (quiet if news.action is Action.CLEARED else told).append(news)
        elif change.entry.run_id is None or news.action not in _TOLD:
            quiet.append(news)
        elif news.case.account not in unread or news.case.mismatch.kind not in RESTS_ON_ABSENCE:
            told.append(news)
    return [*late.values(), *told], quiet


def _swells(news: News) -> bool:
    """Return whether this counts towards a surge."""
    return news.action is Action.OPENED and news.case.mismatch.kind in RESTS_ON_ABSENCE


def _keys(news: News, before: Mapping[CaseId, Case], manner: Manner) -> list[str]:
    """Return the thread a case is in, and the one it was waiting in if that is another."""
    was = before.get(news.case.id)
    former = thread_key(was, livemode=manner.livemode) if was and was.state in WAITING else None
    now = thread_key(news.case, livemode=manner.livemode)
    return [key for key in dict.fromkeys((now, former)) if key is not None]


def _by_thread(told: Iterable[News], before: Mapping[CaseId, Case], manner: Manner) -> dict[str, list[News]]:
    """Return the news of each thread; a case that changed threads is news in both."""
    news: dict[str, list[News]] = defaultdict(list)
    for each in told:
        now = thread_key(each.case, livemode=manner.livemode)
        for key in _keys(each, before, manner):
            news[key].append(replace(each, gone=key != now))
    return news


def _worst_first(key: str) -> tuple[int, str]:
    severity = Severity(key.rsplit("|", 2)[1])
    return list(Severity).index(severity), key


def _thread(
    key: str, some: Case, members: Sequence[Case], news: Sequence[News], *, known: bool, manner: Manner
) -> Iterator[Notice]:
    """Yield the root or its edit, then the replies; some is a case that is or was in the thread."""
    target, kind, severity, _ = key.rsplit("|", 3)
    topic = Topic(
        kind=Kind(kind),
        severity=Severity(severity),
        owner=some.owner.name if some.owner else target,
        group=manner.mentions.get(some.owner.rule, "") if some.owner else "",
    )
    version = _versions([each.case for each in news])
    root = messages.root(topic, members, manner, ping=not known)
    shown = tuple(case.id for case in messages.largest(members))
    if known:
        state = _versions([some, *members, *(each.case for each in news)])
        yield _notice(f"edit|{key}|{state}", key, target, "edit", root, about=shown, manner=manner)
    else:
        yield _notice(f"root|{key}", key, target, "root", root, about=shown, manner=manner)
    rings = known and any(each.action in _RINGS and not each.gone for each in news)
    for number, (reply, part) in enumerate(messages.replies(topic, news, manner, ping=rings)):
        ids = tuple(each.case.id for each in part)
        name = f"reply|{key}|{version}|{number}"
        yield _notice(name, key, target, "reply", reply, about=ids, manner=manner)


def _surge(cases: Sequence[Case], manner: Manner) -> Notice:
    """Return the one message for many new cases that rest on absence."""
    key = f"surge|{manner.mode}|{_versions(cases)}"
    said, about = messages.surge(cases, manner), tuple(case.id for case in cases)
    return _notice(key, key, manner.operators_channel, "root", said, about=about, manner=manner)


def _notice(
    dedupe_key: str,
    thread: str,
    target: str,
    verb: str,
    message: Message,
    *,
    about: tuple[CaseId, ...],
    manner: Manner,
) -> Notice:
    return Notice(
        id=None,
        dedupe_key=dedupe_key,
        delivery_id=str(uuid5(_DELIVERIES, dedupe_key)),
        thread_key=thread,
        target=target,
        verb=verb,
        message=message,
        case_ids=about,
        state=NoticeState.WAITING,
        created_at=manner.now,
        next_at=manner.now,
        run_id=manner.run_id,
    )


def _versions(cases: Iterable[Case]) -> str:
    """Return a name for these cases as they are: another version, another name."""
    return _digest([f"{case.id}@{case.version}" for case in cases])


def _digest(parts: Iterable[str]) -> str:
    """Return a short name of a set of texts."""
    return sha256("\n".join(sorted(parts)).encode()).hexdigest()[:20]
