"""`recon guard show`: one guarded effect, everybody who asked for it, and what a person concluded.

Never sends or looks anything up, and never shows what was asked or sent: that may be somebody's letter.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli import books
from recon.cli.options import Format, Output
from recon.cli.unknowns import COMMAND
from recon.model.characters import harmless
from recon.model.errors import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recon.model.records.guarded import Guarded
    from recon.model.records.tools import ToolCall

_LONGEST = 120  # Characters of one field for people; JSON has them all.


def show(
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="The effect's key, as recon guard unknown has it.")
    ],
    *,
    account: Annotated[
        str, typer.Option(metavar="ACCOUNT", help="The account that it was asked for; else the only one.")
    ] = "",
    output: Output = Format.TABLE,
) -> None:
    """Show how one guarded effect stands, who asked for it and was told what, and who concluded it.

    What was asked for and sent is not shown.

    Exit 0: it was printed.
    Exit 2: there is no such effect, or no database yet.
    Exit 3: the database is away.
    """
    from recon.doors import config, intents
    from recon.doors.store import calls
    from recon.model.records.words import AccountId, IntentKey

    of, named = AccountId(account), IntentKey(key)
    with books.opened(config.load()) as database, database.read() as connection:
        row = intents.read(connection, of, named)
        asked, number = calls.of(connection, of, named)
    if row is None:
        raise Report(f"Expected the key of a guarded effect, found none of {key[:_LONGEST]}: see {COMMAND}.")
    if output is Format.JSON:
        print(_json(row, asked, number))
        return
    for line in _lines(row, asked, number):
        print(harmless(line))


def _lines(row: "Guarded", asked: "tuple[ToolCall, ...]", number: int) -> "Iterator[str]":
    """Yield what a person reads: how it stands, then what happened to it, the oldest first."""
    from recon.model.phrases import in_full, second, several

    yield f"{row.tool}  {row.key}"
    if row.account:
        yield f"  account     {in_full(row.account)}"
    yield f"  stands      {_stands(row)}"
    if row.refusal:
        yield f"  said        {row.refusal[:_LONGEST]}"
    if row.first_sent_at is not None:
        yield f"  first sent  {second(row.first_sent_at)}"
    if row.sent_at != row.first_sent_at and row.sent_at is not None:
        yield f"  last sent   {second(row.sent_at)}"
    first = f", of which the first {len(asked):,} follow" if len(asked) < number else ""
    yield f"  asked       {several(number, 'entry', 'entries')}{first}"
    for each in asked:
        yield f"    {second(each.asked_at)}  {_entry(each)}"


def _stands(row: "Guarded") -> str:
    from recon.model.records.words import IntentStatus

    named = f" ({row.result_id})" if row.result_id else ""
    if row.status is IntentStatus.DONE:
        return f"done{named}"
    if row.status is IntentStatus.FAILED:
        return f"not done, and never sent again{named}"
    if row.first_sent_at is None:
        return "never sent"
    return "cancelled: nothing came of it" if row.status is IntentStatus.CANCELLED else "nobody knows"


def _entry(call: "ToolCall") -> str:
    """Return one call, or a person's word."""
    from recon.model.guarded import CONCLUDED

    who = (call.caller or "")[:_LONGEST]
    if call.answer == CONCLUDED:
        done, made = _said(call)
        return f"{who} concluded: {'done' if done else 'not done'}{f' ({made})' if made else ''}"
    named = f"call {call.call_id[:_LONGEST]}" if call.call_id else "a call"
    by = f" of {who}" if who else ""
    return f"{named}{by}, told {call.answer or 'nothing: under way, or its process died'}"


def _said(call: "ToolCall") -> tuple[bool, str | None]:
    """Return whether a person said that it was done, and the id that they gave."""
    from recon.model.records.words import IntentStatus

    made = call.asked.get("result_id")
    return call.asked.get("status") == IntentStatus.DONE, None if made is None else str(made)


def _json(row: "Guarded", asked: "tuple[ToolCall, ...]", number: int) -> str:
    import json

    from recon.model.guarded import CONCLUDED
    from recon.model.phrases import iso

    def entry(call: "ToolCall") -> "Mapping[str, object]":
        concluded = call.answer == CONCLUDED
        done, made = _said(call) if concluded else (None, None)
        return {
            "at": iso(call.asked_at),
            "by": call.caller,
            "call_id": call.call_id,
            "told": None if concluded else call.answer,
            "concluded": concluded,
            "done": done,
            "id": made,
        }

    value: Mapping[str, object] = {
        "tool": row.tool,
        "account": row.account,
        "key": row.key,
        "status": row.status,
        "id": row.result_id,
        "refusal": row.refusal,
        "first_sent_at": None if row.first_sent_at is None else iso(row.first_sent_at),
        "last_sent_at": None if row.sent_at is None else iso(row.sent_at),
        "entries": number,
        "shown": [entry(each) for each in asked],
    }
    return json.dumps(value, indent=2, ensure_ascii=False)
