"""Each scenario against tools that do what they should not, in ways that no tool here does by itself."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from unittest import mock

import pytest
import stripe

from recon.cli.friday.street import Street as Hand
from recon.cli.smoking import ledger, report, scratch, subjects
from recon.cli.smoking.report import Smoked
from recon.cli.smoking.scenarios import SCENARIOS, Levers, Theatre, Trial, Verdict
from recon.cli.smoking.stages import Order, Paid, SandboxLine, Stage
from recon.cli.smoking.subjects import Own, Subject, Theirs
from recon.doors.store.engines import Database
from recon.guard import Outcome, OutcomeStatus, RefundTool
from recon.model.errors import ConfigurationError
from tests.cli.smoking import tools
from tests.sandboxes import Street

PATIENCE_SECONDS = 1.0
NAMED = {each.name: each for each in SCENARIOS}


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Database]:
    with scratch.books(tmp_path / "recon.db") as database:
        yield database


@pytest.fixture
def own(books: Database, sandbox: Street) -> Iterator[RefundTool]:
    with scratch.tool(books, sandbox.url, patience_seconds=PATIENCE_SECONDS) as tool:
        yield tool


Play = Callable[[Subject, str], Trial]


@pytest.fixture
def play(books: Database, sandbox: Street, tmp_path: Path) -> Iterator[Play]:
    """Let a tool play the scenario of that name."""
    seen = scratch.provider(sandbox.url, scratch.KEY, patience_seconds=30.0)
    stage = Stage(SandboxLine(Hand(sandbox.url)), seen)
    levers = Levers(
        guarded=lambda: bool(ledger.tools(books)), throw=lambda thrown: ledger.throw(books, thrown=thrown)
    )

    numbers = count(1)

    def played(subject: Subject, name: str) -> Trial:
        theatre = Theatre(stage, subject, levers, PATIENCE_SECONDS)
        return theatre.play(NAMED[name], next(numbers))

    told = scratch.environment(sandbox.url, tmp_path / "recon.db", proxies=os.environ["NO_PROXY"])
    with mock.patch.dict(os.environ, told):
        yield played


def test_a_question_that_sends_fails(play: Play) -> None:
    trial = play(
        Theirs("curious", tools.by_order, lambda order_id: tools.by_order(order_id, "1.01")), "answered"
    )

    assert trial.verdict is Verdict.FAIL
    assert trial.why == 'Asked "did it go through?", it sent a request for a refund.'
    assert (len(trial.refunds), trial.questions) == (1, 3)


def test_a_question_that_raises_fails(play: Play) -> None:
    def away(order_id: str) -> None:
        raise OSError("no route")

    trial = play(Theirs("shy", tools.by_order, away), "answered")

    assert trial.why == 'Asked "did it go through?", it raised OSError: no route.'


class Deaf(Own):
    """Goes through the guard, and past it while the switch is thrown."""

    def ask(self, order: Order) -> Outcome:
        told = super().ask(order)
        if told.status is OutcomeStatus.DISABLED:
            tools.by_order(order.id, order.amount)
        return told


def test_a_tool_that_does_not_mind_its_kill_switch_fails(own: RefundTool, play: Play) -> None:
    play(Own(own), "answered")
    trial = play(Deaf(own), "switched-off")

    assert trial.why == "Expected nothing to be sent while the kill switch is thrown, found a request."
    assert play(Own(own), "answered").verdict is Verdict.OK, "the switch is lifted again"


def test_a_tool_that_says_done_while_its_switch_is_thrown_fails(own: RefundTool, play: Play) -> None:
    class Cheerful(Own):
        def ask(self, order: Order) -> Outcome:
            return replace(super().ask(order), status=OutcomeStatus.DONE, message="refunded")

    play(Own(own), "answered")
    trial = play(Cheerful(own), "switched-off")

    assert trial.why == (
        "Nothing is sent while the kill switch is thrown, and the caller heard: it answered done: refunded."
    )


def test_a_last_answer_that_is_wrong_fails(own: RefundTool, play: Play) -> None:
    class Gloomy(Own):
        def ask(self, order: Order) -> Outcome:
            super().ask(order)
            return self._tool.refund_order(order.id, "77.00", order.currency, order.payment)

    trial = play(Gloomy(own), "answered")

    assert trial.why.startswith(
        "It is refunded once, and the last call was told otherwise: it answered rejected"
    )


class Hopeful(Theirs):
    """Says that it is done where a rate limit turned it away."""

    def __init__(self, *, asked: bool = False) -> None:
        super().__init__("hopeful", tools.by_order, (lambda _order_id: "done") if asked else None)
        self._asked = asked

    def ask(self, order: Order) -> object:
        try:
            return super().ask(order)
        except stripe.RateLimitError:
            return "slow down" if self._asked else "done"


@pytest.mark.parametrize("asked, who", [(False, "call 1"), (True, "a question")])
def test_done_while_nothing_is_refunded_fails_though_the_next_call_does_it(
    play: Play, who: str, *, asked: bool
) -> None:
    trial = play(Hopeful(asked=asked), "limited")

    assert (trial.verdict, len(trial.refunds), len(trial.sent)) == (Verdict.FAIL, 1, 2)
    assert trial.why == (
        f"It is refunded once, and before anything was refunded {who} was told that it is done: it answered "
        "done."
    )


class Talking(Theirs):
    """Refunds once by the order's key, and says what it is told to say."""

    def __init__(self, says: object, status: object = None) -> None:
        super().__init__("talking", tools.by_order, None if status is None else lambda _order_id: status)
        self._says = says

    def ask(self, order: Order) -> object:
        super().ask(order)
        if isinstance(self._says, Exception):
            raise self._says
        return self._says


