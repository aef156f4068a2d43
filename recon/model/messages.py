"""How a thread of cases reads: its root and its replies.

Never decides whether anything is said, or to whom: rules/notices.py does. Says nothing about a person but
ids, and every case it leaves out is one link away.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recon.model import wording
from recon.model.blocks import VALUE_LIMIT, clean, context, header, section, sections
from recon.model.particulars import (
    TOP,
    by_money,
    incident,
    largest,
    line,
    mention,
    menu,
    mode,
    named,
    names,
    queue,
    sums,
)
from recon.model.phrases import duration, minute
from recon.model.records.cases import Case, Owner
from recon.model.records.notices import Block, Manner, Message, Standing, Topic
from recon.model.records.queues import WAITING
from recon.model.records.words import Action, Actor, CaseState, Certainty

# Cases in one reply, two blocks each: with a heading for each of eight verbs and the lines above and below
# they are Slack's 50.
_CASES = 20
_CASES_LIMIT = 8_000  # Characters of a reply's cases; with all the rest it stays below Slack's limit.
_ORDER = list(Action)  # In which a reply tells what became of cases.
_ANSWER = "Approve or decline it at the desk, if you are not who proposed it."
_BURST = 3  # Fewer cases of a thread are no incident.
# How a case has left its thread; one that waits still waits in another.
_ENDS = {
    CaseState.CLEARED: "cleared",
    CaseState.RESOLVED: "resolved",
    CaseState.ACCEPTED: "accepted",
}


@dataclass(frozen=True, slots=True)
class News:
    """What became of a case.

    why: the sentence that explains it. by: the person who did it; None where a run did. gone: it left this
    thread for another. arrived: it came from another thread or owner.
    """

    case: Case
    action: Action
    why: str
    by: Actor | None = None
    gone: bool = False
    arrived: bool = False

    @property
    def over(self) -> bool:
        """Return whether the case no longer waits in this thread."""
        return self.gone or self.case.state not in WAITING


def root(topic: Topic, owners: Sequence[Owner], standing: Standing, manner: Manner, *, ping: bool) -> Message:
    """Return how a thread stands: how many, how much, how old, whose, what to do, and the largest."""
    if not standing.waiting:
        return _nothing_waits(topic, owners, standing, manner)
    members, link = standing.waiting, _queue(topic, manner)
    title = f"{topic.severity.upper()}: {wording.counted(topic.kind, len(members))}{_where(topic, manner)}"
    at_risk, step = sums(members), wording.NEXT_STEPS[topic.kind]
    rest = f"at risk, oldest {duration(manner.as_of - min(case.mismatch.since for case in members))}"
    probable = sum(case.mismatch.certainty is Certainty.PROBABLE for case in members)
    rest += f", {probable} only probable" if probable else ""
    more = len(members) - TOP
    links = [f"<{link}|Open the queue>"]
    if len(members) >= _BURST:
        links.append(f"<{incident(manner, topic.kind, members)}|Open the incident>")
    blocks = [
        header(title),
        section(f"{_mention(owners if ping else (), manner)}*{at_risk}* {rest}\nOwner: *{names(owners)}*"),
        section(f"*What to do:* {step}"),
        *_shown(largest(members), manner),
        *([section(f"and {more} more: <{link}|all {len(members)} in the queue>")] if more > 0 else []),
        *_ended(standing.over, topic, manner),
        context(" · ".join([f"As of {minute(manner.as_of)}", *links])),
    ]
    text = f"{title}, {at_risk} {rest}. Owner: {names(owners)}. What to do: {step} {link}"
    return Message(text, tuple(blocks))


def replies(
    topic: Topic, owners: Sequence[Owner], news: Iterable[News], manner: Manner, *, ping: bool
) -> tuple[tuple[Message, tuple[News, ...]], ...]:
    """Return what is new in a thread, in as many messages as Slack needs, each with its news.

    Together they name every case once: by what became of it, then the most money first.
    """
    news = tuple(news)
    place = {case.id: at for at, case in enumerate(by_money(each.case for each in news))}
    ordered = sorted(news, key=lambda each: (each.gone, _ORDER.index(each.action), place[each.case.id]))
    parts = _parts(ordered, manner)
    told, said = _told(ordered, topic), []
    theirs = {each.case.owner.name for each in news if each.case.owner is not None and not each.over}
    called = [owner for owner in owners if owner.name in theirs]
    for number, part in enumerate(parts, start=1):
        title = f"{told}, part {number} of {len(parts)}" if len(parts) > 1 else told
        reply = _reply(topic, owners, title, part, manner, called=called if ping and number == 1 else None)
        said.append((reply, tuple(part)))
    return tuple(said)


def _nothing_waits(topic: Topic, owners: Sequence[Owner], standing: Standing, manner: Manner) -> Message:
    """Return a thread's root once every case of it was cleared or answered."""
    about = f"{wording.named(topic.kind)}, {topic.severity}{_where(topic, manner)}"
    title, link = f"Nothing waits: {about}", _queue(topic, manner)
    ends = _ends(standing.over, topic)
    rest = f"{ends}." if ends else "Every case of this thread was cleared, answered or moved."
    blocks = [
        header(title),
        section(f"{rest}\nOwner: *{names(owners)}*"),
        *_struck(standing.over, topic, manner),
        context(f"As of {minute(manner.as_of)} · <{link}|Open the queue>"),
    ]
    return Message(f"{title}. {rest} Owner: {names(owners)}. What to do: nothing. {link}", tuple(blocks))


