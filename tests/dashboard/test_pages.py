from datetime import timedelta

import pytest
from sqlalchemy import update

from recon.desk import Desk, Freshness
from recon.doors.store import cases as book
from recon.doors.store import operators
from recon.doors.store.engines import Database
from recon.model.records.people import Operator
from recon.model.records.words import Actor, CaseState, Role
from recon.model.tables import cases
from tests import seeds
from tests.dashboard.conftest import APP, Server, Visit, now, words


def test_the_queue_shows_money_first_then_how_much_waits(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now() - timedelta(minutes=12))

    page = visit()

    assert not page.exception
    assert [(metric.label, metric.value) for metric in page.metric] == [
        ("At risk, EUR", "392.00 EUR"),
        ("At risk, USD", "1,300.00 USD"),
        ("Waiting cases", "17"),
        ("Oldest waits", "12 min"),
    ]
    assert len(page.dataframe[0].value) == 17
    assert "the filters" not in words(page)


@pytest.mark.parametrize(
    "asked, expected",
    [
        (
            {"kind": "orphan", "severity": ["high", "critical", "medium", "low"]},
            [("At risk", "119.00 EUR"), ("Waiting cases", "1"), ("Oldest waits", "12 min")],
        ),
        (
            {"state": "all", "kind": "missing"},
            [("At risk when found", "98.00 USD"), ("Cases", "1"), ("Oldest", "12 min")],
        ),
        ({"text": "nowhere"}, [("At risk", "nothing"), ("Waiting cases", "0"), ("Oldest waits", "—")]),
    ],
)
def test_the_numbers_are_of_what_is_filtered_and_say_so(
    database: Database, visit: Visit, asked: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    seeds.trouble(database, now=now() - timedelta(minutes=12))

    page = visit(**asked)

    assert [(metric.label, metric.value) for metric in page.metric] == expected
    assert "Of what the filters let through; in all, 17 cases wait." in words(page)


def test_a_fresh_run_is_said_with_what_it_covered(database: Database, visit: Visit) -> None:
    at = now() - timedelta(minutes=12)
    seeds.run(database, now=at)

    said = words(visit())

    assert "Last complete run 12 min ago, covered to " in said
    assert f"{at - timedelta(minutes=1):%H:%M} UTC" in said
    assert "Nothing waits for anybody" in said


def test_a_stale_run_is_said_in_red(database: Database, visit: Visit) -> None:
    seeds.run(database, now=now() - timedelta(hours=3))

    page = visit()

    assert "Stale: no complete run for more than 2 h." in page.error[0].value
    assert ([each.value for each in page.success], page.info[0].value) == (
        [],
        "No case waits, but what came since is not known.",
    )


def test_an_incomplete_run_is_said_in_red_with_what_was_not_read(database: Database, visit: Visit) -> None:
    seeds.run(database, now=now() - timedelta(minutes=70))
    seeds.run(database, now=now() - timedelta(minutes=10), number=2, complete=False)

    page = visit()

    assert "Incomplete: the latest run, 10 min ago" in page.error[0].value
    assert "page 3 of the list: the provider answered 502" in words(page)
    assert page.info[0].value == "No case waits, but what came since is not known."


def test_before_the_first_run_the_page_says_how_to_start_one(database: Database, visit: Visit) -> None:
    page = visit()

    assert "recon run" in page.error[0].value
    assert page.info[0].value == "No case waits, but no run has read everything yet."


def test_filters_come_from_the_address(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())

    page = visit(kind="duplicate", text="order_8813")

    assert list(page.dataframe[0].value["Order or refund"]) == ["order_8813"]


def test_a_step_to_the_page_beside_is_one_look_and_one_run(
    database: Database, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [seeds.duplicate(number, at=now() - timedelta(hours=2)) for number in range(52)]
    cases = sorted(seeds.run(database, found, now=now()), key=lambda case: case.id)
    page = visit()
    first = list(page.dataframe[0].value["Case"])
    runs: list[object] = []
    freshness = Desk.freshness

    def counted(desk: Desk) -> Freshness:
        runs.append(desk)
        return freshness(desk)

    monkeypatch.setattr(Desk, "freshness", counted)

    page.button(key="older").click().run()
    second = list(page.dataframe[0].value["Case"])
    page.button(key="newer").click().run()
    again = list(page.dataframe[0].value["Case"])

    assert first == again == [case.id for case in cases[:50]]
    assert second == [case.id for case in cases[50:]]
    assert len(runs) == 2


def test_unknown_words_in_the_address_filter_nothing(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())

    page = visit(kind="nonsense", state="also nonsense", view="neither")

    assert len(page.dataframe[0].value) == 17


def test_filters_that_fit_nothing_say_so_and_can_be_cleared(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())
    page = visit(text="order_0000")
    assert "No case fits these filters." in words(page)

    page.button(key="clear").click().run()

    assert len(page.dataframe[0].value) == 17


def test_the_queue_is_also_a_plain_list_of_links(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now())

    page = visit(view="list", kind="duplicate")

    links = [link for link in page.page_link if "49.00 USD" in link.label]
    assert [link.label for link in links] == ["**Refunded twice · 49.00 USD**"]
    assert found[0].id in words(page)


def test_a_case_shows_both_sides_what_differs_and_its_story(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now() - timedelta(minutes=5))

    page = visit("case", case=found[10].id)
    said = words(page)

    assert not page.exception
    assert page.title[0].value == "Wrong amount · 77.00 EUR at risk"
    assert "77.00 EUR" in said
    assert "7,700.00 EUR" in said
    assert said.count("differs") == 2
    assert "refund operators" in said
    assert "recon, in a run" in said


@pytest.mark.parametrize(
    "state, said",
    [
        (CaseState.OPEN, "Wrong amount · 77.00 EUR at risk"),
        (CaseState.ACKNOWLEDGED, "Wrong amount · 77.00 EUR at risk"),
        (CaseState.RESOLVED, "Wrong amount · 77.00 EUR was at risk"),
        (CaseState.CLEARED, "Wrong amount · 77.00 EUR was at risk"),
    ],
)
def test_what_is_over_was_at_risk(database: Database, visit: Visit, state: CaseState, said: str) -> None:
    found = seeds.trouble(database, now=now())
    with database.write() as connection:
        connection.execute(update(cases).where(cases.c.id == found[10].id).values(state=state))

    assert visit("case", case=found[10].id).title[0].value == said


def test_the_way_back_from_a_case_leaves_no_case_in_the_queues_address(
    database: Database, visit: Visit
) -> None:
    found = seeds.trouble(database, now=now())

    page = visit(case=found[0].id, kind="duplicate")

    assert {*page.query_params} == {"kind"}


def test_the_queue_says_its_order(database: Database, visit: Visit) -> None:
    seeds.trouble(database, now=now())

    assert "17 cases, most severe first, then longest waiting; " in words(visit())


def test_a_case_without_refunds_says_that_nothing_is_there(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now())

    assert "no refund at the provider" in words(visit("case", case=found[13].id))


def test_an_unknown_case_is_said_and_another_can_be_asked_for(database: Database, visit: Visit) -> None:
    page = visit("case", case="C-<script>")

    assert page.title[0].value == "No such case"
    assert "No case has the id C-<script>." in words(page)


def test_a_viewer_sees_the_case_and_no_buttons(database: Database, visit: Visit) -> None:
    operators.put(database, Operator(Actor("local operator"), Role.VIEWER))
    found = seeds.trouble(database, now=now())

    page = visit("case", case=found[0].id)

    assert not [button for button in page.button if button.label in {"Acknowledge", "Resolve", "Comment"}]
    assert "needs the role operator" in words(page)


def test_who_looks_again_is_told_what_happened_meanwhile(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now())
    page = visit("case", case=found[0].id)
    seeds.acknowledged(database, found[0].id, by="Ana", now=now())

    page.run()

    assert "Moved since you last looked" in words(page)
    assert "Ana: acknowledged" in words(page)


def test_a_database_that_was_never_upgraded_is_a_sentence(visit: Visit, monkeypatch: object) -> None:
    page = visit()  # No RECON_DATABASE_URL: an empty file in the test's own folder.

    assert not page.exception
    assert "run recon db upgrade" in words(page)


def test_a_database_that_breaks_off_is_a_sentence_without_its_address(
    database: Database, visit: Visit
) -> None:
    seeds.trouble(database, now=now())
    page = visit()
    with database.write() as connection:
        connection.exec_driver_sql("DROP TABLE entries")
        connection.exec_driver_sql("DROP TABLE cases")

    page.switch_page("views/case.py")
    page.query_params["case"] = "C-ANYCASE"
    page.run()

    assert not page.exception
    assert "recon.db" not in words(page)
    assert "run recon db upgrade" in words(page)


@pytest.mark.parametrize("address", [None, "0.0.0.0", "192.0.2.7", "desk.example"])  # noqa: S104 -- refused
def test_a_server_bound_beyond_loopback_shows_nothing(
    database: Database, visit: Visit, server: Server, address: str | None
) -> None:
    found = seeds.trouble(database, now=now())
    server.address = address

    page = visit("case", case=found[0].id)

    assert "listens on 127.0.0.1 only" in words(page)
    assert found[0].id not in words(page)


@pytest.mark.parametrize(
    "headers, expected",
    [
        ({"Host": "desk.example:8501"}, "answers to the names of this machine's loopback only"),
        ({"Host": "127.0.0.1:8501", "X-Forwarded-For": "192.0.2.7"}, "not to be reached through a proxy"),
        ({"Host": "localhost:8501"}, None),
        ({"Host": "[::1]:8501"}, None),
    ],
)
def test_local_mode_answers_only_who_came_straight_from_this_machine(
    database: Database, visit: Visit, server: Server, headers: dict[str, str], expected: str | None
) -> None:
    seeds.run(database, now=now())
    server.headers = headers

    said = words(visit())

    assert ("Waiting cases" in said) is (expected is None)
    assert expected is None or expected in said


def test_the_story_of_a_case_is_newest_first(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now())
    seeds.acknowledged(database, found[0].id, by="Ana", now=now())

    said = words(visit("case", case=found[0].id))

    assert len(book.entries(database, found[0].id)) == 2
    assert said.index("Seeded: asking the bank.") < said.rindex("re_8812 stands")


def test_no_page_is_where_streamlit_would_run_it_without_the_router() -> None:
    assert not (APP.parent / "pages").exists()  # A server's first visitor would get it unguarded.
