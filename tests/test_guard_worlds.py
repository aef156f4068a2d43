"""No order of calls, sweeps, runs, deaths, faults and passing time refunds twice or tells what is not so."""

from dataclasses import replace

import pytest

from tests import guard_worlds
from tests.guard_worlds import Explorer
from tests.guard_worlds_left_out import ALL, LeftOut, explore
from tests.guard_worlds_scenes import SCENES, Scene
from tests.guard_worlds_stage import Stage

# Scene, deviations, jumps of the clock, and how many states there are at least: less is a scene cut short.
# The whole of it is python -m tests.guard_worlds.
EXPLORED = [
    ("one", 1, 0, 20_000),
    ("too much", 1, 0, 5_000),
    ("one and a run", 1, 0, 1_000),
]


@pytest.mark.timeout(600)  # All of it is work: on a machine with ten times as much to do it takes as long.
@pytest.mark.parametrize("name, deviations, jumps, least", EXPLORED, ids=[each[0] for each in EXPLORED])
def test_no_schedule_refunds_twice_or_tells_what_is_not_so(
    name: str, deviations: int, jumps: int, least: int
) -> None:
    found = guard_worlds.explore(SCENES[name], deviations=deviations, jumps=jumps)

    assert (found.broken, found.schedule) == ("", ())
    assert found.states > least


@pytest.mark.parametrize("safeguard", ALL, ids=[each.name for each in ALL])
def test_each_safeguard_left_out_makes_a_schedule_fail(safeguard: LeftOut) -> None:
    assert explore(safeguard).broken != ""


@pytest.mark.parametrize("safeguard", [each for each in ALL if each.scene.story], ids=lambda each: each.name)
def test_where_a_story_goes_before_the_same_scene_is_in_order_with_the_safeguard(safeguard: LeftOut) -> None:
    assert explore(safeguard, without=False).broken == ""


def test_a_schedule_of_one_caller_whom_nothing_disturbs_is_one() -> None:
    alone = Scene("alone", ("1",), sweeps=0)

    found = guard_worlds.explore(alone, deviations=0, count=True)

    assert (found.schedules, found.ends) == (1, 1)


def test_schedules_are_counted_as_two_actors_that_never_meet_may_take_turns() -> None:
    apart = Scene("apart", ("1",), sweeps=0, heals=1)
    calm = guard_worlds.explore(apart, deviations=0, count=True)
    alone = guard_worlds.explore(replace(apart, heals=0), deviations=0, count=True)

    # Four steps of the call and two of the run, in any order that keeps each one's own: 6! / (4! 2!).
    assert (calm.schedules, alone.steps) == (15, 4)


@pytest.mark.parametrize(
    "scene, deviations, jumps",
    [(Scene("swept", ("1",)), 1, 0), (Scene("alone", ("1",), sweeps=0), 1, 1)],
    ids=["deviations", "jumps"],
)
def test_that_actors_are_known_by_where_they_stand_hides_no_world(
    scene: Scene, deviations: int, jumps: int
) -> None:
    worlds = []
    for exact in (True, False):
        with Stage(scene.orders, scene.minor) as stage:
            explorer = Explorer(stage, scene, deviations=deviations, jumps=jumps, exact=exact)
            explorer.explore()
            worlds.append(explorer.worlds())

    assert worlds[0] == worlds[1]
