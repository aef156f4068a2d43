"""Single intent rows, for the guarded tool and whoever writes intents one at a time.

Crowds are read by doors/store/reading.py. Takes a connection, so that the caller says what commits together.
Never loads a frame, never takes back that a refund was done, and writes what is guarded under its fence only.

The statements of a call are made once, because making one takes longer than running it.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    Text,
    Update,
    bindparam,
    func,
    literal_column,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from recon.model.errors import LeaseLost
from recon.model.guarded import switches
from recon.model.holds import SAME, guarded
from recon.model.records.guarded import Guarded, Wanted
from recon.model.records.provider import Intent
from recon.model.records.words import UNSETTLED, AccountId, IntentKey, IntentStatus, RefundId
from recon.model.tables import intents

COLUMNS = tuple(column.name for column in intents.c if column.name != "mapped")
_SETTLED = (IntentStatus.DONE, IntentStatus.FAILED)
# What a row says of who may send it, and what it was made with, changes by take() or never.
_FIXED = {"account", "key", "tool", "fingerprint", "body", "created_at", "holder", "until", "fence"}
_WRITTEN = tuple(column.name for column in guarded.c if column.name not in _FIXED)


class _Beside(NamedTuple):
    """What a guarded row's intent says of it."""

    status: str | None  # None where it has no intent.
    payment: str | None
    amount_minor: int | None
    currency: str | None
    refund_id: str | None


def _is(table: Table) -> ColumnElement[bool]:
    """Return whether a row is that of an account and a key, as _named has them."""
    return (table.c.account == bindparam("of_account")) & (table.c.key == bindparam("of_key"))


def _unsettled(table: Table) -> ColumnElement[bool]:
    """Return whether a row is unsettled, in the words of the index on those few, which SQLite looks for."""
    return table.c.status.in_([literal_column(f"'{word}'") for word in UNSETTLED])


def _both() -> Select[Any]:
    """Return what selects guarded rows beside their intents, which runs and people settle as well."""
    beside = (intents.c[name].label(f"intent_{name}") for name in _Beside._fields)
    return select(guarded, *beside).outerjoin(intents, SAME)


def _becoming(names: Iterable[str]) -> tuple[Update, Select[Any]]:
    """Return what changes an intent where one of these is news, and what finds one where it is."""
    # One look-up more is no news of the intent.
    news = or_(*(intents.c[name].is_distinct_from(bindparam(f"to_{name}")) for name in names))
    may = or_(_unsettled(intents), intents.c.status == literal_column(f"'{IntentStatus.CANCELLED}'"))
    values: dict[str, Any] = {name: bindparam(f"to_{name}") for name in (*names, "updated_at")}
    changing = update(intents).where(_is(intents), news, may).values(values)
    return changing, select(intents.c.key).where(_is(intents), news)


def _adding(table: Table, *returned: ColumnElement[Any]) -> Mapping[str, Any]:
    """Return, by database, what inserts a row whose key is not taken."""
    made: dict[str, Any] = {"sqlite": sqlite.insert(table), "postgresql": postgresql.insert(table)}
    return {name: each.on_conflict_do_nothing().returning(*returned) for name, each in made.items()}


_OWN = _is(guarded) & (guarded.c.fence == bindparam("of_fence"))
_ADD = _adding(intents, intents.c.key)
_ADD_GUARDED = _adding(guarded, *guarded.c)
_GET = select(intents).where(_is(intents))
_READ = _both().where(_is(guarded))
_WRITE = update(guarded).where(_OWN)
_TAKE = (
    update(guarded)
    .where(_is(guarded), guarded.c.until <= bindparam("now"))
    .values(holder=bindparam("to_holder"), until=bindparam("to_until"), fence=guarded.c.fence + 1)
    .returning(guarded.c.fence)
)
_SHORTEN = update(guarded).where(_is(guarded), guarded.c.until > bindparam("longest"))
_BECAME = _becoming(("status", "first_sent_at"))
_BECAME_SOMETHING = _becoming(("status", "first_sent_at", "refund_id"))
_NUMBERS = (func.hashtextextended(bindparam(name, type_=Text), 0) for name in ("name", "order_name"))
_ALONE = select(*map(func.pg_advisory_xact_lock, _NUMBERS))
_OTHER = (intents.c.account == bindparam("of_account")) & (intents.c.key != bindparam("of_key"))
_UNDER_WAY = (intents.c.payment == bindparam("payment")) & intents.c.first_sent_at.is_not(None)
_REFERENCE = intents.c.reference.is_not_distinct_from(bindparam("reference", type_=Text))
_STANDS = _REFERENCE & intents.c.status.not_in((IntentStatus.FAILED, IntentStatus.CANCELLED))
_SAME = (intents.c.order_id == bindparam("order_id")) & _STANDS
_BLOCKING = union_all(
    select(intents.c.key, literal_column("0")).where(_OTHER, _UNDER_WAY, _unsettled(intents)),
    select(intents.c.key, literal_column("1")).where(_OTHER, _SAME),
)
_TOOL = switches.c.tool == bindparam("tool")
_BEGUN_BY = switches.c.tool == select(guarded.c.tool).where(_is(guarded)).scalar_subquery()
_OFF = select(switches.c.tool).where(switches.c.thrown, _TOOL)
_OFF_FOR = select(switches.c.tool).where(switches.c.thrown, _TOOL | _BEGUN_BY)


