"""The first schema. Frozen: a later change is another revision.

Revision ID: 0001
"""

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

COUNTER = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

Table(
    "intents",
    metadata,
    Column("account", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("order_id", Text),
    Column("reference", Text),
    Column("payment", Text),
    Column("amount_minor", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("refund_id", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("first_sent_at", BigInteger),
    Column("tool", Text),
    Column("team", Text),
    Column("customer_id", Text),
    Column("mapped", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("account", "key"),
    Index(None, "account", "payment"),
    Index(None, "account", "order_id"),
    Index(None, "account", "refund_id"),
    Index(
        "ix_intents_mapped", "account", "key", sqlite_where=text("mapped"), postgresql_where=text("mapped")
    ),
)

Table(
    "refunds",
    metadata,
    Column("account", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("payment_intent", Text),
    Column("charge", Text),
    Column("amount_minor", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("intent_key", Text),
    Column("request_key", Text),
    Column("operator_key", Text),
    Column("system", Boolean, nullable=False),
    Column("reason", Text),
    Column("failure_reason", Text),
    Column("pending_reason", Text),
    PrimaryKeyConstraint("account", "id"),
    Index(None, "account", "payment_intent"),
    Index(None, "account", "charge"),
    Index(None, "account", "intent_key"),
    Index(None, "account", "request_key"),
    Index(None, "account", "operator_key"),
)

Table(
    "touches",
    metadata,
    Column("id", COUNTER, primary_key=True, autoincrement=True),
    Column("xact", BigInteger, index=True),
    Column("account", Text, nullable=False),
    Column("intent_key", Text),
    Column("request_key", Text),
    Column("operator_key", Text),
    Column("refund_id", Text),
    Column("payment", Text),
    Column("charge", Text),
    Column("order_id", Text),
    sqlite_autoincrement=True,
)

Table(
    "accounts",
    metadata,
    Column("account", Text, primary_key=True),
    Column("livemode", Boolean),
    Column("covered_from", BigInteger),
    Column("watermark_at", BigInteger),
    Column("relist_at", BigInteger),
    Column("events_at", BigInteger),
)

Table(
    "hints",
    metadata,
    Column("account", Text, nullable=False),
    Column("refund_id", Text, nullable=False),
    Column("request_key", Text),
    Column("created_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("account", "refund_id"),
)

Table(
    "runs",
    metadata,
    Column("number", COUNTER, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("fence", BigInteger, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger, nullable=False),
    Column("as_of", BigInteger, nullable=False),
    Column("verdict", Text, nullable=False, index=True),
    Column("mark", BigInteger, nullable=False),
    Column("policy_digest", Text, nullable=False),
    Column("full", Boolean, nullable=False),
    Column("counts", Text, nullable=False),
    Column("at_risk", Text, nullable=False),
    Column("opened", BigInteger, nullable=False),
    Column("cleared", BigInteger, nullable=False),
    Column("healed", BigInteger, nullable=False),
    Column("heads_digest", Text),
    sqlite_autoincrement=True,
)

Table(
    "run_accounts",
    metadata,
    Column("run_id", Text, ForeignKey("runs.id"), nullable=False),
    Column("account", Text, nullable=False),
    Column("from_at", BigInteger, nullable=False),
    Column("to_at", BigInteger, nullable=False),
    Column("complete", Boolean, nullable=False),
    Column("pages", BigInteger, nullable=False),
    Column("refunds", BigInteger, nullable=False),
    Column("changed", BigInteger, nullable=False),
    Column("error", Text),
    PrimaryKeyConstraint("run_id", "account"),
)

Table(
    "due",
    metadata,
    Column("account", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("at", BigInteger, nullable=False, index=True),
    PrimaryKeyConstraint("account", "subject"),
)

Table(
    "rejects",
    metadata,
    Column("number", COUNTER, primary_key=True, autoincrement=True),
    Column("source", Text, nullable=False, index=True),
    Column("row", BigInteger, nullable=False),
    Column("account", Text, nullable=False),
    Column("id", Text),
    Column("reason", Text, nullable=False),
    Column("names", Text, nullable=False),
    Index(None, "account", "id"),
)

Table(
    "cases",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("certainty", Text, nullable=False),
    Column("finding", Text),
    Column("state", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("head", Text, nullable=False),
    Column("waiting", Boolean, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("owner_name", Text),
    Column("owner_target", Text),
    Column("owner_rule", Text),
    Column("pinned", Boolean, nullable=False),
    Column("snoozed_until", BigInteger),
    Column("accepted_until", BigInteger),
    Column("at_risk_minor", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("opened_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("intent_key", Text),
    Column("order_id", Text, index=True),
    Column("customer_id", Text, index=True),
    Column("payment", Text, index=True),
    Column("tool", Text),
    Column("team", Text),
    Column("decided_fence", BigInteger),
    Column("decided_at", BigInteger),
    Column("resolution", Text),
    Column("mismatch", Text, nullable=False),
    UniqueConstraint("account", "subject"),
    Index(None, "waiting", "rank", "opened_at", "id"),
    Index(None, "state", "decided_at"),
    Index(None, "owner_target", "kind", "rank"),
)

Table(
    "entries",
    metadata,
    Column("topic", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("action", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("from_state", Text),
    Column("to_state", Text, nullable=False),
    Column("action_id", Text, nullable=False, unique=True),
    Column("run_id", Text),
    Column("resolution", Text),
    Column("previous_hash", Text, nullable=False),
    Column("hash", Text, nullable=False),
    PrimaryKeyConstraint("topic", "version"),
    sqlite_with_rowid=False,
)

Table(
    "threads",
    metadata,
    Column("key", Text, primary_key=True),
    Column("target", Text, nullable=False),
    Column("channel", Text),
    Column("root_ts", Text),
)

Table(
    "notices",
    metadata,
    Column("id", COUNTER, primary_key=True, autoincrement=True),
    Column("dedupe_key", Text, nullable=False, unique=True),
    Column("delivery_id", Text, nullable=False, unique=True),
    Column("thread_key", Text, ForeignKey("threads.key"), nullable=False, index=True),
    Column("target", Text, nullable=False),
    Column("verb", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("case_ids", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("next_at", BigInteger, nullable=False),
    Column("run_id", Text),
    Column("attempts", BigInteger, nullable=False),
    Column("misses", BigInteger, nullable=False),
    Column("claimed_by", Text),
    Column("claimed_until", BigInteger),
    Column("first_sent_at", BigInteger),
    Column("sent_at", BigInteger),
    Column("channel", Text),
    Column("ts", Text),
    Column("error", Text),
    Index(None, "state", "next_at"),
    sqlite_autoincrement=True,
)

Table(
    "notice_cases",
    metadata,
    Column("case_id", Text, nullable=False),
    Column("notice_id", COUNTER, ForeignKey("notices.id"), nullable=False),
    PrimaryKeyConstraint("case_id", "notice_id"),
)

Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
)

Table(
    "operators",
    metadata,
    Column("name", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("active", Boolean, nullable=False),
)


def upgrade() -> None:
    """Make every table."""
    metadata.create_all(op.get_bind(), checkfirst=False)
