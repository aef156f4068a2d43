"""How messages read: a thread's root and its replies, a surge, an incomplete run, rejected rows.

Never decides whether anything is said, or to whom: rules/notices.py does. Says nothing about a person but
ids, and every case it leaves out is one link away.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlencode

from recon.model import money, wording
from recon.model.blocks import (
    VALUE_LIMIT,
    clean,
    code,
    context,
    escaped,
    header,
    section,
    sections,
)
from recon.model.phrases import duration, minute, several, why_unread
from recon.model.records.cases import Case
from recon.model.records.notices import Block, Manner, Message
from recon.model.records.results import Money, Reject
from recon.model.records.runs import AccountReading
from recon.model.records.words import Action, Certainty, Kind, Severity

_TOP = 5  # Cases that a root shows: what a person takes in at a glance; the rest are in the thread.
_REASONS = 20  # Reasons in an alarm: who needs more looks at the run.
_REASONS_IN_WORDS = 5  # Of these, what the plain text reads out.
# Cases in one reply, two blocks each: with a heading for each of eight verbs and the lines above and below
# they are Slack's 50.
_CASES = 20
_CASES_LIMIT = 8_000  # Characters of a reply's cases; with all the rest it stays below Slack's limit.
_NAMED_LIMIT = 2_500  # Characters of the plain text in which a reply names its cases; it may have 4,000.
_GONE = "Moved to another thread"
_ORDER = list(Action)  # In which a reply tells what became of cases.


@dataclass(frozen=True, slots=True)
class Topic:
    """What one thread is about. owner: as people say it. group: a Slack group to ping; "" for none."""

    kind: Kind
    severity: Severity
    owner: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class News:
    """What became of a case. why: the sentence that explains it. gone: it left this thread for another."""

    case: Case
    action: Action
    why: str
    gone: bool = False

    @property
    def over(self) -> bool:
        """Return whether the case no longer waits in this thread."""
        return self.gone or self.action is Action.CLEARED


def largest(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases that a root shows, the most money first."""
    return tuple(_by_money(cases)[:_TOP])


def root(topic: Topic, members: Sequence[Case], manner: Manner, *, ping: bool) -> Message:
    """Return how a thread stands: how many, how much, how old, whose, what to do, and the largest."""
    if not members:
        return _nothing_waits(topic, manner)
    link = _queue(topic, manner)
    title = f"{topic.severity.upper()}: {wording.counted(topic.kind, len(members))}{_mode(manner)}"
    at_risk, step = _money(members), wording.NEXT_STEPS[topic.kind]
    rest = f"at risk, oldest {duration(manner.as_of - min(case.mismatch.since for case in members))}"
    probable = sum(case.mismatch.certainty is Certainty.PROBABLE for case in members)
    rest += f", {probable} only probable" if probable else ""
    shown = largest(members)
    lines = [f"• {_line(case, manner)}" for case in shown]
    more = len(members) - len(shown)
    lines += [f"and {more} more: <{link}|all {len(members)} in the queue>"] if more else []
    blocks = [
        header(title),
        section(f"{_mention(topic, ping=ping)}*{at_risk}* {rest}\nOwner: *{clean(topic.owner)}*"),
        section(f"*What to do:* {step}"),
        *sections(lines),
        context(f"As of {minute(manner.as_of)} · <{link}|Open the queue>"),
    ]
    text = f"{title}, {at_risk} {rest}. Owner: {clean(topic.owner)}. What to do: {step} {link}"
    return Message(text, tuple(blocks))


def replies(
    topic: Topic, news: Iterable[News], manner: Manner, *, ping: bool
) -> tuple[tuple[Message, tuple[News, ...]], ...]:
    """Return what is new in a thread, in as many messages as Slack needs, each with its news.

    Together they name every case once: by what became of it, then the most money first.
    """
    news = tuple(news)
    place = {case.id: at for at, case in enumerate(_by_money(each.case for each in news))}
    ordered = sorted(news, key=lambda each: (each.gone, _ORDER.index(each.action), place[each.case.id]))
    parts = _parts(ordered, manner)
    told, said = _told(ordered), []
    for number, part in enumerate(parts, start=1):
        title = f"{told}, part {number} of {len(parts)}" if len(parts) > 1 else told
        said.append((_reply(topic, title, part, manner, ping=ping and number == 1), tuple(part)))
    return tuple(said)


