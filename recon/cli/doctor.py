"""`recon doctor`: whether this installation can do its job tonight, line by line, and what to do about it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recon.cli import exits
from recon.cli.options import Format, Output
from recon.model.characters import harmless
from recon.model.phrases import iso, several
from recon.model.records.remarks import Level, Remark, Section

if TYPE_CHECKING:
    from rich.text import Text

    from recon.doctor.examination import Examination

_SIGNS = {Level.OK: ("✓", "green"), Level.WARNING: ("!", "yellow"), Level.FAILURE: ("✗", "bold red")}
_ONLY = f"Look at this section alone; may be repeated: {', '.join(Section)}."
_WORD_WIDTH = max(len(level) for level in Level)


def doctor(
    output: Output = Format.TABLE,
    offline: Annotated[
        bool, typer.Option("--offline", metavar="", help="Ask neither the provider nor Slack.")
    ] = False,
    only: Annotated[list[Section] | None, typer.Option("--only", metavar="SECTION", help=_ONLY)] = None,
    seconds: Annotated[
        int, typer.Option(help="How long to wait for everything together.", min=1, max=3600)
    ] = 60,
) -> None:
    """Look whether the hour can do its work here tonight, and say what to do.

    It looks at configuration, packages, owners, database, intents, the
    provider's key, the clocks, Slack, the dashboard's sign-in and the
    schedule; each on its own.
    It changes nothing, posts nothing, moves nothing and shows no secret.

    Exit 0: no failure; there may be warnings.
    Exit 1: at least one failure.
    """
    import os

    from recon.doctor import examination

    found = examination.examine(
        os.environ,
        clock=lambda: datetime.now(UTC),
        offline=offline,
        seconds=float(seconds),
        only=only or (),
    )
    if output is Format.JSON:
        print(json.dumps(as_json(found), indent=2, ensure_ascii=False))
    else:
        _show(found)
    if not found.healthy:
        raise typer.Exit(exits.FOUND)


def as_json(found: "Examination") -> dict[str, Any]:
    """Return the examination as plain values, every key always present."""
    return {
        "at": iso(found.at),
        "healthy": found.healthy,
        "counts": {str(level): found.count(level) for level in Level},
        "checks": [
            {
                "section": str(remark.section),
                "level": str(remark.level),
                "found": remark.found,
                "todo": remark.todo or None,
            }
            for remark in found.remarks
        ],
    }


def _show(found: "Examination") -> None:
    """Print the examination: folded and coloured on a terminal, one line for each thing elsewhere."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, emoji=False)
    for section, remarks in groupby(found.remarks, key=lambda remark: remark.section):
        console.print(Text(section.capitalize(), style="bold"))
        for remark in remarks:
            if console.is_terminal:
                _print_folded(console, remark)
            else:
                for line in plain(remark):
                    console.print(Text(line), soft_wrap=True)
        console.print()
    console.print(_verdict(found), soft_wrap=not console.is_terminal)


def plain(remark: Remark) -> Iterator[str]:
    """Yield the lines of a remark for a file or a pipe."""
    yield f"  {remark.level:<{_WORD_WIDTH}}  {harmless(remark.found)}"
    if remark.todo:
        yield f"  {'':<{_WORD_WIDTH}}  -> {harmless(remark.todo)}"


def _print_folded(console: Any, remark: Remark) -> None:  # noqa: ANN401 - rich is loaded when it is called
    from rich.table import Table
    from rich.text import Text

    sign, style = _SIGNS[remark.level]
    rows = [(sign, 3, remark.found, style, "")]
    if remark.todo:
        rows.append(("→", 5, remark.todo, "cyan", "cyan"))
    for mark, width, text, mark_style, text_style in rows:
        grid = Table.grid(padding=(0, 1), pad_edge=False)
        grid.add_column(width=width, justify="right", no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Text(mark, style=mark_style), Text(harmless(text), style=text_style))
        console.print(grid)


def _verdict(found: "Examination") -> "Text":
    from rich.text import Text

    failures, warnings = found.count(Level.FAILURE), found.count(Level.WARNING)
    told = ", ".join(
        (several(failures, "failure"), several(warnings, "warning"), f"{found.count(Level.OK)} ok")
    )
    if failures:
        return Text(f"Not fit for tonight: {told}.", style="bold red")
    return Text(f"Fit for tonight: {told}.", style="bold yellow" if warnings else "bold green")
