from datetime import UTC, datetime, timedelta

import pytest

from recon.doors.store import leases, operators
from recon.doors.store.engines import Database
from recon.model.records.clicks import LISTENER
from recon.model.records.people import Operator
from recon.model.records.remarks import Section
from recon.model.records.words import Actor, Role
from tests.doctor.clinic import Clinic, levels, one
from tests.sandboxes import Street

SECRET = "0123456789abcdef0123456789abcdef"


def listening(clinic: Clinic, *, until: timedelta = timedelta(minutes=1)) -> None:
    """Write down that a listener is there."""
    with Database.open(clinic.environ["RECON_DATABASE_URL"]) as database:
        leases.take(database, LISTENER, "host-1", now=datetime.now(UTC), duration=until)


def known(clinic: Clinic, name: str, slack_id: str | None, *, active: bool = True) -> None:
    """Write an operator down."""
    with Database.open(clinic.environ["RECON_DATABASE_URL"]) as database:
        operators.put(database, Operator(Actor(name), Role.OPERATOR, active=active, slack_id=slack_id))


def test_without_any_way_for_a_click_there_are_links_only(small: Clinic) -> None:
    told = small.told(Section.SLACK)

    assert one(told, "messages carry links only").startswith("ok")
    assert not [line for line in told if "listen" in line or "operator has" in line]


def test_an_app_token_of_another_sort_is_a_failure(small: Clinic) -> None:
    small.environ["SLACK_APP_TOKEN"] = "xoxb-mistaken"

    assert one(small.told(Section.SLACK), "does not begin with xapp-").startswith("failure")


def test_an_app_token_that_opens_a_socket_is_ok_and_opens_none(small: Clinic, sandbox: Street) -> None:
    small.environ["SLACK_APP_TOKEN"] = "xapp-1"

    assert one(small.told(Section.SLACK), "opens a socket for clicks (none was opened now)").startswith("ok")
    assert sandbox.see("sockets") == []


def test_an_app_token_that_opens_no_socket_is_a_failure(small: Clinic, sandbox: Street) -> None:
    small.environ["SLACK_APP_TOKEN"] = "xapp-1"
    sandbox.fault("POST /api/apps.connections.open", "500_before", times=5)

    assert one(small.told(Section.SLACK), "opens no socket for clicks").startswith("failure")


@pytest.mark.parametrize(
    "secret, sign, level",
    [
        (SECRET, "clicks may come over HTTP", "ok"),
        ("xapp-mistaken", "is not 32 hexadecimal digits", "warning"),
        (SECRET.upper(), "is not 32 hexadecimal digits", "warning"),
    ],
)
def test_a_signing_secret_is_told_by_its_look(small: Clinic, *, secret: str, sign: str, level: str) -> None:
    small.environ["SLACK_SIGNING_SECRET"] = secret

    told = small.told(Section.SLACK)

    assert one(told, sign).startswith(level)
    assert secret not in "".join(told)


def test_buttons_without_a_listener_are_a_failure(small: Clinic) -> None:
    small.environ["SLACK_SIGNING_SECRET"] = SECRET
    assert one(small.told(Section.SLACK), "Nobody listens").startswith("failure")

    listening(small)

    assert one(small.told(Section.SLACK), "The listener is there (host-1)").startswith("ok")


def test_a_listener_that_was_there_is_there_no_more(small: Clinic) -> None:
    small.environ["SLACK_SIGNING_SECRET"] = SECRET
    listening(small)
    small.ahead = timedelta(minutes=2)

    assert one(small.told(Section.SLACK), "Nobody listens").startswith("failure")


def test_a_database_that_is_away_leaves_the_listener_unknown(small: Clinic) -> None:
    small.environ |= {"SLACK_SIGNING_SECRET": SECRET, "RECON_DATABASE_URL": "sqlite:////nowhere/recon.db"}

    assert one(small.told(Section.SLACK), "Nobody knows whether the listener runs").startswith("warning")


def test_operators_without_a_slack_id_are_named(small: Clinic, sandbox: Street) -> None:
    small.environ["SLACK_SIGNING_SECRET"] = SECRET
    known(small, "gone", None, active=False)
    assert one(small.told(Section.SLACK), "No operator has a Slack id").startswith("warning")

    sandbox.control("slack", users=[{"email": "maria@example.com", "id": "U0MARIA"}])
    known(small, "maria", "U0MARIA")
    assert one(small.told(Section.SLACK), "1 operator may answer in Slack: maria").startswith("ok")

    known(small, "tom", None)
    assert one(small.told(Section.SLACK), "Without a Slack id: tom.").startswith("warning")


def test_an_operator_whom_slack_does_not_know_is_named(small: Clinic, sandbox: Street) -> None:
    small.environ["SLACK_SIGNING_SECRET"] = SECRET
    known(small, "maria", "U0MARIA")

    told = small.told(Section.SLACK)

    assert one(told, "maria, an operator, is U0MARIA in Slack, which is of no use: Slack said user_not_found")
    assert not [line for line in told if "may answer in Slack" in line]


def test_offline_nothing_of_answers_is_asked_of_slack(small: Clinic, sandbox: Street) -> None:
    small.environ |= {"SLACK_SIGNING_SECRET": SECRET, "SLACK_APP_TOKEN": "xapp-1"}
    known(small, "maria", "U0MARIA")
    listening(small)

    found = small.examine(Section.SLACK, offline=True)

    assert [each for each in sandbox.requests() if each["path"].startswith("/api/")] == []
    assert "failure" not in levels([f"{each.level}: {each.found}" for each in found.remarks])
