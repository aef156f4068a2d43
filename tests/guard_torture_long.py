"""Many agents refund the same orders among faults, are stopped, cancelled and killed; then all is counted.

    python -m tests.guard_torture_long --intents 2000 --processes 8 --calls 18 --seed 1 [--postgres]
        [--sabotage no_guard]

Prints one JSON line, and exits with 1 where an order was refunded twice, a caller was told what is not so, a
run sees more than what nobody can know, or something does not come to an end. With --sabotage no_guard each
attempt has a key of its own, as tools do that were not written with care; then 0 is said only if the count
and a run find the doubles. What a seed repeats is said in tests/guard_torture.py.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from recon.doors.store import migrations
from recon.doors.store.engines import Database
from recon.model.records.words import Kind
from recon.sandbox.server import Sandbox
from tests import conftest, databases
from tests import guard_torture_counting as counting
from tests.guard_torture import NO_GUARD, STOPS, Job, book, deal, orders, torment
from tests.guard_torture_counting import After
from tests.sandboxes import Street


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is of everything. calls: the most for one intent. stops: as torment() has them."""

    intents: int
    processes: int
    calls: int
    kills: int
    stops: float = STOPS


def main() -> int:
    """Torture, count, and return the exit code."""
    told = _arguments()
    conftest.forget_this_machine()
    kills = 3 * told.processes if told.kills is None else told.kills
    size = Size(told.intents, told.processes, told.calls, kills)
    with ExitStack() as stack:
        url = _database(stack, postgres=told.postgres)
        street = Street(stack.enter_context(Sandbox.start()))
        found = torture(url, street, size, told.seed, told.sabotage)
    shown = {"postgres": told.postgres, "seed": told.seed, "intents": told.intents, **found}
    print(json.dumps(shown))  # noqa: T201 -- what it is for
    caught = found["doubles"] > 0 and found["runs"][0].get(Kind.DUPLICATE, 0) >= found["doubles"]
    return int(bool(found["wrong"]) if told.sabotage is None else not caught)


def torture(url: str, street: Street, size: Size, seed: int, sabotage: str | None = None) -> dict[str, Any]:
    """Torture one database, and return figures; wrong is what must not be."""
    random, began = Random(seed), time.monotonic()
    made = orders(size.intents, size.calls, random)
    book(street, made)
    jobs = [
        Job(url, street.url, seed * 1000 + number, made, turns, sabotage)
        for number, turns in enumerate(deal(made, size.processes, random))
    ]
    storm = torment(street, jobs, kills=size.kills, random=random, stops=size.stops)
    stormed = time.monotonic() - began
    with Database.open(url) as database:
        after = After(database, street, made)
        figures = counting.figures(after)
        if sabotage is None:
            figures |= counting.conclude(after)
        else:
            after.clear()
            after.pass_time(hours=2)
            figures["runs"] = [counting.summary(after.run())]
        doubles = counting.doubles(counting.live(after))
    seconds = {"storm": round(stormed, 1), "all": round(time.monotonic() - began, 1)}
    return asdict(storm) | figures | {"doubles": doubles, "seconds": seconds, "wrong": after.wrong}


def _database(stack: ExitStack, *, postgres: bool) -> str:
    home = databases.MEMORY if databases.MEMORY.is_dir() else Path(tempfile.gettempdir())
    if postgres:
        server = databases.served(home / f"recon-torture-{os.getpid()}")
        stack.callback(server.cleanup)
        return stack.enter_context(databases.copied(server))
    folder = Path(tempfile.mkdtemp(dir=home))
    stack.callback(shutil.rmtree, folder)
    url = f"sqlite:///{folder / 'recon.db'}"
    with Database.open(url) as database:
        migrations.upgrade(database)
    return url


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--intents", type=int, default=200)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--calls", type=int, default=18)
    parser.add_argument("--kills", type=int, help="three for each process")
    parser.add_argument("--seed", type=int, default=int(datetime.now(UTC).timestamp()))
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--sabotage", choices=[NO_GUARD])
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
