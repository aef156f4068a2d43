"""The refund tool as plain functions of what a model may say: an order, an amount and a reason.

The host's own look-up says the rest. Nothing here raises into whatever calls it; the other adapters add no
more than the form that their framework wants.
"""

import asyncio
import inspect
import json
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from recon.guard import Outcome, RefundTool
from recon.model import tool_texts
from recon.model.records.guarded import Unfit
from recon.model.records.payables import Payable
from recon.rules import keys, outcomes

__all__ = ["Lookup", "Payable", "Refunds", "text", "unanswered", "unfit"]

F = TypeVar("F", bound=Callable[..., object])
log = logging.getLogger("recon.guard")  # In the host's own process: its handlers, its format.

# Takes an order as the model names it, and returns what the host knows of it; None where there is none.
Lookup = Callable[[str], "Payable | Awaitable[Payable | None] | None"]
Told = dict[str, object]  # What a model is told: status, message, and refund_id where there is one.

_NO_ANSWER = "the order cannot be looked up"
_ANY_AMOUNT = "1000"  # Exact in every currency: what is wrong beside it, no model can put right.


class Refunds:
    """A refund tool with a host's look-up before it. Every method returns an outcome and raises nothing."""

    def __init__(self, tool: RefundTool, lookup: Lookup) -> None:
        """lookup: a plain function, or a coroutine function, which serves the asynchronous methods alone."""
        self._tool = tool
        self._lookup = lookup

    def refund(
        self,
        order_id: object,
        amount: object,
        reason: object = None,
        *,
        call_id: str | None = None,
        caller: str | None = None,
    ) -> Outcome:
        """Refund an order once. call_id, caller: who asked, as the framework names them; recorded only."""
        began = time.monotonic()
        found = self._found(order_id)
        if isinstance(found, Outcome):
            return found
        asked = _asked(found, amount) | {"reason": _spoken(reason)}
        return self._tool.refund_order(**asked, call_id=call_id, caller=caller, began=began)

    async def arefund(
        self,
        order_id: object,
        amount: object,
        reason: object = None,
        *,
        call_id: str | None = None,
        caller: str | None = None,
    ) -> Outcome:
        """Do the same without holding up the event loop; a look-up that takes too long is let go."""
        began = time.monotonic()
        found = await self._afound(order_id)
        if isinstance(found, Outcome):
            return found
        asked = _asked(found, amount) | {"reason": _spoken(reason)}
        return await self._tool.arefund_order(**asked, call_id=call_id, caller=caller, began=began)

    def status(self, order_id: object) -> Outcome:
        """Return how the refunds of an order stand; sends nothing."""
        found = self._found(order_id, status=True)
        if isinstance(found, Outcome):
            return found
        return self._tool.check_refund_status(found.order_id, account=found.account)

    async def astatus(self, order_id: object) -> Outcome:
        """Do the same without holding up the event loop."""
        found = await self._afound(order_id, status=True)
        if isinstance(found, Outcome):
            return found
        return await self._tool.acheck_refund_status(found.order_id, account=found.account)

    def functions(self) -> tuple[Callable[..., Told], Callable[..., Told]]:
        """Return refund_order and check_refund_status, for frameworks that read signatures and docstrings."""

        def refund_order(order_id: str, amount: str, reason: str = "") -> Told:
            return self.refund(order_id, amount, reason).to_model()

        def check_refund_status(order_id: str) -> Told:
            return self.status(order_id).to_model()

        return _described(refund_order), _described(check_refund_status)

    def afunctions(self) -> tuple[Callable[..., Awaitable[Told]], Callable[..., Awaitable[Told]]]:
        """Return the same as coroutine functions."""

        async def refund_order(order_id: str, amount: str, reason: str = "") -> Told:
            return (await self.arefund(order_id, amount, reason)).to_model()

        async def check_refund_status(order_id: str) -> Told:
            return (await self.astatus(order_id)).to_model()

        return _described(refund_order), _described(check_refund_status)

    def _found(self, order_id: object, *, status: bool = False) -> Payable | Outcome:
        named = _named(order_id)
        if isinstance(named, Outcome):
            return named
        try:
            found = self._lookup(named)
            if inspect.iscoroutine(found):
                found.close()
        except Exception:  # Whatever the host's books raise: nothing was sent by this call.
            log.exception("The order of a refund cannot be looked up.")
            return _away(named, status=status)
        return _payable(named, found, status=status)

    async def _afound(self, order_id: object, *, status: bool = False) -> Payable | Outcome:
        named = _named(order_id)
        if isinstance(named, Outcome):
            return named
        try:
            async with asyncio.timeout(self._tool.deadline_seconds):
                if inspect.iscoroutinefunction(self._lookup):
                    found = await self._lookup(named)
                else:
                    found = await asyncio.to_thread(_plainly, self._lookup, named)
                    found = await found if inspect.isawaitable(found) else found
        except asyncio.CancelledError:
            asking = asyncio.current_task()
            if asking is None or asking.cancelling():  # Nobody waits for an answer.
                raise
            log.exception("What looks up the order of a refund was cancelled.")  # By the host's own code.
            return _away(named, status=status)
        except Exception:  # As above; or it took too long.
            log.exception("The order of a refund cannot be looked up.")
            return _away(named, status=status)
        return _payable(named, found, status=status)


