from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, text
from sqlalchemy.exc import DBAPIError

from recon.doors.store import cases, chains, limits, proposals, rows, seals, triggers
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.changes import Illegal
from recon.model.errors import CaseMoved, NotPermitted
from recon.model.records.cases import Case, Change
from recon.model.records.proposals import Proposal, approval_id
from recon.model.records.results import Money
from recon.model.records.words import Action, Actor, CaseState, ProposalState, Resolution
from recon.rules import moves
from recon.rules import proposals as rules
from tests.builders import NOON, a_case, a_mismatch
from tests.doors.store.books import LATER, a_lease, a_run, acknowledged, opened

TOLD = {"code": "written_off"}
SAME = "case_id, action, told, reason, at_risk_minor, currency, proposed_by, proposed_at"


def by(name: str, action_id: str | None = None) -> dict[str, Any]:
    return {"actor": Actor(name), "reason": "Why.", "now": LATER, "action_id": action_id or f"by-{name}"}


@pytest.fixture
def case(database: Database) -> Case:
    """A case of 500.00 USD, from which on two people are wanted."""
    change = opened(a_case(a_mismatch(at_risk=Money(50000, "usd"))))
    cases.save_run(database, a_lease(database), Saving(a_run(), changes=(change,)))
    limits.keep(database, {"usd": 50000}, now=NOON)
    return change.case


def propose(database: Database, case: Case, name: str = "Ana") -> tuple[Case, Proposal]:
    made = rules.propose(case, Action.RESOLVED, TOLD, None, **by(name))
    assert not isinstance(made, Illegal)
    change, proposal = made
    cases.move(database, change, proposal=proposal)
    return change.case, proposal


def resolved(case: Case, name: str = "Bea", action_id: str | None = None) -> Change:
    made = moves.resolve(case, code=Resolution.WRITTEN_OFF, fence=1, **by(name, action_id))
    assert isinstance(made, Change)
    return made


def approved(case: Case, proposal: Proposal, name: str = "Bea") -> tuple[Change, Proposal]:
    found = rules.approve(resolved(case, name), TOLD, proposal)
    assert not isinstance(found, Illegal)
    return found


def declined(database: Database, case: Case, proposal: Proposal) -> tuple[Change, Proposal]:
    stands = cases.get(database, case.id)
    assert stands is not None
    found = rules.decline(stands, proposal, **by("Bea"))
    assert not isinstance(found, Illegal)
    return found


def answer(database: Database, state: str, name: str = "Bea", more: str = "") -> None:
    """Answer every proposal past the store."""
    said = "decided_by = :name, decided_at = 1, decided_reason = 'x'"
    statement = text(f"UPDATE proposals SET state = :state, {said} {more}")  # noqa: S608 -- of this test's own
    with database.write() as connection:
        connection.execute(statement, {"state": state, "name": name})


def last(database: Database, case: Case) -> tuple[Action, str, str]:
    entry = cases.entries(database, case.id)[-1].entry
    return entry.action, entry.actor, entry.reason


def by_sql(database: Database, change: Change) -> None:
    """Write an entry with its hash and its seal to come, as cases.py does, past it."""
    head = cases.entries(database, change.case.id)[-1].hash
    link = chains.link(rows.entry_row(change.entry), head)
    with database.write() as connection:
        connection.execute(insert(tables.entries).values(link))
        seals.add(connection, [link])


def test_a_proposal_waits_until_another_person_approves_it(database: Database, case: Case) -> None:
    case, proposal = propose(database, case)
    assert proposals.waiting(database, case.id) == proposals.get(database, proposal.id) == proposal

    change, decided = approved(case, proposal)
    cases.move(database, change, proposal=decided)

    assert proposals.waiting(database, case.id) is None
    assert proposals.get(database, proposal.id) == decided
    found = cases.get(database, case.id)
    assert found is not None
    assert found.state is CaseState.RESOLVED
    assert cases.verify(database) == ()


def test_one_persons_move_is_refused_by_the_store_and_nothing_is_written(
    database: Database, case: Case
) -> None:
    with pytest.raises(NotPermitted, match=f"what Bea wants of case {case.id}, found none"):
        cases.move(database, resolved(case))

    assert cases.get(database, case.id) == case
    assert len(cases.entries(database, case.id)) == 1


