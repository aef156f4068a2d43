"""Two sides in files, as every command that compares them reads them: options, frames and graces."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.options import time
from recon.doors.files.formats import STDIN, FileFormat
from recon.model.characters import harmless
from recon.model.errors import ConfigurationError, UnusableInput
from recon.model.records.results import Coverage, Policy, Reading, Reject

if TYPE_CHECKING:
    from recon.cli.progress import Doing
    from recon.model.frames import Intake

_REJECTS_SAID = 5  # Lines of rejected rows on stderr; the report has them all.


class Side(StrEnum):
    """One of the two files."""

    REFUNDS = "refunds"
    INTENTS = "intents"


IntentsFile = Annotated[
    str,
    typer.Argument(
        metavar="INTENTS",
        help="What you meant to refund: a file, a quoted pattern as '2026-*.csv', or - for standard input.",
    ),
]
RefundsFile = Annotated[
    str,
    typer.Argument(
        metavar="REFUNDS",
        help="What the provider did: flat rows, or its own objects, list pages and events; named as INTENTS.",
    ),
]
MoreIntents = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="One more file or pattern of intents; may be said several times."),
]
MoreRefunds = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="One more file or pattern of refunds; may be said several times."),
]
IntentsFormat = Annotated[
    FileFormat | None, typer.Option(help="What INTENTS holds, where its name does not say.")
]
RefundsFormat = Annotated[
    FileFormat | None, typer.Option(help="What REFUNDS holds, where its name does not say.")
]
AsOf = Annotated[
    str | None,
    typer.Option(metavar="ISO", help="Judge at this time, with its zone; else at the latest in the files."),
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
PolicyFile = Annotated[
    Path | None,
    typer.Option("--policy", metavar="POLICY.toml", help="Other graces, named as those of recon.toml."),
]


@dataclass(frozen=True, slots=True)
class Told:
    """What the options say, before a file is read.

    intents, refunds: paths, patterns or "-". intents_format, refunds_format: where their names do not say.
    columns: the file of a map. policy_from: where the graces come from, in words.
    """

    intents: tuple[str, ...]
    refunds: tuple[str, ...]
    intents_format: FileFormat | None
    refunds_format: FileFormat | None
    columns: Path | None
    as_of: datetime | None
    coverage: Coverage
    policy: Policy
    policy_from: str


@dataclass(frozen=True, slots=True)
class Both:
    """Both sides as they were read."""

    intents: "Intake"
    refunds: "Intake"
    as_of: datetime

    @property
    def sources(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of the intents' files and of the refunds'."""
        return self.intents.sources, self.refunds.sources


def told(
    intents: tuple[str, Sequence[str] | None, FileFormat | None],
    refunds: tuple[str, Sequence[str] | None, FileFormat | None],
    *,
    columns: Path | None,
    as_of: str | None,
    incomplete: Sequence[Side] | None,
    refunds_from: str | None,
    intents_from: str | None,
    policy: Path | None,
) -> Told:
    """Return what the options say.

    intents, refunds: what is named first, what more, and the format that is said of it.

    Raises:
        ConfigurationError: one of them, or the policy file, cannot be used. Nothing was read.
    """
    froms = {
        Side.REFUNDS: None if refunds_from is None else time("--refunds-from", refunds_from),
        Side.INTENTS: None if intents_from is None else time("--intents-from", intents_from),
    }
    asked = None if as_of is None else time("--as-of", as_of)
    ours, theirs = ((first, *(more or ())) for first, more, _ in (intents, refunds))
    if STDIN in ours and STDIN in theirs:
        raise ConfigurationError("Only one side can be standard input; name a file for the other.")
    readings = {
        side: Reading(from_at=froms[side], complete=side not in set(incomplete or ())) for side in Side
    }
    graces, graces_from = _policy(policy)
    return Told(
        intents=ours,
        refunds=theirs,
        intents_format=intents[2],
        refunds_format=refunds[2],
        columns=columns,
        as_of=asked,
        coverage=Coverage(default_refunds=readings[Side.REFUNDS], default_intents=readings[Side.INTENTS]),
        policy=graces,
        policy_from=graces_from,
    )


def _policy(path: Path | None) -> tuple[Policy, str]:
    """Return the graces, and where they come from."""
    if path is None:
        return Policy(), "the defaults"
    from recon.doors import config

    return config.policy(path), path.name


def read(told: Told, doing: "Doing") -> Both:
    """Return both sides, and say what is to be said of how they were read.

    Raises:
        UnusableInput: a file cannot be used, or no row has a time and none was told.
    """
    doing("Loading what reads files")
    from recon.doors.files import reading

    _take_small_pages()
    mapping = reading.read_mapping(told.columns) if told.columns is not None else None
    doing(f"Reading {', '.join(told.intents)}")
    ours = reading.read_intents(told.intents, mapping, format_=told.intents_format)
    doing(f"Reading {', '.join(told.refunds)}")
    theirs = reading.read_refunds(told.refunds, mapping, format_=told.refunds_format)
    for note in (*ours.notes, *theirs.notes):  # First: they may be why nothing else can be said.
        say(note)
    return Both(ours, theirs, told.as_of or _latest(ours, theirs))


def _take_small_pages() -> None:
    """Let Arrow take its memory by jemalloc where it brings that, unless its own variable names another.

    What it takes otherwise asks for huge pages, each cleared whole at its first byte: a tenth of all the
    processor time of a diff of a million rows, and a tenth of its memory.
    """
    import pyarrow as pa

    if "jemalloc" in pa.supported_memory_backends() and not os.environ.get("ARROW_DEFAULT_MEMORY_POOL"):
        pa.set_memory_pool(pa.jemalloc_memory_pool())


def _latest(ours: "Intake", theirs: "Intake") -> datetime:
    """Return the latest time in the two files, and say that it is used.

    Raises:
        UnusableInput: no row of either file has one.
    """
    latest = max((intake.latest for intake in (ours, theirs) if intake.latest is not None), default=None)
    if latest is None:
        say_rejects((*ours.rejects, *theirs.rejects))
        first = "see first to what is said above, or " if ours.rejects or theirs.rejects else ""
        raise UnusableInput(
            f"No row of the two files has a time to judge at: {first}say one, --as-of 2026-03-06T19:00:00Z."
        )
    say(
        f"Judged as of {latest.isoformat().replace('+00:00', 'Z')}, the latest time in the two files;"
        " --as-of sets another."
    )
    return latest


def say_rejects(rejects: Sequence[Reject]) -> None:
    """Say on stderr which rows a report without them leaves out."""
    from recon.rules.reports import causes

    lines = causes.lines(rejects)
    for line in lines[:_REJECTS_SAID]:
        say(f"{line.text}.")
    left = sum(line.number for line in lines[_REJECTS_SAID:])
    if left:
        more = "1 more row was" if left == 1 else f"{left:,} more rows were"
        say(f"{more} rejected; recon diff --format json lists them all.")


def say(sentence: str) -> None:
    """Print one sentence to stderr."""
    print(f"recon: {harmless(sentence)}", file=sys.stderr)
