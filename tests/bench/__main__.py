"""Whole processes on the same two parquet files, in turn: `recon diff`, and pandas reading and merging them.

python -m tests.bench [--rows 1000000] [--runs 5]. Prints the median time, the peak memory and the ratio. The
merge classifies nothing: it is the least that anybody has to do to see both sides of a key.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench import books

MERGE = (
    "import sys, pandas\n"
    "intents, refunds = (pandas.read_parquet(path) for path in sys.argv[1:])\n"
    "sides = {'left_on': ['account', 'key'], 'right_on': ['account', 'intent_key']}\n"
    "merged = intents.merge(refunds, how='outer', indicator=True, **sides)\n"
    "print(merged['_merge'].value_counts().to_dict())\n"
)
FINISHED = (0, 1)  # The diff's own exit code is 1 when it finds mismatches.


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--rows", type=int, default=1_000_000, help="intents, and about as many refunds")
    parser.add_argument(
        "--runs", type=int, default=5, help="counted runs of each, after one that is not counted"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        intents, refunds = map(str, books.write(arguments.rows, Path(folder)))
        report = str(Path(folder) / "report.json")
        options = ["--as-of", books.AS_OF, "--format", "json", "--output", report]
        commands = {
            "recon diff": [sys.executable, "-m", "recon.cli.main", "diff", intents, refunds, *options],
            "pandas merge": [sys.executable, "-c", MERGE, intents, refunds],
        }
        measured = {name: _measure(command, arguments.runs) for name, command in commands.items()}
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{arguments.rows:,} intents; {machine}")
    for name, (seconds, megabytes) in measured.items():
        print(f"{name:14} median {seconds:6.2f} s   peak {megabytes:6.0f} MB")
    ratio = measured["recon diff"][0] / measured["pandas merge"][0]
    print(f"recon diff takes {ratio:.2f} times as long as the merge (goal: 0.8)")


def _measure(command: Sequence[str], runs: int) -> tuple[float, float]:
    """Return the median seconds and the greatest peak memory in megabytes of some runs of a process."""
    times, peaks = [], []
    for run in range(runs + 1):
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in FINISHED:
            sys.exit(f"{command[2]} ended with {process.returncode}")
        if run:
            times.append(seconds)
            peaks.append(usage.ru_maxrss / 1024)
    return statistics.median(times), max(peaks)


if __name__ == "__main__":
    main()
