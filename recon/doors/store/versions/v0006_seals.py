"""Which run vouches for which entries: a row per entry, so that what was cut off is missed.

Revision ID: 0006
"""

from alembic import op
from sqlalchemy import BigInteger, Column, Index, MetaData, PrimaryKeyConstraint, Table, Text, text

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

seals = Table(
    "seals",
    MetaData(),
    Column("topic", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("run_id", Text),
    PrimaryKeyConstraint("topic", "version", name="pk_seals"),
    Index("ix_seals_run_id", "run_id"),
)


def upgrade() -> None:
    """Make the table; the entries that are there wait for the next run's seal."""
    connection = op.get_bind()
    seals.create(connection)
    connection.execute(text("INSERT INTO seals (topic, version) SELECT topic, version FROM entries"))
