import json
import stat
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recon.doors import files
from recon.model.errors import UnusableInput
from recon.model.frames import Intake

HEADER = "id,payment_intent,amount_minor,currency,status,created_at"
ROW = "re_1,pi_1,4900,usd,succeeded,2026-03-06T17:00:01Z"
FLAT = dict(zip(HEADER.split(","), ROW.split(","), strict=True))
OBJECT: dict[str, Any] = {
    "id": "re_1",
    "object": "refund",
    "amount": 4900,
    "balance_transaction": None,
    "charge": "ch_1",
    "created": 1772816401,
    "currency": "usd",
    "metadata": {"intent_key": "k1"},
    "payment_intent": "pi_1",
    "reason": None,
    "status": "succeeded",
}


def refunds_of(folder: Path, content: str | bytes, suffix: str = ".csv") -> Intake:
    path = folder / f"refunds{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return files.read_refunds(path)


def ids(intake: Intake) -> list[str]:
    return intake.frame["id"].tolist()


def refused(intake: Intake) -> list[tuple[int, str | None]]:
    return [(reject.row, reject.id) for reject in intake.rejects]


def unusable(folder: Path, content: str | bytes, suffix: str = ".csv") -> str:
    with pytest.raises(UnusableInput) as caught:
        refunds_of(folder, content, suffix)
    return str(caught.value)


# CSV.


@pytest.mark.parametrize(
    "content",
    [
        f"{HEADER}\n{ROW}\n",
        f"{HEADER}\r\n{ROW}",
        f"\ufeff{HEADER}\n{ROW}\n",
        f"\n\n{HEADER}\n\n{ROW}\n\n\n",
        f"{HEADER.replace(',', ' , ')}\n{ROW.replace(',', ' , ')}\n",
        f"{HEADER.upper()}\n{ROW}\n",
        "\n".join('"' + line.replace(",", '","') + '"' for line in (HEADER, ROW)),
    ],
)
def test_a_csv_is_read_as_whoever_wrote_it_wrote_it(tmp_path: Path, content: str) -> None:
    intake = refunds_of(tmp_path, content)

    assert intake.rejects == ()
    assert intake.frame[["id", "payment_intent", "amount_minor"]].values.tolist() == [["re_1", "pi_1", 4900]]


def test_cells_stay_text_and_an_empty_cell_is_missing(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f"{HEADER},charge,reason,intent_key\n0012{ROW[4:]},1e5,NA,\n")

    assert intake.frame[["id", "charge", "reason"]].values.tolist() == [["0012", "1e5", "NA"]]
    assert intake.frame["intent_key"].isna().tolist() == [True]


def test_a_quoted_cell_may_hold_commas_quotes_and_newlines(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f'{HEADER},reason\n{ROW},"a, ""b""\nc"\nre_2{ROW[4:]},\nre_3{ROW[4:]}\n')

    assert ids(intake) == ["re_1", "re_2"]
    assert intake.frame["reason"].iloc[0] == 'a, "b"\nc'
    assert refused(intake) == [(3, None)]


def test_a_ragged_line_is_a_reject_with_its_row(tmp_path: Path) -> None:
    intake = refunds_of(
        tmp_path, f"{HEADER}\n{ROW}\n\nre_2,pi_2\nre_3{ROW[4:]},more\nre_4,pi_4,-1{ROW[14:]}\nre_5{ROW[4:]}\n"
    )

    assert ids(intake) == ["re_1", "re_5"]
    assert refused(intake) == [(2, None), (3, None), (4, "re_4")]
    assert intake.rejects[0].reason == "expected 6 cells as in the header, found 2"


def test_bytes_that_are_no_utf8_reject_their_line_only(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f"{HEADER}\n{ROW}\n".encode() + b"re_\xff" + ROW[4:].encode() + b"\n")

    assert ids(intake) == ["re_1"]
    assert refused(intake) == [(2, None)]
    assert "UTF-8" in intake.rejects[0].reason


