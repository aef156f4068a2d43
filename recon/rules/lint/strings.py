"""The texts of a Python module that a model reads: prompts, instructions, descriptions of tools.

Never takes an ordinary string for one: what a person sees may well say "try again".
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from recon.rules.lint import trees, words
from recon.rules.lint.trees import Function, Source

_NAMES = re.compile(
    r"(?:\w+_)?(?:prompts?|instructions?|system|system_message|description|desc|template|persona|policy|"
    r"guidelines|rules|role|"
    r"backstory|goal|developer_message|playbook|sop|tool_doc|docs?)(?:_\w+)?"
)
_SPEAKS = re.compile(
    r"\byou are (?:a|an|the)\b|\byour (?:task|job|role|goal)\b|\bthe assistant\b|\bthe agent\b|\btool call",
    re.IGNORECASE,
)
_LONG = 40  # Characters; a shorter text that nothing names a prompt is a label.


@dataclass(frozen=True, slots=True)
class Text:
    """One text: its node, what it says, and what it is of, such as the tool that it describes."""

    node: ast.AST
    text: str
    about: str


def of(source: Source) -> Iterator[Text]:
    """Return the texts of a module that look like what a model reads."""
    for node in source.nodes:
        text = _text(node)
        if text and not isinstance(source.parents.get(node), ast.JoinedStr | ast.FormattedValue):
            about = _about(source, node)
            speaks = len(text) >= _LONG and _SPEAKS.search(text) and not _is_remark(source, node)
            if about is not None or speaks:
                yield Text(node, text, about or "")


def _text(node: ast.AST) -> str:
    """Return a constant text, or an f-string's with its holes; "" for anything else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(each) or "{}" for each in values)
        case _:
            return ""


def _is_remark(source: Source, node: ast.AST) -> bool:
    """Return whether a text is a statement that no program can read: it is none, and opens nothing."""
    statement = source.parents.get(node)
    if not isinstance(statement, ast.Expr):
        return False
    owner = source.parents.get(statement)
    opens = isinstance(owner, Function | ast.ClassDef | ast.Module) and owner.body[0] is statement
    return not opens


def _about(source: Source, node: ast.AST) -> str | None:
    """Return what a text is of, "" when that has no name; None when nothing says that a model reads it."""
    parent = source.parents.get(node)
    while parent is not None and _wraps(parent):
        node, parent = parent, source.parents.get(parent)
    match parent:
        case ast.Expr():
            return _documented(source, parent)
        case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target):
            name = trees.plain(target).rpartition(".")[2]
            return "" if _NAMES.fullmatch(words.snake(name)) else None
        case ast.keyword(arg=str(name)):
            return _named(source, parent) if _is_prompt(name) else None
        case ast.Dict(keys=keys, values=values):
            field = next((key for key, value in zip(keys, values, strict=True) if value is node), None)
            is_prompt = isinstance(field, ast.Constant) and _is_prompt(str(field.value))
            return _sibling(parent) if is_prompt else None
        case _:
            return None


def _wraps(parent: ast.AST) -> bool:
    """Return whether a node only shapes the text in it: a sum, `dedent(...)`, `"...".format()`."""
    return isinstance(parent, ast.BinOp | ast.Tuple | ast.List | ast.IfExp | ast.Attribute) or (
        isinstance(parent, ast.Call)
        and trees.plain(parent.func).rpartition(".")[2] in {"dedent", "cleandoc", "Template"}
    )


def _is_prompt(name: str) -> bool:
    """Return whether a field of this name is what a model reads."""
    return bool(_NAMES.fullmatch(words.snake(name))) or name == "content"


def _documented(source: Source, statement: ast.Expr) -> str | None:
    """Return the name of the function whose docstring this is, when a model may call it; else None."""
    owner = source.parents.get(statement)
    if not isinstance(owner, Function) or owner.body[0] is not statement:
        return None
    marked = any(words.marks_a_tool(each) for each in trees.decorators(source, owner))
    return owner.name if marked or words.moves_money(owner.name) else None


def _named(source: Source, keyword: ast.keyword) -> str:
    """Return the name that stands beside a description in a call; "" when none does."""
    call = source.parents.get(keyword)
    if not isinstance(call, ast.Call):
        return ""
    beside = [
        trees.plain(each.value) or _text(each.value)
        for each in call.keywords
        if each.arg in {"name", "func", "fn"}
    ]
    return " ".join([*beside, *(trees.plain(each) or _text(each) for each in call.args[:1])])


def _sibling(display: ast.Dict) -> str:
    """Return the name that stands beside a description in a dictionary; "" when none does."""
    return next(
        (
            _text(value)
            for key, value in zip(display.keys, display.values, strict=True)
            if isinstance(key, ast.Constant) and key.value == "name"
        ),
        "",
    )
