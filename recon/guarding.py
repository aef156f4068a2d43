"""The guarded call: one side effect, sent once, whoever asks for it how often; a step of recon/guard.py.

Each call enters under its key's lease, commits before it sends, and writes what came of it under its fence.
Nothing is open while the world is asked. Never raises for what the world does; what cancels a call is let
through after the row says what is known.
"""

import logging
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import uuid4

from recon.doors import intents
from recon.doors.store.engines import Database
from recon.model.errors import LeaseLost, ReconError
from recon.model.hands import Hands
from recon.model.records.guarded import (
    Answer,
    AnswerKind,
    Asked,
    Finding,
    FindingKind,
    Guarded,
    Outcome,
    Settled,
    Wanted,
)
from recon.model.records.words import IntentStatus
from recon.model.settings import GuardSettings
from recon.rules import guarding, keys, outcomes
from recon.rules.guarding import Step

log = logging.getLogger("recon.guard")  # In the host's own process: its handlers, its format.

_FIRST_POLL_SECONDS, _LONGEST_POLL_SECONDS = 0.02, 0.5  # A refund takes a second or two.
_LIMIT_PAUSE_SECONDS = 1.0  # The provider counts its limits by the second.
_SWEEP_SECONDS = 30.0  # After which a sweep begins no look-up: the next one comes within the minute.
_SILENCES = 3  # Look-ups in a row that failed: the provider is away, and each more takes as long.
_BUSY = "another refund of the same payment is not settled yet"
_LATE = "there was no time left to send it"


class _Bar(StrEnum):
    """Why nothing may be sent now."""

    OFF = "off"  # The kill switch is thrown.
    BUSY = "busy"  # Another intent of the payment is under way.


@dataclass(slots=True)
class _Call:
    """One call under way.

    until: its deadline, on the timer. give_up: says yes once nobody waits for it any more. sent: it or
    another call may have sent something. number: of its record, None until there is one. noted: whether that
    says what it was told.
    """

    wanted: Wanted
    asked: Asked
    until: float
    give_up: Callable[[], bool]
    holder: str
    sent: bool = False
    number: int | None = None
    noted: bool = False


