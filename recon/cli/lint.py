"""`recon lint`: sources and prompts in, what would refund twice out.

Needs the base install alone, and loads nothing else, so that it can stand before every commit: argparse reads
its options, where every other command has typer.
"""

import argparse
import codecs
import fnmatch
import io
import json
import os
import re
import stat
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from recon.cli import exits
from recon.model.characters import harmless
from recon.model.errors import UnusableInput
from recon.model.phrases import opening, several
from recon.model.records.flaws import Flaw, Rule
from recon.rules.lint import catalogue, finding

FORMATS = ("text", "json", "github")
LARGEST = 4 * 1024 * 1024  # Bytes. No person writes more by hand; a syntax tree takes a hundred times that.
# Folders that tools make or others wrote; one that is named itself is read all the same.
_PASSED_OVER = re.compile(
    r"\.(?:git|hg|svn|venv|tox|nox|eggs|direnv|ipynb_checkpoints|idea|vscode)|venv|node_modules|__pycache__|"
    r"__pypackages__|_?build|dist|\..*cache|.*\.(?:egg|dist)-info"
)
_NEWLINES = re.compile(r"\r\n?")
_BYTE_ORDERS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Read:
    """One file: its flaws, or why it could not be read."""

    path: Path
    flaws: tuple[Flaw, ...] = ()
    unreadable: str | None = None


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong as every command of recon does."""

    def error(self, message: str) -> NoReturn:
        """Raise what ends the command with 2."""
        raise UnusableInput(f"{opening(message)}; see recon lint --help.")


def main(arguments: Sequence[str]) -> int:
    """Read the files that are named, report, and return the exit code.

    Raises:
        UnusableInput: the options do not fit. Nothing was read.
    """
    options = _parser().parse_args(arguments)
    rules = _chosen(options.select, options.ignore)
    if options.list_rules:
        _list(rules, options.format)
        return exits.OK
    if not options.paths:
        raise UnusableInput(
            "There is nothing to read: name files or folders, such as recon lint src prompts."
        )
    read = [_read(path) for path in _files(options.paths, options.exclude)]
    kept = [
        Read(each.path, tuple(flaw for flaw in each.flaws if flaw.rule in rules), each.unreadable)
        for each in read
    ]
    _report(kept, options.format)
    return _exit_code(kept)


def _parser() -> argparse.ArgumentParser:
    """Return the options and their help."""
    parser = _Parser(
        prog="recon lint",
        description="Find what would refund twice: keys that change with each attempt, calls without a key, "
        "retries, errors told as failures, and prompts that say try again.",
        epilog="Exit 0: nothing was found. Exit 1: there are findings. Exit 2: a file or an option cannot be "
        "used. One place may break a rule with a comment on its line or the line above: recon: allow[rule] "
        "and the reason.",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help=f"a folder, or a file that ends in {', '.join(finding.SUFFIXES)}",
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="for people, for programs, or for GitHub Actions"
    )
    parser.add_argument(
        "--select", action="append", metavar="RULES", help="find these alone, parted by commas"
    )
    parser.add_argument(
        "--ignore", action="append", metavar="RULES", help="find all but these, parted by commas"
    )
    parser.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help="pass over names and paths of this pattern in folders, such as 'data' or 'docs/*.md'",
    )
    parser.add_argument("--list-rules", action="store_true", help="list the rules with reasons and examples")
    return parser


def _chosen(select: Iterable[str] | None, ignore: Iterable[str] | None) -> frozenset[Rule]:
    """Return the rules that are asked for.

    Raises:
        UnusableInput: one is named that there is not.
    """
    chosen, left_out = (
        {name.strip() for each in those or () for name in each.split(",") if name.strip()}
        for those in (select, ignore)
    )
    unknown = sorted((chosen | left_out) - set(Rule))
    if unknown:
        raise UnusableInput(
            f"There is no rule {unknown[0][:40]!r}; recon lint --list-rules names those there are."
        )
    return frozenset(rule for rule in Rule if (not chosen or rule in chosen) and rule not in left_out)


def _files(paths: Iterable[Path], exclude: Sequence[str]) -> Iterator[Path]:
    """Return each file once: those named, and those in folders with a suffix we read, in stable order."""
    seen: set[Path] = set()
    for path in paths:
        for each in _below(path, exclude) if path.is_dir() else (path,):
            real = Path(os.path.realpath(each))
            if real not in seen:
                seen.add(real)
                yield each


def _below(folder: Path, exclude: Sequence[str]) -> Iterator[Path]:
    """Return the files of a folder that have a suffix we read, but for what is passed over."""
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(
            each
            for each in folders
            if not _PASSED_OVER.fullmatch(each)
            and not (here / each / "pyvenv.cfg").exists()
            and not _is_excluded(here / each, folder, exclude)
        )
        for name in sorted(names):
            path = here / name
            if (
                name.lower().endswith(finding.SUFFIXES)
                and path.is_file()
                and not _is_excluded(path, folder, exclude)
            ):
                yield path


def _is_excluded(path: Path, folder: Path, exclude: Sequence[str]) -> bool:
    """Return whether a pattern fits a name, or its path from the folder that was named."""
    inner = path.relative_to(folder).as_posix()
    return any(
        fnmatch.fnmatch(path.name, each)
        or fnmatch.fnmatch(inner, each)
        or fnmatch.fnmatch(path.as_posix(), each)
        for each in (each.rstrip("/") for each in exclude)
    )


def _read(path: Path) -> Read:
    """Return what is found in one file, or why it could not be read."""
    if not path.name.lower().endswith(finding.SUFFIXES):
        return Read(path, unreadable=f"it ends in none of {', '.join(finding.SUFFIXES)}")
    try:
        held = path.stat()
        if not stat.S_ISREG(held.st_mode):
            return Read(path, unreadable="it is no file")
        if held.st_size > LARGEST:
            megabytes = LARGEST // 1024 // 1024
            return Read(
                path, unreadable=f"it is larger than {megabytes} MB: --exclude it if no person wrote it"
            )
        text = _text(path.read_bytes(), path.name.lower())
    except (OSError, ValueError) as error:  # It is gone, or closed to us; a name that no system takes.
        return Read(path, unreadable=getattr(error, "strerror", None) or "it cannot be opened")
    if text is None:
        return Read(path, unreadable="it is not text in an encoding that it names or that we know")
    found = finding.find(text, path.name.lower())
    return Read(path, found.flaws, found.unreadable)


def _text(content: bytes, name: str) -> str | None:
    """Return a file's text with plain line ends; None when it is binary, or not in its own encoding."""
    marked = next((encoding for mark, encoding in _BYTE_ORDERS if content.startswith(mark)), None)
    if marked is None and b"\x00" in content:
        return None
    try:
        if name.endswith(finding.PYTHON) and marked != "utf-16":
            encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        else:
            encoding = marked or "utf-8"
        text = content.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        if marked is not None or name.endswith(finding.PYTHON):
            return None
        # Every byte is a letter there: what we look for is the same in all of its kin.
        text = content.decode("latin-1")
    return _NEWLINES.sub("\n", text)


