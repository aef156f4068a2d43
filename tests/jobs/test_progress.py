import pytest

from jobs import hourly
from recon.cli import progress
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
