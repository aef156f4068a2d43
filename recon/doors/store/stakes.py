"""What else is decided by what a person says of a case's rows: other cases that speak of the same rows.

Only reads. How many people a move takes is decided by rules/proposals.py.
"""

from sqlalchemy import Connection, or_, select

from recon.doors.store import holders
from recon.doors.store.engines import Database
from recon.model import subjects
from recon.model.records.cases import Case
from recon.model.records.claims import Adoption, Claim, Settlement
from recon.model.records.results import Money
from recon.model.records.words import CaseState, Subject
from recon.model.tables import case_refunds, cases


def beside(database: Database, case: Case, claim: Claim) -> tuple[Money, ...]:
    """Return what is at risk in each other case that a claim's refund or intents are part of.

    Cleared cases are left out: they have nothing left to decide. In no particular order.

    Raises:
        DatabaseUnavailable: It cannot be read now.
    """
    columns = cases.c
    with database.read() as connection:
        named, refund_id = _named(connection, claim)
        speaking = select(case_refunds.c.case_id).where(case_refunds.c.refund_id == refund_id)
        others = select(columns.at_risk_minor, columns.currency).where(
            columns.account == case.account,
            columns.id != case.id,
            columns.state != CaseState.CLEARED,
            or_(columns.subject.in_(named), columns.id.in_(speaking)),
        )
        return tuple(Money(row.at_risk_minor, row.currency) for row in connection.execute(others))


def _named(connection: Connection, claim: Claim) -> tuple[list[Subject], str | None]:
    """Return the subjects of a claim's rows, whoever has its refund now among them, and that refund's id."""
    if isinstance(claim, Settlement):
        keys, refund = [claim.books.intent.key], claim.refund
    elif isinstance(claim, Adoption):
        keys, refund = [claim.intent.key], claim.refund
    else:
        holder = holders.of(connection, claim.refund)
        keys, refund = [key for key in (claim.intent_key, holder) if key is not None], claim.refund
    named = [subjects.of_intent(key) for key in keys]
    return (named, None) if refund is None else ([*named, subjects.of_refund(refund.id)], refund.id)
