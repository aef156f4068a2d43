from pathlib import Path

import pytest

from recon.doors.files import reading
from recon.model.mapping import Map
from tests import spoiled


@pytest.mark.parametrize("suffix", sorted(spoiled.contents()))
@pytest.mark.parametrize("told", spoiled.MAPS)
def test_a_good_file_gives_every_row_or_says_where_it_is(tmp_path: Path, suffix: str, told: Map) -> None:
    path = tmp_path / f"refunds{suffix}"
    path.write_bytes(spoiled.contents()[suffix])

    intake = reading.read_refunds(path, told)

    rows, standing = {".json": (8, 8), ".jsonl": (9, 8)}.get(suffix, (5, 5))
    assert (intake.read, len(intake.frame), intake.rejects) == (rows, standing, ())
    assert spoiled.adds_up(intake)


def test_a_spoiled_file_is_refused_or_adds_up(tmp_path: Path) -> None:
    found = [spoiled.attempt(tmp_path, seed) for seed in range(150)]

    assert any(intake is None for intake in found)
    assert any(intake is not None and intake.rejects for intake in found)
    assert all(intake is None or spoiled.adds_up(intake) for intake in found)