def _shown(cases: Iterable[Case], manner: Manner) -> list[Block]:
    """Return the largest cases: lines, or a block each where something can be clicked."""
    if manner.answers:
        return [section(f"• {line(case, manner)}", menu(case, manner)) for case in cases]
    return sections(f"• {line(case, manner)}" for case in cases)


def _ended(over: Sequence[Case], topic: Topic, manner: Manner) -> list[Block]:
    """Return what has left the thread while others wait; nothing where nothing has."""
    if not over:
        return []
    return [context(f"Done meanwhile: {_ends(over, topic)}"), *_struck(over, topic, manner)]


def _struck(over: Sequence[Case], topic: Topic, manner: Manner) -> list[Block]:
    """Return the latest cases that left, struck out, and how many more did."""
    lines = [f"• {line(case, manner, struck=True)} · {_end(case, topic)}" for case in over[:TOP]]
    more = len(over) - TOP
    return sections(lines + ([f"and {more} more"] if more > 0 else []))


def _ends(over: Iterable[Case], topic: Topic) -> str:
    """Return how many cases ended how: 7 cleared, 2 resolved."""
    counts = Counter(_end(case, topic) for case in over)
    return ", ".join(f"{number:,} {word}" for word, number in counts.most_common())


def _end(case: Case, topic: Topic) -> str:
    """Return how a case left its thread."""
    return _ENDS.get(case.state) or _moved(case, topic)


def _moved(case: Case, topic: Topic) -> str:
    """Return to whom a case that waits elsewhere went, or what it is now: moved to finance."""
    if case.owner is None or not case.owner.target:
        return "moved to nobody"
    if case.owner.target != topic.target:
        return f"moved to {clean(case.owner.name)}"
    if case.severity is not topic.severity:
        return f"moved to {case.severity}"
    if case.mismatch.kind is not topic.kind:
        return f"moved to {wording.named(case.mismatch.kind)}"
    return "opened again in a later message"


