"""The product's diff and the slow reading of the same rules say the same about every world."""

import pytest
from hypothesis import given, settings

from tests.agreement import differences, smaller
from tests.worlds import World, worlds


@settings(max_examples=150, deadline=None, derandomize=True)
@given(worlds())
def test_the_diff_agrees_with_the_slow_reading(world: World) -> None:
    if differences(world):
        small = smaller(world, lambda other: bool(differences(other)))
        pytest.fail("\n".join([small.text(), *differences(small)]))
