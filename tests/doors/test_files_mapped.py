"""What a map says of files: columns, paths, units, words, filters, times; and wrong rows named."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recon.doors.files import reading
from recon.model.errors import UnusableInput
from recon.model.frames import Intake
from recon.model.mapping import Filter, Map, Side
from tests.doors.refund_files import FLAT, HEADER, OBJECT, ROW, ids, refunds_of

SHOP = """
[intents]
key = ["number", "info.number"]
amount = { sum = ["net", "tax"], decimal = ",", sign = "negative" }
currency = { constant = "eur" }
refund_id = "info.refund[0].id"
reference = "meta[key=_line].value"
order_id = "info[order.no]"
status = { column = "state", case = "lower", words = { paid = "done", queued = "pending" } }
created_at = { column = "made", format = "%d.%m.%Y %H:%M", zone = "Europe/Berlin" }
empty = ["NULL"]
where = [{ column = "type", is = ["refund", ""] }, { column = "test", is_not = "true" }]
"""
ROWS: list[dict[str, object]] = [
    {
        "number": "n1",
        "net": "-10,00",
        "tax": "-1,90",
        "state": "PAID",
        "made": "06.03.2026 18:00",
        "type": "refund",
        "test": False,
        "info": {"refund": [{"id": "re_1"}], "order.no": 8812},
        "meta": [{"key": "_x", "value": 1}, {"key": "_line", "value": "l1"}],
    },
    {
        "number": "NULL",
        "net": "-5,00",
        "tax": "NULL",
        "state": "queued",
        "made": "06.07.2026 18:00",
        "type": None,
        "info": {"number": "n2"},
    },
    {"number": "n3", "type": "sale", "made": "not read"},
    {"number": "n4", "type": "refund", "test": True, "made": "not read"},
]


def read(folder: Path, suffix: str, map_: str = SHOP) -> Intake:
    """Return the rows above out of a file of a format."""
    path, told = folder / f"shop{suffix}", folder / "map.toml"
    told.write_text(map_)
    if suffix == ".json":
        path.write_text(json.dumps(ROWS))
    elif suffix == ".parquet":
        flat = [
            {name: json.dumps(cell) if isinstance(cell, dict | list) else cell for name, cell in row.items()}
            for row in ROWS
        ]
        pq.write_table(pa.Table.from_pylist(flat, schema=pa.Table.from_pylist(flat[:1]).schema), path)
    else:
        flat = [
            {
                name: json.dumps(cell) if isinstance(cell, dict | list | bool) else cell
                for name, cell in row.items()
            }
            for row in ROWS
        ]
        pd.DataFrame(flat).to_csv(path, index=False, sep=";")
    return reading.read_intents(path, reading.read_mapping(told))


@pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet"])
def test_a_map_reads_a_shops_rows_out_of_any_format(tmp_path: Path, suffix: str) -> None:
    intake = read(tmp_path, suffix)

    columns = ["key", "amount_minor", "currency", "status", "refund_id", "reference", "order_id"]
    assert intake.frame[columns].astype(object).fillna("").values.tolist() == [
        ["n1", 1190, "eur", "done", "re_1", "l1", "8812"],
        ["n2", 500, "eur", "pending", "", "", ""],
    ]
    assert intake.frame["created_at"].tolist() == [
        pd.Timestamp("2026-03-06T17:00:00Z"),
        pd.Timestamp("2026-07-06T16:00:00Z"),
    ]
    assert (intake.rejects, intake.left_out, intake.read) == ((), 2, 4)


@pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet"])
def test_words_that_a_map_does_not_know_stop_the_reading_with_their_counts(
    tmp_path: Path, suffix: str
) -> None:
    with pytest.raises(UnusableInput) as caught:
        read(tmp_path, suffix, SHOP.replace("paid = ", "payed = ").replace("queued = ", "waits = "))

    assert str(caught.value) == (
        f"shop{suffix} has words in 'state' that the map's status.words does not know: 'paid' (1),"
        " 'queued' (1). Add each with the word of ours that it means."
    )


@pytest.mark.parametrize("suffix, noun", [(".json", "field"), (".csv", "column"), (".parquet", "column")])
@pytest.mark.parametrize("named", ["net", "type", "made"])
def test_a_column_that_a_map_names_must_be_there(tmp_path: Path, suffix: str, noun: str, named: str) -> None:
    with pytest.raises(UnusableInput, match=f"has no {noun} 'nett', which the column map names"):
        read(tmp_path, suffix, SHOP.replace(f'"{named}"', '"nett"'))


def test_the_metadata_of_a_tools_table_is_read_by_path(tmp_path: Path) -> None:
    path, told = tmp_path / "r.csv", tmp_path / "map.toml"
    told.write_text('[refunds]\nintent_key = "metadata.external_id"\n')
    path.write_text(
        "id,_fivetran_synced,amount,charge_id,created,currency,metadata,status\r\n"
        're_1,x,100,ch_1,2026-03-06 17:00:01,usd,"{""external_id"":""k-1""}",succeeded'
    )

    intake = reading.read_refunds(path, reading.read_mapping(told))

    assert intake.frame[["intent_key", "amount_minor", "charge"]].values.tolist() == [["k-1", 100, "ch_1"]]


def test_another_providers_table_is_read_by_a_map_alone(tmp_path: Path) -> None:
    path, told = tmp_path / "r.csv", tmp_path / "map.toml"
    told.write_text(
        '[refunds]\nid = "refund_id"\namount = "refund_amount"\ncurrency = { constant = "inr" }\n'
        'created_at = "refunded"\nzone = "Asia/Kolkata"\n'
        'status = { column = "s", words = { Success = "succeeded", Initiated = "pending" } }\n'
    )
    path.write_text(
        "refund_id,refunded,refund_amount,s\nREF1,2026-04-13 19:51:07,6998.38,Success\n"
        "REF2,2026-04-13 19:51:07,10.5,Initiated\n"
    )

    intake = reading.read_refunds(path, reading.read_mapping(told))

    assert intake.frame[["id", "amount_minor", "status"]].values.tolist() == [
        ["REF1", 699838, "succeeded"],
        ["REF2", 1050, "pending"],
    ]
    assert intake.frame["created_at"].iloc[0] == pd.Timestamp("2026-04-13T14:21:07Z")


def test_a_report_of_the_balance_is_read_as_its_refusal_says(tmp_path: Path) -> None:
    path, told = tmp_path / "b.csv", tmp_path / "map.toml"
    told.write_text(
        '[refunds]\nwhere = [{ column = "reporting_category", is = "refund" }]\nid = "source_id"\n'
        'amount = { column = "gross", sign = "negative" }\ncreated_at = "created"\nzone = "UTC"\n'
    )
    path.write_text(
        "balance_transaction_id,created,gross,net,currency,reporting_category,source_id\n"
        "txn_1,2026-03-06 17:00:01,-49.00,-49.00,usd,refund,re_1\n"
        "txn_2,2026-03-06 17:00:01,49.00,47.00,usd,charge,ch_1\n"
    )

    intake = reading.read_refunds(path, reading.read_mapping(told))

    assert intake.frame[["id", "amount_minor"]].values.tolist() == [["re_1", 4900]]
    assert intake.left_out == 1


def test_what_is_wrong_is_named_with_its_line_and_column(tmp_path: Path) -> None:
    path, told = tmp_path / "r.csv", tmp_path / "map.toml"
    told.write_text('[refunds]\namount = "Value"\ncreated_at = "Made at"\n')
    made = "2026-03-06T17:00:01Z"
    path.write_text(
        "id,Value,currency,status,Made at,note\n"
        f're_1,49.00,usd,succeeded,{made},"two\nlines"\n'
        "\n"
        f're_2,"1,234.50",usd,succeeded,{made},\n'
        f"re_3,-49.00,usd,succeeded,{made},\n"
        "re_4,49.00,usd,succeeded,1772816401000,\n"
        f"49.00,re_5,usd,succeeded,{made},\n"
        "id,Value,currency,status,Made at,note\n"
        f"re_6,49.00,usd,succeeded,{made}\n"
    )

    intake = reading.read_refunds(path, reading.read_mapping(told))

    assert ids(intake) == ["re_1"]
    amount, at = "amount (column 'Value') must be", "created_at (column 'Made at') must be"
    decimal = f"{amount} a decimal number of major units; found"
    slipped = "which looks like an amount: a cell may have slipped into another column"
    few = "0 or more, with no more decimals than its currency has"
    iso = "an ISO 8601 time with its zone, or Unix seconds"
    milliseconds = "found '1772816401000', which looks like milliseconds since 1970"
    assert [(reject.row, reject.reason) for reject in intake.rejects] == [
        (2, f"{decimal} a number with separators (line 5)"),
        (3, f"{amount} {few}; found a negative number (line 6)"),
        (4, f"{at} {iso}; {milliseconds} (line 7)"),
        (5, f"id must be an id; found '49.00', {slipped}; {decimal} a text that is no plain number (line 8)"),
        (6, "expected a row, found a second header (line 9)"),
        (7, "expected 6 cells as in the header, found 5 (line 10)"),
    ]
    says = "if that is meant so, a map for --columns says it by"
    either = 'sign = "negative" where all are, sign = "either" where some are'
    assert intake.notes == (
        f"r.csv: 1 row rejected for a number with separators, row 2 (line 5); {says} decimal and thousands.",
        f"r.csv: 1 row rejected for a negative number, row 3 (line 6); {says} {either}.",
        f'r.csv: 1 row rejected for milliseconds since 1970, row 4 (line 7); {says} format = "unix_ms".',
    )


def test_ids_that_are_all_decimal_numbers_are_ids(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f"{HEADER}\n8812.01{ROW[4:]}\n8812.02{ROW[4:]}\n")

    assert ids(intake) == ["8812.01", "8812.02"]


def test_a_line_of_json_is_named_where_several_rows_stand_on_one(tmp_path: Path) -> None:
    page = {"object": "list", "has_more": False, "data": [OBJECT, OBJECT | {"id": "re_2"}]}
    late = OBJECT | {"id": "re_3", "created": None}

    intake = refunds_of(tmp_path, f"{json.dumps(page)}\n\n{json.dumps(late)}\n{{cut\n", ".jsonl")

    assert [(reject.row, reject.reason) for reject in intake.rejects] == [
        (3, "created_at is missing (line 3)"),
        (4, "expected a line of JSON, found one that cannot be read (line 4)"),
    ]


@pytest.mark.parametrize(
    "word, said",
    [
        ("usd", ()),
        ("eur", ("refunds.csv: 2 of 3 rows left out by the map's filters.",)),
        (
            "jpy",
            ("refunds.csv: all rows (3) left out by the map's filters: check that `where` is meant so.",),
        ),
    ],
)
def test_what_a_filter_keeps_out_is_told_and_doubted_where_nothing_is_left(
    tmp_path: Path, word: str, said: tuple[str, ...]
) -> None:
    told = f'[refunds]\nwhere = [{{ column = "kind", is = ["{word}", "all"] }}]\n'
    kinds = ("eur", "usd", "usd") if word != "usd" else ("usd", "usd", "all")
    lines = [f"{HEADER},kind", *(f"re_{number}{ROW[4:]},{kind}" for number, kind in enumerate(kinds))]
    (tmp_path / "refunds.csv").write_text("\n".join(lines))
    (tmp_path / "map.toml").write_text(told)

    intake = reading.read_refunds(tmp_path / "refunds.csv", reading.read_mapping(tmp_path / "map.toml"))

    assert intake.notes == said
    assert (intake.read, len(intake.frame) + intake.left_out) == (3, 3)
    assert (intake.incomplete is None) is (word != "jpy")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_side_of_which_a_filter_keeps_nothing_was_not_read(tmp_path: Path, suffix: str) -> None:
    kinds = {"a": ("sale", "sale"), "b": ("sale", "refund")}
    for name, rows in kinds.items():
        table = pd.DataFrame(
            [{**FLAT, "id": f"re_{name}{place}", "kind": kind} for place, kind in enumerate(rows)]
        )
        write = {".csv": table.to_csv(index=False), ".jsonl": table.to_json(orient="records", lines=True)}
        (tmp_path / f"{name}{suffix}").write_text(write[suffix])
    told = Map(refunds=Side(filters=(Filter("kind", ("refund",)),)))

    one, both = (reading.read_refunds(str(tmp_path / f"{name}{suffix}"), told) for name in "a*")

    assert one.incomplete == (
        "the map's filters by 'kind' keep none of the 2 rows of refunds, so nothing of this side was compared"
    )
    assert (both.incomplete, len(both.frame)) == (None, 1)
