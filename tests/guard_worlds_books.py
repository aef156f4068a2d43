"""The books of a small world: the real tables in memory, without the triggers that feed the hour.

Their rows are part of a world's state, but for times that nothing is decided by.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.pool import StaticPool

from recon.model import guarded as guarded_tables
from recon.model import holds, tables
from recon.model.records.guarded import Wanted
from recon.model.records.words import IntentKey, IntentStatus
from tests import guard_worlds_state as states
from tests.builders import NOON, PLATFORM, an_intent
from tests.guard_worlds_provider import PAYMENT
from tests.guard_worlds_state import Places, Row, World

TOOL = "refund_order"


class Books:
    """The real tables in memory, without the triggers that feed the hour."""

    def __init__(self) -> None:
        self._engine = create_engine("sqlite://", poolclass=StaticPool)

        @event.listens_for(self._engine, "connect")
        def prepare(connection: sqlite3.Connection, _: object) -> None:
            connection.isolation_level = None

        @event.listens_for(self._engine, "begin")
        def start(connection: Connection) -> None:
            connection.exec_driver_sql("BEGIN")

        self._tables = (tables.intents, holds.guarded)
        for table in (*self._tables, guarded_tables.switches):
            table.create(self._engine)
        self._raw = cast("sqlite3.Connection", self._engine.raw_connection().driver_connection)
        self._loaded: tuple[tuple[Row, ...], tuple[Row, ...], bool] = ((), (), False)

    def begin(self) -> AbstractContextManager[Connection]:
        """Return a transaction."""
        return self._engine.begin()

    def load(self, world: World) -> None:
        """Let the tables say what they say in that world."""
        told = (world.intents, world.guarded, world.off)
        if told == self._loaded:
            return
        raw = self._raw
        for table, rows in zip(self._tables, told[:2], strict=True):
            raw.execute(f"DELETE FROM {table.name}")  # noqa: S608 -- ours
            marks = ",".join("?" * len(table.c))
            raw.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows)  # noqa: S608 -- ours
        raw.execute("DELETE FROM switches")
        if world.off:
            raw.execute("INSERT INTO switches VALUES (?, 1, 1, '', 0, '', '')", (TOOL,))
        self._loaded = told

    def read(self, world: World) -> World:
        """Return the world with what the tables say now, but for times that nothing is decided by."""
        now = int((NOON.timestamp() + world.time) * 1_000_000)
        intents_now, guarded_now = (
            tuple(self._raw.execute(f"SELECT * FROM {table.name} ORDER BY account, key"))  # noqa: S608 -- ours
            for table in self._tables
        )
        plain = tuple(_plain(row, _IDLE_INTENT, (), now) for row in intents_now)
        held = tuple(_plain(row, _IDLE_GUARDED, _LAPSING, now) for row in guarded_now)
        self._loaded = (intents_now, guarded_now, world.off)
        return replace(world, intents=plain, guarded=held)

    def close(self) -> None:
        """Let it go."""
        self._engine.dispose()


def wanted(order: str, minor: int, reason: str) -> Wanted:
    """Return what a caller wants: an order's refund, of one payment for all orders."""
    key = IntentKey(f"k{order}")
    intent = an_intent(
        key=key,
        order_id=order,
        payment=PAYMENT,
        amount_minor=minor,
        status=IntentStatus.PENDING,
        refund_id=None,
        first_sent_at=None,
    )
    prints = {"amount_minor": str(minor), "currency": "usd", "payment": PAYMENT}
    body = {"amount": minor, "payment_intent": PAYMENT, "metadata": {"intent_key": key}, "reason": reason}
    return Wanted(TOOL, f"refund of order {order}", PLATFORM, key, prints, body, intent)


def shifted(world: World) -> World:
    """Return the world as it is when its clock began now: what is to come is the same."""
    back = int(world.time * 1_000_000)

    def earlier(row: Row, places: Sequence[int]) -> Row:
        moved = list(row)
        for place in places:
            was = moved[place]
            moved[place] = was - back if isinstance(was, int) and was else was
        return tuple(moved)

    return replace(
        states.shifted(world),
        intents=tuple(earlier(each, (PLACES.intent_sent,)) for each in world.intents),
        guarded=tuple(earlier(each, _MOVING) for each in world.guarded),
    )


def sent_at(world: World, key: str) -> float | None:
    """Return when the books of a world say that the first request of a key left; None where none did."""
    row = next((each for each in world.guarded if each[PLACES.key] == key), None)
    sent = None if row is None else row[PLACES.sent]
    return sent / 1_000_000 - NOON.timestamp() if isinstance(sent, int) else None


def _plain(row: Row, idle: Sequence[int], lapsing: Sequence[int], now: int) -> Row:
    values = list(row)
    for place in idle:
        values[place] = 0
    for place in lapsing:  # That it has lapsed is all that counts.
        lapsed = values[place]
        if isinstance(lapsed, int) and lapsed <= now:
            values[place] = 0
    return tuple(values)


def _place(table: Any, name: str) -> int:  # noqa: ANN401 -- a table
    return [column.name for column in table.c].index(name)


PLACES = Places(
    key=_place(holds.guarded, "key"),
    sent=_place(holds.guarded, "first_sent_at"),
    holder=_place(holds.guarded, "holder"),
    until=_place(holds.guarded, "until"),
    next_at=_place(holds.guarded, "next_at"),
    status=_place(holds.guarded, "status"),
    intent_key=_place(tables.intents, "key"),
    intent_status=_place(tables.intents, "status"),
    intent_sent=_place(tables.intents, "first_sent_at"),
)
_IDLE_INTENT = tuple(_place(tables.intents, name) for name in ("created_at", "updated_at"))
_IDLE_GUARDED = tuple(_place(holds.guarded, name) for name in ("created_at", "updated_at"))
_LAPSING = (PLACES.until, PLACES.next_at)
_MOVING = tuple(
    _place(holds.guarded, name) for name in ("first_sent_at", "sent_at", "missed_at", "until", "next_at")
)
