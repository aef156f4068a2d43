"""The refund tools on an MCP server.

Needs the extra mcp. What the server says of each tool (destructive, read-only, idempotent) is what tools.toml
declares of it, as `recon tools annotations` prints it.
"""

from typing import Any

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import ToolAnnotations

from recon.adapters.arguments import Amount, OrderId, Reason
from recon.adapters.functions import Lookup, Refunds
from recon.doors import config
from recon.guard import KEY_FIELDS, RefundTool
from recon.model import registry, tool_texts
from recon.model.errors import ConfigurationError
from recon.model.records.tools import Effect, Registry
from recon.model.settings import Settings
from recon.rules import registry as declaring

Asking = Context[Any, Any, Any]
_EFFECTS = {tool_texts.REFUND: (Effect.SIDE_EFFECT, KEY_FIELDS), tool_texts.STATUS: (Effect.READ, ())}


def register(
    server: FastMCP[Any], tool: RefundTool, lookup: Lookup, *, settings: Settings | None = None
) -> None:
    """Put refund_order and check_refund_status on a server.

    lookup: as recon/adapters/functions.py has it. settings: None is what files and environment say.

    Raises:
        ConfigurationError: tools.toml does not declare them as what they are.
    """
    declared = registry.parse((config.load() if settings is None else settings).tools)
    hinted = {name: _hints(declared, name) for name in _EFFECTS}
    refunds = Refunds(tool, lookup)

    async def refund_order(
        order_id: OrderId, amount: Amount, reason: Reason, asking: Asking
    ) -> dict[str, Any]:
        told = await refunds.arefund(
            order_id, amount, reason, call_id=str(asking.request_id), caller=_client(asking)
        )
        return told.to_model()

    async def check_refund_status(order_id: OrderId) -> dict[str, Any]:
        return (await refunds.astatus(order_id)).to_model()

    for run in (refund_order, check_refund_status):
        said, hints = tool_texts.named(run.__name__), hinted[run.__name__]
        server.add_tool(
            run, name=said.name, title=hints.title, description=said.description, annotations=hints
        )


def _hints(declared: Registry, name: str) -> ToolAnnotations:
    wrong = declaring.refusal(declared, name, *_EFFECTS[name])
    if wrong is not None:
        raise ConfigurationError(wrong)
    return ToolAnnotations.model_validate(declaring.annotations(declared[name]))


def _client(asking: Asking) -> str | None:
    """Return what the client calls itself."""
    told = asking.session.client_params
    return None if told is None else told.clientInfo.name
