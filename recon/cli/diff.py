"""`recon diff`: two files in, what disagrees between them out; no configuration and no database."""

import glob
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli import exits, progress, sides
from recon.model import mapping
from recon.model.errors import ConfigurationError, UnusableInput
from recon.model.records.results import Result
from recon.model.records.words import Verdict

if TYPE_CHECKING:
    from recon.model.records.comparisons import Comparison, Earlier
    from recon.model.records.reports import Report

_NARROWEST = 40  # Columns that a table needs; a terminal that claims to have fewer, or none, gets these.


class Format(StrEnum):
    """How the result is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    HTML = "html"
    XLSX = "xlsx"


_FOR_PEOPLE = (Format.TABLE, Format.HTML, Format.XLSX)  # They say more than the result.

HowWritten = Annotated[Format, typer.Option("--format", help="How to write the result.")]
Output = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the report to this file, whole or not at all.")
]
Compare = Annotated[
    Path | None,
    typer.Option(
        metavar="OLD.json", help="A former report in JSON: say what is new since, and what is gone."
    ),
]
Zone = Annotated[
    str, typer.Option(metavar="ZONE", help="Of the times in --format html, such as Europe/Berlin.")
]


@dataclass(frozen=True, slots=True)
class _How:
    """How the report is written, and where to; the zone's name and itself."""

    format: Format
    output: Path | None
    zone: tuple[str, tzinfo]


def diff(
    intents: sides.IntentsFile,
    refunds: sides.RefundsFile,
    *,
    as_of: sides.AsOf = None,
    format_: HowWritten = Format.TABLE,
    output: Output = None,
    columns: sides.Columns = None,
    more_intents: sides.MoreIntents = None,
    more_refunds: sides.MoreRefunds = None,
    intents_format: sides.IntentsFormat = None,
    refunds_format: sides.RefundsFormat = None,
    incomplete: sides.Incomplete = None,
    refunds_from: sides.RefundsFrom = None,
    intents_from: sides.IntentsFrom = None,
    policy: sides.PolicyFile = None,
    compare: Compare = None,
    zone: Zone = "UTC",
) -> None:
    """Compare intents with refunds from two files, and say what disagrees.

    Exit 0: nothing disagrees.
    Exit 1: there are mismatches.
    Exit 2: the input or an argument cannot be used.
    Exit 3: rows were rejected, or a side was not read completely.
    """
    told = sides.told(
        (intents, more_intents, intents_format),
        (refunds, more_refunds, refunds_format),
        columns=columns,
        as_of=as_of,
        incomplete=incomplete,
        refunds_from=refunds_from,
        intents_from=intents_from,
        policy=policy,
    )
    how = _how(format_, output, zone)
    _spare(output, [*told.intents, *told.refunds, *(str(each) for each in (columns, policy) if each)])
    raise typer.Exit(exit_code(_reported(told, how, _earlier(compare))))


def exit_code(result: Result) -> int:
    """Return 3 for an incomplete result or one with rejected rows, else 1 for mismatches, else 0."""
    if result.verdict == Verdict.INCOMPLETE or result.rejected:
        return exits.INCOMPLETE
    return exits.FOUND if result.mismatches else exits.OK


def _reported(told: sides.Told, how: _How, earlier: "Earlier | None") -> Result:
    """Read, compare and report; return the result."""
    with progress.patient() as doing:
        read = sides.read(told, doing)
        report = _report(read, told, how, doing)
        if earlier is not None:
            report = replace(report, comparison=_compared(earlier, report.result, read))
        for sentence in (*report.hints, *(report.result.incomplete or _uncovered(report.result, how.format))):
            sides.say(sentence)
        doing("Writing the report")
        written = _written(report, how.format, to_file=how.output is not None)
    _deliver(written, report.result, how)
    return report.result


