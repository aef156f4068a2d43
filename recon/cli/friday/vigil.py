"""The watch on the evening's calls: a look each minute, as the tick takes one, and what people do about it.

The careless tools record their calls and ask no switch: none of them is called while theirs is thrown.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from recon import watch
from recon.cli.friday.evening import BEGINS, JUDGED
from recon.cli.friday.street import Street
from recon.doors.store.engines import Database
from recon.model.records.people import Operator
from recon.model.records.tools import SwitchMove
from recon.model.records.words import Actor, Role
from recon.model.settings import Settings
from recon.switchboard import Switchboard

TOOL = "refund_order"
_MINUTE = timedelta(minutes=1)
ANA, BO = Operator(Actor("Ana"), Role.OPERATOR), Operator(Actor("Bo"), Role.ADMIN)
# After midnight, and why: between these two nobody calls the tool.
_MOVES = {
    BEGINS + timedelta(minutes=19): (SwitchMove.THROWN, ANA, "Customers refunded twice since 17:01."),
    BEGINS + timedelta(minutes=23): (SwitchMove.LIFTED, BO, "Its key is the order now, and not the call."),
}


@dataclass(slots=True)
class Vigil:
    """Looks at the calls of one evening. deliver: brings what waits to Slack."""

    database: Database
    street: Street
    settings: Settings
    friday: datetime
    deliver: Callable[[], object]
    _next: timedelta = field(default=BEGINS)

    def until(self, at: datetime) -> None:
        """Look once for each minute that has ended by this time, from the evening's beginning to its end."""
        while self._next <= JUDGED and self.friday + self._next <= at:
            self._look(self.friday + self._next)
            self._next += _MINUTE

    def _look(self, now: datetime) -> None:
        if self._next in _MOVES:
            self._move(now, *_MOVES[self._next])
        if watch.calls(self.database, self.settings, clock=lambda: now):
            self.street.set_time(now)
            self.deliver()

    def _move(self, now: datetime, made: SwitchMove, who: Operator, why: str) -> None:
        board = Switchboard(self.database, lambda: self.settings, lambda: now)
        if made is SwitchMove.THROWN:
            board.throw(TOOL, operator=who, reason=why, action_id="demo:throw")
            return
        version = board.every()[TOOL].version
        board.lift(TOOL, version=version, operator=who, reason=why, action_id="demo:lift")
