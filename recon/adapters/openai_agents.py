"""The refund tools for the OpenAI Agents SDK.

Needs the extra openai-agents. What the SDK would tell the model of an error or a time-out is replaced: for a
refund it is not known then, and not a failure.
"""

import json
from decimal import Decimal
from typing import Any

from agents import FunctionTool
from agents.tool_context import ToolContext

from recon.adapters import functions
from recon.adapters.functions import Lookup, Refunds
from recon.guard import Outcome, RefundTool
from recon.model import tool_texts


def refund_tools(
    tool: RefundTool, lookup: Lookup, *, timeout_seconds: float | None = None
) -> list[FunctionTool]:
    """Return refund_order and check_refund_status, for an agent's tools.

    lookup: as recon/adapters/functions.py has it. timeout_seconds: after which the SDK stops waiting, and the
    model is told that it is being checked; None leaves it to the guard's own deadline, which is sooner told.
    """
    refunds = Refunds(tool, lookup)

    async def refund_order(context: ToolContext[Any], arguments: str) -> str:
        said = _parsed(arguments)
        if isinstance(said, Outcome):
            return functions.text(said)
        agent = getattr(context.agent, "name", None)
        told = await refunds.arefund(
            said.get("order_id"),
            said.get("amount"),
            said.get("reason"),
            call_id=context.tool_call_id,
            caller=agent,
        )
        return functions.text(told)

    async def check_refund_status(_context: ToolContext[Any], arguments: str) -> str:
        said = _parsed(arguments)
        return functions.text(
            said if isinstance(said, Outcome) else await refunds.astatus(said.get("order_id"))
        )

    return [_tool(each, timeout_seconds) for each in (refund_order, check_refund_status)]


def _tool(run: Any, timeout_seconds: float | None) -> FunctionTool:  # noqa: ANN401 -- as FunctionTool has it
    said = tool_texts.named(run.__name__)
    return FunctionTool(
        name=said.name,
        description=said.description,
        params_json_schema=said.schema,
        on_invoke_tool=run,
        strict_json_schema=True,
        timeout_seconds=timeout_seconds,
        timeout_behavior="error_as_result",
        timeout_error_function=_timed_out,
    )


def _timed_out(_context: object, _error: Exception) -> str:
    return functions.text(functions.unanswered())


def _parsed(arguments: str) -> dict[str, object] | Outcome:
    """Return the arguments; a number with decimals stays exact."""
    try:
        said = json.loads(arguments, parse_float=Decimal)
    except (ValueError, RecursionError):  # What a model writes need not be JSON.
        said = None
    if isinstance(said, dict):
        return said
    return functions.unfit("the arguments must be a JSON object")
