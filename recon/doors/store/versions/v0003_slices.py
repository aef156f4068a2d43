"""A pull that was killed goes on where it was: the slices it read; and from when an account's intents count.

Revision ID: 0003
"""

from alembic import op
from sqlalchemy import BigInteger, Column, MetaData, PrimaryKeyConstraint, Table, Text

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

slices = Table(
    "slices",
    MetaData(),
    Column("account", Text, nullable=False),
    Column("from_at", BigInteger, nullable=False),
    Column("to_at", BigInteger, nullable=False),
    Column("read_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("account", "from_at", "to_at", name="pk_slices"),
)


def upgrade() -> None:
    """Make the table and the column."""
    slices.create(op.get_bind())
    op.add_column("accounts", Column("intents_from", BigInteger))
