"""`recon run` as a process, with 10,000 new intents and refunds each time, on a short and on a long history.

python -m tests.bench.run [--short 100000] [--long 10000000] [--new 10000] [--runs 5] [--folder DIR]
Prints medians, the ratio and peak memory. The sandbox serves the new refunds, a hundred a page, as fast as it
can: the allowance of requests is set out of the way, because waiting for it would be the same for both. What
lies behind has left the 45 days that are re-listed: how much is re-listed follows what these days held, not
the years before them. --folder keeps the databases, and takes them again.
"""

import argparse
import itertools
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recon.doors.store import migrations, mirror
from recon.doors.store.engines import Database
from recon.model import tables
from recon.sandbox import provider
from recon.sandbox.provider import Origin, Payment, Wish
from recon.sandbox.server import Sandbox
from tests.bench import histories
from tests.sandboxes import STRIPE_KEY

FIRST = datetime(2026, 3, 6, 17, 0, tzinfo=UTC)
YEARS, REACH = timedelta(days=1100), timedelta(days=50)
SETTINGS = "[provider]\nrequests_per_second = 1000\n[pull]\nfirst_window_days = 1200\n"
LOST_ONE_IN = 1000  # Of the new intents: their refunds never come, so that there are cases to save.
COMMAND = [sys.executable, "-m", "recon.cli.main", "run", "--format", "json"]


@dataclass
class History:
    """One database and what was measured of it. working: of the seconds, those of a processor."""

    rows: int
    path: Path
    seconds: list[float] = field(default_factory=list)
    working: list[float] = field(default_factory=list)
    peaks: list[float] = field(default_factory=list)


