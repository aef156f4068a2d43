from recon.cli import status
from tests.cli.test_status import FOUND


def test_on_a_screen_lines_stay_in_their_column() -> None:
    lines = status.as_text(FOUND, width=72).splitlines()

    assert max(map(len, lines)) <= 72
    assert [line for line in lines if line.startswith("last run")] == [
        "last run           r2, as of 2026-03-06 12:00 UTC, incomplete; it took 3"
    ]
    assert "\n".join(lines).split() == status.as_text(FOUND).split()
    assert all(line.startswith(" " * 19) for line in lines if line.startswith(" "))
