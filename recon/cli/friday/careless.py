"""The tools of the evening, carried out: real calls of the provider, real rows of intents and of calls.

They do what tools do that were not written with care: take a call's id for a key, an error for a failure,
an exception for a success. Never decides what happens when; evening.py does.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from recon.cli.friday.evening import PATIENCE_SECONDS, Call, Click, Return, Step
from recon.cli.friday.street import Street
from recon.doors import intents
from recon.doors.store import calls
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.model.errors import ProviderRefused, ProviderUnavailable
from recon.model.records.guarded import Asked, Outcome, OutcomeStatus, Wanted
from recon.model.records.provider import Intent
from recon.model.records.words import AccountId, IntentKey, IntentStatus
from recon.model.settings import ProviderSettings

_PLATFORM = AccountId("")
_REAL_PATIENCE_SECONDS = 0.05  # Stands for the tool's ten, so that the demo takes seconds.
# What whoever called a careless tool is told.
_TOLD = {
    IntentStatus.DONE: OutcomeStatus.DONE,
    IntentStatus.PENDING_UNKNOWN: OutcomeStatus.PENDING_UNKNOWN,
    IntentStatus.FAILED: OutcomeStatus.REJECTED,
}
_PAID_BEFORE = timedelta(days=4)  # When the payments were made, before their first refund.


@dataclass(frozen=True, slots=True)
class Shop:
    """A shop with three refund tools, its provider and its intents.

    provider: waits for every answer. settings: how it is reached.
    """

    database: Database
    street: Street
    provider: Provider
    settings: ProviderSettings

    @classmethod
    def open(cls, database: Database, street: Street, settings: ProviderSettings) -> "Shop":
        """Return the shop at this provider."""
        return cls(database, street, Provider(settings), settings)

    def carry_out(self, step: Step) -> None:
        """Let one thing happen, at its time."""
        self.street.set_time(step.at)
        if isinstance(step, Call):
            self._call(step)
        elif isinstance(step, Click):
            self._take_payment(step.payment, step.paid_minor, step.currency, step.at)
            self.street.tell("refunds", payment=step.payment, amount=step.amount_minor)
        else:
            self._return(step)

    def _call(self, call: Call) -> None:
        """Write the intent down, send it, and write down what the tool believes of the answer."""
        if call.paid_minor is not None:
            currency = call.charged or call.currency
            self._take_payment(call.payment, call.paid_minor, currency, call.at, begins_as=call.begins_as)
        if call.fault is not None:
            met = {"on": "POST /v1/refunds", "fault": call.fault, "match": {"payment": call.payment}}
            self.street.tell("faults", **met)
        intent = _intent(call)
        with self.database.write() as connection:
            intents.put(connection, intent)
            number = calls.note(connection, *_asked(call, intent), call.at)
        after = self._sent(call, intent)
        with self.database.write() as connection:
            intents.settle(connection, after, expected=[IntentStatus.PENDING])
            calls.note_answer(connection, number, Outcome(_TOLD[after.status], ""), after.updated_at)

    def _sent(self, call: Call, intent: Intent) -> Intent:
        """Return the intent as the tool leaves it after one request under the key it has."""
        sent = replace(intent, amount_minor=call.sent_minor or intent.amount_minor)
        metadata: Mapping[str, str] | None = None if call.tagged else {}
        if call.fault is not None:
            self._send_in_vain(sent, metadata)
            self.street.pass_time(PATIENCE_SECONDS)
            return replace(intent, status=call.without_answer, updated_at=self.street.now())
        try:
            refund = self.provider.create(sent, intent.key, metadata=metadata)
        except ProviderRefused:  # More than was paid.
            return replace(intent, status=IntentStatus.FAILED, updated_at=self.street.now())
        return replace(
            intent, status=IntentStatus.DONE, refund_id=refund.id, updated_at=self.provider.now() or call.at
        )

    def _send_in_vain(self, intent: Intent, metadata: Mapping[str, str] | None) -> None:
        """Send a refund and give up on its answer, once the provider has it.

        On a busy machine the tool may give up before the provider has so much as read the request, which
        would be another story: then it waits twice as long.
        """
        patience = _REAL_PATIENCE_SECONDS
        while self.street.ask("faults"):
            provider = Provider(replace(self.settings, read_timeout_seconds=patience))
            with suppress(ProviderUnavailable):  # It is slow, or the line broke: what this is about.
                provider.create(intent, intent.key, metadata=metadata)
            patience *= 2

    def _take_payment(
        self, payment: str, paid_minor: int, currency: str, at: datetime, *, begins_as: str = "succeeded"
    ) -> None:
        self.street.tell(
            "payments",
            id=payment,
            amount=paid_minor,
            currency=currency,
            created_at=(at - _PAID_BEFORE).isoformat(),
            refund_status=begins_as,
        )

    def _return(self, step: Return) -> None:
        """Let the bank send back what the order's intent recorded as refunded."""
        key = IntentKey(f"refund_order:order_{step.order}")
        with self.database.read() as connection:
            intent = intents.get(connection, _PLATFORM, key)
        assert intent is not None, f"the refund of order {step.order} was made before the bank returned it"
        self.street.tell(f"refunds/{intent.refund_id}", status="failed", failure_reason=step.reason)


def _asked(call: Call, intent: Intent) -> tuple[Wanted, Asked]:
    """Return a call as it is recorded: what was wanted, and who asked for it in which words."""
    same = {
        "amount_minor": str(call.amount_minor),
        "currency": call.currency,
        "payment": call.payment,
    }
    words = {"order_id": call.order} | ({"reference": call.reference} if call.reference else {})
    wanted = Wanted(call.tool, f"refund for order {call.order}", _PLATFORM, intent.key, same, {}, intent)
    return wanted, Asked(call_id=call.key.partition(":")[2], caller=call.team, words=words)


def _intent(call: Call) -> Intent:
    return Intent(
        key=IntentKey(call.key),
        account=_PLATFORM,
        amount_minor=call.amount_minor,
        currency=call.currency,
        status=IntentStatus.PENDING,
        created_at=call.at,
        updated_at=call.at,
        order_id=call.order,
        reference=call.reference,
        payment=call.payment,
        first_sent_at=call.at,
        tool=call.tool,
        team=call.team,
        customer_id=call.customer,
    )
