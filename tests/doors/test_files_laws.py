from dataclasses import replace
from pathlib import Path

import pytest

from recon.doors.files import documents, reading, sources, tables
from recon.doors.files.pieces import Piece
from recon.doors.files.sources import Source
from recon.model import lines
from recon.model.mapping import Map
from recon.model.sheets import Part
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


@pytest.mark.parametrize("in_pieces", [False, True])
def test_a_spoiled_file_is_refused_or_adds_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, in_pieces: bool
) -> None:
    if in_pieces:
        monkeypatch.setattr(sources, "memory", lambda: 4)
        monkeypatch.setattr(lines, "_BLOCK", 512)
        monkeypatch.setattr(lines, "_ROWS", 2)
        monkeypatch.setattr(tables, "_ROWS", 2)
        monkeypatch.setattr(documents, "_VALUES", 2)
    found = [spoiled.attempt(tmp_path, seed) for seed in range(60)]

    assert any(intake is None for intake in found)
    assert any(intake is not None and intake.rejects for intake in found)
    assert all(intake is None or spoiled.adds_up(intake) for intake in found)


def test_a_row_that_is_lost_on_the_way_no_longer_adds_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = vars(reading)["_part"]

    def losing(piece: Piece, source: Source, side: str) -> Part:
        lost: Part = real(replace(piece, raw=piece.raw.iloc[1:]), source, side)
        return lost

    monkeypatch.setattr(reading, "_part", losing)
    path = tmp_path / "refunds.csv"
    path.write_bytes(spoiled.contents()[".csv"])

    assert not spoiled.adds_up(reading.read_refunds(path))
