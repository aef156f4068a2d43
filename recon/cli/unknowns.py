"""`recon guard unknown` and `recon guard conclude`: what nobody knows of, and a person's word on it.

Never sends or looks anything up, and never shows what was sent: that may be somebody's letter.
"""

from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli import books, exits
from recon.cli.options import Format, Output
from recon.model.characters import harmless, keepable
from recon.model.errors import LeaseHeld, Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from recon.doors.store.engines import Database
    from recon.doors.store.unknowns import Unknown
    from recon.model.records.guarded import Guarded
    from recon.model.records.tools import Registry
    from recon.model.records.words import AccountId, IntentKey

COMMAND = "recon guard unknown"  # What other commands name beside a count.
_LONGEST = 80  # Characters of one field for people; JSON has them all.
_WHO = "Who found it out; kept with the time, and nobody checks it."


def unknown(output: Output = Format.TABLE) -> None:
    """List every guarded effect that was sent and of which nobody knows whether it is done, oldest first.

    Each has its tool, its key and the fields that make it, since when nobody
    knows, when it was last heard of, what was said, and how a person
    concludes it. A refund is settled by the hour, or in its case at the desk.
    What was sent is not shown.

    Exit 0: there are none.
    Exit 1: there are some.
    Exit 2: there is no database yet, or tools.toml cannot be used.
    Exit 3: the database is away.
    """
    from datetime import UTC, datetime

    from recon.doors import config
    from recon.doors.store import glance, unknowns
    from recon.model import registry

    settings = config.load()
    declared, now = registry.parse(settings.tools), datetime.now(UTC)
    with books.opened(settings) as database:
        found = unknowns.oldest(database, now=now)
        number = max(len(found), sum(each.number for each in glance.unsettled(database, now=now)))
    desk = settings.dashboard.url
    if output is Format.JSON:
        print(_json([_value(each, declared, now) for each in found], number, now))
    else:
        for line in _lines(found, declared, number=number, now=now, desk=desk):
            print(harmless(line))
    if found:
        raise typer.Exit(exits.FOUND)


def conclude(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool, as recon guard unknown names it.")],
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="The effect's key, as recon guard unknown has it.")
    ],
    *,
    done: Annotated[
        bool,
        typer.Option("--done/--not-done", metavar="", help="Whether you found that it was done, or was not."),
    ],
    by: Annotated[str, typer.Option(metavar="NAME", help=_WHO)],
    made: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The id of what was done, where it has one.")
    ] = None,
    account: Annotated[
        str, typer.Option(metavar="ACCOUNT", help="The account that it was asked for; else the only one.")
    ] = "",
) -> None:
    """Write down what a person found out about an effect of which nobody knew.

    Nothing is sent: later calls are told that it is done, or that it is not
    and a person has it. Look in the world first; it cannot be taken back.
    A refund is not concluded here but in its case at the desk.

    Exit 0: it is written down, or was settled in the same way before.
    Exit 2: there is no such effect, it is a refund, it was never sent, or it is settled in the other way.
    Exit 75: a call or a look-up is at it now.
    """
    from recon import effects
    from recon.doors import config
    from recon.model.records.guarded import Unfit
    from recon.model.records.words import AccountId, IntentKey

    if made is not None and not done:
        raise Report("--id names what was done; expected --done beside it, found --not-done.")
    settings = config.load()
    of, named = AccountId(account), IntentKey(key)
    with books.opened(settings) as database:
        _refuse(database, tool, of, named, settings.dashboard.url)
        row = effects.conclude(database, tool, of, named, done=done, by=by, result_id=made)
    if isinstance(row, Unfit):
        raise Report(f"{row.reason[0].upper()}{row.reason[1:]}.")
    assert row is not None, f"{key} was there a moment ago"
    print(harmless(_concluded(row, by, done=done)))


def _refuse(database: "Database", tool: str, account: "AccountId", key: "IntentKey", desk: str) -> None:
    """Refuse what a person's word is not for.

    Raises:
        Report: there is no such effect of the tool, or it is a refund. Nothing was written.
    """
    from recon.doors import intents

    with database.read() as connection:
        row = intents.read(connection, account, key)
        is_hourly = intents.get(connection, account, key) is not None
    if row is None or row.tool != tool:
        whose = "none" if row is None else f"one of {row.tool[:_LONGEST]}"
        raise Report(
            f"Expected the key of an effect of {tool[:_LONGEST]}, found {whose}: {COMMAND} lists them."
        )
    if is_hourly:
        raise Report(
            f"{key} is a refund, which the hour compares with the provider's books: it is settled there, or "
            f"by a person in its case at the desk ({desk}). Nothing was written."
        )


