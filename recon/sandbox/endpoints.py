"""What each of the provider's paths does, with its parameters checked before anything is done."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from recon.sandbox import errors, objects
from recon.sandbox.forms import Params
from recon.sandbox.provider import Event, Origin, Payment, Provider, Refund, Wish
from recon.sandbox.shelf import Cut

REASONS = ("duplicate", "fraudulent", "requested_by_customer")
# The provider lists events for 30 days, and takes at most 20 types at once.
_EVENTS_KEPT_S = 30 * 86_400
_TYPES_LIMIT = 20

_CREATE = (
    "amount",
    "charge",
    "currency",
    "customer",
    "expand",
    "instructions_email",
    "metadata",
    "origin",
    "payment_intent",
    "reason",
    "refund_application_fee",
    "reverse_transfer",
)
_PAGING = ("created", "ending_before", "expand", "limit", "starting_after")
_REFUND_PATHS = re.compile(
    r"charge(\.(refunds|payment_intent))?|payment_intent(\.latest_charge(\.refunds)?)?|balance_transaction"
)
_CHARGE_PATHS = re.compile(r"refunds|payment_intent")
_INTENT_PATHS = re.compile(r"latest_charge(\.(refunds|payment_intent))?")


@dataclass(frozen=True, slots=True)
class Visit:
    """One request at one path; `hidden_from` hides what was made at or after that time."""

    provider: Provider
    account: str
    live: bool
    params: Params
    ids: tuple[str, ...]
    origin: Origin
    now: float
    appears_after_s: float = 0.0
    hidden_from: float | None = None

    def shows(self, item: Refund | Event) -> bool:
        """Whether the item is old enough to be seen by this request."""
        return self.hidden_from is None or item.place[0] < self.hidden_from


def create_refund(visit: Visit) -> dict[str, Any]:
    """POST /v1/refunds."""
    params = visit.params
    params.allow(*_CREATE)
    amount_minor = params.integer("amount")
    # It is of use for a customer's balance alone; of a charge the currency is known.
    params.currency("currency")
    metadata = params.metadata() or {}
    reason = params.text("reason")
    if reason is not None and reason not in REASONS:
        raise errors.ProviderError(
            "Invalid reason: must be one of duplicate, fraudulent, or requested_by_customer", param="reason"
        )
    wanted = _expand(params, _REFUND_PATHS)
    payment = _payment_to_refund(visit)
    wish = Wish(
        amount_minor=amount_minor,
        reason=reason,
        metadata={name: text for name, text in metadata.items() if text},
        appears_after_s=visit.appears_after_s,
    )
    refund = visit.provider.refund(payment, wish, origin=visit.origin, now=visit.now)
    return objects.expanded_refund(refund, wanted, live=visit.live)


def list_refunds(visit: Visit) -> dict[str, Any]:
    """GET /v1/refunds: newest first, of one payment where asked for."""
    params = visit.params
    params.allow("charge", "payment_intent", *_PAGING)
    wanted = _expand(params, _REFUND_PATHS, prefix="data.")
    cut = Cut.read(params)
    named = [
        _named(visit, kind, found)
        for kind in ("charge", "payment_intent")
        if (found := params.text(kind)) is not None
    ]
    among = None
    if named:
        among = sorted((r for r in named[0].refunds if r.appeared), key=lambda r: r.place)
    page = visit.provider.account(visit.account).refunds.page(
        cut, kind="refund", keep=lambda r: visit.shows(r) and all(r.payment is p for p in named), among=among
    )
    shown = (objects.expanded_refund(r, wanted, live=visit.live) for r in page.items)
    return objects.listing("/v1/refunds", shown, more=page.more)


def retrieve_refund(visit: Visit) -> dict[str, Any]:
    """GET /v1/refunds/{id}."""
    visit.params.allow("expand")
    wanted = _expand(visit.params, _REFUND_PATHS)
    return objects.expanded_refund(_refund(visit), wanted, live=visit.live)


def update_refund(visit: Visit) -> dict[str, Any]:
    """POST /v1/refunds/{id}: only its metadata may change."""
    visit.params.allow("metadata", "expand")
    metadata = visit.params.metadata()
    wanted = _expand(visit.params, _REFUND_PATHS)
    refund = _refund(visit)
    visit.provider.update(refund, metadata, origin=visit.origin, now=visit.now)
    return objects.expanded_refund(refund, wanted, live=visit.live)


def cancel_refund(visit: Visit) -> dict[str, Any]:
    """POST /v1/refunds/{id}/cancel."""
    visit.params.allow("expand")
    wanted = _expand(visit.params, _REFUND_PATHS)
    refund = _refund(visit)
    visit.provider.cancel(refund, origin=visit.origin, now=visit.now)
    return objects.expanded_refund(refund, wanted, live=visit.live)


def retrieve_payment_intent(visit: Visit) -> dict[str, Any]:
    """GET /v1/payment_intents/{id}."""
    visit.params.allow("expand", "client_secret")
    wanted = _expand(visit.params, _INTENT_PATHS)
    payment = visit.provider.account(visit.account).intents.get(visit.ids[0])
    if payment is None:
        raise errors.missing("payment_intent", visit.ids[0], param="intent")
    return objects.expanded_payment_intent(payment, wanted, live=visit.live)


def retrieve_charge(visit: Visit) -> dict[str, Any]:
    """GET /v1/charges/{id}."""
    visit.params.allow("expand")
    wanted = _expand(visit.params, _CHARGE_PATHS)
    payment = visit.provider.account(visit.account).charges.get(visit.ids[0])
    if payment is None:
        raise errors.missing("charge", visit.ids[0], param="id")
    return objects.expanded_charge(payment, wanted, live=visit.live)


def list_events(visit: Visit) -> dict[str, Any]:
    """GET /v1/events: those of the last 30 days, of some types where asked for."""
    params = visit.params
    params.allow("delivery_success", "type", "types", *_PAGING)
    types = params.texts("types")
    one = params.text("type")
    if one is not None and types:
        raise errors.ProviderError("You may only specify one of these parameters: type, types.")
    if len(types) > _TYPES_LIMIT:
        raise errors.ProviderError(f"types may have at most {_TYPES_LIMIT} entries.", param="types")
    wanted = (one,) if one is not None else types
    oldest = visit.now - _EVENTS_KEPT_S
    page = visit.provider.account(visit.account).events.page(
        Cut.read(params),
        kind="event",
        keep=lambda e: visit.shows(e) and e.place[0] >= oldest and (not wanted or _is_of(e.type, wanted)),
    )
    return objects.listing(
        "/v1/events", (objects.event(e, live=visit.live) for e in page.items), more=page.more
    )


def retrieve_event(visit: Visit) -> dict[str, Any]:
    """GET /v1/events/{id}."""
    visit.params.allow("expand")
    event = visit.provider.account(visit.account).events.get(visit.ids[0])
    if event is None or not visit.shows(event):
        raise errors.missing("event", visit.ids[0], param="id")
    return objects.event(event, live=visit.live)


def retrieve_account(visit: Visit) -> dict[str, Any]:
    """GET /v1/account."""
    visit.params.allow("expand")
    return objects.account(visit.account)


def _refund(visit: Visit) -> Refund:
    refund = visit.provider.account(visit.account).refunds.get(visit.ids[0])
    if refund is None or not visit.shows(refund):
        raise errors.missing("refund", visit.ids[0], param="refund")
    return refund


def _payment_to_refund(visit: Visit) -> Payment:
    charge, intent = visit.params.text("charge"), visit.params.text("payment_intent")
    if charge is not None and intent is not None:
        payment = _named(visit, "payment_intent", intent)
        if payment.charge != charge:
            raise errors.ProviderError(f"The charge {charge} does not belong to {intent}.", param="charge")
        return payment
    if charge is not None:
        return _named(visit, "charge", charge, param="id")
    if intent is not None:
        return _named(visit, "payment_intent", intent)
    raise errors.ProviderError(
        "One of the following params should be provided for this request: payment_intent or charge."
    )


def _named(visit: Visit, kind: str, found: str, *, param: str | None = None) -> Payment:
    account = visit.provider.account(visit.account)
    payment = (account.charges if kind == "charge" else account.intents).get(found)
    if payment is None:
        raise errors.missing(kind, found, param=param or kind)
    return payment


def _expand(params: Params, allowed: re.Pattern[str], *, prefix: str = "") -> tuple[str, ...]:
    wanted = params.texts("expand")
    for path in wanted:
        if not path.startswith(prefix) or not allowed.fullmatch(path.removeprefix(prefix)):
            raise objects.not_expandable(path)
    return tuple(path.removeprefix(prefix) for path in wanted)


def _is_of(kind: str, wanted: tuple[str, ...]) -> bool:
    return any(kind == w or (w.endswith(".*") and kind.startswith(w[:-1])) for w in wanted)
