"""Where the value of an expression comes from, as far as one module tells: what differs on every attempt.

Follows local variables, f-strings, helpers and arguments within the module. What it cannot follow it takes
for stable: never a guess.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recon.model.records.flaws import Rule
from recon.rules.lint import holdings, loops, trees, words
from recon.rules.lint.trees import Binding, Function, Scope, Source

_DEEPEST = 40  # Steps: sources nest less than this; a generated sum of thousands of strings does not.
_MOST = 400  # Expressions that one key is followed through.


@dataclass(frozen=True, slots=True)
class Origin:
    """One thing in a key that another attempt would not have.

    rule: which one it breaks. what: it, as a sentence names it. node: where it stands. at: where it enters
    the function of the key, or the default, constant or argument that brings it from outside.
    """

    rule: Rule
    what: str
    node: ast.AST
    at: ast.AST


@dataclass(frozen=True, slots=True)
class _Way:
    """How the walk came to an expression.

    scope: where it stands. home: that is still the key's own function. at: see Origin. given: what the call
    that led here gives the scope's parameters. seen: what was walked already.
    """

    scope: Scope
    at: ast.AST
    home: bool = True
    given: Mapping[str, tuple[ast.expr, "_Way"]] = field(default_factory=dict)
    depth: int = 0
    seen: set[ast.AST] = field(default_factory=set)


def of(source: Source, expression: ast.expr) -> tuple[Origin, ...]:
    """Return what in an expression differs on every attempt, in the order in which it was found."""
    return tuple(_of(source, expression, _Way(trees.scope_of(source, expression), expression)))


def _of(source: Source, node: ast.AST, way: _Way) -> Iterator[Origin]:
    """Return the origins of one node."""
    if way.depth > _DEEPEST or len(way.seen) > _MOST or node in way.seen:
        return
    way.seen.add(node)
    way = replace(way, depth=way.depth + 1, at=node if way.home else way.at)
    match node:
        case ast.Name():
            yield from _of_name(source, node, way)
        case ast.Attribute():
            yield from _of_attribute(source, node, way)
        case ast.Subscript():
            yield from _of_item(source, node, way)
        case ast.Call():
            yield from _of_call(source, node, way)
        case ast.IfExp(body=body, orelse=orelse):
            for branch in (body, orelse):
                yield from _of(source, branch, way)
        case ast.Compare() | ast.Constant() | ast.Lambda():
            return
        case _:
            for each in ast.iter_child_nodes(node):
                yield from _of(source, each, way)


def _origin(source: Source, rule: Rule, node: ast.AST, way: _Way) -> Origin:
    """Return an origin at a node, in the words in which the source names it."""
    what = trees.dotted(source, node)
    return Origin(rule, what.lstrip("."), node, way.at)


def _of_name(source: Source, node: ast.Name, way: _Way) -> Iterator[Origin]:
    """Return the origins of a name: of its values, else of what the name says."""
    if node.id in way.given:
        argument, outside = way.given[node.id]
        yield from _of(source, argument, replace(outside, depth=way.depth, home=way.home, at=way.at))
        return
    if words.is_attempt(node.id):
        yield _origin(source, Rule.KEY_FROM_ATTEMPT, node, way)
        return
    for scope in _scopes(source, way.scope):
        standing = holdings.standing(source, node.id, node, scope)
        if standing:
            here = way if scope is way.scope else _outside(way, scope, standing[0].statement)
            yield from _of_bindings(source, node, standing, here)
            return
        if isinstance(scope, Function) and node.id in trees.parameters(scope):
            yield from _of_parameter(source, node, scope, way)
            return
    yield from _as_named(source, node, node.id, way)


def _as_named(source: Source, node: ast.AST, name: str, way: _Way) -> Iterator[Origin]:
    """Return the origin that a name admits to; none when it says nothing."""
    if (rule := words.of_name(name)) is not None:
        yield _origin(source, rule, node, way)


def _scopes(source: Source, scope: Scope) -> Iterator[Scope]:
    """Return a scope and those around it, the module last."""
    while scope is not source.tree:
        yield scope
        scope = trees.scope_of(source, scope)
    yield scope


def _outside(way: _Way, scope: Scope, at: ast.AST) -> _Way:
    """Return the way on, in a scope that the key's function does not run again."""
    return replace(way, scope=scope, home=False, at=at if way.home else way.at, given={})


def _of_bindings(
    source: Source, node: ast.Name | ast.Attribute, standing: Sequence[Binding], way: _Way
) -> Iterator[Origin]:
    """Return the origins of what a name may hold; none when it is kept, and made anew only the first time."""
    if holdings.kept(source, node, standing, way.scope):
        return
    for binding in standing:
        if _counts_tries(source, binding, node):
            yield _origin(source, Rule.KEY_FROM_ATTEMPT, node, way)
        elif binding.value is None:
            yield from _as_named(source, node, trees.plain(node).rpartition(".")[2], way)
        else:
            yield from _of(source, binding.value, way)


def _counts_tries(source: Source, binding: Binding, node: ast.AST) -> bool:
    """Return whether a name, whatever it is, counts how often a loop has tried what it stands in."""
    if binding.loop is not None:
        return loops.repeats(source, binding.loop, node)
    adds_one = isinstance(binding.value, ast.Constant) and isinstance(binding.value.value, int)
    if not (binding.adds and adds_one):
        return False
    around = (parent for parent, _ in trees.above(source, binding.statement))
    return any(
        isinstance(each, loops.Loop)
        and trees.inside(source, node, each)
        and loops.repeats(source, each, node)
        for each in around
    )


