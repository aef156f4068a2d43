"""The job's metrics, read from the database: what a Prometheus alert can be built on.

All of it is read anew each time and nothing is remembered, so that the numbers are true across restarts and
on whichever machine they are asked for.
"""

from datetime import datetime

import structlog

from recon.doors import pulse
from recon.doors.pulse import Labels, Sample, Sort
from recon.doors.store import outbox, queue, revisions, runs, standing
from recon.doors.store.engines import Database
from recon.model.errors import ConfigurationError, ReconError
from recon.model.records.runs import Run
from recon.model.records.words import Kind, Severity, Verdict
from recon.model.settings import Settings

log = structlog.get_logger("recon")

UP = "Whether recon's database can be read: 1, or 0, and then nothing else is told."


def write(settings: Settings, *, now: datetime) -> None:
    """Put every metric into the text file, where there is one; what stops that is logged, no more."""
    if settings.metrics_textfile is None:
        return
    try:
        with Database.open(settings.database_url.reveal()) as database:
            stands = told(database, now=now)
    except ConfigurationError:  # The address is not one.
        stands = (away(),)
    failed = pulse.write_metrics(settings.metrics_textfile, stands)
    if failed:
        log.warning("metrics", reason=failed)


def told(database: Database, *, now: datetime) -> tuple[Sample, ...]:
    """Return every metric as it stands now, or that the database cannot be read; never raises for that."""
    try:
        revisions.check(database)  # A newer version's rows may hold words that this one does not know.
        return (Sample("database_up", UP, {(): 1.0}), *samples(database, now=now))
    except ReconError:  # It is away, or not of this version.
        return (away(),)


def away() -> Sample:
    """Return that the database cannot be read."""
    return Sample("database_up", UP, {(): 0.0})


def samples(database: Database, *, now: datetime) -> tuple[Sample, ...]:
    """Return every metric as it stands now; those of the last runs are left out before the first.

    Raises:
        DatabaseUnavailable: the database is away.
    """
    return (*_of_runs(database), *_of_cases(database, now), *_of_notices(database, now))


def _of_runs(database: Database) -> list[Sample]:
    complete, saved = runs.last_complete(database), runs.last_saved(database)
    passes = standing.passes(database)
    outcomes: dict[Labels, float] = {(("outcome", str(each)),): n for each, n in passes.saved.items()}
    outcomes[("outcome", "unsaved"),] = passes.unsaved
    meaning = "Runs by how they ended; unsaved ones failed, were killed, or were dry."
    found = [
        Sample("runs_total", meaning, outcomes, Sort.COUNTER),
        Sample(
            "pending_unknown",
            "Intents of which nobody knows what became.",
            {(): standing.pending_unknown(database)},
        ),
    ]
    if complete is not None:
        ended, window = complete.finished_at.timestamp(), complete.as_of.timestamp()
        found += [
            Sample(
                "last_success_timestamp", "When the last complete run ended, in Unix seconds.", {(): ended}
            ),
            Sample(
                "last_complete_window_end",
                "Until when the last complete run had read, in Unix seconds.",
                {(): window},
            ),
        ]
    return found + (_of_last(saved) if saved is not None else [])


def _of_last(run: Run) -> list[Sample]:
    """Return what the last saved run says of itself."""
    verdicts: dict[Labels, float] = {
        (("verdict", str(each)),): float(run.verdict is each) for each in Verdict
    }
    read = sum(each.complete for each in run.accounts)
    return [
        Sample(
            "run_duration_seconds",
            "How long the last saved run took.",
            {(): _age(run.started_at, run.finished_at)},
        ),
        Sample("last_run_verdict", "1 for the verdict of the last saved run.", verdicts),
        Sample(
            "accounts",
            "Accounts at the provider that the last saved run was to read.",
            {(): len(run.accounts)},
        ),
        Sample(
            "accounts_read", "Accounts at the provider that the last saved run read completely.", {(): read}
        ),
        Sample(
            "rejected_rows", "Rows that the last saved run could not judge.", {(): _count(run, "rejected")}
        ),
        Sample(
            "withheld_subjects",
            "Subjects that the last saved run did not judge, because not enough was read.",
            {(): _count(run, "withheld")},
        ),
    ]


def _of_cases(database: Database, now: datetime) -> list[Sample]:
    # Zeros too: a series that comes and goes is one that no alert can count on.
    cases: dict[Labels, float] = {
        (("kind", str(kind)), ("severity", str(severity))): 0 for kind in Kind for severity in Severity
    }
    at_risk: dict[Labels, int] = {}
    for (kind, severity, currency), (count, minor) in queue.standing(database).items():
        cases[("kind", str(kind)), ("severity", str(severity))] += count
        by_currency = (("currency", currency), ("kind", str(kind)))
        at_risk[by_currency] = at_risk.get(by_currency, 0) + minor
    oldest = standing.waiting_since(database)
    unanswered: dict[Labels, float] = {
        (("severity", str(severity)),): _age(since, now)
        for severity, since in standing.unanswered_since(database, now=now).items()
    }
    return [
        Sample("open_cases", "Cases that wait for somebody.", cases),
        Sample(
            "money_at_risk_minor",
            "What open cases hold at risk, in the currency's minor units: never add two currencies.",
            at_risk,
        ),
        Sample(
            "oldest_open_seconds",
            "Age of the oldest open case; 0 when there is none.",
            {(): _age(oldest, now)},
        ),
        Sample(
            "oldest_unanswered_seconds",
            "Age of the oldest case that nobody has acknowledged or put off; 0 when there is none.",
            unanswered,
        ),
    ]


def _of_notices(database: Database, now: datetime) -> list[Sample]:
    states: dict[Labels, float] = {
        (("state", str(state)),): float(n) for state, n in outbox.undelivered(database).items()
    }
    lag = _age(outbox.waits_since(database, now=now), now)
    return [
        Sample("deliveries", "Notices that are not sent, by what is known of them.", states),
        Sample("delivery_lag_seconds", "Age of the oldest notice that could go; 0 when none can.", {(): lag}),
    ]


def _count(run: Run, name: str) -> float:
    """Return one of a run's counts; 0 where it was written by a version that did not count this."""
    found = run.counts.get(name, 0)
    return float(found) if isinstance(found, int) else 0.0


def _age(since: datetime | None, now: datetime) -> float:
    """Return seconds; 0 of nothing, and of what a clock that was wrong has put later."""
    return max(0.0, (now - since).total_seconds()) if since is not None else 0.0