@pytest.mark.parametrize(
    "action", ["resolved", "accepted", "adopted", "linked", "unlinked", "confirmed", "refuted"]
)
def test_an_entry_written_past_the_store_is_refused(database: Database, case: Case, action: str) -> None:
    change = resolved(case)
    forged = replace(change, entry=replace(change.entry, action=Action(action)))

    with pytest.raises(DBAPIError, match="a second person must approve"):
        by_sql(database, forged)

    assert len(cases.entries(database, case.id)) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"actor": Actor("Cal")},  # Not who approved it.
        {"action": Action.ACCEPTED},  # Not what was proposed.
        {"action_id": "another"},  # Tied to no proposal.
    ],
)
def test_an_approval_is_good_for_one_move_by_one_person(
    database: Database, case: Case, changes: dict[str, Any]
) -> None:
    case, proposal = propose(database, case)
    change, decided = approved(case, proposal)
    with database.write() as connection:
        assert proposals.write(connection, decided)

    with pytest.raises(DBAPIError, match="a second person must approve"):
        by_sql(database, replace(change, entry=replace(change.entry, **changes)))
    by_sql(database, change)  # As it was approved it may stand.


def test_an_open_proposal_is_no_approval(database: Database, case: Case) -> None:
    case, proposal = propose(database, case)

    with pytest.raises(NotPermitted):
        cases.move(database, resolved(case, action_id=approval_id(proposal.id)))


@pytest.mark.parametrize("name", ["Ana", "ANA", " a na"])
def test_nobody_approves_what_they_proposed_in_the_database_either(
    database: Database, case: Case, name: str
) -> None:
    case, proposal = propose(database, case)

    with pytest.raises(DBAPIError):
        answer(database, "approved", name)

    assert proposals.waiting(database, case.id) == proposal


def test_other_normal_forms_are_one_person_to_postgresql(database: Database, case: Case) -> None:
    if database.dialect != "postgresql":
        pytest.skip("SQLite knows no normal forms; the rules do")
    case, _ = propose(database, case, "Zoé")

    with pytest.raises(DBAPIError, match="by another person"):
        answer(database, "approved", "ZOE\u0301")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM proposals",
        "postgresql: TRUNCATE proposals",
        "UPDATE proposals SET state = 'declined'",
        "UPDATE proposals SET proposed_at = 0",
        "UPDATE proposals SET decided_by = 'Bea', decided_at = 1, decided_reason = 'x'",
        "sqlite: UPDATE OR REPLACE proposals SET rowid = 9",
        "sqlite: INSERT OR REPLACE INTO proposals SELECT * FROM proposals",
        f"INSERT INTO proposals SELECT 'P-2', {SAME}, 'approved', 'Bea', 1, 'x' FROM proposals",  # noqa: S608 -- ours
        f"INSERT INTO proposals SELECT 'P-2', {SAME}, state, NULL, NULL, NULL FROM proposals",  # noqa: S608 -- ours
    ],
)
def test_proposals_are_added_open_and_answered_once(database: Database, case: Case, statement: str) -> None:
    only, _, said = statement.rpartition(": ")
    if only and only != database.dialect:
        pytest.skip(f"only {only} has this")
    case, proposal = propose(database, case)

    with pytest.raises(DBAPIError), database.write() as connection:
        connection.execute(text(said))

    assert proposals.waiting(database, case.id) == proposal


@pytest.mark.parametrize("column", ["reason", "told", "proposed_by", "action", "currency"])
def test_an_answer_changes_nothing_of_what_was_proposed(database: Database, case: Case, column: str) -> None:
    case, proposal = propose(database, case)

    with pytest.raises(DBAPIError, match="answered once"):
        answer(database, "declined", more=f", {column} = '[]'")

    assert proposals.waiting(database, case.id) == proposal


@pytest.mark.parametrize("state", ["approved", "declined", "void"])
def test_an_answer_stands(database: Database, case: Case, state: str) -> None:
    propose(database, case)
    answer(database, state)

    for other in ("open", "approved", "declined", "void"):
        with pytest.raises(DBAPIError, match="answered once"):
            answer(database, other, "Cal")


def test_the_second_who_answers_is_told(database: Database, case: Case) -> None:
    case, proposal = propose(database, case)
    change, decided = approved(case, proposal)
    late, other = approved(case, proposal, "Cal")
    cases.move(database, change, proposal=decided)

    with pytest.raises(CaseMoved, match=f"proposal {proposal.id} to wait for an answer"):
        cases.move(database, late, proposal=other)
    cases.move(database, change, proposal=decided)  # The same click once more changes nothing.

    assert len(cases.entries(database, case.id)) == 3


