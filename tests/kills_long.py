"""Hundreds of deaths of the hourly job, world after world; what they leave is what calm runs leave.

python -m tests.kills_long --kills 300 --database sqlite|postgres --seed N [--sabotage NAME] [--meetings N]
Each world has the next seed. Prints what happened, exits 1 at the first difference; the same seed repeats it.
--meetings: instead, two runs meet that many times. --sabotage: do without a safeguard, to see it missed.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

from recon.doors.store import migrations
from recon.doors.store.engines import Database
from recon.sandbox.server import Sandbox
from tests import databases
from tests.kills import BREAKS, HELD, KILLED, STALLS, World, a_world, hour, settled
from tests.nursery import Fate
from tests.sandboxes import Street

HOURS = (STALLS, BREAKS, BREAKS)  # What each world goes through.
# As tests/cradle.py has them; loading that would change this process's sleep.
SABOTAGES = ("", "mark_at_save", "mark_before_save", "watermark_before_pages")
KILLS_AN_HOUR = 12
MEETINGS_AN_HOUR = 5


def main() -> int:
    """Let runs die, or meet, and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills_long")
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--meetings", type=int, default=0)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sabotage", choices=SABOTAGES, default="")
    asked = parser.parse_args()
    started, ends = time.monotonic(), Counter[int | None]()
    goal = asked.meetings or asked.kills
    done = KILLED if not asked.meetings else HELD
    with places(asked.database) as urls:
        for seed in count(asked.seed):
            with ExitStack() as stack:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                street = Street(stack.enter_context(Sandbox.start()))
                world = stack.enter_context(a_world(urls(folder, stack), street, folder, seed))
                world.crowd, world.sabotage = 2, asked.sabotage
                wrong = meetings(world) if asked.meetings else deaths(world)
                log = (folder / "wounded.log").read_text()[-4000:]
            ends += world.ends
            minutes = (time.monotonic() - started) / 60
            say(f"seed {seed}: {ends[done]} of {goal}, ends {dict(ends)}, {minutes:.1f} min")
            if wrong:
                say("\n".join([*world.deaths, log, *wrong]))
                return 1
            if ends[done] >= goal:
                break
    return 0


def deaths(world: World) -> list[str]:
    """Return what is different after the hours of one world."""
    for weather in HOURS:
        wrong = hour(world, kills=KILLS_AN_HOUR, weather=weather)
        if wrong:
            return wrong
    return []


def meetings(world: World) -> list[str]:
    """Let two runs meet, at a chosen write or in the same moment; return what is wrong afterwards."""
    for _ in HOURS:
        world.happen()
        writes = world.unhurt.run().writes
        for each in range(MEETINGS_AN_HOUR):
            if each % 2:
                world.wounded.begin()
                world.rival.begin()
                codes = {world.wounded.ended().code, world.rival.ended().code}
            else:
                stopped = world.wounded.run(Fate(stop_at=world.random.randint(2, max(2, writes - 3))))
                codes = {world.rival.run().code}
                codes.add(world.wounded.go_on().code if stopped.code is None else stopped.code)
            world.deaths.append(f"{codes}")
            world.ends.update(codes)
            if not codes <= {0, HELD} or 0 not in codes:
                return [f"two runs ended with {codes}"]
        wrong = settled(world)
        if wrong:
            return wrong
    return []


@contextmanager
def places(kind: str) -> Iterator[Callable[[Path, ExitStack], dict[str, str]]]:
    """Yield what gives a folder the two migrated databases of a world, for as long as its stack."""
    home = databases.MEMORY if databases.MEMORY.is_dir() else Path(tempfile.gettempdir())
    server = databases.served(home / f"recon-kills-{os.getpid()}") if kind == "postgres" else None

    def urls(folder: Path, stack: ExitStack) -> dict[str, str]:
        found = {"unhurt": _file(folder / "unhurt.db")}
        if server is not None:
            return found | {"wounded": stack.enter_context(databases.copied(server))}
        return found | {"wounded": _file(folder / "wounded.db")}

    try:
        yield urls
    finally:
        if server is not None:
            server.cleanup()


def _file(path: Path) -> str:
    with Database.open(f"sqlite:///{path}") as database:
        migrations.upgrade(database)
    return f"sqlite:///{path}"


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
