"""A case is found by any refund id of its evidence: the ids as rows, and indexes for the other names.

Revision ID: 0002
"""

import json

from alembic import op
from sqlalchemy import Column, Index, MetaData, PrimaryKeyConstraint, Table, Text, insert, select

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

CASES_AT_ONCE = 1000  # Their evidence is some kilobytes each.

metadata = MetaData()

cases = Table(
    "cases",
    metadata,
    Column("id", Text, primary_key=True),
    Column("subject", Text),
    Column("intent_key", Text),
    Column("mismatch", Text),
)
case_refunds = Table(
    "case_refunds",
    metadata,
    Column("case_id", Text, nullable=False),
    Column("refund_id", Text, nullable=False),
    PrimaryKeyConstraint("case_id", "refund_id", name="pk_case_refunds"),
    Index("ix_case_refunds_refund_id", "refund_id"),
)


def upgrade() -> None:
    """Make the table, fill it from the evidence of the cases there are, and make the indexes."""
    connection = op.get_bind()
    case_refunds.create(connection)
    last = ""
    while True:
        query = select(cases.c.id, cases.c.mismatch).where(cases.c.id > last)
        found = connection.execute(query.order_by(cases.c.id).limit(CASES_AT_ONCE)).all()
        if not found:
            break
        last = found[-1].id
        rows = [
            {"case_id": case_id, "refund_id": refund_id}
            for case_id, mismatch in found
            for refund_id in dict.fromkeys(json.loads(mismatch)["refund_ids"])
        ]
        if rows:
            connection.execute(insert(case_refunds), rows)
    for name in ("subject", "intent_key"):
        op.create_index(f"ix_cases_{name}", "cases", [name])
