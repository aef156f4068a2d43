"""Some days of the month that `python -m tests.month` lives in full; a seed that fails names what differs."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from recon.doors.store.engines import Database
from recon.model.settings import PullSettings
from recon.sandbox.server import Sandbox
from tests.month import sabotage
from tests.month.life import Ending, live, settings_for
from tests.month.stage import Stage
from tests.month.street import Street


@pytest.fixture
def street(street_server: Sandbox) -> Iterator[Street]:
    yield Street(street_server)
    street_server.reset()


def a_day(street: Street, database: Database, seed: int) -> Ending:
    """Live a busy day, after which all that is old is listed again within some hours."""
    settings = replace(settings_for(street), pull=PullSettings(relist_slices=4))
    return live(street, database, seed=seed, days=1, settings=settings, busy=0.5)


def test_a_day_leaves_the_books_that_one_full_diff_of_the_true_world_justifies(
    street: Street, database: Database
) -> None:
    ending = a_day(street, database, 7)

    assert ending.wrong == []
    assert ending.counts["opened"] >= 3


def lived(
    street: Street, place: Path, seed: int, spoilt: AbstractContextManager[None] | None = None
) -> Ending:
    place.mkdir()
    with spoilt or nullcontext(), Stage(place, "sqlite").fresh() as fresh:
        return a_day(street, fresh, seed)


def test_the_same_seed_ends_the_same(street: Street, tmp_path: Path) -> None:
    once, again = (lived(street, tmp_path / name, 3) for name in ("once", "again"))

    assert (once.digest, once.counts) == (again.digest, again.counts)


def test_a_safeguard_that_is_taken_out_is_missed(street: Street, tmp_path: Path) -> None:
    ending = lived(street, tmp_path / "spoilt", 3, sabotage.no_due())

    assert ending.wrong != []
