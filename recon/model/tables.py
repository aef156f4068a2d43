"""The database's tables, the same on SQLite and PostgreSQL.

Money is integer minor units, a closed vocabulary is its word; how times and documents are kept is in
stored.py. Triggers, which Core cannot express, are in doors/store/triggers.py. Never reads or writes a row.
"""

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

from recon.model.stored import Document, Instant

# SQLite counts only an INTEGER PRIMARY KEY up by itself.
COUNTER = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

# One row per business intent. Source: the guarded tool, the company's own code, or a mapped foreign table.
intents = Table(
    "intents",
    metadata,
    Column("account", Text, nullable=False),  # "" is the platform's own.
    Column("key", Text, nullable=False),
    Column("order_id", Text),
    Column("reference", Text),
    Column("payment", Text),  # A PaymentIntent or charge id.
    Column("amount_minor", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("refund_id", Text),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("first_sent_at", Instant),
    Column("tool", Text),
    Column("team", Text),
    Column("customer_id", Text),
    # Copied from a foreign table: never healed.
    Column("mapped", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("account", "key"),
    Index(None, "account", "payment"),
    Index(None, "account", "order_id"),
    Index(None, "account", "refund_id"),
    # Few or none; every copy of a foreign table looks for them.
    Index(
        "ix_intents_mapped", "account", "key", sqlite_where=text("mapped"), postgresql_where=text("mapped")
    ),
    # Few or none; they are counted every minute, and swept.
    Index(
        "ix_intents_unknown",
        "account",
        "key",
        sqlite_where=text("status = 'pending_unknown'"),
        postgresql_where=text("status = 'pending_unknown'"),
    ),
)

# The mirror: one row per refund at the provider. Source: Stripe /v1/refunds and events.
refunds = Table(
    "refunds",
    metadata,
    Column("account", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("payment_intent", Text),
    Column("charge", Text),
    Column("amount_minor", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
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

# What changed in the two tables above, written by their triggers, whoever changed them: the ties of each row
# as it was and as it is. Numbered in the order of commits: by id on SQLite, by transaction on PostgreSQL.
touches = Table(
    "touches",
    metadata,
    Column("id", COUNTER, primary_key=True, autoincrement=True),
    Column("xact", BigInteger, index=True),  # None on SQLite.
    Column("account", Text, nullable=False),
    Column("intent_key", Text),  # Of an intent its own, of a refund the one its metadata names.
    Column("request_key", Text),
    Column("operator_key", Text),
    Column("refund_id", Text),  # Of a refund its own, of an intent the one it recorded.
    Column("payment", Text),  # Of a refund its PaymentIntent.
    Column("charge", Text),
    Column("order_id", Text),
    sqlite_autoincrement=True,  # A pruned number never comes back.
)

# What the mirror knows of each account at the provider.
accounts = Table(
    "accounts",
    metadata,
    Column("account", Text, primary_key=True),
    Column("livemode", Boolean),  # None before the first pull.
    Column("covered_from", Instant),
    Column("watermark_at", Instant),
    Column("relist_at", Instant),  # Where the rolling re-list goes on; None before its first slice.
    Column("events_at", Instant),  # Up to where the provider's events were read.
    Column("intents_from", Instant),  # Refunds made before it had no intents yet; None where nothing says so.
)

# Parts of a window that were read to their end before the whole was; both ends included.
slices = Table(
    "slices",
    metadata,
    Column("account", Text, nullable=False),
    Column("from_at", Instant, nullable=False),
    Column("to_at", Instant, nullable=False),
    Column("read_at", Instant, nullable=False),  # The provider's time when its first page was asked for.
    PrimaryKeyConstraint("account", "from_at", "to_at"),
)

# Refunds that an event named and that could not be retrieved yet.
hints = Table(
    "hints",
    metadata,
    Column("account", Text, nullable=False),
    Column("refund_id", Text, nullable=False),
    Column("request_key", Text),
    Column("created_at", Instant, nullable=False),
    PrimaryKeyConstraint("account", "refund_id"),
)

# One row per pass of the job that saved something.
runs = Table(
    "runs",
    metadata,
    Column("number", COUNTER, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("fence", BigInteger, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("finished_at", Instant, nullable=False),
    Column("as_of", Instant, nullable=False),
    Column("verdict", Text, nullable=False, index=True),
    Column("mark", BigInteger, nullable=False),
    Column("policy_digest", Text, nullable=False),
    Column("full", Boolean, nullable=False),
    Column("counts", Document, nullable=False),
    Column("at_risk", Document, nullable=False),
    Column("opened", BigInteger, nullable=False),
    Column("cleared", BigInteger, nullable=False),
    Column("healed", BigInteger, nullable=False),
    Column("heads_digest", Text),
    sqlite_autoincrement=True,
)

# What each run read of each account.
run_accounts = Table(
    "run_accounts",
    metadata,
    Column("run_id", Text, ForeignKey("runs.id"), nullable=False),
    Column("account", Text, nullable=False),
    Column("from_at", Instant, nullable=False),
    Column("to_at", Instant, nullable=False),
    Column("complete", Boolean, nullable=False),
    Column("pages", BigInteger, nullable=False),
    Column("refunds", BigInteger, nullable=False),
    Column("changed", BigInteger, nullable=False),
    Column("error", Text),
    PrimaryKeyConstraint("run_id", "account"),
)

# When a subject must be judged again although no row of it changes.
due = Table(
    "due",
    metadata,
    Column("account", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("at", Instant, nullable=False, index=True),
    Column("becomes", Text),  # A kind, of a subject in flight; None where it is looked at for another reason.
    PrimaryKeyConstraint("account", "subject"),
)

# The rows that cannot be judged as things stand, of the latest run that read each.
rejects = Table(
    "rejects",
    metadata,
    Column("number", COUNTER, primary_key=True, autoincrement=True),
    Column("source", Text, nullable=False, index=True),
    Column("row", BigInteger, nullable=False),
    Column("account", Text, nullable=False),
    Column("id", Text),  # A refund id or an intent key, when the row has one.
    Column("reason", Text, nullable=False),
    Column("names", Document, nullable=False),
    Index(None, "account", "id"),
)

PLACE = ("waiting", "rank", "opened_at", "id")  # Of a case in the queue.
FILTERED = ("kind", "state", "owner_name", "account", "currency", "at_risk_minor")

# One row per subject that ever had a mismatch. Only doors/store/cases.py writes it.
cases = Table(
    "cases",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account", Text, nullable=False),
    Column("subject", Text, nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("certainty", Text, nullable=False),
    Column("finding", Text),
    Column("state", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("head", Text, nullable=False),  # The hash of its latest entry.
    Column("waiting", Boolean, nullable=False),  # Open or acknowledged: somebody must still act.
    Column("rank", Integer, nullable=False),  # Of its severity: 0 is low, 3 critical.
    Column("owner_name", Text),
    Column("owner_target", Text),
    Column("owner_rule", Text),
    Column("pinned", Boolean, nullable=False),
    Column("snoozed_until", Instant),
    Column("accepted_until", Instant),
    Column("at_risk_minor", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("since", Instant, nullable=False),
    Column("opened_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("intent_key", Text, index=True),
    Column("order_id", Text, index=True),
    Column("customer_id", Text, index=True),
    Column("payment", Text, index=True),
    Column("tool", Text),
    Column("team", Text),
    Column("decided_fence", BigInteger),
    Column("decided_at", Instant),
    Column("resolution", Text),
    Column("mismatch", Document, nullable=False),  # The latest evidence, whole.
    UniqueConstraint("account", "subject"),
    # The queue, one severity after the other; what its filters leave out is passed by unread.
    Index("ix_cases_queue", *PLACE, *FILTERED),
    # What waits is counted from it alone: the desk does so for everybody who has the queue open.
    Index(
        "ix_cases_standing",
        "waiting",
        "kind",
        "rank",
        "owner_name",
        "account",
        "currency",
        "at_risk_minor",
        "opened_at",
    ),
    Index(None, "state", "decided_at"),  # What each run must look at.
    Index(None, "owner_target", "kind", "rank", "waiting"),  # The threads, without their history.
    Index(None, "kind", "since"),  # The incidents.
    Index(
        "ix_cases_snoozed_until",  # Few; each minute looks which of them wake.
        "snoozed_until",
        sqlite_where=text("snoozed_until IS NOT NULL"),
        postgresql_where=text("snoozed_until IS NOT NULL"),
    ),
)

# The refunds that take part in the latest evidence of each case: what a person looks a case up by.
case_refunds = Table(
    "case_refunds",
    metadata,
    Column("case_id", Text, nullable=False),
    Column("refund_id", Text, nullable=False, index=True),
    PrimaryKeyConstraint("case_id", "refund_id"),
)

# Why each case moved: append-only by triggers, a chain of hashes per topic, which is a case id.
entries = Table(
    "entries",
    metadata,
    Column("topic", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("action", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("reason", Text, nullable=False),
    Column("from_state", Text),
    Column("to_state", Text, nullable=False),
    Column("action_id", Text, nullable=False, unique=True),
    Column("run_id", Text),
    Column("resolution", Text),
    Column("previous_hash", Text, nullable=False),  # "" for the first.
    Column("hash", Text, nullable=False),
    PrimaryKeyConstraint("topic", "version"),
    # What people did: few among what runs did, and each asks for their own.
    Index(
        "ix_entries_people",
        "actor",
        "action",
        "topic",
        sqlite_where=text("actor != 'recon'"),
        postgresql_where=text("actor != 'recon'"),
    ),
    sqlite_with_rowid=False,  # INSERT OR REPLACE could replace by row number.
)

# Which run vouches for which entry: set once, by the first run that was saved after it.
seals = Table(
    "seals",
    metadata,
    Column("topic", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("run_id", Text, index=True),  # None until then.
    PrimaryKeyConstraint("topic", "version"),
)

# One row per thread of messages, with its latest root.
threads = Table(
    "threads",
    metadata,
    Column("key", Text, primary_key=True),
    Column("target", Text, nullable=False),
    Column("channel", Text),
    Column("root_ts", Text),
    Column("root_id", COUNTER),  # The notice that is its root; None until one was sent.
)

# The outbox: one row per message to somebody.
notices = Table(
    "notices",
    metadata,
    Column("id", COUNTER, primary_key=True, autoincrement=True),
    Column("dedupe_key", Text, nullable=False, unique=True),
    Column("delivery_id", Text, nullable=False, unique=True),
    Column("thread_key", Text, ForeignKey("threads.key"), nullable=False, index=True),
    Column("target", Text, nullable=False),
    Column("verb", Text, nullable=False),
    Column("message", Document, nullable=False),
    Column("case_ids", Document, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("next_at", Instant, nullable=False),
    Column("run_id", Text),
    Column("urgency", Integer, nullable=False, server_default="1"),  # What goes first: 3 is critical.
    Column("attempts", BigInteger, nullable=False),
    Column("misses", BigInteger, nullable=False),
    Column("claimed_by", Text),
    Column("claimed_until", Instant),
    Column("first_sent_at", Instant),
    Column("sent_at", Instant),
    Column("channel", Text),
    Column("ts", Text),
    Column("error", Text),
    Index(None, "state", "next_at"),
    Index("ix_notices_thread_key_state", "thread_key", "state", "id"),
    Index(None, "target", "sent_at"),  # What somebody was told when: the chain begins there.
    sqlite_autoincrement=True,
)

# Which cases a message speaks of.
notice_cases = Table(
    "notice_cases",
    metadata,
    Column("case_id", Text, nullable=False),
    Column("notice_id", COUNTER, ForeignKey("notices.id"), nullable=False),
    PrimaryKeyConstraint("case_id", "notice_id"),
)

# What was said once because time ran out: of a case, or of the target that a digest goes to. Under the empty
# case_id, when each chain was looked at last.
reminders = Table(
    "reminders",
    metadata,
    Column("case_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("at", Instant, nullable=False),
    PrimaryKeyConstraint("case_id", "name"),
)
