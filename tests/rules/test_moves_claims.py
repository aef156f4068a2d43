"""What people may say of whose a refund is: adopted as an intent, linked to one, and taken back."""

from dataclasses import replace
from typing import Any

import pytest

from recon.model.changes import Illegal
from recon.model.records.cases import Case
from recon.model.records.claims import Adoption, Known, Link
from recon.model.records.provider import Intent
from recon.model.records.words import (
    AccountId,
    CaseState,
    IntentKey,
    IntentStatus,
    Kind,
    RefundId,
    Subject,
)
from recon.rules import moves
from tests.builders import PLATFORM, a_case, a_mismatch, an_intent
from tests.rules.test_moves import BY, KEY, NOW, ORPHAN, REFUND, STRAY


def adopted(known: Known, **changes: Any) -> Any:  # noqa: ANN401  # a change with its claim, or a sentence
    return moves.adopt(a_case(replace(ORPHAN, **changes)), known, **BY)


def test_an_adopted_refund_is_a_done_intent_with_its_own_facts() -> None:
    change, claim = adopted(Known(STRAY))

    assert claim == Adoption(
        STRAY,
        Intent(
            key=IntentKey("adopted:re_8812"),
            account=PLATFORM,
            amount_minor=4900,
            currency="usd",
            status=IntentStatus.DONE,
            created_at=STRAY.created_at,
            updated_at=NOW,
            payment="pi_8812",
            refund_id=REFUND,
        ),
    )
    assert change.entry.reason == "Refund re_8812 is now the intent adopted:re_8812. The customer called."


@pytest.mark.parametrize(
    "refund, facts",
    [
        ({"intent_key": IntentKey("lost_row")}, {"key": "lost_row"}),
        ({"payment_intent": None}, {"payment": "ch_8812"}),
        ({"payment_intent": None, "charge": None}, {"payment": None}),
        ({"account": AccountId("acct_2")}, {"account": "acct_2"}),
        ({"status": "pending"}, {"status": IntentStatus.DONE}),
        ({"status": "a new word"}, {"status": IntentStatus.DONE}),
    ],
)
def test_what_a_refund_tells_is_what_its_intent_says(
    refund: dict[str, object], facts: dict[str, object]
) -> None:
    _, claim = adopted(Known(replace(STRAY, **refund)))  # type: ignore[arg-type]  # any field

    assert {name: getattr(claim.intent, name) for name in facts} == facts


@pytest.mark.parametrize("kind, reference", [(Kind.ORPHAN, None), (Kind.DUPLICATE, "adopted:re_8812")])
def test_a_refund_beside_a_twin_is_adopted_as_a_declared_repeat(kind: Kind, reference: str | None) -> None:
    _, claim = adopted(Known(STRAY), kind=kind)

    assert claim.intent.reference == reference


@pytest.mark.parametrize(
    "known, said",
    [
        (Known(None), "no refund re_8812 in the mirror"),
        (Known(replace(STRAY, status="failed")), "is failed"),
        (Known(replace(STRAY, status="canceled")), "is canceled"),
        (Known(replace(STRAY, system=True)), "made by the provider itself"),
        (Known(STRAY, holder=KEY), "belongs to the intent refund_order:8812 by now"),
    ],
)
def test_a_refund_that_cannot_be_an_intent_is_not_adopted(known: Known, said: str) -> None:
    found = adopted(known)

    assert isinstance(found, Illegal)
    assert said in found.reason


def test_only_a_refund_is_adopted() -> None:
    found = moves.adopt(a_case(), Known(STRAY), **BY)

    assert isinstance(found, Illegal)
    assert "is about an intent" in found.reason


def linked(
    known: Known,
    case: Case | None = None,
    refund_id: RefundId = REFUND,
    intent_key: IntentKey = KEY,
) -> Any:  # noqa: ANN401  # a change with its claim, or a sentence
    return moves.link(
        case or a_case(ORPHAN),
        known,
        refund_id=refund_id,
        intent_key=intent_key,
        **BY,
    )


@pytest.mark.parametrize(
    "case",
    [
        a_case(ORPHAN),
        a_case(a_mismatch(kind=Kind.MISSING, refund_ids=(), extra_refund_ids=())),
        a_case(a_mismatch(subject=Subject("intent:another"), refund_ids=(REFUND,))),
    ],
    ids=["the refund's", "the intent's", "one that the refund takes part in"],
)
def test_a_refund_is_linked_from_any_case_it_concerns(case: Case) -> None:
    change, claim = linked(Known(STRAY, an_intent()), case)

    assert claim == Link(STRAY, KEY)
    assert change.entry.reason == (
        "Refund re_8812 belongs to the intent refund_order:8812. The customer called."
    )


@pytest.mark.parametrize(
    "known, said",
    [
        (Known(None, an_intent()), "no refund re_8812 in the mirror"),
        (Known(STRAY), "has no intent refund_order:8812; no other has it"),
        (
            Known(STRAY, elsewhere=(AccountId("acct_2"),)),
            "acct_2 has it, and a link stays within one",
        ),
        (Known(replace(STRAY, status="failed"), an_intent()), "is failed"),
        (Known(replace(STRAY, status="canceled"), an_intent()), "is canceled"),
        (Known(replace(STRAY, system=True), an_intent()), "made by the provider itself"),
        (
            Known(replace(STRAY, operator_key=KEY), an_intent()),
            "linked to the intent refund_order:8812 already",
        ),
        (
            Known(replace(STRAY, operator_key=IntentKey("other")), an_intent()),
            "is linked to the intent other by a person: unlink it first",
        ),
    ],
)
def test_a_refund_that_cannot_be_that_intents_is_not_linked(known: Known, said: str) -> None:
    found = linked(known)

    assert isinstance(found, Illegal)
    assert said in found.reason


def test_a_case_does_not_link_what_it_is_not_about() -> None:
    found = linked(Known(STRAY, an_intent()), refund_id=RefundId("re_other"))

    assert isinstance(found, Illegal)
    assert "is about neither refund re_other nor intent refund_order:8812" in found.reason


@pytest.mark.parametrize("known", [Known(None), Known(STRAY)])
def test_a_link_that_nobody_made_cannot_be_taken_back(known: Known) -> None:
    found = moves.unlink(a_case(ORPHAN), known, refund_id=REFUND, **BY)

    assert isinstance(found, Illegal)
    assert "not linked by a person" in found.reason


def test_a_link_is_taken_back_from_a_case_that_it_concerns() -> None:
    known = Known(replace(STRAY, operator_key=KEY))
    found = moves.unlink(
        a_case(ORPHAN, state=CaseState.CLEARED),
        known,
        refund_id=REFUND,
        **BY,
    )
    other = moves.unlink(
        a_case(a_mismatch(subject=Subject("intent:another"), refund_ids=())),
        known,
        refund_id=REFUND,
        **BY,
    )

    assert isinstance(found, tuple)
    change, claim = found
    assert (claim.refund, claim.intent_key) == (known.refund, None)
    assert change.entry.reason.startswith("Refund re_8812 was linked to the intent refund_order:8812, and ")
    assert isinstance(other, Illegal)
