from itertools import permutations
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recon.model.frames import Intake
from tests.model.test_frames import intents, refunds


def standing(intake: Intake, *columns: str) -> list[list[Any]]:
    return (
        intake.frame[list(columns)]
        .astype(object)
        .where(intake.frame[list(columns)].notna(), None)
        .values.tolist()
    )


def test_equal_rows_are_one_row_and_supersede_nothing() -> None:
    intake = refunds({}, {"amount_minor": "4900.0"}, {"created_at": "2026-03-06T18:00:01+01:00"})

    assert standing(intake, "id") == [["re_1"]]
    assert (intake.superseded, intake.rejects) == (0, ())


@pytest.mark.parametrize(
    "statuses, stands",
    [
        (("pending", "succeeded"), "succeeded"),
        (("pending", "requires_action"), "requires_action"),
        (("succeeded", "failed", "pending"), "failed"),
        (("requires_action", "canceled"), "canceled"),
        (("succeeded", "mystery"), "succeeded"),
        (("pending", None), "pending"),
        (("mystery", "pending"), "pending"),
        (("failed", "canceled"), "failed"),
        (("mystery", None), "mystery"),
    ],
)
def test_the_furthest_status_stands_whatever_the_order(statuses: tuple[str | None, ...], stands: str) -> None:
    for order in permutations(statuses):
        intake = refunds(*({"status": status} for status in order))

        assert standing(intake, "status") == [[stands]]
        assert intake.superseded == len(statuses) - 1


def test_of_equal_rank_the_fuller_row_stands_then_the_greater_as_text() -> None:
    fuller = refunds({"status": "failed"}, {"status": "canceled", "failure_reason": "lost"})
    greater = refunds({"reason": "duplicate"}, {"reason": "fraudulent"})

    assert standing(fuller, "status") == [["canceled"]]
    assert standing(greater, "reason") == [["fraudulent"]]


def test_a_standing_version_takes_the_keys_it_lacks_and_keeps_its_own() -> None:
    intake = refunds(
        {"status": "pending", "intent_key": "k1", "request_key": "r1"},
        {"status": "succeeded", "intent_key": "k2", "operator_key": "o1"},
        {"status": "failed", "intent_key": None, "request_key": "r3"},
    )

    assert standing(intake, "status", "intent_key", "request_key", "operator_key") == [
        ["failed", "k2", "r3", "o1"]
    ]
    assert intake.superseded == 2


@pytest.mark.parametrize(
    "fields, column",
    [
        ({"amount_minor": 1}, "amount_minor"),
        ({"currency": "eur"}, "currency"),
        ({"payment_intent": "pi_2"}, "payment"),
        ({"payment_intent": None}, "payment"),
    ],
)
def test_versions_that_the_provider_cannot_have_made_are_all_rejected(
    fields: dict[str, object], column: str
) -> None:
    intake = refunds({"id": "re_0"}, {"status": "pending", "intent_key": "k1"}, fields)

    assert standing(intake, "id") == [["re_0"]]
    assert [(reject.row, reject.id, reject.names) for reject in intake.rejects] == [
        (2, "re_1", ("k1",)),
        (3, "re_1", ()),
    ]
    assert f"differ in {column}," in intake.rejects[0].reason
    assert intake.superseded == 0


@pytest.mark.parametrize("fields", [{"created_at": "2026-03-06T17:00:02Z"}, {"charge": "ch_2"}])
def test_versions_may_differ_in_what_extracts_round_or_leave_out(fields: dict[str, object]) -> None:
    intake = refunds({"charge": "ch_1", "status": "pending"}, {"charge": "ch_1", **fields})

    expected = refunds({"charge": "ch_1", **fields}).frame
    pd.testing.assert_frame_equal(intake.frame, expected)
    assert (intake.rejects, intake.superseded) == ((), 1)


def test_a_charge_is_the_payment_intent_that_any_row_shows_for_it() -> None:
    early = {"payment_intent": None, "charge": "ch_1", "status": "pending"}
    same = refunds(early, {"charge": "ch_1"})
    elsewhere = refunds(early, {"charge": None}, {"id": "re_2", "charge": "ch_1"})
    nowhere = refunds(early, {"charge": None})

    assert standing(same, "payment_intent", "charge") == [["pi_1", "ch_1"]]
    assert standing(elsewhere, "id") == [["re_1"], ["re_2"]]
    assert len(nowhere.rejects) == 2


def test_ids_are_unique_per_account_only() -> None:
    intake = refunds({}, {"account": "acct_1", "amount_minor": 1})

    assert standing(intake, "account", "amount_minor") == [["", 4900], ["acct_1", 1]]
    assert intake.superseded == 0


def test_the_latest_version_of_an_intent_stands() -> None:
    intake = intents(
        {"status": "pending", "updated_at": "2026-03-06T17:00:00Z", "refund_id": "re_1"},
        {"status": "done", "updated_at": "2026-03-06T17:00:02Z"},
        {"status": "pending_unknown", "updated_at": "2026-03-06T17:00:01Z", "amount_minor": 1},
    )

    assert standing(intake, "status", "refund_id") == [["done", None]]
    assert (intake.superseded, intake.rejects) == (2, ())


