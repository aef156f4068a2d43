import sys
from datetime import timedelta

import pytest

from jobs import shift


@pytest.mark.parametrize("arguments, seconds", [([], 0), (["--wait", "0"], 0), (["--wait", "86400"], 86400)])
def test_a_job_waits_as_long_as_it_is_told(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], seconds: int
) -> None:
    monkeypatch.setattr(sys, "argv", ["hourly", *arguments])

    assert shift.takes_wait("hourly", None) == timedelta(seconds=seconds)


@pytest.mark.parametrize("arguments", [["--wait", "-1"], ["--wait", "86401"], ["--wait", "soon"], ["now"]])
def test_any_other_argument_ends_the_job_before_it_begins(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["hourly", *arguments])
    with pytest.raises(SystemExit) as ended:
        shift.takes_wait("hourly", None)

    assert ended.value.code == 2
