"""What the trial's books and the provider's say together, by the rule of `recon diff`.

A tool that keeps no intents of its own is judged as if each order were one intent, done by its first refund.
"""

from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta

from recon.cli.smoking.scenarios import Trial, Verdict
from recon.doors.store import calls
from recon.doors.store.engines import Database
from recon.doors.store.switches import get, move
from recon.model.records.provider import Refund
from recon.model.records.results import Coverage, Policy, Result
from recon.model.records.tools import SwitchMove
from recon.model.records.words import Actor
from recon.rules import once

_EVER = datetime(1970, 1, 1, tzinfo=UTC)
_GRACES_OVER = timedelta(hours=2)  # Everything is old enough to be judged.
_BY = Actor("recon smoke")


def tools(database: Database) -> tuple[str, ...]:
    """Return the guarded tools that were asked for anything, by name."""
    told, _ = calls.since(database, _EVER)
    return tuple(sorted({each.tool for each in told}))


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

    from recon.doors.store import reading
    from recon.model import frames
    from recon.rules import linking
    from recon.rules.mismatches import finding

    tried = [each for each in trials if each.verdict is not Verdict.SKIPPED]
    as_of = datetime.now(UTC) + _GRACES_OVER
    ours = reading.read(database, full=True, mark=0, as_of=as_of).intents
    if not len(ours.frame):
        ours = frames.intents(pd.DataFrame(map(_meant, tried), dtype=object), source="the orders")
    made = [asdict(found) for each in tried for found in each.refunds]
    columns = [each.name for each in fields(Refund)]
    theirs = frames.refunds(pd.DataFrame(made, columns=columns, dtype=object), source="the provider's books")
    policy = Policy()
    links = linking.link(ours.frame, theirs.frame, policy)
    return finding.find(ours, theirs, links, policy=policy, coverage=Coverage(), as_of=as_of)


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
