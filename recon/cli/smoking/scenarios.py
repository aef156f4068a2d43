"""What happens to a refund tool between an order and its refund, one scenario an order, and what it came to.

Each asks for one refund more than once, the way agents and their frameworks do. The provider's books count;
what a tool says last, when nothing goes wrong any more, must fit them. Never takes its word for a refund.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from recon.cli.smoking import sayings, subjects
from recon.cli.smoking.sayings import Says
from recon.cli.smoking.stages import Order, Stage
from recon.cli.smoking.subjects import Call, Subject, Told
from recon.model.records.provider import Refund
from recon.model.records.sendings import Sent
from recon.rules import once

_POLL_SECONDS = 0.01
# Than its caller waits: silence ends, so that the books are whole when they are read.
_LONGER_SECONDS = 0.5
_LINGER_SECONDS = 0.5  # A provider that takes so long is asked by two at once.
_LEFT_BEHIND_SECONDS = 30.0  # For calls that nobody waits for any more: then the books are read all the same.


class Verdict(StrEnum):
    """What a scenario came to."""

    OK = "ok"
    FAIL = "FAIL"
    SKIPPED = "skipped"


class Way(StrEnum):
    """How a tool is asked."""

    AGAIN = "again"  # Once, and again when the caller heard or gave up.
    TOGETHER = "together"  # By two at once, and again.
    CANCELLED = "cancelled"  # Cancelled once the provider has the request, and again.
    SWITCH = "switch"  # While its kill switch is thrown, and again when it is lifted.


@dataclass(frozen=True, slots=True)
class Scenario:
    """One thing that goes wrong. name: for programs. fault: by the sandbox's name; None is a good line."""

    name: str
    says: str
    way: Way = Way.AGAIN
    fault: str | None = None


SCENARIOS = (
    Scenario("answered", "answered at once, then asked again"),
    Scenario("dropped", "the connection is dropped after the refund", fault="drop_after"),
    Scenario("error", "a 500 comes after the refund", fault="500_after"),
    Scenario("silence", "silence after the refund until the caller gives up", fault="hang_after"),
    Scenario("limited", "a rate limit (429)", fault="429"),
    Scenario("together", "asked by two callers at once", Way.TOGETHER, "latency"),
    Scenario("cancelled", "cancelled while in flight", Way.CANCELLED, "hang_after"),
    Scenario("switched-off", "the kill switch is thrown, then lifted", Way.SWITCH),
)


@dataclass(slots=True)
class Trial:
    """A scenario carried out. why: it is not ok; "" where it is. questions: times it asked how it stands.

    early: who was told first that it is done while nothing was, and what; "" where nobody was. unread: what
    was said last and a person must read, in sentences.
    """

    scenario: Scenario
    verdict: Verdict = Verdict.OK
    why: str = ""
    seconds: float = 0.0
    questions: int = 0
    early: str = ""
    unread: list[str] = field(default_factory=list)
    calls: list[Told] = field(default_factory=list)
    sent: tuple[Sent, ...] = ()
    refunds: tuple[Refund, ...] = ()
    order: Order | None = None

    def fail(self, why: str) -> None:
        """Note the first thing that is wrong."""
        if self.verdict is not Verdict.FAIL:
            self.verdict, self.why = Verdict.FAIL, why


@dataclass(frozen=True, slots=True)
class Levers:
    """What is done to the tool's books. guarded: whether it keeps any. throw: its switch, or lift it."""

    guarded: Callable[[], bool]
    throw: Callable[[bool], None]


