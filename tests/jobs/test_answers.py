import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Unpack

import pytest
import structlog

from jobs.answers import Answer, Answers, Outcome, action_id
from recon.desk import Desk
from recon.doors.store import cases as book
from recon.doors.store import operators
from recon.doors.store.engines import Database
from recon.model.buttons import Button, Verb
from recon.model.errors import DatabaseUnavailable
from recon.model.records.cases import Case, Entry, Owner
from recon.model.records.clicks import Heard, Place
from recon.model.records.notices import Block
from recon.model.records.people import Operator
from recon.model.records.words import Action, Actor, CaseId, CaseState, Kind, Resolution, Role
from recon.model.settings import Settings
from recon.moving import Click
from tests import seeds
from tests.builders import NOON
from tests.clicks import ANA, HOME, pressed, sent

LATER = NOON + timedelta(minutes=7)
URL = "https://desk.example"
PEOPLE = (
    Operator(Actor("Ana"), Role.OPERATOR, slack_id=ANA),
    Operator(Actor("Ben"), Role.OPERATOR, slack_id="U0BEN"),
    Operator(Actor("Vera"), Role.VIEWER, slack_id="U0VERA"),
    Operator(Actor("Gone"), Role.ADMIN, active=False, slack_id="U0GONE"),
)
MOVES = (Verb.ACKNOWLEDGE, Verb.TAKE, Verb.RESOLVE, Verb.SNOOZE)


@dataclass
class Mouth:
    """Remembers what was said, and to whom."""

    said: list[tuple[Place, str]] = field(default_factory=list)
    views: list[Block] = field(default_factory=list)
    failing: str | None = None
    ours: frozenset[str] | None = frozenset({HOME, "E0"})

    def say(self, place: Place, text: str) -> str | None:
        self.said.append((place, text))
        return self.failing

    def open(self, trigger_id: str, view: Block) -> str | None:
        self.views.append(view)
        return self.failing

    def home(self) -> frozenset[str] | None:
        return self.ours


@pytest.fixture
def mouth() -> Mouth:
    return Mouth()


@pytest.fixture
def desk(database: Database) -> Desk:
    for each in PEOPLE:
        operators.put(database, each)
    return Desk(database, Settings(), clock=lambda: LATER)


@pytest.fixture
def answers(desk: Desk, mouth: Mouth) -> Answers:
    return Answers(desk, mouth, dashboard_url=URL)


@pytest.fixture
def case(database: Database) -> Case:
    (found,) = seeds.run(database, [seeds.duplicate(8812, at=NOON - timedelta(hours=2))], now=NOON)
    return found


def now(database: Database, case: Case) -> Case:
    found = book.get(database, case.id)
    assert found is not None
    return found


def entries(database: Database, case: Case) -> list[Entry]:
    """A case's story since the run that opened it."""
    return [stored.entry for stored in book.entries(database, case.id)][1:]


def click(verb: Verb, case: Case, by: str = ANA) -> Heard:
    """A verb's last click: the button itself, or the dialog that it opened."""
    button = Button.of(verb, case)
    if verb is Verb.RESOLVE:
        return sent(button, by)
    return sent(button, by, until=LATER + timedelta(hours=4)) if verb is Verb.SNOOZE else pressed(button, by)


@pytest.mark.parametrize(
    "verb,action,reason",
    [
        (Verb.ACKNOWLEDGE, Action.ACKNOWLEDGED, "Acknowledged in Slack."),
        (Verb.TAKE, Action.ASSIGNED, "To Ana: Taken on in Slack."),
        (Verb.RESOLVE, Action.RESOLVED, "The bank has it."),
        (Verb.SNOOZE, Action.SNOOZED, "Until 2026-03-06 16:07 UTC: The bank has it."),
    ],
)
def test_each_verb_is_one_move_by_whoever_clicked(
    *, verb: Verb, action: Action, reason: str, answers: Answers, database: Database, mouth: Mouth, case: Case
) -> None:
    heard = click(verb, case)
    answer = answers(heard)

    (entry,) = entries(database, case)
    ((place, said),) = mouth.said
    assert (entry.action, entry.actor, entry.reason, entry.at) == (action, "Ana", reason, LATER)
    assert (answer.outcome, answer.text, place) == (Outcome.DONE, said, heard.place)
    assert said.startswith(f"Done: {case.id}: Refunded twice (duplicate), 49.00 USD")


