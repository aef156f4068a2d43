"""One source in, its flaws out: Python by its syntax, every other text by its sentences.

Never reads a file, and never fails on one: what cannot be read is a value that says why.
"""

import ast
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Iterator, Mapping

from recon.model.records.flaws import Flaw, Reading, Rule
from recon.rules.lint import allowances, failures, files, keys, prompts, strings, trees
from recon.rules.lint.allowances import Comment
from recon.rules.lint.trees import Source

PYTHON = (".py", ".pyi")
SUFFIXES = (*PYTHON, *files.PROSE, *files.DATA)
_CONCERNS = re.compile(
    r"idempoten|paypal-request|refund|payable|charge|payment|transfer|payout|retry|again|recon:",
    re.IGNORECASE,
)


def find(text: str, name: str) -> Reading:
    """Return the flaws of one source, in the order of its text; the suffix of its name says how to read."""
    if not name.endswith(PYTHON):
        return Reading(_of_text(text, name))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # An escape that Python dislikes is its author's business.
            tree = ast.parse(text)
    except SyntaxError as error:
        version = ".".join(str(each) for each in sys.version_info[:2])
        return Reading(unreadable=f"line {error.lineno or 1} is not Python {version}: {error.msg}")
    except (ValueError, RecursionError, MemoryError):  # A NUL, or nested deeper than any person writes.
        return Reading(unreadable="it cannot be parsed as Python")
    return Reading(_of_python(text, name, tree)) if _CONCERNS.search(text) else Reading()


def _of_text(text: str, name: str) -> tuple[Flaw, ...]:
    """Return the flaws of a prompt or of a file with prompts in it."""
    orders = prompts.find(files.read_by_a_model(text, name))
    flaws = [_order(_line_at(text, each.offset), each.words) for each in orders]
    return _allowed(flaws, files.comments(text), {})


def _line_at(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column of an offset, from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _order(place: tuple[int, int], said: str) -> Flaw:
    """Return what is wrong with an order to repeat."""
    return Flaw(
        *place,
        Rule.PROMPT_RETRY,
        f"{said[:40]!r} tells the model to repeat what may have happened already; write instead: when it "
        "fails, do not call it again, look up what became of it (check_refund_status) and say so.",
    )


def _of_python(text: str, name: str, tree: ast.Module) -> tuple[Flaw, ...]:
    """Return the flaws of a module."""
    source, lines = trees.read(tree, name), text.split("\n")
    flaws: list[Flaw] = []
    spans: dict[int, tuple[int, int]] = {}
    for node, rule, why in (*keys.of(source), *failures.of(source)):
        flaws.append(Flaw(*_place(lines, node), rule, why))
        spans[flaws[-1].line] = _span(source, node)
    for each in strings.of(source):
        for order in prompts.find(each.text, each.about):
            flaws.append(_order(_in_string(lines, each.node, order.words), order.words))
            spans[flaws[-1].line] = _span(source, each.node)
    return _allowed(flaws, _comments(text), spans)


def _place(lines: list[str], node: ast.AST) -> tuple[int, int]:
    """Return a node's line and column, from 1, the column in characters."""
    line, column = trees.position(node)
    before = lines[line - 1].encode()[:column] if line <= len(lines) else b""
    return line, len(before.decode(errors="replace")) + 1


def _in_string(lines: list[str], node: ast.AST, said: str) -> tuple[int, int]:
    """Return where words stand in a text of several lines, else where the text begins."""
    first, _ = trees.position(node)
    written = re.compile(r"\s+".join(re.escape(each) for each in said.split()[:2]))
    for number in range(first, (getattr(node, "end_lineno", None) or first) + 1):
        if found := written.search(lines[number - 1]):
            return number, found.start() + 1
    return _place(lines, node)


def _span(source: Source, node: ast.AST) -> tuple[int, int]:
    """Return the first and last line of a node's statement; of one with a body, what stands before that."""
    statement = trees.statement_of(source, node)
    first, _ = trees.position(statement)
    body = getattr(statement, "body", None)
    last = (
        trees.position(body[0])[0] - 1
        if isinstance(body, list) and body
        else getattr(statement, "end_lineno", first)
    )
    return first, max(first, last)


def _comments(text: str) -> Iterator[Comment]:
    """Return the comments of a module, when one of them may allow something."""
    if "recon:" not in text:
        return
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                yield Comment(line, column + 1, token.string, alone=not token.line[:column].strip())
    except (tokenize.TokenError, SyntaxError):  # The tokenizer is stricter than the parser at a file's end.
        return


def _allowed(
    flaws: list[Flaw], comments: Iterator[Comment], spans: Mapping[int, tuple[int, int]]
) -> tuple[Flaw, ...]:
    """Return the flaws that no comment allows, with those of the comments, in the order of the text."""
    allowed, wrong = allowances.read(comments)
    kept = allowances.kept(flaws, allowed, spans)
    return tuple(sorted({*kept, *wrong}, key=lambda each: (each.line, each.column, each.rule)))
