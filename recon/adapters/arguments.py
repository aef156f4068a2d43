"""What a model may say, as types that a framework makes a schema of.

To the model each is a text. What else may come is for the guard to refuse, in words that are always the same.
"""

from typing import Annotated, Any

from pydantic import PlainSerializer, WithJsonSchema, WrapValidator

from recon.model.tool_texts import argument


def _taken(value: Any, _check: object) -> Any:  # noqa: ANN401 -- whatever a model says
    """Return what came, as it is."""
    return value


def _given(value: Any) -> Any:  # noqa: ANN401 -- as above
    """Return the same to whoever writes it out."""
    return value


# MCP's server reads JSON out of any text that is not meant for a text, and breaks off over one that is deep.
_AS_IT_IS = (WrapValidator(_taken), PlainSerializer(_given))
OrderId = Annotated[str, *_AS_IT_IS, WithJsonSchema(argument("order_id"))]
Amount = Annotated[str, *_AS_IT_IS, WithJsonSchema(argument("amount"))]
Reason = Annotated[str, *_AS_IT_IS, WithJsonSchema(argument("reason"))]
