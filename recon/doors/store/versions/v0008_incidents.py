"""Cases by kind and by when they began: what an incident is found by.

Revision ID: 0008
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index."""
    op.create_index("ix_cases_kind_since", "cases", ["kind", "since"])
