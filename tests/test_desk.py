from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from recon.desk import CaseView, Desk
from recon.doors.store import cases as book
from recon.doors.store import operators
from recon.doors.store.engines import Database
from recon.model.errors import CaseMoved, ConfigurationError, NotPermitted, Report
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.queues import QueueFilters
from recon.model.records.words import (
    Action,
    Actor,
    CaseState,
    Certainty,
    IntentKey,
    Kind,
    Resolution,
    Role,
)
from recon.model.settings import DashboardSettings, Settings
from tests import seeds
from tests.builders import NOON

ANA = Operator(Actor("Ana"), Role.OPERATOR)
BEN = Operator(Actor("Ben"), Role.OPERATOR)
VERA = Operator(Actor("Vera"), Role.VIEWER)
LATER = NOON + timedelta(minutes=7)
UNDECIDED_MOVES = (
    Action.ACKNOWLEDGED,
    Action.RESOLVED,
    Action.LINKED,
    Action.ACCEPTED,
    Action.SNOOZED,
    Action.ASSIGNED,
    Action.COMMENTED,
)


@pytest.fixture
def desk(database: Database) -> Desk:
    return Desk(database, Settings(), clock=lambda: LATER)


@pytest.fixture
def case(database: Database) -> Case:
    mismatch = seeds.duplicate(8812, at=NOON - timedelta(hours=2))
    intent, refunds = seeds.sides(mismatch, at=mismatch.since)
    seeds.rows(database, [intent], refunds, now=NOON)
    (found,) = seeds.run(database, [mismatch], now=NOON)
    return found


def seen(desk: Desk, case: Case, operator: Operator = ANA) -> CaseView:
    view = desk.case(case.id, operator=operator)
    assert view is not None
    return view


def acknowledged(desk: Desk, case: Case, operator: Operator = ANA, **changes: object) -> None:
    arguments = {"version": case.version, "reason": "Asking the bank.", "action_id": f"a-{operator.name}"}
    desk.acknowledge(case.id, operator=operator, **(arguments | changes))  # type: ignore[arg-type]  # a test's own


def test_a_case_is_shown_with_both_sides_and_its_story(desk: Desk, case: Case) -> None:
    view = seen(desk, case)

    assert [intent.key for intent in view.intents] == ["refund_order:8812"]
    assert [refund.id for refund in view.refunds] == ["re_8812", "re_8812_2"]
    assert [entry.action for entry in view.entries] == [Action.OPENED]
    assert view.moves == UNDECIDED_MOVES


def test_a_case_of_two_keys_for_one_payment_shows_both_intents_and_both_refunds(
    desk: Desk, database: Database
) -> None:
    at = NOON - timedelta(hours=2)
    first, second = (seeds.sides(seeds.duplicate(number, at=at), at=at) for number in (8790, 8791))
    theirs = [first[1][0], second[1][0]]
    seeds.rows(database, [first[0], second[0]], theirs, now=NOON)
    ids = tuple(refund.id for refund in theirs)
    repeat = replace(
        seeds.duplicate(8791, at=at),
        certainty=Certainty.PROBABLE,
        refund_ids=ids,
        extra_refund_ids=ids[1:],
    )
    (case,) = seeds.run(database, [repeat], now=NOON)

    view = seen(desk, case)

    assert {intent.key for intent in view.intents} == {"refund_order:8790", "refund_order:8791"}
    assert {refund.id for refund in view.refunds} == {"re_8790", "re_8791"}


def test_the_other_intent_is_shown_also_where_only_inference_ties_its_refund_to_it(
    desk: Desk, database: Database
) -> None:
    at = NOON - timedelta(hours=2)
    mismatch = seeds.duplicate(8790, at=at)
    intent, theirs = seeds.sides(mismatch, at=at)
    other = replace(intent, key=IntentKey("call_1"), refund_id=None)
    larger = replace(other, key=IntentKey("of another line"), amount_minor=5000)
    unnamed = replace(theirs[1], intent_key=None)
    seeds.rows(database, [intent, other, larger], [theirs[0], unnamed], now=NOON)
    (case,) = seeds.run(database, [replace(mismatch, certainty=Certainty.PROBABLE)], now=NOON)

    assert {each.key for each in seen(desk, case).intents} == {intent.key, other.key}


def test_no_case_has_an_unknown_id(desk: Desk) -> None:
    assert desk.case("C-NOSUCHCASE", operator=ANA) is None


