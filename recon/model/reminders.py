"""How reminders read: nobody has answered, a snooze is over, an acceptance ends, the digest of a day.

Never decides whether anything is said, or to whom: rules/reminders.py does. Of ten thousand cases a message
shows the largest five and counts the rest; it says nothing about a person but ids.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from recon.model import money, wording
from recon.model.blocks import VALUE_LIMIT, clean, context, header, section, sections
from recon.model.particulars import TOP, largest, line, mention, menu, mode, named, names, queue, sums
from recon.model.phrases import duration, minute, several
from recon.model.records.cases import Case
from recon.model.records.notices import Block, Manner, Message, Topic
from recon.model.records.owners import Profile
from recon.model.records.reminders import Holdings, Pile, Unanswered
from recon.model.records.results import Money
from recon.model.records.words import Kind

_CURRENCIES = 5  # In one line of a digest: more are a table, which the dashboard has.


def escalation(topic: Topic, asked: Profile, unanswered: Sequence[Unanswered], manner: Manner) -> Message:
    """Return what is said to who comes next in the chain, of cases that their owner has not answered."""
    cases = [each.case for each in unanswered]
    told_at = min(each.told_at for each in unanswered)
    title = (
        f"{topic.severity.upper()}: nobody has answered for {duration(manner.now - told_at)}: "
        f"{wording.counted(topic.kind, len(cases))}{mode(manner)}"
    )
    at_risk = f"{sums(cases)} at risk, oldest {_oldest(cases, manner)}"
    owner = f"Owner: {_names(cases)}, told at {minute(told_at)}"
    step = f"Answer in their place, or find who does. {wording.NEXT_STEPS[topic.kind]}"
    link = queue(manner, kind=topic.kind, severity=topic.severity)
    account = f"Account: {clean(topic.account, limit=VALUE_LIMIT)}\n" if topic.account else ""
    blocks = [
        header(title),
        section(f"{mention(asked)}*{at_risk}*\n{account}{owner}"),
        section(f"*What to do:* {step}"),
        *_largest(cases, link, manner),
        context(f"As of {minute(manner.now)} · <{link}|Open the queue>"),
    ]
    text = f"{title}, {at_risk}. {account.replace(chr(10), '. ')}{owner}. What to do: {step} {link}"
    return Message(f"{text} {named(largest(cases))}", tuple(blocks))


def snoozes_over(cases: Sequence[Case], manner: Manner) -> Message:
    """Return what an owner is told of cases that sleep no longer."""
    title = f"Snooze over: {several(len(cases), 'case waits', 'cases wait')} again{mode(manner)}"
    return _dated(title, "Answer now, or snooze once more and say why.", cases, manner)


def acceptances_ending(cases: Sequence[Case], manner: Manner) -> Message:
    """Return what an owner is told of cases that are accepted for no longer than a day."""
    ends_at = min(case.accepted_until for case in cases if case.accepted_until is not None)
    ends = several(len(cases), "acceptance ends at", "acceptances end, the first at")
    title = f"{ends} {minute(ends_at)}{mode(manner)}"
    step = "Accept for longer, or resolve. The next run after that opens again whatever it still sees."
    return _dated(title, step, cases, manner)


def digest(holdings: Holdings, manner: Manner) -> Message:
    """Return how an owner's cases stand, for the beginning of a day."""
    title = f"Today: {several(holdings.waiting, 'case waits', 'cases wait')}{mode(manner)}"
    whose = ", ".join(clean(name, limit=VALUE_LIMIT) for name in holdings.names[:TOP])
    at_risk, link = f"{_amounts(_together(holdings.piles))} at risk", queue(manner)
    besides = _besides(holdings)
    step = "Answer the unanswered first, from the top; acknowledge what you are at."
    oldest = holdings.oldest
    blocks: list[Block] = [
        header(title),
        section(f"*{at_risk}*\nOwner: *{whose}*"),
        *sections(f"• {_pile(pile, manner)}" for pile in holdings.piles),
        *([section(f"The oldest: {line(oldest, manner)}")] if oldest is not None else []),
        *([context(" · ".join(besides))] if besides else []),
        section(f"*What to do:* {step}"),
        context(f"As of {minute(manner.now)} · <{link}|Open the queue>"),
    ]
    kinds = ", ".join(_kinds(holdings.piles))
    unanswered = sum(pile.unanswered for pile in holdings.piles)
    rest = "".join(f" {sentence}." for sentence in [f"{unanswered:,} unanswered", *besides])
    text = f"{title}, {at_risk}: {kinds}.{rest} Owner: {whose}. What to do: {step} {link}"
    return Message(text, tuple(blocks))


