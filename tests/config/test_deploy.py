"""What starts the jobs: every file can be read by what it is for, and starts what exists."""

import configparser
import importlib.util
import os
import re
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # ships no types

from jobs.scheduler import GRACE_SECONDS, LIMITS_SECONDS, MINUTE
from recon.cli import exits
from recon.doors.store.engines import BUSY_SECONDS
from recon.model.settings import Settings, SlackSettings
from tests.house import tree

DEPLOY = tree.ROOT / "config/deploy"
UNITS = sorted(path.name for path in DEPLOY.iterdir() if path.suffix in {".service", ".timer"})
CRON = [line for line in (DEPLOY / "crontab").read_text().splitlines() if re.match(r"[\d*]", line)]
IN_KUBERNETES: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
CRON_JOBS: dict[str, Any] = {
    each["metadata"]["name"]: each["spec"] for each in IN_KUBERNETES if each["kind"] == "CronJob"
}
JOB = re.compile(r"python -m jobs\.(\w+)")


def unit(name: str) -> configparser.ConfigParser:
    """Return a unit file; a setting that stands twice is an error."""
    found = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    found.optionxform = str  # type: ignore[assignment,method-assign]  # how the library is told to keep the case
    found.read_string((DEPLOY / name).read_text())
    return found


def sh(command: str, path: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["/bin/sh", "-c", command],
        env={"PATH": f"{path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )


def python(folder: Path, code: int) -> Path:
    """Put a python there that logs a line, says what it was asked for and ends with this code."""
    fake = folder / "python"
    fake.write_text(f'#!/bin/sh\necho "$*" >>{folder}/asked\necho "$KEY" >&2\nexit {code}\n')
    fake.chmod(0o755)
    return fake


def test_every_file_starts_jobs_that_exist() -> None:
    for path in DEPLOY.iterdir():
        for job in JOB.findall(path.read_text()):
            assert importlib.util.find_spec(f"jobs.{job}") is not None, path.name


def test_every_setting_has_its_reason() -> None:
    for name in UNITS:
        text = (DEPLOY / name).read_text()
        assert text.startswith(f"# /etc/systemd/system/{name}: ")
        assert text.count("\n#") >= 2


@pytest.mark.parametrize("job", ["hourly", "tick"])
def test_a_timer_starts_the_service_of_its_name_and_another_run_is_no_failure(job: str) -> None:
    service, timer = unit(f"recon-{job}.service")["Service"], unit(f"recon-{job}.timer")

    assert service["ExecStart"].endswith(f"/python -m jobs.{job}")
    assert (service["Type"], service["SuccessExitStatus"]) == ("oneshot", str(exits.HELD))
    assert timer["Install"]["WantedBy"] == "timers.target"
    minutes = int(service["TimeoutStartSec"].removesuffix("min"))
    assert minutes * 60 == LIMITS_SECONDS[job]


def test_the_hour_catches_up_and_the_tick_does_not() -> None:
    hour, tick = unit("recon-hourly.timer")["Timer"], unit("recon-tick.timer")["Timer"]

    assert (hour["OnCalendar"], hour["Persistent"]) == (f"*-*-* *:{MINUTE:02}:00 UTC", "true")
    assert (tick["OnCalendar"], tick["Persistent"], tick["AccuracySec"]) == ("minutely", "false", "1s")


def test_the_scheduler_comes_back_and_lets_a_running_job_end() -> None:
    service = unit("recon-scheduler.service")["Service"]

    assert service["ExecStart"].endswith("/python -m jobs.scheduler")
    assert (service["Restart"], service["KillMode"]) == ("always", "mixed")
    assert service["RestartPreventExitStatus"] == str(exits.CONFIGURATION)


def test_the_listener_comes_back_and_finishes_what_it_has_acknowledged() -> None:
    service = unit("recon-listener.service")["Service"]

    assert service["ExecStart"].endswith("/python -m jobs.listener")
    assert (service["Restart"], service["RestartPreventExitStatus"]) == ("always", str(exits.CONFIGURATION))
    assert (
        int(service["TimeoutStopSec"].removesuffix("s")) > BUSY_SECONDS + 2 * SlackSettings().timeout_seconds
    )


@pytest.mark.parametrize("name", [name for name in UNITS if name.endswith(".service")])
def test_a_service_reads_its_secrets_from_a_file_and_writes_only_where_it_must(name: str) -> None:
    service = unit(name)["Service"]

    assert service["EnvironmentFile"] == "/etc/recon/env"
    assert "Environment" not in service
    assert (service["ProtectSystem"], service["StateDirectory"]) == ("strict", "recon")


def test_the_crontab_has_both_jobs_at_their_times() -> None:
    found = {JOB.findall(line)[0]: line.split()[:5] for line in CRON}

    assert found == {"hourly": [str(MINUTE), "*", "*", "*", "*"], "tick": ["*"] * 5}
    assert all("%" not in line for line in CRON)  # It would be a new line to cron.
    for line in CRON:
        job = JOB.findall(line)[0]
        assert f"timeout -k 30 {LIMITS_SECONDS[job]} " in line


@pytest.mark.parametrize(
    "code,mailed", [(0, ""), (75, ""), (3, "from the environment\n"), (70, "from the environment\n")]
)
def test_the_hours_line_mails_the_end_of_its_log_when_something_is_wrong(
    code: int, mailed: str, tmp_path: Path
) -> None:
    (tmp_path / "env").write_text("KEY='from the environment'\n")
    line = next(line for line in CRON if "jobs.hourly" in line).split(maxsplit=5)[5]
    fake = python(tmp_path, code)
    for theirs, ours in {
        "/opt/recon/.venv/bin/python": str(fake),
        "/etc/recon/env": str(tmp_path / "env"),
        "/run/lock/": f"{tmp_path}/",
        "/var/log/recon/": f"{tmp_path}/",
    }.items():
        assert theirs in line
        line = line.replace(theirs, ours)

    done = sh(line, tmp_path)

    assert (done.stdout, done.stderr) == (mailed, "")
    assert (tmp_path / "asked").read_text() == "-m jobs.hourly\n"
    assert (tmp_path / "hourly.log").read_text() == "from the environment\n"


def test_kubernetes_has_both_jobs_one_at_a_time_and_never_again_at_once() -> None:
    assert set(CRON_JOBS) == {"recon-hourly", "recon-tick"}
    schedules = {name: (spec["schedule"], spec["timeZone"]) for name, spec in CRON_JOBS.items()}
    assert schedules == {
        "recon-hourly": (f"{MINUTE} * * * *", "Etc/UTC"),
        "recon-tick": ("* * * * *", "Etc/UTC"),
    }
    for name, spec in CRON_JOBS.items():
        job = spec["jobTemplate"]["spec"]
        assert spec["concurrencyPolicy"] == "Forbid"
        assert (job["backoffLimit"], job["template"]["spec"]["restartPolicy"]) == (0, "Never")
        assert job["activeDeadlineSeconds"] == LIMITS_SECONDS[name.removeprefix("recon-")]
        (container,) = job["template"]["spec"]["containers"]
        assert container["envFrom"] == [{"secretRef": {"name": "recon"}}]
        assert "env" not in container
    assert CRON_JOBS["recon-hourly"]["startingDeadlineSeconds"] == GRACE_SECONDS
    assert CRON_JOBS["recon-tick"]["startingDeadlineSeconds"] >= 10  # Below, a slot may be passed over.


def test_kubernetes_keeps_one_listener_and_lets_it_finish() -> None:
    (deployment,) = [each for each in IN_KUBERNETES if each["kind"] == "Deployment"]
    spec = deployment["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]

    assert (spec["replicas"], spec["selector"]["matchLabels"]) == (1, spec["template"]["metadata"]["labels"])
    assert container["command"] == ["python", "-m", "jobs.listener"]
    assert container["envFrom"] == [{"secretRef": {"name": "recon"}}]
    assert "env" not in container
    stop = unit("recon-listener.service")["Service"]["TimeoutStopSec"]
    assert f"{pod['terminationGracePeriodSeconds']}s" == stop


@pytest.mark.parametrize("name", ["recon-hourly", "recon-tick"])
@pytest.mark.parametrize("code,kept", [(0, 0), (75, 0), (2, 2), (3, 3), (4, 4), (70, 70)])
def test_in_kubernetes_another_run_is_no_failure_and_every_other_code_is_kept(
    name: str, code: int, kept: int, tmp_path: Path
) -> None:
    (container,) = CRON_JOBS[name]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    shell, option, command = container["command"]
    python(tmp_path, code)

    done = sh(command, tmp_path)

    assert (shell, option) == ("/bin/sh", "-c")
    assert done.returncode == kept
    assert (tmp_path / "asked").read_text() == f"-m jobs.{name.removeprefix('recon-')}\n"


def test_a_run_ends_before_the_next_and_two_missed_ones_are_stale() -> None:
    assert timedelta(seconds=LIMITS_SECONDS["hourly"]) < timedelta(hours=1)
    assert Settings().stale_after == timedelta(hours=2)
    assert timedelta(seconds=GRACE_SECONDS) < timedelta(hours=1)
