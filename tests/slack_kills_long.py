"""Hundreds of senders killed around what they ask of Slack: each message is seen once, none is lost.

python -m tests.slack_kills_long --kills 200 --database sqlite|postgres --seed N [--sabotage NAME]
Each world has the next seed. Prints what happened, exits 1 at the first world that is wrong. --sabotage: do
without a safeguard, to see it missed.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from recon.sandbox.server import Sandbox
from tests.kills_long import places, say
from tests.sandboxes import Street
from tests.slack_kills import a_world, live

KILLS_A_WORLD = 50
# As tests/cradle.py has them; loading that would change this process's sleep.
SABOTAGES = ("", "no_look_up", "no_aim")


def main() -> int:
    """Let senders die, and say what people saw."""
    parser = argparse.ArgumentParser(prog="python -m tests.slack_kills_long")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sabotage", choices=SABOTAGES, default="")
    asked = parser.parse_args()
    started, kills, messages = time.monotonic(), Counter[str](), 0
    with places(asked.database) as urls:
        for seed in count(asked.seed):
            with ExitStack() as stack:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                street = Street(stack.enter_context(Sandbox.start()))
                url = urls(folder, stack)["wounded"]
                world = stack.enter_context(a_world(url, street, folder, seed, sabotage=asked.sabotage))
                wrong = live(world, min(KILLS_A_WORLD, asked.kills - kills.total()))
                requests = len(street.requests())
            kills += world.kills
            messages += len(world.said)
            say(
                f"seed {seed}: {kills.total()} killed of {asked.kills} {dict(kills)}, {messages} messages, "
                f"{world.together} turns of two at once, {requests} requests, "
                f"{(time.monotonic() - started) / 60:.1f} min"
            )
            if wrong:
                say("\n".join([*world.deaths, *wrong]))
                return 1
            if kills.total() >= asked.kills:
                break
    return 0


if __name__ == "__main__":
    sys.exit(main())
