from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recon.model import wishes
from recon.model.changes import REASON_LIMIT, Illegal
from recon.model.records.cases import Change
from recon.model.records.proposals import BESIDE, SECONDED, Proposal, approval_id, proposal_id
from recon.model.records.results import Money
from recon.model.records.words import (
    Action,
    Actor,
    CaseState,
    IntentKey,
    ProposalState,
    RefundId,
    Resolution,
)
from recon.rules import moves, proposals
from tests.builders import NOON, a_case, a_mismatch

LATER = NOON + timedelta(hours=3)
CASE = a_case()
TOLD = {"code": "written_off"}
ANA: dict[str, Any] = {"actor": Actor("Ana"), "reason": "The bank has it.", "now": LATER, "action_id": "a"}
BEA = ANA | {"actor": Actor("Bea"), "reason": "I asked them too.", "action_id": "b"}


def proposed(**changes: Any) -> Proposal:  # noqa: ANN401 -- any field of the record
    made = proposals.propose(CASE, Action.RESOLVED, TOLD, None, **ANA)
    assert not isinstance(made, Illegal)
    return replace(made[1], **changes)


def resolved(by: dict[str, Any] = BEA) -> Change:
    """The move as the rules make it for a second person, of the case as the proposal left it."""
    case = replace(CASE, version=2)
    found = moves.resolve(case, code=Resolution.WRITTEN_OFF, fence=1, **by)
    assert isinstance(found, Change)
    return found


def refused(found: object) -> str:
    assert isinstance(found, Illegal)
    return found.reason


@pytest.mark.parametrize(
    "action, minor, currency, takes",
    [
        (Action.RESOLVED, 50000, "usd", True),
        (Action.RESOLVED, 49999, "usd", False),
        (Action.RESOLVED, 50001, "usd", True),
        (Action.RESOLVED, 10**9, "eur", False),
        (Action.RESOLVED, 0, "jpy", True),
        *((action, 50000, "usd", True) for action in sorted(SECONDED)),
        *((action, 10**9, "usd", False) for action in sorted(set(Action) - SECONDED)),
    ],
)
def test_what_takes_two_people(action: Action, minor: int, currency: str, *, takes: bool) -> None:
    case = a_case(a_mismatch(at_risk=Money(minor, currency)))

    assert proposals.seconded(case, action, {"usd": 50000, "jpy": 0}) is takes


@pytest.mark.parametrize(
    "beside, takes",
    [
        ([], False),
        ([Money(49999, "usd"), Money(49999, "usd")], False),
        ([Money(1, "usd"), Money(50000, "usd")], True),
        ([Money(50000, "eur")], False),
    ],
)
def test_what_a_move_decides_beyond_its_case_counts_each_by_itself(
    beside: list[Money], *, takes: bool
) -> None:
    case = a_case(a_mismatch(at_risk=Money(100, "usd")))

    assert proposals.seconded(case, Action.LINKED, {"usd": 50000}, beside) is takes
    assert not proposals.seconded(case, Action.COMMENTED, {"usd": 50000}, beside)


def test_without_a_limit_one_person_is_enough() -> None:
    assert not proposals.seconded(CASE, Action.RESOLVED, {})


def test_of_two_sets_of_limits_the_lower_holds() -> None:
    found = proposals.stricter({"usd": 5, "eur": 9}, {"usd": 7, "eur": 3, "jpy": 1})

    assert found == {"usd": 5, "eur": 3, "jpy": 1}


@pytest.mark.parametrize(
    "one, other, same",
    [
        ("Ana", "Ana", True),
        ("Ana", "aNA ", True),
        ("Ana Li", "ana\u00a0 li", True),
        ("Ana\u200b", "\u202eana", True),
        ("Ana\ufe0f", "A\u034fna\u3164", True),
        ("Zoé", "Zoe\u0301", True),
        ("\uff21na", "Ana", True),
        ("Straße", "STRASSE", True),
        ("Ana", "Anna", False),
        ("Ana", "Bea", False),
        ("Zoé", "Zoe", False),
        ("ana@example.com", "ANA@example.com", True),
    ],
)
def test_whose_names_are_one_persons(one: str, other: str, *, same: bool) -> None:
    assert proposals.same_person(one, other) is same


def test_a_proposal_moves_the_version_and_nothing_else() -> None:
    made = proposals.propose(CASE, Action.RESOLVED, TOLD, None, **ANA)

    assert not isinstance(made, Illegal)
    change, proposal = made
    assert change.case == replace(CASE, version=2, updated_at=LATER)
    assert (change.entry.action, change.entry.actor, change.entry.to_state) == (
        Action.PROPOSED,
        "Ana",
        CASE.state,
    )
    assert change.entry.reason == "Resolve as written off: The bank has it."
    assert proposal == Proposal(
        id=proposal_id("a"),
        case_id=CASE.id,
        action=Action.RESOLVED,
        told=TOLD,
        reason="The bank has it.",
        at_risk=CASE.mismatch.at_risk,
        proposed_by=Actor("Ana"),
        proposed_at=LATER,
    )


def test_a_second_proposal_is_told_of_the_first() -> None:
    found = proposals.propose(CASE, Action.RESOLVED, TOLD, proposed(), **BEA)

    assert refused(found).startswith("Ana proposed on 2026-03-06 15:00 UTC: Resolve as written off. It must")


