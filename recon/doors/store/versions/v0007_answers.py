"""Messages in their order, reminders, and answers from Slack: who operators are there, what was used up.

Revision ID: 0007
"""

from alembic import op
from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, PrimaryKeyConstraint, Table, Text, text

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

metadata = MetaData()

reminders = Table(
    "reminders",
    metadata,
    Column("case_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    PrimaryKeyConstraint("case_id", "name", name="pk_reminders"),
)

signatures = Table(
    "signatures",
    metadata,
    Column("signature", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    PrimaryKeyConstraint("signature", name="pk_signatures"),
    Index("ix_signatures_at", "at"),
)


def upgrade() -> None:
    """Make the tables and columns; a thread's root is the latest root notice that was sent of it."""
    metadata.create_all(op.get_bind())
    op.add_column("threads", Column("root_id", BigInteger().with_variant(Integer, "sqlite")))
    op.add_column("notices", Column("urgency", Integer, nullable=False, server_default="1"))
    op.create_index("ix_notices_thread_key_state", "notices", ["thread_key", "state", "id"])
    op.create_index("ix_notices_target_sent_at", "notices", ["target", "sent_at"])
    op.drop_index("ix_cases_owner_target_kind_rank", "cases")
    threads = ["owner_target", "kind", "rank", "waiting"]
    op.create_index("ix_cases_owner_target_kind_rank_waiting", "cases", threads)
    asleep = text("snoozed_until IS NOT NULL")
    op.create_index(
        "ix_cases_snoozed_until",
        "cases",
        ["snoozed_until"],
        sqlite_where=asleep,
        postgresql_where=asleep,
    )
    op.add_column("operators", Column("slack_id", Text))
    op.create_index("uq_operators_slack_id", "operators", ["slack_id"], unique=True)
    op.get_bind().execute(
        text(
            "UPDATE threads SET root_id = (SELECT max(id) FROM notices "
            "WHERE notices.thread_key = threads.key "
            "AND notices.verb = 'root' AND notices.state = 'sent')"
        )
    )
