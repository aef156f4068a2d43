"""The tables of who may do what: write as the hour, act at the desk, answer over HTTP.

Part of the schema of tables.py, in its metadata. Never reads or writes a row.
"""

from sqlalchemy import BigInteger, Boolean, Column, Index, Table, Text

from recon.model.stored import Instant
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
