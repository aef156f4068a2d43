"""Whether this installation can do its job tonight: every check on its own, so that none hides the rest.

Changes nothing, posts nothing, moves nothing. A secret that reaches a remark, by whatever way, is starred.
"""

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from recon.doctor.patients import Check, Clock, Patient, Pen
from recon.doors import config, logs
from recon.model.errors import ConfigurationError, ReconError
from recon.model.records.remarks import Level, Remark, Section
from recon.model.settings import Settings

# Of each section the module and its checks, loaded when they are run: an extra may be missing, and then that
# section says so.
_SECTIONS: Mapping[Section, tuple[str, str]] = {
    Section.CONFIGURATION: ("configuration", "CHECKS"),
    Section.PACKAGES: ("configuration", "PACKAGES"),
    Section.OWNERS: ("owners", "CHECKS"),
    Section.DATABASE: ("books", "CHECKS"),
    Section.INTENTS: ("meant", "CHECKS"),
    Section.PROVIDER: ("provider", "CHECKS"),
    Section.CLOCK: ("provider", "CLOCKS"),
    Section.SLACK: ("slack", "CHECKS"),
    Section.DASHBOARD: ("entrance", "CHECKS"),
    Section.SCHEDULE: ("schedule", "CHECKS"),
}
# How the provider repeats a key that it does not know: its ends, with stars between them.
_HALF_HIDDEN = re.compile(r"[^\s'\"]*\*{3,}[^\s'\"]*")


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything that was found. remarks: in the order of the sections, and in each of its checks."""

    at: datetime
    remarks: tuple[Remark, ...]

    def count(self, level: Level) -> int:
        """Return how many remarks are of that level."""
        return sum(remark.level is level for remark in self.remarks)

    @property
    def healthy(self) -> bool:
        """Return whether nothing keeps the job from its work."""
        return self.count(Level.FAILURE) == 0


def examine(
    environ: Mapping[str, str],
    path: Path | None = None,
    *,
    clock: Clock,
    offline: bool = False,
    seconds: float = 60.0,
    only: Collection[Section] = (),
) -> Examination:
    """Look at everything, and return what was found within that many seconds.

    path: as config.load takes it. offline: neither the provider nor Slack is asked. only: these sections;
    all where none is named. Settings that cannot be read are told whatever was named: the rest then stands on
    the shipped ones.
    """
    deadline = time.monotonic() + seconds
    patient = _admitted(environ, path, clock, offline=offline, deadline=deadline)
    asked = {*(only or _SECTIONS), *([] if patient.flaw is None else [Section.CONFIGURATION])}
    wards = [_Ward(section, patient) for section in _SECTIONS if section in asked]
    threads = [Thread(target=ward.work, daemon=True) for ward in wards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    found = [remark for ward in wards for remark in ward.found(seconds)]
    if patient.database is not None and all(ward.done for ward in wards):
        patient.database.close()
    hide = _hiding(environ)
    clean = tuple(replace(each, found=hide(each.found), todo=hide(each.todo)) for each in found)
    return Examination(clock(), clean)


def _admitted(
    environ: Mapping[str, str], path: Path | None, clock: Clock, *, offline: bool, deadline: float
) -> Patient:
    """Return the installation with its settings and its database, as far as they are to be had."""
    flaw, settings = None, None
    try:
        settings = config.load(environ, path)
    except ConfigurationError as error:
        flaw = str(error)
        settings = _shipped(environ)
    patient = Patient(environ, path, settings, flaw, None, clock, offline=offline)
    if settings is None:
        return patient
    opening = _Opening(settings)
    thread = Thread(target=opening.work, daemon=True)
    thread.start()
    # A third of the time: where the database hangs, the others still have theirs.
    thread.join((deadline - time.monotonic()) / 3)
    return replace(patient, database=opening.database)


def _shipped(environ: Mapping[str, str]) -> Settings | None:
    """Return the shipped settings with the environment's secrets; None where the environment is wrong."""
    known = {name: value for name, value in environ.items() if not name.startswith("RECON_INTENTS_")}
    try:
        return config.load(known, config.shipped("."))
    except ConfigurationError:  # It was said.
        return None


@dataclass(slots=True)
class _Opening:
    """The database being opened, in a thread that may hang."""

    settings: Settings
    database: Any = None

    def work(self) -> None:
        """Open it."""
        from recon.doctor import books  # noqa: PLC0415 - with its drivers, where they are

        self.database = books.opened(self.settings)


@dataclass(slots=True)
class _Ward:
    """The checks of one section, in a thread that may hang."""

    section: Section
    patient: Patient
    remarks: list[Remark] = field(default_factory=list)
    at: str = ""
    done: bool = False

    def work(self) -> None:
        """Run each check on its own."""
        for check in self._checks():
            self.at = check.name
            self._alone(check)
        self.done = True

    def found(self, seconds: float) -> Sequence[Remark]:
        """Return what was found; where a check has not ended, that too."""
        if self.done:
            return self.remarks
        late = Pen(self.section).failure(
            f"It could not be seen {self.at} within {seconds:g} s.",
            "Something does not answer and does not refuse either: look at the network, then again.",
        )
        return [*self.remarks, late]

    def _checks(self) -> Sequence[Check]:
        module, name = _SECTIONS[self.section]
        try:
            found: Sequence[Check] = getattr(import_module(f"recon.doctor.{module}"), name)
        except ModuleNotFoundError as missing:  # The extra is not installed.
            self.remarks.append(
                Pen(self.section).warning(
                    f"Nothing was looked at: {missing.name} is not installed.", "See the packages."
                )
            )
            return ()
        return found

    def _alone(self, check: Check) -> None:
        pen = Pen(self.section)
        try:
            for remark in check.look(self.patient):
                self.remarks.append(remark)  # At once: what was seen before a check hangs is kept.
        except ReconError as error:
            found = f"It could not be seen {check.name}: {error}"
            self.remarks.append(pen.failure(found, "Put that right first."))
        except Exception as error:  # noqa: BLE001 - a bug in one check must not hide the others
            self.remarks.append(
                pen.failure(
                    f"It could not be seen {check.name}: the check itself broke ({_place(error)}).",
                    "Report this; the other checks stand.",
                )
            )


def _place(error: Exception) -> str:
    """Return the sort of a bug and where it is, without its words: they may quote anything."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    return f"{type(error).__name__}, {Path(trace.tb_frame.f_code.co_filename).name} line {trace.tb_lineno}"


def _hiding(environ: Mapping[str, str]) -> Callable[[str], str]:
    """Return what puts stars in the place of every secret that this process knows of."""
    redact = logs.Redaction(config.secrets(environ))

    def hide(text: str) -> str:
        return _HALF_HIDDEN.sub("***", str(redact(None, "", {"text": text})["text"]))

    return hide
