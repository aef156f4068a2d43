"""The slow reading of the diff on small tables of tricky readings, so that it can be trusted as a judge."""

from datetime import timedelta
from typing import Any

import pytest

from tests.drawer import AS_OF, MICROSECOND, Row
from tests.rows import DAY, HOUR, MINUTE, REFUNDS_CUT, T0, a_refund, an_intent, found, kinds


@pytest.mark.parametrize(
    "late, in_flight", [(-MICROSECOND, True), (timedelta(0), False), (MICROSECOND, False)], ids=str
)
@pytest.mark.parametrize(
    "grace, status, kind",
    [
        (15 * MINUTE, "done", "missing"),
        (60 * MINUTE, "pending", "stuck"),
        (60 * MINUTE, "pending_unknown", "stuck"),
    ],
    ids=str,
)
def test_an_intent_breaks_exactly_at_its_grace(
    grace: timedelta, status: str, kind: str, late: timedelta, *, in_flight: bool
) -> None:
    asked_at = AS_OF - grace - late
    document = found([an_intent(at=asked_at, status=status)], [])

    if in_flight:
        assert document["in_flight"] == [
            {
                "subject": "intent:k1",
                "account": "",
                "becomes": kind,
                "breaks_at": (AS_OF - late).isoformat().replace("+00:00", "Z"),
            }
        ]
        assert document["verdict"] == "reconciled_with_pending"
    else:
        assert kinds(document) == {"intent:k1": kind}


@pytest.mark.parametrize("late, in_flight", [(-MICROSECOND, True), (timedelta(0), False)], ids=str)
@pytest.mark.parametrize("twin, kind", [(False, "orphan"), (True, "duplicate")])
def test_a_refund_of_nobody_breaks_exactly_at_its_grace(
    late: timedelta, *, in_flight: bool, twin: bool, kind: str
) -> None:
    subject = a_refund(at=AS_OF - 15 * MINUTE - late)
    twins = [a_refund("re_0", at=T0, intent_key="k1")] if twin else []
    document = found([an_intent()] if twin else [], [subject, *twins])

    assert kinds(document) == ({} if in_flight else {"refund:re_1": kind})
    assert [f["becomes"] for f in document["in_flight"]] == ([kind] if in_flight else [])


@pytest.mark.parametrize("status", ["done", "pending"])
def test_stuck_counts_from_the_first_sending_and_missing_from_the_last_update(status: str) -> None:
    intent = an_intent(
        status=status,
        first_sent_at=(AS_OF - 59 * MINUTE).isoformat(),
        updated_at=(AS_OF - 14 * MINUTE).isoformat(),
    )

    assert kinds(found([intent], [])) == {}
    assert len(found([intent], [])["in_flight"]) == 1


@pytest.mark.parametrize(
    "fields, kept",
    [
        ({"refund_id": "re_3"}, "re_3"),
        ({"refund_id": "re_9"}, "re_2"),
        ({}, "re_2"),
        ({"amount_minor": 70}, "re_1"),
    ],
    ids=["its own", "its own is not there", "first of the amount", "the first"],
)
def test_rule_1_keeps_its_own_then_the_first_equal_then_the_first(fields: Row, kept: str) -> None:
    refunds = [
        a_refund("re_1", intent_key="k1", amount_minor=50),
        a_refund("re_2", T0 + MINUTE, intent_key="k1"),
        a_refund("re_3", T0 + 2 * MINUTE, intent_key="k1"),
    ]
    document = found([{**an_intent(), **fields}], refunds)

    [only] = document["mismatches"]
    everything = ["re_1", "re_2", "re_3"]
    assert (only["kind"], only["certainty"]) == ("duplicate", "confirmed")
    assert only["refund_ids"] == everything
    assert only["extra_refund_ids"] == [name for name in everything if name != kept]


def test_rule_1_never_adds_two_currencies() -> None:
    refunds = [
        a_refund("re_1", intent_key="k1"),
        a_refund("re_2", T0 + MINUTE, intent_key="k1", currency="eur", amount_minor=7),
        a_refund("re_3", T0 + 2 * MINUTE, intent_key="k1", currency="jpy", amount_minor=500),
        a_refund("re_4", T0 + 3 * MINUTE, intent_key="k1", currency="eur", amount_minor=5),
    ]
    document = found([an_intent()], refunds)

    [only] = document["mismatches"]
    assert (only["amount_at_risk"], only["currency"]) == (12, "eur")
    assert document["at_risk"] == {"eur": 12}


