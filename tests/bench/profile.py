"""Where the diff's time goes: its stages by processor time, and the functions that take most of it.

python -m tests.bench.profile [--rows 1000000] [--folder DIR] [--top 15]. The stages are timed without a
profiler, which would make what is written in Python look slower than it is; a second pass under cProfile
names functions. A stage that is part of another one stands under it, one step to the right.
"""

import argparse
import cProfile
import pstats
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from recon.doors.files import reading
from recon.model import frames, versions
from recon.rules import linking
from recon.rules.mismatches import finding, repeats, strays
from recon.rules.mismatches import intents as nine
from recon.rules.mismatches.books import Books
from recon.rules.reports import documents
from tests.bench import books, ours

# What is timed: how deep it stands, what it is called, where it is.
STAGES: tuple[tuple[int, str, Any, str], ...] = (
    (0, "intents: file to frame", reading, "read_intents"),
    (0, "refunds: file to frame", reading, "read_refunds"),
    (1, "both: cells looked over", frames, "part_of_intents"),
    (1, "", frames, "part_of_refunds"),
    (1, "both: versions settled", versions, "settled_intents"),
    (1, "", versions, "settled_refunds"),
    (0, "linking", linking, "link"),
    (1, "strong: keys of refunds", linking, "_strong"),
    (2, "claims: recorded ids", linking, "_claims"),
    (1, "payments", linking, "_payments"),
    (1, "inferred", linking, "_infer"),
    (0, "finding", finding, "find"),
    (1, "refunds of each intent", nine, "gather"),
    (1, "rules 1 to 9", nine, "judge"),
    (2, "rule 4, repeats", repeats, "find"),
    (1, "rules 10 and 11, strays", strays, "judge"),
    (1, "evidence of intents", Books, "of_intents"),
    (1, "evidence of refunds", Books, "of_refunds"),
    (0, "report: JSON", documents, "json_text"),
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.profile")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where the files are kept, and taken again")
    parser.add_argument("--top", type=int, default=15, help="functions to name")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = books.files(asked.rows, asked.folder or Path(folder))
        if not all(path.exists() for path in files):
            books.write(asked.rows, asked.folder or Path(folder))
        whole(*files)  # Once, so that nothing is loaded or compiled while the clock runs.
        seconds = stages(lambda: whole(*files))
        profile = cProfile.Profile(time.process_time)
        profile.runcall(whole, *files)
    print(table(seconds))
    pstats.Stats(profile).sort_stats("tottime").print_stats(asked.top)


def whole(intents: Path, refunds: Path) -> str:
    """Return the report of two files, as `recon diff --format json` writes it."""
    _, result = ours.diff(*ours.read(intents, refunds), books.AS_OF)
    return documents.json_text(result)


def stages(work: Callable[[], object]) -> dict[str, float]:
    """Do the work and return the processor seconds of each stage, and of "all" of it."""
    seconds: dict[str, float] = {"all": 0.0}
    name = ""
    with ExitStack() as patches:
        for _, said, home, function in STAGES:
            name = said or name
            seconds[name] = 0.0
            timed = _timed(getattr(home, function), name, seconds)
            patches.enter_context(mock.patch.object(home, function, timed))
        with _clock("all", seconds):
            work()
    return seconds


def _timed(function: Callable[..., Any], name: str, seconds: dict[str, float]) -> Callable[..., Any]:
    """Return the function as one whose time is added up; what it yields is made at once."""

    def timed(*arguments: object, **named: object) -> object:
        with _clock(name, seconds):
            made = function(*arguments, **named)
            return list(made) if isinstance(made, Iterator) else made

    return timed


@contextmanager
def _clock(name: str, seconds: dict[str, float]) -> Iterator[None]:
    began = time.process_time()
    yield
    seconds[name] += time.process_time() - began


def table(seconds: dict[str, float]) -> str:
    """Return the stages with their seconds and their shares of all."""
    deep = {name: depth for depth, name, _, _ in STAGES if name} | {"all": 0}
    return "\n".join(
        f"{'  ' * deep[name] + name:32} {taken:7.3f} s {taken / (seconds['all'] or 1):6.1%}"
        for name, taken in seconds.items()
    )


if __name__ == "__main__":
    main()
