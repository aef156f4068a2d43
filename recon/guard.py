"""The guarded tool: every retry, from whatever layer, lands on the same answer.

`RefundTool` refunds an order once, whoever asks for it how often; `Guard` does the same for any side effect.
Neither raises into the framework that calls it. Loads no frames: it lives in other people's processes.
"""

import asyncio
import contextvars
import inspect
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Self

from sqlalchemy import Engine

from recon.doors import config, intents
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.guarding import Gate
from recon.handling import Finder, Functions, Refunds, Sender, reached
from recon.model import characters, money, registry, stored
from recon.model.errors import ConfigurationError, ReconError
from recon.model.records.guarded import Asked, Guarded, Outcome, OutcomeStatus, Settled, Unfit, Wanted
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
_THREADS = 32  # Calls at a time of one process; those that wait for another's answer hold one each.
_LONGEST_WORD = 500  # Of what is recorded about a call: enough to find it again.
_LISTED = 10  # Refunds of one order that a status tells of.

Clock = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now(UTC)


class RefundTool:
    """The refund tool of an agent."""

    def __init__(
        self,
        engine: Database | Engine,
        provider: Provider,
        clock: Clock = _now,
        *,
        settings: GuardSettings | None = None,
        tool: str = TOOL,
        operation: str | None = None,
        team: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """engine: its URL is opened anew, so that no transaction of the host's is ever part of a refund.

        operation: what its keys begin with; None is the tool's name.
        """
        self._database = _opened(engine)
        self._provider = provider
        self._clock = clock
        self._tool = tool
        self._operation = operation or tool
        self._team = team
        self._gate = Gate(
            self._database,
            {tool: Refunds(provider)},
            settings=settings or GuardSettings(),
            clock=clock,
            sleep=sleep,
        )
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="recon-refund")

    @classmethod
    def from_settings(cls, settings: Settings | None = None, *, tool: str = TOOL) -> Self:
        """Return the tool as configuration and environment say.

        Raises:
            ConfigurationError: they do not say what they should, tools.toml declares no such tool or another
                key, or there is no key of the provider.
        """
        told = config.load() if settings is None else settings
        declared = registry.parse(told.tools)
        wrong = declaring.refusal(declared, tool, Effect.SIDE_EFFECT, KEY_FIELDS)
        if wrong is not None:
            raise ConfigurationError(wrong)
        operation = declared[tool].operation
        database = Database.open(told.database_url.reveal())
        return cls(database, reached(told), settings=told.guard, tool=tool, operation=operation)

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
    ) -> Outcome:
        """Refund an order once, and return what the caller may believe.

        amount: major units, never a float. payment: the provider's id of what the customer paid. reference:
        what makes a second refund of the order another one, such as an order line or a return; never of the
        model's making. call_id, caller: who asked; recorded only.
        """
        return self._refund(
            lambda: False,
            {"call_id": call_id, "caller": caller, "reason": reason},
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
    ) -> Outcome:
        """Do the same without holding up the event loop.

        Whoever is cancelled hears of it at once: what was not sent by then is not sent, and of what was, the
        books say so and its answer is written down when it comes.
        """
        stop = threading.Event()
        work = partial(
            self._refund,
            stop.is_set,
            {"call_id": call_id, "caller": caller, "reason": reason},
            began=time.monotonic(),  # It may have to wait for a thread.
            order_id=order_id,
            amount=amount,
            currency=currency,
            payment=payment,
            reference=reference,
            account=account,
            customer_id=customer_id,
        )
        context = contextvars.copy_context()
        try:
            running = asyncio.get_running_loop().run_in_executor(self._threads, context.run, work)
        except RuntimeError:  # The process is ending.
            return outcomes.not_by_this(_NOUN, None, "this tool is closed")
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:  # The framework's time-out, or a person who closed the window.
            stop.set()
            raise

    def check_refund_status(self, order_id: str | int, *, account: str = "") -> Outcome:
        """Return how the newest refund of an order stands, and in others how earlier ones do; sends nothing.

        What is unknown is looked up. Rejected is what was never done.
        """
        noun = _NOUN
        try:
            named = keys.order(order_id, account)
            if isinstance(named, Unfit):
                return outcomes.refused(named.reason)
            noun = f"refund of order {named[0]}"
            return self._status(*named)
        except ReconError as error:  # The database is away.
            log.warning("The status of an order cannot be read: %s", error)
        except Exception:
            log.exception("A bug while a status was read.")
        return outcomes.unknown(noun, None)

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
        give_up: Callable[[], bool],
        about: Mapping[str, object],
        *,
        began: float | None = None,
        **asked: object,
    ) -> Outcome:
        """Return the outcome of one call, whatever happens."""
        noun, key = _NOUN, None
        try:
            business = keys.refund(**asked)
            if isinstance(business, Unfit):
                return outcomes.refused(business.reason)
            wanted = self._wanted(business, about.get("reason"))
            noun, key = wanted.noun, wanted.key
            return self._gate.call(wanted, _asked({**asked, **about}), give_up=give_up, began=began)
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
        with self._database.read() as connection:
            found = intents.of_order(connection, account, order_id)[:_LISTED]
            rows = [intents.read(connection, each.account, each.key) for each in found]
        if not found:
            return outcomes.never_asked(order_id)
        pairs = zip(found, rows, strict=True)
        first, *others = (
            self._standing(each, row or guarding.of_intent(each, self._tool)) for each, row in pairs
        )
        return replace(first, others=tuple(others))

    def _standing(self, intent: Intent, row: Guarded) -> Outcome:
        noun, row = _noun(intent), replace(row, tool=self._tool)
        if guarding.step(row) is guarding.Step.LOOK:
            with suppress(ReconError):  # A run or a person is faster, or the database is away.
                row = self._gate.look(row)
        if row.status is IntentStatus.DONE:
            return self._gate.confirm(row, noun)
        if row.status is IntentStatus.FAILED:
            return outcomes.failed(noun, row)
        if row.first_sent_at is None and row.until <= self._clock():
            return outcomes.not_sent(noun, row.key, "nobody has sent it")
        return outcomes.open_still(noun, row)


