from datetime import UTC, datetime, timedelta

import pytest

from recon.doors.store import leases
from recon.model.records.runs import HOUR
from tests.cli.conftest import recon
from tests.hours import Town, rows
from tests.past import long_ago

WINDOW = ("--from", "2026-01-01", "--to", "2026-01-25")


def test_a_run_says_what_is_older_and_the_command_it_names_has_it_judged(
    town: Town, environ: dict[str, str]
) -> None:
    long_ago(town, "old")
    first = recon(environ, "run")
    assert first.returncode == 0
    (said,) = [line for line in first.stdout.splitlines() if "older than" in line]
    assert "1 intent is older than 2026-01-20, the first refund read, and is not judged" in said
    command = said.partition(": recon ")[2].partition(" reads further back")[0].split()
    done = recon(environ, *command)
    again = recon(environ, "run")

    assert command == ["backfill", "--from", "2026-01-05", "--to", "2026-01-20"]
    assert done.returncode == 0
    for told in (
        "Read back: 2026-01-05 00:00",
        "; judged.",
        "Cases: 1 opened",
        "1 case opened without a notice",
    ):
        assert told in done.stdout
    assert rows(town, "notices") == 0
    assert "older than" not in again.stdout


def test_a_dry_run_does_not_say_that_a_plain_run_would_do_it(town: Town, environ: dict[str, str]) -> None:
    recon(environ, "run")
    done = recon(environ, "backfill", *WINDOW, "--dry-run")

    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "  To do it: the same command without --dry-run"


def test_a_window_that_leaves_a_gap_says_so(town: Town, environ: dict[str, str]) -> None:
    recon(environ, "run")
    done = recon(environ, "backfill", "--from", "2026-01-01", "--to", "2026-01-03")

    assert done.returncode == 0
    assert "kept, and not judged: a gap remains until 2026-01-20" in done.stdout


@pytest.mark.parametrize(
    "options, told",
    [
        (("--from", "2026-01-25", "--to", "2026-01-01"), "--from must not be later than --to"),
        (("--from", "last year", "--to", "2026-01-01"), "--from must be a day such as"),
        (("--from", "2026-01-01", "--to", "2026-01-25T10:00:00"), "--to must be a day such as"),
        (("--from", "2026-01-01", "--to", "2026-03-07"), "Only the past can be read back"),
        ((*WINDOW, "--account", "acct_9"), "No account acct_9 is read here; those that are: platform."),
    ],
)
def test_what_cannot_be_read_back_is_one_sentence(
    town: Town, environ: dict[str, str], options: tuple[str, ...], told: str
) -> None:
    done = recon(environ, "backfill", *options)

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert told in done.stderr
    assert rows(town, "runs") == 0


@pytest.mark.parametrize("command", [("run",), ("backfill", *WINDOW)])
def test_a_held_lease_is_waited_for_and_then_exits_75(
    town: Town, environ: dict[str, str], command: tuple[str, ...]
) -> None:
    now = datetime.now(UTC)
    leases.take(town.database, HOUR, "another run", now=now, duration=timedelta(hours=1))
    done = recon(environ, *command, "--wait", "1")

    assert done.returncode == 75
    assert "another run" in done.stderr


def test_a_lease_that_is_given_back_meanwhile_is_taken(town: Town, environ: dict[str, str]) -> None:
    now = datetime.now(UTC)
    leases.take(town.database, HOUR, "another run", now=now, duration=timedelta(seconds=3))
    done = recon(environ, "run", "--wait", "60")

    assert done.returncode == 0
    assert leases.newest(town.database, HOUR) == 2
