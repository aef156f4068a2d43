"""A click in Slack that takes a second person: it proposes, and says who must approve where."""

from datetime import timedelta

import pytest

from jobs.answers import Answers, Outcome
from recon.desk import Desk
from recon.doors.store import operators, proposals
from recon.doors.store.engines import Database
from recon.model.buttons import Button, Verb
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.words import Action, Actor, CaseState, Role
from tests import seeds
from tests.approving import opened
from tests.builders import NOON
from tests.clicks import ANA, pressed, sent
from tests.jobs.test_answers import URL, Mouth, entries, now

LINK = f"<{URL}/case?case={{}}|Open it in the dashboard>"


@pytest.fixture
def desk(database: Database) -> Desk:
    operators.put(database, Operator(Actor("Ana"), Role.ADMIN, slack_id=ANA))
    return opened(database)


@pytest.fixture
def answers(desk: Desk) -> Answers:
    return Answers(desk, Mouth(), dashboard_url=URL)


@pytest.fixture
def case(database: Database) -> Case:
    (found,) = seeds.run(database, [seeds.duplicate(8812, at=NOON - timedelta(hours=2))], now=NOON)
    return found


@pytest.mark.parametrize(
    "names, who",
    [
        ((), "another person who may approve"),
        (("Bea",), "Bea"),
        (("Bea", "Cal"), "Bea or another approver"),
        (("<!here>",), "&lt;!here&gt;"),
    ],
)
def test_a_resolution_is_proposed_and_who_must_approve_is_named(
    answers: Answers, database: Database, case: Case, names: tuple[str, ...], who: str
) -> None:
    for name in names:
        operators.put(database, Operator(Actor(name), Role.APPROVER))
    heard = sent(Button.of(Verb.RESOLVE, case))
    found = [answers(heard), answers(heard)]

    assert [each.outcome for each in found] == [Outcome.PROPOSED, Outcome.ALREADY]
    assert found[0].text.startswith(
        f"Proposed; {who} must approve at the desk: {LINK.format(case.id)}\n{case.id}: Refunded twice"
    )
    assert found[0].text.endswith(": Resolve as recovered.")
    assert found[1].text.startswith(f"Already proposed: {case.id}")
    assert [entry.action for entry in entries(database, case)] == [Action.PROPOSED]
    assert now(database, case).state is CaseState.OPEN


def test_no_dialog_is_opened_while_a_proposal_waits(answers: Answers, database: Database, case: Case) -> None:
    answers(sent(Button.of(Verb.RESOLVE, case)))
    answer = answers(pressed(Button.of(Verb.RESOLVE, now(database, case))))

    assert answer.outcome is Outcome.NOT_POSSIBLE
    assert "Ana proposed on 2026-03-06 12:07 UTC: Resolve as recovered." in answer.text


def test_whoever_proposed_in_slack_approves_nothing_there_or_elsewhere(
    answers: Answers, desk: Desk, database: Database, case: Case
) -> None:
    answers(sent(Button.of(Verb.RESOLVE, case)))
    view = desk.case(case.id, operator=Operator(Actor("ANA"), Role.ADMIN))
    again = answers(sent(Button.of(Verb.RESOLVE, now(database, case)), view_id="V2"))

    assert again.outcome is Outcome.NOT_POSSIBLE
    assert view is not None
    assert view.unapprovable == "Ana proposed this: another person must approve it."
    assert proposals.waiting(database, case.id) == view.proposal


def test_taking_on_and_snoozing_take_one_person(answers: Answers, database: Database, case: Case) -> None:
    answers(pressed(Button.of(Verb.TAKE, case)))
    answers(sent(Button.of(Verb.SNOOZE, now(database, case)), until=NOON + timedelta(hours=4)))

    assert [entry.action for entry in entries(database, case)] == [Action.ASSIGNED, Action.SNOOZED]
