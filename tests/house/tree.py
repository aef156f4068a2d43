"""The checkout as files, for the tests that hold its shape."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Made by tools or by running the product: nobody's writing.
MADE = {".git", ".venv", "build", "dist", "node_modules", "var", "__pycache__"}
CACHES = ("_cache", ".hypothesis", ".egg-info")


def files() -> Iterator[Path]:
    """Every file a person wrote, in stable order."""
    for path in sorted(ROOT.iterdir()):
        yield from _below(path)


def modules() -> list[Path]:
    """Every Python module of the product and its tests, in stable order."""
    return [path for path in files() if path.suffix == ".py"]


@functools.cache
def parsed(path: Path) -> ast.Module:
    """The module's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def name(path: Path) -> str:
    """The path as a failing test shows it: from the root of the checkout."""
    return path.relative_to(ROOT).as_posix()


def _below(path: Path) -> Iterator[Path]:
    if path.name in MADE or path.name.endswith(CACHES) or path.is_symlink():
        return
    if path.is_dir():
        for child in sorted(path.iterdir()):
            yield from _below(child)
    elif path.is_file():
        yield path
