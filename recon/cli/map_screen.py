"""What `recon map` says on a terminal. Text of a file cannot become escape codes of a terminal."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from recon.model.characters import harmless
from recon.model.phrases import several
from recon.model.records.maps import Line, Preset, Question

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from recon.cli.map import Answer, Trial
    from recon.rules.mapping.trying import Pair

_REASONS = 5  # Why rows are rejected, the commonest first; JSON has them all.
_SHOWN = ("key", "id", "amount_minor", "status", "created_at", "order_id", "payment", "payment_intent",
          "refund_id", "intent_key")  # fmt: skip
_LONGEST = 60  # Characters of a cell: enough to know it by.
_NARROWEST = 60  # Columns that the table needs.


def show(answer: "Answer", *, written: Path | None) -> None:
    """Print everything that is said of a file; written: where its map is now."""
    console = _console()
    for part in _parts(answer, written):
        console.print(part)


def show_presets(presets: Iterable[Preset], *, as_json: bool) -> None:
    """Print the presets."""
    if as_json:
        told = [
            {"name": each.name, "title": each.title, "get": each.get, "source": each.source}
            for each in presets
        ]
        print(json.dumps(told, indent=2, ensure_ascii=False))
        return
    from rich.padding import Padding
    from rich.text import Text

    console = _console()
    for each in presets:
        console.print(Text.assemble((each.name, "bold"), f"  {each.title}"))
        console.print(Padding(Text(f"{each.get}\n{each.source}", style="dim"), (0, 0, 1, 2), expand=False))
    console.print(Text("recon map FILE takes the one that fits; --preset NAME prints one, with its query."))


def _console() -> "Console":
    """Return standard output, as wide as it is and never narrower than the table needs."""
    from rich.console import Console

    found = Console()
    return Console(width=max(found.width, _NARROWEST), highlight=False, emoji=False, file=sys.stdout)


def _parts(answer: "Answer", written: Path | None) -> "Iterator[RenderableType]":
    """Yield the answer from top to bottom: what it is, what is read how, what to decide, what comes out."""
    from rich.text import Text

    proposal, sample = answer.proposal, answer.sample
    looked = several(sample.rows, "row") if sample.whole else f"its first {several(sample.rows, 'row')}"
    made_by = f", a table of {proposal.made_by}" if proposal.made_by and not sample.objects else ""
    made_by += f", by the preset {proposal.preset}" if proposal.preset else ""
    yield Text.assemble((harmless(sample.name), "bold"), f": {proposal.side}{made_by}; looked at {looked}")
    yield _indented(f"because {proposal.side_why}", "dim")
    if proposal.lines:
        yield Text()
        yield _table(proposal.lines)
    if proposal.words:
        words = ", ".join(
            f"{_short(word.theirs)} ({word.count}) {word.ours or '?'}" for word in proposal.words
        )
        yield _indented(f"status words: {words}")
    yield from _doubted(answer)
    for question in proposal.questions:
        yield from _asked(question)
    yield Text()
    yield from _tried(answer.trial, assumed=bool(proposal.questions))
    yield Text()
    yield from _next(answer, written)


def _table(lines: Iterable[Line]) -> "RenderableType":
    """Return what is read how."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("ours", "theirs", "because"):
        table.add_column(heading, overflow="fold")
    for line in lines:
        told = line.told
        joint = " + " if told.sums else " or "
        theirs = joint.join(told.needs) or f'always "{told.missing}"'
        because = line.why if str(line.sureness) == "sure" else f"likely: {line.why}"
        table.add_row(line.ours, Text(harmless(theirs)), Text(harmless(because)))
    return table


def _doubted(answer: "Answer") -> "Iterator[RenderableType]":
    """Yield what is odd."""
    doubts = [f"{line.ours}: {doubt}" for line in answer.proposal.lines for doubt in line.doubts]
    for doubt in (*doubts, *answer.proposal.doubts):
        yield _indented(f"doubt: {doubt}", "yellow")


def _asked(question: Question) -> "Iterator[RenderableType]":
    """Yield a question with its answers."""
    from recon.rules.mapping import writing

    yield _indented(f"decide: {question.text}", "bold yellow")
    for choice in question.choices:
        for line in writing.answer(choice).split("\n"):
            yield _indented(f"{line}  # {choice.means}", by=6)


def _tried(trial: "Trial", *, assumed: bool) -> "Iterator[RenderableType]":
    """Yield what came out of the first rows."""
    from rich.text import Text

    if trial.refused is not None:
        yield Text(harmless(f"Read with this map, the file is refused: {trial.refused}"), style="bold red")
        return
    how = ", the first answer to each decision assumed" if assumed else ""
    yield Text(f"Read with this map{how}: {trial.standing} fit to be judged, {trial.rejected} rejected.")
    for reason, rows in trial.reasons[:_REASONS]:
        yield _indented(f"{several(rows, 'row')} rejected: {reason}", "yellow")
    for note in trial.notes:
        yield _indented(note, "dim")
    for number, pair in enumerate(trial.pairs, start=1):
        yield _indented(f"{number}  {_changed(pair)}")


def _changed(pair: "Pair") -> str:
    """Return one row, each column as it is in the file and as it is read where that differs."""
    parts = []
    for ours in _SHOWN:
        after = pair.after.get(ours)
        if after is not None:
            name = "amount" if ours == "amount_minor" else ours
            before = pair.before.get(ours, pair.before.get(name))
            from_ = "" if before in {after, None} else f"{_short(before)} -> "
            parts.append(f"{name} {from_}{_short(after)}")
    return ", ".join(parts)


def _short(cell: object) -> str:
    """Return a cell's first characters."""
    text = str(cell)
    return f"{text[:_LONGEST]}..." if len(text) > _LONGEST else text


def _next(answer: "Answer", written: Path | None) -> "Iterator[RenderableType]":
    """Yield where the map is, and what comes next."""
    from rich.text import Text

    if not answer.trial.standing:
        yield Text("recon diff would judge none of these rows: see above why.", style="bold red")
    if written is None and not answer.needed:
        if not answer.fine or not answer.trial.standing:
            return
        yield Text("No map is needed: recon diff reads this file as it is.", style="bold green")
    elif written is None:
        yield Text("--output MAP.toml writes this map, --format toml prints it alone.", style="bold")
    else:
        yield Text(f"[{answer.proposal.side}] is written to {written}.", style="bold")
        if answer.open:
            yield _indented("Take away the # before the answer to each DECIDE in it.")
        yield _indented(f"Then: recon diff INTENTS REFUNDS --columns {written}")


def _indented(text: str, style: str = "", *, by: int = 2) -> "RenderableType":
    """Return text that keeps its indentation where it wraps."""
    from rich.padding import Padding
    from rich.text import Text

    return Padding(Text(harmless(text), style=style), (0, 0, 0, by), expand=False)
