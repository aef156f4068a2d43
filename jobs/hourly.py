"""The hourly job: one pass over the books, then the delivery of what it has to say.

Exit 0 done, 2 configuration, 3 incomplete or rows rejected, 4 notices undelivered, 75 another run is at it.
"""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from uuid import uuid4

from recon.cli import exits, extras

with extras.required("This job", "job,slack"):
    from jobs import post, vitals
    from jobs.shift import log, takes_wait, work
    from jobs.steps import Steps
    from recon import hourly
    from recon.cli.progress import Counters
    from recon.doors import pulse
    from recon.doors.clock import utc_now
    from recon.doors.pulse import Beat
    from recon.doors.store import keeping
    from recon.doors.store.engines import Database
    from recon.doors.stripe.provider import Provider
    from recon.model import phrases
    from recon.model.errors import ReconError
    from recon.model.records.progress import Pulling, Waiting
    from recon.model.records.results import Reject
    from recon.model.records.runs import AccountReading
    from recon.model.settings import Settings
    from recon.rules import beginnings

# A send, the wait before its look-ups and both of them: what is still unknown then is left to the tick.
DELIVERY_BUDGET = timedelta(seconds=150)
_REJECTS_LOGGED = 5  # Rows that the log names; recon run --format json lists them all.


def main(wait: timedelta = keeping.AT_ONCE) -> int:
    """Do the hour once, and return the exit code. wait: how long for another run to end."""
    return work("hourly", partial(hour, wait=wait), failed=_not_begun)


def hour(database: Database, settings: Settings, *, wait: timedelta = keeping.AT_ONCE) -> int:
    """Run, deliver, tell the pulse; return the exit code, the run's before the delivery's.

    The pulse hears of success when every account was read completely. Rejected rows alone do not stop it:
    the operators have their own notice of them, and the exit code is 3.
    """
    name = str(uuid4())
    # Not before the lease is held: a start without an end would be taken for a run that hangs.
    steps = Steps(lambda: _beat(settings, Beat.START, name))
    try:
        code, complete = _run(database, settings, steps, wait)
    except BaseException:  # A bug, or somebody's Ctrl-C: whoever started the job is shown it.
        steps.close()
        _beat(settings, Beat.FAIL, name)
        raise
    if code != exits.HELD:  # Another run is at it, and will say how it went.
        _beat(settings, Beat.SUCCESS if complete else code, name)
    delivered = _delivered(database, settings)
    vitals.write(settings, now=utc_now())
    return code if code != exits.OK else delivered


def _delivered(database: Database, settings: Settings) -> int:
    """Deliver what waits, and return the exit code of that alone."""
    try:
        report = post.deliver(database, settings, clock=utc_now, budget=DELIVERY_BUDGET)
    except ReconError as error:  # The database is away: what waits, waits.
        code = exits.of(error)
        log.error("delivery", reason=str(error), exit_code=code)
        return code
    return exits.OK if report.complete else exits.UNDELIVERED


def _tell(said: Pulling | Waiting) -> None:
    """Log how far the reading is, or for whom the hour waits."""
    if isinstance(said, Waiting):
        log.info("wait", said=str(said), holder=said.holder, until=phrases.iso(said.until))
    else:
        log.info("pull", said=str(said), **asdict(said))


def _run(database: Database, settings: Settings, steps: Steps, wait: timedelta) -> tuple[int, bool]:
    """Pass over the books; return the exit code, and whether every account was read completely."""
    try:
        report = hourly.run(
            database,
            Provider(settings.provider),
            settings,
            clock=utc_now,
            entering=steps,
            wait=wait,
            progress=Counters(_tell),
        )
    except ReconError as error:  # What waits to be said is said all the same.
        code = exits.of(error)
        tell = log.warning if code == exits.HELD else log.error  # Another is at it: nothing is wrong.
        tell("run", reason=str(error), exit_code=code, seconds=steps.close())
        return code, False
    run, seconds = report.run, steps.close()
    read = sum(each.complete for each in run.accounts)
    log.info(
        "run",
        run_id=run.id,
        fence=run.fence,
        verdict=run.verdict,
        complete=report.complete,
        full=run.full,
        as_of=run.as_of.isoformat(),
        accounts_read=f"{read} of {len(run.accounts)}",
        windows=[_window(each) for each in run.accounts],
        counts=dict(run.counts),
        at_risk=dict(run.at_risk),
        opened=run.opened,
        cleared=run.cleared,
        healed=run.healed,
        notices=len(report.notices),
        seconds=seconds,
    )
    _log_rejected(report.result.rejected)
    for sentence in (*report.said, *beginnings.sentences(report.older)):
        log.info("older", said=sentence)
    return exits.OK if report.in_order else exits.INCOMPLETE, report.complete


def _log_rejected(rejects: Sequence[Reject]) -> None:
    if rejects:
        first = [f"{each.source} row {each.row} ({each.id or 'no id'}): {each.reason}" for each in rejects]
        log.warning("rejected", rows=len(rejects), first=first[:_REJECTS_LOGGED])


def _window(reading: AccountReading) -> dict[str, object]:
    return {
        "account": reading.account,
        "from": reading.from_at.isoformat(),
        "to": reading.to_at.isoformat(),
        "complete": reading.complete,
        "refunds": reading.refunds,
        "changed": reading.changed,
        "error": reading.error,
    }


def _not_begun(settings: Settings, code: int) -> None:
    """Tell those who watch that there was no run, because the database is away or not ready."""
    if code != exits.HELD:
        _beat(settings, code, str(uuid4()))
    vitals.write(settings, now=utc_now())


def _beat(settings: Settings, what: Beat | int, name: str) -> None:
    failed = pulse.beat(
        settings.heartbeat_url, what, name, timeout_seconds=settings.heartbeat_timeout_seconds
    )
    if failed:
        log.warning("heartbeat", reason=failed)


if __name__ == "__main__":
    sys.exit(main(takes_wait("hourly", __doc__)))
