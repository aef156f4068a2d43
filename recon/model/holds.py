"""The guarded tool's table of what it has in hand: one row per side effect, with who alone may send it.

Part of the schema of tables.py, in its metadata. Never reads or writes a row.
"""

from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, Table, Text, text

from recon.model.stored import Document, Instant
from recon.model.tables import intents, metadata

# Where the effect is a refund, its intent says the same, and more: runs and people settle that one as well.
guarded = Table(
    "guarded",
    metadata,
    Column("account", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("fingerprint", Document, nullable=False),  # What the key must always come with.
    Column("body", Document, nullable=False),  # What is sent, each time the same.
    Column("result_id", Text),
    Column("refusal", Text),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("first_sent_at", Instant),
    Column("sent_at", Instant),
    Column("sends", BigInteger, nullable=False),
    Column("misses", BigInteger, nullable=False),
    Column("missed_at", Instant),
    Column("next_at", Instant, nullable=False),
    Column("holder", Text, nullable=False),
    Column("until", Instant, nullable=False),
    Column("fence", BigInteger, nullable=False),  # Grows with every holder; each write names its own.
    PrimaryKeyConstraint("account", "key"),
    # Few among all that was ever done; a sweep looks for them every minute.
    Index(
        "ix_guarded_unsettled",
        "next_at",
        sqlite_where=text("status IN ('pending', 'pending_unknown')"),
        postgresql_where=text("status IN ('pending', 'pending_unknown')"),
    ),
)

SAME = (intents.c.account == guarded.c.account) & (intents.c.key == guarded.c.key)
"""Whether an intent is the same decision as what is guarded."""