def settle(database: Database, settings: Settings, *, clock: Clock = _now) -> Settled:
    """Look up what is unsettled of the declared refund tools, send nothing, and return what became of it.

    Raises:
        ReconError: the database is away; or something is unsettled, and there is no key of the provider.
    """
    declared = registry.parse(settings.tools) or {TOOL: registry.undeclared(TOOL)}
    tools = [each.name for each in declared.values() if "payment" in each.fingerprint]
    with database.read() as connection:
        if not intents.due(connection, tools, now=clock(), limit=1):
            return Settled()
    hands = Refunds(reached(settings))
    return Gate(database, dict.fromkeys(tools, hands), settings=settings.guard, clock=clock).sweep()


class Guard:
    """Any side effect of a function, once for each decision.

    Where no function finds what was done, an unknown effect stays unknown until a person settles it.
    """

    def __init__(
        self,
        tool: str,
        send: Sender,
        find: Finder | None = None,
        *,
        engine: Database | Engine,
        clock: Clock = _now,
        settings: GuardSettings | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """send: takes key and body, and returns an id; ProviderRefused from it says that nothing was done.

        find: takes the same, and returns the id of what the key made, or None where all was looked through.

        Raises:
            ConfigurationError: one of them is a coroutine function, which a call of it would not run.
        """
        if any(map(inspect.iscoroutinefunction, (send, find))):
            raise ConfigurationError(f"Expected plain functions for {tool}, found a coroutine function.")
        self._tool = tool
        self._gate = Gate(
            _opened(engine),
            {tool: Functions(send, find)},
            settings=settings or GuardSettings(),
            clock=clock,
            sleep=sleep,
        )

    def call(
        self,
        fields: Mapping[str, str | int | None],
        body: Mapping[str, object],
        *,
        noun: str,
        account: str = "",
        call_id: str | None = None,
        caller: str | None = None,
    ) -> Outcome:
        """Do it once for these fields, and return what the caller may believe.

        fields: what makes the decision, as texts or whole numbers; None is absent. body: what is sent, as
        JSON has it; the same fields with another body are refused. noun: for messages.
        """
        key = None
        try:
            named = keys.decision(fields, account)
            if isinstance(named, Unfit):
                return outcomes.refused(named.reason)
            key = keys.make(self._tool, *named)
            prints = {name: stored.canonical(value) for name, value in body.items()}
            wanted = Wanted(self._tool, noun, named[0], key, prints, body)
            return self._gate.call(wanted, _asked({**fields, "call_id": call_id, "caller": caller}))
        except Exception:
            # As with a refund.
            log.exception("A bug in a guarded call.")
            return outcomes.unknown(noun, key)

    def settle(self) -> Settled:
        """Look up what is unsettled, send nothing, and return what became of it.

        Raises:
            ReconError: the database is away.
        """
        return self._gate.sweep()


def _opened(engine: Database | Engine) -> Database:
    if isinstance(engine, Database):
        return engine
    return Database.open(engine.url.render_as_string(hide_password=False))


def _noun(intent: Intent) -> str:
    """Return what a message calls a refund."""
    amount = money.written(Money(intent.amount_minor, intent.currency))
    return f"refund of {amount} for order {intent.order_id}"


def _asked(words: Mapping[str, object]) -> Asked:
    """Return who asked for what, as texts that any database keeps."""
    told = {
        name: characters.keepable(str(value))[:_LONGEST_WORD]
        for name, value in words.items()
        if value is not None
    }
    return Asked(told.pop("call_id", None), told.pop("caller", None), told)
