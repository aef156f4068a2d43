"""The tools on a real MCP server, asked by a real client session."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, McpError
from mcp.server.fastmcp import FastMCP
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import (
    CallToolResult,
    CancelledNotification,
    CancelledNotificationParams,
    ClientNotification,
    Implementation,
    TextContent,
)

from recon.adapters.mcp import register
from recon.doors import config
from recon.model import registry, tool_texts
from recon.model.errors import ConfigurationError
from recon.model.settings import Settings
from recon.rules import registry as declaring
from tests.adapters.hosts import ARGUMENTS, Host, naive
from tests.guards import LISTS, ORDER, REFUNDS, eventually
from tests.loops import in_a_thread

SETTINGS = config.load({})


@asynccontextmanager
async def client(server: FastMCP[Any]) -> AsyncIterator[ClientSession]:
    """A session with the server, over streams in memory."""
    name = Implementation(name="support desk", version="1")
    async with create_connected_server_and_client_session(server, client_info=name) as session:
        yield session


def served(host: Host) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("shop")
    register(server, host.shop.tool, host.lookup, settings=SETTINGS)
    return server


def told(result: CallToolResult) -> dict[str, Any]:
    """What the model is told: the same as a text and as a structure."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    said: dict[str, Any] = json.loads(content.text)
    assert not result.isError
    assert result.structuredContent == said
    return said


@in_a_thread
async def test_the_tools_are_listed_with_the_hints_that_tools_toml_declares(host: Host) -> None:
    async with client(served(host)) as session:
        listed = {each.name: each for each in (await session.list_tools()).tools}

    declared = registry.parse(SETTINGS.tools)
    assert list(listed) == [each.name for each in tool_texts.TOOLS]
    for said in tool_texts.TOOLS:
        shown = listed[said.name]
        hints, fields = shown.annotations, shown.inputSchema["properties"]
        assert hints is not None
        assert hints.model_dump() == declaring.annotations(declared[said.name])
        assert (shown.title, shown.description) == (declared[said.name].title, said.description)
        assert {name: (value["type"], value["description"]) for name, value in fields.items()} == {
            name: ("string", tool_texts.ARGUMENTS[name]) for name in said.arguments
        }
        assert shown.inputSchema["required"] == list(said.arguments)
    hints = listed[tool_texts.REFUND].annotations
    assert hints is not None
    assert (hints.destructiveHint, hints.idempotentHint, hints.readOnlyHint) == (True, False, False)


@pytest.mark.parametrize("fault", ["drop_after", "500_after", "429"])
@in_a_thread
async def test_a_client_that_asks_again_is_told_the_same(host: Host, fault: str) -> None:
    host.shop.street.fault(REFUNDS, fault)
    async with client(served(host)) as session:
        calls = await asyncio.gather(*(session.call_tool("refund_order", ARGUMENTS) for _ in range(3)))
        seen = await session.call_tool("check_refund_status", {"order_id": f"#{ORDER}"})

    assert sorted(told(each)["status"] for each in (*calls, seen)) == ["already_done"] * 3 + ["done"]
    assert len(host.shop.refunds()) == 1
    assert {caller for _, caller, _ in host.said()} == {"support desk"}
    assert len({call_id for call_id, _, _ in host.said()}) == 3


@in_a_thread
async def test_the_tool_before_it_refunds_twice_in_the_same_session(host: Host) -> None:
    host.shop.street.fault(REFUNDS, "drop_after")
    server: FastMCP[Any] = FastMCP("shop")
    server.add_tool(naive(host.shop.street), description="Refund an order.")
    async with client(server) as session:
        calls = [await session.call_tool("refund_order", ARGUMENTS) for _ in range(2)]

    assert [each.isError for each in calls] == [True, False]
    assert len(host.shop.refunds()) == 2


@in_a_thread
async def test_a_client_that_stops_waiting_and_asks_again_is_one_refund(host: Host) -> None:
    host.shop.street.fault(REFUNDS, "hang_after")
    host.shop.street.fault(LISTS, "500_before")
    async with client(served(host)) as session:
        with pytest.raises(McpError, match="Timed out"):
            await session.call_tool("refund_order", ARGUMENTS, read_timeout_seconds=timedelta(seconds=0.3))
        await asyncio.to_thread(eventually, host.shop.posts)
        again = told(await session.call_tool("refund_order", ARGUMENTS))
        seen = told(await session.call_tool("check_refund_status", {"order_id": ORDER}))

    assert (again["status"], seen["status"]) == ("already_done", "already_done")
    assert len(host.shop.posts()) == 1


@in_a_thread
async def test_a_client_that_takes_its_call_back_leaves_in_the_books_what_is_known(host: Host) -> None:
    host.shop.street.fault(REFUNDS, "hang_after")
    host.shop.street.fault(LISTS, "500_before")
    async with client(served(host)) as session:
        asked = asyncio.create_task(session.call_tool("refund_order", ARGUMENTS))
        await asyncio.to_thread(eventually, host.shop.posts)
        taken = CancelledNotificationParams(requestId=int(str(host.said()[0][0])))
        await session.send_notification(ClientNotification(CancelledNotification(params=taken)))
        with pytest.raises(McpError, match="cancelled"):
            await asked
        await asyncio.to_thread(eventually, lambda: host.shop.status() == "pending_unknown")
        again = told(await session.call_tool("refund_order", ARGUMENTS))

    assert (again["status"], len(host.shop.posts())) == ("already_done", 1)


@pytest.mark.parametrize(
    "said, why",
    [
        ({**ARGUMENTS, "order_id": "8813"}, "found none that is called 8813"),
        ({**ARGUMENTS, "amount": "-1"}, "amount must be a positive number"),
        ({**ARGUMENTS, "amount": 49.0}, "amount must be a positive number"),
        ({**ARGUMENTS, "order_id": "true"}, "found none that is called true"),
        ({**ARGUMENTS, "order_id": ["8812"]}, "order_id must be a text"),
        ({**ARGUMENTS, "order_id": "[" * 20_000}, "order_id must have at most 255 characters"),
        ({**ARGUMENTS, "amount": "9" * 5_000}, "amount must be a positive number"),
    ],
    ids="abcdefg",
)
@in_a_thread
async def test_what_a_model_should_not_have_said_is_told_it(
    host: Host, said: dict[str, Any], why: str
) -> None:
    async with client(served(host)) as session:
        answer = told(await session.call_tool("refund_order", said))

    assert (answer["status"], why in answer["message"], host.shop.posts()) == ("rejected", True, [])


@in_a_thread
async def test_what_the_protocol_refuses_sends_nothing(host: Host) -> None:
    async with client(served(host)) as session:
        lacking = await session.call_tool("refund_order", {"order_id": ORDER})

    assert (lacking.isError, host.shop.posts(), host.asked) == (True, [], [])


@pytest.mark.parametrize(
    "settings",
    [
        replace(SETTINGS, tools=({"tools": {"refund_order": {"title": "x", "effect": "idempotent"}}},)),
        Settings(),
    ],
    ids=["another effect", "undeclared"],
)
def test_a_server_that_would_say_otherwise_than_the_file_is_refused(
    host: Host, settings: Settings, tmp_path: Path
) -> None:
    server: FastMCP[Any] = FastMCP("shop")

    with pytest.raises(ConfigurationError, match="Expected"):
        register(server, host.shop.tool, host.lookup, settings=settings)
    assert asyncio.run(server.list_tools()) == []
