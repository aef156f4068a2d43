"""What calls come to, and which limits follow: a table, and what holds of whatever is proposed."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.latencies import Limits, Proposal, Spread, Timed
from recon.model.settings import GuardSettings, build
from recon.rules import latencies

SHIPPED = GuardSettings()
NOW = Limits(10.0, 20.0, 45.0)
FEW = latencies.FEWEST - 1


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def calls(
    number: int, sent: float, *, tool: str = "refund_order", waited: float | None = None
) -> list[Timed]:
    return [Timed(tool, seconds(sent if waited is None else waited), seconds(sent))] * number


def test_percentiles_are_measured_ones_by_nearest_rank() -> None:
    assert latencies.spread([seconds(each) for each in range(1, 101)]) == Spread(100, 50, 95, 99, 100)
    assert latencies.spread([seconds(2)]) == Spread(1, 2, 2, 2, 2)
    assert latencies.spread([]) is None


def test_calls_are_told_by_tool_the_busiest_first() -> None:
    open_still, unknown, odd = Timed("b", None), Timed("b", seconds(9), unknown=True), Timed("b", seconds(-1))
    first, second = latencies.by_tool(
        [*calls(2, 1.0, tool="a"), *calls(3, 2.0, tool="b"), open_still, unknown, odd]
    )

    assert (first.tool, first.untold, first.unknown, first.odd) == ("b", 1, 1, 1)
    assert (first.waited, first.sent) == (Spread(4, 2, 9, 9, 9), Spread(3, 2, 2, 2, 2))
    assert (second.tool, second.waited) == ("a", Spread(2, 1, 1, 1, 1))


LOST = Timed("refund_order", seconds(20), unknown=True)
CASES: list[tuple[str, Sequence[Timed], Proposal]] = [
    ("nothing", [], Proposal(NOW)),
    ("too few", calls(FEW, 1.0), Proposal(NOW)),
    ("enough", calls(FEW + 1, 2.75), Proposal(Limits(6, 12, 27), "refund_order")),
    ("fast", calls(FEW + 1, 0.3), Proposal(Limits(5, 10, 23), "refund_order")),
    ("slow", calls(FEW + 1, 12.0), Proposal(Limits(24, 48, 108), "refund_order")),
    ("without end", calls(FEW + 1, 100.0), Proposal(Limits(60, 120, 270), "refund_order")),
    ("waiting", calls(FEW + 1, 2.75, waited=17.5), Proposal(Limits(6, 18, 41), "refund_order")),
    (
        "the slowest with enough",
        [*calls(200, 2.0), *calls(200, 4.0, tool="b"), *calls(FEW, 9.0, tool="c")],
        Proposal(Limits(8, 16, 36), "b"),
    ),
    (
        "one in a hundred lost",
        [*calls(198, 1.0), *calls(2, 1.0), *[LOST] * 3],
        Proposal(NOW, "refund_order", kept=True),
    ),
    ("hardly any lost", [*calls(200, 1.0), LOST], Proposal(Limits(5, 10, 23), "refund_order")),
    ("lost, and longer", [*calls(200, 12.0), *[LOST] * 9], Proposal(Limits(24, 48, 108), "refund_order")),
]


@pytest.mark.parametrize("listed, proposed", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_limits_follow_from_the_sends(listed: Sequence[Timed], proposed: Proposal) -> None:
    assert latencies.proposal(latencies.by_tool(listed), SHIPPED) == proposed


@given(st.lists(st.tuples(st.floats(0, 400), st.floats(0, 400)), min_size=200, max_size=230))
def test_whatever_was_measured_the_proposal_can_be_used(measured: list[tuple[float, float]]) -> None:
    listed = [Timed("a", seconds(sent + more), seconds(sent)) for sent, more in measured]
    found = asdict(latencies.proposal(latencies.by_tool(listed), SHIPPED).limits)

    assert latencies.limits(build({"guard": found}).guard) == Limits(**found)
