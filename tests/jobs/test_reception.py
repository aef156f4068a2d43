import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import structlog

from jobs.reception import Reception
from recon.model.buttons import Button, Verb
from recon.model.errors import Wait
from recon.model.records.clicks import Heard, Pressed
from recon.model.records.words import CaseId
from tests.builders import NOON
from tests.clicks import press_payload, pressed, resolution, submission_payload

BUTTON = Button(Verb.ACKNOWLEDGE, CaseId("C-AAAAAAAAAA"), 7)
SECONDS = 20


class Desk:
    """Answers one click when it is let to, as a slow database does."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.answered: list[Heard] = []

    def __call__(self, heard: Heard) -> None:
        assert self.open.wait(SECONDS)
        self.answered.append(heard)


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.open.set()


def reception(answer: object, **limits: int) -> Reception:
    return Reception(answer, clock=lambda: NOON, **limits)  # type: ignore[arg-type]  # a test's own


def test_a_click_is_taken_in_before_it_is_worked_on(desk: Desk) -> None:
    taken = reception(desk)
    answer = taken(press_payload(BUTTON.value))
    before = list(desk.answered)
    desk.open.set()
    taken.close()

    assert (answer, before) == (None, [])
    (heard,) = desk.answered
    assert isinstance(heard, Pressed)
    assert heard.button == BUTTON


def test_closing_waits_for_everything_that_was_taken_in(desk: Desk) -> None:
    taken = reception(desk, workers=2)
    for number in range(1, 11):
        assert taken.work(pressed(Button(Verb.ACKNOWLEDGE, BUTTON.case_id, number)))
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(taken.close)
        desk.open.set()
        closing.result(SECONDS)

    assert {each.button.version for each in desk.answered} == set(range(1, 11))


def test_more_than_can_wait_is_left_and_logged(desk: Desk) -> None:
    taken = reception(desk, workers=1, limit=3)
    with structlog.testing.capture_logs() as logged:
        found = [taken.work(pressed(BUTTON)) for _ in range(5)]
    desk.open.set()
    taken.close()

    assert found == [True, True, True, False, False]
    assert len(desk.answered) == 3
    assert [each["event"] for each in logged] == ["busy", "busy"]


def test_a_click_for_which_there_is_no_room_is_not_acknowledged(desk: Desk) -> None:
    taken = reception(desk, workers=1, limit=1)
    taken(press_payload(BUTTON.value))

    with pytest.raises(Wait):
        taken(press_payload(BUTTON.value))
    desk.open.set()
    taken.close()
    assert len(desk.answered) == 1


def test_there_is_room_again_after_each_answer_also_after_one_that_failed() -> None:
    answered: list[Heard] = []

    def answer(heard: Heard) -> None:
        answered.append(heard)
        raise RuntimeError

    taken = reception(answer, workers=1, limit=1)
    waiting, until = threading.Event(), time.monotonic() + SECONDS
    for number in range(1, 6):
        while len(answered) < number and time.monotonic() < until:
            taken.work(pressed(BUTTON))
            waiting.wait(0.001)
    taken.close()

    assert len(answered) >= 5


def test_what_is_asked_first_can_say_no(desk: Desk) -> None:
    desk.open.set()
    taken = reception(desk)
    taken.work(pressed(BUTTON), first=lambda: False)
    taken.work(pressed(BUTTON, "U0BEN"), first=lambda: True)
    taken.close()

    assert [each.place.slack_id for each in desk.answered] == ["U0BEN"]


def test_a_dialog_that_lacks_something_is_answered_at_once_and_is_no_work(desk: Desk) -> None:
    desk.open.set()
    taken = reception(desk)
    answer = taken(submission_payload(Button(Verb.RESOLVE, BUTTON.case_id, 7), resolution(reason="")))
    taken.close()

    assert answer is not None
    assert answer["response_action"] == "errors"
    assert desk.answered == []


def test_what_is_not_ours_is_no_work(desk: Desk) -> None:
    desk.open.set()
    taken = reception(desk)
    found = [taken({}), taken({"type": "shortcut"}), taken(press_payload("nonsense"))]
    taken.close()

    assert (found, desk.answered) == ([None] * 3, [])
