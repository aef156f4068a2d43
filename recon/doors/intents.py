"""Single intent rows, for the guarded tool and whoever writes intents one at a time.

Crowds are read by doors/store/reading.py. Takes a connection, so that the caller says what commits together.
Never loads a frame, never takes back that a refund was done, and writes what is guarded under its fence only.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from recon.model.errors import LeaseLost
from recon.model.guarded import calls, switches
from recon.model.holds import guarded
from recon.model.records.guarded import Asked, Guarded, Outcome, Wanted
from recon.model.records.provider import Intent, Refund
from recon.model.records.words import UNSETTLED, AccountId, IntentKey, IntentStatus, RefundId
from recon.model.tables import intents

COLUMNS = tuple(column.name for column in intents.c if column.name != "mapped")
_SETTLED = (IntentStatus.DONE, IntentStatus.FAILED)
# What a row says of who may send it, and what it was made with, changes by take() or never.
_FIXED = {"account", "key", "tool", "fingerprint", "body", "created_at", "holder", "until", "fence"}
_WRITTEN = tuple(column.name for column in guarded.c if column.name not in _FIXED)
_BESIDE = ("status", "payment", "amount_minor", "currency", "refund_id")


def put(connection: Connection, intent: Intent) -> bool:
    """Write a new intent down; False when its key is known already, and nothing was written."""
    return _added(connection, intents, {name: getattr(intent, name) for name in COLUMNS})


def get(connection: Connection, account: AccountId, key: IntentKey) -> Intent | None:
    """Return the intent of this key; None where there is none."""
    row = connection.execute(
        select(intents).where(intents.c.account == account, intents.c.key == key)
    ).one_or_none()
    return None if row is None else _intent(row)


def of_order(connection: Connection, account: AccountId, order_id: str) -> tuple[Intent, ...]:
    """Return the intents of an order, the newest first."""
    query = select(intents).where(intents.c.account == account, intents.c.order_id == order_id)
    return tuple(map(_intent, connection.execute(query.order_by(intents.c.created_at.desc(), intents.c.key))))


def settle(
    connection: Connection,
    intent: Intent,
    *,
    expected: Iterable[IntentStatus],
) -> bool:
    """Write status, refund_id, first_sent_at and updated_at of an intent whose status is one of expected.

    Returns:
        False when it is another: somebody was faster, and nothing was written. A done intent stays done.
    """
    unsettled = [status for status in expected if status is not IntentStatus.DONE]
    found = connection.execute(
        update(intents)
        .where(intents.c.account == intent.account, intents.c.key == intent.key)
        .where(intents.c.status.in_(unsettled))
        .values(
            status=intent.status,
            refund_id=intent.refund_id,
            first_sent_at=intent.first_sent_at,
            updated_at=intent.updated_at,
        )
    )
    return found.rowcount == 1


def enter(
    connection: Connection, wanted: Wanted, holder: str, *, now: datetime, until: datetime
) -> tuple[Guarded, bool]:
    """Return what is known of a side effect, written down now where nothing was, and whether holder may act.

    until: when its lease lapses. Settled effects are nobody's to act on.
    """
    row = read(connection, wanted.account, wanted.key)
    if row is None:
        if _open(connection, wanted, holder, now=now, until=until):
            row = read(connection, wanted.account, wanted.key)
            assert row is not None, f"{wanted.key} was written in this transaction"
            return row, row.status not in _SETTLED
        row = read(connection, wanted.account, wanted.key)  # Another call of the same intent was first.
        assert row is not None, f"{wanted.key} was taken a moment ago"
    taken = take(connection, row, holder, now=now, until=until)
    return (row, False) if taken is None else (taken, True)


def read(connection: Connection, account: AccountId, key: IntentKey) -> Guarded | None:
    """Return what is known of one side effect; None where there is none."""
    return next(
        (
            _guarded(row)
            for row in connection.execute(_both().where(guarded.c.account == account, guarded.c.key == key))
        ),
        None,
    )


def take(
    connection: Connection, row: Guarded, holder: str, *, now: datetime, until: datetime
) -> Guarded | None:
    """Return the row under a lease and a fence of its own; None where another holds it, or it is settled."""
    if row.status in _SETTLED:
        return None
    fence = connection.scalar(
        update(guarded)
        .where(guarded.c.account == row.account, guarded.c.key == row.key, guarded.c.until <= now)
        .values(holder=holder, until=until, fence=guarded.c.fence + 1)
        .returning(guarded.c.fence)
    )
    if fence is None:
        return None
    found = read(connection, row.account, row.key)  # As it is now that nobody else may change it.
    assert found is not None, f"{row.key} was taken in this transaction"
    return found


def write(connection: Connection, row: Guarded, *, release: datetime | None = None) -> None:
    """Write what became of a side effect, its intent included, under the fence that the row names.

    release: the time at which the lease is given back; None keeps it.

    Raises:
        LeaseLost: somebody took it over, or settled its intent meanwhile: leave the transaction.
    """
    values: dict[str, Any] = {name: getattr(row, name) for name in _WRITTEN}
    if release is not None:
        values |= {"until": release}
    if connection.execute(update(guarded).where(_own(row)).values(values)).rowcount != 1:
        raise _lost(row)
    became: dict[str, Any] = {"status": row.status, "first_sent_at": row.first_sent_at}
    if row.result_id is not None:
        became |= {"refund_id": row.result_id}
    # One look-up more is no news of the intent.
    news = or_(*(intents.c[name].is_distinct_from(value) for name, value in became.items()))
    mine = (intents.c.account == row.account) & (intents.c.key == row.key)
    changed = connection.execute(
        update(intents)
        .where(mine, news, intents.c.status.in_([*UNSETTLED, IntentStatus.CANCELLED]))
        .values(became | {"updated_at": row.updated_at})
    )
    if changed.rowcount == 0 and connection.scalar(select(intents.c.key).where(mine, news)) is not None:
        raise _lost(row)


def release(connection: Connection, row: Guarded, at: datetime) -> None:
    """Give the lease back; nothing where another has taken it already."""
    connection.execute(update(guarded).where(_own(row)).values(until=at))


def blocked(connection: Connection, row: Guarded) -> IntentKey | None:
    """Return an intent on the same payment that was sent and is unsettled; None where there is none.

    Until this transaction ends no other one learns about the same payment.
    """
    if row.payment is None:
        return None
    if connection.dialect.name == "postgresql":  # On SQLite the transaction has locked everything.
        name = f"recon payment {row.account} {row.payment}"
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))
    found = connection.scalar(
        select(intents.c.key)
        .where(intents.c.account == row.account, intents.c.payment == row.payment, intents.c.key != row.key)
        .where(intents.c.first_sent_at.is_not(None), intents.c.status.in_(UNSETTLED))
        .limit(1)
    )
    return None if found is None else IntentKey(found)


def switched_off(connection: Connection, tool: str, row: Guarded | None = None) -> bool:
    """Return whether a tool's kill switch is thrown, or that of the tool under which a row was begun."""
    names = switches.c.tool == tool
    if row is not None:
        begun = select(guarded.c.tool).where(guarded.c.account == row.account, guarded.c.key == row.key)
        names = or_(names, switches.c.tool.in_(begun))
    return connection.scalar(select(switches.c.tool).where(switches.c.thrown, names)) is not None


