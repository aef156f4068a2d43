"""The guarded tool: every retry, from whatever layer, lands on the same answer.

`RefundTool` refunds an order once, whoever asks for it how often; `Guard` does the same for any side effect.
Neither raises into the framework that calls it. Loads no frames: it lives in other people's processes.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Self

from sqlalchemy import Engine

from recon import callers
from recon.callers import GiveUp
from recon.doors import config, intents
from recon.doors.clock import Clock, utc_now
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.effects import Guard
from recon.guarding import Gate
from recon.handling import Refunds, reached
from recon.model import money, registry
from recon.model.errors import ConfigurationError, ReconError
from recon.model.records.guarded import Guarded, Outcome, OutcomeStatus, Settled, Unfit, Wanted
from recon.model.records.provider import Intent
from recon.model.records.results import Money
from recon.model.records.tools import Effect
from recon.model.records.words import AccountId, IntentStatus
from recon.model.settings import GuardSettings, Settings
from recon.rules import guarding, keys, outcomes
from recon.rules import registry as declaring
from recon.rules.keys import Business

__all__ = ["Guard", "Outcome", "OutcomeStatus", "RefundTool", "settle"]

log = logging.getLogger("recon.guard")  # In the host's own process: its handlers, its format.

TOOL = "refund_order"
_NOUN = "refund"
KEY_FIELDS = ("order_id", "reference")
# What may be told to the provider as a refund's reason. Not "fraudulent": that blocks the customer's card and
# address, which no model decides. Source: https://docs.stripe.com/api/refunds/create
_REASONS = {"duplicate", "requested_by_customer"}
_USUAL_REASON = "requested_by_customer"
_LISTED = 10  # Refunds of one order that a status tells of.
_SHOWN = 40  # Characters of a reference in a message: a UUID and more.


class RefundTool:
    """The refund tool of an agent."""

    def __init__(
        self,
        engine: Database | Engine,
        provider: Provider,
        clock: Clock = utc_now,
        *,
        settings: GuardSettings | None = None,
        tool: str = TOOL,
        operation: str | None = None,
        team: str | None = None,
        looks_back: timedelta = timedelta(0),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """engine: its URL is opened anew, so that no transaction of the host's is ever part of a refund.

        operation: what its keys begin with; None is the tool's name. looks_back: as tools.toml has it; with 0
        nobody looks before a first send.
        """
        self._database = callers.opened(engine)
        self._provider = provider
        self._clock = clock
        self._settings = settings or GuardSettings()
        self._tool = tool
        self._operation = operation or tool
        self._team = team
        self._gate = Gate(
            self._database,
            {tool: Refunds(provider)},
            settings=self._settings,
            clock=clock,
            sleep=sleep,
            looks_back=looks_back,
        )
        self._threads = callers.Threads("recon-refund")

    @classmethod
    def from_settings(cls, settings: Settings | None = None, *, tool: str = TOOL) -> Self:
        """Return the tool as configuration and environment say.

        Raises:
            ConfigurationError: they do not say what they should, tools.toml declares no such tool or another
                key, there is no key of the provider, or the database answers and was not upgraded.
        """
        told = config.load() if settings is None else settings
        declared = registry.parse(told.tools)
        wrong = declaring.refusal(declared, tool, Effect.SIDE_EFFECT, KEY_FIELDS)
        if wrong is not None:
            raise ConfigurationError(wrong)
        if not told.provider.api_key:
            raise ConfigurationError("STRIPE_API_KEY is not set; expected a key that may write refunds.")
        own = declared[tool]
        database = callers.ready(told.database_url.reveal(), wait_seconds=told.guard.deadline_seconds)
        return cls(
            database,
            reached(told),
            settings=told.guard,
            tool=tool,
            operation=own.operation,
            looks_back=own.looks_back,
        )

    @property
    def deadline_seconds(self) -> float:
        """Return within what time a call is answered, from when its caller began to wait."""
        return self._settings.deadline_seconds

    def refund_order(
        self,
        order_id: str | int,
        amount: Decimal | str | int,
        currency: str,
        payment: str,
        *,
        reference: str | int | None = None,
        account: str = "",
        customer_id: str | None = None,
        reason: str | None = _USUAL_REASON,
        call_id: str | None = None,
        caller: str | None = None,
        began: float | None = None,
    ) -> Outcome:
        """Refund an order once, and return what the caller may believe.

        amount: major units, never a float. payment: the provider's id of what the customer paid. reference:
        what makes a second refund of the order another one, such as an order line or a return; never of the
        model's making. call_id, caller: who asked; recorded only. began: when the caller began to wait, on
        time.monotonic(), where that was before this; None is now.
        """
        return self._refund(
            callers.never,
            began,
            about={"call_id": call_id, "caller": caller, "reason": reason},
            order_id=order_id,
            amount=amount,
            currency=currency,
            payment=payment,
            reference=reference,
            account=account,
            customer_id=customer_id,
        )

    async def arefund_order(
        self,
        order_id: str | int,
        amount: Decimal | str | int,
        currency: str,
        payment: str,
        *,
        reference: str | int | None = None,
        account: str = "",
        customer_id: str | None = None,
        reason: str | None = _USUAL_REASON,
        call_id: str | None = None,
        caller: str | None = None,
        began: float | None = None,
    ) -> Outcome:
        """Do the same without holding up the event loop.

        Whoever is cancelled hears of it at once: what was not sent by then is not sent, and of what was, the
        books say so and its answer is written down when it comes.
        """
        work = partial(
            self._refund,
            about={"call_id": call_id, "caller": caller, "reason": reason},
            order_id=order_id,
            amount=amount,
            currency=currency,
            payment=payment,
            reference=reference,
            account=account,
            customer_id=customer_id,
        )
        return await callers.awaited(self._threads, work, noun=_NOUN, began=began)

    def check_refund_status(self, order_id: str | int, *, account: str = "") -> Outcome:
        """Return how a refund of an order stands, and in others how the rest do; sends nothing.

        It is the newest of those that went back, else of those of which nobody knows, else of those that were
        never done, which are rejected; others are in the same order. What is unknown is looked up.
        """
        noun = _NOUN
        try:
            named = keys.order(order_id, account)
            if isinstance(named, Unfit):
                return outcomes.refused(named)
            noun = f"refund of order {named[0]}"
            return self._status(*named)
        except ReconError as error:  # The database is away.
            log.warning("The status of an order cannot be read: %s", error)
        except Exception:
            log.exception("A bug while a status was read.")
        return outcomes.unknown(noun, None)

    async def acheck_refund_status(self, order_id: str | int, *, account: str = "") -> Outcome:
        """Do the same without holding up the event loop."""
        work = partial(self.check_refund_status, order_id, account=account)
        return await callers.awaited(self._threads, lambda *_: work(), noun=_NOUN, sends=False)

    def settle(self) -> Settled:
        """Look up what is unsettled, send nothing, and return what became of it.

        Raises:
            ReconError: the database is away.
        """
        return self._gate.sweep()

    def close(self) -> None:
        """Wait for calls under way, and give back every connection."""
        self._threads.shutdown()
        self._database.close()

    def _refund(
        self,
        give_up: GiveUp,
        began: float | None,
        *,
        about: Mapping[str, object],
        **asked: object,
    ) -> Outcome:
        """Return the outcome of one call, whatever happens."""
        if self._threads.closed:
            return callers.turned_away(_NOUN)
        noun, key = _NOUN, None
        try:
            business = keys.refund(**asked)
            if isinstance(business, Unfit):
                return outcomes.refused(business)
            wanted = self._wanted(business, about.get("reason"))
            noun, key = wanted.noun, wanted.key
            return self._gate.call(wanted, callers.asked({**asked, **about}), give_up=give_up, began=began)
        except Exception:
            # A bug of ours must not become an exception that the framework answers by calling again.
            log.exception("A bug in a guarded call.")
            return outcomes.unknown(noun, key)

    def _wanted(self, business: Business, reason: object) -> Wanted:
        key = keys.make(self._operation, business.account, business.fields)
        now = self._clock()
        intent = Intent(
            key=key,
            account=business.account,
            amount_minor=business.amount_minor,
            currency=business.currency,
            status=IntentStatus.PENDING,
            created_at=now,
            updated_at=now,
            order_id=business.order_id,
            reference=business.reference,
            payment=business.payment,
            tool=self._tool,
            team=self._team,
            customer_id=business.customer_id,
        )
        told = reason if isinstance(reason, str) and reason in _REASONS else _USUAL_REASON
        body = self._provider.body(intent, business.payment, reason=told)
        return Wanted(self._tool, _noun(intent), business.account, key, business.fingerprint, body, intent)

    def _status(self, order_id: str, account: AccountId) -> Outcome:
        until = self._gate.deadline()  # One for all of them.
        with self._gate.reading(until) as connection:
            every = sorted(intents.of_order(connection, account, order_id), key=outcomes.weight)
            found = every[:_LISTED]
            rows = [intents.read(connection, each.account, each.key) for each in found]
        if not found:
            return outcomes.never_asked(f"refund of order {order_id}")
        pairs = zip(found, rows, strict=True)
        stand = [
            self._standing(each, row or guarding.of_intent(each, self._tool), until) for each, row in pairs
        ]
        return outcomes.together(stand)

    def _standing(self, intent: Intent, row: Guarded, until: float) -> Outcome:
        own = replace(row, tool=self._tool)
        return callers.standing(self._gate, own, _noun(intent), self._clock(), until=until)


def settle(database: Database, settings: Settings, *, clock: Clock = utc_now) -> Settled:
    """Look up what is unsettled of the declared refund tools, send nothing, and return what became of it.

    Raises:
        ReconError: the database is away; or something is unsettled, and there is no key of the provider.
    """
    declared = registry.parse(settings.tools) or {TOOL: registry.undeclared(TOOL)}
    tools = [each.name for each in declared.values() if each.refunds]
    with database.read() as connection:
        if not intents.due(connection, tools, now=clock(), limit=1):
            return Settled()
    hands = Refunds(reached(settings))
    return Gate(database, dict.fromkeys(tools, hands), settings=settings.guard, clock=clock).sweep()


def _noun(intent: Intent) -> str:
    """Return what a message calls a refund; lines of one order are told apart by their references."""
    amount, reference = money.written(Money(intent.amount_minor, intent.currency)), intent.reference
    shown = reference if reference is None or len(reference) <= _SHOWN else f"{reference[:_SHOWN]}..."
    which = "" if shown is None else f" (reference {shown})"
    return f"refund of {amount} for order {intent.order_id}{which}"
