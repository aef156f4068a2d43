"""Whose click it is: ids are a workspace's own, and a channel can be shared with another company."""

from dataclasses import replace
from datetime import timedelta

import pytest

from jobs.answers import Answers, Outcome
from recon.desk import Desk
from recon.doors.store import cases as book
from recon.doors.store import operators
from recon.doors.store.engines import Database
from recon.model.buttons import Verb
from recon.model.records.cases import Case
from recon.model.settings import Settings
from tests import seeds
from tests.builders import NOON
from tests.jobs.test_answers import LATER, MOVES, PEOPLE, URL, Mouth, click


@pytest.fixture
def mouth() -> Mouth:
    return Mouth()


@pytest.fixture
def answers(database: Database, mouth: Mouth) -> Answers:
    operators.put(database, PEOPLE[0])
    return Answers(Desk(database, Settings(), clock=lambda: LATER), mouth, dashboard_url=URL)


@pytest.fixture
def case(database: Database) -> Case:
    (found,) = seeds.run(database, [seeds.duplicate(8812, at=NOON - timedelta(hours=2))], now=NOON)
    return found


@pytest.mark.parametrize("verb", MOVES)
@pytest.mark.parametrize("team_id", ["T0PARTNER", None])
def test_the_same_id_in_another_workspace_is_another_person(
    *, verb: Verb, team_id: str | None, answers: Answers, database: Database, case: Case
) -> None:
    heard = click(verb, case)
    answer = answers(replace(heard, place=replace(heard.place, team_id=team_id)))

    assert len(book.entries(database, case.id)) == 1
    assert answer.outcome is Outcome.NOT_PERMITTED
    assert "Only people of the workspace that this app belongs to" in answer.text


def test_somebody_of_the_organisation_is_known_by_their_id(answers: Answers, case: Case) -> None:
    heard = click(Verb.ACKNOWLEDGE, case)
    answer = answers(replace(heard, place=replace(heard.place, team_id="E0")))

    assert answer.outcome is Outcome.DONE


def test_while_slack_does_not_say_whose_workspace_it_is_nobody_acts(
    answers: Answers, database: Database, mouth: Mouth, case: Case
) -> None:
    mouth.ours = None
    answer = answers(click(Verb.ACKNOWLEDGE, case))

    assert len(book.entries(database, case.id)) == 1
    assert answer.outcome is Outcome.AWAY
