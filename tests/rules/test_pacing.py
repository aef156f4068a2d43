from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from recon.rules.pacing import EDITS, PACE, WORKSPACE, Pace
from tests.builders import NOON

SECOND = timedelta(seconds=1)


def test_a_place_rests_until_it_may_be_used_again() -> None:
    pace = Pace()
    pace.use("C1", NOON + PACE)

    rests = [pace.rest(["C1"], NOON + late * SECOND) for late in (0, 0.4, 1, 2)]
    assert rests == [SECOND, 0.6 * SECOND, timedelta(0), timedelta(0)]
    assert pace.rest(["C2"], NOON) == timedelta(0)


def test_of_several_places_the_one_that_rests_longest_counts() -> None:
    pace = Pace()
    pace.use("C1", NOON + SECOND)
    pace.use(WORKSPACE, NOON + 3 * SECOND)

    assert pace.rest(["C1", "C2", WORKSPACE], NOON) == 3 * SECOND


def test_a_channel_rests_under_every_name_it_has() -> None:
    pace = Pace()
    pace.use("#a", NOON + SECOND)
    pace.name("#a", "C1")
    pace.name("ann@shop.example", "C1")

    assert pace.resting(NOON) == {"#a", "C1", "ann@shop.example"}
    pace.use("C1", NOON + 5 * SECOND)
    assert pace.rest(["#a"], NOON) == 5 * SECOND
    pace.use("#a", NOON + 9 * SECOND)
    assert pace.rest(["C1"], NOON) == pace.rest(["ann@shop.example"], NOON) == 9 * SECOND
    assert pace.names("#a") == pace.names("C1") == {"#a", "C1", "ann@shop.example"}
    assert pace.names("#b") == {"#b"}


def test_a_name_that_means_another_channel_now_rests_as_that_one() -> None:
    pace = Pace()
    pace.name("#a", "C1")
    pace.use("#a", NOON + SECOND)
    pace.name("#a", "C2")

    assert pace.rest(["#a"], NOON) == SECOND
    assert pace.names("#a") == {"#a", "C2"}


def test_the_workspace_is_not_a_channel_that_rests() -> None:
    pace = Pace()
    pace.use(WORKSPACE, NOON + SECOND)
    assert pace.resting(NOON) == frozenset()

    pace.use(EDITS, NOON + SECOND)
    assert pace.resting(NOON) == {EDITS}


@given(
    rests=st.dictionaries(st.sampled_from(["C1", "C2", "#a", "#b", EDITS]), st.integers(1, 9), min_size=1),
    names=st.dictionaries(st.sampled_from(["#a", "#b", "#c"]), st.sampled_from(["C1", "C2"])),
)
def test_waiting_for_the_first_that_wakes_comes_to_an_end_even_if_clocks_stand_still(
    rests: dict[str, int], names: dict[str, str]
) -> None:
    pace = Pace()
    for place, seconds in rests.items():
        pace.use(place, NOON + seconds * SECOND)
    for name, channel in names.items():
        pace.name(name, channel)
    waits = []
    while pace.resting(NOON):
        waits.append(pace.wake(NOON))

    assert waits == sorted(set(waits))
    assert 0 < len(waits) <= len(rests)
    assert waits[-1] == max(rests.values()) * SECOND
