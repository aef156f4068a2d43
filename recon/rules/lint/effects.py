"""Which calls move money, and which idempotency key each of them is given.

Never judges a key.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto

from recon.rules.lint import aliases, holdings, mappings, trees, urls, words, wrappers
from recon.rules.lint.trees import Source

_NOUNS = r"(?:refunds?|charges?|payment_?intents?|transfers?|payouts?)"
_STRIPE_CLASS = re.compile(
    r"(?:^|\.)_?stripe\w*(?:\(\))?\.(?:(?:Refund|Charge|PaymentIntent|Transfer|Payout)\."
    r"create(?:_async)?|Charge\.retrieve(?:_async)?\(\)\.refund$)"
)
_CLIENT = re.compile(rf"\w.*\.{_NOUNS}\.create(?:_async)?")
_CLIENTS = re.compile(r"client|stripe|sdk|gateway|provider|(?:^|[._])api(?:[._]|$)|\.v[12]\.", re.IGNORECASE)
_PROVIDERS = re.compile(
    r"(?:^|[._])(?:stripe|razorpay|square|squareup|paypal\w*|braintree|adyen|mollie|gocardless\w*|"
    r"dwolla\w*|plaid|"
    r"paystack\w*|yookassa|mercadopago|checkout_sdk|wise|flutterwave\w*|rave_python)(?:[._(]|$)",
    re.IGNORECASE,
)
_PROVIDER_CALLS = re.compile(
    r"(?:refund(?:_\w*payment|_\w*order|_async)?|captures_refund|refund_captured_payment|"
    r"create_(?:refund|payout|transfer|"
    r"charge|payment)|transfer_create|create_transfer|sale|create(?:_async)?)"
)
_CLASSES = re.compile(
    rf"\.(?:{_NOUNS}|payments?|transactions?|captures?|refunds_api)(?:\(\))?\.(?:create|refund|sale)",
    re.IGNORECASE,
)
_CARRIERS = re.compile(
    r"(?:\w+_)?(?:body|request|req|params|payload|data|options|opts|headers|kwargs|input|args|command|"
    r"config|json|extra)"
)
_HANDS_ON = re.compile(
    r"(?:^|\.)(?:to_thread|run_in_executor|run_in_threadpool|run_sync|submit|partial|retry_call|"
    r"apply_async|Retrying\(\))$"
)
_NOTES = {"metadata", "notes"}  # What the provider keeps for us, and does not obey.
GUARD = re.compile(r"(?:.*\.)?a?refund_order")
_SECOND = re.compile(r"(?:^|\.)yookassa(?:\.\w+)*\.(?:Payment|Refund|Payout)\.create")


class State(StrEnum):
    """What is known of the key of a call."""

    GIVEN = auto()  # There is one.
    MISSING = auto()  # There is certainly none.
    MISPLACED = auto()  # There is one where the SDK does not look.
    UNKNOWN = auto()  # It may come from where the module does not show.


@dataclass(frozen=True, slots=True)
class Effect:
    """A call that moves money.

    name: as a sentence calls it. by_http: it is a request of its own, not an SDK's. keys: the expressions.
    sends: what sends it, where that is a function of the same module; else None.
    """

    call: ast.Call
    name: str
    state: State
    by_http: bool = False
    keys: tuple[ast.expr, ...] = ()
    sends: ast.Call | None = None


def of(source: Source, call: ast.Call) -> Effect | None:
    """Return what a call does to money; None when it does nothing that is known here."""
    if trees.callee(source, call) is not None or _is_decorator(source, call):
        return _by_wrapper(source, call)
    if GUARD.fullmatch(called(source, call)) and imports(source, "recon"):
        return None  # It makes the key itself.
    effect = _by_name(source, call, called(source, call))
    if effect is None and (name := aliases.behind(source, call)) is not None:
        return _by_name(source, call, name)
    return effect


def _by_name(source: Source, call: ast.Call, name: str) -> Effect | None:
    """Return what a call of a dotted name does to money; None when that says nothing."""
    if _STRIPE_CLASS.search(name) and name.rpartition(".")[2].startswith(("create", "refund")):
        return _judged(source, call, name, _from_keywords(source, call))
    if _CLIENT.fullmatch(name) and (_CLIENTS.search(name) or imports(source, "stripe")):
        if _is_stripe(source, name):
            return _judged(source, call, name, _from_options(source, call))
        return _judged(source, call, name, _from_anywhere(source, call))
    if _SECOND.search(name) or (_is_provider(source, name) and _is_provider_call(call, name)):
        return _judged(source, call, name, _from_anywhere(source, call))
    return _by_http(source, call, name)


def called(source: Source, call: ast.Call) -> str:
    """Return the dotted name of what a call calls, or hands on: `to_thread(stripe.Refund.create, ...)`."""
    name = trees.dotted(source, call.func)
    if isinstance(call.func, ast.Name):  # create = stripe.Refund.create
        known = holdings.standing(source, call.func.id, call.func, trees.scope_of(source, call))
        known = known or source.bindings.get((source.tree, call.func.id), ())
        if len(known) == 1 and isinstance(known[0].value, ast.Attribute):
            return trees.dotted(source, known[0].value)
    if _HANDS_ON.search(name):
        for each in call.args[:2]:
            if isinstance(each, ast.Attribute):
                return trees.dotted(source, each)
    return name


def imports(source: Source, package: str) -> bool:
    """Return whether a module imports a package or anything of it."""
    return any(each.partition(".")[0] == package for each in source.imports.values())


def second_key(source: Source, call: ast.Call) -> ast.expr | None:
    """Return the key that an SDK takes as its second argument, without a name; None for any other call."""
    second = call.args[1:2]
    return second[0] if second and _SECOND.search(trees.dotted(source, call.func)) else None


Found = tuple[State, tuple[ast.expr, ...]]


def _judged(source: Source, call: ast.Call, name: str, found: Found) -> Effect:
    """Return an SDK's call with what is known of its key."""
    state, keys = found
    second = second_key(source, call)
    if second is not None:
        state, keys = State.GIVEN, (second,)
    return Effect(call, shown(name), state, keys=keys)