def _reply(
    topic: Topic,
    owners: Sequence[Owner],
    title: str,
    part: Sequence[News],
    manner: Manner,
    *,
    called: Sequence[Owner] | None,
) -> Message:
    """Return one message of what is new: a heading for each verb, under it each case and why.

    called: whose groups are mentioned, in what the channel sees as well; None of what it does not see.
    """
    verbs = list(dict.fromkeys(_verb(each, topic) for each in part))
    clicks = called is not None and len(part) <= TOP  # More are a list to read, and the root has the largest.
    blocks = [section(f"{_mention(called or (), manner)}*{title}*")]
    for verb in verbs:
        blocks += [section(f"*{verb}*")] if len(verbs) > 1 else []
        for each in part:
            blocks += _of_case(each, manner, clicks=clicks) if _verb(each, topic) == verb else []
    link, waiting = _queue(topic, manner), [each.case for each in part if not each.over]
    blocks.append(context(f"<{link}|Open the queue>"))
    at_risk = f", {sums(waiting)} at risk" if waiting else ""
    step = _step(topic, part)
    about = f"{topic.severity.upper()}, {wording.named(topic.kind)}{_where(topic, manner)}"
    text = f"{about}: {title}{at_risk}. Owner: {names(owners)}. What to do: {step} {link}"
    return Message(f"{text} {named(each.case for each in part)}", tuple(blocks))


def _step(topic: Topic, part: Iterable[News]) -> str:
    """Return what is to be done about news: about a proposal, answer it."""
    waiting = [each for each in part if not each.over]
    steps = [
        _ANSWER if each.action is Action.PROPOSED else wording.NEXT_STEPS[topic.kind] for each in waiting
    ]
    return " ".join(dict.fromkeys(steps)) or "nothing."


def _of_case(news: News, manner: Manner, *, clicks: bool) -> list[Block]:
    """Return a case in a reply: what it is, and why below; what has left the thread is struck out."""
    clickable = menu(news.case, manner) if clicks and not news.over else None
    said = section(f"• {line(news.case, manner, struck=news.over)}", clickable)
    return [said] if news.gone or not news.why else [said, context(clean(news.why))]


def _parts(ordered: Iterable[News], manner: Manner) -> list[list[News]]:
    """Return the news in as many parts as Slack's limits on one message make of it."""
    parts: list[list[News]] = []
    size = 0
    for each in ordered:
        length = len(line(each.case, manner, struck=each.over)) + len(clean(each.why))
        if not parts or len(parts[-1]) == _CASES or size + length > _CASES_LIMIT:
            parts.append([])
            size = 0
        parts[-1].append(each)
        size += length
    return parts


def _verb(news: News, topic: Topic) -> str:
    """Return the heading of a case in a reply."""
    if news.gone:
        left = _moved(news.case, topic)
        return left[0].upper() + left[1:]
    by = f" by {clean(news.by)}" if news.by is not None else ""
    return f"{wording.ACTIONS[news.action]}{by}"


def _told(ordered: Iterable[News], topic: Topic) -> str:
    """Return how many cases what was done to, and by whom: 3 opened, 1 acknowledged by Ana."""
    counts = Counter(_moved(each.case, topic) if each.gone else (each.action, each.by) for each in ordered)
    return ", ".join(
        f"{number} {done}"
        if isinstance(done, str)
        else wording.done(done[0], number) + (f" by {clean(done[1])}" if done[1] is not None else "")
        for done, number in counts.items()
    )


def _where(topic: Topic, manner: Manner) -> str:
    """Return whose books these are and whether the money is real, where that has to be said."""
    return (f", account {clean(topic.account, limit=VALUE_LIMIT)}" if topic.account else "") + mode(manner)


def _mention(owners: Iterable[Owner], manner: Manner) -> str:
    """Return the mentions of the user groups of these owners, each once; of those that have none, nothing."""
    return "".join(dict.fromkeys(mention(manner.profile(each)) for each in owners))


def _queue(topic: Topic, manner: Manner) -> str:
    """Return the address of the queue, filtered to one thread's kind and severity, escaped."""
    return queue(manner, kind=topic.kind, severity=topic.severity)