def test_intent_versions_of_the_same_latest_moment_are_all_rejected() -> None:
    latest = {"updated_at": "2026-03-06T17:00:02Z"}
    intake = intents(
        {"status": "pending", "refund_id": "re_1"},
        {"status": "done", **latest},
        {"status": "failed", **latest},
    )

    assert intake.frame.empty
    assert [(reject.row, reject.names) for reject in intake.rejects] == [(1, ("re_1",)), (2, ()), (3, ())]
    assert "latest updated_at" in intake.rejects[0].reason


def test_an_older_tie_does_not_matter() -> None:
    intake = intents(
        {"status": "pending"}, {"status": "failed"}, {"status": "done", "updated_at": "2026-03-06T17:00:02Z"}
    )

    assert standing(intake, "status") == [["done"]]
    assert intake.superseded == 2


def test_rows_keep_their_order_and_dtypes_beside_versions() -> None:
    intake = refunds(
        {"id": "re_1", "status": "pending"}, {"id": "re_2"}, {"id": "re_1"}, {"id": "re_3", "system": True}
    )

    assert standing(intake, "id", "status") == [
        ["re_2", "succeeded"],
        ["re_1", "succeeded"],
        ["re_3", "succeeded"],
    ]
    pd.testing.assert_series_equal(intake.frame.dtypes, refunds({}).frame.dtypes)
    assert intake.frame.index.equals(pd.RangeIndex(3))


@pytest.mark.parametrize("names", ["re_{:06d}", "re_{}", "{:06d}é", "{:016d}", "{:01000d}"])
def test_one_repeated_id_among_many_is_found(names: str) -> None:
    ids = [names.format(number) for number in range(300)]

    alone = refunds(*({"id": name} for name in ids))
    repeated = refunds(*({"id": name} for name in ids), {"id": ids[123], "status": "failed"})

    assert (len(alone.frame), alone.superseded) == (300, 0)
    assert (len(repeated.frame), repeated.superseded) == (300, 1)


@pytest.mark.parametrize("placeholder", ["N/A", "null", "-", "re_000000000000", "XXXXXXXX"])
def test_a_placeholder_that_repeats_is_nobodys_id(placeholder: str) -> None:
    intake = refunds({"id": placeholder}, {"id": placeholder, "status": "failed"}, {"id": "re_2"})
    ours = intents(
        {"key": placeholder, "order_id": "1"},
        {"key": placeholder, "updated_at": "2030-01-01T00:00:00Z"},
        {"key": "k2"},
    )

    assert standing(intake, "id") == [["re_2"]]
    assert standing(ours, "key") == [["k2"]]
    assert [(reject.row, reject.reason) for reject in intake.rejects] == [
        (
            row,
            f"id must be one of its own; found the placeholder '{placeholder}', which 2 different rows have",
        )
        for row in (1, 2)
    ]
    assert [reject.reason.startswith("key must be one of its own") for reject in ours.rejects] == [True] * 2


def test_a_placeholder_that_stands_alone_may_pass_for_an_id() -> None:
    assert standing(refunds({"id": "re_000000000000"}, {"id": "re_000000000000"}), "id") == [
        ["re_000000000000"]
    ]


ROWS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.sampled_from(["re_1", "re_2", "re_3", "null", None]),
            "key": st.sampled_from(["k1", "k2", "null", None]),
            "status": st.sampled_from(["pending", "succeeded", "failed", "done", None]),
            "amount_minor": st.sampled_from([1, 2, "x"]),
            "updated_at": st.sampled_from(["2026-03-06T17:00:00Z", "2026-03-06T18:00:00Z"]),
        },
    ),
    max_size=8,
)


@given(ROWS)
@settings(deadline=None, max_examples=60)
def test_every_row_that_was_read_stands_or_is_counted_elsewhere(rows: list[dict[str, Any]]) -> None:
    for intake in (refunds(*rows), intents(*rows)) if rows else ():
        assert len(rows) == intake.read
        assert intake.read == (
            len(intake.frame) + len(intake.rejects) + intake.superseded + intake.duplicates
        )


def test_versions_of_which_none_is_the_latest_are_rejected_by_the_name_of_their_key() -> None:
    later = "2026-03-06T18:00:00Z"

    told = intents({"updated_at": later}, {"updated_at": later, "status": "failed"}, {"status": "pending"})

    assert {each.reason for each in told.rejects} == {
        "several versions of intent 'k1' share the latest updated_at, so nobody can say which one stands"
    }


def test_where_no_updated_at_is_told_the_reason_says_so() -> None:
    untold = intents({}, {"status": "failed"}, {"key": "k2"}, {"key": "k2", "amount_minor": 1}, {"key": "k3"})

    assert [each.reason for each in untold.rejects] == [
        f"different rows are about intent '{key}', and no updated_at says which of them is newer"
        for key in ("k1", "k1", "k2", "k2")
    ]
