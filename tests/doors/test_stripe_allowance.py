import threading

from hypothesis import given
from hypothesis import strategies as st

from recon.doors.stripe.allowance import Allowance, Patience


class Time:
    """A clock that moves only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def taken(time: Time, allowance: Allowance, number: int) -> list[float]:
    moments = []
    for _ in range(number):
        allowance.take()
        moments.append(time.now)
    return moments


@given(
    st.floats(min_value=0.5, max_value=100),
    st.lists(st.floats(min_value=0, max_value=3), min_size=1, max_size=80),
)
def test_no_second_ever_sees_more_than_the_allowance_and_a_fifth(rate: float, idle: list[float]) -> None:
    time = Time()
    allowance = Allowance(rate, clock=time.clock, sleep=time.sleep)
    moments = []
    for pause in idle:
        time.now += pause
        moments += taken(time, allowance, 3)

    for moment in moments:
        assert sum(moment <= each < moment + 0.999 for each in moments) <= rate * 1.2 + 1


def test_whoever_asks_all_the_time_gets_all_of_it() -> None:
    time = Time()
    moments = taken(time, Allowance(20, clock=time.clock, sleep=time.sleep), 201)

    assert 9.7 <= moments[-1] - moments[0] <= 10


def test_a_hold_holds_everybody_for_its_time() -> None:
    time = Time()
    allowance = Allowance(20, clock=time.clock, sleep=time.sleep)
    allowance.hold(7)
    moments = taken(time, allowance, 2)

    assert [round(moment - 100, 6) for moment in moments] == [7, 7.05]


def test_threads_share_one_allowance() -> None:
    slept: list[float] = []
    allowance = Allowance(10, clock=lambda: 0.0, sleep=slept.append)
    threads = [threading.Thread(target=allowance.take) for _ in range(23)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [round(each, 6) for each in sorted(slept)] == [round(each / 10, 6) for each in range(1, 21)]


def test_patience_ends_with_its_retries_or_its_seconds() -> None:
    few, short = Patience(2, 100), Patience(100, 3)

    assert [few.spend(1), few.spend(1), few.spend(1)] == [True, True, False]
    assert [short.spend(2), short.spend(2), short.spend(1), short.spend(0.5)] == [True, False, True, False]
