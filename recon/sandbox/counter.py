"""The provider's counter: keys, modes, idempotency, and which path does what."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from recon.sandbox import endpoints, errors, forms, objects
from recon.sandbox.endpoints import Visit
from recon.sandbox.errors import ProviderError
from recon.sandbox.faults import Fault, Kind, Subject
from recon.sandbox.idempotency import Asked, Kept, Scope
from recon.sandbox.provider import Origin
from recon.sandbox.wire import Answer, Call
from recon.sandbox.world import Seen, World

_KEY = re.compile(r"(sk|rk)_(test|live)\w*")
_ACCOUNT = re.compile(r"acct_\w+")
_ID = r"([^/]+)"
_ROUTES: tuple[tuple[str, str, Callable[[Visit], dict[str, Any]]], ...] = (
    ("POST", r"/v1/refunds", endpoints.create_refund),
    ("GET", r"/v1/refunds", endpoints.list_refunds),
    ("GET", rf"/v1/refunds/{_ID}", endpoints.retrieve_refund),
    ("POST", rf"/v1/refunds/{_ID}", endpoints.update_refund),
    ("POST", rf"/v1/refunds/{_ID}/cancel", endpoints.cancel_refund),
    ("GET", rf"/v1/payment_intents/{_ID}", endpoints.retrieve_payment_intent),
    ("GET", rf"/v1/charges/{_ID}", endpoints.retrieve_charge),
    ("GET", r"/v1/events", endpoints.list_events),
    ("GET", rf"/v1/events/{_ID}", endpoints.retrieve_event),
    ("GET", r"/v1/account", endpoints.retrieve_account),
)
_BROKEN = 500
_CURSORS = ("starting_after", "ending_before")


class ProviderCounter:
    """Serves the provider's paths."""

    def subject(self, world: World, call: Call) -> Subject:
        """What the request is about: its key, and the payment under both of its ids."""
        sent = dict(forms.pairs(call.query)) | dict(forms.pairs(call.text()))
        named = {sent[name] for name in ("payment_intent", "charge") if name in sent}
        named.update(call.path.split("/")[3:4])
        account = _account(call)
        ids = set(named)
        for name in named:
            refund = world.provider.account(account).refunds.get(name)
            payment = refund.payment if refund is not None else world.provider.payment(account, name)
            if payment is not None:
                ids.add(payment.charge)
                ids.update({payment.intent} if payment.intent is not None else ())
        page = _page(world, account, sent)
        return Subject(call.method, call.path, _key(call), frozenset(ids), page=page)

    def seen(self, world: World, call: Call, fault: Fault | None) -> Seen:
        """The request as the log shows it, its form flat as it was sent."""
        form: dict[str, Any] = dict(forms.pairs(call.text()))
        return Seen(call, world.now(), _key(call), _account(call), form, call.text(), fault)

    def hold(self, world: World, call: Call) -> Callable[[], None]:
        """Occupy the key, if there is one and it is free."""
        try:
            scope = _scope(call)
            held = scope is not None and world.keys.begin(scope, _asked(call), now=world.now()) is None
        except ProviderError:
            return _nothing
        return (lambda: world.keys.forget(scope)) if held and scope is not None else _nothing

    def refuse(self, call: Call, fault: Fault) -> Answer:
        """What the provider says when it did nothing."""
        refusal = {
            Kind.RATE_LIMIT: errors.rate_limited(),
            Kind.LOCK: errors.locked(),
            Kind.IN_USE: errors.key_in_use(_key(call)),
            Kind.FORBIDDEN: errors.forbidden(_secret(call), _account(call) or objects.PLATFORM),
        }.get(fault.kind, errors.broken())
        return _refusal(call, refusal)

    def perform(self, world: World, call: Call, fault: Fault | None) -> tuple[Answer, Callable[[], None]]:
        """Serve the request under its idempotency key."""
        now = world.now()
        try:
            scope = _scope(call)
            kept = None if scope is None else world.keys.begin(scope, _asked(call), now=now)
        except ProviderError as refusal:
            return _refusal(call, refusal), _nothing
        if kept is not None:
            headers = {"idempotent-replayed": "true", "original-request": kept.request}
            # What is kept stays so: a client that sends it again learns nothing.
            headers |= {"stripe-should-retry": "false"} if kept.status >= _BROKEN else {}
            return _raw(call, kept.status, kept.body, headers, replayed=True), _nothing
        answer, executed = self._execute(world, call, fault, now)
        if fault is not None and fault.kind in {Kind.ERROR_AFTER, Kind.ERROR_THEN_APPEARS}:
            answer = _refusal(call, errors.broken(retry=False))
        if scope is None:
            return answer, _nothing
        if not executed:
            return answer, lambda: world.keys.forget(scope)
        return answer, lambda: world.keys.keep(scope, Kept(answer.status, answer.body, call.id))

    def _execute(self, world: World, call: Call, fault: Fault | None, now: float) -> tuple[Answer, bool]:
        try:
            endpoint, ids = _route(call)
            shown = endpoint(_visit(world, call, fault, now, ids))
        except ProviderError as refusal:
            return _refusal(call, refusal), refusal.executed
        if shown.get("object") == "list" and shown["data"]:
            _remember(world, call, shown["data"])
        return _answer(call, 200, shown), True


