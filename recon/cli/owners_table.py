"""How `recon owners` reads: the rules with their cases, why a case is whose it is, and what moved.

On a terminal lines are folded to its width; in a file or a pipe each thing stays one line.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import time
from html import unescape
from typing import TYPE_CHECKING, Any

from recon.cli import doctor
from recon.model import conditions, money, phrases, wording
from recon.model.characters import harmless
from recon.model.phrases import several
from recon.model.records.cases import BY_HAND, Change, Owner
from recon.model.records.owners import Profile, Step, is_group
from recon.model.records.remarks import Level, Remark

if TYPE_CHECKING:
    from recon.assigning import Applied, Entitled, Explanation, Survey, Tried

SHOWN = 20  # Groups and notices of each; JSON has them all.
_VERBS = {"root": "new message", "edit": "edited", "call": "reply, shown in the channel"}


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, and below it either lines or a table: its first row names the columns."""

    heading: str
    lines: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()


def show(blocks: Iterable[Block]) -> None:
    """Print blocks, whatever a stranger has put into them."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False, emoji=False)
    for number, block in enumerate(blocks):
        if number:
            console.print()
        console.print(Text(harmless(block.heading), style="bold"), soft_wrap=not console.is_terminal)
        for line in (*(_table(block.table) if not console.is_terminal else ()), *block.lines):
            text = harmless(line)
            if console.is_terminal:  # What is folded goes on below its beginning.
                begins = len(text) - len(text.lstrip()) + 2
                console.print(Padding(Text(text.lstrip()), (0, 0, 0, begins), expand=False))
            else:
                console.print(Text(f"  {text}"), soft_wrap=True)
        if block.table and console.is_terminal:
            console.print(Padding(_folding(block.table), (0, 0, 0, 2), expand=False))


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield the rows of a table in columns, each row one line."""
    safe = [[harmless(cell) for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in safe) for place in range(len(safe[0]))] if safe else []
    for row in safe:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _folding(rows: Sequence[tuple[str, ...]]) -> Any:  # noqa: ANN401 - rich is loaded when it is called
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for title in rows[0]:
        table.add_column(title, overflow="fold")
    for row in rows[1:]:
        table.add_row(*(Text(harmless(cell)) for cell in row))
    return table


def of_survey(survey: "Survey", asked: Sequence[Remark], notes: Sequence[str]) -> Iterator[Block]:
    """Yield the rules, what the first one caught, the owners, and what is to be put right.

    asked: what Slack said of the owners. notes: what was not looked at.
    """
    wrong = [each for each in (*survey.remarks, *asked) if each.level is not Level.OK]
    at = f", and open cases as of {phrases.minute(survey.judged_at)}" if survey.judged_at else ""
    counted = survey.judged_at is not None
    titles = ("rule", "asks for", "owner", "told in")
    rows = [(each.name, conditions.sentence(each.asks), *_whose(each)) for each in survey.rules]
    yield Block(
        f"Rules, of which the last that fits wins{at}",
        table=_counted(titles, rows, survey.rules, counted=counted),
    )
    levels = [(each.says, conditions.sentence(each.asks)) for each in survey.severities]
    yield Block(
        "Severities, in the same way",
        table=_counted(("severity", "asks for"), levels, survey.severities, counted=counted),
    )
    if survey.caught:
        yield Block(
            f"Decided by {survey.rules[0].name!r}, because no other rule fits", tuple(_caught(survey.caught))
        )
    if survey.pinned:
        lines = (f"{several(survey.pinned, 'open case')}, whatever the rules say.",)
        yield Block("Given to somebody by hand", lines)
    yield Block("Owners", tuple(line for each in survey.owners for line in _owner(each)))
    yield Block(
        f"To put right: {len(wrong) or 'nothing'}",
        tuple(line.removeprefix("  ") for remark in wrong for line in doctor.plain(remark)),
    )
    fine = tuple(remark.found for remark in asked if remark.level is Level.OK)
    if fine:
        yield Block("Slack", fine)
    if notes:
        yield Block("Not looked at", tuple(notes))