def main() -> None:
    """Build, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.run")
    parser.add_argument("--short", type=int, default=100_000)
    parser.add_argument("--long", type=int, default=10_000_000)
    parser.add_argument("--new", type=int, default=10_000, help="new intents, and new refunds, of each run")
    parser.add_argument("--runs", type=int, default=5, help="counted runs, after one that is not counted")
    parser.add_argument("--folder", type=Path, help="where the databases are kept; else they are removed")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="recon-bench-"))
    try:
        with Sandbox.start() as sandbox:
            environ = _environ(folder, sandbox)
            both = [_built(rows, folder, sandbox, environ) for rows in (asked.short, asked.long)]
            _measure(both, asked.new, asked.runs, sandbox, environ)
        _say(both, asked.new)
    finally:
        if asked.folder is None:
            shutil.rmtree(folder)


def _environ(folder: Path, sandbox: Sandbox) -> dict[str, str]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recon.toml").write_text(SETTINGS)
    return {
        **os.environ,
        "RECON_CONFIG": str(folder),
        "STRIPE_API_KEY": STRIPE_KEY,
        "RECON_STRIPE_BASE_URL": sandbox.url,
    }


def _built(rows: int, folder: Path, sandbox: Sandbox, environ: dict[str, str]) -> History:
    """Return a history: a first run of the job reads an empty provider, then the years are put before it."""
    history = History(rows, folder / f"history-{rows}.db")
    if history.path.exists():
        return history
    started = time.monotonic()
    sandbox.state.clock.set(FIRST)
    with Database.open(_url(history)) as database:
        migrations.upgrade(database)
    _run(history, environ)
    histories.fill(history.path, rows, oldest=FIRST - YEARS, newest=FIRST - REACH)
    print(f"built {rows:,} in {time.monotonic() - started:.0f} s", flush=True)
    return history


def _measure(both: Sequence[History], new: int, runs: int, sandbox: Sandbox, environ: dict[str, str]) -> None:
    """Run the job over each, in turn, an hour later each time."""
    # Another beginning each time, so that kept databases can be taken again; none is a history's.
    first = time.time_ns() // 1000 % (histories.ROOM // 2) + 10**9
    numbers = itertools.count(first)
    ids = (f"re_{histories.scattered(number)}" for number in itertools.count(first))
    provider.new_id = lambda prefix: next(ids) if prefix == "re" else f"{prefix}_{next(numbers)}"
    read = max(_read_to(history) for history in both)
    for run in range(runs + 1):
        sandbox.state.clock.set(read + timedelta(hours=run + 1))
        rows = _new(new, numbers, sandbox)
        for history in both:
            with Database.open(_url(history)) as database, database.write() as connection:
                connection.execute(tables.intents.insert(), rows)
        sandbox.state.clock.advance(1800)
        for history in both if run % 2 else reversed(both):
            seconds, working, peak = _run(history, environ)
            print(
                f"  {history.rows:>12,}: {seconds:6.2f} s, {working:6.2f} of them work, {peak:5.0f} MB",
                flush=True,
            )
            if run:
                history.seconds.append(seconds)
                history.working.append(working)
                history.peaks.append(peak)


def _read_to(history: History) -> datetime:
    with Database.open(_url(history)) as database:
        (account,) = mirror.accounts(database)
    assert account.watermark_at is not None
    return account.watermark_at


def _new(new: int, numbers: "itertools.count[int]", sandbox: Sandbox) -> list[dict[str, object]]:
    """Return new intents; the provider has their refunds, but for a few."""
    now = sandbox.state.clock.now()
    rows: list[dict[str, object]] = []
    for place in range(new):
        name = histories.scattered(next(numbers))
        payment = Payment(f"pi_{name}", f"ch_{name}", "", 100 + place, "usd", int(now))
        sandbox.state.provider.add_payment(payment)
        key, refund = f"refund_order:{name}", None
        if place % LOST_ONE_IN:
            wish = Wish(metadata={"intent_key": key}, reason="requested_by_customer")
            refund = sandbox.state.provider.refund(payment, wish, origin=Origin("req", key), now=now)
        at = datetime.fromtimestamp(int(now), UTC)
        rows.append(
            {
                "account": "",
                "key": key,
                "order_id": f"order_{name}",
                "payment": payment.intent,
                "amount_minor": payment.amount_minor,
                "currency": "usd",
                "status": "done",
                "refund_id": refund.id if refund is not None else None,
                "created_at": at,
                "updated_at": at,
                "first_sent_at": at,
                "tool": "refund_order",
                "customer_id": f"cus_{name}",
                "mapped": False,
            }
        )
    return rows


def _run(history: History, environ: dict[str, str]) -> tuple[float, float, float]:
    """Return the seconds of one run, those of a processor, and its peak megabytes."""
    started, before = time.perf_counter(), os.times()
    process = subprocess.Popen(
        COMMAND, env=environ | {"RECON_DATABASE_URL": _url(history)}, stdout=subprocess.DEVNULL
    )
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, _peak(process.pid))
        time.sleep(0.01)
    seconds, after = time.perf_counter() - started, os.times()
    working = sum(after[2:4]) - sum(before[2:4])  # Of children that have ended.
    if process.returncode:
        sys.exit(f"recon run ended with {process.returncode}")
    return seconds, working, peak


def _peak(pid: int) -> float:
    """Return a process's greatest resident size so far, 0 where it has just ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # It has ended since.
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def _url(history: History) -> str:
    return f"sqlite:///{history.path}"


def _say(both: Sequence[History], new: int) -> None:
    print(f"{new:,} new intents and refunds; {platform.machine()}, {os.cpu_count()} cores")
    for history in both:
        median, working = statistics.median(history.seconds), statistics.median(history.working)
        size = history.path.stat().st_size / 1e9
        print(
            f"on a history of {history.rows:>12,} ({size:.2f} GB): median {median:6.2f} s, "
            f"{min(history.seconds):.2f} to {max(history.seconds):.2f}, {working:.2f} of them work, "
            f"peak {max(history.peaks):.0f} MB"
        )
    short, long = both
    ratio = statistics.median(long.seconds) / statistics.median(short.seconds)
    work = statistics.median(long.working) / statistics.median(short.working)
    print(f"the long one takes {ratio:.2f} times as long as the short one (goal: 1.5), {work:.2f} in work")


if __name__ == "__main__":
    main()
