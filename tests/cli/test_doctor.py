import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from recon.cli import doctor
from recon.model.records.remarks import Level, Remark, Section
from tests.cli.conftest import recon as command
from tests.doctor.clinic import CLOSED
from tests.sandboxes import SLACK_TOKEN, Street


def recon(*arguments: str) -> CompletedProcess[str]:
    return command(os.environ, *arguments)


@pytest.fixture(autouse=True)
def told(sqlite_template: Path, tmp_path: Path, sandbox: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a process names this test's database and street."""
    shutil.copyfile(sqlite_template, tmp_path / "recon.db")
    monkeypatch.setenv("RECON_DATABASE_URL", f"sqlite:///{tmp_path / 'recon.db'}")
    monkeypatch.setenv("STRIPE_API_KEY", "rk_test_canary0key")
    monkeypatch.setenv("RECON_STRIPE_BASE_URL", sandbox.url)
    monkeypatch.setenv("SLACK_BOT_TOKEN", SLACK_TOKEN)
    monkeypatch.setenv("RECON_SLACK_BASE_URL", sandbox.slack_url)


def test_without_a_failure_it_exits_0() -> None:
    done = recon("doctor")

    assert (done.returncode, done.stderr) == (0, "")
    assert "Provider\n  ok       The key is a restricted one, of test mode.\n" in done.stdout
    assert "           -> recon run; then let cron" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Fit for tonight: 0 failures, ")
    assert "\N{ESCAPE}" not in done.stdout
    assert "canary" not in done.stdout


def test_a_failure_exits_1_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECON_STRIPE_BASE_URL", CLOSED)

    done = recon("doctor")

    assert (done.returncode, done.stderr) == (1, "")
    assert "  failure  The platform's own account broke off" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Not fit for tonight: 1 failure, ")


def test_json_has_every_key_always() -> None:
    done = recon("doctor", "--format", "json")

    found: dict[str, Any] = json.loads(done.stdout)
    assert set(found) == {"at", "healthy", "counts", "checks"}
    assert found["healthy"] is True
    assert set(found["counts"]) == {"ok", "warning", "failure"}
    assert sum(found["counts"].values()) == len(found["checks"])
    assert {frozenset(each) for each in found["checks"]} == {frozenset({"section", "level", "found", "todo"})}
    assert all((each["todo"] is None) is (each["level"] == "ok") for each in found["checks"])
    assert "canary" not in done.stdout


def test_one_section_can_be_looked_at_alone(sandbox: Street) -> None:
    done = recon("doctor", "--only", "owners", "--only", "packages", "--format", "json")

    assert {each["section"] for each in json.loads(done.stdout)["checks"]} == {"owners", "packages"}
    assert sandbox.requests() == []


def test_offline_asks_nobody(sandbox: Street) -> None:
    done = recon("doctor", "--offline")

    assert done.returncode == 0
    assert sandbox.requests() == []


def test_it_does_not_wait_longer_than_it_is_told(sandbox: Street) -> None:
    sandbox.fault("GET /v1/account", "hang_before", times=9)

    done = recon("doctor", "--seconds", "3")

    assert done.returncode == 1
    assert "within 3 s" in done.stdout


def test_on_a_terminal_remedies_are_folded_under_their_remark() -> None:
    reading, writing = os.openpty()
    started_as = [sys.executable, "-m", "recon.cli.main", "doctor", "--offline"]
    width = os.environ | {"COLUMNS": "80", "TERM": "xterm-256color"}
    with Path(os.devnull).open() as nothing:
        started = subprocess.Popen(started_as, stdin=nothing, stdout=writing, stderr=writing, env=width)
        os.close(writing)
        shown = b""
        while chunk := _chunk(reading):
            shown += chunk
        started.wait(timeout=60)
    os.close(reading)
    lines = shown.decode().replace("\r", "").splitlines()

    plain = [_without_colour(line).rstrip() for line in lines]
    assert lines != plain
    assert all(len(line) <= 80 for line in plain)
    arrow = next(at for at, line in enumerate(plain) if line.startswith("    → Make a check at Healthchecks"))
    assert plain[arrow + 1].startswith("      ")


def test_what_a_terminal_would_obey_is_taken_out() -> None:
    remark = Remark(Section.OWNERS, Level.WARNING, "bad \x1b[2J", "do \x07")

    assert list(doctor.plain(remark)) == [
        "  warning  bad \N{REPLACEMENT CHARACTER}[2J",
        "           -> do \N{REPLACEMENT CHARACTER}",
    ]


def _chunk(reading: int) -> bytes:
    try:
        return os.read(reading, 4096)
    except OSError:  # Linux says so when the other side has closed.
        return b""


def _without_colour(line: str) -> str:
    for part in line.split("\N{ESCAPE}[")[1:]:
        line = line.replace(f"\N{ESCAPE}[{part.partition('m')[0]}m", "", 1)
    return line