def test_a_resolution_keeps_its_code_and_a_snooze_its_date(
    answers: Answers, database: Database, case: Case
) -> None:
    answers(click(Verb.SNOOZE, case))
    snoozed = now(database, case)
    answers(click(Verb.RESOLVE, snoozed))

    assert snoozed.snoozed_until == LATER + timedelta(hours=4)
    assert now(database, case).resolution is Resolution.RECOVERED


def test_whoever_takes_a_case_owns_it_in_slack_and_the_rules_leave_it(
    answers: Answers, database: Database, case: Case
) -> None:
    answers(click(Verb.TAKE, case, "U0BEN"))

    after = now(database, case)
    assert (after.owner, after.pinned) == (Owner("Ben", "U0BEN", "assigned by Ben"), True)


@pytest.mark.parametrize("verb", MOVES)
def test_the_same_click_again_does_nothing_and_says_so(
    verb: Verb, answers: Answers, database: Database, case: Case
) -> None:
    heard = click(verb, case)
    found = [answers(heard) for _ in range(3)]

    assert len(entries(database, case)) == 1
    assert [each.outcome for each in found] == [Outcome.DONE, Outcome.ALREADY, Outcome.ALREADY]
    assert found[1].text.startswith(f"Already done: {case.id}: Refunded twice")


@pytest.mark.parametrize("verb", MOVES)
def test_a_click_on_what_has_moved_does_nothing_and_says_who_was_first_when_and_where_it_stands(
    verb: Verb, answers: Answers, database: Database, case: Case
) -> None:
    answers(click(Verb.RESOLVE, case, "U0BEN"))
    answer = answers(click(verb, case))

    assert [entry.actor for entry in entries(database, case)] == ["Ben"]
    assert answer.outcome is Outcome.STALE
    for part in (
        "Nothing was done. Ben resolved this case at 2026-03-06 12:07 UTC",
        "It is resolved (recovered); owner",
        f"<{URL}/case?case={case.id}|Open it in the dashboard>",
    ):
        assert part in answer.text


def test_who_has_just_moved_the_case_is_told_where_to_go_on(answers: Answers, case: Case) -> None:
    answers(click(Verb.ACKNOWLEDGE, case))
    answer = answers(click(Verb.TAKE, case))

    assert answer.outcome is Outcome.STALE
    assert "Nothing was done. You acknowledged this case at " in answer.text
    assert "The thread's first message shows that within a minute: go on there" in answer.text


@pytest.mark.parametrize("verb", [Verb.RESOLVE, Verb.SNOOZE])
def test_no_dialog_is_opened_about_what_has_moved(
    verb: Verb, answers: Answers, mouth: Mouth, case: Case
) -> None:
    answers(click(Verb.ACKNOWLEDGE, case, "U0BEN"))
    answer = answers(pressed(Button.of(verb, case)))

    assert (answer.outcome, mouth.views) == (Outcome.STALE, [])
    assert "Ben acknowledged this case" in answer.text


@pytest.mark.parametrize("verb", [Verb.RESOLVE, Verb.SNOOZE])
def test_a_dialog_shows_the_case_and_says_nothing_more(
    verb: Verb, answers: Answers, database: Database, mouth: Mouth, case: Case
) -> None:
    answer = answers(pressed(Button.of(verb, case)))

    (view,) = mouth.views
    assert (answer, mouth.said, entries(database, case)) == (Answer(Outcome.ASKED), [], [])
    assert case.id in json.dumps(view)