def _counted(
    titles: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    rules: "Sequence[Entitled]",
    *,
    counted: bool,
) -> tuple[tuple[str, ...], ...]:
    """Return a table with how many cases each rule decides, where they were counted."""
    if not counted:
        return (titles, *rows)
    return ((*titles, "open"), *((*row, f"{rule.wins:,}") for row, rule in zip(rows, rules, strict=True)))


def _whose(rule: "Entitled") -> tuple[str, str]:
    return (f"{rule.says}: {rule.why}", "") if rule.why is not None else (rule.says, rule.target)


def _caught(caught: Mapping[tuple[Any, str], int]) -> Iterator[str]:
    """Yield how many cases of each account and team, most first."""
    ordered = sorted(caught.items(), key=lambda item: (-item[1], item[0]))
    for (account, team), number in ordered[:SHOWN]:
        of = f"of team {team}" if team else "of no team"
        yield f"{several(number, 'open case')} {of}, {phrases.account(account)}"
    if len(ordered) > SHOWN:
        yield f"and {len(ordered) - SHOWN} more such groups"


def _owner(owner: Profile) -> Iterator[str]:
    """Yield how an owner is told, and who after them."""
    parts = [f"{owner.name}: {_told_in(owner.target)}"]
    if owner.group is not None and owner.group != owner.target:
        parts.append(f"mentions {owner.group}")
    if owner.rest is not None:
        parts.append(f"quiet {_clock(owner.rest[0])} to {_clock(owner.rest[1])} but for critical")
    parts.append(f"digest at {_clock(owner.digest_at)}" if owner.digest_at is not None else "no digest")
    yield f"{', '.join(parts)} ({owner.zone})"
    if owner.steps:
        yield f"    unanswered: {'; '.join(_step(step) for step in owner.steps)}"


def _told_in(target: str) -> str:
    return f"user group {target}, in the operators' channel" if is_group(target) else target


def _step(step: Step) -> str:
    return f"after {phrases.duration(step.after)} {step.owner} in {step.target}"


def _clock(at: time) -> str:
    return f"{at:%H:%M}"


def of_explanation(found: "Explanation") -> Iterator[Block]:
    """Yield why a case is whose it is, and what happens to it next."""
    case = found.case
    at_risk = money.written(case.mismatch.at_risk)
    facts = (wording.named(case.mismatch.kind), at_risk, case.severity, case.state)
    yield Block(f"{case.id}: {', '.join(facts)}", tuple(_standing(found)))
    yield Block(
        f"Rules, of which the last that fits wins, as of {phrases.minute(found.judged_at)}",
        table=_tried(found.rules, "rule", "owner"),
    )
    yield Block("Severities, in the same way", table=_tried(found.severities, "entry", "severity"))
    yield Block("What comes next", tuple(_next(found)))


def _standing(found: "Explanation") -> Iterator[str]:
    """Yield whose the case is, by what, and whether the rules say otherwise."""
    case = found.case
    yield f"Owner: {_by(case.owner)}"
    if found.pinned_by is not None:
        yield f"{found.pinned_by} gave it to them by hand, and rules leave it there; else: {_by(found.owner)}"
    elif found.decided:
        yield f"It is {case.state}: whatever the rules say, it keeps its owner until it opens again."
    elif case.owner != found.owner:
        yield f"By the rules as they are now: {_by(found.owner)}. recon owners apply gives it to them."
    if case.severity is not found.severity and not found.decided:
        yield f"By the rules as they are now it is {found.severity}. recon owners apply rates it so."


def _by(owner: Owner | None) -> str:
    if owner is None:
        return "nobody"
    how = owner.rule if owner.rule.startswith(BY_HAND) else f"by rule {owner.rule!r}"
    return f"{owner.name}{f' in {owner.target}' if owner.target else ''}, {how}"


def _tried(tried: "Sequence[Tried]", rule: str, says: str) -> tuple[tuple[str, ...], ...]:
    rows = [
        (
            each.name,
            "wins" if each.wins else "fits" if each.unfit is None else "no",
            each.says,
            ""
            if each.unfit is None
            else f"{conditions.matcher(each.unfit.matcher)} is {each.unfit.found}, not {each.unfit.asked}",
        )
        for each in tried
    ]
    return ((rule, "fits", says, "why not"), *rows)


