"""What a subject in flight becomes, beside when: a run that reads only what was touched can count the rest.

Revision ID: 0005
"""

from alembic import op
from sqlalchemy import Column, Text

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the column; the next run judges everything anew and fills it."""
    op.add_column("due", Column("becomes", Text))