def _exit_code(read: Sequence[Read]) -> int:
    """Return 2 when a file could not be read, else 1 when there are findings, else 0."""
    if any(each.unreadable is not None for each in read):
        return exits.CONFIGURATION
    return exits.FOUND if any(each.flaws for each in read) else exits.OK


def _report(read: Sequence[Read], format_: str) -> None:
    """Print what was found to stdout, and what could not be read to stderr."""
    for each in read:
        if each.unreadable is not None:
            print(f"recon: {harmless(str(each.path))}: {harmless(each.unreadable)}.", file=sys.stderr)
    if format_ == "json":
        print(json.dumps(_document(read), indent=2))
        return
    for each in read:
        for flaw in each.flaws:
            print(_github(each.path, flaw) if format_ == "github" else _line(each.path, flaw))
    findings = sum(len(each.flaws) for each in read)
    flawed = sum(1 for each in read if each.flaws)
    print(f"recon: {several(findings, 'finding')} in {flawed} of {len(read)} files.", file=sys.stderr)


def _line(path: Path, flaw: Flaw) -> str:
    """Return one finding as compilers print theirs."""
    return harmless(f"{path}:{flaw.line}:{flaw.column}: {flaw.rule}: {flaw.why}")


def _github(path: Path, flaw: Flaw) -> str:
    """Return one finding as a workflow command of GitHub Actions."""
    where = f"file={_property(str(path))},line={flaw.line},col={flaw.column}"
    return f"::error {where},title=recon {flaw.rule}::{_data(harmless(flaw.why))}"


def _data(text: str) -> str:
    """Return a text escaped as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Return a text escaped as a property of a workflow command."""
    return harmless(_data(text).replace(":", "%3A").replace(",", "%2C"))


def _document(read: Sequence[Read]) -> dict[str, object]:
    """Return everything that was found, for programs."""
    return {
        "files": len(read),
        "findings": [
            {
                "path": str(each.path),
                "line": flaw.line,
                "column": flaw.column,
                "rule": flaw.rule,
                "why": flaw.why,
            }
            for each in read
            for flaw in each.flaws
        ],
        "unreadable": [
            {"path": str(each.path), "reason": each.unreadable}
            for each in read
            if each.unreadable is not None
        ],
    }


def _list(rules: frozenset[Rule], format_: str) -> None:
    """Print the rules, each with its reason, what breaks it, and what to write instead."""
    listed = [each for each in catalogue.RULES if each.rule in rules]
    if format_ == "json":
        rows = [
            {"rule": each.rule, "reason": each.reason, "bad": each.bad, "good": each.good} for each in listed
        ]
        print(json.dumps(rows, indent=2))
        return
    for each in listed:
        print(f"{each.rule}\n  {each.reason}")
        for word, example in (("not", each.bad), ("but", each.good)):
            first, *rest = example.split("\n")
            print("\n".join([f"  {word}  {first}", *(f"       {line}" for line in rest)]))
        print()
