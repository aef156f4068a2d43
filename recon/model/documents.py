"""A file of settings with the lines that its tables and keys stand on, so that an error can name the line.

The standard library's reader of TOML keeps no lines: `lines` finds them in the text that it has read. Never
reads a file, and never says what a key means.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from recon.model.errors import ConfigurationError

# Where something stands: table, then number within its list (from 0) or name, then key.
Path = tuple[str | int, ...]

_INTEGER_BITS = 64  # Source: https://toml.io/en/v1.0.0#integer
_TEXT_LIMIT = 200  # Characters of any one text: a name, a sentence and a channel all fit.

_KEY = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
_KEYS = re.compile(rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*")
_BETWEEN = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_HEADER = re.compile(r"(?P<list>\[\[)[ \t]*|\[[ \t]*|")
# What a value is made of. The texts come first, so that a bracket or a # within one is not taken for its own;
# one of several lines may end in quotes of its own before the three that close it.
_PART = re.compile(
    r'(?P<text>"""(?:[^\\]|\\.)*?"""(?!")|\'\'\'.*?\'\'\'(?!\')|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
    r"|(?P<comment>#[^\n]*)|(?P<opens>[\[{])|(?P<closes>[\]}])|(?P<ends>\n)|(?P<other>[^\"'#\[\]{}\n]+|.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, eq=False)
class Document(Mapping[str, object]):
    """What a file of settings says, with the lines that it says it on; else a mapping like any other.

    file: its name, for messages. lines: from 1, of each table and each key of a table.
    """

    content: Mapping[str, object]
    file: str
    lines: Mapping[Path, int] = field(repr=False)

    def __getitem__(self, key: str) -> object:
        """Return what stands under a key."""
        return self.content[key]

    def __iter__(self) -> Iterator[str]:
        """Return the keys."""
        return iter(self.content)

    def __len__(self) -> int:
        """Return how many keys there are."""
        return len(self.content)


def read(text: str, *, file: str) -> Document:
    """Return what a text in TOML says, and where.

    Raises:
        TOMLDecodeError: it is not TOML, or no settings; the text of the error names line and column where the
            reader knows them.
    """
    text = text.replace("\r\n", "\n")
    try:
        document = Document(tomllib.loads(text), file, lines(text))
    except RecursionError:  # Hundreds of brackets within another: nobody has written that for us.
        raise tomllib.TOMLDecodeError("it nests deeper than any settings do") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # Python takes so many digits for an attack; its words are about Python.
        raise tomllib.TOMLDecodeError("a number in it has thousands of digits") from None
    if _has_a_huge_number(document.content):
        raise tomllib.TOMLDecodeError(f"a number in it has more than {_INTEGER_BITS} bits")
    return document


def lines(text: str) -> dict[Path, int]:
    """Return the line of each table and key of a text that is TOML; what stands inside a value has none."""
    found: dict[Path, int] = {}
    numbers: dict[Path, int] = defaultdict(int)  # How many tables each list has had so far.
    table: Path = ()
    line, counted, at = 1, 0, _after(_BETWEEN, text, 0)
    while at < len(text):
        line, counted = line + text.count("\n", counted, at), at
        header = _HEADER.match(text, at)
        keys = _KEYS.match(text, header.end()) if header is not None else None
        if header is None or keys is None:  # Nothing in TOML: better a line less than no settings.
            break
        if header.group():
            path = _resolved(_names(keys.group()), numbers)
            if header["list"]:
                path = (*path, numbers[path])
                numbers[path[:-1]] += 1
            table = path
        else:
            path = (*table, *_names(keys.group()))
        for depth in range(1, len(path) + 1):
            found.setdefault(path[:depth], line)
        at = _after(_BETWEEN, text, _end_of_value(text, keys.end()))
    return found


def _has_a_huge_number(content: object) -> bool:
    """Return whether any whole number is beyond what TOML has: written in hexadecimal, Python reads it."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, int) and value.bit_length() > _INTEGER_BITS:
            return True
        if isinstance(value, dict | list):
            waiting.extend(value.values() if isinstance(value, dict) else value)
    return False


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where what the pattern matches here ends."""
    match = pattern.match(text, at)
    return at if match is None else match.end()


def _names(written: str) -> list[str]:
    """Return the names of a key as it is written, dots, quotes and escapes understood."""
    found: list[str] = []
    below: Any = tomllib.loads(f"{written} = 0")
    while isinstance(below, dict):
        ((name, below),) = below.items()
        found.append(name)
    return found


def _resolved(names: list[str], numbers: Mapping[Path, int]) -> Path:
    """Return the path of a header: a list of tables on the way stands for the latest of them."""
    path: Path = ()
    for place, name in enumerate(names, start=1):
        path = (*path, name)
        if place < len(names) and path in numbers:
            path = (*path, numbers[path] - 1)
    return path


def _end_of_value(text: str, at: int) -> int:
    """Return where the line ends, or the last of the lines that a value takes; a header is as good as one."""
    depth = 0
    for part in _PART.finditer(text, at):
        if part.lastgroup == "opens":
            depth += 1
        elif part.lastgroup == "closes":
            depth -= 1
        elif part.lastgroup == "ends" and depth <= 0:  # A header has closing brackets only.
            return part.end()
    return len(text)


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a file of settings, and how errors call it.

    title: what it is, for people. path: where it stands. document: all of the file.
    """

    row: Mapping[str, object]
    title: str
    path: Path
    document: Mapping[str, object]

    def error(self, reason: str, key: str = "") -> ConfigurationError:
        """Return the error that something here is wrong, with the line of the key, or else of the table."""
        return error(self.document, reason, *self.path, key, title=self.title)

    @property
    def line(self) -> int | None:
        """Return the line that the table begins on; None where nothing is known of it."""
        return line(self.document, *self.path)

    def only(self, known: frozenset[str]) -> None:
        """Raise where there is a key that is not known."""
        strange = sorted(set(self.row) - known)
        if strange:
            raise self.error(
                f"unknown key {strange[0]!r:.60}; known are {', '.join(sorted(known))}.", strange[0]
            )

    def text(self, key: str) -> str:
        """Return a text of one line that must be there."""
        value = self.row.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"{key} is {value!r:.60}; expected text.", key)
        if not is_line(value):
            raise self.error(
                f"{key} is {value!r:.60}; expected one line without spaces around it, "
                f"{_TEXT_LIMIT} characters at most.",
                key,
            )
        return value


def is_line(text: str) -> bool:
    """Return whether this is one line of text without spaces around it, and not too long."""
    return bool(text) and text.isprintable() and text == text.strip() and len(text) <= _TEXT_LIMIT


def error(
    document: Mapping[str, object], reason: str, *path: str | int, title: str = ""
) -> ConfigurationError:
    """Return the error that something in a file is wrong: file, line and table go before the reason.

    path: what it is about; the line is that of the nearest thing around it that has one, where anything has.
    """
    file = document.file if isinstance(document, Document) else "owners.toml"
    at = line(document, *path)
    where = [file, *([f"line {at}"] if at else []), *([title] if title else [])]
    return ConfigurationError(f"{', '.join(where)}: {reason}")


def line(document: Mapping[str, object], *path: str | int) -> int | None:
    """Return the line of something, or of the nearest thing around it that has one; None where none has."""
    if not isinstance(document, Document):
        return None
    around = (path[:depth] for depth in range(len(path), 0, -1))
    return next((document.lines[each] for each in around if each in document.lines), None)