def test_two_parts_that_add_up_are_in_agreement() -> None:
    refunds = [a_refund(f"re_{n}", T0 + n * MINUTE, intent_key="k1", amount_minor=50) for n in (1, 2)]
    document = found([an_intent()], refunds)

    assert document["verdict"] == "reconciled"
    assert document["counts"]["matched"] == 1


@pytest.mark.parametrize(
    "given, asked, direction, caused",
    [
        (10_000, 100, "over", True),
        (100_000, 100, "over", True),
        (1, 100, "under", True),
        (1, 1000, "under", True),
        (101, 100, "over", True),
        (99, 100, "under", True),
        (98, 100, "under", False),
        (0, 100, "under", False),
        (1001, 10, "over", False),
    ],
)
def test_rule_3_names_a_cause_only_for_exact_ratios_and_one_unit(
    given: int, asked: int, direction: str, *, caused: bool
) -> None:
    document = found([an_intent(amount_minor=asked)], [a_refund(intent_key="k1", amount_minor=given)])

    [only] = document["mismatches"]
    assert (only["kind"], only["direction"]) == ("amount_mismatch", direction)
    assert only["amount_at_risk"] == abs(given - asked)
    assert (only["diagnosis"] is not None) == caused


def chain(*gaps: timedelta, references: tuple[str | None, ...] = ()) -> tuple[list[Row], list[Row]]:
    """Intents each with its own refund, the gaps between the refunds given."""
    moments = [AS_OF - 100 * DAY]
    for gap in gaps:
        moments.append(moments[-1] + gap)
    named = references or (None,) * len(moments)
    intents = [an_intent(f"k{n}", at, reference=named[n]) for n, at in enumerate(moments)]
    return intents, [a_refund(f"re_{n}", at, intent_key=f"k{n}") for n, at in enumerate(moments)]


def test_rule_4_names_the_one_before_each_along_a_chain() -> None:
    document = found(*chain(HOUR, HOUR))

    assert [(m["subject"], m["refund_ids"], m["extra_refund_ids"]) for m in document["mismatches"]] == [
        ("intent:k1", ["re_0", "re_1"], ["re_1"]),
        ("intent:k2", ["re_1", "re_2"], ["re_2"]),
    ]


@pytest.mark.parametrize(
    "gap, repeats",
    [(30 * DAY, True), (30 * DAY + MICROSECOND, False), (30 * DAY - MICROSECOND, True)],
    ids=str,
)
def test_rule_4_looks_back_exactly_its_window(gap: timedelta, *, repeats: bool) -> None:
    assert kinds(found(*chain(gap))) == ({"intent:k1": "duplicate"} if repeats else {})


@pytest.mark.parametrize(
    "references, subjects, declared",
    [
        ((None, None), ["intent:k1"], 0),
        (("r1", "r1"), ["intent:k1"], 0),
        (("r1", "r2"), [], 1),
        ((None, "r1"), [], 1),
        (("r1", "r2", "r1"), ["intent:k2"], 1),
    ],
)
def test_another_reference_is_how_a_repeat_is_declared(
    references: tuple[str | None, ...], subjects: list[str], declared: int
) -> None:
    document = found(*chain(*[HOUR] * (len(references) - 1), references=references))

    assert list(kinds(document)) == subjects
    assert document["counts"]["declared_repeats"] == declared


def test_a_repeat_far_from_the_one_before_is_not_declared_by_its_reference() -> None:
    document = found(*chain(31 * DAY, references=("r1", "r2")))

    assert document["counts"]["declared_repeats"] == 0


def test_rule_4_goes_by_the_order_where_the_refund_shows_no_payment() -> None:
    intents = [an_intent(f"k{n}", order_id="o1", payment=None) for n in (1, 2)]
    refunds = [a_refund(f"re_{n}", T0 + n * MINUTE, intent_key=f"k{n}", payment_intent=None) for n in (1, 2)]

    assert kinds(found(intents, refunds)) == {"intent:k2": "duplicate"}
    assert kinds(found([{**i, "order_id": None} for i in intents], refunds)) == {}


