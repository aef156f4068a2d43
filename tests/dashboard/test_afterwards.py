"""What a case's page says after a decision, and where it leads: undone, or on to the next case."""

from datetime import timedelta
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.words import Action, CaseState
from tests import seeds
from tests.dashboard.conftest import Visit, now, words
from tests.dashboard.test_decision import decide, last, stored

SAID = "Resolved. Saved with your reason."


@pytest.fixture
def found(database: Database) -> tuple[Case, ...]:
    """Two double refunds of one customer's, the first of which was resolved."""
    at = now() - timedelta(hours=2)
    two = [seeds.duplicate(number, at=at, amount_minor=amount) for number, amount in ((1, 4900), (2, 5000))]
    cases = seeds.run(database, two, now=now() - timedelta(minutes=5))
    decide(cases[0], Action.RESOLVED, lambda page: page.selectbox(key="resolution").select_index(0))
    return cases


def after(visit: Visit, case: Case, **address: str) -> AppTest:
    """The case's page as the dialog leaves it."""
    page = visit("case", case=case.id, **address)
    page.session_state["said"] = SAID
    return page.run()


def following(page: AppTest) -> dict[str, list[str]]:
    (link,) = [each.proto for each in page.page_link if each.proto.label.startswith("Next case")]
    assert link.label == "Next case: Refunded twice · 50.00 USD"
    return parse_qs(link.query_string)


def test_after_a_decision_the_next_case_of_the_same_queue_is_a_click_away(
    found: tuple[Case, ...], visit: Visit
) -> None:
    page = after(visit, found[0], kind="duplicate")

    assert [each.value for each in page.success] == [SAID]
    assert following(page) == {"case": [found[1].id], "kind": ["duplicate"]}
    assert "No other case waits in this queue." in words(after(visit, found[0], kind="orphan"))


def test_a_decision_is_undone_with_one_click_which_is_an_entry_of_its_own(
    database: Database, found: tuple[Case, ...], visit: Visit
) -> None:
    page = after(visit, found[0])

    page.button(key="undo").click().run()

    assert not page.exception
    assert [each.value for each in page.success] == ["Undone: it waits for somebody again."]
    assert stored(database, found[0]).state is CaseState.OPEN
    assert last(database, found[0]) == (
        Action.REOPENED,
        "local operator",
        "Undone right after it was decided.",
    )
    assert "undo" not in [each.key for each in page.button]


def test_what_moved_meanwhile_is_not_undone_and_says_so(
    database: Database, found: tuple[Case, ...], visit: Visit
) -> None:
    page = after(visit, found[0])
    decide(found[0], Action.COMMENTED)

    page.button(key="undo").click().run()

    assert "commented on this case" in words(page)
    assert stored(database, found[0]).state is CaseState.RESOLVED


def test_only_a_decision_is_undone(found: tuple[Case, ...], visit: Visit) -> None:
    decide(found[0], Action.COMMENTED)

    assert "undo" not in [each.key for each in after(visit, found[0]).button]
