import datetime as dt
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from recon.doors.files import reading as files
from recon.doors.files import samples
from recon.model.errors import UnusableInput
from recon.model.mapping import Column, Filter, Map, Side
from tests.doors.refund_files import FLAT, ids, refused


def test_a_parquet_file_keeps_its_types(tmp_path: Path) -> None:
    path = tmp_path / "refunds.parquet"
    table = pa.table(
        {
            "id": pa.array(["re_1", "re_2", None]),
            "amount_minor": pa.array([1, 2, 3], pa.int32()),
            "currency": pa.array(["usd", "EUR", "usd"]).dictionary_encode(),
            "status": ["succeeded", None, "failed"],
            "created_at": pa.array([1772816401_000_000_000] * 3, pa.timestamp("ns", "Europe/Berlin")),
            "system": [True, None, False],
            "elsewhere": [{"nested": 1}] * 3,
        }
    )
    pq.write_table(table, path, row_group_size=1)

    intake = files.read_refunds(path)

    assert intake.frame[["id", "amount_minor", "currency", "system"]].values.tolist() == [
        ["re_1", 1, "usd", True],
        ["re_2", 2, "eur", False],
    ]
    assert intake.frame["created_at"].tolist() == [pd.Timestamp("2026-03-06T17:00:01Z")] * 2
    assert refused(intake) == [(3, None)]


def test_times_without_a_zone_in_a_parquet_file_reject_their_rows(tmp_path: Path) -> None:
    path = tmp_path / "refunds.parquet"
    naive = pd.DataFrame([FLAT]).assign(created_at=pd.Timestamp("2026-03-06T17:00:01"))
    naive.to_parquet(path)

    assert len(files.read_refunds(path).rejects) == 1


def test_a_parquet_file_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "refunds.parquet"
    pd.DataFrame([FLAT]).to_parquet(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])

    with pytest.raises(UnusableInput, match="Parquet"):
        files.read_refunds(path)


def test_a_damaged_name_in_a_parquet_file_is_a_sentence_for_the_diff_and_for_a_map(tmp_path: Path) -> None:
    path = tmp_path / "refunds.parquet"
    pq.write_table(pa.Table.from_pylist([FLAT]), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"created_at", b"crea\x84ed_at"))

    with pytest.raises(UnusableInput, match="no UTF-8"):
        files.read_refunds(path)
    with pytest.raises(UnusableInput, match="no UTF-8"), samples.excerpt(str(path)):
        pass


@pytest.mark.parametrize(
    "column, said",
    [
        (pa.array([b"a\xff"]).view(pa.string()), "no UTF-8"),
        (pa.array([2**55], pa.timestamp("ms")), "beyond the years"),
        (pa.array([2**30], pa.date32()), "beyond the years"),
    ],
)
def test_a_cell_that_nobody_can_show_refuses_a_map(tmp_path: Path, column: pa.Array, said: str) -> None:
    path = tmp_path / "refunds.parquet"
    pq.write_table(pa.table({"id": column}), path)

    with pytest.raises(UnusableInput, match=said), samples.excerpt(str(path)) as excerpt:
        samples.read(excerpt)


def test_all_formats_give_the_same_frame(tmp_path: Path) -> None:
    rows = [FLAT, FLAT | {"id": "re_2", "status": ""}, FLAT | {"id": "re_3", "amount_minor": "7"}]
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.json").write_text(json.dumps(rows))
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))

    first, *others = (
        files.read_refunds(tmp_path / f"a{suffix}").frame
        for suffix in (".csv", ".parquet", ".json", ".jsonl")
    )

    assert len(first) == 3
    for other in others:
        pd.testing.assert_frame_equal(first, other)


def parquet_of(folder: Path, **columns: pa.Array) -> Path:
    path = folder / "refunds.parquet"
    table = {name: pa.array([value]) for name, value in FLAT.items()} | columns
    pq.write_table(pa.table(table), path)
    return path


@pytest.mark.parametrize(
    "columns",
    [
        {"id": pa.array([" re_1"]), "currency": pa.array(["usd "]), "amount_minor": pa.array([" 4900 "])},
        {"id": pa.array(["re_1"], pa.large_string())},
        {"id": pa.array(["re_1"], pa.string_view())},
        {"id": pa.array([b"re_1"])},
        {
            "status": pa.array(["succeeded "]).dictionary_encode(),
            "id": pa.array(["re_1"]).dictionary_encode(),
        },
        {"payment_intent": pa.array([{"id": "pi_1", "object": "payment_intent"}])},
    ],
)
def test_texts_are_read_however_a_parquet_file_holds_them(
    tmp_path: Path, columns: dict[str, pa.Array]
) -> None:
    plain = files.read_refunds(parquet_of(tmp_path)).frame

    intake = files.read_refunds(parquet_of(tmp_path, **columns))

    assert intake.rejects == ()
    pd.testing.assert_frame_equal(intake.frame, plain)


