"""The tools in real runs of the Agents SDK, whose model is a script."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from agents import Agent, FunctionTool, RunConfig, Runner, function_tool
from agents.items import ModelResponse, ToolCallOutputItem
from agents.models.interface import Model
from agents.result import RunResult
from agents.tool_context import ToolContext
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from recon.adapters.openai_agents import refund_tools
from recon.model import tool_texts
from tests.adapters.hosts import ARGUMENTS, Host, naive
from tests.guards import LISTS, ORDER, REFUNDS, eventually
from tests.loops import in_a_thread

CALL = json.dumps(ARGUMENTS)


def calling(turn: int, *arguments: str, name: str = tool_texts.REFUND) -> list[ResponseFunctionToolCall]:
    """What a model says in a turn: these calls at once."""
    return [
        ResponseFunctionToolCall(name=name, arguments=each, call_id=f"call_{turn}{n}", type="function_call")
        for n, each in enumerate(arguments)
    ]


class Script(Model):
    """A model that says one thing after another, and then that it is done."""

    def __init__(self, *turns: list[ResponseFunctionToolCall]) -> None:
        self._turns: Iterator[list[ResponseFunctionToolCall]] = iter(turns)

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:  # noqa: ANN401  # of Model
        said: list[Any] = list(next(self._turns, []))
        if not said:
            text = ResponseOutputText(text="So it is.", type="output_text", annotations=[])
            said = [
                ResponseOutputMessage(
                    id="m", content=[text], role="assistant", status="completed", type="message"
                )
            ]
        return ModelResponse(output=said, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401  # of Model
        raise NotImplementedError


async def run(tools: Sequence[FunctionTool], *turns: list[ResponseFunctionToolCall]) -> RunResult:
    agent = Agent("support", model=Script(*turns), tools=list(tools))
    return await Runner.run(agent, "Please.", run_config=RunConfig(tracing_disabled=True))


def answers(result: RunResult) -> list[dict[str, Any]]:
    """What the model is told of each call."""
    return [json.loads(str(each.output)) for each in result.new_items if isinstance(each, ToolCallOutputItem)]


def test_a_model_sees_an_order_an_amount_and_a_reason(host: Host) -> None:
    shown = refund_tools(host.shop.tool, host.lookup)

    assert [(each.name, each.description) for each in shown] == [
        (each.name, each.description) for each in tool_texts.TOOLS
    ]
    assert [each.params_json_schema for each in shown] == [each.schema for each in tool_texts.TOOLS]
    assert {each.strict_json_schema for each in shown} == {True}


@pytest.mark.parametrize("fault", ["drop_after", "500_after", "429"])
@in_a_thread
async def test_a_model_that_asks_again_makes_one_refund(host: Host, fault: str) -> None:
    host.shop.street.fault(REFUNDS, fault)
    other = json.dumps({**ARGUMENTS, "reason": "I try once more."})
    result = await run(
        refund_tools(host.shop.tool, host.alookup),
        calling(1, CALL, CALL),
        calling(2, other),
        calling(3, json.dumps({"order_id": f"#{ORDER}"}), name=tool_texts.STATUS),
    )

    assert sorted(each["status"] for each in answers(result)) == ["already_done"] * 3 + ["done"]
    assert (result.final_output, len(host.shop.refunds())) == ("So it is.", 1)
    assert sorted(host.said())[2] == ("call_20", "support", "I try once more.")


@in_a_thread
async def test_the_tool_before_it_refunds_twice_in_the_same_run(host: Host) -> None:
    """The SDK tells the model of an error, and the model asks again."""
    host.shop.street.fault(REFUNDS, "drop_after")
    refund_order = function_tool(naive(host.shop.street), use_docstring_info=False)
    await run([refund_order], calling(1, CALL), calling(2, CALL))

    assert len(host.shop.refunds()) == 2


@in_a_thread
async def test_a_tool_that_ran_out_of_time_is_unknown_and_not_an_error(host: Host) -> None:
    host.shop.street.fault(REFUNDS, "hang_after")
    host.shop.street.fault(LISTS, "500_before")
    result = await run(refund_tools(host.shop.tool, host.lookup, timeout_seconds=0.3), calling(1, CALL))
    await asyncio.to_thread(eventually, host.shop.posts)
    await asyncio.to_thread(eventually, lambda: host.shop.status() == "pending_unknown")
    again = await run(refund_tools(host.shop.tool, host.lookup), calling(1, CALL))

    (told,) = answers(result)
    assert told["status"] == "pending_unknown"
    assert "Do not try again" in told["message"]
    assert [each["status"] for each in answers(again)] == ["already_done"]
    assert len(host.shop.posts()) == 1


@pytest.mark.parametrize(
    "arguments, why",
    [
        ("refund it", "the arguments must be a JSON object"),
        ("[" * 100_000, "the arguments must be a JSON object"),
        ('["8812"]', "the arguments must be a JSON object"),
        ("{}", "order_id must say which order is refunded"),
        (json.dumps({"order_id": ORDER, "amount": None}), "amount must be a positive number"),
        ('{"order_id": "8812", "amount": NaN}', "amount must be a positive number"),
        ('{"order_id": "8812", "amount": 49.001}', "which has 2 decimals"),
        (json.dumps({**ARGUMENTS, "order_id": "8813"}), "found none that is called 8813"),
    ],
    ids="abcdefgh",
)
@in_a_thread
async def test_what_a_model_should_not_have_said_is_told_it(host: Host, arguments: str, why: str) -> None:
    told = json.loads(await invoked(host, arguments))

    assert (told["status"], why in told["message"], host.shop.posts()) == ("rejected", True, [])


@in_a_thread
async def test_a_number_with_decimals_is_exact(host: Host) -> None:
    told = json.loads(await invoked(host, '{"order_id": "8812", "amount": 49.10, "reason": "broken"}'))

    assert (told["status"], [each.amount_minor for each in host.shop.refunds()]) == ("done", [4910])


async def invoked(host: Host, arguments: str) -> str:
    """Run the tool as the SDK does."""
    refund = refund_tools(host.shop.tool, host.lookup)[0]
    context: ToolContext[Any] = ToolContext(
        None, tool_name=refund.name, tool_call_id="c", tool_arguments=arguments
    )
    return str(await refund.on_invoke_tool(context, arguments))
