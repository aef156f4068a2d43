"""Errors of calls that move money, told to a model or a customer as failures.

An error of such a call is unknown, not failed: the answer may have been lost after the money moved. Never
judges the refusals that prove that nothing was done.
"""

import ast
import re
from collections.abc import Iterator

from recon.model.records.flaws import Rule
from recon.rules.lint import effects, keys, mappings, statuses, trees, words
from recon.rules.lint.trees import Function, Source

_UNPROVEN = re.compile(
    r"Exception|BaseException|StripeError|APIError|APIConnectionError|\w*Timeout\w*|\w*Connect\w*|"
    r"RequestException|"
    r"HTTPError|TransportError|NetworkError|ReadError|WriteError|RemoteProtocolError|ProtocolError|"
    r"ClientError|"
    r"OSError|IOError|SSLError|ServerError|APIStatusError|ApiException|RequestError|URLError|error|"
    r"\w*ServiceError"
)
_REFUSALS = re.compile(
    r"(?:Card|InvalidRequest|Authentication|Permission|Validation|BadRequest|Key|Value|Type)Error|"
    r"\w*Connection(?:Refused)Error"
)
_FAILED = re.compile(
    r"\bfail(?:ed|ure|s)?\b|unsuccessful|\b(?:could|can|did|was|were|has|have)(?: ?not|n[\u2019']t)\b|"
    r"\bcannot\b|\bunable\b"
    r"|\btry(?:ing)?\b.{0,30}\bagain\b|\bre-?try\b|\berror\b|declined|not (?:been )?(?:processed|"
    r"refunded|completed)",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"unknown|uncertain|unclear|not known|may (?:still )?have|might have|pending|do not (?:retry|try)|"
    r"don[\u2019']t (?:retry|try)"
    r"|not (?:retry|try)|check\b|look(?:ed|ing)? (?:it )?up|verify|unconfirmed|under review|escalat",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    r"(?:\w+_)?(?:list|retrieve|find|look_?up|check|search|reconcile|settle|status|fetch|query|"
    r"auto_paging_iter|exists)(?:_\w+)?"
    r"|get_(?:\w*refund\w*|\w*status\w*|\w*intent\w*)"
)
_PREPARES = re.compile(r"\bpayment_?intents?\.create(?:_async)?$", re.IGNORECASE)
_FAILURES = re.compile(
    r"(?:\w+_)?(?:failed|failure|declined|rejected)(?:_(?:error|exception|result|response))?"
)
_STATUS = re.compile(r"(?:\w+_)?(?:status|state)")
_INSTEAD = "say that it is not known yet (pending_unknown), and look it up by its key before any other call"


def of(source: Source) -> Iterator[keys.Found]:
    """Return the handlers of a module that tell an error of a call that moves money as a failure."""
    for node in source.nodes:
        if not isinstance(node, ast.Try) or keys.in_test(source, node):
            continue
        name = _moved(source, node)
        for handler in node.handlers if name else ():
            if _is_unproven(source, handler) and not _looks(source, handler):
                yield from _told(source, handler, name)


def _moved(source: Source, tried: ast.Try) -> str:
    """Return what moves money in a try, as a sentence calls it; "" when nothing does."""
    for statement in tried.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and not _is_in_other_try(source, node, tried):
                name = _name_of(source, node, depth=0)
                if name:
                    return name
    return ""


def _is_in_other_try(source: Source, call: ast.Call, tried: ast.Try) -> bool:
    """Return whether the errors of a call are handled further in, or it is only defined here."""
    for parent, child in trees.above(source, call):
        if parent is tried:
            return False
        if isinstance(parent, Function | ast.Lambda) or (
            isinstance(parent, ast.Try) and parent.handlers and child in parent.body
        ):
            return True
    return False


def _name_of(source: Source, call: ast.Call, *, depth: int) -> str:
    """Return what a call that moves money is called; "" when it moves none."""
    effect = effects.of(source, call)
    if effect is not None:
        return "" if _only_prepares(source, effect) else effect.name
    name = trees.dotted(source, call.func)
    helper = trees.callee(source, call)
    if helper is not None and depth == 0:
        inner = (node for node in ast.walk(helper) if isinstance(node, ast.Call))
        if any(_name_of(source, each, depth=1) for each in inner):
            return name
    return name.lstrip(".") if helper is None and words.moves_money(name) and _is_sent(call, name) else ""


def _only_prepares(source: Source, effect: effects.Effect) -> bool:
    """Return whether a call makes a payment that nobody has confirmed: no money moves before that."""
    if not _PREPARES.search(effect.name):
        return False
    given: set[str] = {each.arg for each in effect.call.keywords if each.arg}
    spread = [each.value for each in effect.call.keywords if each.arg in {None, "params"}]
    for each in (*effect.call.args[:1], *spread):
        known = mappings.of(source, each)
        if known is None:
            return False
        given |= set(known)
    return "confirm" not in given


def _is_sent(call: ast.Call, name: str) -> bool:
    """Return whether a call of such a name does it, and does not make a record of it or read one."""
    last = name.rpartition(".")[2]
    return bool(call.args or call.keywords) and not last[:1].isupper()


def _is_unproven(source: Source, handler: ast.ExceptHandler) -> bool:
    """Return whether a handler takes an error that does not prove that nothing was done."""
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [trees.dotted(source, each).rpartition(".")[2] for each in kinds]
    return any(_UNPROVEN.fullmatch(each) and not _REFUSALS.fullmatch(each) for each in names)


