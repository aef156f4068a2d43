from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recon.model import messages
from recon.model.messages import News
from recon.model.records.cases import Owner
from recon.model.records.notices import Manner, Standing, Topic
from recon.model.records.words import Action, Kind, Severity
from tests.builders import NOON, a_case, a_mismatch, an_owner

TOPIC = Topic.read("#payments|duplicate|high||live")
MANNER = Manner(
    run_id=None,
    as_of=NOON + timedelta(hours=2),
    now=NOON + timedelta(hours=2),
    livemode=True,
    dashboard_url="https://desk.example",
    operators_channel="#operators",
    surge_limit=25,
)


@pytest.mark.parametrize(
    "after, expected",
    [
        ({"owner": Owner("finance", "#finance", "euro")}, "moved to finance"),
        ({"owner": Owner("finance", "#finance", ""), "severity": Severity.LOW}, "moved to finance"),
        ({"owner": Owner("nobody, on purpose", "", "")}, "moved to nobody"),
        ({"owner": None}, "moved to nobody"),
        ({"severity": Severity.LOW}, "moved to low"),
        ({"mismatch": a_mismatch(kind=Kind.ORPHAN)}, "moved to Refund nobody asked for (orphan)"),
        ({}, "opened again in a later message"),  # Its root is no longer the latest.
    ],
)
def test_a_thread_that_a_case_has_left_says_where_it_is_now(after: dict[str, Any], expected: str) -> None:
    assert TOPIC is not None
    case = replace(a_case(), **after)
    news = [News(case, Action.ASSIGNED, "", gone=True)]
    root = messages.root(TOPIC, [an_owner()], Standing(over=(case,)), MANNER, ping=False)
    ((reply, _),) = messages.replies(TOPIC, [an_owner()], news, MANNER, ping=False)

    assert f"1 {expected}. Owner: Payments on call." in root.text
    assert f": 1 {expected}. Owner: Payments on call." in reply.text
    assert [expected in str(message.blocks) for message in (root, reply)] == [True, True]
