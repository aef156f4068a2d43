"""What the guarded tools were asked and told: written one by one, and read back for alert, page and command.

What a person concluded is written beside it, and is no call. Goes by the indexes on times. Never decides what
a call is told.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, select, update

from recon.doors.store.engines import Database
from recon.model.guarded import CONCLUDED, calls, switches
from recon.model.holds import guarded
from recon.model.records.guarded import Asked, Guarded, Outcome, OutcomeStatus, Wanted
from recon.model.records.tools import ToolCall
from recon.model.records.words import AccountId, IntentKey
from recon.model.tables import intents

OF_INTENT = 100  # Calls that one page shows of an intent: the worst retries known came to eighteen.
LIMIT = 50_000  # Calls in one reading: more in a day than any shop refunds, and some 50 MB.
# Made once, because making a statement takes longer than running it.
_ASK = insert(calls).returning(calls.c.number)
_ANSWER = update(calls).where(calls.c.number == bindparam("of_number"))


def note(connection: Connection, wanted: Wanted, asked: Asked, at: datetime) -> int:
    """Write down that somebody asked, and return the call's number."""
    values = {
        "account": wanted.account,
        "intent_key": wanted.key,
        "tool": wanted.tool,
        "call_id": asked.call_id,
        "caller": asked.caller,
        "asked_at": at,
        "asked": {**(asked.words or {}), **wanted.fingerprint},
    }
    number = connection.scalar(_ASK, values)
    assert number is not None, "the database counts calls"
    return int(number)


def note_answer(connection: Connection, number: int, outcome: Outcome, at: datetime) -> None:
    """Write down what a call was told."""
    connection.execute(_ANSWER, {"of_number": number, "answered_at": at, "answer": outcome.status})


def note_conclusion(connection: Connection, row: Guarded, by: str, at: datetime) -> None:
    """Write down who said what had become of it. row: as they left it."""
    connection.execute(
        insert(calls).values(
            account=row.account,
            intent_key=row.key,
            tool=row.tool,
            caller=by,
            asked_at=at,
            answered_at=at,
            answer=CONCLUDED,
            asked={"status": row.status, "result_id": row.result_id},
        )
    )


def are_calls() -> ColumnElement[bool]:
    """Return whether somebody asked: no alert and no figure counts a person's word."""
    return calls.c.answer.is_distinct_from(CONCLUDED)


def check(connection: Connection) -> None:
    """Return if every table that a guarded call reads or writes is there, as this version has it."""
    for table in (guarded, intents, calls, switches):
        connection.execute(select(table).limit(0))


def since(
    database: Database, at: datetime, *, tool: str | None = None, limit: int = LIMIT
) -> tuple[tuple[ToolCall, ...], datetime]:
    """Return the calls from a time on, oldest first, and from when on they are all of them.

    tool: None is every tool. Of more than the limit the latest are returned; then the time is later.
    """
    columns = calls.c
    query = select(calls).where(columns.asked_at >= at, are_calls())
    query = query.order_by(columns.asked_at.desc(), columns.number.desc()).limit(limit + 1)
    if tool is not None:
        query = query.where(columns.tool == tool)
    with database.read() as connection:
        found = [_record(row) for row in connection.execute(query).mappings()]
    whole = len(found) <= limit
    kept = tuple(reversed(found[:limit]))
    return kept, at if whole else found[limit].asked_at + timedelta(microseconds=1)


def of(connection: Connection, account: AccountId, key: IntentKey) -> tuple[tuple[ToolCall, ...], int]:
    """Return the first calls for an intent, oldest first, and how many there were in all."""
    of_intent = (calls.c.account == account) & (calls.c.intent_key == key)
    first = select(calls).where(of_intent).order_by(calls.c.number).limit(OF_INTENT)
    number = connection.scalar(select(func.count()).select_from(calls).where(of_intent)) or 0
    return tuple(map(_record, connection.execute(first).mappings())), number


def was(connection: Connection, account: AccountId, key: IntentKey, answer: OutcomeStatus) -> bool:
    """Return whether any call for an intent was told this."""
    told = (calls.c.account == account) & (calls.c.intent_key == key) & (calls.c.answer == answer)
    return connection.scalar(select(calls.c.number).where(told).limit(1)) is not None


def asked(database: Database, tool: str) -> bool:
    """Return whether anybody ever called a tool of this name."""
    query = select(calls.c.number).where(calls.c.tool == tool).limit(1)
    with database.read() as connection:
        return connection.scalar(query) is not None


def _record(row: Mapping[Any, Any]) -> ToolCall:
    return ToolCall(
        number=row["number"],
        account=AccountId(row["account"]),
        key=IntentKey(row["intent_key"]),
        tool=row["tool"],
        asked_at=row["asked_at"],
        asked=row["asked"] if isinstance(row["asked"], dict) else {},  # Whatever somebody else wrote there.
        caller=row["caller"],
        call_id=row["call_id"],
        answer=row["answer"],
    )
