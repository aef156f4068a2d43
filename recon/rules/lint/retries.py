"""What in a module repeats a call: a loop or a decorator around it, or around a function that leads to it.

Never asks what the call does.
"""

import ast
from dataclasses import dataclass

from recon.rules.lint import loops, trees
from recon.rules.lint.trees import Function, Source

_FARTHEST = 3  # Functions between a call and the loop that repeats it.
_ALL_METHODS = {"allowed_methods", "method_whitelist"}


@dataclass(frozen=True, slots=True)
class Retry:
    """What repeats a call.

    node: the loop or decorator. word: what a sentence calls it. regions: what is done again each time.
    """

    node: ast.AST
    word: str
    regions: tuple[ast.AST, ...]

    @property
    def line(self) -> int:
        """Its line, from 1."""
        return trees.position(self.node)[0]


def around(source: Source, node: ast.AST, depth: int = 0) -> Retry | None:
    """Return what repeats a node, the nearest; None when nothing in this module does."""
    for parent, child in trees.above(source, node):
        if isinstance(parent, loops.Loop) and child in parent.body and loops.repeats(source, parent, node):
            return Retry(parent, "loop", (parent,))
        if isinstance(parent, ast.Lambda):
            call = source.parents.get(parent)
            if isinstance(call, ast.Call) and parent in call.args and loops.handed(source, call):
                return Retry(call, "retry", (parent,))
        if isinstance(parent, Function) and child in parent.body:
            return _of_function(source, parent, depth)
    return None


def within(source: Source, node: ast.AST) -> Retry | None:
    """Return what repeats a node in its own function, whoever calls that; None when nothing does."""
    return around(source, node, _FARTHEST)


def mounted(source: Source) -> Retry | None:
    """Return urllib3's Retry that repeats a POST as well; None when the module makes none."""
    for call in source.calls:
        if trees.dotted(source, call.func).rpartition(".")[2] == "Retry" and any(
            each.arg in _ALL_METHODS and _includes_post(each.value) for each in call.keywords
        ):
            return Retry(call, "Retry", ())
    return None


def changes(source: Source, retry: Retry, at: ast.AST) -> bool:
    """Return whether what stands at a node is made anew each time."""
    return any(trees.inside(source, at, region) for region in retry.regions)


def _of_function(source: Source, function: Function, depth: int) -> Retry | None:
    """Return what repeats a function: its decorator, or whatever repeats a call of it in this module."""
    decorator = loops.decorated(source, function)
    if decorator is not None:
        return Retry(decorator, "decorator", tuple(function.body))
    asks = (each for each in ast.walk(function) if isinstance(each, ast.Call) and _asks_again(source, each))
    if (again := next(asks, None)) is not None:
        return Retry(again, "self.retry", tuple(function.body))
    for call in source.calls:
        if _is_given(call, function) and loops.handed(source, call):
            return Retry(call, "retry", tuple(function.body))
    if depth >= _FARTHEST:
        return None
    for call in source.calls:
        if trees.callee(source, call) is function:
            found = around(source, call, depth + 1)
            if found is not None:
                return Retry(found.node, found.word, (*found.regions, *function.body))
    return None


def _is_given(call: ast.Call, function: Function) -> bool:
    """Return whether a call is given a function by its name: `refund`, `self.refund`."""
    return any(
        (isinstance(each, ast.Name) and each.id == function.name)
        or (
            isinstance(each, ast.Attribute)
            and trees.plain(each) in {f"self.{function.name}", f"cls.{function.name}"}
        )
        for each in call.args
    )


def _asks_again(source: Source, call: ast.Call) -> bool:
    """Return whether a task asks its queue to run it once more."""
    return trees.dotted(source, call.func) in {"self.retry", "task.retry", "current_task.retry"}


def _includes_post(methods: ast.expr) -> bool:
    """Return whether an option names POST; None and False are urllib3's words for every method."""
    if isinstance(methods, ast.Constant):
        return not methods.value
    return any(isinstance(each, ast.Constant) and each.value == "POST" for each in ast.walk(methods))
