"""Runs the jobs by the clock where there is no cron: the hour at five past, UTC, the tick once a minute.

It starts neither at once: for an hour now there is `recon run`.

Each job is a process of its own, so that its exit code is kept and a crash takes nothing along. Serves the
metrics meanwhile, where a port for them is set. What keeps two schedulers apart is the lease in the database,
never this module.
"""

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from types import FrameType

from recon.cli import exits, extras

with extras.required("This job", "job"):
    import structlog
    from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobEvent
    from apscheduler.executors.pool import ThreadPoolExecutor
    from apscheduler.jobstores.memory import MemoryJobStore
    from apscheduler.schedulers.base import BaseScheduler
    from apscheduler.schedulers.blocking import BlockingScheduler
    from apscheduler.triggers.cron import CronTrigger
    from apscheduler.triggers.interval import IntervalTrigger

    from jobs import vitals
    from jobs.readings import Readings
    from jobs.shift import takes_nothing
    from recon.doors import config, logs, pulse
    from recon.doors.pulse import Labels, Sample, Serving, Sort
    from recon.doors.store.engines import Database
    from recon.model.errors import ReconError
    from recon.model.settings import Settings

MINUTE = 5  # Past the full hour, when everybody else's jobs begin.
# An hourly run that starts 50 minutes late is still worth it; the default of 1 s skips it.
GRACE_SECONDS = 3000
LIMITS_SECONDS = {"hourly": 3300, "tick": 600}  # A process that hangs ends before its next but few turns.
EVENTS = {EVENT_JOB_MISSED: "missed", EVENT_JOB_ERROR: "error", EVENT_JOB_MAX_INSTANCES: "max_instances"}
FINE = {exits.OK, exits.HELD}
_TIMED_OUT = 124  # As timeout(1) says it.

log = structlog.get_logger("recon")
Start = Callable[[str], int]


class Record:
    """What happened to the jobs since the scheduler began: in the log, and in metrics beside theirs."""

    def __init__(self, settings: Settings) -> None:
        path = settings.metrics_textfile
        self._path = str(Path(path).with_suffix(".scheduler.prom")) if path is not None else None
        # Zeros from the start, so that the first one that is missed is an increase.
        self.events: Counter[tuple[str, str]] = Counter(
            {(job, what): 0 for job in LIMITS_SECONDS for what in EVENTS.values()}
        )
        self.codes: dict[str, int] = {}

    def heard(self, event: JobEvent) -> None:
        """Note that a job was missed, failed to start, or is still running."""
        what = EVENTS[event.code]
        self.events[event.job_id, what] += 1
        log.error("scheduler", job=event.job_id, event_kind=what)
        self._write()

    def ended(self, job: str, code: int) -> None:
        """Note how a job's process ended; where another is at it, nothing is wrong."""
        self.codes[job] = code
        (log.info if code in FINE else log.error)("ended", job=job, exit_code=code)
        self._write()

    def samples(self) -> tuple[Sample, ...]:
        """Return what happened as metrics.

        A job is labelled by `name`: Prometheus itself says `job` of whatever it asks, and renames ours.
        """
        events: dict[Labels, float] = {
            (("event", what), ("name", job)): number for (job, what), number in self.events.items()
        }
        codes: dict[Labels, float] = {(("name", job),): code for job, code in self.codes.copy().items()}
        return (
            Sample(
                "scheduler_events_total",
                "Jobs missed, failed to start or still running when they were due, since it began.",
                events,
                Sort.COUNTER,
            ),
            Sample("last_exit_code", "The exit code of each job's latest process.", codes),
        )

    def _write(self) -> None:
        failed = pulse.write_metrics(self._path, self.samples())
        if failed:
            log.warning("metrics", reason=failed)


def start(job: str) -> int:
    """Run a job as a process of its own, and return its exit code."""
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", f"jobs.{job}"], check=False, timeout=LIMITS_SECONDS[job]
        )
    except subprocess.TimeoutExpired:  # It hung and was killed; its lease lapses, its notices are looked up.
        return _TIMED_OUT
    return done.returncode


def build(record: Record, *, scheduler: BaseScheduler | None = None, run: Start = start) -> BaseScheduler:
    """Return a scheduler that holds both jobs and tells the record what happens to them; not started."""
    built = scheduler or BlockingScheduler()
    built.configure(
        timezone="UTC",
        jobstores={"default": MemoryJobStore()},
        executors={"default": ThreadPoolExecutor(2)},
        job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": GRACE_SECONDS},
    )
    triggers = {"hourly": CronTrigger(minute=MINUTE, timezone="UTC"), "tick": IntervalTrigger(minutes=1)}
    for job, trigger in triggers.items():
        built.add_job(_run, trigger, args=[job, record, run], id=job, replace_existing=True)
    built.add_listener(record.heard, EVENT_JOB_MISSED | EVENT_JOB_ERROR | EVENT_JOB_MAX_INSTANCES)
    return built


def main() -> int:
    """Run the jobs until SIGTERM or SIGINT; a job that is running then ends first."""
    logs.configure()
    try:
        settings = config.load()
    except ReconError as error:  # The jobs would say the same, every minute.
        log.error("failed", reason=str(error), exit_code=exits.CONFIGURATION)  # noqa: TRY400 - weather, not a bug
        return exits.CONFIGURATION
    logs.configure(settings)
    record = Record(settings)
    scheduler = build(record)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ending(scheduler))
    log.info("scheduler", jobs=[job.id for job in scheduler.get_jobs()])
    with serving(settings, record):
        scheduler.start()
    return 0


def ending(scheduler: BaseScheduler) -> Callable[[int, FrameType | None], None]:
    """Return what a signal to end does: the first ends the scheduler, any other nothing.

    A second one must not break off the wait for a job that is running: it would be killed half-way.
    """
    told = Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        if told.is_set():
            return
        told.set()
        if not scheduler.running:  # Between two lines of the beginning: nothing has to be waited for.
            raise SystemExit(0)
        scheduler.shutdown(wait=False)

    return end


@contextmanager
def serving(settings: Settings, record: Record) -> Iterator[Serving | None]:
    """Serve the metrics meanwhile; where that cannot be done, say so and go on: the jobs matter more."""
    if not settings.metrics_port:
        yield None
        return
    with Database.open(settings.database_url.reveal()) as database:
        standing = Readings(lambda: vitals.told(database, now=datetime.now(UTC)))
        address, port = settings.metrics_address, settings.metrics_port
        served = pulse.serve_metrics(address, port, lambda: (*standing(), *record.samples()))
        if isinstance(served, str):
            log.error("metrics", reason=served)
            yield None
            return
        log.info("metrics", url=f"http://{address}:{served.port}/metrics")
        try:
            yield served
        finally:
            served.close()


def _run(job: str, record: Record, run: Start) -> None:
    record.ended(job, run(job))


if __name__ == "__main__":
    takes_nothing("scheduler", __doc__)
    sys.exit(main())
