from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from recon.model import frames
from recon.model.frames import INTENT_DTYPES, REFUND_DTYPES, Intake

INTENT = {
    "key": "k1",
    "amount_minor": 4900,
    "currency": "usd",
    "status": "done",
    "created_at": "2026-03-06T17:00:00Z",
}
REFUND = {
    "id": "re_1",
    "payment_intent": "pi_1",
    "amount_minor": 4900,
    "currency": "usd",
    "status": "succeeded",
    "created_at": "2026-03-06T17:00:01Z",
}
AT = pd.Timestamp("2026-03-06T17:00:00Z")


def intents(*rows: dict[str, Any]) -> Intake:
    return frames.intents(pd.DataFrame([INTENT | row for row in rows], dtype=object), source="intents.csv")


def refunds(*rows: dict[str, Any]) -> Intake:
    return frames.refunds(pd.DataFrame([REFUND | row for row in rows], dtype=object), source="refunds.csv")


def test_a_frame_has_exactly_the_promised_columns_and_dtypes() -> None:
    ours, theirs = intents({}).frame, refunds({}).frame

    assert list(ours) == list(INTENT_DTYPES)
    assert list(theirs) == list(REFUND_DTYPES)
    assert {name: str(dtype) for name, dtype in ours.dtypes.items()} == INTENT_DTYPES
    assert {name: str(dtype) for name, dtype in theirs.dtypes.items()} == REFUND_DTYPES


@pytest.mark.parametrize("rows", [0, 1])
def test_a_frame_of_rejects_only_or_of_nothing_has_them_too(rows: int) -> None:
    raw = pd.DataFrame([{"id": None}] * rows, columns=["id"], dtype=object)

    intake = frames.refunds(raw, source="refunds.csv")

    assert {name: str(dtype) for name, dtype in intake.frame.dtypes.items()} == REFUND_DTYPES
    assert (len(intake.frame), len(intake.rejects)) == (0, rows)


def test_absent_columns_are_absent_values_and_an_absent_update_is_the_creation() -> None:
    row = intents({}).frame.iloc[0]

    assert row["account"] == ""
    assert row["updated_at"] == AT
    assert pd.isna(row["first_sent_at"])
    assert pd.isna(row["order_id"])


@pytest.mark.parametrize(
    "value, expected",
    [
        (4900, 4900),
        ("4900", 4900),
        ("4900.0", 4900),
        (Decimal("4900.0"), 4900),
        (4900.0, 4900),
        (0, 0),
        (2**63 - 1, 2**63 - 1),
        ("0004900", 4900),
    ],
)
def test_whole_minor_units_are_read(value: object, expected: int) -> None:
    assert intents({"amount_minor": value}).frame["amount_minor"].tolist() == [expected]


@pytest.mark.parametrize(
    "value, found",
    [
        (True, "a truth value"),
        (Decimal("19.99"), "a number with a fraction"),
        (19.99, "a binary floating-point number"),
        ("19.99", "a number with a fraction"),
        (-1, "a negative number"),
        ("-1", "a negative number"),
        (2**63, "a number that is too large"),
        ("9" * 400, "a number that is too large"),
        (Decimal("1e500"), "a text that is no plain number"),
        (Decimal("NaN"), "'NaN'"),
        ("1e5", "a text that is no plain number"),
        ("4,900", "a number with separators"),
        ("\u0664\u0669", "a text that is no plain number"),
        ("much", "'much'"),
        ([4900], "a text that is no plain number"),
    ],
)
def test_any_other_amount_rejects_the_row_and_says_what_it_is_but_not_how_much(
    value: object, found: str
) -> None:
    intake = intents({"amount_minor": value})

    assert intake.frame.empty
    assert [reject.reason for reject in intake.rejects] == [
        f"amount_minor must be a whole number of minor units from 0; found {found}"
    ]


@pytest.mark.parametrize(
    "amount, currency, expected",
    [
        ("19.99", "usd", 1999),
        ("8.03", "usd", 803),
        (Decimal("8.03"), "usd", 803),
        (49, "usd", 4900),
        ("500", "jpy", 500),
        ("500.00", "jpy", 500),
        ("5.120", "kwd", 5120),
        ("5.12", "kwd", 5120),
        ("49.0000", "usd", 4900),
        (".", "usd", None),
        ("0.001", "usd", None),
        ("0.5", "jpy", None),
        ("-1.00", "usd", None),
        ("92233720368547758.07", "usd", 2**63 - 1),
        ("92233720368547758.08", "usd", None),
        (19.99, "usd", None),
        (True, "usd", None),
    ],
)
def test_major_units_stand_for_minor_ones(amount: object, currency: str, expected: int | None) -> None:
    intake = intents({"amount_minor": None, "amount": amount, "currency": currency})

    assert intake.frame["amount_minor"].tolist() == ([] if expected is None else [expected])
    assert len(intake.rejects) == (expected is None)


