"""The intents of which nobody knows what became are counted every minute: an index of those few.

Revision ID: 0004
"""

from alembic import op
from sqlalchemy import text

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    few = text("status = 'pending_unknown'")
    op.create_index(
        "ix_intents_unknown", "intents", ["account", "key"], sqlite_where=few, postgresql_where=few
    )