def _dated(title: str, step: str, cases: Sequence[Case], manner: Manner) -> Message:
    """Return a message about cases of any kind of one owner, of which a date runs out."""
    link, counts = queue(manner), Counter(case.mismatch.kind for case in cases)
    told = ", ".join(wording.counted(kind, counts[kind]) for kind in Kind if kind in counts)
    at_risk = f"{sums(cases)} at risk, oldest {_oldest(cases, manner)}"
    owner = f"Owner: {_names(cases)}"
    blocks = [
        header(title),
        section(f"*{at_risk}*: {told}\n{owner}"),
        section(f"*What to do:* {step}"),
        *_largest(cases, link, manner),
        context(f"As of {minute(manner.now)} · <{link}|Open the queue>"),
    ]
    text = f"{title}: {told}; {at_risk}. {owner}. What to do: {step} {link}"
    return Message(f"{text} {named(largest(cases))}", tuple(blocks))


def _largest(cases: Sequence[Case], link: str, manner: Manner) -> list[Block]:
    """Return the largest cases: lines, or a block each where something can be clicked; and how many more."""
    shown, more = largest(cases), len(cases) - TOP
    rest = [f"and {more:,} more: <{link}|all in the queue>"] if more > 0 else []
    if not manner.answers:
        return sections([*(f"• {line(case, manner)}" for case in shown), *rest])
    return [*(section(f"• {line(case, manner)}", menu(case, manner)) for case in shown), *sections(rest)]


def _oldest(cases: Iterable[Case], manner: Manner) -> str:
    return duration(manner.now - min(case.mismatch.since for case in cases))


def _names(cases: Iterable[Case]) -> str:
    """Return whose these cases are."""
    return names(case.owner for case in cases if case.owner is not None)


def _pile(pile: Pile, manner: Manner) -> str:
    """Return one line of a digest."""
    age = duration(manner.now - pile.oldest_since)
    unanswered = f", *{pile.unanswered:,} unanswered*" if pile.unanswered else ""
    count = wording.counted(pile.kind, pile.waiting)
    return f"{pile.severity.upper()}: {count}, {_amounts(pile.at_risk)}, oldest {age}{unanswered}"


def _kinds(piles: Iterable[Pile]) -> list[str]:
    counts: Counter[Kind] = Counter()
    for pile in piles:
        counts[pile.kind] += pile.waiting
    return [wording.counted(kind, counts[kind]) for kind in Kind if kind in counts]


def _together(piles: Iterable[Pile]) -> Mapping[str, int]:
    minor: Counter[str] = Counter()
    for pile in piles:
        minor.update(pile.at_risk)
    return minor


def _amounts(minor: Mapping[str, int]) -> str:
    """Return money per currency, in the currencies' order, as many as a line has room for."""
    amounts = [money.written(Money(minor[each], each)) for each in sorted(minor) if minor[each]]
    more = len(amounts) - _CURRENCIES
    shown = amounts[:_CURRENCIES] + ([several(more, "more currency", "more currencies")] if more > 0 else [])
    return " and ".join(shown) or "nothing"


def _besides(holdings: Holdings) -> list[str]:
    """Return what a digest says beside what waits, a sentence each."""
    told = []
    if holdings.snoozed:
        told.append(f"{holdings.snoozed:,} snoozed, the first until {_at(holdings.wakes_at)}")
    if holdings.ending:
        ends = several(holdings.ending, "acceptance ends", "acceptances end")
        told.append(f"{ends} within a week, the first at {_at(holdings.ends_at)}")
    done = [
        f"{number:,} {word}"
        for number, word in ((holdings.cleared, "cleared"), (holdings.resolved, "resolved"))
        if number
    ]
    return told + ([f"Since yesterday {' and '.join(done)}"] if done else [])


def _at(moment: datetime | None) -> str:
    assert moment is not None, "a count without its first time"
    return minute(moment)
