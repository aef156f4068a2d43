import json
from pathlib import Path

import pandas as pd
import pytest

from recon.doors.files import reading as files
from recon.model.errors import UnusableInput
from tests.doors.refund_files import FLAT, HEADER, OBJECT, ROW, mapped, refunds_of


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

    assert [reject.reason for reject in intake.rejects] == ["created_at is missing (line 2)"]


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
        ("", "the tables [intents] and [refunds]; found neither"),
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
        files.read_refunds(path, mapped(id="ref"))


@pytest.mark.parametrize("header", ["metadata.intent_key", "metadata_intent_key"])
def test_a_flat_table_may_have_its_metadata_spread_out(tmp_path: Path, header: str) -> None:
    intake = refunds_of(tmp_path, f"{HEADER},{header}\n{ROW},k1\n")

    assert intake.frame["intent_key"].tolist() == ["k1"]


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_a_column_that_the_map_calls_minor_units_is_not_read_as_major_ones_too(
    tmp_path: Path, suffix: str
) -> None:
    row = {"id": "re_1", "amount": "4900", "currency": "usd", "created_at": "2026-03-06T17:00:01Z"}
    path = tmp_path / f"refunds{suffix}"
    path.write_text(
        json.dumps([row]) if suffix == ".json" else f"{','.join(row)}\n{','.join(row.values())}\n"
    )

    intake = files.read_refunds(path, mapped(amount_minor="amount"))

    assert (intake.frame["amount_minor"].tolist(), intake.rejects) == ([4900], ())


def test_a_column_map_reaches_into_the_providers_objects_too(tmp_path: Path) -> None:
    path = tmp_path / "refunds.json"
    named = OBJECT | {"metadata": {"order_intent": "k7", "intent_key": "other"}}
    path.write_text(json.dumps([named, OBJECT | {"id": "re_2", "metadata": {}}]))

    told = mapped(intent_key="metadata.order_intent")

    assert files.read_refunds(path, told).frame["intent_key"].fillna("").tolist() == ["k7", ""]
    with pytest.raises(UnusableInput, match="no field 'ours'"):
        files.read_refunds(path, mapped(intent_key="ours"))


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_refunds_may_call_their_payment_as_intents_do(tmp_path: Path, suffix: str) -> None:
    row = {
        "id": "re_1",
        "payment": "pi_1",
        "amount": "49.00",
        "currency": "usd",
        "created_at": "2026-03-06T17:00:01Z",
    }
    text = json.dumps([row]) if suffix == ".json" else f"{','.join(row)}\n{','.join(row.values())}\n"

    assert refunds_of(tmp_path, text, suffix).frame["payment_intent"].tolist() == ["pi_1"]
