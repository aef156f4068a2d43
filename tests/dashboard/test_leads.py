from datetime import timedelta
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import incidents, leads
from recon.doors.store.engines import Database
from tests import seeds
from tests.dashboard.conftest import Visit, now


def ways(page: AppTest) -> dict[str, dict[str, list[str]]]:
    """The links to the incident's page, each with what its address says."""
    links = [element.proto for element in page.page_link if element.proto.page == "incident"]
    return {link.label: parse_qs(link.query_string) for link in links}


@pytest.mark.parametrize("number, shown", [(leads.SEVERAL - 1, False), (leads.SEVERAL, True)])
def test_the_queue_leads_to_a_burst_that_is_an_incident(
    database: Database, visit: Visit, number: int, *, shown: bool
) -> None:
    at = now() - timedelta(hours=2)
    found = [seeds.duplicate(each, at=at + timedelta(minutes=each)) for each in range(number)]
    seeds.run(database, found, now=now())

    labels = list(ways(visit()))

    assert [label.startswith("Incident: refunded twice, 3 cases on ") for label in labels] == [True] * shown


def test_a_case_leads_to_what_began_within_the_hour(database: Database, visit: Visit) -> None:
    case = seeds.trouble(database, now=now())[0]

    found = ways(visit("case", case=case.id))

    expected = {name: [value] for name, value in incidents.beside(case).items()}
    assert found == {"Others like it within the hour": expected}


def test_that_way_shows_the_case_among_the_others(database: Database, visit: Visit) -> None:
    case = seeds.trouble(database, now=now())[0]

    page = visit("incident", **incidents.beside(case))

    assert page.title[0].value == "Incident · Refunded twice · 9 customers"
