"""Which calls post to an address whose path names refunds, charges and their like.

Never sends anything.
"""

import ast
import re

from recon.rules.lint import holdings, trees
from recon.rules.lint.trees import Source

_DEEPEST = 8  # Names that one address is followed through.
_HOLE = "{}"  # What stands for a part that only the running program knows.
_SENDERS = re.compile(
    r"requests|httpx|aiohttp|session|client|http|conn|pool|gateway|transport|stripe|paypal|(?:^|_)api$|^s$",
    re.IGNORECASE,
)
_RECEIVERS = re.compile(
    r"mock|respx|^resp|rsps|router|blueprint|test|^app$|httpretty|server|route", re.IGNORECASE
)
_TEST_CLIENTS = re.compile(
    r"testclient|test_utils|rest_framework\.test|django\.test|ASGITransport|flask\.testing", re.IGNORECASE
)
_MOVES = re.compile(
    r"(?:(?:create|issue|make|send|new|process)[-_]?)?(?:refund|charge|payment[-_]?intent|transfer|payout)s?",
    re.IGNORECASE,
)
# Methods that are told the verb; those of people's own clients have such names.
_ASKS = re.compile(
    r"_?(?:(?:api|do|make|send|http|raw|execute|perform)_)*(?:request|fetch|call|invoke)(?:_(?:json|api|raw|async))?"
)
_OUTWARD = re.compile(r"a?post|request|fetch|raw_request|send|urlopen")
_REQUEST = 2  # Arguments of `request("POST", url)`.


def posted(source: Source, call: ast.Call, name: str) -> str | None:
    """Return the address that a call posts to, when it creates what moves money; None for any other call.

    name: the callee's, dotted. Parts that are not known stand as `{}`.
    """
    owner, _, method = name.rpartition(".")
    address = _address(call, method)
    if address is None or not _sends(owner, method):
        return None
    text = written(source, address)
    absolute = "://" in text or text.startswith(_HOLE)
    if not absolute and any(_TEST_CLIENTS.search(each) for each in source.imports.values()):
        return None
    return text if "/" in text.partition("?")[0].rstrip("/") and moves_money(text) else None


def moves_money(address: str) -> bool:
    """Return whether whoever posts to an address creates what moves money."""
    last = address.partition("?")[0].rstrip("/").rpartition("/")[2]
    return bool(_MOVES.fullmatch(last)) or (last.lower() == "payments" and "://" in address)


def goes_out(name: str) -> bool:
    """Return whether a dotted callee is somebody's client that sends a request of any kind."""
    owner, _, method = name.rpartition(".")
    if not _OUTWARD.fullmatch(method) or _RECEIVERS.search(owner.rpartition(".")[2].replace("()", "")):
        return False
    return method == "urlopen" or any(_SENDERS.search(each) for each in owner.split("."))


def posts(source: Source, call: ast.Call) -> bool:
    """Return whether a call that goes out posts, whatever its address."""
    return _address(call, trees.dotted(source, call.func).rpartition(".")[2]) is not None


def shown(address: str) -> str:
    """Return an address as a sentence shows it: without its query, and what is not known at its beginning."""
    return address.partition("?")[0].removeprefix(_HOLE)


def _address(call: ast.Call, method: str) -> ast.expr | None:
    """Return the address among a call's arguments; None when the call posts nothing."""
    named = {each.arg: each.value for each in call.keywords}
    if method in {"post", "apost"}:
        return named.get("url", next(iter(call.args), None))
    verb = named.get("method")
    if _ASKS.fullmatch(method):
        if len(call.args) >= _REQUEST and verb is None:
            return call.args[1] if _is_post(call.args[0]) else None
        return named.get("url", next(iter(call.args), None)) if _is_post(verb) else None
    if method == "Request" and (_is_post(verb) or (verb is None and "data" in named)):
        return named.get("url", next(iter(call.args), None))
    return None


def _is_post(verb: ast.expr | None) -> bool:
    """Return whether a method is the constant POST."""
    return isinstance(verb, ast.Constant) and str(verb.value).upper() == "POST"


def _sends(owner: str, method: str) -> bool:
    """Return whether what a method belongs to sends requests, and does not receive or fake them."""
    last = owner.rpartition(".")[2]
    if last == "self" or _RECEIVERS.search(last.replace("()", "")):
        return False
    return (
        method == "Request" or bool(_SENDERS.search(last)) or bool(_SENDERS.search(owner.partition(".")[0]))
    )


def written(source: Source, node: ast.expr, depth: int = 0) -> str:  # noqa: PLR0911 -- one for each kind
    """Return an address as far as it is written in the module."""
    if depth > _DEEPEST:
        return _HOLE
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(written(source, each, depth + 1) for each in values)
        case ast.FormattedValue(value=value):
            return written(source, value, depth + 1)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return written(source, left, depth + 1) + written(source, right, depth + 1)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return f"{written(source, left, depth + 1)}/{written(source, right, depth + 1)}"
        case ast.BinOp(left=left, op=ast.Mod()):
            return written(source, left, depth + 1)
        case ast.Call():
            return _of_call(source, node, depth)
        case ast.Name() | ast.Attribute():
            return _of_name(source, node, depth)
        case _:
            return _HOLE


def _of_call(source: Source, call: ast.Call, depth: int) -> str:
    """Return the address that a call makes: joined, formatted or wrapped."""
    name = trees.dotted(source, call.func).rpartition(".")[2]
    if name == "format" and isinstance(call.func, ast.Attribute):
        return written(source, call.func.value, depth + 1)
    if name in {"urljoin", "URL", "str"} and call.args:
        return "/".join(written(source, each, depth + 1).strip("/") for each in call.args)
    return _HOLE


def _of_name(source: Source, node: ast.Name | ast.Attribute, depth: int) -> str:
    """Return the address that a variable or a constant of the module holds, when it can be only one."""
    name = trees.plain(node)
    known = holdings.standing(source, name, node, trees.scope_of(source, node)) or source.bindings.get(
        (source.tree, name), ()
    )
    value = known[0].value if len(known) == 1 else None
    return _HOLE if value is None else written(source, value, depth + 1)
