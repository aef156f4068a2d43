"""Functions of a module that send its requests: `self._call("POST", "/refunds")`, and what they add to them.

Never judges a request whose way out the module does not show.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from recon.rules.lint import aliases, trees, urls, words
from recon.rules.lint.trees import Function, Source

_DEEPEST = 3  # Functions between a request and the call that sends it.


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A request that a function of this module sends.

    address: where to. sends: the call in the function that goes out. keyed: on the way something is said of
    a key.
    """

    address: str
    sends: ast.Call
    keyed: bool


def posted(source: Source, call: ast.Call) -> Wrapped | None:
    """Return what a call has posted by a function of its module, when that creates what moves money."""
    wrapper = trees.callee(source, call)
    if wrapper is None:
        return None
    texts = [urls.written(source, each) for each in (*call.args, *(word.value for word in call.keywords))]
    address = next(filter(urls.moves_money, texts), None)
    if address is None:
        return None
    way = tuple(dict.fromkeys(_way(source, wrapper)))
    orders_post = any(each.upper() == "POST" for each in texts)
    sends = next((each for each in _sendings(source, way) if orders_post or urls.posts(source, each)), None)
    if sends is None:
        return None
    return Wrapped(address, sends, keyed=any(_is_of_key(node) for each in way for node in ast.walk(each)))


def _way(source: Source, function: Function, depth: int = 0) -> Iterator[Function]:
    """Yield a function, those that it calls, and how their class begins, where a session gets headers."""
    yield function
    owner = source.parents.get(function)
    if isinstance(owner, ast.ClassDef):
        yield from (each for each in owner.body if isinstance(each, Function) and each.name == "__init__")
    if depth < _DEEPEST:
        for node in ast.walk(function):
            inner = trees.callee(source, node) if isinstance(node, ast.Call) else None
            if inner is not None and inner is not function:
                yield from _way(source, inner, depth + 1)


def _sendings(source: Source, way: tuple[Function, ...]) -> Iterator[ast.Call]:
    """Yield the calls of somebody else's client in these functions."""
    for function in way:
        for node in ast.walk(function):
            if not isinstance(node, ast.Call):
                continue
            names = (trees.dotted(source, node.func), aliases.behind(source, node))
            if any(name is not None and urls.goes_out(name) for name in names):
                yield node


def _is_of_key(node: ast.AST) -> bool:
    """Return whether a node names an idempotency key: a variable, an argument, a field or a header."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
            return words.is_key(name)
        case ast.Constant(value=str(name)):
            return words.is_key(name)
        case _:
            return False
