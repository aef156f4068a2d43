"""What extract tools write around a record: the envelopes of Airbyte and of Singer's taps.

Never looks into a record; a message that carries none is a Message.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from recon.model import values

# Messages about the extraction itself. Sources: https://hub.meltano.com/singer/spec and
# https://docs.airbyte.com/understanding-airbyte/airbyte-protocol/
_MESSAGES = {
    "SCHEMA": "schema",
    "STATE": "",
    "ACTIVATE_VERSION": "stream",
    "LOG": "log",
    "SPEC": "spec",
    "CATALOG": "catalog",
    "CONNECTION_STATUS": "connectionStatus",
    "TRACE": "trace",
    "CONTROL": "control",
}


@dataclass(frozen=True, slots=True)
class Record:
    """A record out of its envelope. stream: the table that it is of; "" where the envelope does not say."""

    data: object
    stream: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A line that is about the extraction and holds no record."""


def opened(item: Mapping[str, object], row_words: Collection[str] = ()) -> Record | Message | None:
    """Return what is in an envelope; None where this is none.

    row_words: fields that a row has and no message.
    """
    if "_airbyte_data" in item:
        stream = item.get("_airbyte_stream")
        return Record(_parsed(item["_airbyte_data"]), stream if isinstance(stream, str) else "")
    kind, record = item.get("type"), item.get("record")
    kind = kind if isinstance(kind, str) else ""  # In capitals, as both protocols write it.
    if kind == "RECORD" and isinstance(record, Mapping):
        if isinstance(record.get("data"), Mapping) and "stream" in record:  # Airbyte's.
            return Record(record["data"], str(record["stream"]))
        return Record(record, str(item.get("stream") or ""))
    told = _MESSAGES.get(kind)
    is_row = "object" in item or any(word in item for word in row_words)
    return Message() if told is not None and (not told or told in item) and not is_row else None


def _parsed(data: object) -> object:
    """Return a record that may be written as the text of its JSON."""
    if not isinstance(data, str):
        return data
    try:
        return values.parsed(data)
    except (ValueError, RecursionError):  # Cut off at a column's width.
        return values.Unreadable("a record that is no JSON")
