"""The guarded call: one side effect, sent once, whoever asks for it how often; a step of recon/guard.py.

Each call enters under its key's lease, commits before it sends, and writes what came of it under its fence.
Where nothing bars it, what it enters with and that it is sent are one commit, so that a call has two of them.
Nothing is open while the world is asked. Never raises for what the world does; what cancels a call is let
through after the row says what is known.
"""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import Connection

from recon.doors import intents
from recon.doors.store import calls
from recon.doors.store.engines import Database
from recon.lookups import Lookups, holder
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
    Wanted,
)
from recon.model.records.words import IntentKey, IntentStatus
from recon.model.settings import GuardSettings
from recon.rules import guarding, keys, outcomes
from recon.rules.guarding import Step

log = logging.getLogger("recon.guard")  # In the host's own process: its handlers, its format.

_FIRST_POLL_SECONDS, _LONGEST_POLL_SECONDS = 0.02, 0.5  # A refund takes a second or two.
_LIMIT_PAUSE_SECONDS = 1.0  # The provider counts its limits by the second.
_BUSY = "another refund of the same payment is not settled yet"
_LATE = "there was no time left to send it"
_UNSEEN = "what went back from its payment already cannot be seen now"
_UNEXECUTED = {AnswerKind.NOT_SENT, AnswerKind.TURNED_AWAY, AnswerKind.LIMITED}


class _Bar(StrEnum):
    """Why nothing may be sent now."""

    OFF = "off"  # The kill switch is thrown.
    BUSY = "busy"  # Another intent of the payment is under way.
    KNOWN = "known"  # Another key has the same order and reference.


@dataclass(slots=True)
class _Call:
    """One call under way.

    until: its deadline, on the timer. give_up: says yes once nobody waits for it any more. sent: it or
    another call may have sent something; again: another may. before: what the request that it began found,
    None until it began one. number: of its record, None until there is one.
    noted: whether that says what it was told.
    """

    wanted: Wanted
    asked: Asked
    until: float
    give_up: Callable[[], bool]
    holder: str
    sent: bool = False
    again: bool = False
    before: Guarded | None = None
    number: int | None = None
    noted: bool = False


