from datetime import timedelta

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import several
from recon.doors.store import cases as book
from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.words import Action
from tests import seeds
from tests.dashboard.conftest import SECONDS, now, words


def asking() -> None:
    """A page that is the dialog: the router's own cannot be kept open here, a browser keeps it."""
    from uuid import UUID  # noqa: PLC0415 -- this function's text is a script of its own

    import streamlit as st  # noqa: PLC0415

    from dashboard import session, several  # noqa: PLC0415
    from recon.model.records.queues import QueueFilters  # noqa: PLC0415
    from recon.model.records.words import Action  # noqa: PLC0415

    desk = session.desk()
    if "cases" not in st.session_state:  # As a dialog has the cases that it was opened on.
        st.session_state["cases"] = desk.queue(QueueFilters()).cases[:2]
    move = Action(st.query_params["move"])
    several.ask(desk, st.session_state["cases"], move, session.zone(), bulk_id=UUID(int=7))


def exporting() -> None:
    """A page that is the dialog of the CSV."""
    from dashboard import session, several  # noqa: PLC0415 -- this function's text is a script of its own
    from recon.model.records.queues import QueueFilters  # noqa: PLC0415

    several.export(session.desk(), QueueFilters())


@pytest.fixture
def found(database: Database) -> tuple[Case, ...]:
    return seeds.trouble(database, now=now() - timedelta(minutes=5))


def opened(move: Action) -> AppTest:
    page = AppTest.from_function(asking, default_timeout=SECONDS)
    page.query_params["move"] = str(move)
    return page.run()


def moved(database: Database, found: tuple[Case, ...]) -> int:
    """How many of the cases have another entry than that they were opened."""
    return sum(len(book.entries(database, case.id)) > 1 for case in found)


def test_the_confirmation_names_how_many_and_the_money_of_each_currency(
    database: Database, found: tuple[Case, ...]
) -> None:
    page = opened(Action.ACKNOWLEDGED)
    held = page.session_state["cases"]
    assert len(held) == 2

    label = page.button[0].label

    total = sum(case.mismatch.at_risk.amount_minor for case in held)
    assert label == f"Acknowledge 2 cases · {total / 100:,.2f} USD"


@pytest.mark.parametrize(
    "move, reason, said",
    [
        (Action.ACKNOWLEDGED, "", "A reason is required."),
        (Action.ACKNOWLEDGED, "  \n ", "A reason is required."),
        (Action.ACKNOWLEDGED, "\u200b", "A reason is required."),
        (Action.RESOLVED, "All of one cause.", "Say how it was settled."),
        (Action.SNOOZED, "All of one cause.", "Choose a date."),
        (Action.ASSIGNED, "All of one cause.", "Choose an owner."),
    ],
)
def test_what_is_lacking_is_said_and_nothing_is_moved(
    database: Database, found: tuple[Case, ...], move: Action, reason: str, said: str
) -> None:
    page = opened(move)

    page.text_area[0].set_value(reason)
    page.button[0].click().run()

    assert not page.exception
    assert [warning.value for warning in page.warning] == [said]
    assert moved(database, found) == 0


def test_more_than_one_file_takes_is_refused_before_it_is_read(
    database: Database, found: tuple[Case, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(several, "EXPORT_LIMIT", len(found) - 1)

    page = AppTest.from_function(exporting, default_timeout=SECONDS).run()

    assert "More than 16 cases fit these filters" in page.warning[0].value
    assert not page.get("download_button")


def test_exactly_as_many_as_one_file_takes_are_offered(
    database: Database, found: tuple[Case, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(several, "EXPORT_LIMIT", len(found))

    page = AppTest.from_function(exporting, default_timeout=SECONDS).run()

    assert "17 cases, as filtered, in the queue's order. Times are UTC." in words(page)
    assert len(page.get("download_button")) == 1