@dataclass(frozen=True, slots=True)
class Theatre:
    """Everything that a scenario touches. patience_seconds: after which a caller gives up."""

    stage: Stage
    subject: Subject
    levers: Levers
    patience_seconds: float

    def play(self, scenario: Scenario, number: int) -> Trial:
        """Return what a scenario came to. number: of its order.

        Raises:
            ReconError: the provider cannot be looked at, so that nothing can be said.
        """
        trial, began = Trial(scenario), time.monotonic()
        if scenario.way is Way.SWITCH and not self.levers.guarded():
            trial.verdict = Verdict.SKIPPED
            trial.why = (
                "no call through recon.guard is in the books that RECON_DATABASE_URL names here, and so "
                "there is no kill switch to throw"
            )
            return trial
        order = trial.order = self.stage.order(number)
        running = self._begun(trial, order)
        self.stage.line.calm()
        self._ask(trial, order, running)
        until = time.monotonic() + _LEFT_BEHIND_SECONDS
        for each in running:
            each.told(max(0.0, until - time.monotonic()))
        asked = self._status(trial, order, within_seconds=_LEFT_BEHIND_SECONDS)
        self._judge(trial, order, running[-1].told(0.0), asked)
        trial.seconds = time.monotonic() - began
        return trial

    def _judge(self, trial: Trial, order: Order, last: Told, asked: Told | None) -> None:
        """Judge by the books; then by the last call and the last question, whose answers must fit them."""
        trial.sent, trial.refunds = self.stage.sent(), self.stage.refunds(order)
        if (why := once.judged(trial.sent, trial.refunds)) is not None:
            trial.fail(why)
            return
        if trial.early:
            trial.fail(f"It is refunded once, and before anything was refunded {trial.early}.")
        (made,) = once.live(trial.sent, trial.refunds)
        for who, told in (("call", last), ("question", asked)):
            if told is None:
                continue
            fits, said = sayings.fits(told.says, told.whole, made), str(told).removesuffix(".")
            if told.late:
                trial.fail(f"It is refunded once, and the last {who} was told nothing at all.")
            elif fits is False:
                trial.fail(f"It is refunded once, and the last {who} was told otherwise: it {said}.")
            elif fits is None:
                trial.unread.append(
                    f"Whether the last {who} was told of the refund cannot be read: it {said}."
                )

    def _begun(self, trial: Trial, order: Order) -> list[Call]:
        """Let the first calls meet what goes wrong; return them, for some may still be under way."""
        if trial.scenario.way is Way.TOGETHER:
            return self._together(trial, order)
        if trial.scenario.way is Way.CANCELLED:
            return self._cancelled(trial, order)
        if trial.scenario.way is Way.SWITCH:
            return self._switch(trial, order)
        return self._again(trial, order)

    def _again(self, trial: Trial, order: Order) -> list[Call]:
        if (fault := trial.scenario.fault) is not None:
            self.stage.line.arm(fault, times=1, after_s=self.patience_seconds + _LONGER_SECONDS)
        running: list[Call] = []
        self._ask(trial, order, running)
        return running

    def _together(self, trial: Trial, order: Order) -> list[Call]:
        self.stage.line.arm("latency", times=2, after_s=_LINGER_SECONDS)
        begin = threading.Barrier(2)
        running = [Call(lambda: self.subject.ask(order), begin) for _ in range(2)]
        for each in running:
            self._heard(trial, order, each, within_seconds=self.patience_seconds)
        return running

    def _cancelled(self, trial: Trial, order: Order) -> list[Call]:
        self.stage.line.arm("hang_after", times=1, after_s=self.patience_seconds + _LONGER_SECONDS)
        gone = threading.Event()
        asking = self.subject.asking(order)
        work: Callable[[], object] = (
            (lambda: self.subject.ask(order)) if asking is None else lambda: subjects.cancelled(asking, gone)
        )
        call = Call(work)
        until = time.monotonic() + self.patience_seconds
        while not self.stage.sent() and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
        gone.set()
        # A plain function cannot be cancelled: its caller just does not wait for it.
        self._heard(trial, order, call, within_seconds=0.0 if asking is None else self.patience_seconds)
        return [call]

    def _switch(self, trial: Trial, order: Order) -> list[Call]:
        running: list[Call] = []
        self.levers.throw(True)  # noqa: FBT003 - thrown
        try:
            self._ask(trial, order, running)
            if self.stage.sent():
                trial.fail("Expected nothing to be sent while the kill switch is thrown, found a request.")
            elif (told := trial.calls[-1]).says is Says.DONE:
                said = str(told).removesuffix(".")
                trial.fail(
                    f"Nothing is sent while the kill switch is thrown, and the caller heard: it {said}."
                )
        finally:
            self.levers.throw(False)  # noqa: FBT003 - lifted
        return running

    def _ask(self, trial: Trial, order: Order, running: list[Call]) -> None:
        """Ask for the refund and wait, as long as a caller does; then ask how it stands."""
        call = Call(lambda: self.subject.ask(order))
        running.append(call)
        self._heard(trial, order, call, within_seconds=self.patience_seconds)
        self._status(trial, order, within_seconds=self.patience_seconds)

    def _status(self, trial: Trial, order: Order, *, within_seconds: float) -> Told | None:
        """Return what is said of how it stands, where that can be asked: it must read, and send nothing."""
        if not self.subject.asks_status:
            return None
        trial.questions += 1
        before = len(self.stage.sent())
        told = Call(lambda: self.subject.status(order)).told(within_seconds)
        if told.raised:
            trial.fail(f'Asked "did it go through?", it {told}.')
        if len(self.stage.sent()) > before and all(each.late is False for each in trial.calls):
            trial.fail('Asked "did it go through?", it sent a request for a refund.')
        self._note_early(trial, order, "a question", told)
        return told

    def _heard(self, trial: Trial, order: Order, call: Call, *, within_seconds: float) -> None:
        """Note what a call is told by then."""
        told = call.told(within_seconds)
        trial.calls.append(told)
        self._note_early(trial, order, f"call {len(trial.calls)}", told)

    def _note_early(self, trial: Trial, order: Order, who: str, told: Told) -> None:
        """Note who hears that it is done while nothing is: the customer is told, and nobody asks again.

        What was made is known by what the provider answered, or by its books: a list can show it late.
        """
        if told.says is not Says.DONE or trial.early:
            return
        if not any(each.refund_id for each in self.stage.sent()) and not self.stage.refunds(order):
            trial.early = f"{who} was told that it is done: it {str(told).removesuffix('.')}"
