"""What the dashboard shows of how recon itself goes: its runs, what was told to whom, and the rules in force.

Reads only, and keeps nothing of anybody's. Settings are read anew whenever rules are asked for, because the
job reads them anew as well: a dashboard that was started before owners.toml changed would show rules that are
no longer in force.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from recon.doors import config
from recon.doors.clock import Clock, utc_now
from recon.doors.store import history, outbox, revisions
from recon.doors.store.engines import Database
from recon.model.characters import keepable
from recon.model.records.histories import (
    NoticeFilters,
    NoticesPage,
    Passed,
    Rejects,
    RunCursor,
    RunsPage,
)
from recon.model.records.runs import Run
from recon.model.records.words import NoticeState, RunId
from recon.model.settings import Settings
from recon.rules import beginnings

Configuration = Callable[[], Settings]

EVERY_NOTICE = NoticeFilters()
RUNS, NOTICES = 25, 20  # On a page: a day of runs, and notices as many as somebody reads.


@dataclass(frozen=True, slots=True)
class RunView:
    """One run, and what came of it.

    before: the run before it; None of the first. said: what it could not judge because it is older than what
    is judged, a sentence each.
    """

    passed: Passed
    before: Run | None
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outstanding:
    """What was not delivered. states: how many notices are in each state but sent, zeros too.

    since: since when the oldest on its way could have gone out; None where none could. late: how many should
    have gone out by now. slack: whether anything is sent at all.
    """

    states: Mapping[NoticeState, int]
    since: datetime | None
    late: int
    slack: bool


class Overview:
    """What the pages on runs, notices and owners talk to; all tabs share it."""

    def __init__(self, database: Database, configuration: Configuration, clock: Clock = utc_now) -> None:
        self.database = database
        self.settings = configuration
        self.now = clock

    @classmethod
    def open(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Return the overview over the database that the settings name.

        Raises:
            ConfigurationError: the settings or the database cannot be used as they are; the text says what
                to run.
            DatabaseUnavailable: it cannot be reached now.
        """
        database = revisions.ready(config.load(environ).database_url.reveal())
        return cls(database, lambda: config.load(environ))

    def runs(self, *, after: RunCursor | None = None, limit: int = RUNS) -> RunsPage:
        """Return the runs that follow a place, newest first."""
        return history.page(self.database, after, limit)

    def run(self, named: str, *, known: Iterable[Passed] = ()) -> RunView | None:
        """Return the run of this id; None where there is none.

        known: runs that were read before; what is among them is not counted anew.
        """
        seen = {passed.run.id: passed for passed in known}
        run_id = RunId(keepable(named))
        passed = seen.get(run_id) or history.passed(self.database, run_id)
        if passed is None:
            return None
        older = beginnings.of_counts(passed.run.counts)
        return RunView(passed, history.before(self.database, passed.number), beginnings.sentences(older))

    def rejects(self) -> Rejects:
        """Return the rows that cannot be judged as things stand."""
        return history.rejected(self.database)

    def notices(
        self, filters: NoticeFilters = EVERY_NOTICE, *, below: int | None = None, limit: int = NOTICES
    ) -> NoticesPage:
        """Return the notices whose id is below one, newest first."""
        asked = replace(filters, targets=tuple(map(keepable, filters.targets)))
        return history.told(self.database, asked, below=below, limit=limit)

    def targets(self) -> tuple[str, ...]:
        """Return whom notices went to or wait for, each once, by name."""
        return history.targets(self.database)

    def outstanding(self) -> Outstanding:
        """Return what was not delivered, and since when."""
        now = self.now()
        return Outstanding(
            states=outbox.undelivered(self.database),
            since=outbox.waits_since(self.database, now=now),
            late=outbox.late(self.database, now=now),
            slack=self.settings().slack.enabled,
        )

    def held(self) -> Mapping[str, int]:
        """Return how many waiting cases have their owner by each rule, or by a person; "" by none."""
        return history.held(self.database)
