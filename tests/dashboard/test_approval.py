"""What waits for a second person, on the pages: proposed, shown, filtered by, and answered."""

from datetime import timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import filters
from recon.desk import Desk
from recon.doors.store import cases as book
from recon.doors.store import operators, proposals
from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.words import Action, Actor, CaseState, Resolution, Role
from tests import seeds
from tests.dashboard.conftest import SECONDS, Visit, now, words
from tests.dashboard.test_decision import decide, stored

ME = Actor("local operator")  # As the settings name whoever sits at this machine.
LIMITS = '[four_eyes]\namounts = { usd = "100.00" }\n'


@pytest.fixture(autouse=True)
def limited(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that want two people from 100.00 USD on."""
    (tmp_path / "recon.toml").write_text(LIMITS)
    monkeypatch.setenv("RECON_CONFIG", str(tmp_path / "recon.toml"))


@pytest.fixture
def found(database: Database) -> tuple[Case, ...]:
    """Nine double refunds: the first of 49.00 USD, the last of 159.00 USD."""
    return seeds.trouble(database, now=now() - timedelta(minutes=5))


def of(found: tuple[Case, ...], minor: int) -> Case:
    return next(case for case in found if case.mismatch.at_risk.amount_minor == minor)


def approver(database: Database, name: str = ME) -> None:
    operators.put(database, Operator(Actor(name), Role.APPROVER))


def by_bea(database: Database, case: Case) -> None:
    """Let somebody else propose to write it off."""
    Desk.open().resolve(
        case.id,
        code=Resolution.WRITTEN_OFF,
        version=stored(database, case).version,
        reason="<b>Lost</b>.",
        operator=Operator(Actor("Bea"), Role.OPERATOR),
        action_id=f"bea-{case.id}",
    )


def asking() -> None:
    """A page that is the dialog of an answer: the router's own cannot be kept open here."""
    import streamlit as st  # noqa: PLC0415 -- this function's text is a script of its own

    from dashboard import approval, session  # noqa: PLC0415

    desk = session.desk()
    if "view" not in st.session_state:  # As a dialog shows the case that it was opened on.
        st.session_state["view"] = desk.case(st.query_params["case"], operator=session.operator())
    answer = approval.Answer(st.query_params["answer"])
    view = st.session_state["view"]
    if view.proposal is not None:
        approval.ask(desk, view, answer, action_id=f"desk:{answer}")


def answer(case: Case, how: str) -> AppTest:
    page = AppTest.from_function(asking, default_timeout=SECONDS)
    page.query_params.update({"case": case.id, "answer": how})
    page.run()
    page.text_area[0].set_value("Asked the customer.")
    page.button[0].click().run()
    assert not page.exception
    return page


def labels(page: AppTest) -> list[str]:
    return [each.label for each in page.button]


def test_from_the_limit_on_a_button_proposes_and_the_panel_says_so(
    found: tuple[Case, ...], visit: Visit
) -> None:
    above = visit("case", case=of(found, 4900 + 1375 * 4).id)
    below = visit("case", case=of(found, 4900).id)

    assert "Propose: Resolve" in labels(above)
    assert "Acknowledge" in labels(above)
    assert "A case with 104.00 USD at risk takes two people: one proposes, and another approves." in words(
        above
    )
    assert "Nobody signs in at this desk: a name proves nothing here" in words(above)
    assert "Resolve" in labels(below)
    assert "two people" not in words(below)


def test_the_dialog_proposes_and_the_page_shows_what_waits(
    database: Database, found: tuple[Case, ...], visit: Visit
) -> None:
    case = of(found, 4900 + 1375 * 4)

    def fill(page: AppTest) -> None:
        assert labels(page) == ["Propose: Resolve 104.00 USD"]
        page.selectbox(key="resolution").set_value(Resolution.WRITTEN_OFF)

    page = decide(case, Action.RESOLVED, fill)

    assert page.session_state["said"].startswith("Proposed: Resolve. Another person must approve it")
    assert stored(database, case).state is CaseState.OPEN
    shown = visit("case", case=case.id)
    assert "Waits for a second person" in words(shown)
    assert "Resolve as written off. Proposed by local operator, " in words(shown)
    assert "local operator proposed this: another person must approve it." in words(shown)
    assert "Take it back" in labels(shown)
    assert not {"Approve", "Decline", "Propose: Resolve"} & set(labels(shown))


def test_who_may_not_approve_is_told_what_it_takes(
    database: Database, found: tuple[Case, ...], visit: Visit
) -> None:
    by_bea(database, case := of(found, 4900 + 1375 * 4))
    shown = visit("case", case=case.id)

    assert "local operator has the role operator; this takes approver or admin." in words(shown)
    assert "<b>Lost</b>." in [each.value[-12:] for each in shown.text]
    assert not {"Approve", "Decline", "Take it back"} & set(labels(shown))


@pytest.mark.parametrize(
    "how, said, action, state",
    [
        ("approve", "Approved, and done as it was proposed.", Action.RESOLVED, CaseState.RESOLVED),
        ("decline", "Declined. The case stays as it is.", Action.DECLINED, CaseState.OPEN),
    ],
)
def test_an_approver_answers_what_another_proposed(
    *,
    database: Database,
    found: tuple[Case, ...],
    visit: Visit,
    how: str,
    said: str,
    action: Action,
    state: CaseState,
) -> None:
    approver(database)
    by_bea(database, case := of(found, 4900 + 1375 * 4))
    shown = visit("case", case=case.id)
    page = answer(case, how)

    assert {"Approve", "Decline"} <= set(labels(shown))
    assert [each.label for each in shown.button if each.proto.type == "primary"] == ["Approve"]
    assert page.session_state["said"] == said
    entry = book.entries(database, case.id)[-1].entry
    assert (entry.action, entry.actor, stored(database, case).state) == (action, ME, state)
    assert proposals.waiting(database, case.id) is None


def test_a_proposal_is_taken_back(database: Database, found: tuple[Case, ...]) -> None:
    case = of(found, 4900 + 1375 * 4)
    decide(
        case, Action.RESOLVED, lambda page: page.selectbox(key="resolution").set_value(Resolution.RECOVERED)
    )
    page = answer(case, "take_back")

    assert page.session_state["said"] == "Taken back. The case stays as it is."
    assert proposals.waiting(database, case.id) is None


def test_an_approval_of_what_moved_meanwhile_is_refused_in_words(
    database: Database, found: tuple[Case, ...]
) -> None:
    approver(database)
    by_bea(database, case := of(found, 4900 + 1375 * 4))
    page = AppTest.from_function(asking, default_timeout=SECONDS)
    page.query_params.update({"case": case.id, "answer": "approve"})
    page.run()
    seeds.acknowledged(database, case.id, by="Cal", now=now())
    page.text_area[0].set_value("Fine.")
    page.button[0].click().run()

    assert "Cal acknowledged this case" in words(page)
    assert stored(database, case).state is CaseState.ACKNOWLEDGED


def test_the_queue_shows_what_waits_for_approval_with_one_click(
    database: Database, found: tuple[Case, ...], visit: Visit
) -> None:
    for minor in (4900 + 1375 * 4, 4900 + 1375 * 5):
        by_bea(database, of(found, minor))
    page = visit()
    before = len(page.dataframe[0].value)
    page.button_group(key=filters.AT_ONCE_KEY).set_value([filters.PROPOSED]).run()

    assert (before, len(page.dataframe[0].value)) == (17, 2)
    assert page.query_params["proposed"] == "yes"
    page.button_group(key=filters.AT_ONCE_KEY).set_value([]).run()
    assert len(page.dataframe[0].value) == 17