def test_acknowledging_moves_the_case_and_says_who_and_why(desk: Desk, case: Case) -> None:
    acknowledged(desk, case)

    view = seen(desk, case)
    latest = view.entries[-1]
    assert view.case.state is CaseState.ACKNOWLEDGED
    assert (latest.actor, latest.reason, latest.at) == ("Ana", "Asking the bank.", LATER)
    assert view.moves == UNDECIDED_MOVES[1:]


def test_resolving_keeps_the_code_and_the_fence_it_was_decided_under(desk: Desk, case: Case) -> None:
    desk.resolve(
        case.id,
        version=case.version,
        code=Resolution.RECOVERED,
        reason="The customer sent it back.",
        operator=ANA,
        action_id="r1",
    )

    view = seen(desk, case)
    assert (view.case.state, view.case.resolution) == (CaseState.RESOLVED, Resolution.RECOVERED)
    assert view.case.decided_fence == 2  # The seed took the lease twice.
    assert view.moves == (Action.REOPENED, Action.COMMENTED)


def test_a_comment_leaves_the_case_where_it_is(desk: Desk, case: Case) -> None:
    desk.comment(case.id, version=case.version, reason="Called.", operator=ANA, action_id="c1")

    view = seen(desk, case)
    assert view.case.state is CaseState.OPEN
    assert view.entries[-1].action is Action.COMMENTED


def test_the_second_operator_is_told_who_was_first_and_overwrites_nothing(desk: Desk, case: Case) -> None:
    acknowledged(desk, case, ANA)

    with pytest.raises(CaseMoved, match=r"^Ana acknowledged this case at 12:07 UTC, after you read it\."):
        desk.resolve(
            case.id,
            version=case.version,
            code=Resolution.FALSE_ALARM,
            reason="Nothing wrong.",
            operator=BEN,
            action_id="b1",
        )
    view = seen(desk, case)
    assert view.case.state is CaseState.ACKNOWLEDGED
    assert [entry.actor for entry in view.entries] == ["recon", "Ana"]


