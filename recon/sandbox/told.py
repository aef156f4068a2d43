"""What a control call says, read into values, and its answer; what does not fit is told what was expected."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

MISSING = object()


class WrongInputError(ValueError):
    """A control call that does not say what it should; the message says what was expected."""


class Answer(JSONResponse):
    """What a control call is answered, with a line end: people read it in a terminal."""

    def render(self, content: Any) -> bytes:  # noqa: ANN401  # as the class above has it
        """The body."""
        return super().render(content) + b"\n"


async def sent(request: Request, takes: str) -> Mapping[str, Any]:
    """The object in a request's body, with what its path names; takes: the fields it may have, as words."""
    body = await request.body()
    try:
        found = json.loads(body, parse_float=_finite, parse_constant=_finite) if body.strip() else {}
    except (ValueError, RecursionError):  # No JSON, or nested without end.
        raise WrongInputError(
            "expected a JSON object as the body, found something that is not JSON"
        ) from None
    if not isinstance(found, dict):
        raise WrongInputError(f"expected a JSON object as the body, found {type(found).__name__}")
    only(found, takes)
    return {**found, **request.path_params}


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(written)
    return number


def only(sent: Mapping[str, Any], takes: str) -> None:
    """Refuse a field beyond these: a misspelt one would else be passed over in silence."""
    known = takes.split()
    for name in sent:
        if name not in known:
            expected = f"any of {', '.join(known)}" if known else "nothing"
            raise WrongInputError(f"expected {expected}, found {name!r}")


def text(sent: Mapping[str, Any], name: str, default: object = MISSING) -> str:
    """A text; one that may be absent has a default."""
    found = sent.get(name)
    if found is None and isinstance(default, str):
        return default
    if not isinstance(found, str) or (found == "" and default is MISSING):
        raise WrongInputError(f'expected "{name}" to be a text, found {found!r}')
    return found


def optional(sent: Mapping[str, Any], name: str) -> str | None:
    """A text, or None where it is absent."""
    return None if sent.get(name) is None else text(sent, name)


def texts(sent: Mapping[str, Any], name: str, default: tuple[str, ...]) -> tuple[str, ...]:
    """A list of texts."""
    found = sent.get(name)
    if found is None:
        return default
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise WrongInputError(f'expected "{name}" to be a list of texts, found {found!r}')
    return tuple(found)


def flag(sent: Mapping[str, Any], name: str, *, default: bool) -> bool:
    """Yes or no."""
    found = sent.get(name, default)
    if not isinstance(found, bool):
        raise WrongInputError(f'expected "{name}" to be true or false, found {found!r}')
    return found


def moment(sent: Mapping[str, Any], name: str, default: float) -> float:
    """A moment in seconds since the epoch, told as such or as an ISO 8601 time."""
    found = sent.get(name)
    if found is None:
        return default
    try:
        if isinstance(found, int | float) and not isinstance(found, bool):
            moment = datetime.fromtimestamp(found, UTC)
        else:
            moment = datetime.fromisoformat(str(found))
    except (ValueError, OverflowError, OSError):  # No time, or none that there is.
        moment = None
    if moment is None or moment.tzinfo is None:
        raise WrongInputError(
            f'expected "{name}" as an ISO 8601 time with its offset, or seconds, found {found!r}'
        )
    return moment.timestamp()


def records(sent: Mapping[str, Any], name: str, takes: str) -> list[Mapping[str, Any]]:
    """A list of objects; takes: the fields each may have, as words."""
    found = sent.get(name, [])
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise WrongInputError(f'expected "{name}" to be a list of objects, found {found!r}')
    for record in found:
        only(record, takes)
    return found


def seconds(sent: Mapping[str, Any], name: str, default: float) -> float:
    """A duration in seconds, from 0."""
    found = sent.get(name)
    if found is None:
        return default
    if not isinstance(found, int | float) or isinstance(found, bool) or found < 0:
        raise WrongInputError(f'expected "{name}" to be seconds from 0, found {found!r}')
    return float(found)
