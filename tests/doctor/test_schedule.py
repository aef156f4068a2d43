from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recon.doors.store import runs
from recon.doors.store.engines import Database
from recon.model.records.remarks import Section
from recon.model.records.words import RunId, Verdict
from tests.doctor.clinic import Clinic, one
from tests.rules.test_staleness import RUN


def save(database: Database, name: str, age: timedelta, verdict: Verdict = Verdict.BREAKS) -> None:
    ended = datetime.now(UTC) - age
    with database.write() as connection:
        runs.put(
            connection, replace(RUN, id=RunId(name), started_at=ended, finished_at=ended, verdict=verdict)
        )


def test_before_the_first_run_there_is_something_to_do(clinic: Clinic) -> None:
    assert one(clinic.told(Section.SCHEDULE), "There was no run yet").startswith("warning")


@pytest.mark.parametrize("age, level", [(timedelta(minutes=119), "ok"), (timedelta(minutes=121), "failure")])
def test_a_job_that_has_stopped_is_a_failure(
    clinic: Clinic, database: Database, age: timedelta, level: str
) -> None:
    save(database, "r1", age)

    assert one(clinic.told(Section.SCHEDULE), "The last complete run ended").startswith(level)


def test_incomplete_runs_do_not_count_and_are_said(clinic: Clinic, database: Database) -> None:
    save(database, "r1", timedelta(hours=5))
    save(database, "r2", timedelta(minutes=5), Verdict.INCOMPLETE)

    told = one(clinic.told(Section.SCHEDULE), "The last complete run ended 5 h")

    assert "the last of all ended 5 min ago, incomplete" in told
    assert told.startswith("failure")


def test_a_heartbeat_is_wanted_and_not_pinged(small: Clinic) -> None:
    assert one(small.told(Section.SCHEDULE), "A heartbeat is set (not pinged now)").startswith("ok")
    del small.environ["RECON_HEARTBEAT_URL"]
    assert one(small.told(Section.SCHEDULE), "nobody is told").startswith("warning")


@pytest.mark.parametrize("folder, level", [("", "ok"), ("nowhere/", "failure")])
def test_metrics_need_a_folder(small: Clinic, tmp_path: Path, folder: str, level: str) -> None:
    path = tmp_path / f"{folder}recon.prom"
    small.configure("recon.toml", f'[pulse]\nmetrics_textfile = "{path}"\n')

    assert one(small.told(Section.SCHEDULE), str(path)).startswith(level)
    assert not path.exists()
