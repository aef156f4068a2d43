"""People who settle stuck intents: what they click, and what stands in the books afterwards."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from sqlalchemy import insert, select

from recon.doors.store import cases as book
from recon.doors.stripe.provider import Provider
from recon.model import tables
from recon.model.holds import guarded
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.provider import Intent, Refund
from recon.model.records.results import Reject
from recon.model.records.words import (
    AccountId,
    Action,
    Actor,
    CaseState,
    IntentStatus,
    RefundId,
    Role,
)
from recon.model.settings import ProviderSettings
from recon.settling import Settling
from tests.hours import Town

ANA = Operator(Actor("Ana"), Role.OPERATOR)
BEN = Operator(Actor("Ben"), Role.OPERATOR)
VERA = Operator(Actor("Vera"), Role.VIEWER)
UNKNOWN = IntentStatus.PENDING_UNKNOWN


def stuck(town: Town, name: str = "8812", **changes: Any) -> tuple[Intent, Case]:  # noqa: ANN401 -- any field
    """Let the tool send an intent that nothing came of, and a run find it two hours later."""
    intent = town.intend(name, **({"status": UNKNOWN} | changes))
    town.pass_time(hours=2)
    town.run()
    case = next(each for each in town.waiting() if each.subject == f"intent:{intent.key}")
    assert case.mismatch.kind == "stuck"
    return intent, case


def at(town: Town, provider: Callable[[ProviderSettings], Provider] = Provider) -> Settling:
    """Return what settles intents of this town, at its time."""
    return Settling(town.database, town.settings, provider, clock=lambda: town.now)


def click(case: Case, operator: Operator = ANA, **changes: Any) -> Any:  # noqa: ANN401 -- a Click
    """Return one click of somebody's."""
    return {
        "version": case.version,
        "reason": "Asked the shop.",
        "operator": operator,
        "action_id": f"{operator.name}-{case.id}",
    } | changes


def looked(town: Town, case: Case, operator: Operator = ANA, **told: Any) -> str:  # noqa: ANN401 -- of at()
    """Look at the provider, and return what was seen in words."""
    found = at(town, **told).look(case.id, version=case.version, operator=operator, action_id="look")
    assert found is not None
    return found.said


def last(town: Town, case: Case) -> tuple[Action, str]:
    """Return the case's latest entry: what was done, and why."""
    entry = book.entries(town.database, case.id)[-1].entry
    return entry.action, entry.reason


def row(town: Town, intent: Intent) -> tuple[str, str | None]:
    """Return what an intent says now: its status and its refund."""
    columns = tables.intents.c
    query = select(columns.status, columns.refund_id).where(columns.key == intent.key)
    with town.database.read() as connection:
        found = connection.execute(query).one()
    return found.status, found.refund_id


def state(town: Town, case: Case) -> CaseState:
    """Return how a case stands now."""
    found = book.get(town.database, case.id)
    assert found is not None
    return found.state


def by_hand(town: Town, intent: Intent, minor: int | None = None) -> RefundId:
    """Make a refund in the provider's own dashboard, as somebody would who has waited long enough."""
    made = town.street.control(
        "refunds", payment=intent.payment, amount=intent.amount_minor if minor is None else minor
    )
    return RefundId(made["id"])


def held(town: Town, intent: Intent, **changes: object) -> None:
    """Let the guarded tool have the intent in hand."""
    long_ago = town.now - timedelta(hours=2)
    values: dict[str, object] = {
        "account": intent.account,
        "key": intent.key,
        "tool": "refund_order",
        "status": UNKNOWN,
        "fingerprint": {},
        "body": {},
        "created_at": long_ago,
        "updated_at": long_ago,
        "first_sent_at": long_ago,
        "sent_at": long_ago,
        "sends": 1,
        "misses": 0,
        "next_at": town.now,
        "holder": "somebody",
        "until": long_ago,
        "fence": 3,
    }
    with town.database.write() as connection:
        connection.execute(insert(guarded).values(values | changes))


def meanwhile(does: Callable[[], object]) -> type[Provider]:
    """Return a provider during whose answer something else happens."""

    class Busy(Provider):
        def find(self, payment: str, account: AccountId, *, until: float | None = None) -> tuple[Refund, ...]:
            found = super().find(payment, account, until=until)
            does()
            return found

        def retrieve(
            self, refund_id: RefundId, account: AccountId, *, until: float | None = None
        ) -> Refund | Reject | None:
            found = super().retrieve(refund_id, account, until=until)
            does()
            return found

    return Busy
