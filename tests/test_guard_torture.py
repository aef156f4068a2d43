"""A storm over the guarded tool: however many ask, nobody is refunded twice or told what is not so."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.guard_torture import NO_GUARD, deal, orders
from tests.guard_torture_long import Size, torture
from tests.sandboxes import Street

SMALL = Size(intents=12, processes=2, calls=5, kills=1, stops=0.0)


@pytest.fixture
def street(sandbox: Street) -> Iterator[Street]:
    """The sandbox at the real time, which the torture moves on."""
    yield sandbox
    sandbox.control("reset")


@pytest.mark.timeout(400)  # Half a dozen processes that are born among whatever else the machine does.
def test_a_storm_refunds_once_tells_what_is_so_and_leaves_a_run_nothing(
    database_url: str, street: Street
) -> None:
    found = torture(database_url, street, SMALL, seed=7)

    assert found["wrong"] == []
    assert (found["doubles"], found["killed"]) == (0, 1)
    assert found["sends"] > 0
    assert {fault.partition(" ")[0] for fault in found["faults"]} == {"GET", "POST"}


@pytest.mark.timeout(400)  # As above.
def test_the_same_storm_without_the_guard_refunds_twice_and_a_run_says_so(
    sqlite_template: Path, tmp_path: Path, street: Street
) -> None:
    shutil.copyfile(sqlite_template, tmp_path / "recon.db")

    found = torture(f"sqlite:///{tmp_path / 'recon.db'}", street, SMALL, seed=7, sabotage=NO_GUARD)

    assert found["doubles"] > 0
    assert found["runs"][0]["duplicate"] >= found["doubles"]


def test_a_seed_decides_who_asks_for_what_how_often_and_in_which_turn() -> None:
    made = [orders(200, 18, Random(seed)) for seed in (1, 1, 2)]

    assert made[0] == made[1] != made[2]
    assert deal(made[0], 8, Random(1)) == deal(made[1], 8, Random(1)) != deal(made[0], 8, Random(2))


def test_every_call_is_dealt_once_and_a_tenth_of_the_orders_share_their_payments() -> None:
    made = orders(200, 18, Random(1))
    turns = [number for each in deal(made, 8, Random(1)) for number in each]

    assert sorted(turns) == [each.number for each in made for _ in range(each.calls)]
    assert max(each.calls for each in made) == 18
    assert len({each.payment for each in made}) == 190
