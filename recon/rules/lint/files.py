"""Which parts of a file that is not Python a model reads, with everything else made blank in its place.

Never parses: a broken file is read like any other.
"""

import re
from collections.abc import Iterator

from recon.rules.lint.allowances import Comment

PROSE = (".md", ".mdx", ".txt", ".j2", ".jinja", ".jinja2", ".prompt")
DATA = (".json", ".yaml", ".yml", ".toml")
_FOR_PEOPLE = re.compile(
    r"(?:readme|changelog|changes|contributing|license|licence|copying|history|news|authors|notice|"
    r"security|code_of_conduct|"
    r"requirements[\w.-]*|release[\w.-]*|upgrading|migration|top_level|entry_points|sources|"
    r"architecture|install\w*)(?:\..*)?",
    re.IGNORECASE,
)
_TO_A_MODEL = re.compile(
    r"\byou are (?:a|an|the)\b|\b(?:the|your) (?:assistant|agent|model)\b|\bsystem prompt\b|"
    r"\btool[ _-]?calls?\b|\b\w+_\w+ tool\b",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"^([ \t]*)(```|~~~)[ \t]*(?:py|python|python3|pycon|bash|sh|shell|console|js|javascript|ts|"
    r"typescript|java|go|ruby|rb|php|"
    r"sql|c|cpp|rust|diff|http|toml|ini|html|css)\b[^\n]*\n.*?(?:^\1\2[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_COMMENTED = re.compile(r"<!--.*?-->|\{#.*?#\}", re.DOTALL)
_FIELD = re.compile(r"""^([ \t]*(?:-[ \t]+)*)(?:["']?)([\w.$ -]+?)(?:["']?)[ \t]*[:=](?=\s|["'\[{|>]|$)""")
_PROMPTS = re.compile(
    r"(?:\w+[_.-])?(?:prompts?|instructions?|system|description|desc|content|text|template|persona|"
    r"policy|guidelines?|rules?|"
    r"backstory|goal|task|playbook|steps?|behaviou?r|docs?|when_to_use|on_error|error_handling)(?:[_.-]\w+)?",
    re.IGNORECASE,
)
_NAME = re.compile(r"""["']?\bname["']?[ \t]*[:=][ \t]*["']?([\w -]+)""", re.IGNORECASE)
_NESTED = re.compile(r"""["']([\w.-]+)["'][ \t]*:[ \t]*("(?:[^"\\]|\\.)*")""")
_QUOTED = re.compile(r'''"((?:[^"\\\n]|\\.)*)"''')
_LETTERS = re.compile(r"\S")
# What begins a comment, in one kind of file or another.
_MARK = re.compile(r"(?:<!--|\{#-?|\{\{!|/\*|//|#|;)\s*$")


def read_by_a_model(text: str, name: str) -> str:
    """Return a text of the same length in which only what a model may read is left.

    name: the file's, with its suffix. One for people, such as a README, counts only if it addresses a model.
    """
    if name.endswith(DATA):
        return _fields(text)
    if _FOR_PEOPLE.fullmatch(name) and not _TO_A_MODEL.search(text):
        return _blank(text)
    return _COMMENTED.sub(lambda found: _blank(found[0]), _CODE.sub(lambda found: _blank(found[0]), text))


def comments(text: str) -> Iterator[Comment]:
    """Return the lines of a text that may allow something, each as one comment."""
    if "recon:" not in text:
        return
    for number, line in enumerate(text.splitlines(), start=1):
        before, _, after = line.partition("recon:")
        mark = _MARK.search(before)
        if mark is not None and after:
            at = mark.start()
            yield Comment(number, at + 1, line[at:], alone=not line[:at].strip())


def _blank(text: str) -> str:
    """Return a text with a space for each character, its lines kept."""
    return _LETTERS.sub(" ", text)


def _fields(text: str) -> str:
    """Return the values of fields that a model reads, each a sentence of its own, and names beside them."""
    kept: list[str] = []
    field, indent = "", 0
    for line in text.splitlines(keepends=True):
        match = _FIELD.match(line)
        if match is not None and (_depth(line) <= indent or not _PROMPTS.fullmatch(field)):
            field, indent = match[2].strip(), len(match[1])
            is_read = _PROMPTS.fullmatch(field) or field == "name"
            whole = _blank(line[: match.end()]) + _ended(line[match.end() :])
            kept.append(whole if is_read and not _NESTED.search(line) else _one_line(line))
        elif line.lstrip().startswith(("#", "//")):
            kept.append(_blank(line))
        else:
            kept.append(
                _ended(line) if _PROMPTS.fullmatch(field) and not _NESTED.search(line) else _one_line(line)
            )
    return "".join(kept)


def _depth(line: str) -> int:
    """Return how far a line is indented."""
    return len(line) - len(line.lstrip())


def _one_line(line: str) -> str:
    """Return a line of which only prompt fields are left: JSON may stand on one line, whole."""
    kept = _blank(line)
    for each in _NESTED.finditer(line):
        if _PROMPTS.fullmatch(each[1]) or each[1] == "name":
            kept = kept[: each.start(2)] + _ended(each[2]) + kept[each.end(2) :]
    return kept


def _ended(value: str) -> str:
    """Return a value, as long as it was, in which each quoted text ends as a sentence does."""
    return _QUOTED.sub(lambda found: f" {_unescaped(found[1])}.", value)


def _unescaped(text: str) -> str:
    """Return a text whose escaped line breaks and quotes do not join words, as long as it was."""
    text = re.sub(r"\\n(?=\s*(?:\\n|[-*#\u2022]|\d+[.)]))", ". ", text).replace("\\n", "  ")
    return text.replace('\\"', "  ").replace("\\t", "  ")
