"""What the trial's books and the provider's say together, by the rule of `recon diff`.

A tool that keeps no intents of its own is judged as if each order were one intent, done by its first refund.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from recon.cli.smoking.scenarios import Trial, Verdict
from recon.doors.store.engines import Database
from recon.doors.store.switches import get, move
from recon.model.guarded import calls
from recon.model.records.provider import Refund
from recon.model.records.results import Coverage, Policy, Result
from recon.model.records.tools import SwitchMove
from recon.model.records.words import Actor
from recon.model.tables import intents
from recon.rules import once

_GRACES_OVER = timedelta(hours=2)  # Everything is old enough to be judged.
_BY = Actor("recon smoke")
# What the diff asks of each side.
_INTENT = (
    *(
        "key",
        "account",
        "order_id",
        "reference",
        "payment",
        "amount_minor",
        "currency",
        "status",
        "refund_id",
    ),
    *("created_at", "updated_at", "first_sent_at"),
)
_REFUND = (
    *("id", "account", "payment_intent", "charge", "amount_minor", "currency", "status", "created_at"),
    "intent_key",
)


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


def diff(database: Database, trials: Iterable[Trial]) -> Result:
    """Return the diff of the orders that were tried."""
    import pandas as pd

    from recon.model import frames
    from recon.rules import linking
    from recon.rules.mismatches import finding

    tried = [each for each in trials if each.verdict is not Verdict.SKIPPED]
    rows = _intents(database) or [_meant(each) for each in tried]
    ours = frames.intents(pd.DataFrame(rows, dtype=object), source="the tool's books")
    made = [_row(found) for each in tried for found in each.refunds]
    theirs = frames.refunds(pd.DataFrame(made, columns=_REFUND, dtype=object), source="the provider's books")
    policy = Policy()
    links = linking.link(ours.frame, theirs.frame, policy)
    as_of = datetime.now(UTC) + _GRACES_OVER
    return finding.find(ours, theirs, links, policy=policy, coverage=Coverage(), as_of=as_of)


def _intents(database: Database) -> list[dict[str, object]]:
    with database.read() as connection:
        found = connection.execute(select(*(intents.c[name] for name in _INTENT))).mappings()
        return [dict(each) for each in found]


def _meant(trial: Trial) -> dict[str, object]:
    order = trial.order
    assert order is not None, "only what was tried is compared"
    made = once.live(trial.sent, trial.refunds)
    at = min((each.created_at for each in made), default=datetime.now(UTC))
    return {
        "key": order.id,
        "order_id": order.id,
        "payment": order.payment,
        "amount_minor": order.amount_minor,
        "currency": order.currency,
        "status": "done",
        "refund_id": made[0].id if made else None,
        "created_at": at,
        "updated_at": at,
    }


def _row(refund: Refund) -> dict[str, object]:
    return {name: getattr(refund, name) for name in _REFUND}
