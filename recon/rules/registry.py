"""What tools.toml says of a tool: whether the guard may send for it, and what a framework is told of it.

Pure. Never says how a call is made.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from recon.model.records.tools import Effect, Registry, Tool


def refusal(registry: Registry, tool: str, effect: str, key_fields: Iterable[str]) -> str | None:
    """Return why nothing is sent for a tool; None where it is declared as it is written.

    effect, key_fields: as the code has them. A declared field of the key may be absent only where it is the
    one that declares a repeat.
    """
    declared = registry.get(tool)
    if declared is None:
        near = get_close_matches(tool, list(registry), n=1)
        known = f"did you mean {near[0]}?" if near else f"declared are {', '.join(registry) or 'none'}."
        return f"Expected a tool of tools.toml, found {tool[:80]!r}, which is not declared there; {known}"
    if declared.effect != effect:
        return (
            f"Expected {tool} with the effect that tools.toml declares, {declared.effect}, found {effect}: "
            "put the file or the code right."
        )
    if declared.effect is not Effect.SIDE_EFFECT:
        return None
    told = set(key_fields)
    strange = sorted(told - set(declared.key))
    lacking = sorted(set(declared.key) - told - {declared.repeat})
    if not strange and not lacking:
        return None
    return (
        f"Expected the key of {tool} to be made of {', '.join(declared.key)}, as tools.toml declares, found "
        f"{', '.join(sorted(told)) or 'nothing'}: put the file or the code right."
    )


def annotations(tool: Tool) -> Mapping[str, str | bool]:
    """Return what an MCP server says of a tool, by the protocol's names.

    A change that is the same each time may still take something away, so that only reading is harmless.
    Source: https://modelcontextprotocol.io/specification/2025-06-18/schema#toolannotations
    """
    reads = tool.effect is Effect.READ
    return {
        "title": tool.title,
        "readOnlyHint": reads,
        "destructiveHint": not reads,
        "idempotentHint": tool.effect is not Effect.SIDE_EFFECT,
        "openWorldHint": True,
    }
