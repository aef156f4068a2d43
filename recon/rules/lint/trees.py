"""A Python source as what the rules ask of it: what a name is, where its value came from, what stands around.

Never judges anything.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Binding:
    """One way that a name gets a value in a scope.

    value: the expression; None where it is not one, such as the target of a loop. adds: it builds on the
    value before, as `+=` does. loop: the loop whose target it is, else None.
    """

    statement: ast.AST
    value: ast.expr | None
    adds: bool = False
    loop: ast.For | ast.AsyncFor | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """One module.

    imports: each local name with the dotted name that it stands for. functions: by their last name, methods
    too. bindings: by scope and dotted name (`key`, `order.key`), in the order of the text. name: of the file.
    """

    tree: ast.Module
    name: str
    parents: Mapping[ast.AST, ast.AST]
    imports: Mapping[str, str]
    functions: Mapping[str, tuple[Function, ...]]
    bindings: Mapping[tuple[Scope, str], tuple[Binding, ...]]
    nodes: tuple[ast.AST, ...]

    @property
    def calls(self) -> Iterator[ast.Call]:
        """Every call, in no order to rely on."""
        return (node for node in self.nodes if isinstance(node, ast.Call))


def read(tree: ast.Module, name: str) -> Source:
    """Return a module's tree with what the rules ask of it."""
    nodes = tuple(ast.walk(tree))
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    functions: dict[str, list[Function]] = defaultdict(list)
    for node in nodes:
        if isinstance(node, Function):
            functions[node.name].append(node)
    source = Source(
        tree=tree,
        name=name,
        parents=parents,
        imports=dict(pair for node in nodes for pair in _imported(node)),
        functions={each: tuple(those) for each, those in functions.items()},
        bindings={},
        nodes=nodes,
    )
    bindings: dict[tuple[Scope, str], list[Binding]] = defaultdict(list)
    for node in nodes:
        for target, binding in _bound(node):
            if target_name := plain(target):
                bindings[scope_of(source, node), target_name].append(binding)
    ordered = {where: tuple(sorted(those, key=_place)) for where, those in bindings.items()}
    return Source(tree, name, parents, source.imports, source.functions, ordered, nodes)


def _place(binding: Binding) -> tuple[int, int]:
    """Return where a binding stands."""
    return position(binding.statement)


def position(node: ast.AST) -> tuple[int, int]:
    """Return a node's line, from 1, and column, from 0."""
    return getattr(node, "lineno", 1), getattr(node, "col_offset", 0)


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Return the names that an import makes, each with what it stands for."""
    if isinstance(node, ast.Import):
        for each in node.names:
            yield (each.asname, each.name) if each.asname else (each.name.partition(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom):
        for each in node.names:
            yield each.asname or each.name, f"{node.module or ''}.{each.name}".lstrip(".")


def _bound(node: ast.AST) -> Iterator[tuple[ast.expr, Binding]]:
    """Return the targets that a node gives a value to."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _unpacked(node, target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, Binding(node, value)
        case ast.NamedExpr(target=target, value=value):
            yield target, Binding(node, value)
        case ast.AugAssign(target=target, value=value):
            yield target, Binding(node, value, adds=True)
        case ast.For() | ast.AsyncFor():
            for each in ast.walk(node.target):
                if isinstance(each, ast.Name):
                    yield each, Binding(node, None, loop=node)
        case ast.withitem(optional_vars=ast.Name() as target):
            yield target, Binding(target, None)
        case _:
            return


def _unpacked(statement: ast.Assign, target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, Binding]]:
    """Return the names of one target, each with its own value where the two sides have the same shape."""
    if not isinstance(target, ast.Tuple | ast.List):
        yield target, Binding(statement, value)
        return
    same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
    for number, each in enumerate(target.elts):
        one = value.elts[number] if same and isinstance(value, ast.Tuple | ast.List) else None
        yield each, Binding(statement, one)


