"""The side effects of guarded tools of which nobody knows whether they are done, one by one.

For the command by which a person finds them; glance.py counts them. Never changes anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, func, select

from recon.doors.store import glance
from recon.doors.store.calls import are_calls
from recon.doors.store.engines import Database
from recon.model.guarded import calls
from recon.model.holds import SAME, guarded
from recon.model.records.words import AccountId, IntentKey
from recon.model.tables import intents

LIMIT = 1000  # Of one reading: a person goes through them one by one, the oldest first.


@dataclass(frozen=True, slots=True)
class Unknown:
    """One effect of which nobody knows. Source: the tables guarded, intents and calls.

    tool: under which it was begun. since: when it was first sent; sent_at: the latest time. heard_at: when
    anything was last written of it, by a call or a look-up. misses: complete look-ups since it was last sent
    that found nothing; missed_at: the latest of them. refusal: what the world said where it refused all the
    same. asked: the first call's words, field by field; empty where no call is on record. prints: those of
    them that the key must always come with, which are not part of it. calls: on record. told: the latest
    call's answer. hourly: the hour judges it, because it is a refund.
    """

    tool: str
    account: AccountId
    key: IntentKey
    since: datetime
    sent_at: datetime
    heard_at: datetime
    misses: int = 0
    missed_at: datetime | None = None
    refusal: str | None = None
    asked: Mapping[str, object] = field(default_factory=dict)
    prints: frozenset[str] = frozenset()
    calls: int = 0
    told: str | None = None
    hourly: bool = False


def oldest(database: Database, *, now: datetime, limit: int = LIMIT) -> tuple[Unknown, ...]:
    """Return those that were sent first, oldest first; a call that is at one knows more of it."""
    query = _query().where(*glance.nobody_knows(now))
    query = query.order_by(guarded.c.first_sent_at, guarded.c.account, guarded.c.key).limit(limit)
    with database.read() as connection:
        return tuple(map(_record, connection.execute(query)))


def _query() -> Select[Any]:
    """Return what selects effects beside their intents, their first call and their latest."""
    of_effect = (calls.c.account == guarded.c.account) & (calls.c.intent_key == guarded.c.key) & are_calls()
    first, latest, number = (
        select(each).where(of_effect).correlate(guarded).scalar_subquery()
        for each in (func.min(calls.c.number), func.max(calls.c.number), func.count())
    )
    began, ended = calls.alias("began"), calls.alias("ended")
    return (
        select(
            guarded,
            intents.c.key.label("intent"),
            began.c.asked.label("asked"),
            ended.c.answer.label("told"),
            number.label("calls"),
        )
        .outerjoin(intents, SAME)
        .outerjoin(began, began.c.number == first)
        .outerjoin(ended, ended.c.number == latest)
    )


def _record(row: Row[Any]) -> Unknown:
    asked = row.asked if isinstance(row.asked, dict) else {}  # Whatever somebody else wrote there.
    return Unknown(
        tool=row.tool,
        account=AccountId(row.account),
        key=IntentKey(row.key),
        since=row.first_sent_at,
        sent_at=row.sent_at or row.first_sent_at,
        heard_at=row.updated_at,
        misses=row.misses,
        missed_at=row.missed_at,
        refusal=row.refusal,
        asked=asked,
        prints=frozenset(row.fingerprint),
        calls=int(row.calls),
        told=row.told,
        hourly=row.intent is not None,
    )
