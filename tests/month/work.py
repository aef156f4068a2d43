"""What one process does: several months, one after the other, on one sandbox and one stage."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext

from recon.sandbox.server import Sandbox
from tests.month import sabotage
from tests.month.life import Ending, live
from tests.month.stage import stage
from tests.month.street import Street


def some(seeds: Sequence[int], *, days: int, database: str, spoilt: str | None = None) -> Iterator[Ending]:
    """Live the months of these seeds, and yield how each ended."""
    spoiling = sabotage.SABOTAGES[spoilt] if spoilt else nullcontext
    with Sandbox.start() as running, stage(database) as built, spoiling():
        street = Street(running)
        for seed in seeds:
            with built.fresh() as fresh:
                yield live(street, fresh, seed=seed, days=days)


def all_of(seeds: Sequence[int], *, days: int, database: str, spoilt: str | None = None) -> list[Ending]:
    """Live the months of these seeds, and return how they ended."""
    return list(some(seeds, days=days, database=database, spoilt=spoilt))
