from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta

import pytest
from sqlalchemy import select, update
from streamlit.testing.v1 import AppTest

from recon.doors.store import cases as book
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.cases import Case
from recon.model.records.words import Action, CaseState, Kind
from tests import seeds
from tests.dashboard.conftest import SECONDS, Visit, now, words

WHY = "Asked the customer."
DAY = timedelta(days=1)
Filled = Callable[[AppTest], object]


@pytest.fixture
def found(database: Database) -> tuple[Case, ...]:
    return seeds.trouble(database, now=now() - timedelta(minutes=5))


def of_kind(found: tuple[Case, ...], kind: Kind) -> Case:
    return next(case for case in found if case.mismatch.kind is kind)


def asking() -> None:
    """A page that is the dialog of a move: the router's own cannot be kept open here, a browser keeps it."""
    import streamlit as st  # noqa: PLC0415 -- this function's text is a script of its own

    from dashboard import decision, session  # noqa: PLC0415
    from recon.model.records.words import Action  # noqa: PLC0415

    desk, move = session.desk(), Action(st.query_params["move"])
    if "view" not in st.session_state:  # As a dialog shows the case that it was opened on.
        st.session_state["view"] = desk.case(st.query_params["case"], operator=session.operator())
    view = st.session_state["view"]
    if move in view.moves:
        decision.ask(desk, view, move, session.zone(), action_id=f"desk:{move}")


def nothing(_: AppTest) -> None:
    """Say nothing."""


def decide(case: Case, move: Action, fill: Filled = nothing) -> AppTest:
    """Open a move's dialog, say what it asks, and confirm."""
    page = AppTest.from_function(asking, default_timeout=SECONDS)
    page.query_params.update({"case": case.id, "move": str(move)})
    page.run()
    fill(page)
    page.text_area[0].set_value(WHY)
    page.button[0].click().run()
    assert not page.exception
    return page


def stored(database: Database, case: Case) -> Case:
    found = book.get(database, case.id)
    assert found is not None
    return found


def last(database: Database, case: Case) -> tuple[Action, str, str]:
    entry = book.entries(database, case.id)[-1].entry
    return entry.action, entry.actor, entry.reason


def tomorrow() -> date:
    return now().date() + DAY


def on(day: date) -> Filled:
    return lambda page: page.date_input(key="until").set_value(day)


def midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def test_an_open_case_offers_first_what_is_done_most_and_one_move_stands_out(
    found: tuple[Case, ...], visit: Visit
) -> None:
    page = visit("case", case=of_kind(found, Kind.ORPHAN).id)

    assert [(each.label, each.proto.type) for each in page.button] == [
        ("Acknowledge", "primary"),
        ("Resolve", "secondary"),
        ("Adopt the refund", "secondary"),
        ("Comment", "secondary"),
        ("Link a refund", "tertiary"),
        ("Accept until a date", "tertiary"),
        ("Snooze", "tertiary"),
        ("Assign", "tertiary"),
    ]


def test_nothing_stands_out_where_nothing_is_to_be_done_next(
    database: Database, found: tuple[Case, ...], visit: Visit
) -> None:
    resolved, accepted, adopted = found[0], found[1], of_kind(found, Kind.ORPHAN)
    decide(resolved, Action.RESOLVED, lambda page: page.selectbox(key="resolution").select_index(0))
    decide(accepted, Action.ACCEPTED, on(tomorrow()))
    decide(adopted, Action.ADOPTED)  # The next run judges it.

    pages = [visit("case", case=case.id) for case in (resolved, accepted, adopted)]
    assert [each.label for page in pages for each in page.button if each.proto.type == "primary"] == []
    assert "Reopen" in [each.label for each in pages[0].button]


def test_the_case_of_an_intent_offers_no_adoption(found: tuple[Case, ...], visit: Visit) -> None:
    page = visit("case", case=of_kind(found, Kind.MISSING).id)

    assert "Adopt the refund" not in [each.label for each in page.button]