def shown(name: str) -> str:
    """Return a dotted name as a sentence shows it."""
    return name.replace("[]", "").replace("()", "").lstrip(".")


def _is_stripe(source: Source, name: str) -> bool:
    """Return whether a client is Stripe's: keys go into its options, and nowhere else."""
    return "stripe" in name.lower() or ".v1." in name or imports(source, "stripe")


def _is_provider(source: Source, name: str) -> bool:
    """Return whether a call goes to the SDK of somebody who moves money."""
    if _PROVIDERS.search(name):
        return True
    others = (each for each in source.imports.values() if not each.startswith("stripe"))
    return bool(_CLIENTS.search(name)) and any(_PROVIDERS.search(each) for each in others)


def _is_provider_call(call: ast.Call, name: str) -> bool:
    """Return whether a method of such an SDK moves money; one without arguments only names a resource."""
    if not call.args and not call.keywords:
        return False
    last = name.rpartition(".")[2]
    if last in {"create", "create_async", "sale"}:
        return bool(_CLASSES.search(name))
    return not last[:1].isupper() and bool(_PROVIDER_CALLS.fullmatch(words.snake(last)))


def _is_decorator(source: Source, call: ast.Call) -> bool:
    """Return whether a call decorates something: `@app.post("/refunds")` receives, and sends nothing."""
    parent = source.parents.get(call)
    return isinstance(parent, trees.Function | ast.ClassDef) and call in parent.decorator_list


def _from_keywords(source: Source, call: ast.Call) -> Found:
    """Return the key of a call that takes it as a keyword."""
    spread: list[ast.expr] = []
    for each in call.keywords:
        if each.arg is None:
            spread.append(each.value)
        elif words.is_key(each.arg):
            return _kind_of(each.value)
    for value in spread:
        known = mappings.of(source, value)
        if known is None:
            return State.UNKNOWN, ()
        if keys := _keys(known):
            return State.GIVEN, keys
    return State.MISSING, ()


def _from_options(source: Source, call: ast.Call) -> Found:
    """Return the key of a call that takes it in its options, beside the parameters."""
    direct = _from_keywords(source, call)
    if direct[0] != State.MISSING:
        return direct
    named = {each.arg: each.value for each in call.keywords if each.arg}
    options = named.get("options", next(iter(call.args[1:2]), None))
    parameters = named.get("params", next(iter(call.args[:1]), None))
    if options is not None:
        known = mappings.of(source, options)
        if known is None:
            return State.UNKNOWN, ()
        if keys := _keys(known):
            return _kind_of(*keys)
    misplaced = _keys(mappings.of(source, parameters) or {}) if parameters is not None else ()
    return (State.MISPLACED, misplaced) if misplaced else (State.MISSING, ())


