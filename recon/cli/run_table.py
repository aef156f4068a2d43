"""How the report of a run reads: whether to trust it, what changed, the money, what is said, what comes next.

On a terminal lines are folded to its width; in a file or a pipe each thing stays one line.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING

from recon.model import money, phrases, wording
from recon.model.characters import harmless
from recon.model.phrases import minute, of_account, several
from recon.model.records.cases import Case, Change
from recon.model.records.results import Money, Reject
from recon.model.records.runs import ReadBack
from recon.model.records.words import Action, Kind, Verdict

if TYPE_CHECKING:
    from recon.hourly import RunReport

REASONS = 5  # Why rows were rejected, the commonest first; a wrong mapping is one reason for all of them.
NAMED = 3  # Rows of each reason: enough to look one up.
SHOWN = 20  # Changes, heals and notices that a table shows of each; JSON has them all.
_STYLES = {Verdict.INCOMPLETE: "bold yellow", Verdict.BREAKS: "bold red"}
_VERBS = {"root": "new", "edit": "edited"}  # What a message is in its channel.


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the report, before it is folded."""

    text: str
    style: str = ""
    indent: int = 2


def show(report: "RunReport", *, dashboard: str, delivers: bool) -> None:
    """Print the report. delivers: whether its notices are sent right afterwards."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False, emoji=False)
    for line in lines(report, dashboard=dashboard, delivers=delivers):
        if not line.text:
            console.print()
            continue
        text = Text(harmless(line.text), style=line.style)
        if console.is_terminal:
            console.print(Padding(text, (0, 0, 0, line.indent), expand=False))
        else:
            console.print(Text(" " * line.indent) + text, soft_wrap=True)


def lines(report: "RunReport", *, dashboard: str, delivers: bool) -> Iterator[Line]:
    """Yield the report from top to bottom; what is not to be trusted comes first."""
    yield from _rejected(report)
    yield from _verdict(report)
    yield from _changes(report)
    yield from _mismatches(report)
    yield from _heals(report)
    yield from _messages(report)
    yield from _next(report, dashboard=dashboard, delivers=delivers)


def _rejected(report: "RunReport") -> Iterator[Line]:
    rejected = report.result.rejected
    if rejected:
        yield Line(f"Rejected rows: {len(rejected)}; what they touch was not judged", "bold yellow", indent=0)
    by_reason: dict[tuple[str, str], list[Reject]] = defaultdict(list)
    for reject in rejected:
        by_reason[reject.source, reject.reason].append(reject)
    worst = sorted(by_reason.items(), key=lambda pair: -len(pair[1]))  # Of several as many, the first read.
    for (source, reason), rows in worst[:REASONS]:
        yield Line(f"{several(len(rows), 'row')} of {source} ({_first(rows)}): {reason}", "yellow")
    if len(worst) > REASONS:
        others = sum(len(rows) for _, rows in worst[REASONS:])
        yield Line(f"and {others:,} more for other reasons; --format json lists every row")


def _first(rows: Sequence[Reject]) -> str:
    """Return the keys of the first rows, or their numbers where a row has no key."""
    named = [each.id or f"row {each.row}" for each in rows[:NAMED]]
    return ", ".join(named) + (f" and {len(rows) - NAMED:,} more" if len(rows) > NAMED else "")


def _verdict(report: "RunReport") -> Iterator[Line]:
    run, counts = report.run, report.result.counts
    said = "" if wording.VERDICTS[run.verdict] == run.verdict else f": {wording.VERDICTS[run.verdict]}"
    head = f"{wording.plain(run.verdict)} as of {run.as_of:%Y-%m-%d %H:%M:%S} UTC{said}"
    yield Line(head, _STYLES.get(run.verdict, "bold green"), indent=0)
    if report.dry:
        copy = f" and the copy of {report.copied}" if report.copied is not None else ""
        yield Line(f"Dry run: nothing was written but the mirror{copy}.", "bold")
    whole = sum(each.complete for each in run.accounts)
    refunds = sum(each.refunds for each in run.accounts)
    changed = sum(each.changed for each in run.accounts)
    since = min(each.from_at for each in run.accounts)
    yield Line(
        f"{whole} of {len(run.accounts)} accounts read, since {minute(since)}: "
        f"{several(refunds, 'refund')}, {changed:,} new or different"
    )
    for each in run.accounts:
        if not each.complete:
            name, why = phrases.account(each.account), phrases.why_unread(each.account, each.error or "")
            yield Line(f"Not read to the end: {name}: {why}", "yellow")
    judged = "everything" if run.full else "what was touched or due"
    yield Line(
        f"Compared {judged}: {several(counts.intents, 'intent')}, {several(counts.refunds, 'refund')}, "
        f"{counts.matched:,} in agreement, {counts.in_flight:,} in flight, {counts.withheld:,} withheld"
    )
    yield from _beginnings(report)


def _beginnings(report: "RunReport") -> Iterator[Line]:
    """Yield what was read back, what was decided about the past, and what is older than what is judged."""
    from recon.rules import beginnings

    for back in report.back:
        yield Line(_read_back(back), "" if back.joined and back.reading.complete else "yellow")
    for sentence in (*report.said, *beginnings.sentences(report.older)):
        yield Line(sentence, "yellow")


def _read_back(back: ReadBack) -> str:
    """Return what was read of an older window, and whether it counts."""
    reading = back.reading
    window = f"{reading.from_at:%Y-%m-%d %H:%M} to {minute(reading.to_at)}"
    refunds = f"{several(reading.refunds, 'refund')}, {reading.changed:,} new or different"
    told = f"Read back{of_account(reading.account)}: {window}, {refunds}"
    if not reading.complete:
        why = phrases.why_unread(reading.account, reading.error or "").rstrip(".")
        return f"{told}; it broke off: {why}. The same command goes on where it was."
    if back.unread:
        return f"{told}; {several(back.unread, 'row')} unreadable, so that it does not count as read."
    if back.joined:
        return f"{told}; judged."
    if back.covered_from is None:
        return f"{told}; kept, and not judged: the account itself was not yet read to the end."
    return (
        f"{told}; kept, and not judged: a gap remains until {minute(back.covered_from)}. Read "
        "that back first, then this again."
    )


def _changes(report: "RunReport") -> Iterator[Line]:
    counts = Counter(change.entry.action for change in report.changes)
    told = ", ".join(wording.done(action, counts[action]) for action in Action if action in counts)
    yield from _heading(f"Cases: {told or 'nothing changed'}")
    groups: dict[str, list[Change]] = defaultdict(list)
    for change in report.changes[:SHOWN]:
        groups[_group(change, report.was.get(change.case.id))].append(change)
    for group, changes in groups.items():
        yield Line(group, "bold")
        for change in changes:
            at_risk = money.written(change.case.mismatch.at_risk)
            yield Line(f"{change.case.id}  {at_risk:>14}  {_ids(change.case)}", indent=4)
    yield from _more(len(report.changes))


def _group(change: Change, was: Kind | None) -> str:
    """Return what the change has in common with others: what was done, the kind, and whose it is.

    was: the kind before, where it was another.
    """
    case = change.case
    before = f" (was: {wording.plain(was)})" if was is not None else ""
    owner = f"owner {case.owner.name}" if case.owner else "nobody's"
    return ", ".join(
        (
            f"{wording.ACTIONS[change.entry.action]}: {wording.named(case.mismatch.kind)}{before}",
            case.severity,
            owner,
        )
    )


def _ids(case: Case) -> str:
    mismatch = case.mismatch
    named = [("order", mismatch.order_id), ("customer", mismatch.customer_id), ("account", case.account)]
    return ", ".join(f"{word} {value}" for word, value in named if value) or case.subject.replace(":", " ", 1)


def _mismatches(report: "RunReport") -> Iterator[Line]:
    counts = report.result.counts.mismatches
    yield from _heading(f"Mismatches: {sum(counts.values()) or 'none'}")
    for kind in Kind:
        if counts[kind]:
            number, _, phrase = wording.counted(kind, counts[kind]).partition(" ")
            yield Line(f"{number:>4} {phrase}")
    at_risk = [money.written(Money(minor, currency)) for currency, minor in report.result.at_risk.items()]
    if at_risk:
        yield Line(f"Money at risk: {', '.join(at_risk)}", "bold", indent=0)


def _heals(report: "RunReport") -> Iterator[Line]:
    if report.heals:
        yield from _heading(f"Intents finished from the provider's proof: {len(report.heals)}")
    for heal in report.heals[:SHOWN]:
        yield Line(f"{heal.intent_key}: {heal.refund_id} by {wording.plain(heal.basis)}")
    yield from _more(len(report.heals))
    if report.not_healed:
        yield from _heading(f"Intents that changed meanwhile: {len(report.not_healed)}")
    for heal in report.not_healed[:SHOWN]:
        yield Line(f"{heal.intent_key}: the next run looks again", "yellow")
    yield from _more(len(report.not_healed))


def _messages(report: "RunReport") -> Iterator[Line]:
    heads = [notice for notice in report.notices if notice.verb in _VERBS]
    replies = Counter(notice.thread_key for notice in report.notices if notice.verb not in _VERBS)
    of = f" ({len(heads)} in channels, {replies.total()} in their threads)" if replies else ""
    yield from _heading(f"Notices: {len(report.notices) or 'nothing new to say'}{of}")
    if report.untold:
        yield Line(
            f"{several(report.untold, 'case')} opened without a notice: the dashboard has them, and owners "
            "are told when they change; --notify tells at once."
        )
    for notice in heads[:SHOWN]:
        said = unescape(notice.message.text.partition(" What to do: ")[0])
        below = replies[notice.thread_key]
        more = f" with {several(below, 'reply', 'replies')}" if below else ""
        yield Line(f"{notice.target}, {_VERBS[notice.verb]}{more}: {said}")
    yield from _more(len(heads))
    headed = {notice.thread_key for notice in heads}
    for notice in report.notices:
        if notice.verb not in _VERBS and notice.thread_key not in headed:
            yield Line(f"{notice.target}, in its thread: {unescape(notice.message.text)}")


def _next(report: "RunReport", *, dashboard: str, delivers: bool) -> Iterator[Line]:
    steps = []
    if not report.complete:
        steps.append("Put right what was not read, then run again: until then nothing of it is cleared.")
    if report.result.rejected:
        steps.append("Put the rejected rows right: until then what they touch is withheld.")
    if report.dry:
        again = "the same command without --dry-run" if report.back else "recon run"
        steps.append(f"To do it: {again}")
    elif report.notices and not delivers:
        steps.append("To send the notices: recon deliver (the hourly job does it by itself)")
    if report.result.mismatches and not report.dry:
        steps.append(f"To answer the cases: recon dashboard, then {dashboard}")
    if steps:
        yield from _heading("Next")
    yield from map(Line, steps)


def _heading(text: str) -> Iterator[Line]:
    yield Line("", indent=0)
    yield Line(text, "bold", indent=0)


def _more(count: int) -> Iterator[Line]:
    if count > SHOWN:
        yield Line(f"and {count - SHOWN} more; --format json lists them")
