"""Where a side comes from: files, patterns, standard input; packed, in pieces, several at once."""

import gzip
import io
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from recon.doors.files import reading, sources
from recon.doors.files.formats import FileFormat
from recon.model import lines, values
from recon.model.errors import UnusableInput
from recon.model.mapping import Column, Map, Side
from tests.doors.refund_files import FLAT, HEADER, ROW, ids, refused

Feed = Callable[[bytes], None]


def row(number: int) -> str:
    return f"re_{number}{ROW[4:]}"


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Feed:
    """Return what puts bytes before standard input."""

    def put(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return put


def parquet(*rows: dict[str, str]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), file)
    return file.getvalue()


CONTENTS = {
    FileFormat.CSV: f"{HEADER}\n{ROW}\n".encode(),
    FileFormat.JSON: json.dumps([FLAT], indent=1).encode(),
    FileFormat.JSONL: f"{json.dumps(FLAT)}\n{json.dumps(FLAT)}\n".encode(),
    FileFormat.PARQUET: parquet(FLAT),
}


@pytest.mark.parametrize("format_", CONTENTS)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("said", [False, True])
def test_standard_input_is_read_as_what_it_is(
    feed: Feed, format_: FileFormat, *, packed: bool, said: bool
) -> None:
    feed(gzip.compress(CONTENTS[format_]) if packed else CONTENTS[format_])

    intake = reading.read_refunds("-", format_=format_ if said else None)

    assert ids(intake) == ["re_1"]


def test_rows_of_standard_input_are_named_by_it(feed: Feed) -> None:
    feed(f"{HEADER}\n{ROW}\nragged\n".encode())

    (reject,) = reading.read_refunds("-").rejects

    assert (reject.source, reject.row) == ("stdin", 2)


def test_standard_input_without_anything_is_refused(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(b"")
    with pytest.raises(UnusableInput, match="Standard input is empty"):
        reading.read_refunds("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UnusableInput, match="Standard input cannot be read: it is closed"):
        reading.read_refunds("-")


@pytest.mark.parametrize("format_", CONTENTS)
def test_a_packed_file_is_read_whatever_its_name_says(tmp_path: Path, format_: FileFormat) -> None:
    for name in (f"refunds.{format_}.gz", f"refunds.{format_}"):
        (tmp_path / name).write_bytes(gzip.compress(CONTENTS[format_]))

        assert ids(reading.read_refunds(tmp_path / name)) == ["re_1"]


@pytest.mark.parametrize("format_", CONTENTS)
def test_a_packed_file_that_was_cut_off_is_refused(tmp_path: Path, format_: FileFormat) -> None:
    path = tmp_path / f"refunds.{format_}.gz"
    content = CONTENTS[format_] * 50
    path.write_bytes(gzip.compress(content)[:-20])

    with pytest.raises(UnusableInput, match="is damaged: it cannot be unpacked to its end"):
        reading.read_refunds(path)


def test_several_files_are_one_side_with_rows_counted_in_each(tmp_path: Path) -> None:
    (tmp_path / "2026-01.csv").write_text(f"{HEADER}\n{row(1)}\n,{ROW[5:]}\n")
    (tmp_path / "2026-02.csv").write_text(f"{HEADER}\n{row(1)}\n{row(2)}\nragged\n")
    (tmp_path / "more.jsonl").write_text(json.dumps(FLAT | {"id": "re_1", "status": "failed"}))

    intake = reading.read_refunds([str(tmp_path / "2026-*.csv"), tmp_path / "more.jsonl"])

    assert ids(intake) == ["re_2", "re_1"]
    assert intake.frame["status"].tolist() == ["succeeded", "failed"]
    assert [(reject.source, reject.row) for reject in intake.rejects] == [
        ("2026-01.csv", 2),
        ("2026-02.csv", 3),
    ]
    assert (intake.read, intake.superseded, intake.duplicates) == (6, 1, 1)


def test_files_of_one_name_are_told_apart_and_none_is_read_twice(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "r.csv").write_text(f"{HEADER}\nragged\n")
    pattern = str(tmp_path / "*" / "r.csv")

    intake = reading.read_refunds([pattern, tmp_path / "a" / "r.csv"])

    assert [reject.source for reject in intake.rejects] == [
        str(tmp_path / "a/r.csv"),
        str(tmp_path / "b/r.csv"),
    ]


def test_versions_that_differ_in_two_files_are_rejected_in_both(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"{HEADER}\n{row(1)}\n")
    (tmp_path / "b.csv").write_text(f"{HEADER}\n{row(2)}\n{row(1).replace('4900', '1')}\n")

    intake = reading.read_refunds([tmp_path / "a.csv", tmp_path / "b.csv"])

    assert [(reject.source, reject.row) for reject in intake.rejects] == [("a.csv", 1), ("b.csv", 2)]
    assert intake.rejects[1].reason.endswith("which the provider never changes (line 3)")


def test_a_file_whose_own_name_has_a_patterns_letters_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "r[1].csv").write_text(f"{HEADER}\n{ROW}\n")

    assert ids(reading.read_refunds(tmp_path / "r[1].csv")) == ["re_1"]


@pytest.mark.parametrize(
    "name, said",
    [
        ("*.csv", r"No file fits .*\*\.csv'"),
        ("x.xlsx", r"found '\.xlsx'; save a spreadsheet as CSV"),
        ("x.zip", r"found '\.zip'; unpack it first"),
        ("x.dat.gz", r"found '\.dat'\."),
        ("nowhere.csv", "cannot be read: No such file"),
    ],
)
def test_what_names_nothing_readable_is_refused(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UnusableInput, match=said):
        reading.read_refunds(tmp_path / name)


def test_a_format_may_be_said_where_a_name_does_not(tmp_path: Path) -> None:
    (tmp_path / "refunds.txt").write_text(f"{HEADER}\n{ROW}\n")

    assert ids(reading.read_refunds(tmp_path / "refunds.txt", format_=FileFormat.CSV)) == ["re_1"]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".parquet"])