def put(connection: Connection, intent: Intent) -> bool:
    """Write a new intent down; False when its key is known already, and nothing was written."""
    values = {name: getattr(intent, name) for name in COLUMNS}
    return connection.scalar(_ADD[connection.dialect.name], values) is not None


def get(connection: Connection, account: AccountId, key: IntentKey) -> Intent | None:
    """Return the intent of this key; None where there is none."""
    row = connection.execute(_GET, _named(account, key)).one_or_none()
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
        opened = _open(connection, wanted, holder, now=now, until=until)
        if opened is not None:
            return opened, opened.status not in _SETTLED
        row = read(connection, wanted.account, wanted.key)  # Another call of the same intent was first.
        assert row is not None, f"{wanted.key} was taken a moment ago"
    taken = take(connection, row, holder, now=now, until=until)
    return (row, False) if taken is None else (taken, True)


def read(connection: Connection, account: AccountId, key: IntentKey) -> Guarded | None:
    """Return what is known of one side effect; None where there is none."""
    row = connection.execute(_READ, _named(account, key)).one_or_none()
    return None if row is None else _guarded(row)


def take(
    connection: Connection, row: Guarded, holder: str, *, now: datetime, until: datetime
) -> Guarded | None:
    """Return the row under a lease and a fence of its own; None where another holds it, or it is settled."""
    if row.status in _SETTLED:
        return None
    named = _named(row.account, row.key)
    if connection.scalar(_TAKE, named | {"now": now, "to_holder": holder, "to_until": until}) is None:
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
    if connection.execute(_WRITE, values | _own(row)).rowcount != 1:
        raise _lost(row)
    changing, finding = _BECAME if row.result_id is None else _BECAME_SOMETHING
    became: dict[str, Any] = _named(row.account, row.key) | {
        "to_status": row.status,
        "to_first_sent_at": row.first_sent_at,
    }
    if row.result_id is not None:
        became |= {"to_refund_id": row.result_id}
    changed = connection.execute(changing, became | {"to_updated_at": row.updated_at})
    if changed.rowcount == 0 and connection.scalar(finding, became) is not None:
        raise _lost(row)


def release(connection: Connection, row: Guarded, at: datetime) -> None:
    """Give the lease back; nothing where another has taken it already."""
    connection.execute(_WRITE, {"until": at} | _own(row))


def shorten(connection: Connection, row: Guarded, longest: datetime) -> None:
    """Let a lease lapse by then: whoever took it for longer has a wrong clock."""
    connection.execute(_SHORTEN, _named(row.account, row.key) | {"longest": longest, "until": longest})


def shorten_all(connection: Connection, *, lease: datetime, rest: datetime) -> None:
    """Let all leases of what is unsettled lapse by then, and its rests: for the same reason."""
    for column, longest in ((guarded.c.until, lease), (guarded.c.next_at, rest)):
        late = update(guarded).where(_unsettled(guarded), column > longest)
        connection.execute(late.values({column.name: longest}))