def _from_anywhere(source: Source, call: ast.Call) -> Found:
    """Return the key of a call of an SDK that takes it in a request, an option or a header."""
    unknown = False
    for value in (*call.args, *(each.value for each in call.keywords if each.arg not in _NOTES)):
        known = mappings.of(source, value)
        if known is not None and (keys := _deep_keys(source, known)):
            return State.GIVEN, keys
        unknown = unknown or (known is None and _may_carry(value))
    direct = _from_keywords(source, call)
    return (State.UNKNOWN, ()) if unknown and direct[0] == State.MISSING else direct


def _may_carry(value: ast.expr) -> bool:
    """Return whether an argument that cannot be looked into may hold a key: a body, a request, options."""
    match value:
        case ast.Constant() | ast.JoinedStr():
            return False
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return bool(_CARRIERS.fullmatch(words.snake(name)))
        case ast.Call() | ast.Starred() | ast.Await():
            return True
        case _:
            return False


def _keys(known: Mapping[str, ast.expr]) -> tuple[ast.expr, ...]:
    """Return the values of a mapping that are keys."""
    return tuple(value for name, value in known.items() if words.is_key(name))


def _deep_keys(source: Source, known: Mapping[str, ast.expr]) -> tuple[ast.expr, ...]:
    """Return the keys in a mapping and in the mappings that it holds, what is only noted aside."""
    found = list(_keys(known))
    for name, value in known.items():
        if name not in _NOTES and isinstance(value, ast.Dict | ast.Call | ast.Name):
            found.extend(_keys(mappings.of(source, value) or {}))
    return tuple(found)


def _kind_of(*keys: ast.expr) -> Found:
    """Return whether keys are there: None and "" make the SDK take a random one."""
    if all(isinstance(each, ast.Constant) and not each.value for each in keys):
        return State.MISSING, ()
    return State.GIVEN, keys


def _by_http(source: Source, call: ast.Call, name: str) -> Effect | None:
    """Return a POST to an address that names refunds, charges and their like; None for any other call."""
    address = urls.posted(source, call, name)
    if address is None:
        return None
    told = isinstance(call.args[0], ast.Constant) and call.args[0].value == "POST" if call.args else False
    placed = [ast.keyword(arg=None, value=each) for each in call.args[2 if told else 1 :]]
    state, keys = _of_request(source, (*placed, *call.keywords), is_stripe="stripe" in address)
    return Effect(call, f"the POST to {urls.shown(address)}", state, by_http=True, keys=keys)


def _by_wrapper(source: Source, call: ast.Call) -> Effect | None:
    """Return a POST that a function of the module sends to such an address; None for any other call."""
    wrapped = wrappers.posted(source, call)
    if wrapped is None:
        return None
    state, keys = _from_anywhere(source, call)
    if state == State.MISSING and wrapped.keyed:
        state = State.UNKNOWN
    name = f"the POST to {urls.shown(wrapped.address)}"
    return Effect(call, name, state, by_http=True, keys=keys, sends=wrapped.sends)


def _of_request(source: Source, keywords: Iterable[ast.keyword], *, is_stripe: bool) -> Found:
    """Return the key of a request: in its headers, or, but for Stripe, in its body."""
    unknown = False
    for each in keywords:
        if each.arg is not None and words.is_key(each.arg):
            return _kind_of(each.value)
        if each.arg in {None, "headers", "json", "data", "content", "body", "fields"}:
            known = mappings.of(source, each.value)
            if known is not None and (keys := _deep_keys(source, known)):
                return _kind_of(*keys)
            in_body = each.arg not in {None, "headers"}
            unknown = unknown or (known is None and not (in_body and is_stripe) and not _is_text(each.value))
    return (State.UNKNOWN if unknown else State.MISSING), ()


def _is_text(value: ast.expr) -> bool:
    """Return whether a body is a text that shows all it holds."""
    return isinstance(value, ast.Constant)
