"""What a call is called in full where a variable stands for an SDK's resource or for an HTTP client.

Never takes a variable for one that may hold anything else, or a client whose own headers may carry a key.
"""

import ast
import re

from recon.rules.lint import holdings, mappings, trees, words
from recon.rules.lint.trees import Function, Source

_RESOURCES = re.compile(
    r"(?:refund|charge|payment|payment_?intent|transfer|payout|transaction|capture)s?", re.IGNORECASE
)
_CLIENTS = re.compile(
    r"(?:httpx|requests|aiohttp|niquests)\.(?:Async)?(?:Client|(?:Client)?Session|session)\(\)"
)


def behind(source: Source, call: ast.Call) -> str | None:
    """Return a callee with what its variable stands for: `client.v1.refunds.create`; None without one."""
    root: ast.AST = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root is call.func or root.id in source.imports:
        return None
    match _held(source, root):
        case ast.Attribute(attr=name) as resource if _RESOURCES.fullmatch(name):
            pass
        case ast.Call() as resource if _is_bare_client(source, resource, root):
            pass
        case _:
            return None
    return trees.dotted(source, resource) + trees.plain(call.func).removeprefix(root.id)


def _held(source: Source, variable: ast.Name) -> ast.expr | None:
    """Return the only thing that a variable can hold, also as `with` names it; None where that is unknown."""
    scope = trees.scope_of(source, variable)
    known = holdings.standing(source, variable.id, variable, scope)
    if not known and not (isinstance(scope, Function) and variable.id in trees.parameters(scope)):
        known = source.bindings.get((source.tree, variable.id), ())
    if len(known) != 1:
        return None
    opened = source.parents.get(known[0].statement)
    return opened.context_expr if isinstance(opened, ast.withitem) else known[0].value


def _is_bare_client(source: Source, made: ast.Call, variable: ast.Name) -> bool:
    """Return whether a call makes an HTTP client that adds no key to its requests."""
    if not _CLIENTS.fullmatch(trees.dotted(source, made)):
        return False
    for each in made.keywords:
        known = mappings.of(source, each.value) if each.arg in {"headers", None} else {}
        if known is None or any(map(words.is_key, known)):
            return False
    added = f"{variable.id}.headers"
    scope = trees.scope_of(source, variable)
    return not any(isinstance(each, ast.Attribute) and trees.plain(each) == added for each in ast.walk(scope))
