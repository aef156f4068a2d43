"""The hour killed, stopped and started twice, as processes: what it leaves is as if nothing had happened.

RECON_TEST_KILLS: how many processes die in each world (2). RECON_TEST_SEED: the world in which they do; a
test that fails names it. `python -m tests.kills_long` is the same with hundreds of deaths.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from recon.doors.store import cases
from recon.doors.store.engines import Database
from recon.model import tables
from tests.aftermath import found
from tests.kills import BREAKS, HELD, KILLED, STALLS, World, a_world, hour, lapse, meet, settled
from tests.nursery import End, Fate
from tests.sandboxes import Street

KILLS = int(os.environ.get("RECON_TEST_KILLS", "2"))
SEED = int(os.environ.get("RECON_TEST_SEED", "1"))
DAY = 86_400.0


@pytest.fixture
def world(database_url: str, sqlite_template: Path, sandbox: Street, tmp_path: Path) -> Iterator[World]:
    shutil.copyfile(sqlite_template, tmp_path / "calm.db")
    urls = {"wounded": database_url, "unhurt": f"sqlite:///{tmp_path / 'calm.db'}"}
    with a_world(urls, sandbox, tmp_path, SEED) as made:
        yield made


def test_runs_that_are_killed_anywhere_leave_what_one_calm_run_leaves(world: World) -> None:
    for weather in (STALLS, BREAKS):
        wrong = hour(world, kills=KILLS // 2, weather=weather)

        assert wrong == [], "\n".join([f"seed {SEED}", *world.deaths])


SABOTAGE: dict[str, Callable[[End], Fate]] = {
    # The safeguard taken out, and the death, or the late writer, that it is there for.
    "mark_at_save": lambda _: Fate(stop_when_read=True),
    "mark_before_save": lambda calmly: Fate(kill_at=calmly.read_at + 6),
    "watermark_before_pages": lambda calmly: Fate(kill_at=calmly.read_at // 3),
}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("sabotage", SABOTAGE)
def test_a_mark_that_is_moved_early_loses_what_these_worlds_show(world: World, sabotage: str) -> None:
    assert hour(world, kills=0, weather=STALLS) == []
    world.happen()
    calmly = world.unhurt.run()
    meet(world, replace(SABOTAGE[sabotage](calmly), sabotage=sabotage), "late")

    assert settled(world) != []


def everything(database: Database) -> dict[str, list[Any]]:
    """Every row of every table."""
    with database.read() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table)).all()]
            for table in tables.metadata.sorted_tables
        }


def test_of_two_runs_at_once_one_works_and_the_other_exits_75(world: World) -> None:
    world.happen()
    for _ in range(KILLS // 2):
        assert world.wounded.run(Fate(stop_at=2)).code is None  # Its first write took the lease.
        assert world.rival.run().code == HELD
        assert world.wounded.go_on().code == 0

    # Started in the same moment they meet somewhere, or miss each other: never more than one at work.
    world.wounded.begin()
    world.rival.begin()
    codes = sorted([world.wounded.ended().code, world.rival.ended().code], key=str)
    assert codes in ([0, HELD], [0, 0])
    once = found(world.town.database, "entries", "topic", "version")

    assert cases.verify(world.town.database) == ()
    assert {version for _, version in once} == {1}
    assert len(found(world.town.database, "runs", "number", "fence")) == KILLS // 2 + codes.count(0)
    assert settled(world) == []


def test_a_second_run_waits_if_asked_and_then_works(world: World) -> None:
    world.happen()
    assert world.wounded.run(Fate(stop_at=2)).code is None
    assert world.rival.run(Fate(wait=1)).code == HELD
    world.rival.begin(Fate(wait=30))
    assert world.wounded.go_on().code == 0
    assert world.rival.ended().code == 0

    world.unhurt.run()
    assert settled(world) == []


def test_a_run_that_slept_past_its_lease_writes_nothing_and_exits_75(world: World, tmp_path: Path) -> None:
    world.happen()
    code: int | None = HELD
    stop_at = 1  # The first write takes the lease.
    while code == HELD:
        stop_at += 1
        assert world.wounded.run(Fate(stop_at=stop_at)).code is None
        lapse(world.town.database)
        assert world.rival.run().code == 0
        before = everything(world.town.database)
        code = world.wounded.go_on().code

        assert everything(world.town.database) == before, f"stopped before write {stop_at}"

    # Before its last write, which gives the lease back, a run had saved all it had to save.
    assert (code, stop_at > 5) == (0, True)
    assert "Traceback" not in (tmp_path / "wounded.log").read_text()


def test_a_clock_that_jumps_in_the_middle_of_a_run_that_then_dies_changes_nothing(world: World) -> None:
    for jump_seconds in (3600.0, -3600.0, 400 * DAY):
        world.happen()
        calmly = world.unhurt.run()
        dead = Fate(kill_at=calmly.read_at + 9, jump_at=calmly.read_at // 2, jump_seconds=jump_seconds)
        assert meet(world, dead, "none").code == KILLED
        assert world.wounded.run(replace(dead, kill_at=0)).code == 0

        assert settled(world) == [], jump_seconds
