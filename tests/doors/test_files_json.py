import json
from pathlib import Path

import pandas as pd
import pytest

from recon.doors.files import reading as files
from recon.model.errors import UnusableInput
from tests.doors.refund_files import FLAT, OBJECT, ids, refunds_of, refused, unusable

PLACED = {"object", "charge", "payment_intent"}  # What a refund inside its charge need not say.


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
        {"data": [OBJECT]},
        {
            "object": "charge",
            "id": "ch_1",
            "payment_intent": {"id": "pi_1"},
            "refunds": {
                "data": [{name: OBJECT[name] for name in OBJECT if name not in PLACED}],
                "has_more": False,
            },
        },
        {
            **{name: OBJECT[name] for name in OBJECT if name != "payment_intent"},
            "charge": {"id": "ch_1", "object": "charge", "payment_intent": "pi_1"},
        },
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
        (
            {"balance_transaction": {"type": "refund", "reporting_category": "partial_capture_reversal"}},
            True,
        ),
        ({"balance_transaction": {"id": "txn_1", "type": "refund"}}, False),
        ({"balance_transaction": {"id": "txn_1", "type": ["refund"]}}, False),
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
        ("{}", ".json", "none of the columns"),
        ("[null, {}]", ".json", "none of the columns"),
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


@pytest.mark.parametrize(
    "spelled", ["9" * 5000, "-" + "9" * 5000, "1e99999999999999999999", "1E-99999999999999999999"]
)
def test_a_number_beyond_any_size_rejects_its_row_only(tmp_path: Path, spelled: str) -> None:
    strange = json.dumps(FLAT | {"id": "re_2"}).replace('"4900"', spelled)

    intake = refunds_of(tmp_path, f"[{json.dumps(FLAT)}, {strange}]", ".json")

    assert ids(intake) == ["re_1"]
    assert refused(intake) == [(2, "re_2")]


def test_half_a_surrogate_pair_rejects_its_row_only(tmp_path: Path) -> None:
    rows = [FLAT, FLAT | {"id": "re_\ud800"}, FLAT | {"id": "re_3", "reason": "\ud800"}]

    intake = refunds_of(tmp_path, json.dumps([*rows, {"object": "customer", "id": "\ud800"}]), ".json")

    assert ids(intake) == ["re_1"]
    assert refused(intake) == [(2, None), (3, "re_3"), (4, None)]


def test_an_event_whose_type_is_no_text_is_read_all_the_same(tmp_path: Path) -> None:
    event = {"type": [], "request": {"idempotency_key": "k9"}, "data": {"object": OBJECT}}

    assert refunds_of(tmp_path, json.dumps(event), ".json").frame["request_key"].isna().tolist() == [True]


def test_empty_metadata_may_be_an_empty_list(tmp_path: Path) -> None:
    intake = refunds_of(
        tmp_path, json.dumps([OBJECT | {"metadata": []}, OBJECT | {"metadata": "[]"}]), ".json"
    )

    assert (intake.frame["intent_key"].isna().tolist(), intake.rejects) == ([True], ())


@pytest.mark.parametrize(
    "more, incomplete", [({}, False), ({"has_more": False}, False), ({"has_more": True}, True)]
)
def test_intents_may_come_in_pages(tmp_path: Path, more: dict[str, bool], *, incomplete: bool) -> None:
    path = tmp_path / "intents.json"
    intent = {"key": "k1", "amount_minor": 1, "currency": "usd", "status": "done", "created_at": 1772816400}
    path.write_text(json.dumps([{"data": [intent], **more}, {"data": [intent | {"key": "k2"}], **more}]))

    intake = files.read_intents(path)

    assert intake.frame["key"].tolist() == ["k1", "k2"]
    assert (intake.incomplete is not None) is incomplete


def test_the_latest_time_is_that_of_any_row(tmp_path: Path) -> None:
    late = FLAT | {"id": "re_2", "currency": "zzz", "created_at": "2026-03-07T00:00:00+01:00"}

    intake = refunds_of(tmp_path, json.dumps([FLAT, late]), ".json")

    assert intake.latest == pd.Timestamp("2026-03-06T23:00:00Z")
