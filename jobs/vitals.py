"""The job's metrics, read from the database: what a Prometheus alert can be built on."""

from datetime import datetime

from recon.doors.pulse import Labels, Sample
from recon.doors.store import outbox, queue, runs
from recon.doors.store.engines import Database
from recon.model.records.words import Verdict


def samples(database: Database, *, now: datetime) -> tuple[Sample, ...]:
    """Return every metric as it stands now; those of runs are left out before the first."""
    return (*_of_runs(database), *_of_cases(database, now), *_of_notices(database, now))


def _of_runs(database: Database) -> list[Sample]:
    complete, saved = runs.last_complete(database), runs.last_saved(database)
    found = []
    if complete is not None:
        ended, window = complete.finished_at.timestamp(), complete.as_of.timestamp()
        found += [
            Sample(
                "last_success_timestamp", "When the last complete run ended, in Unix seconds.", {(): ended}
            ),
            Sample("last_complete_window_end", "Until when it had read, in Unix seconds.", {(): window}),
        ]
    if saved is not None:
        seconds = (saved.finished_at - saved.started_at).total_seconds()
        verdicts: dict[Labels, float] = {
            (("verdict", str(each)),): float(saved.verdict is each) for each in Verdict
        }
        found += [
            Sample("run_duration_seconds", "How long the last saved run took.", {(): seconds}),
            Sample("last_run_verdict", "1 for the verdict of the last saved run.", verdicts),
        ]
    return found


def _of_cases(database: Database, now: datetime) -> list[Sample]:
    cases: dict[Labels, float] = {}
    at_risk: dict[Labels, int] = {}
    for (kind, severity, currency), (count, minor) in queue.standing(database).items():
        by_severity = (("kind", str(kind)), ("severity", str(severity)))
        by_currency = (("currency", currency), ("kind", str(kind)))
        cases[by_severity] = cases.get(by_severity, 0) + count
        at_risk[by_currency] = at_risk.get(by_currency, 0) + minor
    oldest = queue.summary(database).oldest_opened_at
    age = (now - oldest).total_seconds() if oldest is not None else 0.0
    return [
        Sample("open_cases", "Cases that wait for somebody.", cases),
        Sample("money_at_risk_minor", "What they hold at risk, in minor units.", at_risk),
        Sample("oldest_open_seconds", "Age of the oldest of them; 0 when there is none.", {(): age}),
    ]


def _of_notices(database: Database, now: datetime) -> list[Sample]:
    states: dict[Labels, float] = {
        (("state", str(state)),): float(n) for state, n in outbox.undelivered(database).items()
    }
    oldest = outbox.waits_since(database)
    lag = (now - oldest).total_seconds() if oldest is not None else 0.0
    return [
        Sample("deliveries", "Notices that are not sent, by what is known of them.", states),
        Sample("delivery_lag_seconds", "Age of the oldest that is on its way; 0 when none is.", {(): lag}),
    ]