def _concluded(row: "Guarded", by: str, *, done: bool) -> str:
    """Return how it stands now, by the word that was given or by an earlier one.

    Raises:
        Report: it was never sent, or is settled in the other way. Nothing was written.
        LeaseHeld: somebody is at it. Nothing was written.
    """
    from recon.model.phrases import clock
    from recon.model.records.words import IntentStatus

    if row.first_sent_at is None:
        raise Report(f"Nothing was ever sent of {row.key}: there is nothing to conclude.")
    if row.status not in {IntentStatus.DONE, IntentStatus.FAILED}:
        raise LeaseHeld(
            f"Expected nobody at {row.key}, found that a call or a look-up is, until {clock(row.until)} at "
            "the latest: nothing was written; look again then."
        )
    stands = "done" if row.status is IntentStatus.DONE else "not done"
    named = f" ({row.result_id})" if row.result_id else ""
    if (row.status is IntentStatus.DONE) is not done:
        raise Report(f"{row.key} is settled already: it is {stands}{named}. Nothing was written.")
    if row.holder != keepable(by):
        return f"{row.key} was settled already: it is {stands}{named}. Nothing was written."
    return f"{row.key} is {stands}{named}, by the word of {by}. Nothing is sent for it again."


def _lines(
    found: "Iterable[Unknown]", declared: "Registry", *, number: int, now: "datetime", desk: str
) -> "Iterator[str]":
    """Yield what a person reads: each effect, and after it how it is concluded."""
    from recon.model.phrases import several

    if not number:
        yield "Nobody needs to look: of every guarded effect that was sent it is known what became of it."
        return
    shown = tuple(found)
    rest = f", of which the oldest {len(shown):,} follow" if len(shown) < number else ""
    yield f"Nobody knows whether {several(number, 'guarded effect')} {_are(number)} done{rest}."
    for each in shown:
        yield ""
        yield from _one(each, declared, now=now, desk=desk)


def _one(each: "Unknown", declared: "Registry", *, now: "datetime", desk: str) -> "Iterator[str]":
    from recon.model.phrases import duration, in_full, minute, several

    yield f"{each.tool}  {each.key}"
    if each.account:
        yield f"  account    {in_full(each.account)}"
    for name, value in _fields(each, declared).items():
        yield f"  {name:<9}  {value if len(value) <= _LONGEST else value[:_LONGEST] + '...'}"
    yield f"  since      {minute(each.since)}, {duration(now - each.since)} ago"
    looks = f"; {several(each.misses, 'whole look-up')} found nothing" if each.misses else ""
    yield f"  last look  {minute(each.heard_at)}{looks}"
    yield f"  said       {'; '.join(_said(each))}"
    if each.hourly:
        yield f"  settle     it is a refund: the hour does, or a person in its case at the desk ({desk})"
    else:
        yield f"  conclude   {_command(each)} --by NAME, with --done [--id ID] or with --not-done"


def _fields(each: "Unknown", declared: "Registry") -> dict[str, str]:
    """Return what makes its key, as it was given; never what was sent."""
    from recon.model import registry

    tool = declared.get(each.tool)
    names: Iterable[str] = (name for name in each.asked if name not in each.prints)
    if tool is not None and tool.key:
        names = tool.key
    elif each.hourly:
        names = registry.undeclared(each.tool).key
    return {name: str(each.asked[name]) for name in names if name in each.asked}


def _said(each: "Unknown") -> "Iterator[str]":
    from recon.model.phrases import several

    if each.refusal is not None:
        yield f"refused: {each.refusal}"
    yield f"{several(each.calls, 'call')}, the latest told {each.told or 'nothing: its process died'}"


def _command(each: "Unknown") -> str:
    whose = f" --account {quote(each.account)}" if each.account else ""
    return f"recon guard conclude {quote(each.tool)} {quote(each.key)}{whose}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _value(each: "Unknown", declared: "Registry", now: "datetime") -> "Mapping[str, object]":
    from recon.model.phrases import iso

    return {
        "tool": each.tool,
        "account": each.account,
        "key": each.key,
        "fields": _fields(each, declared),
        "since": iso(each.since),
        "age_seconds": int((now - each.since).total_seconds()),
        "last_sent_at": iso(each.sent_at),
        "last_look_at": iso(each.heard_at),
        "misses": each.misses,
        "last_miss_at": None if each.missed_at is None else iso(each.missed_at),
        "refusal": each.refusal,
        "calls": each.calls,
        "told": each.told,
        "refund": each.hourly,
        "conclude": None if each.hourly else f"{_command(each)} --by NAME --done|--not-done",
    }


def _json(values: "list[Mapping[str, object]]", number: int, now: "datetime") -> str:
    import json

    from recon.model.phrases import iso

    return json.dumps({"as_of": iso(now), "total": number, "unknown": values}, indent=2)