@pytest.mark.parametrize("verb", MOVES)
@pytest.mark.parametrize(
    "by,expected",
    [
        ("U0VERA", "Vera has the role viewer; this takes operator or approver or admin."),
        ("U0GONE", "Gone may no longer act."),
        ("U0EVE", "You are no operator of recon yet."),
    ],
)
def test_who_may_not_act_is_told_so_and_what_to_run(
    *, verb: Verb, by: str, expected: str, answers: Answers, database: Database, case: Case
) -> None:
    found = [answers(click(verb, case, by)), answers(pressed(Button.of(verb, case), by))]

    assert entries(database, case) == []
    assert {each.outcome for each in found} == {Outcome.NOT_PERMITTED}
    assert all(expected in each.text for each in found)
    if by != "U0VERA":
        assert f"recon operators add NAME --slack {by}" in found[0].text


def test_a_role_taken_away_counts_at_once(answers: Answers, database: Database, case: Case) -> None:
    answers(click(Verb.ACKNOWLEDGE, case))
    operators.put(database, replace(PEOPLE[0], role=Role.VIEWER))
    answer = answers(click(Verb.TAKE, now(database, case)))

    assert answer.outcome is Outcome.NOT_PERMITTED


def test_a_case_that_is_not_there_or_does_not_allow_it_is_said_to_be_so(
    answers: Answers, database: Database, case: Case
) -> None:
    answers(click(Verb.RESOLVE, case))
    resolved = now(database, case)
    nowhere = Button(Verb.ACKNOWLEDGE, CaseId("C-AAAAAAAAAA"), 1)
    found = [
        answers(pressed(nowhere)),
        answers(pressed(Button.of(Verb.ACKNOWLEDGE, resolved))),
        answers(pressed(Button.of(Verb.SNOOZE, resolved))),
    ]

    assert {each.outcome for each in found} == {Outcome.NOT_POSSIBLE}
    assert "There is no case C-AAAAAAAAAA in these books." in found[0].text
    assert "only an open case can be acknowledged" in found[1].text
    assert f"Case {case.id} is resolved; nobody has to look at it." in found[2].text


def test_a_code_that_does_not_fit_the_kind_moves_nothing(answers: Answers, database: Database) -> None:
    mismatch = replace(seeds.duplicate(8812, at=NOON), kind=Kind.MISSING)
    (case,) = seeds.run(database, [mismatch], now=NOON)
    answer = answers(sent(Button.of(Verb.RESOLVE, case), code=Resolution.LEGITIMATE_REPEAT))

    assert (answer.outcome, entries(database, case)) == (Outcome.NOT_POSSIBLE, [])
    assert "Legitimate repeat: every refund was meant: that does not fit" in answer.text


def test_what_somebody_typed_in_vain_is_given_back_to_them_harmless(
    answers: Answers, database: Database, case: Case
) -> None:
    answers(click(Verb.RESOLVE, case, "U0BEN"))
    answer = answers(sent(Button.of(Verb.RESOLVE, case), reason="<!channel> the bank & I"))

    assert "You wrote: &lt;!channel&gt; the bank &amp; I" in answer.text
    assert "<!" not in answer.text


def test_a_link_asks_for_nothing(answers: Answers, mouth: Mouth, case: Case) -> None:
    assert answers(pressed(Button.of(Verb.OPEN, case), "U0EVE")) == Answer(Outcome.NOTHING)
    assert mouth.said == []


def test_a_dialog_that_slack_does_not_open_is_said(answers: Answers, mouth: Mouth, case: Case) -> None:
    mouth.failing = "Slack said expired_trigger_id."
    found = [
        answers(pressed(Button.of(Verb.RESOLVE, case))),
        answers(pressed(Button.of(Verb.RESOLVE, case), trigger_id=None)),
    ]

    assert {each.outcome for each in found} == {Outcome.AWAY}
    assert all("Click again, or decide at the desk." in each.text for each in found)
    assert "expired_trigger_id" in found[0].text


class Away(Desk):
    """A desk whose database does not answer."""

    error: Exception = DatabaseUnavailable("Expected SQLite to answer, found that the disk is full.")

    def acknowledge(self, case_id: CaseId, **click: Unpack[Click]) -> None:
        raise self.error


