"""What a model may say, as types that a framework makes a schema of.

To the model each is a text. What else may come is for the guard to refuse, in words that are always the same.
"""

from typing import Annotated, Any

from pydantic import WithJsonSchema

from recon.model.tool_texts import argument

OrderId = Annotated[Any, WithJsonSchema(argument("order_id"))]
Amount = Annotated[Any, WithJsonSchema(argument("amount"))]
Reason = Annotated[Any, WithJsonSchema(argument("reason"))]
