"""The guarded tool's own tables: who asked for what, and which tools are switched off.

The intents themselves are in tables.py. Part of its schema, in its metadata. Never reads or writes a row.
"""

from sqlalchemy import BigInteger, Boolean, Column, Index, Table, Text

from recon.model.stored import Document, Instant
from recon.model.tables import COUNTER, metadata

# The answer in a row where nobody asked: the caller is a person who said what had become of it.
CONCLUDED = "concluded"

# One row per time that anybody asked a tool to act on an intent, whatever was answered.
calls = Table(
    "calls",
    metadata,
    Column("number", COUNTER, primary_key=True, autoincrement=True),
    Column("account", Text, nullable=False),
    Column("intent_key", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("call_id", Text),  # What the framework called this call; no part of any key.
    Column("caller", Text),  # Who asked: a conversation, an agent, a person.
    Column("asked_at", Instant, nullable=False, index=True),
    Column("answered_at", Instant),  # None while nobody answered, and where the process died.
    Column("answer", Text),  # done, already_done, pending_unknown, rejected or disabled; or see CONCLUDED.
    Column("asked", Document, nullable=False),  # What was asked, field by field, as it was asked.
    Index(None, "account", "intent_key"),
    Index(None, "tool", "asked_at"),
)

# One row per tool that was ever switched off or on again; each move is an entry of the topic tool:NAME.
switches = Table(
    "switches",
    metadata,
    Column("tool", Text, primary_key=True),
    Column("thrown", Boolean, nullable=False),  # Nothing is sent while it is.
    Column("version", BigInteger, nullable=False),
    Column("head", Text, nullable=False),  # The hash of its latest entry.
    Column("moved_at", Instant, nullable=False),
    Column("moved_by", Text, nullable=False),
    Column("reason", Text, nullable=False),
)
