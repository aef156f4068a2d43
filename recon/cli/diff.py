"""`recon diff`: two files in, what disagrees between them out; no configuration and no database."""

import io
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli import exits
from recon.cli.options import time
from recon.model.errors import UnusableInput
from recon.model.records.results import Coverage, Policy, Reading, Reject, Result
from recon.model.records.words import Verdict

if TYPE_CHECKING:
    from recon.model.frames import Intake

_NARROWEST = 40  # Columns that a table needs; a terminal that claims to have fewer, or none, gets these.
_REJECTS_SAID = 5  # Rejected rows that stderr names; the report has them all.


class Format(StrEnum):
    """How the result is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class Side(StrEnum):
    """One of the two files."""

    REFUNDS = "refunds"
    INTENTS = "intents"


IntentsFile = Annotated[
    Path, typer.Argument(metavar="INTENTS", help="What you meant to refund: .csv, .json, .jsonl or .parquet.")
]
RefundsFile = Annotated[
    Path,
    typer.Argument(
        metavar="REFUNDS", help="What the provider did: flat rows, or its own objects, list pages and events."
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(metavar="ISO", help="Judge at this time, with its zone; else at the latest in the files."),
]
HowWritten = Annotated[Format, typer.Option("--format", help="How to write the result.")]
Output = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the report to this file, whole or not at all.")
]
Columns = Annotated[
    Path | None,
    typer.Option(
        metavar="MAP.toml", help="Tables intents and refunds, with our_name = 'their column' in each."
    ),
]
Incomplete = Annotated[
    list[Side] | None,
    typer.Option(metavar="refunds|intents", help="That file is only a part; may be said of both."),
]
RefundsFrom = Annotated[
    str | None,
    typer.Option(metavar="ISO", help="The refunds file holds what was created since, not before."),
]
IntentsFrom = Annotated[
    str | None,
    typer.Option(metavar="ISO", help="The intents file holds what was created since, not before."),
]


def diff(
    intents: IntentsFile,
    refunds: RefundsFile,
    *,
    as_of: AsOf = None,
    format_: HowWritten = Format.TABLE,
    output: Output = None,
    columns: Columns = None,
    incomplete: Incomplete = None,
    refunds_from: RefundsFrom = None,
    intents_from: IntentsFrom = None,
) -> None:
    """Compare intents with refunds from two files, and say what disagrees.

    Exit 0: nothing disagrees.
    Exit 1: there are mismatches.
    Exit 2: the input or an argument cannot be used.
    Exit 3: rows were rejected, or a side was not read completely.
    """
    asked = None if as_of is None else time("--as-of", as_of)
    froms = {
        Side.REFUNDS: None if refunds_from is None else time("--refunds-from", refunds_from),
        Side.INTENTS: None if intents_from is None else time("--intents-from", intents_from),
    }
    from recon.doors import files

    mapping = files.read_mapping(columns) if columns is not None else None
    ours = files.read_intents(intents, mapping)
    theirs = files.read_refunds(refunds, mapping)
    for note in (*ours.notes, *theirs.notes):  # First: they may be why nothing else can be said.
        _say(note)
    result = _result(ours, theirs, asked or _latest(ours, theirs), _coverage(set(incomplete or ()), froms))
    for sentence in result.incomplete or _uncovered(result):
        _say(sentence)
    _report(result, format_, output)
    raise typer.Exit(exit_code(result))


def _uncovered(result: Result) -> tuple[str, ...]:
    """Return what to say where the options' times alone kept something from being judged."""
    if result.verdict != Verdict.INCOMPLETE:
        return ()
    return ("Some of it is older than what the other file holds, and was not judged: see withheld.",)


def exit_code(result: Result) -> int:
    """Return 3 for an incomplete result or one with rejected rows, else 1 for mismatches, else 0."""
    if result.verdict == Verdict.INCOMPLETE or result.rejected:
        return exits.INCOMPLETE
    return exits.FOUND if result.mismatches else exits.OK


def _latest(ours: "Intake", theirs: "Intake") -> datetime:
    """Return the latest time in the two files, and say that it is used.

    Raises:
        UnusableInput: no row of either file has one.
    """
    latest = max((intake.latest for intake in (ours, theirs) if intake.latest is not None), default=None)
    if latest is None:
        _say_rejects((*ours.rejects, *theirs.rejects))
        raise UnusableInput(
            "No row of the two files has a time to judge at: say --as-of 2026-03-06T19:00:00Z."
        )
    _say(
        f"Judged as of {latest.isoformat().replace('+00:00', 'Z')}, the latest time in the two files;"
        " --as-of sets another."
    )
    return latest


def _coverage(incomplete: set[Side], froms: dict[Side, datetime | None]) -> Coverage:
    """Return what the options say was read."""
    refunds, intents = (
        Reading(from_at=froms[side], complete=side not in incomplete) for side in (Side.REFUNDS, Side.INTENTS)
    )
    return Coverage(default_refunds=refunds, default_intents=intents)


def _result(ours: "Intake", theirs: "Intake", as_of: datetime, coverage: Coverage) -> Result:
    """Return the diff of two intakes with the default graces."""
    from recon.rules import linking
    from recon.rules.mismatches import finding

    policy = Policy()
    links = linking.link(ours.frame, theirs.frame, policy)
    return finding.find(ours, theirs, links, policy=policy, coverage=coverage, as_of=as_of)


def _report(result: Result, format_: Format, output: Path | None) -> None:
    """Write the report to stdout or a file."""
    from recon.rules.reports import documents, listings, screens

    if format_ == Format.JSON:
        text = documents.json_text(result)
    elif format_ == Format.CSV:
        text = listings.as_csv(result)
        _say_rejects(result.rejected)
    elif output is None:
        text = _for_terminal(result)
    else:
        text = screens.table_text(result)
    if output is None:
        _print(text, programs_read_it=format_ != Format.TABLE)
        return
    from recon.doors import outputs

    outputs.write_text(output, text)
    _say(f"{result.verdict}: written to {output}.")


def _for_terminal(result: Result) -> str:
    """Return the table as wide and as colorful as stdout shows it."""
    from rich.console import Console

    from recon.rules.reports import screens

    stdout, page = Console(), io.StringIO()
    width = max(stdout.width, _NARROWEST)
    console = Console(file=page, width=width, force_terminal=stdout.is_terminal, highlight=False)
    console.print(screens.as_table(result))
    return page.getvalue()


def _print(text: str, *, programs_read_it: bool) -> None:
    """Print a report, what programs read in UTF-8 and the rest in whatever stdout is.

    Raises:
        UnusableInput: stdout is closed, or takes no more.
    """
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            encoding = "utf-8" if programs_read_it else None
            sys.stdout.reconfigure(encoding=encoding, errors="strict" if programs_read_it else "replace")
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (AttributeError, OSError) as error:  # Closed by the shell, a full disk.
        if sys.stdout is not None:  # Python would try to flush it once more on its way out, and complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = error.strerror if isinstance(error, OSError) else "it is closed"
        raise UnusableInput(f"The report cannot be written to standard output: {reason}.") from None


def _say_rejects(rejects: Sequence[Reject]) -> None:
    """Say on stderr which rows a report without them leaves out."""
    for reject in rejects[:_REJECTS_SAID]:
        _say(f"{reject.source} row {reject.row}: {reject.reason}.")
    if len(rejects) > _REJECTS_SAID:
        _say(f"{len(rejects) - _REJECTS_SAID} more rows were rejected; --format json lists them.")


def _say(sentence: str) -> None:
    """Print one sentence to stderr."""
    print(f"recon: {sentence}", file=sys.stderr)