def test_two_amounts_of_one_row_must_agree_and_either_may_be_absent() -> None:
    intake = intents(
        {"key": "both", "amount": "49.00"},
        {"key": "major", "amount_minor": None, "amount": "1.00"},
        {"key": "minor", "amount": None},
        {"key": "apart", "amount": "49.01"},
        {"key": "none", "amount_minor": None, "amount": None},
    )

    assert dict(zip(intake.frame["key"], intake.frame["amount_minor"], strict=True)) == {
        "both": 4900,
        "major": 100,
        "minor": 4900,
    }
    assert [(reject.id, reject.row) for reject in intake.rejects] == [("apart", 4), ("none", 5)]
    assert (
        intake.rejects[0].reason
        == "amount must be the same money as amount_minor; found that the two disagree"
    )
    assert intake.rejects[1].reason == "amount is missing"


@pytest.mark.parametrize(
    "value, expected",
    [
        ("2026-03-06T17:00:00Z", AT),
        ("2026-03-06 17:00:00Z", AT),
        ("2026-03-06T18:00:00+01:00", AT),
        ("2026-03-06T18:00:00+0100", AT),
        ("2026-03-06T17:00Z", AT),
        ("2026-03-06 17:00:00 UTC", AT),
        ("2026-03-06T17:00:00.123456Z", AT + pd.Timedelta(microseconds=123456)),
        ("2026-03-06T17:00:00.123456789Z", AT + pd.Timedelta(microseconds=123456)),
        (1772816400, AT),
        ("1772816400", AT),
        (Decimal("1772816400.0"), AT),
        (pd.Timestamp("2026-03-06T18:00:00+01:00"), AT),
        (AT.to_pydatetime(), AT),
        ("2026-03-06T17:00:00", None),
        ("2026-03-06", None),
        ("2026-03", None),
        ("06/03/2026 17:00:00Z", None),
        ("2026-02-30T17:00:00Z", None),
        ("2026-03-06T25:00:00Z", None),
        ("10000-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59Z", None),
        ("0001-01-01T00:00:00Z", None),
        (1772816400000, None),
        ("1772816400000", None),
        (20260306, None),
        (-1772816400, None),
        (Decimal("1772816400.5"), None),
        (True, None),
        (pd.Timestamp("2026-03-06T17:00:00"), None),
        ("soon", None),
    ],
)
def test_a_time_is_iso_with_its_zone_or_unix_seconds(value: object, expected: pd.Timestamp | None) -> None:
    intake = intents({"created_at": value})

    assert intake.frame["created_at"].tolist() == ([] if expected is None else [expected])
    assert all("created_at must be an ISO 8601 time with its zone" in r.reason for r in intake.rejects)
    assert len(intake.rejects) == (expected is None)


def test_one_unreadable_time_spoils_no_other() -> None:
    intake = intents(
        {"key": "a", "created_at": "2026-02-30T00:00:00Z"},
        {"key": "b"},
        {"key": "c", "created_at": 1772816400},
        {"key": "d", "created_at": "2026-03-06T17:00:00.1234567Z"},
    )

    assert intake.frame["key"].tolist() == ["b", "c", "d"]
    assert [reject.row for reject in intake.rejects] == [1]


@pytest.mark.parametrize(
    "column, value, reason",
    [
        ("key", None, "key is missing"),
        ("key", "", "key is missing"),
        ("key", True, "key must be text; found 'True'"),
        ("currency", None, "currency is missing"),
        ("currency", "xyz", "currency must be a currency code of the provider's, such as usd; found 'xyz'"),
        ("status", None, "status is missing"),
        ("status", "Done", "found 'Done'"),
        (
            "status",
            "succeeded",
            "status must be one of pending, done, pending_unknown, failed, cancelled; found",
        ),
        ("created_at", None, "created_at is missing"),
        ("updated_at", "soon", "updated_at must be"),
        ("first_sent_at", "2026-03-06T17:00:00", "first_sent_at must be"),
        ("order_id", {"a": 1}, "order_id must be text; found"),
        ("payment", 1.5, "payment must be text; found '1.5'"),
    ],
)
def test_a_malformed_intent_is_rejected_with_what_was_expected_and_found(
    column: str, value: object, reason: str
) -> None:
    intake = intents({"key": "good"}, {"refund_id": "re_9", "account": "acct_1", column: value})

    assert intake.frame["key"].tolist() == ["good"]
    assert len(intake.rejects) == 1
    reject = intake.rejects[0]
    assert reason in reject.reason
    assert (reject.source, reject.row, reject.account, reject.names) == (
        "intents.csv",
        2,
        "acct_1",
        ("re_9",),
    )
    assert reject.id == (None if column == "key" else "k1")


def test_a_reject_names_everything_that_is_wrong_with_its_row() -> None:
    (reject,) = intents({"currency": None, "created_at": None, "amount_minor": -1}).rejects

    assert reject.reason == (
        "currency is missing; created_at is missing;"
        " amount_minor must be a whole number of minor units from 0; found a negative number"
    )