def _remember(world: World, call: Call, data: list[dict[str, Any]]) -> None:
    """Note which page the ends of this one lead to."""
    page = _page(world, _account(call), dict(forms.pairs(call.query)))
    for end in (data[0]["id"], data[-1]["id"]):
        world.pages[_account(call), end] = page + 1


def _page(world: World, account: str, sent: dict[str, str]) -> int:
    cursor = next((sent[name] for name in _CURSORS if name in sent), None)
    return 1 if cursor is None else world.pages.get((account, cursor), 2)


def _route(call: Call) -> tuple[Callable[[Visit], dict[str, Any]], tuple[str, ...]]:
    for method, pattern, endpoint in _ROUTES:
        match = re.fullmatch(pattern, call.path)
        if match is not None and method == call.method:
            return endpoint, match.groups()
    raise errors.unknown_url(call.method, call.path)


def _visit(world: World, call: Call, fault: Fault | None, now: float, ids: tuple[str, ...]) -> Visit:
    kind = None if fault is None else fault.kind
    after_s = 0.0 if fault is None else fault.after_s
    return Visit(
        provider=world.provider,
        account=_account(call),
        live=_live(call),
        params=forms.Params(forms.pairs(call.query) + forms.pairs(call.text())),
        ids=ids,
        origin=Origin(call.id, _key(call)),
        now=now,
        appears_after_s=after_s if kind is Kind.ERROR_THEN_APPEARS else 0.0,
        hidden_from=now - after_s if kind is Kind.INVISIBLE else None,
    )


def _secret(call: Call) -> str:
    scheme, _, rest = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(rest, validate=True).decode("utf-8", "replace").partition(":")[0]
        except binascii.Error:
            return ""
    return ""


def _live(call: Call) -> bool:
    secret = _secret(call)
    if not secret:
        raise errors.no_key()
    match = _KEY.fullmatch(secret)
    if match is None:
        raise errors.wrong_key(secret)
    return match[2] == "live"


def _key(call: Call) -> str | None:
    return call.headers.get("idempotency-key") or None


def _account(call: Call) -> str:
    named = call.headers.get("stripe-account", "")
    return "" if named == objects.PLATFORM else named


def _scope(call: Call) -> Scope | None:
    live = _live(call)
    if (named := _account(call)) and not _ACCOUNT.fullmatch(named):
        raise errors.no_account(_secret(call), named)
    key = _key(call)
    return Scope(_account(call), live, key) if key is not None and call.method == "POST" else None


def _asked(call: Call) -> Asked:
    return Asked(call.path, tuple(sorted(forms.pairs(call.text()))))


def _refusal(call: Call, refusal: ProviderError) -> Answer:
    answer = _answer(call, refusal.status, refusal.body())
    if refusal.retry is None:
        return answer
    return replace(answer, headers={**answer.headers, "stripe-should-retry": str(refusal.retry).lower()})


def _answer(call: Call, status: int, content: dict[str, Any]) -> Answer:
    encoded = Answer.of(status, content, indent=2)
    return _raw(call, status, encoded.body, {})


def _raw(call: Call, status: int, body: bytes, extra: dict[str, str], *, replayed: bool = False) -> Answer:
    headers = {
        "content-type": "application/json",
        "request-id": call.id,
        "stripe-version": call.headers.get("stripe-version", objects.API_VERSION),
        **extra,
    }
    if (key := _key(call)) is not None:
        headers["idempotency-key"] = key
    if (account := _account(call)) != "":
        headers["stripe-account"] = account
    return Answer(status, body, headers, replayed)


def _nothing() -> None:
    """End nothing: the request held no key."""
