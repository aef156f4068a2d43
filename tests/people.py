"""Somebody at the desk of a town, and what they find there."""

from datetime import timedelta
from itertools import count
from typing import Any

from sqlalchemy import select

from recon.desk import Desk
from recon.doors.store import cases as book
from recon.doors.store import mirror
from recon.model import tables
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.provider import Intent, Refund
from recon.model.records.words import (
    Action,
    Actor,
    IntentStatus,
    RefundId,
    Resolution,
    Role,
)
from recon.rules import stories
from tests.hours import Town

ANA = Operator(Actor("Ana"), Role.OPERATOR)
CLICKS = count(1)
DAY = timedelta(days=1)


class Ana:
    """Somebody at the desk of a town; each call is one click on the case as it stands now."""

    def __init__(self, town: Town) -> None:
        self._town = town
        self.desk = Desk(town.database, town.settings, clock=lambda: town.now)

    def __call__(self, move: Action, case: Case, **told: object) -> None:
        """Make a move, with what it takes beside who, why and when."""
        name = {Action.ACKNOWLEDGED: "acknowledge", Action.RESOLVED: "resolve", Action.ACCEPTED: "accept"}
        name |= {Action.REOPENED: "reopen", Action.SNOOZED: "snooze", Action.ASSIGNED: "assign"}
        name |= {Action.ADOPTED: "adopt", Action.LINKED: "link", Action.UNLINKED: "unlink"}
        name |= {Action.COMMENTED: "comment"}
        more: dict[Action, dict[str, object]] = {
            Action.RESOLVED: {"code": Resolution.WRITTEN_OFF},
            Action.ACCEPTED: {"until": self._town.now + 20 * DAY},
            Action.SNOOZED: {"until": self._town.now + 20 * DAY},
            Action.ASSIGNED: {"owner": self.desk.owners()[0]},
            Action.UNLINKED: {"refund_id": RefundId(case.subject.partition(":")[2])},
        }
        now = book.get(self._town.database, case.id)
        assert now is not None
        getattr(self.desk, name[move])(
            case.id,
            version=now.version,
            reason="Asked the bank.",
            operator=ANA,
            action_id=f"click-{next(CLICKS)}",
            **(more.get(move, {}) | told),
        )


def by_hand(town: Town, payment: str, minor: int = 4900, **more: Any) -> RefundId:  # noqa: ANN401 -- what the sandbox takes
    """Refund in the provider's own dashboard."""
    return RefundId(town.street.control("refunds", payment=payment, amount=minor, **more)["id"])


def orphan(town: Town, name: str = "hand", **more: Any) -> Case:  # noqa: ANN401 -- what the sandbox takes
    """Return the case of a refund that nobody asked for."""
    town.street.payment(f"pi_{name}", 4900 * 4, "usd")
    made = by_hand(town, f"pi_{name}", **more)
    town.pass_time(minutes=20)
    town.run()
    return next(case for case in town.waiting() if case.subject == f"refund:{made}")


def now(town: Town, case: Case) -> Case:
    found = book.get(town.database, case.id)
    assert found is not None
    return found


def story(town: Town, case: Case) -> list[str]:
    """Return the reasons of the case's entries, oldest first."""
    return [stored.entry.reason for stored in book.entries(town.database, case.id)]


def sound(town: Town) -> bool:
    """Return whether chains and triggers are whole and every case stands as its entries tell."""
    told = [stories.unexplained(case, entries) for case, entries in book.stories(town.database)]
    return (book.verify(town.database), [each for each in told if each]) == ((), [])


def refund_of(town: Town, case: Case) -> Refund:
    named = RefundId(case.subject.partition(":")[2])
    with town.database.read() as connection:
        columns = tables.refunds.c
        return mirror.record(connection.execute(select(tables.refunds).where(columns.id == named)).one())


def adopted(town: Town, case: Case) -> tuple[str, str, int]:
    """Return key, status and amount of the intent that recorded a case's refund."""
    with town.database.read() as connection:
        columns = tables.intents.c
        query = select(columns.key, columns.status, columns.amount_minor)
        row = connection.execute(query.where(columns.refund_id == case.subject.partition(":")[2])).one()
    return row.key, row.status, row.amount_minor


def stuck(town: Town, name: str = "1", **changes: Any) -> Intent:  # noqa: ANN401 -- any field
    """Write an intent down whose call was left without an answer, and that names no payment."""
    return town.intend(
        name, **({"status": IntentStatus.PENDING_UNKNOWN, "payment": None, "paid": False} | changes)
    )