def _looks(source: Source, handler: ast.ExceptHandler) -> bool:
    """Return whether a handler asks what became of the call."""
    return any(
        isinstance(node, ast.Call)
        and _LOOKS.fullmatch(words.snake(trees.dotted(source, node.func).rpartition(".")[2]))
        for node in ast.walk(handler)
    )


def _told(source: Source, handler: ast.ExceptHandler, name: str) -> Iterator[keys.Found]:
    """Return where a handler says that it failed: what it returns, raises or writes down."""
    for node in ast.walk(handler):
        said = _said(source, node)
        if said:
            yield (
                node,
                Rule.ERROR_AS_FAILED,
                f"An error of {name} is told as {said}, but the money may have moved before it; {_INSTEAD}.",
            )
            return


def _said(source: Source, node: ast.AST) -> str:  # noqa: PLR0911 -- one for each kind of statement
    """Return the words in which a statement calls it a failure; "" when it does not."""
    match node:
        case ast.Return(value=ast.Constant(value=False)):
            return "False" if _is_true_otherwise(source, node) else ""
        case ast.Return(value=ast.expr() as value):
            return _words_of(value) or _refusal(source, value) or _failure(source, value)
        case ast.Raise(exc=ast.Name() | ast.Attribute() as raised):
            return _refusal(source, raised) or _failure(source, raised)
        case ast.Raise(exc=ast.Call() as raised):
            if trees.dotted(source, raised.func).rpartition(".")[2] == "ModelRetry":
                return "ModelRetry"
            return _words_of(raised) or _refusal(source, raised) or _failure(source, raised)
        case ast.Expr(value=ast.Call(func=ast.Name(id="abort")) as call):
            return _words_of(call) or _refusal(source, call)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return _words_of(value) if _is_returned(source, node, name) else ""
        case ast.Expr(value=ast.Call() as call):
            told = [
                each for each in ast.walk(call) if isinstance(each, ast.Dict) and "content" in _fields(each)
            ]
            return next((said for each in told if (said := _words_of(each))), "")
        case ast.Assign(targets=[ast.Attribute(attr=attribute)], value=value):
            is_failed = _STATUS.fullmatch(attribute) and re.search(
                r"\bfail(?:ed|ure)?\b", _plain(value), re.IGNORECASE
            )
            return repr(_plain(value)) if is_failed else ""
        case _:
            return ""


def _is_returned(source: Source, node: ast.AST, name: str) -> bool:
    """Return whether the function around a statement gives back what it puts into a name."""
    scope = trees.scope_of(source, node)
    answers = trees.returned(source, scope) if isinstance(scope, Function) else ()
    return any(isinstance(each, ast.Name) and each.id == name for each in answers)


def _is_true_otherwise(source: Source, node: ast.AST) -> bool:
    """Return whether the function around a handler says True of a call that is known to move money.

    A handler that says somewhere that it is not known is believed.
    """
    scope = trees.scope_of(source, node)
    around = [parent for parent, _ in trees.above(source, node)]
    handler = next((each for each in around if isinstance(each, ast.ExceptHandler)), None)
    tried = next((each for each in around if isinstance(each, ast.Try)), None)
    if handler is None or tried is None or not isinstance(scope, Function):
        return False
    answers = trees.returned(source, scope)
    return (
        any(isinstance(each, ast.Constant) and each.value is True for each in answers)
        and not any(_UNKNOWN.search(_plain(each)) for each in ast.walk(handler))
        and any(isinstance(each, ast.Call) and effects.of(source, each) for each in ast.walk(tried))
    )


def _refusal(source: Source, value: ast.expr) -> str:
    """Return the HTTP status by which an answer refuses; "" where it does not, or says that it is unknown."""
    status = statuses.refused(source, value)
    if status is None or any(_UNKNOWN.search(_plain(each)) for each in ast.walk(value)):
        return ""
    return f"HTTP {status}"


def _failure(source: Source, value: ast.expr) -> str:
    """Return the class by which an answer or exception is named a failure; "" for any other."""
    name = trees.dotted(source, value.func if isinstance(value, ast.Call) else value)
    *owners, last = name.split(".")
    of_class = last[:1].isupper() or any(each[:1].isupper() for each in owners)
    unknown = any(_UNKNOWN.search(_plain(each)) for each in ast.walk(value))
    return last if of_class and not unknown and _FAILURES.fullmatch(words.snake(last)) else ""


def _fields(display: ast.Dict) -> set[str]:
    """Return the names in a dictionary."""
    return {str(key.value) for key in display.keys if isinstance(key, ast.Constant)}


def _words_of(value: ast.expr) -> str:
    """Return the words of an answer that call it a failure, shortened; "" when there are none."""
    texts = [text for each in ast.walk(value) if (text := _plain(each))]
    if any(_UNKNOWN.search(each) for each in texts):
        return ""
    for each in texts:
        if _FAILED.search(each):
            return repr(" ".join(each.split())[:60])
    return "'success': False" if _denies(value) else ""


def _plain(node: ast.AST) -> str:
    """Return a constant text, or the name of an enumeration's member; "" for anything else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Attribute(attr=name) if name.isupper():
            return name
        case _:
            return ""


def _denies(value: ast.expr) -> bool:
    """Return whether an answer is a mapping that says `success: False`."""
    return isinstance(value, ast.Dict) and any(
        isinstance(key, ast.Constant)
        and key.value in {"success", "ok", "succeeded", "refunded"}
        and isinstance(said, ast.Constant)
        and said.value is False
        for key, said in zip(value.keys, value.values, strict=True)
    )
