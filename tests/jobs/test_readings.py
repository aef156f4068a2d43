import threading

import pytest

from jobs.readings import Readings
from recon.doors.pulse import Sample

STANDS = (Sample("x", "X.", {(): 1.0}),)


def test_each_who_asks_gets_what_stands_then() -> None:
    numbers = iter(range(9))
    readings = Readings(lambda: (Sample("x", "X.", {(): next(numbers)}),))

    assert [dict(readings()[0].values)[()] for _ in range(3)] == [0, 1, 2]


def test_a_reading_that_hangs_is_given_up_joined_by_those_who_ask_meanwhile_and_used_when_it_ends() -> None:
    go, begun = threading.Event(), []

    def read() -> tuple[Sample, ...]:
        begun.append(1)
        go.wait(20)
        return STANDS

    readings = Readings(read, limit_seconds=0.05)
    given_up = [readings() for _ in range(3)]
    waiting = Readings(read, limit_seconds=20)
    go.set()

    assert [(only.name, dict(only.values)) for (only,) in given_up] == [("database_up", {(): 0})] * 3
    assert len(begun) == 1
    assert waiting() == STANDS


def test_a_bug_is_shown_and_the_next_who_asks_reads_anew() -> None:
    ends = iter((AssertionError("a bug"), None))

    def read() -> tuple[Sample, ...]:
        end = next(ends)
        if end is not None:
            raise end
        return STANDS

    readings = Readings(read)
    with pytest.raises(AssertionError, match="a bug"):
        readings()

    assert readings() == STANDS
