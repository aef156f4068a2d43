from datetime import UTC, datetime, timedelta

import pytest

from jobs import hourly
from recon.cli import exits, progress
from recon.doors.store import leases
from recon.doors.store.engines import Database
from recon.model.records.runs import HOUR
from tests.jobs.conftest import Configure, Log
from tests.sandboxes import Street


def test_a_long_reading_says_in_the_log_how_far_it_is(
    street: Street, log: Log, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure("page_size = 1")  # Two refunds are then more than a page, and the window is cut.
    street.control("refunds", payment="pi_1", amount=100)
    monkeypatch.setattr(progress, "PAGES_A_LINE", 40)
    hourly.main()

    (said,) = [line for line in log() if line["event"] == "pull"]
    assert 40 <= said["pages"] <= said["slices"] == 47
    assert (said["account"], said["number"], said["accounts"]) == ("", 1, 1)
    assert said["said"].startswith("Reading account 1 of 1: the platform, ")


def test_an_hour_that_waits_says_in_the_log_for_whom(street: Street, log: Log, database: Database) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    leases.take(database, HOUR, "vm, process 7", now=now, duration=timedelta(hours=1))
    code = hourly.main(wait=timedelta(milliseconds=1))

    until = now + timedelta(hours=1)
    (said,) = [line for line in log() if line["event"] == "wait"]
    assert code == exits.HELD
    assert (said["holder"], said["until"]) == ("vm, process 7", f"{until:%Y-%m-%dT%H:%M:%SZ}")
    assert said["said"].startswith("Waiting for vm, process 7, which holds the lease until ")