def blocked(connection: Connection, row: Guarded | Wanted) -> tuple[IntentKey, bool] | None:
    """Return another intent because of which nothing may be sent, and whether it is of the same decision.

    That is one of the same order and reference that neither failed nor was cancelled; else it is on the same
    payment, was sent and is unsettled. Until this transaction ends no other one learns about either.
    """
    if row.payment is None:
        return None
    intent = getattr(row, "intent", None)
    order, reference = (intent.order_id, intent.reference) if intent else (None, None)
    if connection.dialect.name == "postgresql":  # On SQLite the transaction has locked everything.
        names = {"name": f"recon payment {row.account} {row.payment}"}
        connection.execute(_ALONE, names | {"order_name": f"recon order {row.account} {order}"})
    about = {"payment": row.payment, "order_id": order, "reference": reference}
    found = connection.execute(_BLOCKING, _named(row.account, row.key) | about)
    return max(((IntentKey(key), bool(same)) for key, same in found), key=lambda each: each[1], default=None)


def switched_off(connection: Connection, tool: str, row: Guarded | None = None) -> bool:
    """Return whether a tool's kill switch is thrown, or that of the tool under which a row was begun."""
    if row is None:
        return connection.scalar(_OFF, {"tool": tool}) is not None
    return connection.scalar(_OFF_FOR, {"tool": tool} | _named(row.account, row.key)) is not None


def due(connection: Connection, tools: Iterable[str], *, now: datetime, limit: int) -> tuple[Guarded, ...]:
    """Return unsettled side effects that nobody acts on and whose time for a sweep has come, oldest first."""
    query = (
        _both()
        .where(guarded.c.tool.in_(tools))
        .where(_unsettled(guarded), guarded.c.next_at <= now, guarded.c.until <= now)
        .order_by(guarded.c.next_at, guarded.c.account, guarded.c.key)
        .limit(limit)
    )
    return tuple(map(_guarded, connection.execute(query)))


def follow(connection: Connection) -> int:
    """Take over what runs and people settled, so that no sweep looks for it; return how many there were."""
    settled = select(intents.c.status).where(SAME, intents.c.status.in_(_SETTLED)).scalar_subquery()
    return connection.execute(
        update(guarded).where(_unsettled(guarded), settled.is_not(None)).values(status=settled)
    ).rowcount


def _open(
    connection: Connection, wanted: Wanted, holder: str, *, now: datetime, until: datetime
) -> Guarded | None:
    """Return a side effect, written down and leased; None when its key is known already.

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
    row = connection.execute(_ADD_GUARDED[connection.dialect.name], values).one_or_none()
    return None if row is None else _made(row, known)


def _named(account: AccountId, key: IntentKey) -> dict[str, Any]:
    return {"of_account": account, "of_key": key}


def _own(row: Guarded) -> dict[str, Any]:
    return _named(row.account, row.key) | {"of_fence": row.fence}


def _lost(row: Guarded) -> LeaseLost:
    return LeaseLost(
        f"Expected {row.key} to be unsettled under fence {row.fence}, found that another call, run or person "
        "was faster."
    )


def _guarded(row: Row[Any]) -> Guarded:
    return _made(row, _Beside(*(getattr(row, f"intent_{name}") for name in _Beside._fields)))


def _made(row: Row[Any], intent: Intent | _Beside | None) -> Guarded:
    """Return a guarded row; what its key came with is its intent's to say, whoever wrote that."""
    known = None if intent is None or intent.status is None else intent
    prints: Mapping[str, str] = row.fingerprint if known is None else _fingerprint(known)
    return Guarded(
        account=AccountId(row.account),
        key=IntentKey(row.key),
        tool=row.tool,
        status=IntentStatus(row.status if known is None else str(known.status)),
        fingerprint=prints,
        body=row.body,
        created_at=row.created_at,
        updated_at=row.updated_at,
        next_at=row.next_at,
        until=row.until,
        payment=None if known is None else known.payment,
        result_id=(None if known is None else known.refund_id) or row.result_id,
        first_sent_at=row.first_sent_at,
        sent_at=row.sent_at,
        sends=row.sends,
        misses=row.misses,
        missed_at=row.missed_at,
        refusal=row.refusal,
        holder=row.holder,
        fence=row.fence,
    )


def _fingerprint(intent: Intent | _Beside) -> dict[str, str]:
    """Return what a key came with, as texts; an intent that names no payment came with none."""
    prints = {"amount_minor": str(intent.amount_minor), "currency": str(intent.currency)}
    return prints if intent.payment is None else prints | {"payment": intent.payment}


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
