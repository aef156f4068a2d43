"""What the guarded tool has in hand: bodies, leases and look-ups, one row per side effect.

Revision ID: 0012
"""

from alembic import op
from sqlalchemy import BigInteger, Column, Index, MetaData, PrimaryKeyConstraint, Table, Text, text

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

metadata = MetaData()
UNSETTLED = text("status IN ('pending', 'pending_unknown')")

guarded = Table(
    "guarded",
    metadata,
    Column("account", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("result_id", Text),
    Column("refusal", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("first_sent_at", BigInteger),
    Column("sent_at", BigInteger),
    Column("sends", BigInteger, nullable=False),
    Column("misses", BigInteger, nullable=False),
    Column("missed_at", BigInteger),
    Column("next_at", BigInteger, nullable=False),
    Column("holder", Text, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("fence", BigInteger, nullable=False),
    PrimaryKeyConstraint("account", "key", name="pk_guarded"),
    Index("ix_guarded_unsettled", "next_at", sqlite_where=UNSETTLED, postgresql_where=UNSETTLED),
)


def upgrade() -> None:
    """Make the table."""
    metadata.create_all(op.get_bind())