@pytest.mark.parametrize("reason", ["", " \u200b", "x" * (REASON_LIMIT + 1)])
def test_a_proposal_and_its_decline_need_a_reason(reason: str) -> None:
    ana, bea = ANA | {"reason": reason}, BEA | {"reason": reason}

    assert "reason" in refused(proposals.propose(CASE, Action.RESOLVED, TOLD, None, **ana))
    assert "reason" in refused(proposals.decline(CASE, proposed(), **bea))


def test_an_approval_is_the_second_persons_move_and_names_the_first_with_their_words() -> None:
    proposal, change = proposed(), resolved()
    found = proposals.approve(change, TOLD, proposal)

    assert not isinstance(found, Illegal)
    approved, decided = found
    assert approved.case == change.case
    assert approved.entry == replace(
        change.entry,
        action_id=approval_id(proposal.id),
        reason="I asked them too. Proposed by Ana on 2026-03-06 15:00 UTC: The bank has it.",
    )
    assert (decided.state, decided.decided_by, decided.decided_at) == (ProposalState.APPROVED, "Bea", LATER)


def test_the_longest_reasons_of_both_are_kept_whole() -> None:
    long = "x" * REASON_LIMIT
    found = proposals.approve(resolved(BEA | {"reason": long}), TOLD, proposed(reason=long))

    assert not isinstance(found, Illegal)
    assert found[0].entry.reason.count("x") == 2 * REASON_LIMIT


@pytest.mark.parametrize("name", ["Ana", "ANA", " a na", "\uff21na\u200b"])
def test_nobody_approves_what_they_proposed_however_they_are_spelled(name: str) -> None:
    found = proposals.approve(resolved(BEA | {"actor": Actor(name)}), TOLD, proposed())

    assert refused(found) == "Ana proposed this: another person must approve it."


@pytest.mark.parametrize(
    "proposal, said",
    [
        (None, f"Nothing of that kind was proposed for case {CASE.id}."),
        (proposed(case_id="C-OTHER"), f"Nothing of that kind was proposed for case {CASE.id}."),
        (
            proposed(state=ProposalState.VOID, decided_at=LATER),
            "What Ana proposed is void since 2026-03-06 15:00 UTC: propose it anew.",
        ),
        (
            proposed(state=ProposalState.APPROVED, decided_at=LATER),
            "What Ana proposed is approved since 2026-03-06 15:00 UTC: propose it anew.",
        ),
    ],
)
def test_only_what_waits_on_this_case_is_answered(proposal: Proposal | None, said: str) -> None:
    assert refused(proposals.approve(resolved(), TOLD, proposal)) == said
    assert refused(proposals.decline(CASE, proposal, **BEA)) == said


@pytest.mark.parametrize(
    "changes, told",
    [
        ({}, {"code": "recovered"}),
        ({}, {}),
        ({"action": Action.ACCEPTED, "told": {"until": "2026-03-09T00:00:00Z"}}, TOLD),
        ({"action": Action.ADOPTED, "told": {}}, {}),
    ],
)
def test_only_what_was_proposed_is_approved(changes: dict[str, Any], told: dict[str, str]) -> None:
    found = proposals.approve(resolved(), told, proposed(**changes))

    assert "found another move" in refused(found)


@pytest.mark.parametrize(
    "name, said",
    [
        ("Bea", "Declined what Ana proposed: Resolve as written off. I asked them too."),
        ("ANA", "Taken back: Resolve as written off. I asked them too."),
    ],
)
def test_a_proposal_is_declined_or_taken_back(name: str, said: str) -> None:
    found = proposals.decline(CASE, proposed(), **(BEA | {"actor": Actor(name)}))

    assert not isinstance(found, Illegal)
    change, decided = found
    assert (change.case.state, change.case.version) == (CaseState.OPEN, 2)
    assert (change.entry.action, change.entry.reason) == (Action.DECLINED, said)
    assert (decided.state, decided.decided_by, decided.decided_reason) == (
        ProposalState.DECLINED,
        name,
        "I asked them too.",
    )


@pytest.mark.parametrize(
    "action, told, said",
    [
        (Action.RESOLVED, {"code": Resolution.FALSE_ALARM}, "Resolve as false alarm"),
        (Action.ACCEPTED, {"until": LATER}, "Accept until 2026-03-06 15:00 UTC"),
        (Action.ADOPTED, {}, "Adopt the refund"),
        (
            Action.LINKED,
            {"refund_id": RefundId("re_1"), "intent_key": IntentKey("k")},
            "Link refund re_1 to the intent k",
        ),
        (Action.UNLINKED, {"refund_id": RefundId("re_1")}, "Take back the link of refund re_1"),
        (Action.CONFIRMED, {"refund_id": RefundId("re_1")}, "Confirm as done by refund re_1"),
        (Action.REFUTED, {}, "Confirm that nothing was refunded"),
    ],
)
def test_what_is_wanted_reads_in_words_and_is_kept_as_it_was_said(
    action: Action, told: dict[str, Any], said: str
) -> None:
    kept = wishes.kept(told)

    assert wishes.wish(action, kept) == said
    assert wishes.read(kept) == told
    assert all(isinstance(text, str) for text in kept.values())


def test_every_move_that_takes_two_people_voids_what_waits_and_has_words() -> None:
    assert not SECONDED & BESIDE
