"""Ordinary records: a test states only what it is about."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from recon.model.records.cases import Case, Owner, case_id
from recon.model.records.provider import Intent, Refund
from recon.model.records.results import Counts, Mismatch, Money, Result
from recon.model.records.words import (
    AccountId,
    CaseState,
    Certainty,
    IntentKey,
    IntentStatus,
    Kind,
    RefundId,
    Severity,
    Subject,
    Verdict,
)

NOON = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)  # The moment ordinary records are about.
PLATFORM = AccountId("")

_INTENT = Intent(
    key=IntentKey("refund_order:8812"),
    account=PLATFORM,
    amount_minor=4900,
    currency="usd",
    status=IntentStatus.DONE,
    created_at=NOON,
    updated_at=NOON + timedelta(seconds=5),
    order_id="order_8812",
    payment="pi_8812",
    refund_id=RefundId("re_8812"),
    first_sent_at=NOON,
    tool="refund_order",
    team="support",
    customer_id="cus_8812",
)

_REFUND = Refund(
    id=RefundId("re_8812"),
    account=PLATFORM,
    amount_minor=4900,
    currency="usd",
    status="succeeded",
    created_at=NOON + timedelta(seconds=2),
    payment_intent="pi_8812",
    charge="ch_8812",
    intent_key=IntentKey("refund_order:8812"),
)

_MISMATCH = Mismatch(
    kind=Kind.DUPLICATE,
    certainty=Certainty.CONFIRMED,
    account=PLATFORM,
    subject=Subject("intent:refund_order:8812"),
    at_risk=Money(4900, "usd"),
    since=NOON + timedelta(seconds=30),
    why="Refunded twice: re_8812 stands, re_8812_2 is extra.",
    intent_key=IntentKey("refund_order:8812"),
    order_id="order_8812",
    customer_id="cus_8812",
    tool="refund_order",
    team="support",
    payment="pi_8812",
    refund_ids=(RefundId("re_8812"), RefundId("re_8812_2")),
    extra_refund_ids=(RefundId("re_8812_2"),),
)


def an_intent(**changes: Any) -> Intent:  # noqa: ANN401  # any field of the record
    """Return a done intent over 49.00 USD that names its refund."""
    return replace(_INTENT, **changes)


def a_refund(**changes: Any) -> Refund:  # noqa: ANN401  # any field of the record
    """Return the succeeded refund of that intent."""
    return replace(_REFUND, **changes)


def a_mismatch(**changes: Any) -> Mismatch:  # noqa: ANN401  # any field of the record
    """Return a confirmed duplicate of 49.00 USD."""
    return replace(_MISMATCH, **changes)


def a_case(mismatch: Mismatch | None = None, **changes: Any) -> Case:  # noqa: ANN401  # any field of the record
    """Return an open, owned case of a mismatch, as the run that first saw it left it.

    A resolved one was decided at noon and a half, after the run with fence 1.
    """
    mismatch = mismatch or a_mismatch()
    case = Case(
        id=case_id(mismatch.account, mismatch.subject),
        account=mismatch.account,
        subject=mismatch.subject,
        mismatch=mismatch,
        state=CaseState.OPEN,
        version=1,
        severity=Severity.HIGH,
        owner=an_owner(),
        opened_at=NOON + timedelta(minutes=15),
        updated_at=NOON + timedelta(minutes=15),
    )
    if changes.get("state") is CaseState.RESOLVED:
        changes = {"decided_fence": 1, "decided_at": NOON + timedelta(minutes=30)} | changes
    return replace(case, **changes)


def an_owner(**changes: Any) -> Owner:  # noqa: ANN401  # any field of the record
    """Return the people who own ordinary cases."""
    return replace(Owner(name="Payments on call", target="#payments", rule="everything"), **changes)


def a_result(*mismatches: Mismatch, **changes: Any) -> Result:  # noqa: ANN401  # any field of the record
    """Return a completely read result that found exactly these mismatches, in this order."""
    at_risk: dict[str, int] = {}
    for each in mismatches:
        at_risk[each.at_risk.currency] = at_risk.get(each.at_risk.currency, 0) + each.at_risk.amount_minor
    result = Result(
        as_of=NOON + timedelta(hours=1),
        verdict=Verdict.BREAKS if mismatches else Verdict.RECONCILED,
        counts=Counts(
            intents=1,
            refunds=1,
            matched=0,
            matched_inferred=0,
            declared_repeats=0,
            in_flight=0,
            healable=0,
            system=0,
            withheld=0,
            rejected=0,
            superseded=0,
            unknown_status=0,
            mismatches={kind: sum(each.kind is kind for each in mismatches) for kind in Kind},
        ),
        at_risk=at_risk,
        mismatches=mismatches,
        in_flight=(),
        healable=(),
        rejected=(),
        withheld=(),
        due=(),
    )
    return replace(result, **changes)