class Gate(Lookups):
    """Where the side effects of some tools pass, each of them once; where they are looked up as well."""

    def __init__(
        self,
        database: Database,
        hands: Mapping[str, Hands],
        *,
        settings: GuardSettings,
        clock: Callable[[], datetime],
        timer: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        looks_back: timedelta = timedelta(0),
    ) -> None:
        """hands: by tool. looks_back: before a first send, for what went back otherwise; 0 does not look."""
        super().__init__(database, hands, settings=settings, clock=clock, timer=timer)
        self._sleep = sleep
        self._looks_back = looks_back

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
        until = self.deadline() if began is None else began + self._settings.deadline_seconds
        call = _Call(wanted, asked, until, give_up, holder())
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

    def _call(self, call: _Call) -> Outcome:
        """Go on until this call has an outcome; each turn begins with what the books say."""
        while True:
            with suppress(LeaseLost):  # Another call, a run or a person was faster: see what it is now.
                outcome = self._turn(call)
                if outcome is not None:
                    return outcome

    def _turn(self, call: _Call) -> Outcome | None:
        """Return what this call is told; None where what another made of it is to be seen first.

        Raises:
            LeaseLost: somebody was faster.
        """
        noun = call.wanted.noun
        row, mine, begun = self._enter(call)
        call.again = call.again or not mine or row.first_sent_at is not None
        call.sent = call.sent or call.again
        drift = keys.drift(row.fingerprint, call.wanted.fingerprint)
        step = guarding.step(row)
        if drift:
            self._let_go(row, call, mine=mine)
            return outcomes.drifted(call.wanted, drift, row)
        if step is Step.TELL:
            return outcomes.failed(noun, row)
        if step is Step.CONFIRM:
            return self.confirm(row, noun, until=call.until)
        if mine:
            return self._act(row, call, begun)
        # Whoever holds it may send it any moment, also where it was looked for and cancelled before.
        if self._wait(row, call):
            return None
        return outcomes.unknown(noun, row.key, person=row.refusal is not None)

    def _act(self, row: Guarded, call: _Call, begun: Guarded | _Bar | None) -> Outcome:
        """Send it, or look for it, or both, as it stands. begun: what came of beginning.

        Raises:
            LeaseLost: somebody was faster.
        """
        if begun is not None:
            return self._send(row, call, begun)
        return self._first(row, call) if guarding.step(row) is Step.SEND else self._settle(row, call)

    def _enter(self, call: _Call) -> tuple[Guarded, bool, Guarded | _Bar | None]:
        """Return what the books say now, whether this call alone may act on it, and what came of beginning.

        The last is None where there is nothing to begin, or a look comes first; else as _begin returns it.

        Raises:
            LeaseLost: somebody was faster.
        """
        wanted, begun = call.wanted, None
        with self._writing(call.until) as connection:
            # Payments are locked before rows, by all, so that no two wait for each other.
            barrier = intents.blocked(connection, wanted)
            now = self._clock()  # Not before: it may have waited, and leases are taken and read by this.
            row, mine = intents.enter(
                connection, wanted, call.holder, now=now, until=now + self._settings.lease
            )
            # Tools that do the same thing share its key, whichever of them was called first.
            row = replace(row, tool=wanted.tool)
            number = call.number or calls.note(connection, wanted, call.asked, now)
            new = guarding.step(row) is Step.SEND and not keys.drift(row.fingerprint, wanted.fingerprint)
            if mine and new:
                begun = None if self._looks_back else self._begun(connection, row, barrier)
            elif row.until > (longest := guarding.longest_lease(self._clock(), self._settings)):
                intents.shorten(connection, row, longest)
        call.number = number
        return row, mine, begun

    def _wait(self, row: Guarded, call: _Call) -> bool:
        """Wait for what another call makes of it; False when this call's time is over first."""
        pause = _FIRST_POLL_SECONDS
        while (left := call.until - self._timer()) > 0 and not call.give_up():
            self._sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_POLL_SECONDS)
            with self.reading(call.until) as connection:
                found = intents.read(connection, row.account, row.key)
            if found is None or guarding.is_settled(found) or found.until <= self._clock():
                return True
        return False

    def _first(self, row: Guarded, call: _Call) -> Outcome:
        """Send it for the first time, unless its payment shows that it may have gone back already.

        What carries its key was made by a call of which the books know no more. What looks like it and is no
        intent's, somebody made by hand, and a person has to say what for.

        Raises:
            LeaseLost: somebody was faster.
        """
        noun, began = call.wanted.noun, self._clock()
        finding, others = self._found(row, call.until)
        if finding.kind is FindingKind.UNREADABLE:
            return self._barred(row, call, outcomes.not_sent(noun, row.key, _UNSEEN))
        if finding.kind in {FindingKind.LIVE, FindingKind.DEAD}:
            known = guarding.looked(replace(row, first_sent_at=began), finding, (), began, self._settings)
            return self._written(known, call, outcomes.told(known, noun, finding, again=True))
        # By the provider's clock, which is the one that refunds are dated by.
        since = (self._hands[row.tool].now() or began) - self._looks_back
        twin = guarding.twin(row, others, since)
        if twin is not None:
            outcome = outcomes.made_otherwise(noun, row.key, twin.id)
            return self._barred(row, call, outcome, IntentStatus.CANCELLED)
        return self._send(row, call, self._begin(row, call))

    def _send(self, row: Guarded, call: _Call, begun: Guarded | _Bar) -> Outcome:
        """Send it once: for the first time, or again after the proof that nothing came of it.

        begun: what came of beginning.

        Raises:
            LeaseLost: somebody was faster.
        """
        noun, pause = call.wanted.noun, _FIRST_POLL_SECONDS
        while True:
            if begun is _Bar.OFF:
                return self._barred(row, call, outcomes.disabled(noun, row.key), IntentStatus.CANCELLED)
            if begun is _Bar.KNOWN:
                return self._barred(row, call, outcomes.known(noun, row.key), IntentStatus.CANCELLED)
            if isinstance(begun, _Bar):
                if call.until - self._timer() <= pause or call.give_up():
                    return self._barred(row, call, outcomes.not_sent(noun, row.key, _BUSY))
                self._sleep(pause)
                pause = min(2 * pause, _LONGEST_POLL_SECONDS)
                begun = self._begin(row, call)
                continue
            if self._timer() >= call.until or call.give_up():
                late = guarding.unsent(row, self._clock())
                return self._barred(late, call, outcomes.not_sent(noun, row.key, _LATE))
            call.before = row
            answer = self._sent(begun, call)
            rest = answer.retry_after_seconds or _LIMIT_PAUSE_SECONDS
            if answer.kind is AnswerKind.LIMITED and rest < call.until - self._timer():
                self._sleep(rest)
                row = guarding.turned_away(begun, self._clock())
                begun = self._begin(row, call)
                continue
            return self._conclude(begun, answer, call)

    def _begin(self, row: Guarded, call: _Call) -> Guarded | _Bar:
        """Commit that it is sent, unless something bars it.

        Raises:
            LeaseLost: somebody was faster.
        """
        with self._writing(call.until) as connection:
            return self._begun(connection, row, intents.blocked(connection, call.wanted))

    def _begun(
        self, connection: Connection, row: Guarded, barrier: tuple[IntentKey, bool] | None
    ) -> Guarded | _Bar:
        if intents.switched_off(connection, row.tool, row):  # Read last: the lines before may have waited.
            return _Bar.OFF
        if barrier is not None:
            return _Bar.KNOWN if barrier[1] else _Bar.BUSY
        begun = guarding.begun(row, self._clock())
        intents.write(connection, begun)
        return begun

    def _barred(
        self, row: Guarded, call: _Call, outcome: Outcome, status: IntentStatus | None = None
    ) -> Outcome:
        """Return why nothing was done, or that nobody knows where an earlier request is unresolved.

        What left this machine is looked for first, whatever was answered.

        Raises:
            LeaseLost: somebody was faster.
        """
        noun = call.wanted.noun
        if row.first_sent_at is None:
            return self._written(replace(row, status=status or row.status), call, outcome)
        if row.sends == 0:
            row, found = self._look(row, call.until)
            if guarding.is_settled(row):
                return self._written(row, call, outcomes.told(row, noun, found, again=call.again))
        if guarding.may_be_made(row):
            outcome = outcomes.open_still(noun, row)
        return self._written(row, call, outcome)

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
                self._write(guarding.answered(begun, Answer(AnswerKind.UNKNOWN), self._clock()), call.until)
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
        elif answer.kind in _UNEXECUTED:
            now, left = self._clock(), answer.kind is not AnswerKind.NOT_SENT
            assert call.before is not None, "it was as it was before it was sent"
            row = guarding.turned_away(begun, now) if left else guarding.unsent(call.before, now)
            return self._barred(row, call, outcomes.not_sent(noun, begun.key, answer.said))
        else:
            became = guarding.answered(begun, answer, self._clock())
            found = Finding(FindingKind.UNREADABLE, state=answer.state)
            if answer.kind in {AnswerKind.UNKNOWN, AnswerKind.TAKEN}:
                again = begun.sends > 1 or answer.kind is AnswerKind.TAKEN
                became, found = self._look(became, call.until)
        return self._written(became, call, outcomes.told(became, noun, found, again=again))

    def _settle(self, row: Guarded, call: _Call) -> Outcome:
        """Look it up; where that proves that nothing came of it, send it once more.

        Raises:
            LeaseLost: somebody was faster.
        """
        found, finding = self._look(row, call.until)
        if guarding.may_send_again(found, self._latest(row), self._settings):
            return self._send(found, call, self._begin(found, call))
        return self._written(found, call, outcomes.told(found, call.wanted.noun, finding, again=True))

    def _let_go(self, row: Guarded, call: _Call, *, mine: bool) -> None:
        if mine:
            with self._writing(call.until) as connection:
                intents.release(connection, row, self._clock())

    def _written(self, row: Guarded, call: _Call, outcome: Outcome) -> Outcome:
        """Write what became of it together with what the call is told, and return that.

        Raises:
            LeaseLost: somebody was faster, and what the books say by now is to be told.
        """
        try:
            with self._writing(call.until) as connection:
                intents.write(connection, row, release=self._clock())
                assert call.number is not None, "a call is recorded as it enters"
                calls.note_answer(connection, call.number, outcome, self._clock())
        except LeaseLost:
            raise
        except ReconError as error:  # The database went away: what is known is so, and a sweep will find it.
            log.warning("What became of %s could not be written down: %s", row.key, error)
        call.noted = True
        return outcome

    def _note(self, call: _Call, outcome: Outcome) -> None:
        assert call.number is not None, "a call is recorded as it enters"
        with self._writing(call.until) as connection:
            calls.note_answer(connection, call.number, outcome, self._clock())
