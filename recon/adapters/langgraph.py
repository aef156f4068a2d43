"""The refund tools for LangGraph's ToolNode, and for anything else that takes LangChain's tools.

Needs the extra langgraph. A node's retry policy finds nothing to retry, because no tool raises.
"""

from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool
from pydantic import BaseModel

from recon.adapters import functions
from recon.adapters.arguments import Amount, OrderId, Reason
from recon.adapters.functions import Lookup, Refunds
from recon.guard import RefundTool
from recon.model import tool_texts

CallId = Annotated[str, InjectedToolCallId]


class RefundArguments(BaseModel):
    """What a model says of a refund; the call's id is the framework's."""

    order_id: OrderId
    amount: Amount
    reason: Reason = ""
    tool_call_id: CallId


class StatusArguments(BaseModel):
    """What a model says of what it asks for."""

    order_id: OrderId


def refund_tools(tool: RefundTool, lookup: Lookup) -> list[BaseTool]:
    """Return refund_order and check_refund_status as tools, for the model to bind and for the node to run.

    lookup: as recon/adapters/functions.py has it; where it is a coroutine function, the graph must be run
    asynchronously.
    """
    refunds = Refunds(tool, lookup)
    return [_refund(refunds), _status(refunds)]


class _Tool(StructuredTool):
    """A tool that may also be invoked with its arguments alone, as in a notebook: then no call has an id."""

    def _parse_input(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> str | dict[str, Any]:
        told = {"order_id": tool_input} if isinstance(tool_input, str) else tool_input
        return super()._parse_input(told, tool_call_id or "")


def _refund(refunds: Refunds) -> BaseTool:
    def refund_order(
        order_id: object, amount: object, reason: object, tool_call_id: CallId, config: RunnableConfig
    ) -> str:
        told = refunds.refund(order_id, amount, reason, call_id=tool_call_id or None, caller=_thread(config))
        return functions.text(told)

    async def arefund_order(
        order_id: object, amount: object, reason: object, tool_call_id: CallId, config: RunnableConfig
    ) -> str:
        told = await refunds.arefund(
            order_id, amount, reason, call_id=tool_call_id or None, caller=_thread(config)
        )
        return functions.text(told)

    return _Tool.from_function(
        func=refund_order,
        coroutine=arefund_order,
        name=tool_texts.REFUND,
        description=tool_texts.named(tool_texts.REFUND).description,
        args_schema=RefundArguments,
        handle_validation_error=_unfit,
    )


def _status(refunds: Refunds) -> BaseTool:
    def check_refund_status(order_id: object) -> str:
        return functions.text(refunds.status(order_id))

    async def acheck_refund_status(order_id: object) -> str:
        return functions.text(await refunds.astatus(order_id))

    return StructuredTool.from_function(
        func=check_refund_status,
        coroutine=acheck_refund_status,
        name=tool_texts.STATUS,
        description=tool_texts.named(tool_texts.STATUS).description,
        args_schema=StatusArguments,
        handle_validation_error=_unfit,
    )


def _thread(config: RunnableConfig) -> str | None:
    """Return the conversation that asks, where the graph keeps any."""
    found = config.get("configurable", {}).get("thread_id")
    return None if found is None else str(found)


def _unfit(_error: object) -> str:
    """Return what is said where an argument is missing; the framework's own words are for engineers."""
    return functions.text(functions.unfit("expected order_id, and for a refund amount and reason"))