def test_who_loses_the_race_between_reading_and_writing_is_told_too(
    desk: Desk, database: Database, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = book.get(database, case.id)
    acknowledged(desk, case, ANA)
    found = book.get
    answers = iter([stale])
    monkeypatch.setattr(book, "get", lambda db, case_id: next(answers, None) or found(db, case_id))

    with pytest.raises(CaseMoved, match=r"^Ana acknowledged this case"):
        acknowledged(desk, case, BEN)


def test_of_eight_operators_at_once_one_moves_the_case_and_seven_are_told(desk: Desk, case: Case) -> None:
    def attempt(number: int) -> str:
        try:
            acknowledged(desk, case, Operator(Actor(f"Operator {number}"), Role.OPERATOR))
        except CaseMoved:
            return "told"
        return "moved"

    with ThreadPoolExecutor(8) as pool:
        outcomes = sorted(pool.map(attempt, range(8)))

    assert outcomes == ["moved", *["told"] * 7]
    assert len(seen(desk, case).entries) == 2


def test_the_same_action_again_is_one_entry(desk: Desk, case: Case) -> None:
    for _ in range(5):
        acknowledged(desk, case, ANA, action_id="one click")

    assert [entry.action for entry in seen(desk, case).entries] == [Action.OPENED, Action.ACKNOWLEDGED]


@pytest.mark.parametrize("reason", ["", "  \n ", "x" * 2_001])
def test_a_reason_is_required_and_has_a_limit(desk: Desk, case: Case, reason: str) -> None:
    with pytest.raises(Report, match="reason"):
        acknowledged(desk, case, reason=reason)

    assert len(seen(desk, case).entries) == 1


def test_a_move_that_the_case_does_not_allow_is_refused(desk: Desk, case: Case) -> None:
    acknowledged(desk, case)

    with pytest.raises(Report, match="only an open case can be acknowledged"):
        acknowledged(desk, replace(case, version=2), action_id="again")


def test_a_case_that_is_not_there_cannot_be_moved(desk: Desk, case: Case) -> None:
    with pytest.raises(Report, match="C-NOSUCHCASE"):
        desk.comment("C-NOSUCHCASE", version=1, reason="Hm.", operator=ANA, action_id="x")  # type: ignore[arg-type]  # as an address gives it


def test_a_viewer_may_look_and_not_touch(desk: Desk, database: Database, case: Case) -> None:
    assert seen(desk, case, VERA).moves == ()

    with pytest.raises(NotPermitted, match="Vera has the role viewer"):
        acknowledged(desk, case, VERA)
    assert len(seen(desk, case).entries) == 1


@pytest.mark.parametrize(
    "now",
    [Operator(ANA.name, Role.VIEWER), Operator(ANA.name, Role.OPERATOR, active=False)],
    ids=["made a viewer", "removed"],
)
def test_a_role_taken_away_holds_for_a_tab_that_is_still_open(
    desk: Desk, database: Database, case: Case, now: Operator
) -> None:
    operators.put(database, now)

    assert seen(desk, case, ANA).moves == ()
    with pytest.raises(NotPermitted, match="Ana"):
        acknowledged(desk, case, ANA)


def test_the_local_operator_is_the_settings_name_and_the_databases_role(database: Database) -> None:
    desk = Desk(database, Settings(dashboard=DashboardSettings(operator="Vera")), clock=lambda: NOON)

    assert desk.local_operator() == Operator(Actor("Vera"), Role.OPERATOR)
    operators.put(database, VERA)
    assert desk.local_operator() == VERA


def test_the_queue_is_paged_and_filtered(database: Database) -> None:
    desk = Desk(database, Settings(dashboard=DashboardSettings(queue_page=10)), clock=lambda: NOON)
    seeds.trouble(database, now=NOON)

    first = desk.queue(QueueFilters())
    rest = desk.queue(QueueFilters(), after=first.next)

    assert [len(first.cases), len(rest.cases)] == [10, 7]
    assert rest.next is None
    assert len({case.id for case in first.cases + rest.cases}) == 17
    assert len(desk.queue(QueueFilters(kinds=(Kind.DUPLICATE,))).cases) == 9
    assert desk.summary().waiting == 17


def test_what_comes_after_a_case_is_of_the_same_queue_and_begins_anew_at_its_end(database: Database) -> None:
    desk = Desk(database, Settings(), clock=lambda: NOON)
    seeds.trouble(database, now=NOON)
    asked = QueueFilters(kinds=(Kind.DUPLICATE,))
    queue = desk.queue(asked).cases
    (alone,) = desk.queue(QueueFilters(kinds=(Kind.ORPHAN,))).cases

    assert [desk.following(asked, case) for case in queue] == [*queue[1:], queue[0]]
    assert desk.following(QueueFilters(kinds=(Kind.ORPHAN,)), alone) is None
    assert desk.following(QueueFilters(search=str(queue[3].mismatch.order_id)), alone) == queue[3]


@pytest.mark.parametrize(
    "after, complete, expected",
    [
        (timedelta(hours=2, microseconds=-1), True, (False, False)),
        (timedelta(hours=2), True, (True, False)),
        (timedelta(minutes=1), False, (False, True)),  # None was ever complete.
        (timedelta(hours=2), False, (True, True)),
    ],
)
def test_freshness_is_of_the_last_complete_run(
    database: Database, *, after: timedelta, complete: bool, expected: tuple[bool, bool]
) -> None:
    seeds.run(database, now=NOON, complete=complete)

    state = Desk(database, Settings(), clock=lambda: NOON + after).freshness()

    assert (state.stale, state.incomplete) == expected


def test_an_incomplete_run_after_a_complete_one_is_said_with_what_was_not_read(database: Database) -> None:
    seeds.run(database, now=NOON)
    seeds.run(database, now=NOON + timedelta(hours=1), number=2, complete=False)

    state = Desk(database, Settings(), clock=lambda: NOON + timedelta(hours=1)).freshness()

    assert (state.stale, state.incomplete) == (False, True)
    assert [reading.error for reading in state.unread] == [
        "page 3 of the list broke off: the provider answered 502"
    ]


def test_before_the_first_run_nobody_has_relied_on_one(desk: Desk) -> None:
    state = desk.freshness()

    assert (state.last, state.complete, state.stale) == (None, None, False)


def test_a_database_that_was_never_upgraded_says_what_to_run(tmp_path: object) -> None:
    with pytest.raises(ConfigurationError, match="recon db upgrade"):
        Desk.open({"RECON_DATABASE_URL": f"sqlite:///{tmp_path}/empty.db"})