def surge(cases: Sequence[Case], manner: Manner) -> Message:
    """Return the one message for many new cases at once: more likely one cause of ours."""
    kinds = Counter(case.mismatch.kind for case in cases)
    told = ", ".join(wording.counted(kind, kinds[kind]) for kind in Kind if kind in kinds)
    title = f"Surge: {len(cases)} new cases in one {manner.mode} run"
    at_risk, shown = _money(cases), largest(cases)
    rest = "They are open and owned, but not announced one by one."
    step = "Look for one cause first, such as a changed mapping or a key of another account."
    lines = [f"• {_line(case, manner)}" for case in shown]
    more = len(cases) - len(shown)
    link = escaped(manner.dashboard_url)
    lines += [f"and {more} more: <{link}|all {len(cases)} in the queue>"] if more else []
    blocks = [
        header(title),
        section(f"*{at_risk}* at risk: {told}. {rest}"),
        section(f"*What to do:* {step}"),
        *sections(lines),
        context(f"As of {minute(manner.as_of)} · <{link}|Open the queue>"),
    ]
    text = f"{title}: {told}; {at_risk} at risk. {rest} What to do: {step} {link}"
    return Message(text, tuple(blocks))


def incomplete(readings: Sequence[AccountReading], sentences: Iterable[str], manner: Manner) -> Message:
    """Return the alarm that a run is not to be trusted.

    sentences: why, where it is not an account's reading.
    """
    failed = [each for each in readings if not each.complete]
    reasons = [
        f"Account {code(each.account or 'platform')}: "
        f"{clean(why_unread(each.account, each.error or 'not read'))}"
        for each in failed
    ]
    reasons += [clean(sentence) for sentence in sentences]
    title = f"Not to be trusted: the {manner.mode} run of {minute(manner.as_of)} is incomplete"
    which = f"Of {several(len(readings), 'account')}, {len(failed)} could not be read to the end."
    held = (
        f"{which} Until that is done no case of theirs is cleared, and new cases that rest on something "
        "missing are kept back."
    )
    step = "Put right what the reasons name. The next run reads the same again, and tells what it kept back."
    more = len(reasons) - _REASONS
    lines = [f"• {reason}" for reason in reasons[:_REASONS]] + ([f"and {more} more"] if more > 0 else [])
    link = escaped(manner.dashboard_url)
    blocks = [
        header(title),
        section(held),
        *sections(lines),
        section(f"*What to do:* {step}"),
        context(f"<{link}|Open the dashboard>"),
    ]
    shown = " ".join(reasons[:_REASONS_IN_WORDS]).replace("`", "")
    return Message(f"{title}. {held} {shown} What to do: {step} {link}", tuple(blocks))


def rejected(rejects: Sequence[Reject], manner: Manner) -> Message:
    """Return what operators are told of rows that could not be judged: of which sources, and why."""
    sources = Counter(each.source for each in rejects)
    where = [f"{several(n, 'row')} of {clean(source, limit=VALUE_LIMIT)}" for source, n in sources.items()]
    more = len(where) - _REASONS_IN_WORDS
    where = where[:_REASONS_IN_WORDS] + ([f"{several(more, 'more source')}"] if more > 0 else [])
    said = f"{' and '.join(where)} could not be judged{_mode(manner)}"
    held = "what they touch is withheld"
    step = (
        "Put these rows right where they are kept, or the mapping that reads them. The next run judges them."
    )
    more = len(rejects) - _REASONS
    lines = [
        f"• {clean(each.source, limit=VALUE_LIMIT)}, {code(each.id or 'no id')}: {clean(each.reason)}"
        for each in rejects[:_REASONS]
    ]
    lines += [f"and {more} more; `recon run --format json` lists them"] if more > 0 else []
    link = escaped(manner.dashboard_url)
    blocks = [
        header(f"{several(len(rejects), 'row')} could not be judged{_mode(manner)}"),
        section(f"{said}; {held}: no case of theirs is opened or cleared."),
        *sections(lines),
        section(f"*What to do:* {step}"),
        context(f"<{link}|Open the dashboard>"),
    ]
    first, others = clean(rejects[0].reason), len({each.reason for each in rejects}) - 1
    first += f", and {several(others, 'other reason')}" if others else ""
    return Message(f"{said}: {first}; {held}. What to do: {step} {link}", tuple(blocks))


def _nothing_waits(topic: Topic, manner: Manner) -> Message:
    """Return a thread's root once every case of it was cleared or answered."""
    title = f"Nothing waits: {wording.named(topic.kind)}, {topic.severity}{_mode(manner)}"
    link, rest = _queue(topic, manner), "Every case of this thread was cleared, answered or moved."
    blocks = [
        header(title),
        section(f"{rest}\nOwner: *{clean(topic.owner)}*"),
        context(f"As of {minute(manner.as_of)} · <{link}|Open the queue>"),
    ]
    return Message(f"{title}. {rest} Owner: {clean(topic.owner)}. {link}", tuple(blocks))


