"""The slow reading of the diff: what is not read, rejected, superseded, mapped or the provider's own."""

from typing import Any

import pytest

from tests.drawer import AS_OF, MICROSECOND, Row
from tests.rows import INTENTS_CUT, REFUNDS_CUT, T0, a_refund, an_intent, found, kinds


@pytest.mark.parametrize(
    "settings, withheld",
    [
        ({"incomplete": REFUNDS_CUT}, True),
        ({"refunds_from": T0 + MICROSECOND}, True),
        ({"refunds_from": T0}, False),
        ({"incomplete": INTENTS_CUT}, False),
        ({"intents_from": AS_OF}, False),
    ],
)
@pytest.mark.parametrize(
    "refunds",
    [
        [],
        [a_refund(intent_key="k1", status="failed")],
        [a_refund(intent_key="k1", amount_minor=60)],
    ],
    ids=["7", "6", "3 under"],
)
def test_what_was_not_read_withholds_3_under_6_and_7(
    refunds: list[Row], settings: dict[str, Any], *, withheld: bool
) -> None:
    document = found([an_intent()], refunds, settings)

    assert document["counts"]["withheld"] == int(withheld)
    assert len(document["mismatches"]) == int(not withheld)
    assert (document["verdict"] == "incomplete") == (withheld or "incomplete" in settings)


@pytest.mark.parametrize(
    "settings, withheld",
    [
        ({"incomplete": INTENTS_CUT}, True),
        ({"intents_from": T0 + MICROSECOND}, True),
        ({"intents_from": T0}, False),
        ({"incomplete": REFUNDS_CUT}, False),
    ],
)
def test_what_was_not_read_withholds_10_and_11(settings: dict[str, Any], *, withheld: bool) -> None:
    document = found([], [a_refund(), a_refund("re_2")], settings)

    assert document["counts"]["withheld"] == 2 * withheld
    assert len(document["mismatches"]) == 2 * (not withheld)


def test_a_withheld_rule_is_passed_over_and_what_is_young_is_in_flight_all_the_same() -> None:
    landed = found(
        [an_intent(status="pending")],
        [a_refund(intent_key="k1", amount_minor=60)],
        {"incomplete": REFUNDS_CUT},
    )
    young = found([an_intent(at=AS_OF)], [], {"incomplete": REFUNDS_CUT})

    assert [(m["kind"], m["finding"]) for m in landed["mismatches"]] == [("stuck", "landed")]
    assert [f["becomes"] for f in young["in_flight"]] == ["missing"]
    assert young["counts"]["withheld"] == 0


@pytest.mark.parametrize(
    "intents, refunds, withheld",
    [
        ([an_intent()], [a_refund(intent_key="k1", amount_minor=-1)], 1),
        ([an_intent()], [a_refund(request_key="k1", currency="xxx")], 1),
        ([an_intent(refund_id="re_1")], [a_refund(created_at="2026-03-06T15:00:00")], 1),
        ([an_intent(amount_minor="1.5")], [a_refund(intent_key="k1")], 1),
        ([an_intent(status="paid", refund_id="re_1")], [a_refund()], 1),
        ([an_intent(account="acct_1")], [a_refund(intent_key="k1", amount_minor=-1)], 0),
    ],
)
def test_what_a_reject_touches_is_withheld(intents: list[Row], refunds: list[Row], withheld: int) -> None:
    document = found(intents, refunds)

    assert document["counts"]["rejected"] == 1
    assert document["counts"]["withheld"] == withheld
    assert len(document["mismatches"]) == 1 - withheld
    assert document["verdict"] == ("reconciled" if withheld else "breaks")


def test_versions_of_a_refund_fold_to_the_furthest_and_it_takes_the_keys_it_lacks() -> None:
    refunds = [
        a_refund(intent_key="k1", status="pending"),
        a_refund(status="succeeded", request_key="k2"),
        a_refund(status="succeeded", request_key="k2"),
        a_refund(status="requires_action", request_key="k3", reason="duplicate"),
    ]
    document = found([an_intent("k1", payment=None)], refunds)

    assert document["counts"]["superseded"] == 2
    assert document["counts"]["refunds"] == document["counts"]["matched"] == 1


def test_versions_that_disagree_on_money_are_all_rejected_and_so_are_two_latest_of_an_intent() -> None:
    refunds = found([], [a_refund(), a_refund(amount_minor=7), a_refund(status="failed")])
    intents = found(
        [an_intent(), an_intent(status="failed"), an_intent(updated_at="2026-03-01T00:00:00Z")], []
    )

    assert [(r["source"], r["row"], r["id"]) for r in refunds["rejected"]] == [
        ("refunds", n, "re_1") for n in (1, 2, 3)
    ]
    assert [(r["source"], r["row"], r["id"]) for r in intents["rejected"]] == [
        ("intents", n, "k1") for n in (1, 2, 3)
    ]


def test_a_charge_is_its_payment_intent_where_any_refund_of_the_account_shows_it() -> None:
    shows = a_refund("re_2", payment_intent="pi_1", charge="ch_1", status="failed")
    document = found([an_intent(payment="ch_1")], [a_refund(), shows])
    elsewhere = found([an_intent(payment="ch_1")], [a_refund(), {**shows, "account": "acct_1"}])

    assert document["counts"]["matched_inferred"] == 1
    assert elsewhere["counts"]["matched_inferred"] == 0


def test_the_providers_own_refunds_take_no_part_and_unknown_words_are_live() -> None:
    refunds = [a_refund("re_1", reason="expired_uncaptured_charge"), a_refund("re_2", status="on_hold")]
    document = found([], refunds)

    assert kinds(document) == {"refund:re_2": "orphan"}
    assert (document["counts"]["system"], document["counts"]["unknown_status"]) == (1, 1)
