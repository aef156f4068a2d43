"""References of the guard: what is said of one that is made up, and which a model may say."""

import pytest

from recon.rules.lint import finding
from tests.rules.lint.reading import rules_of

TOOL = """
@function_tool
def refund(order_id: str, amount: str, reference: str):
    order = orders.find(order_id)
    {}
    return tool.refund_order(order.id, amount, order.currency, order.payment, reference=reference)
"""
# What stands before the refund; the model's word goes through unseen.
UNSEEN = ["pass", "if reference is None: return", "assert reference != ''", "amount = order.amount"]
# As above, and a word that the books do not know is turned away or replaced.
SEEN = [
    "if reference not in order.lines: return",
    "if all(line.id != reference for line in order.lines): return",
    "reference = order.line",
    "line = order.lines[reference]",
    "order.known(reference)",
    "match reference:\n        case order.line: pass",
]


@pytest.mark.parametrize("before", UNSEEN)
def test_a_model_does_not_say_the_reference(before: str) -> None:
    assert rules_of(TOOL.format(before)) == ["key-from-random"]


@pytest.mark.parametrize("before", SEEN)
def test_what_a_model_says_may_be_looked_up(before: str) -> None:
    assert rules_of(TOOL.format(before)) == []


def test_a_function_that_no_model_calls_may_be_told() -> None:
    assert rules_of(TOOL.replace("@function_tool", "").format("pass")) == []


@pytest.mark.parametrize(
    "made",
    [
        "FunctionTool(refund)",
        "agents.function_tool(refund)",
        "StructuredTool.from_function(func=refund)",
        "server.add_tool(refund)",
        "Agent(name='support', tools=[status, refund])",
    ],
)
def test_a_function_of_which_a_call_makes_a_tool_is_called_by_a_model(made: str) -> None:
    assert rules_of(TOOL.replace("@function_tool", "").format("pass") + made) == ["key-from-random"]


@pytest.mark.parametrize("called", ["refund(1, 2, 3)", "Agent(tools=[refund()])", "routes.add(refund)"])
def test_a_function_that_is_called_or_handed_elsewhere_is_none(called: str) -> None:
    assert rules_of(TOOL.replace("@function_tool", "").format("pass") + called) == []


@pytest.mark.parametrize(
    "value, what, which",
    [
        ("uuid.uuid4().hex", "uuid.uuid4()", "which is new on every attempt"),
        ("context.tool_call_id", "context.tool_call_id", "which names who asked and not what for"),
    ],
)
def test_the_sentence_says_what_a_made_up_reference_does(value: str, what: str, which: str) -> None:
    (flaw,) = finding.find(f"import uuid\ntool.refund_order('8812', reference={value})\n", "a.py").flaws

    assert flaw.why == (
        f"The reference of tool.refund_order comes from {what}, {which}, so that each call is another "
        "refund; give what the return or the order line is called, out of your own books."
    )