def _next(found: "Explanation") -> Iterator[str]:
    """Yield where the next message goes and when, and who is told when nobody answers."""
    owner, coming = found.profile, found.owner
    if found.pinned_by is None and not found.decided and not _same(found.case.owner, coming):
        told = f"{coming.name} in {_told_in(coming.target)}, who is told" if coming.target else coming.name
        yield f"The next run, or recon owners apply, gives it to {told}. Until then:"
    if owner is None or found.awake_at is None:
        yield f"Nobody is told: {'it is decided' if found.decided else 'it has no owner to tell'}."
        return
    mention = f", mentioning {owner.group}" if owner.group is not None else ""
    quiet = f", not before {phrases.minute(found.awake_at)}, when quiet hours end" if found.resting else ""
    yield f"The next message goes to {_told_in(owner.target)}{mention}{quiet}."
    if found.case.snoozed_until is not None:
        yield f"It sleeps until {phrases.minute(found.case.snoozed_until)}, unless its evidence changes."
    if not owner.steps:
        yield "Nobody else is told when nobody answers: its owner has no chain."
    elif found.told_at is None:
        steps = "; ".join(map(_step, owner.steps))
        yield f"If nobody answers, counted from the message that tells its owner: {steps}."
    else:
        times = [(step, phrases.minute(found.told_at + step.after)) for step in owner.steps]
        steps = "; ".join(f"{step.owner} in {step.target} at {at}" for step, at in times)
        yield f"Its owner was told at {phrases.minute(found.told_at)}. If nobody answers: {steps}."


def _same(owner: Owner | None, other: Owner) -> bool:
    """Return whether two owners are told in the same place by the same name, by whichever rule."""
    return owner is not None and (owner.name, owner.target) == (other.name, other.target)


def of_applied(applied: "Applied", *, slack: bool) -> Iterator[Block]:
    """Yield what moves from whom to whom, and what is said about it."""
    if applied.judged_at is None:
        yield Block("No run has saved anything yet: there is no case to give to anybody.")
        return
    moved, of = len(applied.changes), len(applied.was)
    head = f"{'Would move' if applied.dry else 'Moved'}: {moved or 'none'} of {several(of, 'open case')}"
    groups = Counter(_move(change, applied) for change in applied.changes)
    rows = [(*move, f"{number:,}") for move, number in groups.most_common(SHOWN)]
    yield Block(
        f"{head}, by the rules as of {phrases.minute(applied.judged_at)}",
        table=(("from", "to", "severity", "cases"), *rows) if rows else (),
        lines=(f"and {len(groups) - SHOWN} more such moves",) if len(groups) > SHOWN else (),
    )
    lines = []
    if applied.pinned:
        lines.append(f"{several(applied.pinned, 'case')} a person gave to somebody, and rules leave there.")
    if applied.moved:
        lines.append(f"{several(applied.moved, 'case')} people moved meanwhile: the next run sees to them.")
    if lines:
        yield Block("Left as they are", tuple(lines))
    yield Block(f"Notices: {len(applied.notices) or 'nothing to say'}", tuple(_said(applied)))
    if applied.dry:
        yield Block("Nothing was written: this was a dry run.")
    elif applied.notices:
        token = "" if slack else " SLACK_BOT_TOKEN is not set: they wait in the database."
        yield Block(f"They go out with the next tick, or with recon deliver.{token}")


def _move(change: Change, applied: "Applied") -> tuple[str, str, str]:
    """Return from whom to whom a case moves, and from which severity to which."""
    was, case = applied.was[change.case.id], change.case
    before, after = (each.name if each else "nobody" for each in (was.owner, case.owner))
    if before == after and was.owner != case.owner and was.owner and case.owner:
        before, after = f"{before} ({was.owner.rule})", f"{after} ({case.owner.rule})"
    rated = case.severity if was.severity is case.severity else f"{was.severity} to {case.severity}"
    return before, after, rated


def _said(applied: "Applied") -> Iterator[str]:
    heads = [notice for notice in applied.notices if notice.verb != "reply"]
    for notice in heads[:SHOWN]:
        said = unescape(notice.message.text.partition(" What to do: ")[0])
        yield f"{notice.target}, {_VERBS.get(notice.verb, notice.verb)}: {said}"
    if len(heads) > SHOWN:
        yield f"and {len(heads) - SHOWN} more"
