"""The first rows of a file, of whatever sort, and the shipped maps."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from recon.doors import config
from recon.doors.files import maps, reading, samples
from recon.model.errors import ConfigurationError, UnusableInput
from recon.model.samples import Sample
from tests.doors.refund_files import OBJECT

FOLDER = config.shipped("maps")


def looked(path: Path) -> Sample:
    with samples.excerpt(str(path)) as beginning:
        return samples.read(beginning)


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path: Path) -> str:
    with pytest.raises(UnusableInput) as caught:
        looked(path)
    return str(caught.value)


CSV = 'id,info\r\n7,"{""refund"": {""id"": ""re_1""}}"\r\n\r\n8,\r\n'
ROWS = [{"id": "7", "info": {"refund": {"id": "re_1"}}}, {"id": "8", "info": None}]


@pytest.mark.parametrize(
    "name, content",
    [
        ("shop.csv", CSV),
        ("shop.csv", f"\ufeff{CSV}"),
        ("shop.tsv", CSV.replace(",", "\t")),
        ("shop.csv", CSV.replace(",", ";")),
        ("shop.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("shop.json", json.dumps(ROWS)),
        ("shop.json", json.dumps({"refunds": ROWS})),
        ("shop.json", json.dumps({"data": ROWS, "has_more": False})),
        ("shop.jsonl", "\n".join(map(json.dumps, ROWS)) + "\nno json\n"),
    ],
)
def test_rows_are_found_in_every_format_with_what_stands_inside_their_cells(
    tmp_path: Path, name: str, content: str | bytes
) -> None:
    sample = looked(written(tmp_path, name, content))

    assert (sample.headers, sample.rows, sample.whole, sample.objects) == (("id", "info"), 2, True, False)
    assert sample.columns["id"] == ["7", "8"]
    assert sample.columns["info.refund.id"] == ["re_1", None]


def test_a_parquet_table_is_looked_at_with_its_numbers_exact(tmp_path: Path) -> None:
    path = tmp_path / "shop.parquet"
    pd.DataFrame({"id": ["7", "8"], "cents": [4900, 500], "info": [{"pi": "pi_1"}, None]}).to_parquet(path)
    sample = looked(path)

    assert sample.columns["cents"] == [4900, 500]
    assert sample.columns["info.pi"] == ["pi_1", None]


def test_fields_are_named_as_a_map_names_them(tmp_path: Path) -> None:
    meta = [{"id": 1, "key": "_refund.id", "value": "re_1"}, {"key": "x", "value": {"y": 2}}]
    row = {"meta_data": meta, "a.b": "plain", "metadata": {"stripe.refund": "re_1"}, "lines": [1, 2]}
    sample = looked(written(tmp_path, "shop.json", json.dumps([row])))

    assert sample.columns == {
        "meta_data[key=_refund.id].value": ["re_1"],
        "meta_data[key=x].value.y": [2],
        "a.b": ["plain"],
        "metadata[stripe.refund]": ["re_1"],
    }


def test_the_provider_s_objects_are_opened_out_of_pages_events_and_raw_tables(tmp_path: Path) -> None:
    event = {"id": "evt_1", "object": "event", "type": "refund.created", "data": {"object": OBJECT}}
    raw = "_airbyte_raw_id,_airbyte_data\nx," + '"' + json.dumps(OBJECT).replace('"', '""') + '"\n'
    files = {
        "page.json": json.dumps({"object": "list", "data": [OBJECT], "has_more": False}),
        "event.json": json.dumps(event),
        "raw.csv": raw,
    }

    for name, content in files.items():
        sample = looked(written(tmp_path, name, content))
        assert (name, sample.objects, sample.columns["id"]) == (name, True, ["re_1"])
        assert sample.columns["metadata.intent_key"] == ["k1"]


def test_only_the_beginning_of_a_large_table_is_looked_at_up_to_the_end_of_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "ROWS", 3)  # In the middle of the second row.
    rows = "".join(f'{number},"two\nlines"\n' for number in range(20))
    path = written(tmp_path, "large.csv", f"id,note\n{rows}")
    with samples.excerpt(str(path)) as beginning:
        sample = samples.read(beginning)
        intake = reading.read_refunds(beginning.path, format_=beginning.format)

    assert (beginning.whole, sample.whole, sample.columns["id"]) == (False, False, ["0", "1"])
    assert sample.columns["note"] == ["two\nlines", "two\nlines"]
    assert all("cannot be read" not in reject.reason for reject in intake.rejects)
    assert not beginning.path.exists()


def test_a_header_alone_is_a_sample_without_rows(tmp_path: Path) -> None:
    sample = looked(written(tmp_path, "shop.csv", "id,total\n"))

    assert (sample.headers, sample.rows) == (("id", "total"), 0)


@pytest.mark.parametrize(
    "name, content, why",
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "a\0b\n1\n", "must be a CSV"),
        ("a.json", "{", "must be a JSON file"),
        ("a.json", "[]", "holds no rows to map"),
        ("a.parquet", "PAR1", "must be a Parquet file"),
        ("a.json", '{"count": 1, "results": [{"id": 1}]}', "jq '.results'"),
        ("a.json", '{"object": "payout", "id": "po_1", "amount": 1}', "export refunds"),
    ],
)
def test_what_holds_no_rows_is_refused_with_what_to_do(
    tmp_path: Path, name: str, content: str, why: str
) -> None:
    assert why in refused(written(tmp_path, name, content))


def test_a_side_is_added_behind_what_a_map_says_and_never_written_over(tmp_path: Path) -> None:
    path = written(tmp_path, "map.toml", '[intents]\nkey = "k"  # mine\n\n')

    assert maps.joined(tmp_path / "new.toml", "refunds", "[refunds]\n") == "[refunds]\n"
    assert maps.joined(path, "refunds", "[refunds]\n") == '[intents]\nkey = "k"  # mine\n\n[refunds]\n'
    with pytest.raises(UnusableInput, match=r"has \[intents\] already"):
        maps.joined(path, "intents", "[intents]\n")
    with pytest.raises(UnusableInput, match="must be a TOML file"):
        maps.joined(written(tmp_path, "report.csv", "a,b\n"), "intents", "[intents]\n")
    with pytest.raises(UnusableInput, match="cannot be read as a map"):
        maps.joined(tmp_path, "intents", "[intents]\n")


def test_a_preset_that_nobody_ships_is_refused_with_those_that_are() -> None:
    with pytest.raises(ConfigurationError, match=r"lago, medusa.*found 'shopify'"):
        maps.named(FOLDER, "shopify")


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl"])
def test_a_file_that_was_put_together_has_its_marks_left_out(tmp_path: Path, suffix: str) -> None:
    row = {"number": "n1", "total": "49.00"}
    contents = {".csv": "number,total\nn1,49.00\n", ".json": json.dumps([row]), ".jsonl": json.dumps(row)}

    sample = looked(written(tmp_path, f"shop{suffix}", f"\ufeff\ufeff{contents[suffix]}"))

    assert dict(sample.columns) == {"number": ["n1"], "total": ["49.00"]}