def test_rule_4_comes_before_5_and_stands_beside_healing() -> None:
    intents, refunds = chain(HOUR, HOUR)
    intents[1]["status"] = "failed"
    intents[2]["status"] = "pending"
    document = found(intents, refunds)

    assert kinds(document) == {"intent:k1": "duplicate", "intent:k2": "duplicate"}
    assert document["healable"] == [
        {"account": "", "intent_key": "k2", "refund_id": "re_2", "basis": "intent_key"}
    ]


def test_failed_with_live_refunds_is_5_and_done_with_only_dead_ones_6() -> None:
    intents = [an_intent("k1", status="failed"), an_intent("k2", status="done", payment="pi_2")]
    refunds = [
        a_refund("re_1", intent_key="k1"),
        a_refund("re_2", intent_key="k1", status="failed"),
        a_refund("re_3", intent_key="k2", status="failed", payment_intent="pi_2"),
        a_refund("re_4", T0 + MINUTE, intent_key="k2", status="canceled", payment_intent="pi_2"),
    ]
    document = found(intents, refunds)

    assert [(m["subject"], m["kind"], m["refund_ids"], m["since"]) for m in document["mismatches"]] == [
        ("intent:k1", "status_mismatch", ["re_1"], "2026-03-06T15:00:00Z"),
        ("intent:k2", "refund_failed", ["re_3", "re_4"], "2026-03-06T15:01:00Z"),
    ]


def test_of_two_claims_the_earlier_has_the_refund_and_the_other_is_told_whose_it_is() -> None:
    intents = [an_intent("k1", T0 + MINUTE, refund_id="re_1"), an_intent("k2", refund_id="re_1")]
    document = found(intents, [a_refund()])

    [only] = document["mismatches"]
    assert (only["subject"], only["kind"], only["diagnosis"]) == ("intent:k1", "missing", "claimed by k2")
    assert (only["amount_at_risk"], document["at_risk"]) == (0, {})


@pytest.mark.parametrize(
    "names, basis",
    [
        ({"operator_key": "k3", "intent_key": "k2", "request_key": "k4"}, ("k3", "operator")),
        ({"operator_key": "k9", "intent_key": "k2"}, ("k2", "intent_key")),
        ({"intent_key": "k9", "request_key": "k4"}, ("k1", "refund_id")),
        ({"request_key": "k4"}, ("k1", "refund_id")),
    ],
)
def test_the_first_basis_that_answers_links(names: Row, basis: tuple[str, str]) -> None:
    intents = [an_intent(f"k{n}", payment=None, status="pending") for n in (1, 2, 3, 4)]
    intents[0]["refund_id"] = "re_1"
    [heal] = found(intents, [{**a_refund(), **names}])["healable"]

    assert (heal["intent_key"], heal["basis"]) == basis


@pytest.mark.parametrize(
    "after, inferred",
    [
        (-timedelta(seconds=5), True),
        (-timedelta(seconds=5) - MICROSECOND, False),
        (DAY, True),
        (DAY + MICROSECOND, False),
    ],
    ids=str,
)
def test_a_likeness_holds_within_its_window_only(after: timedelta, *, inferred: bool) -> None:
    asked_at = AS_OF - 2 * DAY
    document = found([an_intent(at=asked_at)], [a_refund(at=asked_at + after)])

    assert document["counts"]["matched_inferred"] == int(inferred)
    assert document["counts"]["mismatches"]["orphan"] == int(not inferred)


def test_a_likeness_takes_done_first_and_never_a_refund_that_names_a_key() -> None:
    intents = [an_intent("k1", status="pending"), an_intent("k2", T0 + MINUTE), an_intent("k3", T0 - MINUTE)]
    refunds = [
        a_refund("re_1", T0 + MINUTE),
        a_refund("re_2", T0 + MINUTE, intent_key="k9"),
        a_refund("re_3", intent_key="k3", status="failed"),
    ]
    document = found(intents, refunds)

    assert kinds(document) == {
        "refund:re_2": "duplicate",
        "intent:k3": "refund_failed",
        "intent:k1": "stuck",
    }
    assert document["counts"]["matched_inferred"] == 1