class Gate:
    """Where the side effects of some tools pass, each of them once."""

    def __init__(
        self,
        database: Database,
        hands: Mapping[str, Hands],
        *,
        settings: GuardSettings,
        clock: Callable[[], datetime],
        timer: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """hands: by tool."""
        self._database = database
        self._hands = hands
        self._settings = settings
        self._clock = clock
        self._timer = timer
        self._sleep = sleep

    def call(
        self,
        wanted: Wanted,
        asked: Asked,
        *,
        give_up: Callable[[], bool] = lambda: False,
        began: float | None = None,
    ) -> Outcome:
        """Do it unless it is done, and return what the caller may believe.

        give_up: asked just before something is sent; nothing is sent once it says yes. began: when the caller
        began to wait, on the timer; None is now.
        """
        until = (self._timer() if began is None else began) + self._settings.deadline_seconds
        call = _Call(wanted, asked, until, give_up, _holder())
        try:
            outcome = self._call(call)
        except ReconError as error:  # The database is away, or not ours.
            log.warning("The books of %s cannot be read or written: %s", wanted.key, error)
            told = outcomes.unknown if call.sent else outcomes.no_books
            return told(wanted.noun, wanted.key)
        if not call.noted:
            with suppress(ReconError):  # The answer stands, recorded or not.
                self._note(call, outcome)
        return outcome

    def look(self, row: Guarded) -> Guarded:
        """Return what is known of it after one more look-up; as it is where somebody else is at it.

        Raises:
            ReconError: the database is away.
        """
        held = self._take(row)
        if held is None:
            return row
        if guarding.step(held) is Step.LOOK:
            held, _ = self._look(held, self._timer() + self._settings.deadline_seconds)
        self._write(held)
        return held

    def confirm(self, row: Guarded, noun: str, *, until: float | None = None) -> Outcome:
        """Return how what is done stands now; it stays done where the world does not say."""
        if row.result_id is None:
            return outcomes.done(noun, row, again=True)
        until = self._timer() + self._settings.deadline_seconds if until is None else until
        found = self._hands[row.tool].check(row, until=until)
        if found.kind is FindingKind.DEAD:
            return outcomes.dead(noun, row, found.state)
        return outcomes.done(noun, row, state=found.state, again=True)

    def sweep(self) -> Settled:
        """Look up what is unsettled and nobody acts on; send nothing; return what became of it.

        What nobody sent within a call's time is cancelled, so that no one waits for it.

        Raises:
            ReconError: the database is away. What was found until then is written down.
        """
        began, silences = self._timer(), 0
        with self._database.write() as connection:
            intents.follow(connection)
        limit = self._settings.settle_limit
        with self._database.read() as connection:
            rows = intents.due(connection, self._hands, now=self._clock(), limit=limit)
        total = Settled()
        for row in rows:
            if silences == _SILENCES or self._timer() - began > _SWEEP_SECONDS:
                break
            one = self._sweep_one(row)
            silences = silences + 1 if one.unreadable else 0
            total = total + one
        return total

    def _call(self, call: _Call) -> Outcome:
        """Go on until this call has an outcome; each turn begins with what the books say."""
        noun = call.wanted.noun
        while True:
            row, mine = self._enter(call)
            call.sent = call.sent or not mine or row.first_sent_at is not None
            drift = keys.drift(row.fingerprint, call.wanted.fingerprint)
            step = guarding.step(row)
            outcome: Outcome | None = None
            if drift:
                outcome = outcomes.drifted(call.wanted, drift)
                self._let_go(row, mine=mine)
            elif step is Step.TELL:
                outcome = outcomes.failed(noun, row)
            elif step is Step.CONFIRM:
                outcome = self.confirm(row, noun, until=call.until)
            elif mine:
                with suppress(LeaseLost):  # Another call, a run or a person was faster: see what it is now.
                    outcome = self._send(row, call) if step is Step.SEND else self._settle(row, call)
            elif not self._wait(row, call):
                outcome = outcomes.told(row, noun, None, again=True)
            if outcome is not None:
                return outcome

    def _enter(self, call: _Call) -> tuple[Guarded, bool]:
        """Return what the books say now, and whether this call alone may act on it."""
        now = self._clock()
        with self._database.write() as connection:
            found = intents.enter(
                connection, call.wanted, call.holder, now=now, until=now + self._settings.lease
            )
            if call.number is None:
                number = intents.note_call(connection, call.wanted, call.asked, now)
        if call.number is None:
            call.number = number
        row, mine = found
        # Tools that do the same thing share its key, whichever of them was called first.
        return replace(row, tool=call.wanted.tool), mine

    def _wait(self, row: Guarded, call: _Call) -> bool:
        """Wait for what another call makes of it; False when this call's time is over first."""
        pause = _FIRST_POLL_SECONDS
        while (left := call.until - self._timer()) > 0 and not call.give_up():
            self._sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_POLL_SECONDS)
            with self._database.read() as connection:
                found = intents.read(connection, row.account, row.key)
            if found is None or guarding.is_settled(found) or found.until <= self._clock():
                return True
        return False

    def _send(self, row: Guarded, call: _Call) -> Outcome:
        """Send it once: for the first time, or again after the proof that nothing came of it.

        Raises:
            LeaseLost: somebody was faster.
        """
        noun, pause = call.wanted.noun, _FIRST_POLL_SECONDS
        while True:
            begun = self._begin(row)
            if begun is _Bar.OFF:
                return self._barred(row, call, outcomes.disabled(noun, row.key), IntentStatus.CANCELLED)
            if isinstance(begun, _Bar):
                if call.until - self._timer() <= pause or call.give_up():
                    return self._barred(row, call, outcomes.not_sent(noun, row.key, _BUSY))
                self._sleep(pause)
                pause = min(2 * pause, _LONGEST_POLL_SECONDS)
                continue
            if self._timer() >= call.until or call.give_up():
                late = guarding.taken_back(begun, self._clock())
                return self._barred(late, call, outcomes.not_sent(noun, row.key, _LATE))
            answer = self._sent(begun, call)
            rest = answer.retry_after_seconds or _LIMIT_PAUSE_SECONDS
            if answer.kind is AnswerKind.LIMITED and rest < call.until - self._timer():
                self._sleep(rest)
                row = guarding.taken_back(begun, self._clock())
                continue
            return self._conclude(begun, answer, call)

    def _begin(self, row: Guarded) -> Guarded | _Bar:
        """Commit that it is sent, unless something bars it.

        Raises:
            LeaseLost: somebody was faster.
        """
        with self._database.write() as connection:
            busy = intents.blocked(connection, row) is not None
            if intents.switched_off(connection, row.tool, row):  # Read last: the line before may have waited.
                return _Bar.OFF
            if busy:
                return _Bar.BUSY
            begun = guarding.begun(row, self._clock())
            intents.write(connection, begun)
        return begun

    def _barred(
        self, row: Guarded, call: _Call, outcome: Outcome, status: IntentStatus | None = None
    ) -> Outcome:
        """Return why nothing was sent, or that nobody knows where an earlier request is unresolved."""
        if row.first_sent_at is not None:
            return self._written(row, call, outcomes.open_still(call.wanted.noun, row))
        return self._written(replace(row, status=status or row.status), call, outcome)

    def _sent(self, begun: Guarded, call: _Call) -> Answer:
        until = min(call.until, self._timer() + self._settings.send_timeout_seconds)
        call.sent = True
        try:
            return self._hands[begun.tool].send(begun, until=until)
        except Exception:  # A bug in the sender; what it sent before that, nobody knows.
            log.exception("The sender of %s failed.", begun.tool)
            return Answer(AnswerKind.UNKNOWN, "the sender failed")
        except BaseException:  # Ctrl-C, a cancelled task: let through once the row says that nobody knows.
            with suppress(ReconError):
                self._write(guarding.answered(begun, Answer(AnswerKind.UNKNOWN), self._clock()))
            raise

    def _conclude(self, begun: Guarded, answer: Answer, call: _Call) -> Outcome:
        """Return what an answer comes to, and write it down.

        Raises:
            LeaseLost: somebody was faster.
        """
        noun, again = call.wanted.noun, answer.replayed
        if answer.kind is AnswerKind.DONE and answer.replayed:
            # How things stood then; a refund may have failed since.
            named = replace(begun, result_id=answer.id)
            found = self._hands[begun.tool].check(named, until=call.until)
            became = guarding.looked(begun, found, (), self._clock(), self._settings)
        else:
            became = guarding.answered(begun, answer, self._clock())
            found = Finding(FindingKind.UNREADABLE, state=answer.state)
            if answer.kind in {AnswerKind.UNKNOWN, AnswerKind.TAKEN}:
                again = begun.sends > 1 or answer.kind is AnswerKind.TAKEN
                became, found = self._look(became, call.until)
        if became.first_sent_at is None:
            return self._written(became, call, outcomes.not_sent(noun, begun.key, answer.said))
        return self._written(became, call, outcomes.told(became, noun, found.state, again=again))

    def _settle(self, row: Guarded, call: _Call) -> Outcome:
        """Look it up; where that proves that nothing came of it, send it once more.

        Raises:
            LeaseLost: somebody was faster.
        """
        found, finding = self._look(row, call.until)
        theirs, ours = self._hands[row.tool].now(), self._clock()
        now = ours if theirs is None else max(ours, theirs)  # The key is pruned by the provider's clock.
        unknown = found.status is IntentStatus.PENDING_UNKNOWN
        if unknown and guarding.may_send_again(found, now, self._settings):
            return self._send(found, call)
        return self._written(found, call, outcomes.told(found, call.wanted.noun, finding.state, again=True))

    def _look(self, row: Guarded, until: float) -> tuple[Guarded, Finding]:
        """Return what a look-up makes of it, and what was found; nothing is written."""
        began = self._clock()
        finding = self._hands[row.tool].find(row, until=until)
        strangers = finding.others
        if strangers:
            try:
                with self._database.read() as connection:
                    strangers = intents.strangers(connection, strangers)
            except ReconError as error:  # Nobody can say whose they are.
                finding = replace(finding, kind=FindingKind.UNREADABLE, said=str(error))
        return guarding.looked(row, finding, strangers, began, self._settings), finding

    def _sweep_one(self, row: Guarded) -> Settled:
        held = self._take(row)
        if held is None:
            return Settled()
        unsent = guarding.step(held) is Step.SEND
        try:
            if unsent:
                self._write(replace(held, status=IntentStatus.CANCELLED, updated_at=self._clock()))
                return Settled(cancelled=1)
            began = self._clock()
            found, finding = self._look(held, self._timer() + self._settings.send_timeout_seconds)
            self._write(replace(found, next_at=began + guarding.rest(found, began, self._settings)))
        except LeaseLost:  # A run or a person was faster.
            return Settled(looked=int(not unsent))
        return Settled(
            looked=1,
            done=int(found.status is IntentStatus.DONE),
            failed=int(found.status is IntentStatus.FAILED),
            unknown=int(found.status is IntentStatus.PENDING_UNKNOWN),
            unreadable=int(finding.kind is FindingKind.UNREADABLE),
        )

    def _take(self, row: Guarded) -> Guarded | None:
        now = self._clock()
        with self._database.write() as connection:
            held = intents.take(connection, row, _holder(), now=now, until=now + self._settings.lease)
        return None if held is None else replace(held, tool=row.tool)

    def _let_go(self, row: Guarded, *, mine: bool) -> None:
        if mine:
            with self._database.write() as connection:
                intents.release(connection, row, self._clock())

    def _write(self, row: Guarded) -> None:
        """Write what became of it, and let others at it."""
        with self._database.write() as connection:
            intents.write(connection, row, release=self._clock())

    def _written(self, row: Guarded, call: _Call, outcome: Outcome) -> Outcome:
        """Write what became of it together with what the call is told, and return that.

        Raises:
            LeaseLost: somebody was faster, and what the books say by now is to be told.
        """
        try:
            with self._database.write() as connection:
                intents.write(connection, row, release=self._clock())
                assert call.number is not None, "a call is recorded as it enters"
                intents.note_answer(connection, call.number, outcome, self._clock())
        except LeaseLost:
            raise
        except ReconError as error:  # The database went away: what is known is so, and a sweep will find it.
            log.warning("What became of %s could not be written down: %s", row.key, error)
        call.noted = True
        return outcome

    def _note(self, call: _Call, outcome: Outcome) -> None:
        assert call.number is not None, "a call is recorded as it enters"
        with self._database.write() as connection:
            intents.note_answer(connection, call.number, outcome, self._clock())


def _holder() -> str:
    """Return who holds a lease, for people who look at the table; the fence is what counts."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:12]}"
