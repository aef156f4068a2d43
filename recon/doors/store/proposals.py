"""Proposals as the database has them: each waits alone on its case, and is answered once.

They are written in the transaction that moves the case, which holds its lock. What may be written of them at
all is in triggers (four_eyes.py). Never moves a case.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, insert, literal, literal_column, select, update

from recon.doors.store.engines import Database
from recon.model import wishes
from recon.model.records.cases import Change
from recon.model.records.proposals import APPROVED, BESIDE, Proposal, ProposalId
from recon.model.records.results import Money
from recon.model.records.words import Action, Actor, CaseId, ProposalState
from recon.model.rights import proposals
from recon.model.tables import entries

_COLUMNS = proposals.c
# As the index on what waits has it: SQLite uses it for no parameter.
_OPEN = _COLUMNS.state == literal_column("'open'")
_ANSWER = ("state", "decided_by", "decided_at", "decided_reason")


def get(database: Database, proposal_id: ProposalId) -> Proposal | None:
    """Return the proposal of this id; None where there is none."""
    query = select(proposals).where(_COLUMNS.id == proposal_id)
    with database.read() as connection:
        row = connection.execute(query).mappings().one_or_none()
    return None if row is None else _record(row)


def waiting(database: Database, case_id: CaseId) -> Proposal | None:
    """Return the case's open proposal; None where nothing waits."""
    query = select(proposals).where(_COLUMNS.case_id == case_id, _OPEN)
    with database.read() as connection:
        row = connection.execute(query).mappings().one_or_none()
    return None if row is None else _record(row)


def write(connection: Connection, proposal: Proposal) -> bool:
    """Write a new proposal, or the answer to an open one; False, and nothing written, where that is past."""
    row = _row(proposal)
    if proposal.state is ProposalState.OPEN:
        connection.execute(insert(proposals).values(row))
        return True
    mine = (_COLUMNS.id == proposal.id, _COLUMNS.case_id == proposal.case_id, _OPEN)
    answer = {name: row[name] for name in _ANSWER}
    return connection.execute(update(proposals).where(*mine).values(answer)).rowcount == 1


def void(connection: Connection, changes: Sequence[Change]) -> list[Change]:
    """End the open proposals that these changes leave without their ground; return the changes, saying so."""
    moving = {change.case.id for change in changes if change.entry.action not in BESIDE}
    if not moving:
        return list(changes)
    # All that wait anywhere: few, and an index has them by themselves.
    rows = connection.execute(select(proposals).where(_OPEN)).mappings()
    found = {each.case_id: each for each in map(_record, rows) if each.case_id in moving}
    return [_voiding(connection, change, found.get(change.case.id)) for change in changes]


def unmade(connection: Connection) -> Iterator[str]:
    """Yield a sentence for each proposal that is said to be approved and whose move nobody made."""
    made = select(entries.c.topic).where(entries.c.action_id == literal(APPROVED) + _COLUMNS.id)
    query = select(_COLUMNS.id, _COLUMNS.case_id).where(
        _COLUMNS.state == ProposalState.APPROVED, ~made.correlate(proposals).exists()
    )
    for row in connection.execute(query.order_by(_COLUMNS.id)):
        yield f"{row.case_id}: proposal {row.id} is approved, and no entry is the move that it was about."


def untold(connection: Connection) -> Iterator[str]:
    """Yield a sentence for each proposal that no entry tells as it stands: it came past the desk."""
    told = select(entries.c.topic).where(
        entries.c.topic == _COLUMNS.case_id,
        entries.c.action == Action.PROPOSED,
        entries.c.actor == _COLUMNS.proposed_by,
        entries.c.at == _COLUMNS.proposed_at,
    )
    query = select(_COLUMNS.id, _COLUMNS.case_id).where(~told.correlate(proposals).exists())
    for row in connection.execute(query.order_by(_COLUMNS.id)):
        yield f"{row.case_id}: no entry tells that proposal {row.id} was made, by whom and when."


def _voiding(connection: Connection, change: Change, proposal: Proposal | None) -> Change:
    """Return the change; where it voids a proposal, that is written, and its entry says so."""
    if proposal is None or change.entry.action in BESIDE:
        return change
    entry = change.entry
    void = replace(
        proposal,
        state=ProposalState.VOID,
        decided_by=entry.actor,
        decided_at=entry.at,
        decided_reason=entry.reason,
    )
    written = write(connection, void)
    assert written, f"{proposal.id} was open, and its case is locked"
    return replace(change, entry=replace(entry, reason=entry.reason + wishes.voided(proposal)))


def _row(proposal: Proposal) -> dict[str, Any]:
    names = (column.name for column in _COLUMNS if column.name not in {"at_risk_minor", "currency", "told"})
    plain = {name: getattr(proposal, name) for name in names}
    at_risk = {"at_risk_minor": proposal.at_risk.amount_minor, "currency": proposal.at_risk.currency}
    return plain | at_risk | {"told": dict(proposal.told)}


def _record(row: Mapping[Any, Any]) -> Proposal:
    return Proposal(
        id=ProposalId(row["id"]),
        case_id=CaseId(row["case_id"]),
        action=Action(row["action"]),
        told=row["told"],
        reason=row["reason"],
        at_risk=Money(row["at_risk_minor"], row["currency"]),
        proposed_by=Actor(row["proposed_by"]),
        proposed_at=row["proposed_at"],
        state=ProposalState(row["state"]),
        decided_by=None if row["decided_by"] is None else Actor(row["decided_by"]),
        decided_at=row["decided_at"],
        decided_reason=row["decided_reason"],
    )
