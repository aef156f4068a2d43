"""What a run is doing, while it does it: a bar on a terminal, a line now and then in a log.

Writes to standard error or to a log, never to standard output, which belongs to the report.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recon.model.characters import harmless
from recon.model.records.progress import Pulling, Waiting

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

Said = str | Pulling | Waiting
PAGES_A_LINE = 200  # Ten seconds at 20 requests a second: a first reading of a year is some hundred lines.
PATIENCE_SECONDS = 2.0  # What is over sooner needs no word, and its terminal does not flicker.
SECONDS_A_LINE = 30.0  # A provider that answers slowly: whoever looks into the log sees that it goes on.


class Counters:
    """Tells of a reading every so many pages or seconds, of nothing that is over sooner, and of a wait."""

    def __init__(
        self, tell: Callable[[Pulling | Waiting], None], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell = tell
        self._clock = clock
        self._account: object = None
        self._pages = 0
        self._told_at = clock()

    def __call__(self, said: Said) -> None:
        """Hear what a run does."""
        if isinstance(said, str):
            return
        if isinstance(said, Waiting):
            self._tell(said)
            return
        now = self._clock()
        if said.number != self._account:
            self._account, self._pages, self._told_at = said.number, 0, now
        if said.pages - self._pages >= PAGES_A_LINE or now - self._told_at >= SECONDS_A_LINE:
            self._pages, self._told_at = said.pages, now
            self._tell(said)


class Doing:
    """Says what a command is doing, on a terminal's last line; where there is no terminal, to nobody."""

    def __init__(self, bar: "Progress | None" = None) -> None:
        self._bar = bar
        self._task: TaskID | None = None if bar is None else bar.add_task("", total=None)

    def __call__(self, said: str, *, done: int = 0, total: int | None = None) -> None:
        """Hear what is done now, and how much of how much, where that is known."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=harmless(said), completed=done, total=total)


@contextmanager
def patient(*, after: float = PATIENCE_SECONDS) -> Iterator[Doing]:
    """Show on a terminal what is said, from so many seconds on; what goes into a pipe or a log has none."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield Doing()
        return
    from rich.console import Console

    bar, over = _bar(Console(stderr=True)), threading.Event()

    def wait() -> None:
        if not over.wait(after):
            bar.start()

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    try:
        yield Doing(bar)
    finally:  # Only then is it known whether it was ever started.
        over.set()
        waiting.join()
        if bar.live.is_started:
            bar.stop()


@contextmanager
def shown() -> Iterator[Callable[[Said], None]]:
    """Show what is said on a terminal's last line; elsewhere print a line where it takes long."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:

        def line(said: Pulling | Waiting) -> None:
            console.print(f"recon: {harmless(str(said))}", markup=False, highlight=False, soft_wrap=True)

        yield Counters(line)
        return
    with _bar(console) as bar:
        task = bar.add_task("Taking the lease", total=None)

        def show(said: Said) -> None:
            total, read = (said.slices, said.slices_read) if isinstance(said, Pulling) else (0, 0)
            bar.update(
                task,
                description=harmless(str(said)),
                total=total if total > 1 else None,
                completed=read,
            )

        yield show


def _bar(console: "Console") -> "Progress":
    """Return a line that says what is done, for how long, and how much of it; gone when it is over."""
    from rich import progress

    return progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(bar_width=20),  # It swings where nothing was cut into slices.
        progress.TimeElapsedColumn(),
        console=console,
        transient=True,
    )
