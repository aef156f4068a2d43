"""What the trial's books and the provider's say together, by the rule of `recon diff`.

A tool that keeps no intents of its own is judged as if each order were one intent that is done.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select

from recon.cli.smoking.scenarios import Trial, Verdict
from recon.doors.store.engines import Database
from recon.doors.store.switches import get, move
from recon.model.guarded import calls
from recon.model.phrases import iso
from recon.model.records.provider import Refund
from recon.model.records.results import Coverage, Policy, Result
from recon.model.records.tools import SwitchMove
from recon.model.records.words import Actor
from recon.model.tables import intents

_GRACES_OVER = timedelta(hours=2)  # Everything is old enough to be judged.
_BY = Actor("recon smoke")


def tools(database: Database) -> tuple[str, ...]:
    """Return the guarded tools that were asked for anything, by name."""
    with database.read() as connection:
        found = connection.execute(select(calls.c.tool).distinct().order_by(calls.c.tool))
        return tuple(found.scalars())


def throw(database: Database, *, thrown: bool) -> None:
    """Throw the kill switch of each of these tools, or lift it."""
    made = SwitchMove.THROWN if thrown else SwitchMove.LIFTED
    for tool in tools(database):
        before, now = get(database, tool), datetime.now(UTC)
        with database.write() as connection:
            action = f"smoke:{tool}:{before.version}"
            move(connection, before, made, actor=_BY, reason="a trial", now=now, action_id=action)


def diff(database: Database, trials: Iterable[Trial], folder: Path) -> Result:
    """Return the diff of the orders that were tried. folder: for the two files that it reads."""
    from recon.doors import files
    from recon.rules import linking
    from recon.rules.mismatches import finding

    tried = [each for each in trials if each.verdict is not Verdict.SKIPPED]
    ours, theirs = folder / "intents.json", folder / "refunds.json"
    rows = _intents(database) or [_meant(each) for each in tried]
    ours.write_text(json.dumps(rows), encoding="utf-8")
    theirs.write_text(json.dumps([_row(found) for each in tried for found in each.refunds]), encoding="utf-8")
    left, right, policy = files.read_intents(ours), files.read_refunds(theirs), Policy()
    links = linking.link(left.frame, right.frame, policy)
    as_of = datetime.now(UTC) + _GRACES_OVER
    return finding.find(left, right, links, policy=policy, coverage=Coverage(), as_of=as_of)


def _intents(database: Database) -> list[dict[str, object]]:
    with database.read() as connection:
        found = [dict(each) for each in connection.execute(select(intents)).mappings()]
    names = (
        "key",
        "account",
        "order_id",
        "reference",
        "payment",
        "amount_minor",
        "currency",
        "status",
        "refund_id",
    )
    return [{name: each[name] for name in names} | _times(each) for each in found]


def _times(row: Mapping[str, Any]) -> dict[str, object]:
    found = {name: row[name] for name in ("created_at", "updated_at", "first_sent_at")}
    return {name: iso(at) for name, at in found.items() if isinstance(at, datetime)}


def _meant(trial: Trial) -> dict[str, object]:
    order = trial.order
    assert order is not None, "only what was tried is compared"
    first = min((each.created_at for each in trial.refunds), default=datetime.now(UTC))
    return {
        "key": order.id,
        "order_id": order.id,
        "payment": order.payment,
        "amount_minor": order.amount_minor,
        "currency": order.currency,
        "status": "done",
        "created_at": iso(first),
        "updated_at": iso(first),
    }


def _row(refund: Refund) -> dict[str, object]:
    return {
        "id": refund.id,
        "payment_intent": refund.payment_intent,
        "charge": refund.charge,
        "amount_minor": refund.amount_minor,
        "currency": refund.currency,
        "status": refund.status,
        "created_at": iso(refund.created_at),
        "intent_key": refund.intent_key,
    }