def due(connection: Connection, tools: Iterable[str], *, now: datetime, limit: int) -> tuple[Guarded, ...]:
    """Return unsettled side effects that nobody acts on and whose time for a sweep has come, oldest first."""
    query = (
        _both()
        .where(guarded.c.tool.in_(tools))
        .where(guarded.c.status.in_(UNSETTLED), guarded.c.next_at <= now, guarded.c.until <= now)
        .order_by(guarded.c.next_at, guarded.c.account, guarded.c.key)
        .limit(limit)
    )
    return tuple(map(_guarded, connection.execute(query)))


def follow(connection: Connection) -> int:
    """Take over what runs and people settled, so that no sweep looks for it; return how many there were."""
    same = (intents.c.account == guarded.c.account) & (intents.c.key == guarded.c.key)
    settled = select(intents.c.status).where(same, intents.c.status.in_(_SETTLED)).scalar_subquery()
    return connection.execute(
        update(guarded).where(guarded.c.status.in_(UNSETTLED), settled.is_not(None)).values(status=settled)
    ).rowcount


def strangers(connection: Connection, refunds: Iterable[Refund]) -> tuple[Refund, ...]:
    """Return those of an account's refunds that no intent of ours asked for, by key or by id."""
    listed = tuple(refunds)
    names = {each.intent_key for each in listed} | {each.request_key for each in listed}
    found = connection.execute(
        select(intents.c.key, intents.c.refund_id)
        .where(intents.c.account.in_({each.account for each in listed}))
        .where(or_(intents.c.key.in_(names - {None}), intents.c.refund_id.in_({each.id for each in listed})))
    ).all()
    keys, ids = {key for key, _ in found}, {refund_id for _, refund_id in found}
    return tuple(
        each
        for each in listed
        if each.id not in ids and each.intent_key not in keys and each.request_key not in keys
    )