def test_a_quote_that_never_closes_makes_the_side_incomplete(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f'{HEADER}\n{ROW}\n"re_2{ROW[4:]}\nre_3{ROW[4:]}\n')

    assert ids(intake) == ["re_1"]
    assert refused(intake) == [(2, None)]
    assert intake.incomplete == (
        "refunds.csv: the quote that row 2 opens is never closed, so what follows it was not read"
    )


def test_a_header_line_alone_is_a_side_with_nothing_in_it(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, f"{HEADER}\n")

    assert (len(intake.frame), intake.rejects) == (0, ())


@pytest.mark.parametrize(
    "content, expected",
    [
        ("", "is empty"),
        ("\ufeff\n\n", "is empty"),
        ("a,b,c\n1,2,3\n", "its first headers are 'a', 'b', 'c'"),
        (f"{HEADER}\n{ROW}\n".replace(",", ";"), "'id;payment_intent;amount_minor"),
        ('{"id": "re_1"}', "none of the columns"),
        (f"{HEADER}\n{ROW}\n".encode("utf-16"), "UTF-8"),
        (b"PK\x03\x04\x00\x00", "UTF-8"),
        (f"{HEADER},id\n{ROW},re_2\n", "the column 'id' twice"),
        (
            "id,Amount,Amount Refunded,Currency,PaymentIntent ID\nch_1,1.00,0.00,usd,pi_1\n",
            "export of payments",
        ),
    ],
)
def test_a_csv_that_is_none_of_refunds_is_refused_with_what_was_found(
    tmp_path: Path, content: str | bytes, expected: str
) -> None:
    assert expected in unusable(tmp_path, content)


def test_a_csv_that_lacks_one_needed_column_has_its_rows_rejected(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, "id,amount_minor,currency\nre_1,4900,usd\n")

    assert [reject.reason for reject in intake.rejects] == ["created_at is missing"]


# JSON.


