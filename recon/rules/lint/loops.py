"""Which loops and decorators repeat a call that failed.

Never asks what the call does.
"""

import ast
import re
from collections.abc import Iterator

from recon.rules.lint import trees, words
from recon.rules.lint.trees import Function, Source

Loop = ast.For | ast.AsyncFor | ast.While

_DECORATOR = re.compile(
    r"(?:^|_)(?:retry|retries|retrying|retryable|retriable|autoretry)(?:_|$)|^on_exception$|"
    r"^on_predicate$|backoff"
)
# What runs again by itself when it raises, where nobody says otherwise.
_DURABLE = re.compile(r"(?:^|\.)(?:temporalio\.)?(?:activity\.defn|dramatiq\.actor)$")
_CONTEXTS = {"Retrying", "AsyncRetrying", "retry_context", "RetryingCaller", "attempts"}
_COUNTS = {"range", "count", "repeat"}
_PAUSES = re.compile(r"(?:\w+_)?(?:attempts?|retries|delays?|backoffs?|waits?|sleeps?)")
_RETRY_OPTIONS = {"autoretry_for", "retry_backoff", "retries", "retry_policy"}
_LIMITS = {"max_retries": 0, "maximum_attempts": 1, "max_attempts": 1}


def repeats(source: Source, loop: Loop, call: ast.AST) -> bool:
    """Return whether a loop goes round again when the call in it failed, and ends when it did not."""
    if isinstance(loop, ast.While):
        counted = any(
            isinstance(each, ast.Name) and words.is_attempt(each.id) for each in ast.walk(loop.test)
        )
        tried = _tries(source, loop, call)
        ends = counted or _leaves(source, loop, tried) or _ends(loop, tried)
        return tried is not None and _goes_on(tried) and ends
    if isinstance(loop.iter, ast.Call) and _last(trees.dotted(source, loop.iter.func)) in _CONTEXTS:
        return True
    if not _counts(source, loop):
        return False
    tried = _tries(source, loop, call)
    return _leaves(source, loop, tried) and (tried is None or _goes_on(tried))


def decorated(source: Source, function: Function) -> ast.expr | None:
    """Return the decorator that repeats a function when it raises; None when there is none."""
    for each in function.decorator_list:
        if is_retry(source, each) or (_is_durable(source, each) and not _limited(source.tree)):
            return each
        if isinstance(each, ast.Call) and any(_asks_retries(keyword) for keyword in each.keywords):
            return each
    return None


def handed(source: Source, call: ast.Call) -> bool:
    """Return whether a call has repeated what it is given: `retry_call(refund)`, a node with a policy."""
    return is_retry(source, call) or any(
        each.arg == "retry_policy" and _asks_retries(each) for each in call.keywords
    )


def is_retry(source: Source, node: ast.expr) -> bool:
    """Return whether a decorator or a call is of something that repeats, by its name."""
    callee = node.func if isinstance(node, ast.Call) else node
    return bool(_DECORATOR.search(words.snake(_last(trees.dotted(source, callee)))))


def _is_durable(source: Source, decorator: ast.expr) -> bool:
    callee = decorator.func if isinstance(decorator, ast.Call) else decorator
    return bool(_DURABLE.search(trees.dotted(source, callee)))


def _limited(node: ast.AST) -> bool:
    """Return whether something says that there is one try and no more."""
    return any(
        isinstance(each, ast.keyword)
        and each.arg in _LIMITS
        and isinstance(each.value, ast.Constant)
        and each.value.value == _LIMITS[each.arg]
        for each in ast.walk(node)
    )


def _asks_retries(keyword: ast.keyword) -> bool:
    """Return whether a decorator's option makes its task run again."""
    if keyword.arg not in _RETRY_OPTIONS or _limited(keyword.value):
        return False
    return not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)


def _counts(source: Source, loop: ast.For | ast.AsyncFor) -> bool:
    """Return whether a loop counts attempts, and does not walk through things."""
    if isinstance(loop.target, ast.Name) and words.is_attempt(loop.target.id):
        return True
    if isinstance(loop.iter, ast.Call):
        counts = _last(trees.dotted(source, loop.iter.func)) in _COUNTS
        sized = any(
            isinstance(each, ast.Call) and trees.plain(each.func) == "len" for each in ast.walk(loop.iter)
        )
        return counts and not sized and not _used(loop)
    if isinstance(loop.iter, ast.Tuple | ast.List):
        return bool(loop.iter.elts) and all(
            isinstance(each, ast.Constant) and isinstance(each.value, int | float) for each in loop.iter.elts
        )
    return bool(_PAUSES.fullmatch(words.snake(_last(trees.plain(loop.iter)))))


def _used(loop: ast.For | ast.AsyncFor) -> bool:
    """Return whether a loop's number picks something: `orders[i]` is not an attempt."""
    name = loop.target.id if isinstance(loop.target, ast.Name) else ""
    return any(
        isinstance(node, ast.Subscript)
        and any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node.slice))
        for node in ast.walk(loop)
    )


def _tries(source: Source, loop: Loop, call: ast.AST) -> ast.Try | None:
    """Return the `try` nearest to the call within the loop; None when there is none."""
    for parent, child in trees.above(source, call):
        if parent is loop:
            return None
        if isinstance(parent, ast.Try) and any(child is each for each in parent.body):
            return parent
    return None


def _goes_on(tried: ast.Try) -> bool:
    """Return whether an error of the call does not end the loop."""
    return any(
        not isinstance(handler.body[-1], ast.Raise | ast.Return | ast.Break) for handler in tried.handlers
    )


def _leaves(source: Source, loop: Loop, tried: ast.Try | None) -> bool:
    """Return whether the loop is left somewhere when nothing was wrong: outside every handler."""
    handlers: set[ast.AST] = set(tried.handlers) if tried is not None else set()
    return any(
        isinstance(node, ast.Return | ast.Break)
        and not any(parent in handlers for parent, _ in trees.above(source, node))
        for node in _own(loop)
    )


def _ends(loop: ast.While, tried: ast.Try | None) -> bool:
    """Return whether what the loop waits for is set where the call went well."""
    waits_for = {each.id for each in ast.walk(loop.test) if isinstance(each, ast.Name)}
    went_well = (*tried.body, *tried.orelse) if tried is not None else ()
    return any(
        isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.id in waits_for
        for statement in went_well
        for each in ast.walk(statement)
    )


def _own(loop: Loop) -> Iterator[ast.AST]:
    """Return what stands in a loop's body, functions that are only defined there aside."""
    waiting: list[ast.AST] = list(loop.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def _last(name: str) -> str:
    """Return the last part of a dotted name, without the mark of a call."""
    return name.rpartition(".")[2].rstrip("()")