def test_a_large_file_in_pieces_gives_what_it_gives_at_once(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [FLAT | {"id": f"re_{number}", "amount_minor": str(number % 7)} for number in range(3000)]
    rows += [
        FLAT | {"id": "re_0", "status": "failed", "amount_minor": "0"},
        FLAT | {"amount_minor": "x"},
        rows[5],
    ]
    frame = pd.DataFrame(rows)
    contents = {
        ".csv": frame.to_csv(index=False).encode(),
        ".jsonl": "\n".join(map(json.dumps, rows)).encode(),
        ".parquet": parquet(*rows),
    }
    contents[".csv.gz"] = gzip.compress(contents[".csv"])
    path = tmp_path / f"refunds{suffix}"
    path.write_bytes(contents[suffix])
    whole = reading.read_refunds(path)

    monkeypatch.setattr(sources, "memory", lambda: 4)
    monkeypatch.setattr("recon.model.lines._BLOCK", 8192)
    monkeypatch.setattr("recon.doors.files.tables._ROWS", 700)
    monkeypatch.setattr("recon.doors.files.documents._VALUES", 700)
    parts = counted_parts(monkeypatch)
    pieces = reading.read_refunds(path)

    assert len(parts) > 3
    pd.testing.assert_frame_equal(pieces.frame, whole.frame)
    assert (pieces.rejects, pieces.superseded, pieces.duplicates) == (whole.rejects, 1, 1)
    assert refused(pieces) == [(3002, "re_1")]


def counted_parts(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that gets every part of the side that is read from now on."""
    found: list[object] = []
    real = vars(reading)["_part"]

    def part(*arguments: object) -> object:
        found.append(real(*arguments))
        return found[-1]

    monkeypatch.setattr(reading, "_part", part)
    return found


def test_a_ragged_line_late_in_a_large_file_has_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "refunds.csv"
    good = [row(number) for number in range(2000)]
    path.write_text("\n".join([HEADER, *good, "ragged", *(row(9000 + number) for number in range(5))]))
    monkeypatch.setattr(sources, "memory", lambda: 4)
    monkeypatch.setattr(lines, "_BLOCK", 8192)
    monkeypatch.setattr(lines, "_ROWS", 2)

    intake = reading.read_refunds(path)

    assert len(intake.frame) == 2005
    assert [(reject.row, reject.reason) for reject in intake.rejects] == [
        (2001, "expected 6 cells as in the header, found 1 (line 2002)")
    ]


def test_no_row_of_a_large_file_is_both_judged_and_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "refunds.csv"
    odd = row(0).replace("pi_1", '"pi"_1')
    path.write_text("\n".join([HEADER, odd, *(row(number) for number in range(1, 1999)), "ragged"]))
    whole = reading.read_refunds(path)
    monkeypatch.setattr(sources, "memory", lambda: 4)
    monkeypatch.setattr(lines, "_BLOCK", 8192)
    pieces = reading.read_refunds(path)

    pd.testing.assert_frame_equal(pieces.frame, whole.frame)
    assert (pieces.rejects, pieces.read) == (whole.rejects, 2000)
    assert [reject.row for reject in pieces.rejects] == [1, 2000]


@pytest.mark.parametrize("format_", [FileFormat.CSV, None])
def test_a_pipe_is_read_once_and_whole(tmp_path: Path, format_: FileFormat | None) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = "\n".join([HEADER, *map(row, range(2000))])
    writer = threading.Thread(target=pipe.write_text, args=(content,), daemon=True)
    writer.start()

    intake = reading.read_refunds(pipe, format_=format_)
    writer.join(timeout=10)

    assert ids(intake) == [f"re_{number}" for number in range(2000)]


def test_a_file_called_stdin_beside_standard_input_has_rejects_of_its_own(tmp_path: Path, feed: Feed) -> None:
    path = tmp_path / "stdin"
    path.write_text(f"{HEADER}\n{ROW.replace('4900', 'x')}\n")
    feed(f"{HEADER}\n{row(2)}\n{ROW.replace('4900', 'y')}\n".encode())

    intake = reading.read_refunds(["-", path], format_=FileFormat.CSV)

    assert refused(intake) == [(1, "re_1"), (2, "re_1")]
    assert {reject.source for reject in intake.rejects} == {str(path), "standard input"}


def test_a_pattern_longer_than_any_name_fits_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnusableInput, match="No file fits"):
        reading.read_refunds(tmp_path / f"{'x' * 300}*.csv")


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl", ".parquet"])
def test_a_zero_byte_in_a_cell_rejects_its_row_in_every_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"refunds{suffix}"
    bad = FLAT | {"id": "re_2", "payment_intent": "pi\0"}
    rows = [FLAT, bad]
    table = "\n".join([HEADER, *(",".join(each.values()) for each in rows)])
    contents = {
        ".csv": table.encode(),
        ".json": json.dumps(rows).encode(),
        ".jsonl": "\n".join(map(json.dumps, rows)).encode(),
        ".parquet": parquet(*rows),
    }
    path.write_bytes(contents[suffix])

    intake = reading.read_refunds(path)

    assert (ids(intake), [reject.row for reject in intake.rejects]) == (["re_1"], [2])


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl"])
def test_two_byte_order_marks_are_no_part_of_a_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"refunds{suffix}"
    path.write_text(
        "\ufeff\ufeff" + (f"{HEADER}\n{ROW}" if suffix == ".csv" else json.dumps(FLAT)), encoding="utf-8"
    )

    assert ids(reading.read_refunds(path)) == ["re_1"]


def test_a_header_of_any_length_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "refunds.csv"
    more = [f"{'x' * 80}{number}" for number in range(2000)]
    path.write_text(f"{','.join([*more, HEADER])}\n{',' * 2000}{ROW}\n")

    assert ids(reading.read_refunds(path)) == ["re_1"]


def test_standard_input_is_lines_of_json_however_long_the_first_is(feed: Feed) -> None:
    first = FLAT | {"reason": "x" * 100_000}
    feed("\n".join(map(json.dumps, [first, FLAT | {"id": "re_2"}])).encode())

    assert ids(reading.read_refunds("-")) == ["re_1", "re_2"]


def test_a_place_of_more_digits_than_any_list_has_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "refunds.json"
    path.write_text(json.dumps([FLAT | {"metadata": {"order": ["k1"]}}]))
    far = Column((f"metadata.order[{'9' * 5000}]", "metadata.order[0]"))

    assert reading.read_refunds(path, Map(refunds=Side({"intent_key": far}))).frame["intent_key"][0] == "k1"


def no_memory(*_: object, **__: object) -> object:
    raise pa.ArrowMemoryError("no room")


@pytest.mark.parametrize(
    "suffix, broken",
    [(".json", (values, "parsed")), (".parquet", (pq.ParquetFile, "read")), (".csv", (pa.csv, "read_csv"))],
)
def test_a_file_for_which_there_is_no_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, broken: tuple[object, str]
) -> None:
    path = tmp_path / f"refunds{suffix}"
    content = {".json": json.dumps(FLAT).encode(), ".parquet": parquet(FLAT)}
    path.write_bytes(content.get(suffix, f"{HEADER}\n{ROW}".encode()))
    monkeypatch.setattr(*broken, no_memory)

    with pytest.raises(UnusableInput, match="more memory than there is"):
        reading.read_refunds(path)


def test_a_packed_document_is_unpacked_only_as_far_as_memory_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "refunds.json.gz"
    path.write_bytes(gzip.compress(b" " * 1000 + json.dumps(FLAT).encode()))
    monkeypatch.setattr(sources, "memory", lambda: 2000)

    with pytest.raises(UnusableInput, match="more memory than there is"):
        reading.read_refunds(path)