def test_a_wrong_value_is_shown_cut_and_printable() -> None:
    (reject,) = intents({"status": "do\x1b[31mne\n" + "x" * 100}).rejects

    assert reject.reason.endswith("found 'do [31mne " + "x" * 28 + "...'") or len(reject.reason) < 160
    assert reject.reason.isprintable()


def test_a_rejected_refund_tells_every_intent_key_it_names() -> None:
    (reject,) = refunds(
        {"amount_minor": -1, "intent_key": "k1", "request_key": "k2", "operator_key": "k1"}
    ).rejects

    assert (reject.id, reject.names) == ("re_1", ("k1", "k2"))


def test_currencies_are_lower_case_and_whole_numbers_serve_as_ids() -> None:
    intake = intents({"currency": "USD", "order_id": 8812, "customer_id": 7.0, "reference": "0012"})

    assert intake.frame[["currency", "order_id", "customer_id", "reference"]].values.tolist() == [
        ["usd", "8812", "7", "0012"]
    ]


def test_words_that_other_readers_take_for_nothing_stay_words() -> None:
    intake = intents({"key": "NA", "order_id": "null", "reference": "nan", "tool": "1e5", "payment": "None"})

    assert intake.frame[["key", "order_id", "reference", "tool", "payment"]].values.tolist() == [
        ["NA", "null", "nan", "1e5", "None"]
    ]


@pytest.mark.parametrize("status", [None, "", "reversed"])
def test_a_refund_of_absent_or_unknown_status_is_kept(status: str | None) -> None:
    intake = refunds({"status": status})

    assert len(intake.frame) == 1
    assert intake.rejects == ()
    assert intake.frame["status"].fillna("").tolist() == [status or ""]


@pytest.mark.parametrize(
    "fields, expected",
    [
        ({}, [False]),
        ({"system": True}, [True]),
        ({"system": "true"}, [True]),
        ({"system": "FALSE"}, [False]),
        ({"system": "1"}, [True]),
        ({"system": 0}, [False]),
        ({"system": ""}, [False]),
        ({"reason": "expired_uncaptured_charge"}, [True]),
        ({"reason": "expired_uncaptured_charge", "system": False}, [True]),
        ({"reason": "duplicate"}, [False]),
        ({"system": "perhaps"}, []),
    ],
)
def test_a_system_refund_is_told_by_its_flag_or_its_reason(
    fields: dict[str, object], expected: list[bool]
) -> None:
    assert refunds(fields).frame["system"].tolist() == expected


def test_typed_columns_come_out_as_the_same_rows_as_texts() -> None:
    typed = pd.DataFrame(
        {
            "key": pd.Series(["k1", "k2"], dtype="category"),
            "amount_minor": pd.Series(pd.array([1, 2], dtype="Int32")),
            "currency": pd.Series(["usd", "usd"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
            "status": ["done", "failed"],
            "created_at": pd.Series([AT, AT]).dt.as_unit("ns"),
            "updated_at": pd.Series([AT, None]).dt.tz_convert("Europe/Berlin").dt.as_unit("ms"),
            "order_id": np.array([8812.0, np.nan]),
        }
    )
    texts = pd.DataFrame(
        {
            "key": ["k1", "k2"],
            "amount_minor": ["1", "2"],
            "currency": ["usd", "usd"],
            "status": ["done", "failed"],
            "created_at": [AT.isoformat()] * 2,
            "updated_at": [AT.isoformat(), None],
            "order_id": ["8812", None],
        }
    )

    pd.testing.assert_frame_equal(
        frames.intents(typed, source="a").frame, frames.intents(texts, source="b").frame
    )


def test_row_numbers_come_from_an_index_called_row() -> None:
    raw = pd.DataFrame([INTENT, INTENT | {"key": None}], index=pd.Index([4, 9], name="row"))

    assert [reject.row for reject in frames.intents(raw, source="x").rejects] == [9]


def test_the_raw_frame_is_left_as_it_was() -> None:
    raw = pd.DataFrame([INTENT, INTENT | {"currency": "EUR"}])
    before = raw.copy()

    frames.intents(raw, source="x")

    pd.testing.assert_frame_equal(raw, before)


def test_a_column_of_floats_holds_whole_numbers_or_rejects() -> None:
    raw = pd.DataFrame([INTENT] * 4).assign(
        key=["a", "b", "c", "d"], amount_minor=np.array([4900.0, 19.99, np.nan, 2.0**60])
    )

    intake = frames.intents(raw, source="x")

    assert intake.frame["amount_minor"].tolist() == [4900]
    assert [(reject.id, reject.reason.rpartition("; ")[2]) for reject in intake.rejects] == [
        ("b", "found a binary floating-point number"),
        ("c", "amount_minor is missing"),
        ("d", "found a binary floating-point number"),
    ]
