"""What waits, counted from an index alone: the desk does it for everybody who has the queue open.

Revision ID: 0010
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

COLUMNS = ["waiting", "kind", "rank", "owner_name", "account", "currency", "at_risk_minor", "opened_at"]


def upgrade() -> None:
    """Add the index."""
    op.create_index("ix_cases_standing", "cases", COLUMNS)
