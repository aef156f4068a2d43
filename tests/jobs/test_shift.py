import os
import runpy
import signal
import sys
from datetime import timedelta

import pytest

from jobs import shift
from recon.doors.store import keeping, leases
from recon.doors.store.engines import Database
from recon.model.records.runs import HOUR
from recon.model.settings import Settings
from tests.hours import FRIDAY
from tests.sandboxes import Street

JOBS = ("hourly", "tick", "scheduler")


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("argument, code", [("--help", 0), ("-h", 0), ("--dry-run", 2), ("now", 2)])
def test_a_job_with_an_argument_does_nothing(
    job: str, argument: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [job, argument])
    monkeypatch.delitem(sys.modules, f"jobs.{job}", raising=False)  # runpy warns of a module that is there.
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"jobs.{job}", run_name="__main__")

    said = capsys.readouterr()
    assert ended.value.code == code
    assert f"python -m jobs.{job}" in (said.err if code else said.out)


def test_a_job_without_arguments_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["hourly"])

    shift.takes_nothing("hourly", "The hour.")


def test_a_job_that_is_told_to_end_gives_its_lease_back(street: Street, database: Database) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def task(opened: Database, _: Settings) -> int:
        with keeping.kept(opened, HOUR, duration=timedelta(minutes=5), clock=lambda: FRIDAY):
            os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("it went on")

    with pytest.raises(SystemExit) as ended:
        shift.work("hourly", task)

    assert street.requests() == []
    assert ended.value.code == shift.TERMINATED
    assert signal.getsignal(signal.SIGTERM) is before
    leases.take(database, HOUR, "the next one", now=FRIDAY, duration=timedelta(minutes=5))