def _of_parameter(source: Source, node: ast.Name, function: Function, way: _Way) -> Iterator[Origin]:
    """Return the origins of a parameter: what its name says, its default, and what this module gives it."""
    if words.of_name(node.id) is not None:
        yield from _as_named(source, node, node.id, way)
        return
    if words.is_models(node.id) and says(source, function, node.id):
        yield Origin(Rule.KEY_FROM_RANDOM, f"what the model says as {node.id}", node, way.at)
        return
    default = trees.parameters(function)[node.id]
    if default is not None:
        yield from _of(source, default, _outside(way, trees.scope_of(source, function), default))
    for call in source.calls:
        if trees.callee(source, call) is function:
            argument = trees.given(function, call).get(node.id)
            if argument is not None:
                yield from _of(source, argument, _outside(way, trees.scope_of(source, call), argument))


def says(source: Source, function: Function, parameter: str) -> bool:
    """Return whether a model calls a function and says this parameter; what is injected it does not say."""
    is_marked = any(words.marks_a_tool(each) for each in trees.decorators(source, function))
    if not is_marked and not any(_makes_a_tool(source, each, function) for each in source.calls):
        return False
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    said = next((each.annotation for each in arguments if each.arg == parameter), None)
    return said is None or "Injected" not in ast.unparse(said)


def _makes_a_tool(source: Source, call: ast.Call, function: Function) -> bool:
    """Return whether a call makes a tool of a function: `FunctionTool(refund)`, `Agent(tools=[refund])`."""
    name = trees.dotted(source, call.func).removeprefix(".")
    owner, _, last = name.rpartition(".")
    made = last.startswith("from_") and words.marks_a_tool(owner.rpartition(".")[2])
    given = (
        list(call.args) + [each.value for each in call.keywords] if made or words.marks_a_tool(last) else []
    )
    for each in call.keywords:
        if each.arg == "tools" and isinstance(each.value, ast.List | ast.Tuple):
            given += each.value.elts
    is_one = source.functions.get(function.name) == (function,)
    return is_one and any(isinstance(each, ast.Name) and each.id == function.name for each in given)


def _of_attribute(source: Source, node: ast.Attribute, way: _Way) -> Iterator[Origin]:
    """Return the origins of an attribute: of what was put there, else of its name, else of its object."""
    standing = holdings.standing(source, trees.plain(node), node, way.scope)
    if words.is_process(trees.dotted(source, node)):
        yield _origin(source, Rule.KEY_FROM_ATTEMPT, node, way)
    elif standing:
        yield from _of_bindings(source, node, standing, way)
    elif _is_call_id(source, node.value, node.attr):
        yield _origin(source, Rule.KEY_FROM_CALL_ID, node, way)
    elif words.of_name(node.attr) is not None:
        yield from _as_named(source, node, node.attr, way)
    elif not (isinstance(node.value, ast.Name) and words.of_name(node.value.id)):
        # An attribute of an attempt or of a call may well be the order: only its own name counts.
        yield from _of(source, node.value, way)


def _of_item(source: Source, node: ast.Subscript, way: _Way) -> Iterator[Origin]:
    """Return the origins of an item: by its name where it has one, else of what it is taken from."""
    if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        yield from _of_field(source, node, node.value, node.slice.value, way)
    elif not (isinstance(node.value, ast.Name) and words.of_name(node.value.id)):
        yield from _of(source, node.value, way)


def _of_field(source: Source, node: ast.AST, base: ast.expr, name: str, way: _Way) -> Iterator[Origin]:
    """Return the origin of a named field of a mapping, by its name alone."""
    rule = Rule.KEY_FROM_CALL_ID if _is_call_id(source, base, name) else words.of_name(name)
    if rule is not None:
        yield Origin(rule, f"{name!r}", node, way.at)


def _is_call_id(source: Source, base: ast.expr, name: str) -> bool:
    """Return whether a field is the id of one call of a tool, or of what was said: `tool_call.id`."""
    of_what = trees.dotted(source, base).rpartition(".")[2].removesuffix("[]")
    said = isinstance(base, ast.Subscript) and trees.last_name(base) == "messages"
    return name in {"id", "uuid"} and (said or words.is_caller(of_what))


def _of_call(source: Source, node: ast.Call, way: _Way) -> Iterator[Origin]:
    """Return the origins of what a call gives back."""
    name = trees.dotted(source, node.func)
    last = name.rpartition(".")[2]
    helper = trees.callee(source, node)
    field_name = next(iter(node.args[1:2] if last == "getattr" else node.args), None)
    if helper is not None:
        arguments = {each: (value, way) for each, value in trees.given(helper, node).items()}
        for each in trees.returned(source, helper):
            yield from _of(source, each, replace(way, scope=helper, home=False, given=arguments))
    elif words.keeps_the_first(name):
        return
    elif (rule := words.of_function(name)) is not None:
        yield Origin(rule, f"{name}()", node, way.at)
    elif last in {"get", "pop", "getattr"} and isinstance(field_name, ast.Constant):
        base = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0]
        yield from _of_field(source, node, base, str(field_name.value), way)
    elif last in {"get", "get_name"} and not node.args and isinstance(node.func, ast.Attribute):
        yield from _of(source, node.func.value, way)  # A context variable, which is named for what it holds.
    elif words.passes_on(last) or words.derives(last):
        base_of = [node.func.value] if isinstance(node.func, ast.Attribute) and words.passes_on(last) else []
        for each in (*base_of, *node.args, *(keyword.value for keyword in node.keywords)):
            yield from _of(source, each, way)