def test_accepting_until_a_day_keeps_the_beginning_of_that_day(
    database: Database, found: tuple[Case, ...], visit: Visit
) -> None:
    day, case = tomorrow() + 6 * DAY, found[0]
    page = decide(case, Action.ACCEPTED, on(day))

    after = stored(database, case)
    assert (after.state, after.accepted_until) == (CaseState.ACCEPTED, midnight(day))
    assert last(database, case) == (Action.ACCEPTED, "local operator", f"Until {day} 00:00 UTC: {WHY}")
    assert page.session_state["said"] == "Accepted. Saved with your reason."
    said = words(visit("case", case=case.id))
    assert f"Accepted until {day.day} {day:%b %Y}, 00:00 UTC." in said


def test_snoozing_is_said_while_it_holds(database: Database, found: tuple[Case, ...], visit: Visit) -> None:
    day, case = tomorrow(), found[0]
    decide(case, Action.SNOOZED, on(day))

    assert (stored(database, case).state, stored(database, case).snoozed_until) == (
        CaseState.OPEN,
        midnight(day),
    )
    assert "Snoozed until" in words(visit("case", case=case.id))
    with database.write() as connection:
        past = now() - timedelta(seconds=1)
        connection.execute(update(tables.cases).values(snoozed_until=past))
    assert "Snoozed until" not in words(visit("case", case=case.id))


@pytest.mark.parametrize("move", [Action.ACCEPTED, Action.SNOOZED])
def test_a_move_without_its_date_is_not_saved(
    database: Database, found: tuple[Case, ...], visit: Visit, move: Action
) -> None:
    page = decide(found[0], move)

    assert [each.value for each in page.warning] == ["Choose a date."]
    assert stored(database, found[0]).version == 1


def test_a_date_too_far_ahead_is_refused_in_words(
    database: Database, found: tuple[Case, ...], visit: Visit
) -> None:
    page = decide(found[0], Action.SNOOZED, on(tomorrow() + 60 * DAY))

    assert "A case is snoozed for at most 31 days" in words(page)
    assert stored(database, found[0]).version == 1


def test_a_case_is_given_to_an_owner_of_owners_toml(
    database: Database, found: tuple[Case, ...], visit: Visit
) -> None:
    case = found[0]
    named: list[str] = []

    def choose(page: AppTest) -> None:
        box = page.selectbox(key="owner")
        named.extend(box.options)
        box.set_value(box.options[0])

    decide(case, Action.ASSIGNED, choose)

    after = stored(database, case)
    assert after.owner is not None
    assert after.pinned
    assert after.owner.rule == "assigned by local operator"
    assert named[0] == f"{after.owner.name} ({after.owner.target})"


def test_a_decision_is_taken_back(database: Database, found: tuple[Case, ...], visit: Visit) -> None:
    case = found[0]
    decide(case, Action.ACCEPTED, on(tomorrow()))
    decide(case, Action.REOPENED)

    assert (stored(database, case).state, stored(database, case).accepted_until) == (CaseState.OPEN, None)
    assert "Accepted until" not in words(visit("case", case=case.id))


def test_adopting_makes_the_refund_an_intent(
    database: Database, found: tuple[Case, ...], visit: Visit
) -> None:
    case = of_kind(found, Kind.ORPHAN)
    refund_id = case.subject.removeprefix("refund:")
    page = decide(case, Action.ADOPTED)

    columns = tables.intents.c
    with database.read() as connection:
        keys = connection.scalars(select(columns.key).where(columns.refund_id == refund_id)).all()
    assert keys == [f"adopted:{refund_id}"]
    assert page.session_state["said"] == "Refund adopted. Saved with your reason. The next run judges it."


