"""`recon guard`: what nobody knows of guarded calls, and how long they take, and the limits that follow."""

from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli import books, effect, unknowns
from recon.cli.options import Format, Output
from recon.model.characters import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from recon.model.records.latencies import Limits, Proposal, Spread, ToolTimes

app = typer.Typer(
    name="guard",
    help="Look after the guarded calls: what nobody knows of them, how long they take.",
    no_args_is_help=True,
)
_DAYS = 30
_AGENTS_SECONDS = 30  # As recon.toml has it.
_HEADS = ("tool", "", "number", "p50", "p95", "p99", "longest")


app.command("unknown")(unknowns.unknown)
app.command("conclude")(unknowns.conclude)
app.command("show")(effect.show)


@app.callback()
def group() -> None:
    """Look after the guarded calls: what nobody knows of them, how long they take."""


@app.command()
def latency(
    days: Annotated[
        int, typer.Option(min=1, max=366, help="How many days back calls are looked at.")
    ] = _DAYS,
    tool: Annotated[
        str | None, typer.Option(metavar="NAME", help="One tool alone; else every tool that was called.")
    ] = None,
    output: Output = Format.TABLE,
) -> None:
    """Say how long recorded calls took, and propose the time limits of the guard, ready for recon.toml.

    A call is timed from when it was asked until it was told, waiting and
    look-ups included; a send from just before it is committed until its
    answer is known. The limits follow from the 99th percentile of sends:
    twice that for a send, as much again for a look-up after it, and a lease
    that outlasts both. From fewer than 200 sends nothing is proposed, and the
    limits in force are printed. Nothing is written: paste what you want.

    Exit 0: they were printed, or there were no calls yet.
    Exit 2: there is no database yet, or an option cannot be used.
    """
    from datetime import UTC, datetime, timedelta

    from recon.doors import config
    from recon.doors.store import latencies as recorded
    from recon.rules import latencies

    settings = config.load()
    until = datetime.now(UTC)
    with books.opened(settings) as database:
        calls, since = recorded.since(database, until - timedelta(days=days), tool=tool)
    times = latencies.by_tool(calls)
    found = latencies.proposal(times, settings.guard)
    now = latencies.limits(settings.guard)
    if output is Format.JSON:
        print(_json(times, found, now, since=since, until=until))
        return
    nobody = "No guarded tool was" if tool is None else f"{harmless(tool)} was not"
    for line in _lines(times, found, now, nobody=nobody, since=since, until=until):
        print(line)


def _lines(
    times: "Sequence[ToolTimes]",
    found: "Proposal",
    now: "Limits",
    *,
    nobody: str,
    since: "datetime",
    until: "datetime",
) -> "Iterator[str]":
    """Yield what a person reads: what was measured, why this follows, and the lines to paste."""
    from recon.model.phrases import minute, several

    number = sum(_number(each) for each in times)
    window = f"from {minute(since)} to {minute(until)}"
    if not number:
        yield f"{nobody} called {window}."
    else:
        yield f"{several(number, 'call')} {window}."
        yield ""
        yield from _table(times)
        yield ""
        yield "Calls: from asked to told. Sends: from just before the commit to the answer."
        yield from _remarks(times)
    yield ""
    yield from _because(times, found)
    yield ""
    yield "[guard]"
    for name, value, before in _settings(found.limits, now):
        yield f"{name} = {value:g}" + ("" if value == before else f"  # now {before:g}")


def _because(times: "Sequence[ToolTimes]", found: "Proposal") -> "Iterator[str]":
    from recon.rules.latencies import FEWEST

    if found.tool is None:
        most = max((each.sent.number for each in times if each.sent is not None), default=0)
        yield f"Too few to propose anything: {FEWEST} sends of one tool are needed, and there are {most}."
        yield "These are the limits in force:"
    elif found.kept:
        yield "One send in a hundred or more had no answer in time: shorter limits would lose more of them."
        yield "Find out why first. These are the limits in force:"
    else:
        yield f"Proposed, from the sends of {harmless(found.tool)}:"
        if found.limits.deadline_seconds >= _AGENTS_SECONDS:
            yield (
                f"Let whoever calls wait longer than {found.limits.deadline_seconds:g} seconds: many agents "
                f"give up after {_AGENTS_SECONDS}."
            )


def _table(times: "Iterable[ToolTimes]") -> "Iterator[str]":
    rows = [_HEADS, *(row for each in times for row in _rows(each))]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEADS))]
    for row in rows:
        names, numbers = zip(row[:2], widths[:2], strict=True), zip(row[2:], widths[2:], strict=True)
        cells = [name.ljust(width) for name, width in names]
        yield "  ".join([*cells, *(number.rjust(width) for number, width in numbers)]).rstrip()


def _rows(times: "ToolTimes") -> "Iterator[tuple[str, ...]]":
    yield (harmless(times.tool), "calls", *_cells(times.waited))
    yield ("", "sends", *_cells(times.sent))


def _cells(spread: "Spread | None") -> tuple[str, ...]:
    if spread is None:
        return ("0", *"-" * 4)
    seconds = (spread.p50, spread.p95, spread.p99, spread.longest)
    return (f"{spread.number:,}", *(f"{each:.2f} s" for each in seconds))


def _remarks(times: "Sequence[ToolTimes]") -> "Iterator[str]":
    """Yield what the table does not show."""
    from recon.model.phrases import several

    unknown, untold, odd = (
        sum(getattr(each, name) for each in times) for name in ("unknown", "untold", "odd")
    )
    if unknown:
        yield f"{several(unknown, 'call')} ended with nobody knowing yet."
    if untold:
        yield f"{several(untold, 'call')} told nobody anything: under way, or the process died."
    if odd:
        yield f"{several(odd, 'call')} left out, told before it was asked by clocks that were set."


def _number(times: "ToolTimes") -> int:
    told = 0 if times.waited is None else times.waited.number
    return told + times.untold + times.odd


def _settings(proposed: "Limits", now: "Limits") -> "Iterator[tuple[str, float, float]]":
    for name in ("send_timeout_seconds", "deadline_seconds", "lease_seconds"):
        yield name, getattr(proposed, name), getattr(now, name)


def _json(
    times: "Sequence[ToolTimes]", found: "Proposal", now: "Limits", *, since: "datetime", until: "datetime"
) -> str:
    import json
    from dataclasses import asdict

    from recon.model.phrases import iso

    value: Mapping[str, object] = {
        "from": iso(since),
        "to": iso(until),
        "calls": sum(_number(each) for each in times),
        "tools": [{"calls": _number(each), **asdict(each)} for each in times],
        "now": asdict(now),
        "proposed": None if found.tool is None or found.kept else asdict(found.limits),
        "decided_by": found.tool,
        "kept": found.kept,
    }
    return json.dumps(value, indent=2, ensure_ascii=False)
