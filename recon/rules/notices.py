"""What is said to whom: changes in, messages out; nothing new, nothing said.

One root message per thread shows how its cases stand and is edited in place; one reply per run says what is
new. Never says anything about a person but ids, and never lets a stranger's text ping or link. Replanning
gives the same notices: their keys come from cases and versions, not from clocks or chance.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from urllib.parse import urlencode
from uuid import UUID, uuid5

from recon.model import money
from recon.model.blocks import clean, code, count, duration, escaped, message, sections
from recon.model.records.cases import Case, Change
from recon.model.records.notices import Manner, Message, Notice
from recon.model.records.queues import WAITING
from recon.model.records.results import Money
from recon.model.records.runs import AccountReading, Run
from recon.model.records.words import (
    AccountId,
    Action,
    CaseId,
    CaseState,
    Certainty,
    Kind,
    NoticeState,
    RunId,
    Severity,
)

# What an incomplete reading makes out of what it did not see: told only once the account was read completely.
RESTS_ON_ABSENCE = frozenset({Kind.MISSING, Kind.ORPHAN, Kind.STUCK})

_TOP = 5  # Cases that a root shows: what a person takes in at a glance; the rest are in the thread.
_REFUNDS = 2  # Refund ids in a line: both of a double refund.
_REASONS = 20  # Reasons in an alarm: who needs more looks at the run.
_PART_LIMIT = 6_000  # Characters of a reply's lines; with all the rest it stays below Slack's limit.
_DELIVERIES = UUID("7b1f6a0e-4d0c-5a51-9d0e-3b0c6f2f8f11")  # Our namespace of delivery ids; any would do.

_SAID = {
    Action.OPENED: "opened",
    Action.REOPENED: "open again",
    Action.REGRESSED: "resolved, but seen again",
    Action.CHANGED: "other evidence",
    Action.RECLASSIFIED: "now another kind",
    Action.ASSIGNED: "handed over",
    Action.CLEARED: "cleared",
}
_RINGS = frozenset({Action.OPENED, Action.REOPENED, Action.REGRESSED})  # Worth mentioning a group for.
_GONE = "moved to another thread"


@dataclass(frozen=True, slots=True)
class _News:
    """One line of a reply: what became of a case. gone: it left this thread for another."""

    case: Case
    action: Action
    gone: bool = False

    @property
    def said(self) -> str:
        return _GONE if self.gone else _SAID[self.action]


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
    failed = [each for each in readings if not each.complete]
    accounts = tuple(sorted(each.account for each in failed))
    key = f"incomplete|{manner.mode}|{_digest([since or '', *accounts])}"
    reasons = [
        f"Account {code(each.account or 'platform')}: {clean(each.error or 'not read')}" for each in failed
    ]
    reasons += [clean(sentence) for sentence in sentences]
    title = f"Not to be trusted: the {manner.mode} run of {manner.as_of:%Y-%m-%d %H:%M} UTC is incomplete"
    text = (
        f"{title}. {count(len(failed), 'account')} not read to the end: nothing of theirs is cleared, and "
        f"what rests on something missing is kept back. {manner.dashboard_url}"
    )
    more = len(reasons) - _REASONS
    lines = [f"• {reason}" for reason in reasons[:_REASONS]] + ([f"and {more} more"] if more > 0 else [])
    body = sections(lines)
    said = message(text, title, [text.removeprefix(f"{title}. ")], body)
    return _notice(key, key, manner.operators_channel, "root", said, about=(), manner=manner)


def _sorted_out(
    changes: Iterable[Change], held: Iterable[Case], unread: Collection[AccountId]
) -> tuple[list[_News], list[_News]]:
    """Return what is told, and what only changes a root; what is kept back is in neither.

    A held case that changes now is told as opened, and not at all if it clears.
    """
    late = {case.id: _News(case, Action.OPENED) for case in held}
    told: list[_News] = []
    quiet: list[_News] = []
    for change in changes:
        news = _News(change.case, change.entry.action)
        if late.pop(news.case.id, None):
            news = news if news.action is Action.CLEARED else _News(news.case, Action.OPENED)
            (quiet if news.action is Action.CLEARED else told).append(news)
        elif change.entry.run_id is None or news.action not in _SAID:
            quiet.append(news)
        elif news.case.account not in unread or news.case.mismatch.kind not in RESTS_ON_ABSENCE:
            told.append(news)
    return [*late.values(), *told], quiet


def _swells(news: _News) -> bool:
    """Return whether this counts towards a surge."""
    return news.action is Action.OPENED and news.case.mismatch.kind in RESTS_ON_ABSENCE


def _keys(news: _News, before: Mapping[CaseId, Case], manner: Manner) -> list[str]:
    """Return the thread a case is in, and the one it was waiting in if that is another."""
    was = before.get(news.case.id)
    former = thread_key(was, livemode=manner.livemode) if was and was.state in WAITING else None
    now = thread_key(news.case, livemode=manner.livemode)
    return [key for key in dict.fromkeys((now, former)) if key is not None]


def _by_thread(
    told: Iterable[_News], before: Mapping[CaseId, Case], manner: Manner
) -> dict[str, list[_News]]:
    """Return the news of each thread; a case that changed threads is news in both."""
    news: dict[str, list[_News]] = defaultdict(list)
    for each in told:
        now = thread_key(each.case, livemode=manner.livemode)
        for key in _keys(each, before, manner):
            news[key].append(_News(each.case, each.action, gone=key != now))
    return news


def _worst_first(key: str) -> tuple[int, str]:
    severity = Severity(key.rsplit("|", 2)[1])
    return list(Severity).index(severity), key


def _thread(
    key: str, some: Case, members: Sequence[Case], news: Sequence[_News], *, known: bool, manner: Manner
) -> Iterator[Notice]:
    """Yield the root or its edit, then the replies; some is a case that is or was in the thread."""
    target, kind, severity, _ = key.rsplit("|", 3)
    owner = some.owner.name if some.owner else target
    ring = manner.mentions.get(some.owner.rule, "") if some.owner else ""
    mention = f"<!subteam^{clean(ring)}> " if ring else ""
    version = _versions([each.case for each in news])
    root = _root(kind, severity, owner, members, manner, mention="" if known else mention)
    shown = tuple(case.id for case in _by_money(members)[:_TOP])
    if known:
        state = _versions([some, *members, *(each.case for each in news)])
        yield _notice(f"edit|{key}|{state}", key, target, "edit", root, about=shown, manner=manner)
    else:
        yield _notice(f"root|{key}", key, target, "root", root, about=shown, manner=manner)
    rings = known and any(each.action in _RINGS and not each.gone for each in news)
    for number, part in enumerate(_parts([(each, _line(each, manner)) for each in news])):
        reply = _reply(kind, severity, owner, part, manner, mention=mention if rings and not number else "")
        ids = tuple(each.case.id for each, _ in part)
        name = f"reply|{key}|{version}|{number}"
        yield _notice(name, key, target, "reply", reply, about=ids, manner=manner)


def _root(
    kind: str, severity: str, owner: str, members: Sequence[Case], manner: Manner, *, mention: str
) -> Message:
    """Return how a thread stands: how many, how much, how old, the largest, and where to look."""
    link = _queue(kind, severity, manner)
    test = "" if manner.livemode else " (test mode)"
    title = f"{severity.upper()}: {count(len(members), f'{kind} case')}{test}"
    if not members:
        text = f"{title}. Nothing waits here any more. Owner: {clean(owner)}. {link}"
        return message(text, title, [f"Nothing waits here any more. Owner: {clean(owner)}."], [])
    at_risk = _money(members)
    oldest = duration(manner.as_of - min(case.mismatch.since for case in members))
    probable = sum(case.mismatch.certainty is Certainty.PROBABLE for case in members)
    rest = f"at risk, oldest {oldest}" + (f", {probable} only probable" if probable else "")
    text = f"{title}, {at_risk} {rest}. Owner: {clean(owner)}. {link}"
    summary = f"{mention}*{at_risk}* {rest}. Owner: *{clean(owner)}*."
    lines = [_whole(case, manner) for case in _by_money(members)[:_TOP]]
    more = len(members) - len(lines)
    lines += [f"and {more} more, in this thread and <{link}|in the queue>"] if more else []
    context = f"As of {manner.as_of:%Y-%m-%d %H:%M} UTC · <{link}|Open the queue>"
    return message(text, title, [summary], sections(lines), context)


def _reply(
    kind: str,
    severity: str,
    owner: str,
    part: Sequence[tuple[_News, str]],
    manner: Manner,
    *,
    mention: str,
) -> Message:
    """Return what is new in a thread."""
    link = _queue(kind, severity, manner)
    counts = Counter(each.said for each, _ in part)
    title = f"{severity.upper()} {kind}: " + ", ".join(f"{number} {said}" for said, number in counts.items())
    cases = [each.case for each, _ in part]
    ids = ", ".join(case.id for case in cases[:_TOP]) + (" ..." if len(cases) > _TOP else "")
    text = f"{title} ({ids}); {_money(cases)}. Owner: {clean(owner)}. {link}"
    return message(text, None, [f"{mention}*{title}*"], sections([line for _, line in part]))


def _surge(cases: Sequence[Case], manner: Manner) -> Notice:
    """Return the one message for many new cases that rest on absence: more likely one cause of ours."""
    key = f"surge|{manner.mode}|{_versions(cases)}"
    kinds = Counter(case.mismatch.kind for case in cases)
    told = ", ".join(f"{kinds[kind]} {kind}" for kind in Kind if kind in kinds)
    title = f"Surge: {len(cases)} new cases in one {manner.mode} run"
    text = (
        f"{title}: {told}; {_money(cases)} at risk. They are open and owned, but not announced one by one: "
        f"look for one cause first, such as a changed mapping. {manner.dashboard_url}"
    )
    body = sections([_whole(case, manner) for case in _by_money(cases)[:_TOP]])
    said = message(text, title, [text.removeprefix(f"{title}: ")], body)
    ids = tuple(case.id for case in cases)
    return _notice(key, key, manner.operators_channel, "root", said, about=ids, manner=manner)


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


def _head(case: Case, manner: Manner) -> str:
    """Return a case in a few words: its link, what is at risk and which ids."""
    mismatch = case.mismatch
    url = escaped(f"{manner.dashboard_url}/case?{urlencode({'case': case.id})}")
    named = [("order", mismatch.order_id), ("customer", mismatch.customer_id), ("account", case.account)]
    parts = [f"<{url}|{case.id}> *{money.written(mismatch.at_risk)}*"]
    parts += [f"{word} {code(value)}" for word, value in named if value]
    more = len(mismatch.refund_ids) - _REFUNDS
    if mismatch.refund_ids:
        ids = ", ".join(code(each) for each in mismatch.refund_ids[:_REFUNDS])
        parts.append(f"refunds {ids}" + (f" and {more} more" if more > 0 else ""))
    return " · ".join(parts)


def _queue(kind: str, severity: str, manner: Manner) -> str:
    """Return the address of the queue, filtered to one thread's kind and severity, escaped."""
    return escaped(f"{manner.dashboard_url}/?{urlencode({'kind': kind, 'severity': severity})}")