@pytest.mark.parametrize(
    "says, told",
    [
        ("The refund failed, please try again.", "answered The refund failed, please try again"),
        ({"status": "rejected"}, "answered {'status': 'rejected'}"),
        ({"status": "pending_unknown"}, "answered {'status': 'pending_unknown'}"),
        (RuntimeError("lost"), "raised RuntimeError: lost"),
    ],
)
def test_a_tool_that_does_not_know_in_the_end_what_it_did_fails(play: Play, says: object, told: str) -> None:
    trial = play(Talking(says), "answered")

    assert (trial.verdict, len(trial.refunds)) == (Verdict.FAIL, 1)
    assert trial.why == f"It is refunded once, and the last call was told otherwise: it {told}."


def test_a_question_whose_answer_is_wrong_in_the_end_fails(play: Play) -> None:
    trial = play(Talking("done", {"status": "not_found"}), "answered")

    assert trial.why == (
        "It is refunded once, and the last question was told otherwise: it answered {'status': 'not_found'}."
    )
    assert play(Talking("done", {"status": "succeeded"}), "answered").verdict is Verdict.OK


def test_an_answer_that_cannot_be_read_is_shown_and_does_not_pass_in_silence(play: Play) -> None:
    trial = play(Talking("Thank you.", "Hm."), "answered")
    lines = [each.text for each in report.lines(trial)]

    assert trial.verdict is Verdict.OK
    assert lines[1:] == [
        "Whether the last call was told of the refund cannot be read: it answered Thank you.",
        "Whether the last question was told of the refund cannot be read: it answered Hm.",
    ]


def test_a_key_alone_does_not_tell_a_tool_that_a_lost_500_had_refunded(play: Play) -> None:
    """The provider keeps that answer under the key: who does not look it up never learns of the refund."""
    trial = play(Theirs("keyed", tools.by_order, None), "error")

    assert (trial.verdict, len(trial.refunds)) == (Verdict.FAIL, 1)
    assert trial.why.startswith(
        "It is refunded once, and the last call was told otherwise: it raised APIError: "
    )


def test_a_coroutine_is_cancelled_and_a_plain_function_is_left_alone(play: Play) -> None:
    left = play(Theirs("plain", tools.naive, None), "cancelled")
    gone = play(Theirs("async", tools.by_attempt, None), "cancelled")

    assert [str(each.calls[0]) for each in (left, gone)] == [
        "no answer in time, the caller gave up",
        "raised CancelledError",
    ]
    assert [len(each.refunds) for each in (left, gone)] == [2, 2]


def test_one_refund_of_another_amount_is_found_by_the_diff(play: Play, books: Database) -> None:
    trial = play(Theirs("generous", tools.generous, None), "answered")
    smoked = Smoked("generous", "the sandbox", (trial,), ledger.diff(books, [trial]), 1.0)
    told = [each.text for each in report.ending(smoked)]

    assert (trial.verdict, smoked.ok) == (Verdict.OK, False)
    assert told[0] == "FAIL     recon diff of 1 intent and 1 refund: 1 mismatch"
    assert told[1].startswith("amount_mismatch: ")
    assert (
        told[-1]
        == "Each order has one refund, and the books disagree: generous against the sandbox, in 1.0 s."
    )


def test_a_tool_without_a_guard_has_no_switch(play: Play) -> None:
    trial = play(Theirs("plain", tools.by_order, None), "switched-off")

    assert (trial.verdict, trial.sent) == (Verdict.SKIPPED, ())


def test_what_cannot_be_refunded_twice_is_not_tried(sandbox: Street) -> None:
    class Poor(SandboxLine):
        def payment(self, order_id: str) -> Paid:
            return replace(super().payment(order_id), amount_minor=403)

    seen = scratch.provider(sandbox.url, scratch.KEY, patience_seconds=30.0)

    with pytest.raises(ConfigurationError, match=r"4 times 1\.01 left to refund.*; found 4\.03 USD"):
        Stage(Poor(Hand(sandbox.url)), seen).order(1)


@pytest.mark.parametrize(
    "named, why",
    [
        ("tests.cli.smoking.tools", "must be MODULE:CALLABLE, such as shop.tools:refund; found"),
        ("tests.cli.smoking.nowhere:refund", "cannot be loaded: ModuleNotFoundError: No module named"),
        ("tests.cli.smoking.tools:nowhere", "cannot be loaded: AttributeError: module"),
        ("tests.cli.smoking.tools:__name__", "must be something to call; found str"),
    ],
)
def test_a_function_that_is_not_there_is_refused(named: str, why: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        subjects.load("--tool", named)

    assert why in str(caught.value)
