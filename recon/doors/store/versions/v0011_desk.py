"""The desk's second person and its sign-outs, and the guarded tool's calls and switches.

Revision ID: 0011
"""

import sqlalchemy as sa
from alembic import op

from recon.model.stored import Document, Instant

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables."""
    _rights()
    _guarded()


def _rights() -> None:
    op.create_table(
        "sign_outs",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_sign_outs"),
    )
    op.create_table(
        "approval_limits",
        sa.Column("currency", sa.Text, nullable=False),
        sa.Column("minor", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("currency", name="pk_approval_limits"),
    )
    op.create_table(
        "proposals",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("case_id", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("told", Document, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("at_risk_minor", sa.BigInteger, nullable=False),
        sa.Column("currency", sa.Text, nullable=False),
        sa.Column("proposed_by", sa.Text, nullable=False),
        sa.Column("proposed_at", Instant, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("decided_by", sa.Text),
        sa.Column("decided_at", Instant),
        sa.Column("decided_reason", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_proposals"),
        sa.CheckConstraint("state IN ('open', 'approved', 'declined', 'void')", name="ck_proposals_state"),
        sa.CheckConstraint(
            "state <> 'approved' OR (decided_by IS NOT NULL AND decided_by <> proposed_by)",
            name="ck_proposals_four_eyes",
        ),
    )
    op.create_index("ix_proposals_case_id", "proposals", ["case_id"])
    still_open = sa.text("state = 'open'")
    op.create_index(
        "uq_proposals_open",
        "proposals",
        ["case_id"],
        unique=True,
        sqlite_where=still_open,
        postgresql_where=still_open,
    )


def _guarded() -> None:
    op.create_table(
        "calls",
        sa.Column(
            "number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("intent_key", sa.Text, nullable=False),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("call_id", sa.Text),
        sa.Column("caller", sa.Text),
        sa.Column("asked_at", Instant, nullable=False),
        sa.Column("answered_at", Instant),
        sa.Column("answer", sa.Text),
        sa.Column("asked", Document, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_calls"),
    )
    op.create_index("ix_calls_asked_at", "calls", ["asked_at"])
    op.create_index("ix_calls_account_intent_key", "calls", ["account", "intent_key"])
    op.create_index("ix_calls_tool_asked_at", "calls", ["tool", "asked_at"])
    op.create_table(
        "switches",
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("thrown", sa.Boolean, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("head", sa.Text, nullable=False),
        sa.Column("moved_at", Instant, nullable=False),
        sa.Column("moved_by", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("tool", name="pk_switches"),
    )
