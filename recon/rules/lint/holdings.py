"""Which values a name may hold at one place of its function, and whether it keeps the first it was given.

Never asks where a value comes from.
"""

import ast
from collections.abc import Iterator, Sequence

from recon.rules.lint import loops, trees, words
from recon.rules.lint.trees import Binding, Scope, Source

_ABSENT = {"KeyError", "LookupError", "DoesNotExist", "NotFound", "NoResultFound", "ObjectDoesNotExist"}


def standing(source: Source, name: str, use: ast.AST, scope: Scope) -> tuple[Binding, ...]:
    """Return the bindings of a name that may hold where it is used, the last first.

    From another scope, such as the module's, every binding may.
    """
    known = source.bindings.get((scope, name), ())
    if not known or trees.scope_of(source, use) is not scope:
        return known
    found: list[Binding] = []
    loop = _loop_around(source, use, scope)
    before = [each for each in known if _is_before(source, each, use)]
    for each in reversed(before):
        found.append(each)
        if not each.adds and _is_certain(source, each, use):
            if loop is not None and trees.inside(source, each.statement, loop):
                return tuple(found)
            break
    again = [each for each in known if each not in before and loop is not None]
    return (*found, *(each for each in again if loop and _in_body(source, each.statement, loop)))


def kept(source: Source, node: ast.AST, bindings: Sequence[Binding], scope: Scope) -> bool:
    """Return whether a value is made only where none was found, and kept for whoever asks next.

    `if not order.key: order.key = ...` keeps it on the order; a variable must be given to what stores.
    """
    name = trees.plain(node)
    if not any(_only_if_absent(source, each, name) for each in bindings):
        return False
    return "." in name or any(_hands_over(source, each, name) for each in _in_scope(source, scope))


def _is_before(source: Source, binding: Binding, use: ast.AST) -> bool:
    """Return whether a binding is done before the use; a statement's own target is not."""
    earlier = trees.position(binding.statement) < trees.position(use)
    return earlier and (binding.loop is not None or not trees.inside(source, use, binding.statement))


def _is_certain(source: Source, binding: Binding, use: ast.AST) -> bool:
    """Return whether whoever comes to the use has passed the binding: both stand in one block."""
    parent = source.parents.get(binding.statement)
    way = {child for above, child in trees.above(source, use) if above is parent}
    for block in ("body", "orelse", "finalbody"):
        these = getattr(parent, block, None)
        if isinstance(these, list) and binding.statement in these:
            return any(each in way for each in these)
    return False


def _loop_around(source: Source, use: ast.AST, scope: Scope) -> loops.Loop | None:
    """Return the nearest loop of the scope around a use; None when there is none."""
    for parent, _ in trees.above(source, use):
        if parent is scope:
            return None
        if isinstance(parent, loops.Loop):
            return parent
    return None


def _in_body(source: Source, statement: ast.AST, loop: loops.Loop) -> bool:
    """Return whether a statement is done again each time a loop goes round."""
    return statement is not loop and any(trees.inside(source, statement, each) for each in loop.body)


def _only_if_absent(source: Source, binding: Binding, name: str) -> bool:
    """Return whether a binding happens only where the name held nothing, or nothing was found."""
    if isinstance(binding.value, ast.BoolOp) and isinstance(binding.value.op, ast.Or):
        return True
    for parent, child in trees.above(source, binding.statement):
        if isinstance(parent, ast.If) and child in parent.body and name in _names(parent.test):
            return True
        if isinstance(parent, ast.ExceptHandler):
            caught = {trees.plain(each).rpartition(".")[2] for each in ast.walk(parent.type or parent)}
            return bool(caught & _ABSENT)
        if isinstance(parent, ast.stmt) and not isinstance(
            parent, ast.If | ast.With | ast.AsyncWith | ast.Try
        ):
            return False
    return False


def _names(expression: ast.AST) -> set[str]:
    """Return the names and chains that an expression mentions."""
    return {trees.plain(each) for each in ast.walk(expression)}


def _in_scope(source: Source, scope: Scope) -> Iterator[ast.AST]:
    """Return the nodes of a function or module."""
    return ast.walk(scope) if scope is not source.tree else iter(source.nodes)


def _hands_over(source: Source, node: ast.AST, name: str) -> bool:
    """Return whether a node gives what a name holds to something that keeps it."""
    if isinstance(node, ast.Call) and words.stores(trees.dotted(source, node.func)):
        return any(name in _names(each) for each in (*node.args, *(word.value for word in node.keywords)))
    if isinstance(node, ast.Assign) and name in _names(node.value):
        return any(isinstance(each, ast.Subscript | ast.Attribute) for each in node.targets)
    return False
