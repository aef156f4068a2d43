"""What people did, by who did it: the cases that somebody has taken on are found by it.

Revision ID: 0009
"""

from alembic import op
from sqlalchemy import text

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index; a run's entries, which are nearly all, stay out of it."""
    by_people = text("actor != 'recon'")
    columns = ["actor", "action", "topic"]
    op.create_index(
        "ix_entries_people", "entries", columns, sqlite_where=by_people, postgresql_where=by_people
    )
