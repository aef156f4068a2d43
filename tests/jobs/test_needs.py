"""What a job says where the packages of its extra are not installed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT = "import runpy, sys; sys.modules[{0!r}] = None; runpy.run_module('jobs.{1}', run_name='__main__')"


@pytest.mark.parametrize(
    "job, package, extra",
    [
        ("hourly", "pandas", "job,slack"),
        ("tick", "prometheus_client", "job,slack"),
        ("listener", "slack_sdk", "job,slack"),
        ("scheduler", "apscheduler", "job"),
    ],
)
def test_a_job_without_its_extra_says_what_to_install(job: str, package: str, extra: str) -> None:
    command = [sys.executable, "-c", WITHOUT.format(package, job)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        f"recon: This job needs {package}, which is not installed: pip install 'refund-recon[{extra}]' "
        f"(in the folder of a clone: pip install '.[{extra}]').\n"
    )


@pytest.mark.parametrize("job", ["tick", "listener", "scheduler"])
def test_what_starts_every_minute_or_stays_loads_no_frames_and_no_migrations(job: str) -> None:
    heavy = ("pandas", "numpy", "pyarrow", "alembic", "streamlit")
    command = f"import sys, jobs.{job}; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert run.stdout == "[]\n"
