"""Every shape that refunds come in, and what is refused because it holds none."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recon.doors.files import reading
from tests.doors.refund_files import OBJECT, ids, refunds_of, refused, unusable

OTHER = OBJECT | {"id": "re_2", "metadata": {}}
CHARGE: dict[str, Any] = {"id": "ch_1", "object": "charge", "payment_intent": "pi_1", "amount_refunded": 4900}
HELD = CHARGE | {"refunds": {"object": "list", "has_more": False, "data": [OBJECT]}}
UNTOUCHED = {"id": "ch_2", "object": "charge", "amount_refunded": 0, "refunded": False}


def lines(*values: object) -> str:
    return "\n".join(json.dumps(value) for value in values)


@pytest.mark.parametrize(
    "values",
    [
        [{"type": "RECORD", "record": {"stream": "refunds", "data": OBJECT, "emitted_at": 1772816401000}}],
        [{"type": "RECORD", "stream": "refunds", "record": OBJECT, "time_extracted": "2026-03-06T17:00:01Z"}],
        [
            {"type": "SCHEMA", "stream": "charges", "schema": {}, "key_properties": ["id"]},
            {"type": "RECORD", "stream": "charges", "record": HELD},
            {"type": "STATE", "value": {"bookmarks": {}}},
            {"type": "ACTIVATE_VERSION", "stream": "charges", "version": 1},
        ],
        [
            {"type": "LOG", "log": {"level": "INFO", "message": "x"}},
            {"_airbyte_ab_id": "u", "_airbyte_data": OBJECT},
        ],
        [{"_airbyte_raw_id": "u", "_airbyte_data": json.dumps(OBJECT), "_airbyte_extracted_at": 1}],
        [
            {
                "type": "RECORD",
                "record": {
                    "stream": "events",
                    "data": {"type": "refund.created", "data": {"object": OBJECT}},
                },
            }
        ],
        [{"id": "txn_1", "object": "balance_transaction", "type": "refund", "source": OBJECT}],
        [{"id": "pi_1", "object": "payment_intent", "latest_charge": HELD}],
        [{"id": "pi_1", "object": "payment_intent", "charges": {"object": "list", "data": [HELD]}}],
    ],
)
def test_what_extract_tools_and_objects_wrap_around_a_refund_is_opened(
    tmp_path: Path, values: list[Any]
) -> None:
    intake = refunds_of(tmp_path, lines(*values), ".jsonl")

    columns = ["id", "payment_intent", "charge", "amount_minor", "status", "intent_key"]
    assert intake.frame[columns].values.tolist() == [["re_1", "pi_1", "ch_1", 4900, "succeeded", "k1"]]
    assert (intake.rejects, intake.read) == ((), 1)


def test_records_of_other_tables_and_untouched_charges_are_left_out_and_said(tmp_path: Path) -> None:
    intake = refunds_of(
        tmp_path,
        lines(
            {"type": "RECORD", "stream": "customers", "record": {"id": "cus_1"}},
            {"type": "RECORD", "stream": "customers", "record": {"id": "cus_2"}},
            UNTOUCHED,
            OBJECT,
        ),
        ".jsonl",
    )

    assert ids(intake) == ["re_1"]
    assert (intake.left_out, intake.read) == (3, 4)
    assert intake.notes == (
        "refunds.jsonl: 2 records of 'customers' left out.",
        "refunds.jsonl: 1 charge of which nothing was refunded left out.",
    )


def test_a_raw_table_holds_records_in_its_cells(tmp_path: Path) -> None:
    cells = [json.dumps(OBJECT), json.dumps(OTHER), "{cut"]
    table = pa.table({"_airbyte_raw_id": ["a", "b", "c"], "_airbyte_data": cells})
    pq.write_table(table, tmp_path / "raw.parquet")
    quoted = ('"' + cell.replace('"', '""') + '"' for cell in cells)
    content = "_airbyte_ab_id,_airbyte_data\n" + "\n".join(f"u,{cell}" for cell in quoted)

    for intake in (refunds_of(tmp_path, content), reading.read_refunds(tmp_path / "raw.parquet")):
        assert ids(intake) == ["re_1", "re_2"]
        assert intake.frame["charge"].tolist() == ["ch_1", "ch_1"]
        assert [reject.row for reject in intake.rejects] == [3]


def test_a_table_of_charges_holds_refunds_in_its_cells(tmp_path: Path) -> None:
    cell = json.dumps([OBJECT, OTHER]).replace('"', '""')
    content = (
        "id,payment_intent,amount,amount_refunded,refunds,_sdc_sequence\n"
        f'ch_1,pi_1,9800,9800,"{cell}",1\n'
        "ch_2,pi_2,100,0,[],1\n"
        "ch_3,pi_3,100,100,,1\n"
    )

    intake = refunds_of(tmp_path, content)

    assert ids(intake) == ["re_1", "re_2"]
    assert refused(intake) == [(3, "ch_3")]
    assert "a charge without its refunds" in intake.rejects[0].reason


def test_a_table_in_parquet_may_nest_refunds_as_lists(tmp_path: Path) -> None:
    bare = {name: OBJECT[name] for name in ("id", "object", "amount", "created", "currency", "status")}
    table = pa.Table.from_pylist([{"id": "ch_1", "payment_intent": "pi_1", "refunds": [bare]}])
    pq.write_table(table, tmp_path / "charges.parquet")

    intake = reading.read_refunds(tmp_path / "charges.parquet")

    assert intake.frame[["id", "charge", "payment_intent"]].values.tolist() == [["re_1", "ch_1", "pi_1"]]


def test_an_export_of_the_providers_tables_has_times_in_utc(tmp_path: Path) -> None:
    intake = refunds_of(
        tmp_path,
        "id,amount,balance_transaction_id,charge_id,created,currency,failure_balance_transaction_id,status\n"
        "re_1,4900,txn_1,ch_1,2026-03-06 17:00:01.000,usd,,succeeded\n",
    )

    assert intake.frame[["amount_minor", "charge"]].values.tolist() == [[4900, "ch_1"]]
    assert intake.frame["created_at"].tolist() == [pd.Timestamp("2026-03-06T17:00:01Z")]
    assert intake.notes == (
        "refunds.csv: read as a table of Sigma: amount in minor units, times without a zone as UTC.",
    )


def test_flat_rows_in_json_are_known_by_their_names_as_tables_are(tmp_path: Path) -> None:
    row = {
        "id": "re_1",
        "amount": "4900",
        "charge_id": "ch_1",
        "created": "2026-03-06 17:00:01",
        "currency": "usd",
    }

    intake = refunds_of(tmp_path, lines(row | {"_fivetran_synced": "x"}), ".jsonl")

    assert intake.frame[["amount_minor", "charge"]].values.tolist() == [[4900, "ch_1"]]
    assert intake.frame["created_at"].tolist() == [pd.Timestamp("2026-03-06T17:00:01Z")]


@pytest.mark.parametrize(
    "value, said",
    [
        ({"id": "po_1", "object": "payout"}, "'payout', which is money to your own bank: export refunds"),
        ({"id": "dp_1", "object": "dispute"}, "'dispute', which a customer began at their bank"),
        ({"id": "in_1", "object": "invoice"}, "'invoice', which asks for money"),
        ({"id": "pi_1", "object": "payment_intent"}, "'payment_intent', which is money that came in"),
        ({"id": "txn_1", "object": "balance_transaction", "source": "re_1"}, "names its refund at most"),
        (UNTOUCHED, "holds no refunds, only 1 charge of which nothing was refunded"),
        (
            {"type": "RECORD", "stream": "customers", "record": {}},
            "holds no refunds, only 1 record of 'customers'",
        ),
    ],
)
def test_an_object_that_is_none_of_refunds_is_refused_with_what_to_export(
    tmp_path: Path, value: object, said: str
) -> None:
    assert said in unusable(tmp_path, json.dumps(value), ".json")


@pytest.mark.parametrize(
    "header, said",
    [
        ("id,Created date (UTC),Amount,Amount Refunded,Currency,PaymentIntent ID", "export of payments"),
        ("id,Description,Created (UTC),Amount,Amount Refunded,Currency", "export of payments"),
        ("id,amount,amount_refunded,captured,created,currency", "a table of charges"),
        (
            "balance_transaction_id,created_utc,gross,fee,net,reporting_category,currency",
            "without the ids of refunds",
        ),
        (
            "balance_transaction_id,gross,net,reporting_category,source_id",
            'column = "reporting_category", is = "re',
        ),
        ("id,Type,Source,Amount,Fee,Net,Currency", 'id = "Source"'),
        ("id,Amount,Arrival Date (UTC),Currency,created", "an export of payouts"),
        ("id,amount,arrival_date,created,currency", "a table of payouts"),
        ("id,amount,is_charge_refundable,created,currency", "a table of disputes"),
        ("id,Amount Due,Amount Paid,Currency", "an export of invoices"),
        ("id,amount_due,amount_paid,currency,created", "a table of invoices"),
    ],
)
def test_a_table_that_is_none_of_refunds_is_refused_with_what_it_is(
    tmp_path: Path, header: str, said: str
) -> None:
    assert said in unusable(tmp_path, f"{header}\n")


@pytest.mark.parametrize(
    "begins, what", [("ch_", "charges"), ("po_", "payouts"), ("txn_", "lines of the balance")]
)
def test_ids_that_are_all_another_objects_are_no_refunds(tmp_path: Path, begins: str, what: str) -> None:
    content = "id,amount,created,currency,charge\n{0}1,1,1772816401,usd,\n{0}2,1,1772816401,usd,\n"

    said = unusable(tmp_path, content.format(begins))

    assert f"all its ids begin with {begins}, as those of {what} do; export refunds" in said


def test_a_refund_without_status_is_said_and_a_map_may_say_what_it_is(tmp_path: Path) -> None:
    old = {name: OBJECT[name] for name in OBJECT if name != "status"}
    path = tmp_path / "old.json"
    path.write_text(json.dumps(old))
    (tmp_path / "map.toml").write_text('[refunds]\nstatus = { constant = "succeeded" }\n')

    plain = reading.read_refunds(path)
    told = reading.read_refunds(path, reading.read_mapping(tmp_path / "map.toml"))

    assert plain.frame["status"].isna().tolist() == [True]
    assert plain.notes[0].startswith(
        "refunds: 1 row without a status, counted as money that went back; where"
    )
    assert (told.frame["status"].tolist(), told.notes) == (["succeeded"], ())
