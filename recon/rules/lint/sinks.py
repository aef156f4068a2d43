"""Where in a module an idempotency key, or a reference that makes one, is given to something or made to give.

Never judges the key.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from recon.rules.lint import effects, holdings, references, trees, words
from recon.rules.lint.trees import Function, Source

_PAIR = 2  # A header as a tuple: its name and its value.
_STORED_FIELDS = {"Column", "mapped_column", "UUIDField", "CharField", "TextField"}
_ROWS = ("objects.", "session.query", "insert()", ".values")


@dataclass(frozen=True, slots=True)
class Sink:
    """One key.

    key: its expression. node: where it is said to stand. what: what a sentence calls it. is_reference: the
    guard makes the key of it.
    """

    key: ast.expr
    node: ast.AST
    what: str
    is_reference: bool = False


def of(source: Source) -> Iterator[Sink]:
    """Return every key of a module: those given to calls, headers and options, then those made for others."""
    made: list[Sink] = []
    for node in source.nodes:
        match node:
            case ast.Call():
                yield from _of_guard(source, node)
                yield from _of_call(source, node)
            case ast.Dict():
                yield from _of_display(source, node)
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=str(name)))], value=value):
                if words.is_key(name):
                    yield Sink(value, value, f"{name!r}")
            case ast.Tuple(elts=[ast.Constant(value=str(name)), value]):
                if words.is_key(name):
                    yield Sink(value, value, f"{name!r}")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                made.extend(_of_function(source, node))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call() as value) if words.is_key(name):
                made.extend(_of_field(source, node, value))
            case _:
                pass
    yield from made


def _of_guard(source: Source, call: ast.Call) -> Iterator[Sink]:
    """Return the references that a call gives the guard."""
    for value in references.of(source, call):
        what = f"the reference of {effects.shown(effects.called(source, call))}"
        yield Sink(value, value, what, is_reference=True)


def _of_call(source: Source, call: ast.Call) -> Iterator[Sink]:
    """Return the keys that a call is given."""
    name = trees.dotted(source, call.func)
    last = name.rpartition(".")[2]
    if (_keeps(name, last) and last not in {"setdefault", "add_header"}) or words.is_quiet(last):
        return
    shown = name.replace("()", "").replace("[]", "").lstrip(".")
    for each in call.keywords:
        if each.arg is not None and words.is_key(each.arg):
            yield Sink(each.value, each.value, f"the key of {shown}" if shown else f"{each.arg!r}")
    second = effects.second_key(source, call)
    if second is not None:
        yield Sink(second, second, f"the key of {shown}")
    if len(call.args) == _PAIR and isinstance(call.args[0], ast.Constant):
        field, value = call.args[0].value, call.args[1]
        if words.is_key(str(field)):
            yield Sink(value, value, f"{field!r}")
    if trees.callee(source, call) is None and words.moves_money(last):
        for value in call.args:
            if isinstance(value, ast.Name) and words.is_key(value.id):
                yield Sink(value, value, f"the key of {shown}")


def _keeps(name: str, last: str) -> bool:
    """Return whether a callee keeps a row with the key in it: a key that is minted once, and stored."""
    row = words.is_stored(last) or any(each in name for each in _ROWS)
    return row or (words.stores(last) and last != "execute") or last in _STORED_FIELDS


def _of_display(source: Source, display: ast.Dict) -> Iterator[Sink]:
    """Return the keys in a dictionary, but for one that goes straight to where rows are kept."""
    parent = source.parents.get(display)
    owner = source.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if isinstance(owner, ast.Call):
        name = trees.dotted(source, owner.func)
        if _keeps(name, name.rpartition(".")[2]) or words.is_quiet(name.rpartition(".")[2]):
            return
    for field, value in zip(display.keys, display.values, strict=True):
        if isinstance(field, ast.Constant) and words.is_key(str(field.value)):
            yield Sink(value, value, f"{field.value!r}")
        elif isinstance(field, ast.Name | ast.Attribute) and words.is_key(
            trees.plain(field).rpartition(".")[2]
        ):
            yield Sink(value, value, f"{trees.plain(field)}")


def _of_function(source: Source, function: Function) -> Iterator[Sink]:
    """Return the keys that a function makes: its parameters' defaults, or its answer if it has the name."""
    for name, default in trees.parameters(function).items():
        if default is not None and words.is_key(name):
            yield Sink(default, default, f"the default of {name!r}")
    if words.is_key(function.name.removeprefix("_")) and not _is_for_the_keyless(source, function):
        for value in trees.returned(source, function):
            yield Sink(value, value, f"what {function.name}() returns")


def _is_for_the_keyless(source: Source, function: Function) -> bool:
    """Return whether each call of a function in its module gives its key to what has none and keeps it."""
    asking = [call for call in source.calls if trees.callee(source, call) is function]
    return bool(asking) and all(_is_kept(source, each) for each in asking)


def _is_kept(source: Source, call: ast.Call) -> bool:
    """Return whether a key is put only where none was, and stays there."""
    match source.parents.get(call):
        case ast.Assign(targets=[ast.Attribute() as target]) as statement:
            scope = trees.scope_of(source, statement)
            return holdings.kept(source, target, [trees.Binding(statement, call)], scope)
        case _:
            return False


def _of_field(source: Source, node: ast.AST, value: ast.Call) -> Iterator[Sink]:
    """Return the key that a class of requests makes for whoever gives none; a stored row's is its own."""
    owner = source.parents.get(node)
    if not isinstance(owner, ast.ClassDef) or owner.keywords or words.is_stored(owner.name):
        return
    for each in value.keywords:
        if each.arg == "default_factory":
            made = each.value.body if isinstance(each.value, ast.Lambda) else each.value
            if isinstance(made, ast.Name | ast.Attribute):
                made = ast.copy_location(ast.Call(func=made, args=[], keywords=[]), made)
            yield Sink(made, value, f"the default of {trees.plain(getattr(node, 'target', node))!r}")
