"""Where a module tells the guard what makes a refund of an order another one, and what a model may say of it.

Never judges where a reference comes from.
"""

import ast
import re
from collections.abc import Iterator

from recon.rules.lint import effects, mappings, origins, trees
from recon.rules.lint.trees import Function, Source

_ARGUMENT = "reference"
_PAYABLE = re.compile(r"recon(?:\.\w+)*\.Payable")
_FIELDS = {"order_id", "payment", "currency", "reference", "account", "customer_id"}
_FOURTH = 3  # Where a Payable takes it without a name.


def of(source: Source, call: ast.Call) -> Iterator[ast.expr]:
    """Return the references that a call gives the guard; a function of the module is read itself."""
    name = effects.called(source, call)
    is_payable = _is_payable(call, name)
    if not (is_payable or effects.GUARD.fullmatch(name)) or trees.callee(source, call) is not None:
        return
    if is_payable and not any(isinstance(each, ast.Starred) for each in call.args):
        yield from call.args[_FOURTH : _FOURTH + 1]
    for each in call.keywords:
        if each.arg == _ARGUMENT:
            yield each.value
        elif each.arg is None:
            given = (mappings.of(source, each.value) or {}).get(_ARGUMENT)
            yield from () if given is None else (given,)


def _is_payable(call: ast.Call, name: str) -> bool:
    """Return whether a call makes a Payable of ours, also one that another module hands on.

    A class of that name in somebody's books has other fields.
    """
    if _PAYABLE.fullmatch(name):
        return True
    named = {each.arg for each in call.keywords}
    whole = len(call.args) == _FOURTH or {"order_id", "payment", "currency"} <= named
    return name.rpartition(".")[2] == "Payable" and _ARGUMENT in named and whole and named <= _FIELDS


def said_by_a_model(source: Source, reference: ast.expr) -> bool:
    """Return whether a reference is what a model says under that name, and nothing looks at it before."""
    scope = trees.scope_of(source, reference)
    if not isinstance(scope, Function) or trees.plain(reference) != _ARGUMENT:
        return False
    is_said = _ARGUMENT in trees.parameters(scope) and origins.says(source, scope, _ARGUMENT)
    return is_said and not any(_looks(source, each) for each in ast.walk(scope))


def _looks(source: Source, node: ast.AST) -> bool:
    """Return whether a node puts another value in a reference's place, or may turn away a wrong one."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return name == _ARGUMENT
        case ast.Compare():
            return _is_compared(node)
        case ast.Subscript(slice=key):
            return _mentions(key)
        case ast.Call() if not any(True for _ in of(source, node)):
            return any(_mentions(each) for each in (*node.args, *(word.value for word in node.keywords)))
        case ast.Match(subject=subject):
            return _mentions(subject)
        case _:
            return False


def _is_compared(comparison: ast.Compare) -> bool:
    """Return whether a comparison is of the reference with anything but None or another constant."""
    sides = (comparison.left, *comparison.comparators)
    return any(map(_mentions, sides)) and not any(isinstance(each, ast.Constant) for each in sides)


def _mentions(node: ast.AST) -> bool:
    """Return whether an expression names the reference."""
    return any(isinstance(each, ast.Name) and each.id == _ARGUMENT for each in ast.walk(node))