@pytest.mark.parametrize("move, deed", [(Action.ADOPTED, "adopted"), (Action.LINKED, "linked")])
def test_what_was_said_of_a_refund_waits_for_the_next_run_and_is_not_asked_again(
    database: Database, found: tuple[Case, ...], visit: Visit, move: Action, deed: str
) -> None:
    case, other = of_kind(found, Kind.ORPHAN), of_kind(found, Kind.MISSING)
    key = other.subject.removeprefix("intent:")
    fill: Filled = (lambda page: page.text_input(key="link").set_value(key)) if deed == "linked" else nothing
    decide(case, move, fill)
    page = visit("case", case=case.id)

    assert f"Refund {deed} by local operator, " in words(page)
    assert "the next run judges it anew." in words(page)
    assert "Adopt the refund" not in [each.label for each in page.button]


def test_the_button_that_accepts_names_no_amount(found: tuple[Case, ...], visit: Visit) -> None:
    page = AppTest.from_function(asking, default_timeout=SECONDS)
    page.query_params.update({"case": found[0].id, "move": str(Action.ACCEPTED)})
    page.run()

    assert [each.label for each in page.button] == ["Accept until a date"]


def link_of(database: Database, case: Case) -> str | None:
    columns = tables.refunds.c
    with database.read() as connection:
        query = select(columns.operator_key).where(columns.id == case.subject.removeprefix("refund:"))
        return connection.scalar(query)


def test_a_refund_is_linked_by_the_key_of_its_intent_and_unlinked(
    database: Database, found: tuple[Case, ...], visit: Visit
) -> None:
    case, other = of_kind(found, Kind.ORPHAN), of_kind(found, Kind.MISSING)
    key = other.subject.removeprefix("intent:")
    decide(case, Action.LINKED, lambda page: page.text_input(key="link").set_value(f" {key} "))
    linked = link_of(database, case)
    decide(case, Action.UNLINKED)

    assert (linked, link_of(database, case)) == (key, None)
    actions = [each.entry.action for each in book.entries(database, case.id)]
    assert actions == [Action.OPENED, Action.LINKED, Action.UNLINKED]


def test_a_refund_is_linked_from_the_side_of_the_intent_by_its_id(
    database: Database, found: tuple[Case, ...], visit: Visit
) -> None:
    case, other = of_kind(found, Kind.ORPHAN), of_kind(found, Kind.MISSING)
    refund_id = case.subject.removeprefix("refund:")
    decide(
        other,
        Action.LINKED,
        lambda page: page.text_input(key="link").set_value(refund_id),
    )

    assert link_of(database, case) == other.subject.removeprefix("intent:")


@pytest.mark.parametrize(
    "typed, said",
    [
        ("refund_order:none", "has no intent refund_order:none"),
        ("", "Name the intent by its key."),
        ("<b>x</b>", "has no intent <b>x</b>"),
    ],
)
def test_a_link_to_what_is_not_there_is_refused_in_words(
    database: Database, found: tuple[Case, ...], visit: Visit, typed: str, said: str
) -> None:
    case = of_kind(found, Kind.ORPHAN)
    page = decide(case, Action.LINKED, lambda page: page.text_input(key="link").set_value(typed))

    assert said in words(page)
    assert stored(database, case).version == 1


@pytest.mark.parametrize("move", [Action.ADOPTED, Action.ACCEPTED, Action.ASSIGNED])
def test_a_case_that_moved_meanwhile_is_not_overwritten(
    database: Database, found: tuple[Case, ...], visit: Visit, move: Action
) -> None:
    case = of_kind(found, Kind.ORPHAN)
    fill: dict[Action, Filled] = {
        Action.ACCEPTED: on(tomorrow()),
        Action.ASSIGNED: lambda page: page.selectbox(key="owner").set_value(
            page.selectbox(key="owner").options[0]
        ),
    }

    def late(page: AppTest) -> None:
        seeds.acknowledged(database, case.id, by="Ana", now=now())
        fill.get(move, nothing)(page)

    page = decide(case, move, late)

    assert "Ana acknowledged this case" in words(page)
    assert last(database, case)[:2] == (Action.ACKNOWLEDGED, "Ana")
    assert link_of(database, case) is None
