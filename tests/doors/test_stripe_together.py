import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial

import pytest

from recon.doors.stripe import together
from recon.doors.stripe.together import AHEAD


def pages(number: int, count: int) -> Iterator[tuple[int, int]]:
    yield from ((number, page) for page in range(count))


def test_everything_comes_once_with_its_reading_and_in_its_order() -> None:
    readings = [partial(pages, number, number % 5) for number in range(40)]

    found = [item for batch in together.read(readings, readers=7) for item in batch]

    assert sorted(found) == [(n, (n, page)) for n in range(40) for page in range(n % 5)]
    for number in range(40):
        assert [page for n, (_, page) in found if n == number] == list(range(number % 5))


@pytest.mark.parametrize("readings,readers", [(0, 3), (1, 3), (3, 1)])
def test_one_reading_or_one_reader_needs_no_thread(readings: int, readers: int) -> None:
    threads = set()

    def reading() -> Iterator[int]:
        threads.add(threading.current_thread())
        yield 1

    list(together.read([reading] * readings, readers=readers))

    assert threads <= {threading.current_thread()}


def test_what_was_read_before_an_error_comes_first_and_nothing_is_begun_after_it() -> None:
    begun: list[int] = []
    reading, failing = threading.Event(), threading.Event()

    def good(number: int) -> Iterator[int]:
        begun.append(number)
        yield number
        reading.set()
        failing.wait(10)  # The other one has failed by then.
        yield -number

    def bad() -> Iterator[int]:
        begun.append(0)
        yield 0
        reading.wait(10)
        failing.set()
        raise ValueError("broke off")

    readings: list[Callable[[], Iterator[int]]] = [bad, *(partial(good, number) for number in range(1, 20))]
    found: list[int] = []
    with pytest.raises(ValueError, match="broke off"), closing(together.read(readings, readers=2)) as batches:
        found += (item for batch in batches for _, item in batch)

    assert {0, 1} <= set(found)
    assert len(begun) <= 3


def test_readers_wait_for_a_writer_that_falls_behind() -> None:
    asked = 0
    lock = threading.Lock()
    full = threading.Event()

    def reading() -> Iterator[int]:
        nonlocal asked
        for page in range(1000):
            with lock:
                asked += 1
                if asked == AHEAD:
                    full.set()
            yield page

    with closing(together.read([reading] * 4, readers=4)) as batches:
        first = next(batches)
        assert full.wait(10)

    assert asked <= AHEAD + len(first) + 4


def test_a_writer_that_gives_up_ends_the_readers() -> None:
    before = threading.active_count()
    readings = [partial(pages, number, 10_000) for number in range(8)]

    def write() -> None:
        with closing(together.read(readings, readers=4)) as batches:
            for _ in batches:
                raise KeyError("the lease is lost")

    with pytest.raises(KeyError):
        write()

    assert threading.active_count() == before


def test_an_end_does_not_wait_for_a_reader_that_gets_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "LEAVE_SECONDS", 0.1)
    answer = threading.Event()

    def waiting() -> Iterator[tuple[int, int]]:
        answer.wait(10)
        yield 1, 1

    readings: list[Callable[[], Iterator[tuple[int, int]]]] = [partial(pages, 0, 1), waiting, waiting]
    began = time.monotonic()
    with closing(together.read(readings, readers=3)) as batches:
        next(batches)
    took = time.monotonic() - began
    answer.set()

    assert took < 5