@pytest.mark.parametrize(
    "value",
    [
        OBJECT,
        [OBJECT],
        {"object": "list", "url": "/v1/refunds", "has_more": False, "data": [OBJECT]},
        [{"object": "list", "has_more": False, "data": [OBJECT]}],
        OBJECT | {"charge": {"id": "ch_1", "object": "charge"}, "payment_intent": {"id": "pi_1"}},
        OBJECT | {"metadata": '{"intent_key": "k1"}'},
        {"object": "event", "type": "refund.updated", "data": {"object": OBJECT}},
        {
            "object": "event",
            "type": "charge.refunded",
            "data": {
                "object": {
                    "id": "ch_1",
                    "object": "charge",
                    "payment_intent": "pi_1",
                    "refunds": {
                        "object": "list",
                        "has_more": False,
                        "data": [OBJECT | {"payment_intent": None, "charge": None}],
                    },
                }
            },
        },
        {"object": {"id": "ch_1", "refunds": {"object": "list", "data": [OBJECT]}}},
        {"refunds": [OBJECT]},
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_the_providers_objects_come_in_many_wrappings(tmp_path: Path, value: object, suffix: str) -> None:
    if suffix == ".jsonl" and isinstance(value, dict) and "refunds" in value:
        pytest.skip("a line is an object, not a whole file")

    intake = refunds_of(tmp_path, json.dumps(value), suffix)

    columns = ["id", "payment_intent", "charge", "amount_minor", "currency", "status", "intent_key"]
    assert intake.frame[columns].values.tolist() == [["re_1", "pi_1", "ch_1", 4900, "usd", "succeeded", "k1"]]
    assert intake.frame["created_at"].tolist() == [pd.Timestamp("2026-03-06T17:00:01Z")]
    assert (intake.rejects, intake.incomplete) == ((), None)


def test_objects_in_pages_and_rows_beside_them_count_one_by_one(tmp_path: Path) -> None:
    page = {"object": "list", "data": [OBJECT, OBJECT | {"id": None}], "has_more": False}

    intake = refunds_of(
        tmp_path, json.dumps([page, 7, FLAT | {"id": "re_3"}, {"object": "customer", "id": "cus_1"}]), ".json"
    )

    assert ids(intake) == ["re_1", "re_3"]
    assert refused(intake) == [(2, None), (3, None), (5, "cus_1")]
    assert intake.rejects[2].reason == "expected a refund, found the provider's object 'customer'"


@pytest.mark.parametrize(
    "value",
    [
        {"object": "list", "has_more": True, "data": [OBJECT]},
        {"object": "charge", "id": "ch_1", "refunds": {"object": "list", "has_more": True, "data": [OBJECT]}},
    ],
)
def test_a_list_that_has_more_makes_the_side_incomplete(tmp_path: Path, value: object) -> None:
    intake = refunds_of(tmp_path, json.dumps(value), ".json")

    assert ids(intake) == ["re_1"]
    assert intake.incomplete is not None
    assert "has_more" in intake.incomplete


def test_a_creation_event_tells_the_request_key_and_the_account(tmp_path: Path) -> None:
    event = {
        "object": "event",
        "type": "refund.created",
        "account": "acct_1",
        "request": {"id": "req_1", "idempotency_key": "k9"},
        "data": {"object": OBJECT},
    }
    updated = event | {"type": "refund.updated", "data": {"object": OBJECT | {"id": "re_2"}}}

    intake = refunds_of(tmp_path, f"{json.dumps(event)}\n\n{json.dumps(updated)}\n", ".jsonl")

    assert intake.frame["account"].tolist() == ["acct_1", "acct_1"]
    assert intake.frame["request_key"].fillna("").tolist() == ["k9", ""]


@pytest.mark.parametrize(
    "fields, system",
    [
        ({"reason": "expired_uncaptured_charge"}, True),
        ({"balance_transaction": {"id": "txn_1", "type": "partial_capture_reversal"}}, True),
        ({"balance_transaction": {"id": "txn_1", "type": "refund"}}, False),
    ],
)
def test_refunds_of_the_providers_own_making_are_known(
    tmp_path: Path, fields: dict[str, object], *, system: bool
) -> None:
    assert refunds_of(tmp_path, json.dumps(OBJECT | fields), ".json").frame["system"].tolist() == [system]


def test_an_event_that_says_otherwise_than_its_object_is_noted(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, json.dumps({"type": "refund.failed", "data": {"object": OBJECT}}), ".json")

    assert intake.frame["status"].tolist() == ["succeeded"]
    assert "refund.failed" in intake.notes[0]


def test_a_charge_without_its_refunds_is_refused_with_what_to_export(tmp_path: Path) -> None:
    charge = {"object": "charge", "id": "ch_1", "amount_refunded": 100}

    said = unusable(tmp_path, json.dumps({"type": "charge.refunded", "data": {"object": charge}}), ".json")

    assert "a charge without its refunds" in said
    assert "refund.* events" in said


def test_numbers_of_a_json_never_become_floats(tmp_path: Path) -> None:
    path = tmp_path / "intents.json"
    path.write_text(
        "["
        + ",".join(
            f'{{"key": "{key}", {amount}, "currency": "usd", "status": "done", "created_at": 1772816400}}'
            for key, amount in (
                ("a", '"amount": 8.03'),
                ("b", '"amount_minor": 4900.0'),
                ("c", '"amount_minor": 19.99'),
                ("d", '"amount_minor": NaN'),
                ("e", '"amount": 1e400'),
            )
        )
        + "]"
    )

    intake = files.read_intents(path)

    assert intake.frame["amount_minor"].tolist() == [803, 4900]
    assert refused(intake) == [(3, "c"), (4, "d"), (5, "e")]


def test_unreadable_metadata_rejects_its_refund(tmp_path: Path) -> None:
    intake = refunds_of(
        tmp_path, json.dumps([OBJECT, OBJECT | {"id": "re_2", "metadata": "{'a': 1}"}]), ".json"
    )

    assert ids(intake) == ["re_1"]
    assert intake.rejects[0].reason == "intent_key must be text; found 'metadata that is no JSON'"


def test_a_line_that_is_no_json_is_a_reject_with_its_row(tmp_path: Path) -> None:
    lines = [
        json.dumps(FLAT).encode(),
        b"",
        b'{"id": "re_',
        b"\xff",
        b"[1]",
        json.dumps(FLAT | {"id": "re_5"}).encode(),
    ]

    intake = refunds_of(tmp_path, b"\r\n".join(lines), ".jsonl")

    assert ids(intake) == ["re_1", "re_5"]
    assert refused(intake) == [(2, None), (3, None), (4, None)]


def test_an_empty_array_or_page_is_a_side_with_nothing_in_it(tmp_path: Path) -> None:
    assert refunds_of(tmp_path, "[]", ".json").frame.empty
    assert refunds_of(tmp_path, '{"object": "list", "data": [], "has_more": false}', ".json").frame.empty


@pytest.mark.parametrize(
    "content, suffix, expected",
    [
        ("", ".json", "is empty"),
        ("", ".jsonl", "is empty"),
        ("", ".parquet", "is empty"),
        ("id,amount\n", ".json", "must be a JSON file"),
        ("7", ".json", "must hold an object or an array of them"),
        ("[" * 100_000, ".json", "must be a JSON file"),
        ('[{"a": 1, "b": 2}]', ".json", "its first headers are 'a', 'b'"),
        ("[7]", ".json", "expected an object, found a number"),
        ("{\n}x\n", ".jsonl", "line of JSON"),
        ("PAR1 not really", ".parquet", "Parquet"),
        ("x", ".xlsx", "must end in .csv, .json, .jsonl, .parquet"),
        ("x", "", "no suffix"),
    ],
)
def test_a_file_that_is_not_what_its_suffix_says_is_refused(
    tmp_path: Path, content: str, suffix: str, expected: str
) -> None:
    assert expected in unusable(tmp_path, content, suffix)


@pytest.mark.parametrize("name", ["missing.csv", "missing.parquet", "folder.csv", "folder.parquet"])
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "folder.parquet").mkdir()

    with pytest.raises(UnusableInput, match=r"cannot be read"):
        files.read_intents(tmp_path / name)


# Parquet.


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


# Other people's columns.


def test_fivetrans_table_is_known_by_its_headers(tmp_path: Path) -> None:
    content = (
        "id,_fivetran_synced,amount,balance_transaction_id,charge_id,created,currency,metadata,status\r\n"
        're_1,2026-03-06 18:00:00,6750,t_1,ch_1,2026-03-06 17:00:01,usd,"{""intent_key"":""k1""}",pending\r\n'
        "re_2,2026-03-06 18:00:00,100,t_2,ch_2,2026-03-06 17:00:01.5,usd,,succeeded"
    )

    intake = refunds_of(tmp_path, content)

    assert intake.rejects == ()
    assert intake.frame["amount_minor"].tolist() == [6750, 100]
    assert intake.frame["charge"].tolist() == ["ch_1", "ch_2"]
    assert intake.frame["intent_key"].fillna("").tolist() == ["k1", ""]
    assert intake.frame["created_at"].tolist() == [
        pd.Timestamp("2026-03-06T17:00:01Z"),
        pd.Timestamp("2026-03-06T17:00:01.5Z"),
    ]
    assert "Fivetran" in intake.notes[0]


def test_airbytes_table_holds_unix_seconds(tmp_path: Path) -> None:
    content = (
        "_airbyte_raw_id,id,object,amount,charge,created,currency,payment_intent,status\n"
        "u1,re_1,refund,100,ch_1,1772816401,usd,pi_1,succeeded\n"
    )

    intake = refunds_of(tmp_path, content)

    assert intake.frame[["amount_minor", "payment_intent"]].values.tolist() == [[100, "pi_1"]]
    assert intake.frame["created_at"].tolist() == [pd.Timestamp("2026-03-06T17:00:01Z")]


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_the_providers_words_without_an_object_field_are_the_providers_objects(
    tmp_path: Path, suffix: str
) -> None:
    row = {"id": "re_1", "amount": 4900, "charge": "ch_1", "created": 1772816401, "currency": "usd"}
    content = (
        json.dumps([row]) if suffix == ".json" else f"{','.join(row)}\n{','.join(map(str, row.values()))}\n"
    )

    intake = refunds_of(tmp_path, content, suffix)

    assert intake.frame[["amount_minor", "charge"]].values.tolist() == [[4900, "ch_1"]]


def test_a_flat_row_may_carry_metadata(tmp_path: Path) -> None:
    rows = [FLAT | {"metadata": {"intent_key": "k1"}}, FLAT | {"id": "re_2", "metadata": None}]
    table = f'{HEADER},metadata\n{ROW},"{{""intent_key"": ""k1""}}"\nre_2{ROW[4:]},\n'

    from_json, from_csv = refunds_of(tmp_path, json.dumps(rows), ".json"), refunds_of(tmp_path, table)

    assert from_json.frame["intent_key"].fillna("").tolist() == ["k1", ""]
    pd.testing.assert_frame_equal(from_json.frame, from_csv.frame)


def test_without_a_known_tool_nothing_is_guessed(tmp_path: Path) -> None:
    intake = refunds_of(tmp_path, "id,amount,currency,created,status\nre_1,4900,usd,1772816401,succeeded\n")

    assert [reject.reason for reject in intake.rejects] == ["created_at is missing"]


def test_a_column_map_names_columns_and_paths(tmp_path: Path) -> None:
    mapping = tmp_path / "map.toml"
    mapping.write_text(
        '[refunds]\nid = "REF"\namount = "value"\ncreated_at = "made"\nintent_key = "meta.ours.key"\n'
    )
    refunds = tmp_path / "refunds.csv"
    refunds.write_text(
        'REF,value,currency,made,meta\nr1,19.99,usd,2026-03-06T17:00:01Z,"{""ours"": {""key"": ""k1""}}"\n'
        "r2,1.00,usd,2026-03-06T17:00:01Z,\n"
    )
    objects = tmp_path / "refunds.json"
    objects.write_text(
        '[{"REF": "r1", "value": 19.99, "currency": "usd", "made": 1772816401,'
        ' "meta": {"ours": {"key": "k1"}}}]'
    )

    table = files.read_refunds(refunds, files.read_mapping(mapping)).frame
    rows = files.read_refunds(objects, files.read_mapping(mapping)).frame

    assert table[["id", "amount_minor"]].values.tolist() == [["r1", 1999], ["r2", 100]]
    assert table["intent_key"].fillna("").tolist() == ["k1", ""]
    assert rows[["id", "amount_minor", "intent_key"]].values.tolist() == [["r1", 1999, "k1"]]


@pytest.mark.parametrize(
    "content, expected",
    [
        ("[refunds", "must be a TOML file"),
        ("[returns]\nid = 'x'", "[intents] and [refunds]"),
        ("[refunds]\nkey = 'x'", "none of our columns"),
        ("[refunds]\nid = 7", "to the name of a column"),
    ],
)
def test_a_column_map_that_cannot_be_used_is_refused(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "map.toml"
    path.write_text(content)

    with pytest.raises(UnusableInput) as caught:
        files.read_mapping(path)

    assert expected in str(caught.value)


def test_a_column_map_that_names_no_column_of_the_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "refunds.csv"
    path.write_text(f"{HEADER}\n{ROW}\n")

    with pytest.raises(UnusableInput, match="has no column 'ref'"):
        files.read_refunds(path, {"refunds": {"id": "ref"}})


# Writing.


def test_a_report_takes_the_place_of_the_old_one_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    path.chmod(0o640)

    files.write_text(path, "new\n")

    assert path.read_text() == "new\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")

    with pytest.raises(UnusableInput, match="cannot be written"):
        files.write_text(tmp_path / "nowhere" / "report.json", "new")
    with pytest.raises(UnicodeEncodeError):
        files.write_text(path, "\ud800")

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    files.write_text(Path("/dev/null"), "gone")

    assert not Path("/dev/null").is_file()


def test_a_link_keeps_pointing(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    link.symlink_to(target)

    files.write_text(link, "new")

    assert link.is_symlink()
    assert target.read_text() == "new"
