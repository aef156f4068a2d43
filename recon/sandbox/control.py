"""The control calls: what a test, the demo or a fire drill tells the street to do, and what it asks it.

POST /_sandbox/payments      {"id", "amount", "currency", "account"?, "charge"?, "customer"?, "created_at"?,
                              "refund_status"? what its new refunds begin as, "disputed"?}
POST /_sandbox/faults        {"on", "fault" one of those in faults.py, "times"?, "after_s"?, "match"?,
                              "page"? of drop_page}
DELETE /_sandbox/faults      the armed ones are taken back
POST /_sandbox/clock         {"advance_s"} or {"now"}
POST /_sandbox/refunds       {"payment", "amount"?, "reason"?, "metadata"?, "account"?, "status"?,
                              "created_at"?, "category"? that the ledger has it under}
POST /_sandbox/refunds/{id}  {"status", "failure_reason"?}
POST /_sandbox/slack         as workplace.py says; what people do there is in clicks.py
POST /_sandbox/reset
GET  /_sandbox/requests, messages, payments, faults, clock

Wrong input, a field that a call does not know among it, is a 400 that says what was expected.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recon.sandbox import faults, objects, provider, told, workplace
from recon.sandbox.errors import ProviderError
from recon.sandbox.provider import Origin, Payment, Refund, Wish
from recon.sandbox.slack import Message
from recon.sandbox.world import Room, World

_CURRENCY = re.compile(r"[a-z]{3}")
_PAYMENT = "id amount currency account charge customer created_at refund_status disputed"
_REFUND = "payment amount reason metadata account status created_at category"

Act = Callable[[World, Mapping[str, Any]], object]


def routes(room: Room) -> list[Route]:
    """The control paths over the world in that room."""

    def route(path: str, method: str, act: Act, takes: str = "") -> Route:
        return Route(f"/_sandbox/{path}", _endpoint(room, act, takes), methods=[method])

    def reset(_world: World, _sent: Mapping[str, Any]) -> object:
        room.reset()
        return {"ok": True}

    return [
        route("payments", "POST", _add_payment, _PAYMENT),
        route("payments", "GET", lambda world, _: [_payment(p) for p in world.provider.payments()]),
        route("faults", "POST", _arm, "on fault times after_s match page"),
        route("faults", "DELETE", lambda world, _: world.faults.take_back()),
        route("faults", "GET", lambda world, _: world.faults.shown()),
        route("clock", "POST", _move_clock, "advance_s now"),
        route("clock", "GET", lambda world, _: {"now": world.clock.iso()}),
        route("refunds", "POST", _add_refund, _REFUND),
        route("refunds/{id}", "POST", _change_refund, "status failure_reason"),
        route("requests", "GET", lambda world, _: [seen.shown() for seen in world.requests]),
        route("messages", "GET", lambda world, _: [_message(world, m) for m in world.slack.messages()]),
        route("slack", "POST", workplace.set_up, workplace.TAKES),
        route("reset", "POST", reset),
    ]


def unknown(known: list[Route]) -> Route:
    """What answers a control call that is none of these, with those that there are."""
    calls = sorted(
        f"{method} {route.path}" for route in known for method in (route.methods or set()) - {"HEAD"}
    )

    async def endpoint(request: Request) -> Response:
        error = f"there is no {request.method} {request.url.path}; expected one of {', '.join(calls)}"
        return told.Answer({"error": error}, status_code=404)

    return Route("/_sandbox/{path:path}", endpoint, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])


def _endpoint(room: Room, act: Act, takes: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            sent = await told.sent(request, takes)
            world = room.world
            world.now()
            return told.Answer(act(world, sent))
        except (ValueError, ProviderError) as refusal:
            return told.Answer({"error": str(refusal)}, status_code=400)

    return endpoint


def _add_payment(world: World, sent: Mapping[str, Any]) -> object:
    found = told.text(sent, "id")
    charge_only = found.startswith(("ch_", "py_"))
    payment = Payment(
        intent=None if charge_only else found,
        charge=found if charge_only else told.text(sent, "charge", provider.charge_for(found)),
        account=told.text(sent, "account", ""),
        amount_minor=_amount(sent),
        currency=_currency(sent),
        created=int(told.moment(sent, "created_at", world.clock.now())),
        customer=told.optional(sent, "customer"),
        refund_status=_status(sent, "refund_status", "succeeded"),
        disputed=told.flag(sent, "disputed", default=False),
    )
    world.provider.add_payment(payment)
    return _payment(payment)


def _add_refund(world: World, sent: Mapping[str, Any]) -> object:
    payment = _known_payment(world, sent)
    metadata = sent.get("metadata") or {}
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise told.WrongInputError(f'expected "metadata" with texts as values, found {metadata!r}')
    wish = Wish(
        amount_minor=None if sent.get("amount") is None else _amount(sent),
        reason=told.optional(sent, "reason"),
        metadata=dict(metadata),
        status=None if sent.get("status") is None else _status(sent, "status", ""),
        category=told.optional(sent, "category") or "refund",
    )
    moment = told.moment(sent, "created_at", world.clock.now())
    return objects.refund(world.provider.refund(payment, wish, origin=Origin(), now=moment))


def _change_refund(world: World, sent: Mapping[str, Any]) -> object:
    refund = _known_refund(world, sent)
    status = _status(sent, "status", "")
    reason = told.optional(sent, "failure_reason")
    world.provider.change(refund, status, reason, origin=Origin(), now=world.clock.now())
    return objects.refund(refund)


def _arm(world: World, sent: Mapping[str, Any]) -> object:
    fault = faults.read(sent)
    world.faults.arm(fault)
    return fault.shown()


def _move_clock(world: World, sent: Mapping[str, Any]) -> object:
    if "advance_s" not in sent and "now" not in sent:
        raise told.WrongInputError('expected "advance_s" in seconds, or "now" as an ISO 8601 time')
    seconds = sent.get("advance_s", 0)
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        raise told.WrongInputError(f'expected "advance_s" to be a number of seconds, found {seconds!r}')
    start = told.moment(sent, "now", world.clock.now())
    try:
        datetime.fromtimestamp(start + seconds, UTC)
    except (ValueError, OverflowError, OSError):
        raise told.WrongInputError(f'expected "advance_s" to lead to a time, found {seconds!r}') from None
    if "now" in sent:
        world.clock.set(datetime.fromtimestamp(start, UTC))
    world.clock.advance(seconds)
    world.now()
    return {"now": world.clock.iso()}


def _payment(payment: Payment) -> dict[str, Any]:
    return {
        "id": payment.intent or payment.charge,
        "payment_intent": payment.intent,
        "charge": payment.charge,
        "account": payment.account,
        "amount": payment.amount_minor,
        "amount_refunded": payment.refunded_minor,
        "currency": payment.currency,
    }


def _message(world: World, message: Message) -> dict[str, Any]:
    channel = world.slack.channels[message.channel]
    return {
        "channel": channel.id,
        "channel_name": channel.name,
        "ts": message.ts,
        "thread_ts": message.thread_ts,
        "broadcast": message.broadcast,
        "text": message.text,
        "blocks": message.blocks,
        "metadata": message.metadata,
        "edited": message.edited_ts is not None,
        "edits": message.edits,
    }


def _known_payment(world: World, sent: Mapping[str, Any]) -> Payment:
    name = told.text(sent, "payment")
    account = None if sent.get("account") is None else told.text(sent, "account", "")
    found = [p for p in world.provider.find_payments(name) if account is None or p.account == account]
    if len(found) != 1:
        where = "" if account is None else f" in account {account!r}"
        raise told.WrongInputError(
            f"expected one payment {name!r}{where}, found {len(found)}; say which account"
        )
    return found[0]


def _known_refund(world: World, sent: Mapping[str, Any]) -> Refund:
    found = world.provider.find_refunds(sent["id"])
    if len(found) != 1:
        raise told.WrongInputError(f"expected one refund {sent['id']!r}, found {len(found)}")
    return found[0]


def _amount(sent: Mapping[str, Any]) -> int:
    found = sent.get("amount")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise told.WrongInputError(f'expected "amount" to be whole minor units from 1, found {found!r}')
    return found


def _currency(sent: Mapping[str, Any]) -> str:
    found = told.text(sent, "currency").lower()
    if not _CURRENCY.fullmatch(found):
        raise told.WrongInputError(f'expected "currency" to be three letters, found {found!r}')
    return found


def _status(sent: Mapping[str, Any], name: str, default: str) -> str:
    found = told.text(sent, name, default or told.MISSING)
    if found not in provider.STATUSES:
        known = ", ".join(sorted(provider.STATUSES))
        raise told.WrongInputError(f'expected "{name}" to be one of {known}, found {found!r}')
    return found
