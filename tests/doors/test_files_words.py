from pathlib import Path

import pytest

from recon.doors.files import reading
from recon.model.mapping import Column, Map, Side

HEAD = "key,amount_minor,currency,{},created_at\n"
ROW = "{},4900,usd,{},2026-03-06T17:00:00Z\n"


def written(folder: Path, header: str, *words: str) -> Path:
    rows = (ROW.format(f"k{number}", word) for number, word in enumerate(words))
    path = folder / "shop.csv"
    path.write_text(HEAD.format(header) + "".join(rows))
    return path


def told() -> Map:
    return Map(intents=Side({"status": Column(("Stand",))}))


def advice(notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if "words that are none of ours" in note]


def test_words_of_a_status_that_nobody_maps_are_said_as_the_line_of_a_map_that_does(tmp_path: Path) -> None:
    path = written(tmp_path, "Stand", "Erledigt", "Kulanz", "Erledigt", "done")
    intake = reading.read_intents(path, told())

    assert len(intake.rejects) == 3
    (note,) = advice(intake.notes)
    assert note.startswith("shop.csv: 3 rows rejected for a status in words")
    assert 'status = { column = "Stand", words = { "Erledigt" = "done", "Kulanz" = "?" } }' in note
    assert note.endswith("put one of pending, done, pending_unknown, failed, cancelled where ? is.")


@pytest.mark.parametrize(
    "header, words, told_",
    [
        ("Stand", ("done", "pending"), told()),
        ("Stand", ("Erledigt",), Map(intents=Side({"status": Column(missing="done")}))),
        ("status", tuple(f"note {number}" for number in range(31)), None),
    ],
)
def test_nothing_is_said_of_words_where_a_map_would_not_help(
    tmp_path: Path, header: str, words: tuple[str, ...], told_: Map | None
) -> None:
    intake = reading.read_intents(written(tmp_path, header, *words), told_)

    assert advice(intake.notes) == []


def test_the_line_reads_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "status", "Erledigt", "Offen")
    (note,) = advice(reading.read_intents(path).notes)
    line = note.partition("means: ")[2].partition(". Look")[0]
    (tmp_path / "map.toml").write_text(f"[intents]\n{line}\n")

    intake = reading.read_intents(path, reading.read_mapping(tmp_path / "map.toml"))

    assert intake.rejects == ()
    assert intake.frame["status"].tolist() == ["done", "pending"]