@pytest.fixture
def away(desk: Desk, mouth: Mouth, database: Database) -> Callable[[Exception], Answers]:
    def failing(error: Exception) -> Answers:
        made = Away(database, Settings(), clock=lambda: LATER)
        made.error = error
        return Answers(made, mouth, dashboard_url=URL)

    return failing


def test_a_database_that_is_away_is_said_and_the_same_click_may_come_again(
    away: Callable[[Exception], Answers], answers: Answers, case: Case
) -> None:
    heard = click(Verb.ACKNOWLEDGE, case)
    found = [away(Away.error)(heard), answers(heard)]

    assert [each.outcome for each in found] == [Outcome.AWAY, Outcome.DONE]
    assert found[0].text.startswith("Perhaps nothing was done. Expected SQLite to answer")
    assert "the disk is full. Click again in a minute: one click is never done twice." in found[0].text


def test_a_bug_is_logged_whole_and_whoever_clicked_is_told_nothing_of_it(
    away: Callable[[Exception], Answers], mouth: Mouth, case: Case
) -> None:
    with structlog.testing.capture_logs() as logged:
        answer = away(RuntimeError("inner words"))(click(Verb.ACKNOWLEDGE, case))

    assert answer.outcome is Outcome.BUG
    assert [each["event"] for each in logged] == ["bug", "click"]
    assert "inner words" not in str(mouth.said)


def test_each_click_is_one_line_of_the_log_without_what_was_written(answers: Answers, case: Case) -> None:
    with structlog.testing.capture_logs() as logged:
        answers(sent(Button.of(Verb.RESOLVE, case), reason="Called Mrs Example."))

    (line,) = logged
    assert "Example" not in str(line)
    assert {name: line[name] for name in ("event", "verb", "case_id", "version", "slack_id", "outcome")} == {
        "event": "click",
        "verb": "resolve",
        "case_id": case.id,
        "version": 1,
        "slack_id": ANA,
        "outcome": "done",
    }


def test_what_cannot_be_said_to_anybody_is_in_the_log(answers: Answers, mouth: Mouth, case: Case) -> None:
    mouth.failing = "Slack said user_not_in_channel."
    with structlog.testing.capture_logs() as logged:
        answers(click(Verb.ACKNOWLEDGE, case))

    assert [(each["event"], each["outcome"]) for each in logged] == [
        ("click", "done"),
        ("unanswered", "done"),
    ]
    assert logged[1]["reason"] == mouth.failing


def test_an_action_id_is_one_clicks_own() -> None:
    button = Button(Verb.RESOLVE, CaseId("C-AAAAAAAAAA"), 7)
    different: list[Heard] = [
        pressed(button),
        pressed(button, "U0BEN"),
        pressed(replace(button, version=8)),
        pressed(replace(button, verb=Verb.SNOOZE)),
        pressed(replace(button, case_id=CaseId("C-BBBBBBBBBB"))),
        sent(button),
        sent(button, view_id="V2"),
    ]
    same = [sent(button, reason="Other words."), sent(button, code=Resolution.FALSE_ALARM)]

    assert len({action_id(each) for each in different}) == len(different)
    assert {action_id(each) for each in same} == {action_id(sent(button))}


def test_an_action_id_never_changes() -> None:
    button = Button(Verb.ACKNOWLEDGE, CaseId("C-AAAAAAAAAA"), 7)

    assert action_id(pressed(button)) == "slack:acknowledge:6c561c3a-b9df-5394-a557-0d73a407bd5e"


def test_a_case_that_is_open_again_can_be_acknowledged_again(
    answers: Answers, desk: Desk, database: Database, case: Case
) -> None:
    answers(click(Verb.RESOLVE, case))
    desk.reopen(case.id, version=2, reason="No.", operator=PEOPLE[0], action_id="again")
    answer = answers(click(Verb.ACKNOWLEDGE, now(database, case)))

    assert (answer.outcome, now(database, case).state) == (Outcome.DONE, CaseState.ACKNOWLEDGED)
