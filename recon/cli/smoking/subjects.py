"""What is tried: the guarded tool of this package, or somebody's own function.

Calls go out in threads of their own, and whoever waits gives up after a while, as agents' frameworks do.
"""

import asyncio
import importlib
import inspect
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from recon.cli.smoking import sayings
from recon.cli.smoking.sayings import Says
from recon.cli.smoking.stages import Order
from recon.guard import Outcome, RefundTool
from recon.model.characters import harmless
from recon.model.errors import ConfigurationError

_LONGEST = 200  # Characters of what a tool answered that are shown.


@dataclass(frozen=True, slots=True)
class Told:
    """What a caller was told. raised: it was an exception. late: nothing came in time.

    said: as text, shortened. whole: all of it. says: of the refund; None where words do not tell.
    """

    said: str
    raised: bool = False
    late: bool = False
    whole: str = ""
    says: Says | None = None

    def __str__(self) -> str:
        """Return it as a line about a call ends."""
        if self.late:
            return "no answer in time, the caller gave up"
        return f"raised {self.said}" if self.raised else f"answered {self.said}"


class Subject(Protocol):
    """A refund tool under trial."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def asks_status(self) -> bool:
        """Whether it can be asked how a refund stands."""

    def ask(self, order: Order) -> object:
        """Ask for a refund, and wait."""

    def asking(self, order: Order) -> Awaitable[object] | None:
        """Return a call that can be cancelled; None where it is a plain function."""

    def status(self, order: Order) -> object:
        """Ask how it stands."""


class Own:
    """The guarded tool of this package."""

    name = "recon.guard.RefundTool"
    asks_status = True

    def __init__(self, tool: RefundTool) -> None:
        self._tool = tool

    def ask(self, order: Order) -> Outcome:
        """Ask for a refund, and wait."""
        return self._tool.refund_order(order.id, order.amount, order.currency, order.payment)

    def asking(self, order: Order) -> Awaitable[Outcome]:
        """Return a call that can be cancelled."""
        return self._tool.arefund_order(order.id, order.amount, order.currency, order.payment)

    def status(self, order: Order) -> Outcome:
        """Ask how it stands."""
        return self._tool.check_refund_status(order.id)


class Theirs:
    """Somebody's function of an order's id and an amount in major units as text; plain or a coroutine's."""

    def __init__(self, name: str, function: Callable[..., Any], status: Callable[..., Any] | None) -> None:
        self.name = name
        self._function = function
        self._status = status
        self.asks_status = status is not None

    def ask(self, order: Order) -> object:
        """Ask for a refund, and wait."""
        self._tell(order)
        return _waited(self._function(order.id, order.amount))

    def asking(self, order: Order) -> Awaitable[object] | None:
        """Return a call that can be cancelled; None where it is a plain function."""
        if not inspect.iscoroutinefunction(self._function):
            return None
        self._tell(order)
        found: Awaitable[object] = self._function(order.id, order.amount)
        return found

    def status(self, order: Order) -> object:
        """Ask how it stands."""
        assert self._status is not None, "only what can be asked is asked"
        return _waited(self._status(order.id))

    def _tell(self, order: Order) -> None:
        """Say what is to be refunded where a function without a shop behind it can look."""
        os.environ.update(RECON_SMOKE_PAYMENT=order.payment, RECON_SMOKE_CURRENCY=order.currency)


def load(option: str, named: str) -> Callable[..., Any]:
    """Return the function that MODULE:CALLABLE names; modules are looked for in this folder too.

    Raises:
        ConfigurationError: there is none.
    """
    module, _, name = named.partition(":")
    if not module or not name:
        raise ConfigurationError(
            f"{option} must be MODULE:CALLABLE, such as shop.tools:refund; found {named!r}."
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # Whatever somebody's module does when it is loaded.
        raise ConfigurationError(
            f"{option} {named} cannot be loaded: {type(error).__name__}: {harmless(str(error))[:_LONGEST]}."
        ) from error
    if not callable(found):
        raise ConfigurationError(f"{option} {named} must be something to call; found {type(found).__name__}.")
    called: Callable[..., Any] = found
    return called


class Call:
    """One call under way in a thread of its own, which does not keep the process alive."""

    def __init__(self, work: Callable[[], object], begin: threading.Barrier | None = None) -> None:
        """begin: passed together with others."""
        self._told: Told | None = None
        self._work = work
        self._begin = begin
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def told(self, within_seconds: float) -> Told:
        """Return what it was told by then."""
        self._thread.join(within_seconds)
        return self._told or Told("", late=True)

    def _run(self) -> None:
        if self._begin is not None:
            self._begin.wait()
        try:
            self._told = _told(self._work())
        except BaseException as error:  # noqa: BLE001 - whatever a tool raises is what its caller is told
            said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            self._told = Told(_short(said), raised=True, whole=said, says=sayings.of_error(error))


def cancelled(asking: Awaitable[object], gone: threading.Event) -> object:
    """Return what a call comes to that is cancelled once its caller is gone.

    Raises:
        CancelledError: it was.
    """
    running = _running(asking)
    gone.wait()
    running.cancel()
    return running.result()


def _waited(result: object) -> object:
    """Return what a function returned, or what its coroutine comes to."""
    return _running(result).result() if inspect.isawaitable(result) else result


def _running(asking: Awaitable[object]) -> Future[object]:
    """Return a call under way in the one loop that all of them share, as in an agent's process."""

    async def wait() -> object:
        return await asking

    return asyncio.run_coroutine_threadsafe(wait(), _loop())


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="smoke", daemon=True).start()
    return loop


def _told(answer: object) -> Told:
    try:
        whole = f"{answer.status}: {answer.message}" if isinstance(answer, Outcome) else str(answer)
        return Told(_short(whole), whole=whole, says=sayings.of(answer))
    except Exception as error:  # noqa: BLE001 - whatever a stranger's object does when asked for its text
        return Told(f"something that cannot be written ({type(error).__name__})")


def _short(said: str) -> str:
    text = harmless(" ".join(said.split()))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
