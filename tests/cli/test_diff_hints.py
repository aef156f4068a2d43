import json

import pytest

from tests.cli.test_diff import INTENT, LATER, REFUND, Recon, diff, recon, write

__all__ = ["diff", "recon"]  # Fixtures.

EARLIER = {**REFUND, "intent_key": None, "created_at": "2026-03-06T15:00:00Z"}
TIMES = (
    "1 of 1 missing intent has an orphan refund of the same payment and amount, 2 h 0 min apart (the refund"
    " is earlier): is the zone of one file right?"
)


@pytest.mark.parametrize("format_", ["table", "json", "csv", "html"])
def test_a_hint_is_said_first_whatever_is_written(diff: Recon, format_: str) -> None:
    write([INTENT], [EARLIER])

    run = diff("--format", format_, *LATER)

    assert (run.returncode, run.stderr) == (1, f"recon: {TIMES}\n")
    assert (TIMES in run.stdout) is (format_ == "html")
    if format_ == "json":
        assert not {"hint", "hints"} & set(json.loads(run.stdout))


def test_a_side_that_nobody_can_read_is_exit_3_and_names_the_command_that_maps_it(diff: Recon) -> None:
    write([{**INTENT, "status": "gelukt"}], [REFUND])

    run = diff(*LATER)

    assert run.returncode == 3
    assert run.stderr == (
        "recon: The only row of intents.json could not be judged, so nothing was compared:"
        " recon map intents.json proposes a map.\n"
    )
