"""How alarms read: a surge, an incomplete run, rows that could not be judged.

Never decides whether anything is said, or to whom: rules/notices.py does.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from recon.model import wording
from recon.model.blocks import VALUE_LIMIT, clean, code, context, header, section, sections
from recon.model.particulars import largest, line, mode, queue, sums
from recon.model.phrases import minute, several, why_unread
from recon.model.records.cases import Case
from recon.model.records.notices import Manner, Message
from recon.model.records.results import Reject
from recon.model.records.runs import AccountReading
from recon.model.records.words import Kind

_REASONS = 20  # Reasons in an alarm: who needs more looks at the run.
_REASONS_IN_WORDS = 5  # Of these, what the plain text reads out.


def surge(cases: Sequence[Case], manner: Manner) -> Message:
    """Return the one message for many new cases at once: more likely one cause of ours."""
    kinds = Counter(case.mismatch.kind for case in cases)
    told = ", ".join(wording.counted(kind, kinds[kind]) for kind in Kind if kind in kinds)
    title = f"Surge: {len(cases)} new cases in one {manner.mode} run"
    at_risk, shown = sums(cases), largest(cases)
    rest = "They are open and owned, but not announced one by one."
    step = "Look for one cause first, such as a changed mapping or a key of another account."
    lines = [f"• {line(case, manner)}" for case in shown]
    more = len(cases) - len(shown)
    link = queue(manner)
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
    held = (
        f"Of {several(len(readings), 'account')}, {len(failed)} could not be read to the end. Until that is "
        "done no case of theirs is cleared, and new cases that rest on something missing are kept back."
        if failed
        else "Each account that is asked for was read to the end, and that is not enough to judge all. "
        "What could not be judged is neither opened nor cleared."
    )
    step = "Put right what the reasons name. The next run reads the same again, and tells what it kept back."
    more = len(reasons) - _REASONS
    lines = [f"• {reason}" for reason in reasons[:_REASONS]] + ([f"and {more} more"] if more > 0 else [])
    link = queue(manner)
    blocks = [
        header(title),
        section(held),
        *sections(lines),
        section(f"*What to do:* {step}"),
        context(f"<{link}|Open the dashboard>"),
    ]
    shown = " ".join(reasons[:_REASONS_IN_WORDS]).replace("`", "")
    return Message(f"{title}. {held} {shown} What to do: {step} {link}", tuple(blocks))


def over(manner: Manner) -> Message:
    """Return the word below the alarm of an incomplete run that everything could be read again."""
    text = (
        f"Over: the {manner.mode} run of {minute(manner.as_of)} read everything, also what could not be read "
        "before. What was kept back is told now. What to do: nothing."
    )
    return Message(text, (section(text),))


def rejected(rejects: Sequence[Reject], manner: Manner) -> Message:
    """Return what operators are told of rows that could not be judged: of which sources, and why."""
    sources = Counter(each.source for each in rejects)
    where = [f"{several(n, 'row')} of {clean(source, limit=VALUE_LIMIT)}" for source, n in sources.items()]
    more = len(where) - _REASONS_IN_WORDS
    where = where[:_REASONS_IN_WORDS] + ([f"{several(more, 'more source')}"] if more > 0 else [])
    said = f"{' and '.join(where)} could not be judged{mode(manner)}"
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
    link = queue(manner)
    blocks = [
        header(f"{several(len(rejects), 'row')} could not be judged{mode(manner)}"),
        section(f"{said}; {held}: no case of theirs is opened or cleared."),
        *sections(lines),
        section(f"*What to do:* {step}"),
        context(f"<{link}|Open the dashboard>"),
    ]
    first, others = clean(rejects[0].reason), len({each.reason for each in rejects}) - 1
    first += f", and {several(others, 'other reason')}" if others else ""
    return Message(f"{said}: {first}; {held}. What to do: {step} {link}", tuple(blocks))