def _reply(topic: Topic, title: str, part: Sequence[News], manner: Manner, *, ping: bool) -> Message:
    """Return one message of what is new: a heading for each verb, under it each case and why."""
    verbs = list(dict.fromkeys(_verb(each) for each in part))
    blocks = [section(f"{_mention(topic, ping=ping)}*{title}*")]
    for verb in verbs:
        blocks += [section(f"*{verb}*")] if len(verbs) > 1 else []
        for each in part:
            blocks += _of_case(each, manner) if _verb(each) == verb else []
    link, waiting = _queue(topic, manner), [each.case for each in part if not each.over]
    blocks.append(context(f"<{link}|Open the queue>"))
    at_risk = f", {_money(waiting)} at risk" if waiting else ""
    step = f" What to do: {wording.NEXT_STEPS[topic.kind]}" if waiting else ""
    about = f"{topic.severity.upper()}, {wording.named(topic.kind)}{_mode(manner)}"
    text = f"{about}: {title}{at_risk}. Owner: {clean(topic.owner)}.{step} {link} {_named(part)}"
    return Message(text, tuple(blocks))


def _of_case(news: News, manner: Manner) -> list[Block]:
    """Return a case in a reply: what it is, and why below; what has left the thread is struck out."""
    line = section(f"• {_line(news.case, manner, struck=news.over)}")
    return [line] if news.gone else [line, context(clean(news.why))]


def _line(case: Case, manner: Manner, *, struck: bool = False) -> str:
    """Return a case in one short line: its link, what is at risk and which ids."""
    mismatch = case.mismatch
    url = escaped(f"{manner.dashboard_url}/case?{urlencode({'case': case.id})}")
    at_risk = money.written(mismatch.at_risk)
    link = f"<{url}|{case.id}>"
    first = f"~{link} {at_risk}~" if struck else f"{link}  *{at_risk}*"
    return " · ".join([first, *(f"{word} {code(value)}" for word, value in _ids(case))])


def _named(part: Iterable[News]) -> str:
    """Return the cases of a reply in plain words, as many as the text has room for."""
    words = [
        ", ".join(
            [
                f"{each.case.id} {money.written(each.case.mismatch.at_risk)}",
                *(f"{word} {clean(value, limit=VALUE_LIMIT)}" for word, value in _ids(each.case)),
            ]
        )
        for each in part
    ]
    room = _NAMED_LIMIT
    shown: list[str] = []
    for each in words:
        room -= len(each) + 2
        if room < 0:
            return f"{'; '.join(shown)}; and {len(words) - len(shown)} more."
        shown.append(each)
    return f"{'; '.join(shown)}."


def _ids(case: Case) -> list[tuple[str, str]]:
    """Return the ids that name a case to people; where nothing else is known, the refund in question."""
    mismatch = case.mismatch
    found = [("order", mismatch.order_id), ("customer", mismatch.customer_id)]
    if not any(value for _, value in found):
        found = [("refund", each) for each in (mismatch.extra_refund_ids or mismatch.refund_ids)[:1]]
    return [(word, value) for word, value in (*found, ("account", case.account)) if value]


def _parts(ordered: Iterable[News], manner: Manner) -> list[list[News]]:
    """Return the news in as many parts as Slack's limits on one message make of it."""
    parts: list[list[News]] = []
    size = 0
    for each in ordered:
        length = len(_line(each.case, manner, struck=each.over)) + len(clean(each.why))
        if not parts or len(parts[-1]) == _CASES or size + length > _CASES_LIMIT:
            parts.append([])
            size = 0
        parts[-1].append(each)
        size += length
    return parts


def _verb(news: News) -> str:
    return _GONE if news.gone else wording.ACTIONS[news.action]


def _told(ordered: Iterable[News]) -> str:
    """Return how many cases what was done to: 3 opened, 1 cleared."""
    counts = Counter(None if each.gone else each.action for each in ordered)
    return ", ".join(
        f"{number} moved to another thread" if action is None else wording.done(action, number)
        for action, number in counts.items()
    )


def _mode(manner: Manner) -> str:
    return "" if manner.livemode else ", test mode"


def _mention(topic: Topic, *, ping: bool) -> str:
    return f"<!subteam^{clean(topic.group)}> " if ping and topic.group else ""


def _queue(topic: Topic, manner: Manner) -> str:
    """Return the address of the queue, filtered to one thread's kind and severity, escaped."""
    filters = urlencode({"kind": topic.kind, "severity": topic.severity})
    return escaped(f"{manner.dashboard_url}/?{filters}")


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