def _plainly(lookup: Lookup, named: str) -> object:
    """Return what a plain look-up finds, from a thread.

    Raises:
        LookupError: it ended as `next` does where there is nothing; no thread can hand StopIteration on, and
            whoever waits for it waits for ever.
    """
    try:
        return lookup(named)
    except StopIteration as nothing:
        raise LookupError("the look-up of an order raised StopIteration") from nothing


def text(outcome: Outcome) -> str:
    """Return what a model is told as JSON, for frameworks whose answers are texts."""
    return json.dumps(outcome.to_model(), ensure_ascii=False)


def unanswered() -> Outcome:
    """Return what a model is told where a framework stopped waiting: it may have been sent."""
    return outcomes.unknown("refund", None)


def unfit(reason: str) -> Outcome:
    """Return what a model is told whose arguments are none."""
    return outcomes.refused(reason)


def _named(order_id: object) -> str | Outcome:
    """Return an order in its one spelling, or why there can be none."""
    found = keys.order(order_id, "")
    return outcomes.refused(found) if isinstance(found, Unfit) else found[0]


def _payable(named: str, found: object, *, status: bool) -> Payable | Outcome:
    if isinstance(found, Payable):
        wrong = _wrong(found, status=status)
        return found if wrong is None else outcomes.refused(wrong)
    if found is None:
        return outcomes.refused(f"expected an order that can be refunded; found none that is called {named}")
    log.error("Expected a Payable from the look-up of an order, found %s.", type(found).__name__)
    return _away(named, status=status)


def _wrong(found: Payable, *, status: bool) -> Unfit | None:
    """Return why what the host's books say of an order cannot be, whatever a model says; None if it can."""
    if status:
        told: object = keys.order(found.order_id, found.account)
    else:
        told = keys.refund(**_asked(found, _ANY_AMOUNT))
    if not isinstance(told, Unfit):
        return None
    log.error("Expected a Payable that can be refunded, found one of which this is so: %s.", told.reason)
    return replace(told, for_person=True)


def _away(named: str, *, status: bool) -> Outcome:
    """Return what is so where the host's books say nothing: of earlier calls, nobody knows."""
    noun = f"refund of order {named}"
    return outcomes.unknown(noun, None) if status else outcomes.not_by_this(noun, None, _NO_ANSWER)


def _asked(found: Payable, amount: object) -> dict[str, Any]:
    return {
        "order_id": found.order_id,
        "amount": amount,
        "currency": found.currency,
        "payment": found.payment,
        "reference": found.reference,
        "account": found.account,
        "customer_id": found.customer_id,
    }


def _spoken(reason: object) -> str | None:
    return reason if isinstance(reason, str) and reason else None


def _described(function: F) -> F:
    function.__doc__ = tool_texts.named(function.__name__).docstring
    return function
