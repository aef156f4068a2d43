"""What a dictionary holds where it is used, as far as one module tells.

Never guesses: a mapping that gets anything from where the module does not show is unknown.
"""

import ast
from collections.abc import Iterator, Mapping

from recon.rules.lint import holdings, trees
from recon.rules.lint.trees import Source

_DEEPEST = 8  # Names and helpers that one mapping is followed through.


def of(  # noqa: PLR0911 -- one for each kind of expression
    source: Source, expression: ast.expr, depth: int = 0
) -> Mapping[str, ast.expr] | None:
    """Return a mapping's items by their names; None when it may hold others."""
    if depth > _DEEPEST:
        return None
    match expression:
        case ast.Dict():
            return _of_literal(source, expression, depth)
        case ast.Call():
            return _of_call(source, expression, depth)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _joined(source, (left, right), depth)
        case ast.IfExp(body=body, orelse=orelse):
            return _joined(source, (body, orelse), depth)
        case ast.Constant(value=None):
            return {}
        case ast.Name() | ast.Attribute():
            return _of_name(source, expression, depth)
        case _:
            return None


def _joined(source: Source, parts: tuple[ast.expr, ...], depth: int) -> Mapping[str, ast.expr] | None:
    """Return the items of several mappings; None when one of them is unknown."""
    found: dict[str, ast.expr] = {}
    for each in parts:
        known = of(source, each, depth + 1)
        if known is None:
            return None
        found |= known
    return found


def _of_literal(source: Source, literal: ast.Dict, depth: int) -> Mapping[str, ast.expr] | None:
    """Return the items of a display."""
    found: dict[str, ast.expr] = {}
    for key, value in zip(literal.keys, literal.values, strict=True):
        if key is None:
            spread = of(source, value, depth + 1)
            if spread is None:
                return None
            found |= spread
        elif (name := _text(source, key)) is None:
            return None
        else:
            found[name] = value
    return found


def _text(source: Source, key: ast.expr) -> str | None:
    """Return the text of a key; a constant of the module counts; None when it is not known."""
    if isinstance(key, ast.Constant):
        return str(key.value)
    known = source.bindings.get((source.tree, trees.plain(key)), ())
    value = known[0].value if len(known) == 1 else None
    return str(value.value) if isinstance(value, ast.Constant) else None


def _of_call(source: Source, call: ast.Call, depth: int) -> Mapping[str, ast.expr] | None:
    """Return the items of `dict(...)`, of an object made of keywords, of a helper's one answer, of a copy."""
    helper = trees.callee(source, call)
    if helper is not None:
        answers = list(trees.returned(source, helper))
        return of(source, answers[0], depth + 1) if len(answers) == 1 else None
    if isinstance(call.func, ast.Attribute) and call.func.attr == "copy" and not call.args:
        return of(source, call.func.value, depth + 1)
    name = trees.dotted(source, call.func).rpartition(".")[2]
    if name == "dumps" and call.args:
        return of(source, call.args[0], depth + 1)
    if name != "dict" and not name[:1].isupper():
        return None
    spread = (*call.args, *(each.value for each in call.keywords if each.arg is None))
    rest = _joined(source, spread, depth)
    return None if rest is None else {**rest, **{each.arg: each.value for each in call.keywords if each.arg}}


def _of_name(source: Source, node: ast.Name | ast.Attribute, depth: int) -> Mapping[str, ast.expr] | None:
    """Return the items of what a variable holds, with those that are put into it."""
    name, scope = trees.plain(node), trees.scope_of(source, node)
    standing = holdings.standing(source, name, node, scope)
    if not standing and isinstance(node, ast.Name):
        scope = source.tree
        standing = source.bindings.get((scope, name), ())
    found: dict[str, ast.expr] = {}
    for binding in standing:
        known = of(source, binding.value, depth + 1) if binding.value is not None else None
        if known is None:
            return None
        found |= known
    for part in _put_in(source, name, scope):
        if part is None:
            return None
        found |= part if isinstance(part, dict) else of(source, part, depth + 1) or {}
    return found if standing else None


def _put_in(source: Source, name: str, scope: trees.Scope) -> Iterator[dict[str, ast.expr] | ast.expr | None]:
    """Return what a scope puts into a mapping; None where it may be anything."""
    for node in ast.walk(scope):
        match node:
            case ast.Assign(targets=[ast.Subscript(value=of_what, slice=key)], value=value):
                if trees.plain(of_what) == name:
                    text = _text(source, key)
                    yield None if text is None else {text: value}
            case ast.Call(func=ast.Attribute(value=of_what, attr="setdefault"), args=[key, value]):
                if trees.plain(of_what) == name and (text := _text(source, key)) is not None:
                    yield {text: value}
            case ast.Call(func=ast.Attribute(value=of_what, attr="update"), args=arguments, keywords=named):
                if trees.plain(of_what) == name:
                    yield {each.arg: each.value for each in named if each.arg}
                    for each in arguments:
                        yield each if of(source, each) is not None else None
            case _:
                pass