def _on_a_terminal() -> bool:
    """Return whether a person would see what is written to standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


def _how(format_: Format, output: Path | None, zone: str) -> _How:
    """Return how the report is written.

    Raises:
        ConfigurationError: there is no such zone, or nobody could read it there. Nothing was read.
    """
    if format_ is Format.XLSX and output is None and _on_a_terminal():
        raise ConfigurationError("A spreadsheet is not for a terminal: say --output FILE.xlsx, or pipe it.")
    return _How(format_, output, (zone, _zone(zone)))


def _spare(output: Path | None, named: Sequence[str]) -> None:
    """Raise where a report would take the place of a file that is read for it; named: paths and patterns.

    Raises:
        ConfigurationError: it would. Nothing was read.
    """
    if output is None or not output.is_file():  # What is no file is written to, never replaced.
        return
    paths = [path for each in named for path in (each, *glob.glob(each, recursive=True))]  # noqa: PTH207 - a pattern may be absolute.
    if any(os.path.exists(path) and output.samefile(path) for path in paths):  # noqa: PTH110 - a name may be too long for a Path.
        raise ConfigurationError(f"--output names {output}, which is read for the report: name another file.")


def _zone(name: str) -> tzinfo:
    """Return a zone by its name.

    Raises:
        ConfigurationError: there is none of that name on this machine.
    """
    try:
        return mapping.zone_of(name)
    except ValueError:
        raise ConfigurationError(
            f"--zone must be the name of a time zone, such as UTC or Europe/Berlin; found {name[:40]!r}."
        ) from None


def _earlier(compare: Path | None) -> "Earlier | None":
    if compare is None:
        return None
    from recon.doors import outputs

    return outputs.read_former(compare)


def _compared(earlier: "Earlier", result: Result, read: sides.Both) -> "Comparison":
    from recon.model import formers
    from recon.rules import comparing

    formers.check_order(earlier, result.as_of)
    return comparing.compare(earlier, result, comparing.rows(earlier, read.intents, read.refunds))


def _uncovered(result: Result, format_: Format) -> tuple[str, ...]:
    """Return what to say where the options' times alone kept something from being judged."""
    if result.verdict != Verdict.INCOMPLETE:
        return ()
    where = "see withheld" if format_ in _FOR_PEOPLE else "--format xlsx lists it"
    return (f"Some of it is older than what the other file holds, and was not judged: {where}.",)


def _report(read: sides.Both, told: sides.Told, how: _How, doing: progress.Doing) -> "Report":
    """Return the diff of both sides, and what a report of that format says beside it."""
    from recon.rules import hints, linking
    from recon.rules.mismatches import finding
    from recon.rules.reports import matters

    doing(f"Comparing {len(read.intents.frame):,} intents with {len(read.refunds.frame):,} refunds")
    links = linking.link(read.intents.frame, read.refunds.frame, told.policy)
    result = finding.find(
        read.intents, read.refunds, links, policy=told.policy, coverage=told.coverage, as_of=read.as_of
    )
    report = matters.gather(
        result,
        read.intents,
        read.refunds,
        links,
        sources=read.sources,
        policy=told.policy,
        policy_from=told.policy_from,
        coverage=told.coverage,
        zone=how.zone,
    )
    sources = read.intents.sources, read.refunds.sources
    said = hints.find(result, read.intents, read.refunds, sources=sources, policy=told.policy)
    report = replace(report, hints=said)
    if how.format in _FOR_PEOPLE:
        return matters.for_people(report, read.intents, read.refunds, links)
    return report


def _written(report: "Report", format_: Format, *, to_file: bool) -> str | bytes:
    """Return the report as it is written; what it leaves out of the rejected rows is said."""
    from recon.rules.reports import documents, listings

    if format_ == Format.JSON:
        return documents.json_text(report.result, report.comparison)
    if format_ == Format.CSV:
        sides.say_rejects(report.result.rejected)
        return listings.as_csv(report.result, report.comparison)
    if format_ == Format.HTML:
        from recon.rules.reports import pages

        return pages.as_html(report)
    if format_ == Format.XLSX:
        from recon.rules.reports import workbooks

        return workbooks.as_xlsx(report)
    from recon.rules.reports import screens

    return screens.table_text(report) if to_file else _for_terminal(report)


def _for_terminal(report: "Report") -> str:
    """Return the table as wide and as colorful as stdout shows it."""
    from rich.console import Console

    from recon.rules.reports import screens

    stdout, page = Console(), io.StringIO()
    width = max(stdout.width, _NARROWEST)
    console = Console(file=page, width=width, force_terminal=stdout.is_terminal, highlight=False)
    console.print(screens.as_table(report))
    return page.getvalue()


def _deliver(written: str | bytes, result: Result, how: _How) -> None:
    """Write the report to stdout or a file."""
    if how.output is None:
        _print(written, programs_read_it=how.format != Format.TABLE)
        return
    from recon.doors import outputs

    outputs.write(how.output, written)
    sides.say(f"{result.verdict}: written to {how.output}.")


def _print(written: str | bytes, *, programs_read_it: bool) -> None:
    """Print a report, what programs read in UTF-8 and the rest in whatever stdout is.

    Raises:
        UnusableInput: stdout is closed, or takes no more.
    """
    try:
        if isinstance(written, bytes):
            sys.stdout.buffer.write(written)
            sys.stdout.flush()
            return
        if isinstance(sys.stdout, io.TextIOWrapper):
            encoding = "utf-8" if programs_read_it else None
            sys.stdout.reconfigure(encoding=encoding, errors="strict" if programs_read_it else "replace")
        sys.stdout.write(written)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (AttributeError, OSError) as error:  # Closed by the shell, a full disk.
        if sys.stdout is not None:  # Python would try to flush it once more on its way out, and complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = error.strerror if isinstance(error, OSError) else "it is closed"
        raise UnusableInput(f"The report cannot be written to standard output: {reason}.") from None
