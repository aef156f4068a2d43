"""Looking for what became of a side effect, one at a time or in a sweep of all that is unsettled.

A step of recon/guarding.py. Never sends anything; each look-up is under the lease of its key, and what it
found is written under that fence.
"""

import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from sqlalchemy import Connection

from recon.doors import intents
from recon.doors.store import calls, strangers
from recon.doors.store.engines import Database
from recon.model.errors import LeaseLost, ReconError
from recon.model.hands import Hands
from recon.model.records.guarded import Finding, FindingKind, Guarded, Outcome, OutcomeStatus, Settled
from recon.model.records.provider import Refund
from recon.model.records.words import IntentStatus
from recon.model.settings import GuardSettings
from recon.rules import guarding, outcomes
from recon.rules.guarding import Step

_SWEEP_SECONDS = 30.0  # After which a sweep begins no look-up: the next one comes within the minute.
_SILENCES = 3  # Look-ups in a row that nobody answered: the world is away, and each more takes as long.
# What a call whose time is over still waits for the database: what it knows by then is worth a moment.
_LEAST_WAIT_SECONDS = 1.0


class Lookups:
    """What some tools did, looked up."""

    def __init__(
        self,
        database: Database,
        hands: Mapping[str, Hands],
        *,
        settings: GuardSettings,
        clock: Callable[[], datetime],
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        """hands: by tool."""
        self._database = database
        self._hands = hands
        self._settings = settings
        self._clock = clock
        self._timer = timer

    def look(self, row: Guarded, *, until: float | None = None) -> Guarded:
        """Return what is known of it after one more look-up; as it is where somebody else is at it.

        until: on the timer; None is the time of a whole call.

        Raises:
            ReconError: the database is away.
        """
        until = self.deadline() if until is None else until
        held = self._take(row, until)
        if held is None:
            return row
        if guarding.step(held) is Step.LOOK:
            held, _ = self._look(held, until)
        self._write(held, until)
        return held

    def may_send_again(self, row: Guarded) -> bool:
        """Return whether it is proved that nothing came of it, and the same may be sent with the same key."""
        unknown = row.status is IntentStatus.PENDING_UNKNOWN
        return unknown and guarding.may_send_again(row, self._latest(row), self._settings)

    def is_switched_off(self, row: Guarded) -> bool:
        """Return whether a kill switch keeps it from being sent.

        Raises:
            ReconError: the database is away.
        """
        with self._database.read() as connection:
            return intents.switched_off(connection, row.tool, row)

    def was_kept_back(self, row: Guarded) -> bool:
        """Return whether a caller was told that a kill switch keeps it back, and to hand it over to a person.

        Raises:
            ReconError: the database is away.
        """
        with self._database.read() as connection:
            return calls.was(connection, row.account, row.key, OutcomeStatus.DISABLED)

    def confirm(self, row: Guarded, noun: str, *, until: float | None = None) -> Outcome:
        """Return how what is done stands now; it stays done where the world does not say."""
        if row.result_id is None:
            return outcomes.done(noun, row, again=True)
        found = self._hands[row.tool].check(row, until=self.deadline() if until is None else until)
        if found.kind is FindingKind.DEAD:
            return outcomes.dead(noun, row, found.state)
        return outcomes.done(noun, row, state=found.state, went=found.money, again=True)

    def sweep(self) -> Settled:
        """Look up what is unsettled and nobody acts on; send nothing; return what became of it.

        What nobody sent within a call's time is cancelled, so that no one waits for it.

        Raises:
            ReconError: the database is away. What was found until then is written down.
        """
        began, silences = self._timer(), 0
        with self._database.write() as connection:
            intents.follow(connection)
            now = self._clock()  # Not before: it may have waited, and leases are judged by this.
            lease = guarding.longest_lease(now, self._settings)
            intents.shorten_all(connection, lease=lease, rest=guarding.longest_rest(now, self._settings))
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

    def _latest(self, row: Guarded) -> datetime:
        """Return the time, or the provider's if that is later: by its clock the key is pruned."""
        theirs, ours = self._hands[row.tool].now(), self._clock()
        return ours if theirs is None else max(ours, theirs)

    def deadline(self) -> float:
        """Return when a call that begins now has ended, on the timer."""
        return self._timer() + self._settings.deadline_seconds

    def reading(self, until: float) -> AbstractContextManager[Connection]:
        """Return a reading transaction that waits for others no longer than until then, but a moment."""
        return self._database.read(wait_seconds=self._patience(until))

    def _writing(self, until: float) -> AbstractContextManager[Connection]:
        """Return a writing transaction of the same patience."""
        return self._database.write(wait_seconds=self._patience(until))

    def _patience(self, until: float) -> float:
        return max(until - self._timer(), _LEAST_WAIT_SECONDS)

    def _look(self, row: Guarded, until: float) -> tuple[Guarded, Finding]:
        """Return what a look-up makes of it, and what was found; nothing is written."""
        began = self._clock()
        finding, others = self._found(row, until)
        return guarding.looked(row, finding, others, began, self._settings), finding

    def _found(self, row: Guarded, until: float) -> tuple[Finding, tuple[Refund, ...]]:
        """Return what a look-up finds, and what stands there live that no intent of ours asked for."""
        finding = self._hands[row.tool].find(row, until=until)
        others = finding.others
        if others:
            try:
                with self.reading(until) as connection:
                    others = strangers.among(connection, others)
            except ReconError as error:  # Nobody can say whose they are.
                finding = replace(finding, kind=FindingKind.UNREADABLE, said=str(error))
        return finding, others

    def _sweep_one(self, row: Guarded) -> Settled:
        until = self._timer() + self._settings.send_timeout_seconds
        held = self._take(row, until)
        if held is None:
            return Settled()
        unsent = guarding.step(held) is Step.SEND
        try:
            if unsent:
                self._write(replace(held, status=IntentStatus.CANCELLED, updated_at=self._clock()), until)
                return Settled(cancelled=1)
            began = self._clock()
            found, finding = self._look(held, until)
            found = replace(found, next_at=began + guarding.rest(found, began, self._settings))
            self._write(found, until)
        except LeaseLost:  # A run or a person was faster.
            return Settled(looked=int(not unsent))
        return Settled(
            looked=1,
            done=int(found.status is IntentStatus.DONE),
            failed=int(found.status is IntentStatus.FAILED),
            unknown=int(found.status is IntentStatus.PENDING_UNKNOWN),
            unreadable=int(finding.kind is FindingKind.UNREADABLE),
            cancelled=int(found.status is IntentStatus.CANCELLED),
        )

    def _take(self, row: Guarded, until: float) -> Guarded | None:
        with self._writing(until) as connection:
            now = self._clock()
            held = intents.take(connection, row, holder(), now=now, until=now + self._settings.lease)
        return None if held is None else replace(held, tool=row.tool)

    def _write(self, row: Guarded, until: float) -> None:
        """Write what became of it, and let others at it.

        Raises:
            LeaseLost: somebody was faster.
        """
        with self._writing(until) as connection:
            intents.write(connection, row, release=self._clock())


def holder() -> str:
    """Return who holds a lease, for people who look at the table; the fence is what counts."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:12]}"
