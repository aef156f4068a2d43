"""What begins anew in a process that was forked: no thread came along, and what one had locked stays locked.

Databases have their own way: see doors/store/rooms.py. Never forks anything.
"""

import os
from typing import Protocol
from weakref import WeakSet


class Renewable(Protocol):
    """What holds threads, locks or lines of one process."""

    def renew(self) -> None:
        """Begin anew, in a process that was forked just now and has one thread."""


_every: WeakSet[Renewable] = WeakSet()


def follow(made: Renewable) -> None:
    """Let it begin anew in each process that is forked from this one, for as long as somebody has it."""
    _every.add(made)


def _renew() -> None:
    for each in _every:
        each.renew()


os.register_at_fork(after_in_child=_renew)
