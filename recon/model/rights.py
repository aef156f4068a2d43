"""The tables of who may do what: write as the hour, act at the desk, approve, answer over HTTP.

Part of the schema of tables.py, in its metadata. Never reads or writes a row.
"""

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Index, Table, Text, text

from recon.model.stored import Document, Instant
from recon.model.tables import metadata

# The right to write, one row per job.
leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("expires_at", Instant, nullable=False),
)

# Who may use the desk.
operators = Table(
    "operators",
    metadata,
    Column("name", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("slack_id", Text),  # Who they are in Slack; None where they do not answer there.
    Index("uq_operators_slack_id", "slack_id", unique=True),
)

# Signatures of requests that Slack sent over HTTP, so that none of them works a second time.
signatures = Table(
    "signatures",
    metadata,
    Column("signature", Text, primary_key=True),
    Column("at", Instant, nullable=False, index=True),
)

# Until when sign-ins of a person no longer count: whoever signed in before is out.
sign_outs = Table(
    "sign_outs",
    metadata,
    Column("name", Text, primary_key=True),
    Column("at", Instant, nullable=False),
)

# Moves that one person proposed and another must approve; the entries of the case tell the same story.
proposals = Table(
    "proposals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("case_id", Text, nullable=False, index=True),
    Column("action", Text, nullable=False),
    Column("told", Document, nullable=False),  # What the move takes beside a reason, by the desk's own names.
    Column("reason", Text, nullable=False),
    Column("at_risk_minor", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("proposed_by", Text, nullable=False),
    Column("proposed_at", Instant, nullable=False),
    Column("state", Text, nullable=False),
    Column("decided_by", Text),
    Column("decided_at", Instant),
    Column("decided_reason", Text),
    CheckConstraint("state IN ('open', 'approved', 'declined', 'void')", name="ck_proposals_state"),
    # Four eyes: nobody approves what they proposed.
    CheckConstraint(
        "state <> 'approved' OR (decided_by IS NOT NULL AND decided_by <> proposed_by)",
        name="ck_proposals_four_eyes",
    ),
    Index(
        "uq_proposals_open",
        "case_id",
        unique=True,
        sqlite_where=text("state = 'open'"),
        postgresql_where=text("state = 'open'"),
    ),
)

# From which amount on the database itself wants a second person, as the settings say it.
approval_limits = Table(
    "approval_limits",
    metadata,
    Column("currency", Text, primary_key=True),
    Column("minor", BigInteger, nullable=False),
)
