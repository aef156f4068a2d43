"""HTTP answers that say no for good: `Response(status=400)`, `abort(400)`, `return answer, 400`.

Never takes a status of 5xx for one: that is what a server that does not know says.
"""

import ast
import re
from collections.abc import Iterator

from recon.rules.lint import trees, words
from recon.rules.lint.trees import Source

_ANSWERS = re.compile(r"\w*Response|HTTP(?:Exception|Error)|HttpError|abort|make_response|send_error")
_KEYWORDS = re.compile(r"(?:http_)?(?:status|code)(?:_code)?")
_CLASSES = re.compile(r"(?:HTTP|HttpResponse|Http)(\w+)|(BadRequest|PaymentRequired|UnprocessableEntity)")
_CONSTANTS = re.compile(r"(?:HTTP_\d{3}_)?([A-Z_]+)")
_REFUSED = range(400, 500)
# Whoever is told one of these knows that it may be under way, or is to ask later.
_OPEN = {408, 409, 425, 429}
# The names of those with which somebody tells that a refund was refused. Source: RFC 9110, RFC 4918.
_NAMED_SO = {
    "BAD_REQUEST": 400,
    "UNAUTHORIZED": 401,
    "PAYMENT_REQUIRED": 402,
    "FORBIDDEN": 403,
    "NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "NOT_ACCEPTABLE": 406,
    "GONE": 410,
    "PRECONDITION_FAILED": 412,
    "EXPECTATION_FAILED": 417,
    "UNPROCESSABLE_CONTENT": 422,
    "UNPROCESSABLE_ENTITY": 422,
    "LOCKED": 423,
    "FAILED_DEPENDENCY": 424,
}


def refused(source: Source, answer: ast.expr) -> int | None:
    """Return the status by which an answer or an exception refuses; None where it does not."""
    found = (each for each in _named(source, answer) if each in _REFUSED and each not in _OPEN)
    return next(found, None)


def _named(source: Source, answer: ast.expr) -> Iterator[int]:
    """Yield what may be an answer's status: an argument, what follows its body, what its class is called."""
    match answer:
        case ast.Tuple(elts=[_, *rest]):
            yield from filter(None, map(_constant, rest))
        case ast.Call() | ast.Name() | ast.Attribute():
            call = answer if isinstance(answer, ast.Call) else ast.Call(answer, [], [])
            name = trees.dotted(source, call.func).rpartition(".")[2]
            given = [each.value for each in call.keywords if each.arg and _KEYWORDS.fullmatch(each.arg)]
            placed = call.args if _ANSWERS.fullmatch(name) else []
            yield from filter(None, map(_constant, (*given, *placed)))
            if (of_class := _CLASSES.fullmatch(name)) is not None:
                yield from filter(None, [_NAMED_SO.get(words.snake(of_class[1] or of_class[2]).upper())])
        case _:
            return


def _constant(node: ast.expr) -> int | None:
    """Return the status that a number or a constant stands for: 400, `HTTP_400_BAD_REQUEST`."""
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Attribute(attr=name) | ast.Name(id=name) if (
            found := _CONSTANTS.fullmatch(name)
        ) is not None:
            return _NAMED_SO.get(found[1])
        case _:
            return None
