"""What a model reads about the refund tools: their descriptions, their arguments, lines of a system prompt.

Every adapter shows the same. What a call is told afterwards: rules/outcomes.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass

REFUND = "refund_order"
STATUS = "check_refund_status"


@dataclass(frozen=True, slots=True)
class ToolText:
    """A tool as a model sees it. arguments: their names, of which each is a required text."""

    name: str
    description: str
    arguments: tuple[str, ...]

    @property
    def schema(self) -> dict[str, object]:
        """Return what its arguments are, as JSON Schema that strict modes take as well."""
        return {
            "type": "object",
            "properties": {name: argument(name) for name in self.arguments},
            "required": list(self.arguments),
            "additionalProperties": False,
        }

    @property
    def docstring(self) -> str:
        """Return the same as a docstring, for frameworks that read those."""
        listed = "\n".join(f"    {name}: {ARGUMENTS[name]}" for name in self.arguments)
        return f"{self.description}\n\nArgs:\n{listed}\n"


ARGUMENTS: Mapping[str, str] = {
    "order_id": "The order, by its number or name in the shop.",
    "amount": "How much goes back, in major units of the order's currency, as text: 49.00",
    "reason": "Why, in a sentence; people read it later.",
}
TOOLS = (
    ToolText(
        REFUND,
        "Refund an order, in whole or in part. The shop knows its payment and currency. The answer has a "
        "status and a message; do what the message says. Where nobody knows whether it is done, the status "
        f"is pending_unknown: it is being checked then, and {STATUS} tells how it stands.",
        ("order_id", "amount", "reason"),
    ),
    ToolText(
        STATUS,
        "See whether an order was refunded. It sends nothing, and may be asked at any time: before a refund "
        "that somebody may have asked for already, after pending_unknown, and when a customer waits.",
        ("order_id",),
    ),
)
PROMPT = f"""\
Refunds:
- Each refund is asked for with {REFUND}, once. Its answer has a status and a message: do what the message
  says.
- done and already_done: the money goes back. Tell the customer.
- pending_unknown: nobody knows yet. Say that it is being checked. Do not try again by yourself, and never
  try another way; ask {STATUS} later, and do what that says.
- rejected and disabled: the message says why, and whether a person takes over. Promise nothing.
- No answer from {REFUND}, an error or a timeout is pending_unknown too.
- Whether a refund went through is for {STATUS} to say, never for you to guess.
"""


def named(name: str) -> ToolText:
    """Return the text of a tool."""
    return next(each for each in TOOLS if each.name == name)


def argument(name: str) -> dict[str, str]:
    """Return what an argument is, as JSON Schema."""
    return {"type": "string", "description": ARGUMENTS[name]}
