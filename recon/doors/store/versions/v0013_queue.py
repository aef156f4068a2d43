"""The queue's filters answered from its index: a case that is passed by is not read.

Revision ID: 0013
"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

PLACE = ["waiting", "rank", "opened_at", "id"]
FACTS = ["kind", "state", "owner_name", "account", "currency", "at_risk_minor"]


def upgrade() -> None:
    """Put the wider index in the place of the narrow one."""
    op.create_index("ix_cases_queue", "cases", PLACE + FACTS)
    op.drop_index("ix_cases_waiting_rank_opened_at_id", "cases")
