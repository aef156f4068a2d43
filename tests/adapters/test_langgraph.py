"""The tools in a real graph: its node's own retries, calls side by side, a task that is cancelled."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import RetryPolicy

from recon.adapters.langgraph import refund_tools
from recon.model import tool_texts
from tests.adapters.hosts import ARGUMENTS, Host, naive
from tests.guards import LISTS, ORDER, REFUNDS, eventually
from tests.loops import in_a_thread

Graph = CompiledStateGraph[Any, Any, Any, Any]
THREAD: Any = {"configurable": {"thread_id": "chat 7"}}


def graph(tools: Sequence[BaseTool]) -> Graph:
    """A graph whose one node runs tools, under the node's default retries."""
    built = StateGraph(MessagesState)
    built.add_node("tools", ToolNode(tools), retry_policy=RetryPolicy())
    built.add_edge(START, "tools")
    built.add_edge("tools", END)
    return built.compile(checkpointer=InMemorySaver())


def asking(*calls: dict[str, Any], name: str = tool_texts.REFUND) -> dict[str, list[AnyMessage]]:
    """What a model said: one message with these calls."""
    made = [
        {"name": name, "args": each, "id": f"call_{n}", "type": "tool_call"} for n, each in enumerate(calls)
    ]
    return {"messages": [AIMessage("", tool_calls=made)]}


def answers(state: dict[str, list[AnyMessage]]) -> list[dict[str, Any]]:
    """What the model is told of each call."""
    return [json.loads(str(each.content)) for each in state["messages"] if isinstance(each, ToolMessage)]


def test_a_model_sees_an_order_an_amount_and_a_reason(host: Host) -> None:
    shown = [convert_to_openai_tool(each)["function"] for each in refund_tools(host.shop.tool, host.lookup)]

    for each, said in zip(shown, tool_texts.TOOLS, strict=True):
        fields = each["parameters"]["properties"]
        assert (each["name"], each["description"]) == (said.name, said.description)
        assert {name: value["description"] for name, value in fields.items()} == {
            name: tool_texts.ARGUMENTS[name] for name in said.arguments
        }
        assert {value["type"] for value in fields.values()} == {"string"}


@pytest.mark.parametrize("fault", ["drop_after", "500_after", "429"])
def test_the_nodes_own_retries_make_one_refund_and_nothing_is_raised(host: Host, fault: str) -> None:
    host.shop.street.fault(REFUNDS, fault)
    state = graph(refund_tools(host.shop.tool, host.lookup)).invoke(asking(ARGUMENTS), THREAD)

    assert [each["status"] for each in answers(state)] == ["done"]
    assert len(host.shop.refunds()) == 1
    assert host.said() == [("call_0", "chat 7", "It arrived broken.")]


def test_the_tool_before_it_refunds_twice_in_the_same_graph(host: Host) -> None:
    """The node tries the error again, and each attempt has a key of its own."""
    host.shop.street.fault(REFUNDS, "drop_after")
    refund_order = tool("refund_order", description="Refund an order.")(naive(host.shop.street))
    state = graph([refund_order]).invoke(asking(ARGUMENTS), THREAD)

    assert [each["status"] for each in answers(state)] == ["succeeded"]
    assert len(host.shop.refunds()) == 2


def test_what_nobody_knows_is_said_once_and_checked_later(host: Host) -> None:
    host.shop.street.fault(REFUNDS, "drop_after")
    host.shop.street.fault(LISTS, "500_before")
    ran = graph(refund_tools(host.shop.tool, host.lookup))
    first = ran.invoke(asking(ARGUMENTS), THREAD)
    seen = ran.invoke(
        asking({"order_id": ORDER}, name=tool_texts.STATUS), {"configurable": {"thread_id": "b"}}
    )

    assert [each["status"] for each in answers(first) + answers(seen)] == ["pending_unknown", "already_done"]
    assert len(host.shop.posts()) == 1


@in_a_thread
async def test_calls_side_by_side_of_one_message_are_one_refund(host: Host) -> None:
    words = ["broken", "It came broken.", "damaged"]
    calls = [{**ARGUMENTS, "reason": each} for each in words]
    plain = await asyncio.to_thread(
        graph(refund_tools(host.shop.tool, host.lookup)).invoke, asking(*calls), THREAD
    )
    awaited = await graph(refund_tools(host.shop.tool, host.alookup)).ainvoke(asking(*calls), THREAD)

    assert sorted(each["status"] for each in answers(plain)) == ["already_done", "already_done", "done"]
    assert [each["status"] for each in answers(awaited)] == ["already_done"] * 3
    assert len(host.shop.refunds()) == 1
    assert sorted(host.said()[:3]) == [(f"call_{n}", "chat 7", each) for n, each in enumerate(words)]


@in_a_thread
async def test_a_graph_that_is_cancelled_leaves_in_the_books_what_is_known(host: Host) -> None:
    host.shop.street.fault(REFUNDS, "hang_after")
    host.shop.street.fault(LISTS, "500_before")
    run = graph(refund_tools(host.shop.tool, host.lookup)).ainvoke(asking(ARGUMENTS), THREAD)
    running = asyncio.ensure_future(run)
    await asyncio.to_thread(eventually, host.shop.posts)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    between = host.shop.status()
    await asyncio.to_thread(eventually, lambda: host.shop.status() == "pending_unknown")
    state = await graph(refund_tools(host.shop.tool, host.lookup)).ainvoke(asking(ARGUMENTS), THREAD)

    assert between in {"pending", "pending_unknown"}
    assert [each["status"] for each in answers(state)] == ["already_done"]
    assert len(host.shop.posts()) == 1


@pytest.mark.parametrize(
    "said, why",
    [
        ({}, "expected order_id, and for a refund amount and reason"),
        ({"order_id": ORDER}, "expected order_id, and for a refund amount and reason"),
        ({**ARGUMENTS, "amount": 49.5}, "amount must be a positive number"),
        ({**ARGUMENTS, "order_id": ["8812"]}, "order_id must be a text"),
        ({**ARGUMENTS, "order_id": "8813"}, "found none that is called 8813"),
    ],
    ids="abcde",
)
def test_what_a_model_should_not_have_said_is_told_it_even_where_errors_are_raised(
    host: Host, said: dict[str, Any], why: str
) -> None:
    built = StateGraph(MessagesState)
    built.add_node("tools", ToolNode(refund_tools(host.shop.tool, host.lookup), handle_tool_errors=False))
    built.add_edge(START, "tools")
    ran: Graph = built.compile()
    (told,) = answers(ran.invoke(asking(said)))

    assert (told["status"], why in told["message"], host.shop.posts()) == ("rejected", True, [])


def test_a_tool_that_is_invoked_with_its_arguments_alone_answers_too(host: Host) -> None:
    """As in a notebook or a chain, where no model gave the call an id."""
    refund, status = refund_tools(host.shop.tool, host.lookup)
    said = [refund.invoke(dict(ARGUMENTS)), status.invoke({"order_id": ORDER}), refund.invoke(ORDER)]

    assert [json.loads(each)["status"] for each in said] == ["done", "already_done", "rejected"]
    assert host.said() == [(None, None, "It arrived broken.")]
