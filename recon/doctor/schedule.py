"""Whether the job runs, and who would notice if it did not. Pings nothing."""

from collections.abc import Iterator
from pathlib import Path

from recon.doctor.patients import Check, Patient, Pen
from recon.doors import machine
from recon.doors.store import revisions, runs
from recon.model.phrases import duration
from recon.model.records.remarks import Remark, Section
from recon.rules import staleness

_SCHEDULE = Pen(Section.SCHEDULE)
_RUNS_BACK = 48  # Two days of runs: far longer than any stale_after that makes sense.


def _runs(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None:
        return
    if patient.database is None or revisions.current(patient.database) != revisions.head():
        yield _SCHEDULE.warning("Nobody knows when the last run was.", "The database comes first; see there.")
        return
    complete, latest = runs.last_complete(patient.database), runs.recent(patient.database, _RUNS_BACK)
    now = patient.clock()
    age = staleness.age(complete, latest, now=now)
    if age is None:
        yield _SCHEDULE.warning(
            "There was no run yet.",
            "recon run; then let cron, systemd or Kubernetes start it (config/deploy).",
        )
        return
    last = f"The last complete run ended {duration(age)} ago" if complete else "No run was ever complete"
    newest = latest[0]
    since = f"; the last of all ended {duration(now - newest.finished_at)} ago, {newest.verdict}"
    since = "" if newest == complete else since
    if staleness.is_stale(age, stale_after=patient.settings.stale_after):
        yield _SCHEDULE.failure(
            f"{last}{since}: that is too long.",
            "Look at the schedule and at the job's log; recon run shows what stops it.",
        )
    else:
        yield _SCHEDULE.ok(f"{last}{since}.")


def _heartbeat(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None:
        return
    if patient.settings.heartbeat_url:
        yield _SCHEDULE.ok("A heartbeat is set (not pinged now).")
    else:
        yield _SCHEDULE.warning(
            "RECON_HEARTBEAT_URL is not set: when this machine stops, nobody is told.",
            "Make a check at Healthchecks or the like, expected every hour, and set its address.",
        )


def _metrics(patient: Patient) -> Iterator[Remark]:
    path = patient.settings.metrics_textfile if patient.settings is not None else None
    if path is None:
        return
    why = machine.unwritable(Path(path))
    if why is None:
        yield _SCHEDULE.ok(f"Metrics can be written to {path}.")
    else:
        yield _SCHEDULE.failure(
            f"Metrics cannot be written to {path}: {why}.", "Put pulse.metrics_textfile right."
        )


CHECKS = (
    Check("when the last run was", _runs),
    Check("who hears when it stops", _heartbeat),
    Check("where metrics go", _metrics),
)
