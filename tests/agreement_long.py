"""The agreement of the two readings over many worlds: python -m tests.agreement_long --worlds 20000 --seed 1.

Prints its progress and how often everything occurred. Where the two disagree it prints the smallest such
world that it can make, and ends with 1.
"""

import argparse
import sys
import time
from collections import Counter
from random import Random

from tests.agreement import by_reference, differences, seen, smaller
from tests.worlds import World, draw


def main() -> int:
    """Compare that many worlds; 0 when the two agree on all of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.agreement_long")
    parser.add_argument("--worlds", type=int, default=20_000, help="how many worlds")
    parser.add_argument("--seed", type=int, default=0, help="the first world's seed; the others follow it")
    parser.add_argument(
        "--keep-going", type=int, default=1, help="how many disagreements to show before stopping"
    )
    parser.add_argument("--reference-only", action="store_true", help="only draw, read slowly and count")
    arguments = parser.parse_args()
    started = time.monotonic()
    counts: Counter[str] = Counter()
    wrong = 0
    for number in range(1, arguments.worlds + 1):
        seed = arguments.seed + number - 1
        world = draw(Random(seed))
        counts.update(seen(by_reference(world)))
        if not arguments.reference_only and differences(world):
            wrong += 1
            show(seed, world)
            if wrong >= arguments.keep_going:
                break
        if number % 1000 == 0:
            speed = number / (time.monotonic() - started)
            say(f"{number} worlds, {wrong} disagreements, {speed:.0f} worlds/s")
    for name, count in sorted(counts.items()):
        say(f"  {count:8d} {name}")
    say(f"{number} worlds from seed {arguments.seed}: {wrong} disagreements")
    return 1 if wrong else 0


def show(seed: int, world: World) -> None:
    """Print a world the two disagree on, as small as it gets."""
    small = smaller(world, lambda other: bool(differences(other)))
    say(f"seed {seed}: the two disagree")
    say(small.text())
    for line in differences(small):
        say(f"  {line}")


def say(line: str) -> None:
    """One line to whoever watches."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
