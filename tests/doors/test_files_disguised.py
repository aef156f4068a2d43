import json
from pathlib import Path

import pandas as pd
import pytest

from recon.doors.files import reading
from tests.doors.refund_files import FLAT, HEADER, OBJECT, ROW, ids, mapped, refunds_of

ANOTHER = "an id that only looks the same is another one."
HIDDEN = f"U+200B (zero width space) in 're_1<U+200B>'; {ANOTHER}"
ROWS = [FLAT, {**FLAT, "id": "re_1\u200b"}]
INTENT = {
    "key": "k1",
    "payment": "pi_1",
    "amount_minor": 4900,
    "currency": "usd",
    "status": "done",
    "refund_id": "re_1\u200b",
    "created_at": "2026-03-06T17:00:00Z",
}


def written(folder: Path, suffix: str, rows: list[dict[str, str]]) -> Path:
    path = folder / f"refunds{suffix}"
    if suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    elif suffix == ".csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        path.write_text("\n".join(map(json.dumps, rows)) if suffix == ".jsonl" else json.dumps(rows))
    return path


@pytest.mark.parametrize(
    "suffix, line", [(".csv", " (line 3)"), (".jsonl", " (line 2)"), (".json", ""), (".parquet", "")]
)
def test_an_id_that_hides_something_stays_and_is_said_with_its_place(
    tmp_path: Path, suffix: str, line: str
) -> None:
    intake = reading.read_refunds(written(tmp_path, suffix, ROWS))

    assert ids(intake) == ["re_1", "re_1\u200b"]
    said = f"refunds{suffix}: 1 id holds characters that nobody sees: id of row 2{line}, {HIDDEN}"
    assert intake.notes == (said,)


def test_an_intents_refund_that_hides_something_is_said(tmp_path: Path) -> None:
    (tmp_path / "intents.json").write_text(json.dumps([INTENT]))

    (said,) = reading.read_intents(tmp_path / "intents.json").notes

    assert said == (f"intents.json: 1 id holds characters that nobody sees: refund_id of row 1, {HIDDEN}")


def test_the_key_in_an_object_of_the_providers_is_looked_at(tmp_path: Path) -> None:
    page = [OBJECT | {"metadata": {"intent_key": "k\u0430"}}, OBJECT | {"id": "re_2"}]

    (said,) = refunds_of(tmp_path, json.dumps(page), ".json").notes

    assert said.startswith(
        "refunds.json: 1 id holds characters that look like others: intent_key of row 1, U+0430"
    )


def test_a_column_of_another_name_is_said_by_both(tmp_path: Path) -> None:
    (tmp_path / "refunds.csv").write_text(f"nr{HEADER[2:]}\nre\u20111{ROW[4:]}\n")

    (said,) = reading.read_refunds(tmp_path / "refunds.csv", mapped(id="nr")).notes

    assert "look like others: id (column 'nr') of row 1 (line 2), U+2011" in said


@pytest.mark.parametrize("before", ["", "ragged\n"])
def test_an_id_of_several_lines_is_always_said(tmp_path: Path, before: str) -> None:
    rows = f'{ROW},"k1\nand more"\nre_2{ROW[4:]},k2\n'

    intake = refunds_of(tmp_path, f"{HEADER},intent_key\n{before}{rows}")

    assert ids(intake) == ["re_1", "re_2"]
    row = 2 if before else 1
    (said,) = intake.notes
    assert said == (
        f"refunds.csv: 1 id holds a line break: intent_key of row {row} (line {row + 1}), U+000A in"
        " 'k1<U+000A>and more'; a quote out of place may have drawn other rows into it."
    )


def test_each_sort_in_each_file_is_one_sentence(tmp_path: Path) -> None:
    for name in "ab":
        odd = ("re_\u200b1", "re_\u200b2", "re_\u0430", "plain")
        rows = [{**FLAT, "id": f"{each}{name}", "reason": "\u200b"} for each in odd]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))

    notes = reading.read_refunds(str(tmp_path / "*.json")).notes

    assert [note.partition(": the")[0].partition(": id of")[0] for note in notes] == [
        "a.json: 2 ids hold characters that nobody sees",
        "a.json: 1 id holds characters that look like others",
        "b.json: 2 ids hold characters that nobody sees",
        "b.json: 1 id holds characters that look like others",
    ]
