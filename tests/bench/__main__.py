"""The diff beside its competitors, on the same two parquet files, each measurement a process of its own.

python -m tests.bench [--rows 1000000] [--repeat 5] [--only merge duckdb] [--folder DIR]
Prints a table with each goal, met or missed, and one line of JSON. Competitors are measured in turn with
ours, each in its own environment, which is made at the first run (tests/bench/competitors/environments.py).
What they find is held against what we find: where that does not fit, nothing is comparable and the exit
code is 1.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench import diff_table
from tests.bench.competitors import environments
from tests.bench.competitors.environments import NotInstallableError
from tests.bench.diff_table import FILES, GOALS, LARGE, OURS, TIMES, Sample

AS_OF = "2026-03-20T00:00:00Z"  # As in books, which is not imported: it would make this process large.
FINISHED = (0, 1)  # The diff's own exit code is 1 when it finds mismatches.
KILO = 1024
SCRIPTS = {
    "pandas merge": ("pandas", "pandas_merge"),
    "datacompy": ("datacompy", "datacompy_compare"),
    "fastrecon": ("fastrecon", "fastrecon_keyed"),
    "duckdb": ("duckdb", "duckdb_links"),
    "pandas read and merge": ("pandas", "pandas_merge"),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What is measured: a command; from outside, or as it tells of itself."""

    name: str
    command: Sequence[str]
    outside: bool = False


def main() -> None:
    """Measure and print."""
    asked = _arguments()
    missing: dict[str, str] = {}
    load = os.getloadavg()
    with _folder(asked.folder) as folder:
        subjects = list(_subjects(asked.only, asked.rows, folder, missing))
        samples: dict[str, list[Sample]] = {subject.name: [] for subject in subjects}
        for turn in range(asked.repeat):
            for subject in subjects:
                samples[subject.name].append(_measured(subject))
                print(f"{turn + 1}/{asked.repeat} {subject.name}", file=sys.stderr)
    measured = diff_table.rows(samples, missing, asked.only)
    unfair = diff_table.unfair(samples)
    versions = {name: one[0].get("versions", {}) for name, one in samples.items() if one}
    told = {
        "rows": asked.rows,
        "repeat": asked.repeat,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "processor": _processor(),
        "load": [round(each, 1) for each in (load[0], os.getloadavg()[0])],
        "versions": versions,
        "table": [
            {"row": row.goal.name, "beside": row.goal.beside, "seconds": row.seconds,
             "beside_seconds": row.beside_seconds, "ratio": row.ratio, "cpu_ratio": row.cpu_ratio,
             "goal": row.goal.most, "outcome": row.outcome}
            for row in measured
        ],
        "megabytes": {name: max(each["megabytes"] for each in one) for name, one in samples.items()},
        "memory": {name: diff_table.memory(samples[name]) for name in (OURS, LARGE) if name in samples},
        "unfair": unfair,
    }  # fmt: skip
    print(f"{asked.rows:,} intents and refunds; {told['machine']}; load {told['load']}")
    print(diff_table.text(measured, samples))
    for sentence in unfair:
        print(f"NOT FAIR: {sentence}")
    print(json.dumps(told))
    sys.exit(1 if unfair else 0)


def _arguments() -> argparse.Namespace:
    names = [goal.name for goal in GOALS]
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--rows", type=int, default=1_000_000, help="intents, and about as many refunds")
    parser.add_argument("--repeat", type=int, default=5, help="measurements of each, in turn")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="rows of the table")
    parser.add_argument("--folder", type=Path, help="where the files are kept, and taken again")
    return parser.parse_args()


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    """Return a folder for the files, which goes afterwards unless it is one to keep."""
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _subjects(only: Sequence[str], rows: int, folder: Path, missing: dict[str, str]) -> Iterator[Subject]:
    """Yield what the asked rows need, each once; whatever cannot be installed is noted as missing."""
    goals = [goal for goal in GOALS if goal.name in only]
    files = _written(rows, folder)
    for name in dict.fromkeys(name for goal in goals for name in (goal.subject, goal.beside)):
        if name == OURS:
            yield Subject(name, [sys.executable, "-m", "tests.bench.ours", *files, AS_OF])
        elif name == LARGE:
            large = _written(rows * TIMES, folder)
            yield Subject(name, [sys.executable, "-m", "tests.bench.ours", *large, AS_OF])
        elif name == FILES:
            options = ["--as-of", AS_OF, "--format", "json", "--output", str(folder / "report.json")]
            yield Subject(
                name, [sys.executable, "-m", "recon.cli.main", "diff", *files, *options], outside=True
            )
        else:
            environment, script = SCRIPTS[name]
            try:
                python = str(environments.python(environment))
            except NotInstallableError as error:
                missing[name] = str(error)
                continue
            outside = name == "pandas read and merge"
            command = [python, "-m", f"tests.bench.competitors.{script}", *files, AS_OF]
            yield Subject(name, [*command, "--quiet"] if outside else command, outside)


def _written(rows: int, folder: Path) -> list[str]:
    """Return the two files, written by a process of their own where they are not there yet."""
    files = [str(folder / f"{side}-{rows}.parquet") for side in ("intents", "refunds")]
    if not all(Path(path).exists() for path in files):
        subprocess.run([sys.executable, "-m", "tests.bench.books", str(rows), str(folder)], check=True)
    return files


def _measured(subject: Subject) -> Sample:
    """Run a subject once, and return what it took: by its own word, or as a whole process."""
    began = time.perf_counter()
    process = subprocess.Popen(
        subject.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=environments.ROOT
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in FINISHED if subject.outside else process.returncode:
        sys.exit(f"{subject.name} ended with {process.returncode}: {' '.join(subject.command)}")
    if subject.outside:
        cpu_seconds = usage.ru_utime + usage.ru_stime
        return {"seconds": seconds, "cpu_seconds": cpu_seconds, "megabytes": usage.ru_maxrss / KILO}
    told: Sample = json.loads(said)
    return told


def _processor() -> str:
    """Return what kind of processor this is, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # No Linux.
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )


if __name__ == "__main__":
    main()
