import re
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


def test_three_cases_of_a_thread_are_an_incident_one_click_away() -> None:
    topic = TOPIC
    assert topic is not None

    def links(number: int, apart: timedelta) -> list[str]:
        began = [a_case(a_mismatch(since=NOON - at * apart)) for at in range(number)]
        root = messages.root(topic, (an_owner(),), Standing(tuple(began)), MANNER, ping=False)
        return re.findall("<(https://desk.example/incident[^|]*)[|]Open the incident>", str(root.blocks))

    address = "https://desk.example/incident?kind=duplicate&amp;from={}&amp;to=2026-03-06T12%3A11%3A00Z"
    assert links(2, timedelta(minutes=1)) == []
    assert links(3, timedelta(minutes=1)) == [address.format("2026-03-06T11%3A48%3A00Z")]
    assert links(4, timedelta(hours=20)) == [address.format("2026-03-05T11%3A50%3A00Z")]
