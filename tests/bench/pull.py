"""A first reading of many refunds, beside the least time that the allowance leaves for as many pages.

python -m tests.bench.pull [--refunds 100000] [--latency 0.1] [--per-second 25] [--postgres]. The provider is
tests/bench/provider.py, in a process of its own: the sandbox is made to be right, not fast. Door, threads,
mirror, fence and database are the real ones, in another process. Prints seconds, pages a second, the ratio
and the peak memory.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recon.doors.store import leases, migrations, mirror
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.model.records.runs import HOUR
from recon.model.settings import ProviderSettings, Secret, Settings
from recon.pulling import Pull
from tests import databases

GOAL = 0.9
PAGE = 100


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    if arguments.url:
        _measured(arguments.url, arguments.database, arguments.per_second)
        return
    with _provider(arguments.refunds, arguments.latency) as url, _database(arguments.postgres) as database:
        command = [sys.executable, "-m", "tests.bench.pull", "--per-second", str(arguments.per_second)]
        done = subprocess.run(
            [*command, "--url", url, "--database", database], check=True, stdout=subprocess.PIPE
        )
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{url}/_bench") as answer:
            pages = json.load(answer)
    told = json.loads(done.stdout)
    least = -(-arguments.refunds // PAGE) / arguments.per_second
    busiest = max(bisect_left(pages, each + 1) - number for number, each in enumerate(pages))
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    kind = "PostgreSQL" if arguments.postgres else "SQLite"
    print(
        f"{told['refunds']:,} refunds into {kind}, {arguments.latency:g} s a page, "
        f"{arguments.per_second:g} requests a second allowed; {machine}"
    )
    seconds, rate = told["seconds"], len(pages) / told["seconds"]
    print(f"took {seconds:.1f} s, {told['cpu_seconds']:.1f} s of processor; complete: {told['complete']}")
    print(f"{len(pages):,} pages, {rate:.1f} a second, {busiest} in the busiest second")
    print(f"peak memory {told['megabytes']:.0f} MB, of which {told['megabytes_before']:.0f} to begin with")
    print(f"the allowance alone takes {least:.1f} s: {least / seconds:.1%} of it is used (goal: {GOAL:.0%})")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pull")
    parser.add_argument("--refunds", type=int, default=100_000)
    parser.add_argument("--latency", type=float, default=0.1, help="seconds a page")
    parser.add_argument("--per-second", type=float, default=25.0, help="requests allowed")
    parser.add_argument("--postgres", action="store_true", help="into PostgreSQL instead of SQLite")
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--database", help=argparse.SUPPRESS)
    return parser.parse_args()


def _measured(url: str, database_url: str, per_second: float) -> None:
    """Read everything once, and print what it took as JSON."""
    settings = Settings(
        provider=ProviderSettings(
            api_key=Secret("sk_test_bench"), base_url=url, requests_per_second=per_second
        )
    )
    with Database.open(database_url) as database:
        now, long = datetime.now(UTC), timedelta(hours=1)
        lease = leases.take(database, HOUR, "bench", now=now, duration=long)
        pull = Pull(database, Provider(settings.provider), settings, lambda: lease, lambda _: None, dry=False)
        before = _peak_megabytes()
        started, worked = time.perf_counter(), time.process_time()
        (pulled,), _ = pull.everything(None)
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - worked
        assert mirror.accounts(database)[0].watermark_at is not None
    told = {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "refunds": pulled.reading.refunds,
        "complete": pulled.reading.complete,
        "megabytes_before": before,
        "megabytes": _peak_megabytes(),
    }
    print(json.dumps(told))


def _peak_megabytes() -> float:
    """Return the greatest memory that this process ever had."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


@contextmanager
def _provider(refunds: int, latency: float) -> Iterator[str]:
    """Yield the address of a provider."""
    command = [sys.executable, "-m", "tests.bench.provider", str(refunds), str(latency)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextmanager
def _database(postgres: bool) -> Iterator[str]:  # noqa: FBT001 - an option as it was given
    """Yield the address of a migrated, empty database: SQLite as it is used, PostgreSQL as tests use it."""
    with tempfile.TemporaryDirectory() as folder:
        if postgres:
            server = databases.served(Path(folder) / "postgres")
            try:
                with databases.copied(server) as url:
                    yield url
            finally:
                server.cleanup()
            return
        url = f"sqlite:///{folder}/recon.db"
        with Database.open(url) as database:
            migrations.upgrade(database)
        yield url


if __name__ == "__main__":
    main()
