"""People who propose and approve at a desk, what they click, and what came of it."""

from datetime import datetime, timedelta
from typing import Any

from recon.desk import Desk
from recon.doors.store import cases as book
from recon.doors.store import proposals
from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.proposals import Proposal
from recon.model.records.words import (
    Action,
    Actor,
    IntentKey,
    ProposalState,
    RefundId,
    Resolution,
    Role,
)
from recon.model.settings import Settings
from tests import seeds
from tests.builders import NOON
from tests.hours import OWNERS
from tests.test_desk import ANA, LATER

BEA = Operator(Actor("Bea"), Role.APPROVER)
CAL = Operator(Actor("Cal"), Role.ADMIN)
LIMITS = {"usd": 4900}
SETTINGS = Settings(owners=OWNERS, four_eyes=LIMITS)
CODE = Resolution.WRITTEN_OFF
OURS: dict[str, Any] = {"refund_id": RefundId("re_8812"), "intent_key": IntentKey("refund_order:8812")}


class Clock:
    """The desk's time, which tests move."""

    def __init__(self) -> None:
        self.now = LATER

    def __call__(self) -> datetime:
        return self.now


def opened(database: Database, clock: Clock | None = None) -> Desk:
    """A desk that wants two people from 49.00 USD on, opened as a process opens it."""
    made = Desk(database, SETTINGS, clock=clock or Clock())
    made.keep_limits()
    return made


def double(database: Database) -> Case:
    """An order that was refunded twice, over exactly the limit."""
    mismatch = seeds.duplicate(8812, at=NOON - timedelta(hours=2))
    intent, refunds = seeds.sides(mismatch, at=mismatch.since)
    seeds.rows(database, [intent], refunds, now=NOON)
    (found,) = seeds.run(database, [mismatch], now=NOON)
    return found


def now(database: Database, case: Case) -> Case:
    found = book.get(database, case.id)
    assert found is not None
    return found


def click(database: Database, case: Case, operator: Operator, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 -- of a click
    """One click on the case as it stands."""
    version = now(database, case).version
    made = {"version": version, "reason": "Why.", "operator": operator}
    return made | {"action_id": f"{operator.name}-{version}"} | changes


def proposed(desk: Desk, database: Database, case: Case, operator: Operator = ANA) -> Proposal:
    found = desk.resolve(case.id, code=CODE, **click(database, case, operator))
    assert found is not None
    return found


def story(database: Database, case: Case) -> list[tuple[Action, str, str]]:
    """Action, actor and reason of each entry since the run that opened the case."""
    told = (stored.entry for stored in book.entries(database, case.id))
    return [(entry.action, str(entry.actor), entry.reason) for entry in told][1:]


def stands(database: Database, proposal: Proposal) -> ProposalState:
    found = proposals.get(database, proposal.id)
    assert found is not None
    return found.state
