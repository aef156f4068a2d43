"""Why something was not judged: what the other side's file does not hold, or a rejected row."""

from datetime import UTC, timedelta
from typing import Any

import pytest

from recon.model import frames
from recon.model.records.results import Coverage, Policy, Reading
from recon.rules import linking
from recon.rules.mismatches import finding
from recon.rules.reports import matters
from tests.builders import NOON
from tests.product import INTENT_COLUMNS, REFUND_COLUMNS, Row, table

SINCE = NOON + timedelta(hours=1)
OLD, REJECTED = f"which begins at {SINCE:%Y-%m-%dT%H:%M:%SZ}", "a row that it rests on was rejected"
INTENT: Row = {
    "key": "k",
    "account": "acct_1",
    "payment": "pi",
    "amount_minor": 500,
    "currency": "usd",
    "status": "done",
    "created_at": NOON.isoformat(),
}
REFUND: Row = {
    "id": "re",
    "account": "acct_1",
    "payment_intent": "pi_2",
    "amount_minor": 500,
    "currency": "usd",
    "status": "succeeded",
    "created_at": NOON.isoformat(),
}
PART, LATER = Reading(complete=False), Reading(from_at=SINCE)
BAD_REFUND, BAD_INTENT = {**REFUND, "id": "re_2", "currency": "?"}, {**INTENT, "currency": "?"}


def why(ours: list[Row], theirs: list[Row], **coverage: Any) -> dict[str, str]:  # noqa: ANN401 - of Coverage
    intents = frames.intents(table(ours, INTENT_COLUMNS), source="intents")
    refunds = frames.refunds(table(theirs, REFUND_COLUMNS), source="refunds")
    policy, told = Policy(), Coverage(**coverage)
    links = linking.link(intents.frame, refunds.frame, policy)
    result = finding.find(
        intents, refunds, links, policy=policy, coverage=told, as_of=NOON + timedelta(days=3)
    )
    report = matters.gather(
        result,
        intents,
        refunds,
        links,
        sources=((), ()),
        policy=policy,
        policy_from="",
        coverage=told,
        zone=("UTC", UTC),
    )
    found = matters.for_people(report, intents, refunds, links).why_withheld
    assert set(found) == set(result.withheld)
    return {subject: reason for (_, subject), reason in found.items()}


@pytest.mark.parametrize(
    "ours, theirs, coverage, said",
    [
        ([INTENT], [], {}, {}),
        ([INTENT], [], {"default_refunds": PART}, {"intent:k": "not all refunds were read"}),
        (
            [INTENT],
            [],
            {"default_refunds": Reading(from_at=SINCE, complete=False)},
            {"intent:k": "not all refunds were read"},
        ),
        (
            [INTENT],
            [],
            {"default_refunds": LATER},
            {"intent:k": f"older than what the file of refunds holds, {OLD}"},
        ),
        ([INTENT], [{**BAD_REFUND, "intent_key": "k"}], {}, {"intent:k": REJECTED}),
        ([INTENT], [{**BAD_REFUND, "request_key": "k"}], {"default_refunds": PART}, {"intent:k": REJECTED}),
        ([{**INTENT, "refund_id": "re_2"}], [BAD_REFUND], {}, {"intent:k": REJECTED}),
        (
            [INTENT],
            [{**BAD_REFUND, "account": "", "intent_key": "k"}],
            {"default_refunds": PART},
            {"intent:k": "not all refunds were read"},
        ),
        ([], [REFUND], {"default_intents": PART}, {"refund:re": "not all intents were read"}),
        (
            [],
            [REFUND],
            {"default_intents": LATER},
            {"refund:re": f"older than what the file of intents holds, {OLD}"},
        ),
        ([BAD_INTENT], [{**REFUND, "intent_key": "k"}], {}, {"refund:re": REJECTED}),
        ([{**BAD_INTENT, "refund_id": "re"}], [REFUND], {"default_intents": LATER}, {"refund:re": REJECTED}),
    ],
)
def test_what_is_withheld_says_why(
    ours: list[Row], theirs: list[Row], coverage: dict[str, Any], said: dict[str, str]
) -> None:
    assert why(ours, theirs, **coverage) == said