@pytest.mark.parametrize(
    "columns",
    [
        {"metadata": pa.array([["a"]])},
        {"id": pa.array([b"\xff"])},
        {"reason": pa.array([{"a": 1}])},
        {"status": pa.array([True])},
    ],
)
def test_what_no_column_holds_rejects_its_row(tmp_path: Path, columns: dict[str, pa.Array]) -> None:
    assert len(files.read_refunds(parquet_of(tmp_path, **columns)).rejects) == 1


@pytest.mark.parametrize("column", ["id", "status"])
@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_bytes_that_are_no_utf8_reject_their_row_only(tmp_path: Path, column: str, kind: pa.DataType) -> None:
    path = tmp_path / "refunds.parquet"
    table = pa.Table.from_pylist([FLAT, FLAT | {"id": "re_2"}])
    odd = pa.array([FLAT[column].encode(), b"re_\xff"]).view(kind)
    pq.write_table(table.set_column(table.column_names.index(column), column, odd), path)

    intake = files.read_refunds(path)

    assert intake.frame["id"].tolist() == ["re_1"]
    assert [reject.reason for reject in intake.rejects] == [
        f"{column} must be text; found 'bytes that are no UTF-8'"
    ]


def test_a_column_that_a_parquet_file_has_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "refunds.parquet"
    names = [*FLAT, "id"]
    pq.write_table(pa.table([pa.array([value]) for value in [*FLAT.values(), "re_2"]], names=names), path)

    with pytest.raises(UnusableInput, match="the column 'id' twice"):
        files.read_refunds(path)


def two(folder: Path, **columns: pa.Array) -> Path:
    """Return a file of two refunds that has these columns too."""
    rows = pa.Table.from_pylist([FLAT, FLAT | {"id": "re_2"}])
    held = {name: rows[name] for name in rows.column_names} | columns
    pq.write_table(pa.table(held), folder / "refunds.parquet")
    return folder / "refunds.parquet"


@pytest.mark.parametrize(
    "kind, word, other",
    [
        (pa.date32(), "2026-03-01", dt.date(2026, 3, 2)),
        (pa.float64(), "0.5", 1.5),
        (pa.float64(), "2", 1.5),
        (pa.float64(), "2.0", 1.5),
        (pa.decimal128(9, 2), "2", 1),
        (pa.int64(), "2", 1),
        (pa.bool_(), "true", False),
    ],
)
def test_a_filter_compares_a_cell_as_it_is_written(
    tmp_path: Path, kind: pa.DataType, word: str, other: object
) -> None:
    path = two(tmp_path, kind=pa.array([word, None]).cast(kind).fill_null(pa.scalar(other, kind)))

    found = [
        ids(files.read_refunds(path, Map(refunds=Side(filters=(Filter("kind", (word,), keep),)))))
        for keep in (True, False)
    ]

    assert found == [["re_1"], ["re_2"]]


def test_a_filter_by_a_column_that_is_no_text_in_any_way_is_refused(tmp_path: Path) -> None:
    path = two(tmp_path, kind=pa.array([1, 2], pa.timestamp("us", "UTC")))

    with pytest.raises(UnusableInput, match="it is a column of timestamp"):
        files.read_refunds(path, Map(refunds=Side(filters=(Filter("kind", ("1",)),))))


def test_a_missing_number_leaves_its_place_to_the_next_candidate(tmp_path: Path) -> None:
    path = two(tmp_path, a=pa.array([5, None]), b=pa.array(["x", "y"]))

    frame = files.read_refunds(path, Map(refunds=Side({"payment_intent": Column(("a", "b"))}))).frame

    assert frame["payment_intent"].tolist() == ["5", "y"]


@pytest.mark.parametrize("zone", ["", "UTC", "Europe/Paris"])
@pytest.mark.parametrize(
    "wild",
    [
        pa.array([2**61, 1772816401000000]).cast(pa.timestamp("us")),
        pa.array([-62_200_000_000, 1772816401]).cast(pa.timestamp("s")),
    ],
)
def test_a_time_beyond_any_calendar_rejects_its_row(tmp_path: Path, wild: pa.Array, zone: str) -> None:
    path = two(tmp_path, created_at=wild if zone else pc.assume_timezone(wild, "UTC"))

    intake = files.read_refunds(path, Map(refunds=Side(zone=zone)))

    assert (ids(intake), refused(intake)) == (["re_2"], [(1, "re_1")])
    assert "created_at must be" in intake.rejects[0].reason


def test_metadata_that_is_kept_as_bytes_is_read(tmp_path: Path) -> None:
    path = two(tmp_path, metadata=pa.array([b'{"intent_key": "k1"}', None], pa.binary()))

    assert files.read_refunds(path).frame["intent_key"].tolist()[0] == "k1"