def _whole(case: Case, manner: Manner) -> str:
    """Return a case as a line of a root: in a few words, and why."""
    return f"• {_head(case, manner)}: {clean(case.mismatch.why)}"


def _line(news: _News, manner: Manner) -> str:
    """Return one case as a line of a reply; what has left this thread is struck out."""
    head = _head(news.case, manner)
    if news.gone or news.action is Action.CLEARED:
        return f"• ~{head}~ {news.said}"
    return f"{_whole(news.case, manner)} [{news.said}]"


def _parts(lines: Sequence[tuple[_News, str]]) -> Iterator[list[tuple[_News, str]]]:
    """Yield the lines in as many messages as Slack needs for them."""
    part: list[tuple[_News, str]] = []
    size = 0
    for each, line in lines:
        if part and size + len(line) > _PART_LIMIT:
            yield part
            part, size = [], 0
        part.append((each, line))
        size += len(line) + 1
    if part:
        yield part


def _by_money(cases: Iterable[Case]) -> list[Case]:
    """Return cases by their money in whole units, the largest first; currencies are only set side by side."""

    def size(case: Case) -> tuple[Decimal, str, str]:
        at_risk = case.mismatch.at_risk
        return -Decimal(money.major(at_risk.amount_minor, at_risk.currency)), at_risk.currency, case.id

    return sorted(cases, key=size)


def _money(cases: Iterable[Case]) -> str:
    """Return the sum per currency, in the currencies' order."""
    sums: Counter[str] = Counter()
    for case in cases:
        sums[case.mismatch.at_risk.currency] += case.mismatch.at_risk.amount_minor
    return " and ".join(money.written(Money(sums[each], each)) for each in sorted(sums)) or "nothing"


def _versions(cases: Iterable[Case]) -> str:
    """Return a name for these cases as they are: another version, another name."""
    return _digest([f"{case.id}@{case.version}" for case in cases])


def _digest(parts: Iterable[str]) -> str:
    """Return a short name of a set of texts."""
    return sha256("\n".join(sorted(parts)).encode()).hexdigest()[:20]
