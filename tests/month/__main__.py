"""Months of many seeds, and what went wrong in them.

python -m tests.month [--seeds 200] [--first 1] [--days 30] [--database sqlite|postgres] [--processes 2]
                      [--sabotage NAME] [--keep-going]

A seed repeats its month exactly. Exit 1 where anything was wrong; with a sabotage, where nothing was.
"""

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial

from tests.month import sabotage, work
from tests.month.life import Ending


def main() -> int:
    """Live the months, and say how they ended."""
    parser = argparse.ArgumentParser(prog="python -m tests.month")
    parser.add_argument("--seeds", type=int, default=200, help="how many months")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--days", type=int, default=30, help="how long a month is")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--sabotage", choices=sorted(sabotage.SABOTAGES), help="a safeguard to take out")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at the first seed that fails")
    asked = parser.parse_args()
    started, failed, done = time.monotonic(), [], 0
    counts: Counter[str] = Counter()
    for ending in endings(asked):
        done += 1
        counts += ending.counts
        say(f"seed {ending.seed}: {ending.hours} hours in {ending.seconds:.0f} s, {ending.digest}")
        if ending.wrong:
            failed.append(ending.seed)
            for sentence in ending.wrong[:10]:
                say(f"  {sentence}")
            if not asked.keep_going:
                break
    for name, count in sorted(counts.items()):
        say(f"{count:9} {name}")
    minutes = (time.monotonic() - started) / 60
    say(f"{done} months of {asked.days} days in {minutes:.1f} min; wrong: {failed or 'none'}")
    return int(bool(failed) is not bool(asked.sabotage))


def endings(asked: argparse.Namespace) -> Iterator[Ending]:
    """Yield how each month ended, in the order in which they did."""
    numbers = range(asked.first, asked.first + asked.seeds)
    told = {"days": asked.days, "database": asked.database, "spoilt": asked.sabotage}
    if asked.processes == 1:
        yield from work.some(list(numbers), **told)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(asked.processes, mp_context=context) as pool:
        months = [pool.submit(partial(work.all_of, **told), [number]) for number in numbers]
        for month in as_completed(months):
            yield from month.result()


def say(line: str) -> None:
    """One line to whoever watches."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
