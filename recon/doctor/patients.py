"""What every check of the doctor is handed, and what a check is. Never looks at anything itself."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from recon.doors.store.engines import Database
from recon.model.records.remarks import Level, Remark, Section
from recon.model.settings import Settings

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Patient:
    """An installation, as far as it could be opened.

    settings: the shipped ones where its own cannot be read, and then flaw says why; None where the
    environment cannot be read either. database: None where it does not answer. offline: the provider and
    Slack are not asked.
    """

    environ: Mapping[str, str]
    path: Path | None
    settings: Settings | None
    flaw: str | None
    database: Database | None
    clock: Clock
    offline: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look at. name: ends the sentence "It could not be seen ...", where the look failed."""

    name: str
    look: Callable[[Patient], Iterable[Remark]]


@dataclass(frozen=True, slots=True)
class Pen:
    """Writes the remarks of one section."""

    section: Section

    def ok(self, found: str) -> Remark:
        """Return that something is as it should be."""
        return Remark(self.section, Level.OK, found)

    def warning(self, found: str, todo: str) -> Remark:
        """Return that something is less than it could be, or cannot be known."""
        return Remark(self.section, Level.WARNING, found, todo)

    def failure(self, found: str, todo: str) -> Remark:
        """Return that something keeps the job from its work."""
        return Remark(self.section, Level.FAILURE, found, todo)