def plain(node: ast.AST) -> str:
    """Return a name or a chain of attributes as it is written, `order.key`; "" for anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join(reversed([*names, node.id])) if isinstance(node, ast.Name) else ""


def dotted(source: Source, node: ast.AST) -> str:
    """Return what a callee or a chain is called in full, imports resolved: `uuid.uuid4`, `get()[].create`.

    Begins with a dot when its root is no name.
    """
    names: list[str] = []
    mark = ""
    while True:
        if isinstance(node, ast.Attribute):
            names.append(node.attr + mark)
            mark, node = "", node.value
        elif isinstance(node, ast.Call):
            match node:
                case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name))]):
                    names.append(name + mark)
                    mark, node = "", owner
                case _:
                    mark, node = f"(){mark}", node.func
        elif isinstance(node, ast.Subscript):
            mark, node = f"[]{mark}", node.value
        elif isinstance(node, ast.Await):
            node = node.value
        else:
            root = source.imports.get(node.id, node.id) if isinstance(node, ast.Name) else ""
            return ".".join(reversed([*names, root + mark]))


def last_name(node: ast.expr) -> str:
    """Return what it is called that an item is taken from: `messages` of `state["messages"][-1]`."""
    while isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return node.slice.value
        node = node.value
    return plain(node).rpartition(".")[2]


def decorators(source: Source, function: Function) -> Iterator[str]:
    """Return the last names of a function's decorators."""
    for each in function.decorator_list:
        callee = each.func if isinstance(each, ast.Call) else each
        yield dotted(source, callee).rpartition(".")[2]


def above(source: Source, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Return what stands around a node, nearest first, each with the child of it that leads to the node."""
    while (parent := source.parents.get(node)) is not None:
        yield parent, node
        node = parent


def inside(source: Source, node: ast.AST, whole: ast.AST) -> bool:
    """Return whether a node is a whole, or stands in it."""
    return node is whole or any(parent is whole for parent, _ in above(source, node))


def scope_of(source: Source, node: ast.AST) -> Scope:
    """Return the function in whose body a node stands, else the module; defaults are outside their own."""
    for parent, child in above(source, node):
        if isinstance(parent, Function) and any(child is each for each in parent.body):
            return parent
    return source.tree


def statement_of(source: Source, node: ast.AST) -> ast.AST:
    """Return the statement that a node stands in, or the node itself."""
    if isinstance(node, ast.stmt):
        return node
    return next((parent for parent, _ in above(source, node) if isinstance(parent, ast.stmt)), node)


def parameters(function: Function) -> Mapping[str, ast.expr | None]:
    """Return a function's parameters in their order, each with its default or None."""
    arguments = function.args
    placed = [*arguments.posonlyargs, *arguments.args]
    missing = len(placed) - len(arguments.defaults)
    defaults = [None] * missing + list(arguments.defaults)
    found = {each.arg: default for each, default in zip(placed, defaults, strict=True)}
    return found | {
        each.arg: default for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    }


def given(function: Function, call: ast.Call) -> Mapping[str, ast.expr]:
    """Return which argument of a call goes to which parameter, as far as the call says."""
    names = list(parameters(function))
    if names[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute):
        names = names[1:]
    found = {
        name: value
        for name, value in zip(names, call.args, strict=False)
        if not isinstance(value, ast.Starred)
    }
    return found | {each.arg: each.value for each in call.keywords if each.arg is not None}


def callee(source: Source, call: ast.Call) -> Function | None:
    """Return the function of this module that a call calls; None for another's, or where two share a name."""
    match call.func:
        case ast.Name(id=name) if name not in source.imports:
            pass
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            pass
        case _:
            return None
    found = source.functions.get(name, ())
    return found[0] if len(found) == 1 else None


def returned(source: Source, function: Function) -> Iterator[ast.expr]:
    """Return what a function gives back, its own returns alone."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None and scope_of(source, node) is function:
            yield node.value