def note_call(connection: Connection, wanted: Wanted, asked: Asked, at: datetime) -> int:
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
    number = connection.scalar(insert(calls).values(values).returning(calls.c.number))
    assert number is not None, "the database counts calls"
    return int(number)


def note_answer(connection: Connection, number: int, outcome: Outcome, at: datetime) -> None:
    """Write down what a call was told."""
    connection.execute(
        update(calls).where(calls.c.number == number).values(answered_at=at, answer=outcome.status)
    )


def _open(connection: Connection, wanted: Wanted, holder: str, *, now: datetime, until: datetime) -> bool:
    """Write a side effect down, leased; False when its key is known already.

    An intent of that key that somebody else wrote keeps what it says, and counts as sent: who knows. One that
    was cancelled counts as sent where it says so.
    """
    first = None
    known = wanted.intent
    if known is not None and not put(connection, known):
        known = get(connection, wanted.account, wanted.key)
        assert known is not None, f"{wanted.key} was taken a moment ago"
        unsent = None if known.status is IntentStatus.CANCELLED else known.created_at
        first = known.first_sent_at or unsent
    values = {
        "account": wanted.account,
        "key": wanted.key,
        "tool": wanted.tool,
        "status": IntentStatus.PENDING if known is None else known.status,
        "fingerprint": dict(wanted.fingerprint),
        "body": dict(wanted.body),
        "result_id": None if known is None else known.refund_id,
        "created_at": now,
        "updated_at": now,
        "first_sent_at": first,
        "sent_at": first,
        "sends": int(first is not None),
        "misses": 0,
        "next_at": until,
        "holder": holder,
        "until": until,
        "fence": 1,
    }
    return _added(connection, guarded, values)


def _added(connection: Connection, table: Table, values: Mapping[str, object]) -> bool:
    """Insert a row; False when its key is taken, by another call that was first, and nothing was written."""
    adding = (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(table).values(values)
    return connection.scalar(adding.on_conflict_do_nothing().returning(table.c.key)) is not None


def _own(row: Guarded) -> ColumnElement[bool]:
    return (guarded.c.account == row.account) & (guarded.c.key == row.key) & (guarded.c.fence == row.fence)


def _lost(row: Guarded) -> LeaseLost:
    return LeaseLost(
        f"Expected {row.key} to be unsettled under fence {row.fence}, found that another call, run or person "
        "was faster."
    )


def _both() -> Select[Any]:
    """Return what selects guarded rows beside their intents, which runs and people settle as well."""
    same = (intents.c.account == guarded.c.account) & (intents.c.key == guarded.c.key)
    return select(guarded, *(intents.c[name].label(f"intent_{name}") for name in _BESIDE)).outerjoin(
        intents, same
    )


def _guarded(row: Row[Any]) -> Guarded:
    fingerprint: Mapping[str, str] = row.fingerprint
    if row.intent_status is not None:  # What the key came with is the intent's to say, whoever wrote it.
        theirs = {name: getattr(row, f"intent_{name}") for name in ("amount_minor", "currency", "payment")}
        fingerprint = {name: str(value) for name, value in theirs.items()}
    return Guarded(
        account=AccountId(row.account),
        key=IntentKey(row.key),
        tool=row.tool,
        status=IntentStatus(row.intent_status or row.status),
        fingerprint=fingerprint,
        body=row.body,
        created_at=row.created_at,
        updated_at=row.updated_at,
        next_at=row.next_at,
        until=row.until,
        payment=row.intent_payment,
        result_id=row.intent_refund_id or row.result_id,
        first_sent_at=row.first_sent_at,
        sent_at=row.sent_at,
        sends=row.sends,
        misses=row.misses,
        missed_at=row.missed_at,
        refusal=row.refusal,
        holder=row.holder,
        fence=row.fence,
    )


def _intent(row: Row[tuple[str | int | datetime | bool | None, ...]]) -> Intent:
    return Intent(
        key=IntentKey(row.key),
        account=AccountId(row.account),
        amount_minor=row.amount_minor,
        currency=row.currency,
        status=IntentStatus(row.status),
        created_at=row.created_at,
        updated_at=row.updated_at,
        order_id=row.order_id,
        reference=row.reference,
        payment=row.payment,
        refund_id=None if row.refund_id is None else RefundId(row.refund_id),
        first_sent_at=row.first_sent_at,
        tool=row.tool,
        team=row.team,
        customer_id=row.customer_id,
    )
