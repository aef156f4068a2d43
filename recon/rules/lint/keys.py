"""Keys that another attempt would not have, and calls that move money with no key at all.

Never follows a key out of its module.
"""

import ast
from collections.abc import Iterator, Sequence

from recon.model.phrases import opening
from recon.model.records.flaws import Rule
from recon.rules.lint import effects, origins, references, retries, sinks, trees, words
from recon.rules.lint.effects import Effect, State
from recon.rules.lint.origins import Origin
from recon.rules.lint.retries import Retry
from recon.rules.lint.sinks import Sink
from recon.rules.lint.trees import Function, Source

Found = tuple[ast.AST, Rule, str]  # Where, which rule, and the sentence.

_INSTEAD = "build it from the order and its reference, or pass the stored intent's key"
_REFERENCE_INSTEAD = "give what the return or the order line is called, out of your own books"
_OF_WHAT = {
    Rule.KEY_FROM_RANDOM: "which is new on every attempt",
    Rule.KEY_FROM_CLOCK: "which is another time on every attempt",
    Rule.KEY_FROM_ATTEMPT: "which another attempt or worker does not share",
    Rule.KEY_FROM_CALL_ID: "which names who asked and not what for",
}
_ORDER = tuple(_OF_WHAT)  # Of several origins of one key, the first of these is said.


def of(source: Source) -> Iterator[Found]:
    """Return what is wrong with the keys of a module; tests may make as many intents as they like."""
    said: set[ast.AST] = set()
    for sink in sinks.of(source):
        found = sorted(origins.of(source, sink.key), key=lambda each: _ORDER.index(each.rule))
        new = [each for each in found if each.node not in said]
        said |= {each.node for each in found}
        if new and not in_test(source, sink.node):
            yield _unstable(source, sink, new)
        if sink.is_reference and not in_test(source, sink.node):
            yield from _said(source, sink)
    mounted = retries.mounted(source)
    for call in source.calls:
        effect = effects.of(source, call)
        if effect is not None and not in_test(source, call):
            yield from _without(source, effect, mounted)


def in_test(source: Source, node: ast.AST) -> bool:
    """Return whether a node stands in a test, a fixture, or a module of tests."""
    if words.is_test(source.name):
        return True
    for parent, _ in trees.above(source, node):
        if isinstance(parent, Function) and (
            parent.name.startswith("test_")
            or any("fixture" in trees.dotted(source, each) for each in parent.decorator_list)
        ):
            return True
        if isinstance(parent, ast.ClassDef) and any("TestCase" in trees.plain(each) for each in parent.bases):
            return True
    return False


def _unstable(source: Source, sink: Sink, found: Sequence[Origin]) -> Found:
    """Return what is wrong with a key: what it comes from, or that a retry in sight makes another."""
    retry = retries.around(source, sink.node)
    for each in found:
        if retry is None:
            break
        if each.rule != Rule.KEY_FROM_CALL_ID and retries.changes(source, retry, each.at):
            instead = f"make it once, before the first try: {_INSTEAD}"
            why = (
                f"{opening(sink.what)} comes from {_made(sink, each)} each time the {retry.word} at line "
                f"{retry.line} repeats it, so that each try moves the money again; "
                f"{_REFERENCE_INSTEAD if sink.is_reference else instead}."
            )
            return sink.node, Rule.RETRY_NEW_KEY, why
    first = found[0]
    again = "asking again" if first.rule == Rule.KEY_FROM_CALL_ID else "a retry"
    then = "each call is another refund" if sink.is_reference else f"{again} is a second one"
    why = (
        f"{opening(sink.what)} comes from {_made(sink, first)}, {_OF_WHAT[first.rule]}, so that {then}; "
        f"{_REFERENCE_INSTEAD if sink.is_reference else _INSTEAD}."
    )
    return sink.node, first.rule, why


def _said(source: Source, sink: Sink) -> Iterator[Found]:
    """Return what is wrong with a reference that a model says, and nothing looks up."""
    if references.said_by_a_model(source, sink.key):
        why = (
            f"{opening(sink.what)} is what the model says, and other words of it are another refund; "
            f"{_REFERENCE_INSTEAD}."
        )
        yield sink.node, Rule.KEY_FROM_RANDOM, why


def _made(sink: Sink, origin: Origin) -> str:
    """Return what a key comes from, with its line where that is another."""
    line, there = trees.position(sink.node)[0], trees.position(origin.node)[0]
    return origin.what if there == line else f"{origin.what} at line {there}"


def _without(source: Source, effect: Effect, mounted: Retry | None) -> Iterator[Found]:
    """Return what is wrong where a call that moves money has no key, or has it where nobody looks."""
    if effect.state == State.MISPLACED:
        why = (
            f"The key stands in the parameters of {effect.name}, which sends a random one instead; write it "
            'as options={"idempotency_key": key}.'
        )
        yield effect.keys[0], Rule.MISPLACED_KEY, why
    if effect.state != State.MISSING:
        return
    retry = retries.around(source, effect.call) or (mounted if effect.by_http else None)
    if retry is None and effect.sends is not None:
        retry = retries.within(source, effect.sends)
    what = "an Idempotency-Key header" if effect.by_http else "an idempotency key"
    if retry is None:
        why = (
            f"There is no idempotency key for {effect.name}, so that whoever calls it again moves the money "
            f"again; give it {what}: {_INSTEAD}."
        )
        yield effect.call, Rule.MISSING_KEY, why
        return
    why = (
        f"The {retry.word} at line {retry.line} repeats {effect.name} without {what}, so that each try moves "
        f"the money again; give it one: {_INSTEAD}."
    )
    yield effect.call, Rule.RETRY_WITHOUT_KEY, why