@pytest.mark.parametrize(
    "refunds, settings, finding, certainty, ids",
    [
        ([], {}, "absent", "confirmed", []),
        ([], {"incomplete": REFUNDS_CUT}, "unknown", "confirmed", []),
        ([a_refund(status="failed", intent_key="k1")], {}, "failed", "confirmed", ["re_1"]),
        (
            [a_refund(status="failed", intent_key="k1")],
            {"incomplete": REFUNDS_CUT},
            "unknown",
            "confirmed",
            ["re_1"],
        ),
        ([a_refund()], {}, "probable", "probable", ["re_1"]),
        ([a_refund(intent_key="k1")], {"policy": {"healing": False}}, "landed", "confirmed", ["re_1"]),
        ([a_refund(amount_minor=7)], {}, "unknown", "confirmed", []),
        ([a_refund(amount_minor=7, status="failed")], {}, "absent", "confirmed", []),
        ([a_refund(amount_minor=7, system=True)], {}, "absent", "confirmed", []),
    ],
)
def test_rule_8_says_what_was_found(
    refunds: list[Row], settings: dict[str, Any], finding: str, certainty: str, ids: list[str]
) -> None:
    document = found([an_intent(status="pending_unknown")], refunds, settings)

    [stuck] = [m for m in document["mismatches"] if m["kind"] == "stuck"]
    assert (stuck["finding"], stuck["certainty"], stuck["refund_ids"]) == (finding, certainty, ids)


@pytest.mark.parametrize("late, overdue", [(-MICROSECOND, False), (timedelta(0), True)], ids=str)
@pytest.mark.parametrize("status", ["pending", "requires_action"])
def test_rule_9_counts_only_what_is_late_and_names_all(
    late: timedelta, *, overdue: bool, status: str
) -> None:
    made_at = AS_OF - 7 * DAY - late
    refunds = [
        a_refund("re_1", made_at, intent_key="k1", amount_minor=60, status=status),
        a_refund("re_2", made_at + MINUTE, intent_key="k1", amount_minor=40, status="pending"),
    ]
    document = found([an_intent(at=made_at)], refunds)

    assert kinds(document) == ({"intent:k1": "overdue"} if overdue else {})
    if overdue:
        assert document["at_risk"] == {"usd": 60}
        assert document["mismatches"][0]["refund_ids"] == ["re_1", "re_2"]


def test_9_fires_while_8_is_too_young_but_never_on_what_can_be_healed() -> None:
    old = AS_OF - 8 * DAY
    intent = an_intent(at=old, status="pending", first_sent_at=(AS_OF - MINUTE).isoformat())
    refund = a_refund(at=old, intent_key="k1", status="pending")

    assert kinds(found([intent], [refund], {"policy": {"healing": False}})) == {"intent:k1": "overdue"}
    assert kinds(found([intent], [refund])) == {}


@pytest.mark.parametrize(
    "twins, chosen",
    [
        ([("re_2", -MINUTE, False), ("re_3", 2 * HOUR, True)], "re_3"),
        ([("re_2", -2 * HOUR, True), ("re_3", HOUR, True)], "re_3"),
        ([("re_2", -HOUR, True), ("re_3", HOUR, True)], "re_2"),
        ([("re_2", -HOUR, False), ("re_3", MINUTE, False)], "re_2"),
        ([("re_2", -DAY, True)], "re_2"),
        ([("re_2", -DAY - MICROSECOND, True)], None),
        ([("re_2", MINUTE, False)], None),
        ([("re_0", timedelta(0), False)], "re_0"),
        ([("re_2", timedelta(0), False)], None),
    ],
)
def test_rule_10_takes_a_linked_twin_then_the_nearest_then_the_earliest(
    twins: list[tuple[str, timedelta, bool]], chosen: str | None
) -> None:
    intents = [an_intent(f"k_{name}", payment=None) for name, _, linked in twins if linked]
    refunds = [
        a_refund(name, T0 + apart, intent_key=f"k_{name}" if linked else "k9")
        for name, apart, linked in twins
    ]
    document = found(intents, [a_refund(intent_key="k8"), *refunds])

    [only] = [m for m in document["mismatches"] if m["subject"] == "refund:re_1"]
    assert only["intent_key"] == "k8"
    if chosen is None:
        assert (only["kind"], only["refund_ids"]) == ("orphan", ["re_1"])
    else:
        assert (only["kind"], set(only["refund_ids"])) == ("duplicate", {chosen, "re_1"})
        assert only["extra_refund_ids"] == ["re_1"]
