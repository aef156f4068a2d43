"""The heartbeat says success after a complete run, and never otherwise."""

import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs import hourly
from recon.doors.store import cases, leases
from recon.doors.store.engines import Database
from recon.model.records.runs import HOUR
from tests.databases import ON_ONE
from tests.jobs.conftest import Configure, Log
from tests.sandboxes import STRIPE_KEY, Street
from tests.wires import Act, Wire, drips, hangs, wire


def beats(heart: Wire) -> list[str]:
    """Return what the heartbeat said since it was last asked."""
    said = [
        request.split(b" ")[1].partition(b"?")[0].decode().removeprefix("/ping") for request in heart.requests
    ]
    heart.requests.clear()
    return said


@ON_ONE
def test_the_heartbeat_counts_complete_runs_only(street: Street, heart: Wire) -> None:
    hourly.main()
    complete = beats(heart)
    street.fault("GET /v1/refunds", "drop_before", times=9)
    hourly.main()

    assert (complete, beats(heart)) == (["/start", ""], ["/start", "/3"])


@ON_ONE
def test_a_start_and_its_end_are_told_under_one_id_and_the_next_run_has_another(
    street: Street, heart: Wire
) -> None:
    hourly.main()
    hourly.main()

    first, end, second, _ = [request.split(b" ")[1].partition(b"rid=")[2] for request in heart.requests]
    assert first == end != second


@ON_ONE
def test_a_run_that_crashes_is_told_as_failed_and_shown_whole_in_the_log(
    street: Street, heart: Wire, monkeypatch: pytest.MonkeyPatch, log: Log
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise AssertionError(f"a bug with {STRIPE_KEY}")

    monkeypatch.setattr(cases, "save_run", broken)

    assert hourly.main() == 70
    assert beats(heart) == ["/start", "/fail"]
    (line,) = [line for line in log() if line["event"] == "bug"]
    assert "AssertionError: a bug with ***" in line["exception"]


def test_a_run_that_lost_its_lease_leaves_the_end_to_the_one_that_took_it(
    street: Street, heart: Wire, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = cases.save_run

    def late(*given: Any, **named: Any) -> object:  # noqa: ANN401 - what save_run takes
        later = datetime.now(UTC) + timedelta(minutes=6)
        leases.take(database, HOUR, "another", now=later, duration=timedelta(minutes=5))
        return save(*given, **named)

    monkeypatch.setattr(cases, "save_run", late)

    assert hourly.main() == 75
    assert beats(heart) == ["/start"]


@ON_ONE
def test_a_key_that_is_refused_is_told_as_its_exit_code(
    street: Street, heart: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRIPE_API_KEY", "wrong")

    assert hourly.main() == 2
    assert beats(heart)[-1] == "/2"


@ON_ONE
def test_a_database_that_is_away_is_told_too(
    street: Street, heart: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECON_DATABASE_URL", "postgresql://nobody@127.0.0.1:9/recon")

    assert hourly.main() == 3
    assert beats(heart) == ["/3"]


@ON_ONE
def test_a_dry_run_and_a_run_by_hand_are_no_heartbeat(street: Street, heart: Wire) -> None:
    for options in (["--dry-run"], []):
        done = subprocess.run(
            [sys.executable, "-m", "recon.cli.main", "run", *options],
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0

    assert beats(heart) == []


@pytest.mark.parametrize("act", [hangs, drips("OK" * 500, pause_seconds=0.05)])
@ON_ONE
def test_a_heartbeat_that_is_slow_holds_the_job_up_for_its_timeout_and_no_longer(
    act: Act, street: Street, monkeypatch: pytest.MonkeyPatch, configure: Configure, log: Log
) -> None:
    configure("[pulse]\nheartbeat_timeout_seconds = 0.3\n")
    hourly.main()
    log()
    with wire(act) as served:
        monkeypatch.setenv("RECON_HEARTBEAT_URL", f"{served.url}/ping")
        started = time.monotonic()

        assert hourly.main() == 0
        assert time.monotonic() - started < 10

    said = [line["reason"] for line in log() if line["event"] == "heartbeat"]
    assert len(said) == 2
    assert all("not heard" in reason and served.url not in reason for reason in said)


def test_a_lease_that_is_held_exits_75_and_says_nothing_to_the_heartbeat(
    street: Street, heart: Wire, database: Database, log: Log
) -> None:
    leases.take(database, HOUR, "somebody", now=datetime.now(UTC), duration=timedelta(minutes=5))

    assert hourly.main() == 75
    assert beats(heart) == []
    assert {line["level"] for line in log()} <= {"info", "warning"}
