"""Which of the provider's reasons a mismatch carries; a rule of owners.toml may ask for it."""

from datetime import timedelta
from typing import Any

import pytest

from recon.model import frames
from recon.model.records.results import Coverage, Policy
from recon.rules import linking
from recon.rules.mismatches import finding
from tests.builders import NOON
from tests.product import INTENT_COLUMNS, REFUND_COLUMNS, table

INTENT = {
    "key": "k",
    "account": "",
    "payment": "pi_1",
    "amount_minor": 500,
    "currency": "usd",
    "status": "done",
    "created_at": NOON.isoformat(),
}
ASKED, FRAUD = "requested_by_customer", "fraudulent"


def refund(number: int, reason: str | None, **changes: Any) -> dict[str, Any]:  # noqa: ANN401  # any column
    at = (NOON + timedelta(minutes=number)).isoformat()
    row = {"id": f"re_{number}", "account": "", "payment_intent": "pi_1", "amount_minor": 500}
    return (
        row
        | {"currency": "usd", "status": "succeeded", "created_at": at, "intent_key": "k", "reason": reason}
        | changes
    )


@pytest.mark.parametrize(
    "intent, refunds, expected",
    [
        ({}, [refund(1, ASKED), refund(2, FRAUD), refund(3, ASKED)], ("duplicate", FRAUD)),
        ({}, [refund(1, ASKED), refund(2, None), refund(3, FRAUD)], ("duplicate", None)),
        ({"refund_id": "re_2"}, [refund(1, ASKED), refund(2, FRAUD)], ("duplicate", ASKED)),
        ({}, [refund(1, FRAUD, amount_minor=499)], ("amount_mismatch", FRAUD)),
        ({}, [refund(1, FRAUD, currency="eur")], ("currency_mismatch", FRAUD)),
        ({"status": "failed"}, [refund(1, FRAUD)], ("status_mismatch", FRAUD)),
        (
            {},
            [refund(1, ASKED, status="failed"), refund(2, FRAUD, status="failed")],
            ("refund_failed", ASKED),
        ),
        ({}, [refund(1, FRAUD, status="pending")], ("overdue", FRAUD)),
        ({}, [], ("missing", None)),
        (
            {"status": "pending_unknown"},
            [refund(1, ASKED, amount_minor=200), refund(2, FRAUD, amount_minor=300)],
            ("stuck", ASKED),
        ),
        ({"key": "other", "payment": "pi_2"}, [refund(1, FRAUD)], ("orphan", FRAUD)),
    ],
)
def test_a_mismatch_carries_the_reason_of_the_refund_that_it_is_about(
    intent: dict[str, Any], refunds: list[dict[str, Any]], expected: tuple[str, str | None]
) -> None:
    ours = frames.intents(table([INTENT | intent], INTENT_COLUMNS), source="intents")
    theirs = frames.refunds(table(refunds, REFUND_COLUMNS), source="refunds")
    links = linking.link(ours.frame, theirs.frame, Policy())
    result = finding.find(
        ours, theirs, links, policy=Policy(), coverage=Coverage(), as_of=NOON + timedelta(days=8)
    )
    found = {str(each.kind): each.reason for each in result.mismatches}

    assert expected in found.items()
