import runpy
import sys

import pytest

from jobs import shift

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
