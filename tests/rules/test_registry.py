import pytest

from recon.model.records.tools import Effect, Tool
from recon.rules import registry

REFUND = Tool(
    "refund_order",
    Effect.SIDE_EFFECT,
    "refund_order",
    "Refund an order",
    key=("order_id", "reference"),
    fingerprint=("amount_minor",),
    repeat="reference",
)
LOOK = Tool("look", Effect.READ, "look", "Look")
CLOSE = Tool("close", Effect.IDEMPOTENT, "close", "Close")
TOOLS = {each.name: each for each in (REFUND, LOOK, CLOSE)}


@pytest.mark.parametrize(
    "tool, effect, fields, said",
    [
        ("refund_order", "side_effect", ["order_id", "reference"], None),
        ("refund_order", "side_effect", ["reference", "order_id"], None),
        ("refund_order", "side_effect", ["order_id"], None),
        ("look", "read", [], None),
        ("close", "idempotent", ["anything"], None),
        ("refund_order", "side_effect", ["reference"], "found reference: put the file or the code right"),
        ("refund_order", "side_effect", [], "found nothing: put the file or the code right"),
        ("refund_order", "side_effect", ["order_id", "call_id"], "found call_id, order_id"),
        ("refund_order", "read", ["order_id"], "declares, side_effect, found read"),
        ("look", "side_effect", ["order_id"], "declares, read, found side_effect"),
        ("close", "side_effect", ["order_id"], "declares, idempotent, found side_effect"),
        ("refund_orders", "side_effect", ["order_id"], "did you mean refund_order?"),
        ("charge_card", "side_effect", ["order_id"], "declared are refund_order, look, close."),
    ],
)
def test_only_what_is_declared_as_it_is_written_is_sent(
    tool: str, effect: str, fields: list[str], said: str | None
) -> None:
    found = registry.refusal(TOOLS, tool, effect, fields)

    assert (found is None) == (said is None)
    assert said is None or said in str(found)


def test_nothing_is_declared_in_an_empty_registry() -> None:
    assert "declared are none." in str(registry.refusal({}, "refund_order", "side_effect", ["order_id"]))


@pytest.mark.parametrize(
    "tool, reads, destroys, same",
    [(REFUND, False, True, False), (CLOSE, False, True, True), (LOOK, True, False, True)],
    ids=["side effect", "idempotent", "read"],
)
def test_what_a_framework_is_told_follows_from_the_effect(
    tool: Tool, *, reads: bool, destroys: bool, same: bool
) -> None:
    assert registry.annotations(tool) == {
        "title": tool.title,
        "readOnlyHint": reads,
        "destructiveHint": destroys,
        "idempotentHint": same,
        "openWorldHint": True,
    }