@pytest.mark.parametrize(
    "action, void",
    [
        (Action.CHANGED, True),
        (Action.RECLASSIFIED, True),
        (Action.CLEARED, True),
        (Action.REOPENED, True),
        (Action.RESOLVED, True),
        (Action.ACKNOWLEDGED, False),
        (Action.ASSIGNED, False),
        (Action.SNOOZED, False),
        (Action.COMMENTED, False),
        (Action.LOOKED, False),
    ],
)
def test_what_takes_the_ground_from_a_proposal_voids_it_and_says_so(
    database: Database, case: Case, action: Action, *, void: bool
) -> None:
    case, proposal = propose(database, case)
    limits.keep(database, {}, now=LATER)  # One person is enough by now.
    change = acknowledged(case, actor="Cal")
    moved = replace(change, entry=replace(change.entry, action=action))
    cases.move(database, moved)

    said = " This voids what Ana proposed on 2026-03-06 13:00 UTC: Resolve as written off."
    assert last(database, case) == (action, "Cal", f"I am at it.{said if void else ''}")
    found = proposals.get(database, proposal.id)
    assert found is not None
    assert (found.state, found.decided_by) == (
        (ProposalState.VOID, "Cal") if void else (ProposalState.OPEN, None)
    )
    assert cases.verify(database) == ()


def test_a_run_that_sees_other_evidence_voids_what_waits(database: Database, case: Case) -> None:
    case, _ = propose(database, case)
    after = replace(case, version=3, mismatch=replace(case.mismatch, at_risk=Money(1, "usd")))
    entry = replace(
        opened(case).entry, action=Action.CHANGED, version=3, from_state=case.state, action_id="r2"
    )
    change = Change(after, entry, from_version=2)
    lease = a_lease(database, now=NOON + timedelta(hours=2))
    saved = cases.save_run(database, lease, Saving(a_run(id="run_2", fence=2), changes=(change,)))

    assert saved.moved == ()
    assert proposals.waiting(database, case.id) is None
    assert "This voids what Ana proposed" in last(database, case)[2]
    assert cases.verify(database) == ()


def test_below_the_limit_and_in_other_currencies_one_person_is_enough(database: Database) -> None:
    changes = [
        opened(a_case(a_mismatch(subject=f"intent:{number}", intent_key=str(number), at_risk=at_risk)))
        for number, at_risk in enumerate((Money(49999, "usd"), Money(10**9, "eur")))
    ]
    cases.save_run(database, a_lease(database), Saving(a_run(), changes=tuple(changes)))
    limits.keep(database, {"usd": 50000}, now=NOON)

    for change in changes:
        cases.move(database, resolved(change.case, action_id=change.case.id))

    assert cases.verify(database) == ()


def test_an_approval_whose_move_nobody_made_is_found(database: Database, case: Case) -> None:
    case, proposal = propose(database, case)
    answer(database, "approved")

    assert cases.verify(database) == (
        f"{case.id}: proposal {proposal.id} is approved, and no entry is the move that it was about.",
    )


def test_what_is_written_down_in_anothers_name_is_found_and_approves_nothing(
    database: Database, case: Case
) -> None:
    _, forged = propose(database, case)  # As it would be; what follows writes its like past the store.
    change, gone = declined(database, case, forged)
    cases.move(database, change, proposal=gone)
    with database.write() as connection:
        as_cals = SAME.replace("proposed_by", "'Cal'")
        row = f"SELECT 'P-FORGED', {as_cals}, 'open' FROM proposals"  # noqa: S608 -- of this test's own
        connection.execute(text(f"INSERT INTO proposals (id, {SAME}, state) {row}"))
    found = proposals.waiting(database, case.id)
    stands = cases.get(database, case.id)
    assert found is not None
    assert stands is not None
    change, decided = approved(stands, found)

    assert cases.verify(database) == (
        f"{case.id}: no entry tells that proposal P-FORGED was made, by whom and when.",
    )
    with pytest.raises(NotPermitted, match="the approval of another person"):
        cases.move(database, change, proposal=decided)
    assert cases.get(database, case.id) == stands


def test_the_triggers_are_missed_and_made_again(database: Database) -> None:
    with database.write() as connection:
        triggers.lift(connection)
    lacking = {"entries_seconded", "proposals_added_open", "proposals_answered_once", "proposals_kept"}
    wrong = " ".join(cases.verify(database))
    with database.write() as connection:
        assert lacking <= set(triggers.missing(connection))
        triggers.install(connection)

    assert all(f"The trigger {name} is missing." in wrong for name in lacking)
    assert cases.verify(database) == ()
