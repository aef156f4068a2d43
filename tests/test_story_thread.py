"""The life of a thread as people see it: told, taken on, given away, settled, and once more."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recon.delivery import deliver_all
from recon.doors.slack.posts import Slack
from recon.doors.store import cases as book
from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model.records.cases import Case
from recon.model.records.words import Action, NoticeState, Resolution
from recon.model.settings import Secret, SlackSettings
from tests.hours import OWNERS, Town, a_town, twice
from tests.people import Ana
from tests.sandboxes import SLACK_TOKEN, Street

TWO = {
    "rules": [
        *OWNERS["rules"],
        {"name": "others", "team": "others", "owner": "Other people", "target": "#others"},
    ]
}


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    slack = SlackSettings(
        bot_token=Secret(SLACK_TOKEN), base_url=sandbox.slack_url, operators_channel="#operators"
    )
    return a_town(database, sandbox, slack=slack, owners=TWO)


@pytest.fixture
def ana(town: Town) -> Ana:
    return Ana(town)


def tell(town: Town) -> None:
    """Deliver what waits; the sandbox's time passes meanwhile."""

    def sleep(seconds: float) -> None:
        town.pass_time(seconds=seconds)

    deliver_all(
        town.database,
        Slack(town.settings.slack),
        town.settings,
        clock=lambda: town.now,
        budget=timedelta(minutes=10),
        sleep=sleep,
    )
    assert {each.state for each in outbox.recent(town.database, 99)} == {NoticeState.SENT}


def roots(town: Town, channel: str = "payments") -> list[dict[str, Any]]:
    """Return the messages of a channel that are no replies, as they stand."""
    return [each for each in shown(town, channel) if not each.get("thread_ts")]


def replies(town: Town, channel: str = "payments") -> list[str]:
    """Return what was said in a channel's threads."""
    return [each["text"].partition(" Owner:")[0] for each in shown(town, channel) if each.get("thread_ts")]


def shown(town: Town, channel: str) -> list[dict[str, Any]]:
    return [each for each in town.street.messages() if each["channel_name"] == channel]


def the(town: Town, number: int) -> Case:
    """Return one of the waiting cases, by subject."""
    return sorted(town.waiting(), key=lambda case: case.subject)[number]


def test_what_people_do_is_seen_in_the_thread_and_its_root_and_the_next_outbreak_is_a_new_line(
    town: Town, ana: Ana
) -> None:
    twice(town, "1")
    twice(town, "2")
    town.run()
    tell(town)
    assert [each["text"].partition(",")[0] for each in roots(town)] == [
        "MEDIUM: 2 refunded twice (duplicate)"
    ]

    first, second = the(town, 0), the(town, 1)
    ana(Action.ACKNOWLEDGED, first)
    ana(Action.RESOLVED, second, code=Resolution.RECOVERED)
    tell(town)
    (root,) = roots(town)
    assert root["text"].startswith("MEDIUM: 1 refunded twice (duplicate), test mode, 49.00 USD at risk")
    assert "acknowledged" in str(root["blocks"])
    assert "1 resolved" in str(root["blocks"])
    assert [said.rpartition(": ")[2] for said in replies(town)[1:]] == [
        "1 acknowledged by Ana, 49.00 USD at risk.",
        "1 resolved by Ana.",
    ]

    ana(Action.RESOLVED, book.get(town.database, first.id) or first, code=Resolution.WRITTEN_OFF)
    tell(town)
    (root,) = roots(town)
    assert root["text"].startswith("Nothing waits: Refunded twice (duplicate), medium, test mode. 2 res")
    assert f"~<http://127.0.0.1:8501/case?case={first.id}|{first.id}> 49.00 USD~" in str(root["blocks"])

    town.pass_time(minutes=30)
    twice(town, "3")
    town.run()
    tell(town)
    assert [each["text"].partition(",")[0] for each in roots(town)] == [
        "Nothing waits: Refunded twice (duplicate)",
        "MEDIUM: 1 refunded twice (duplicate)",
    ]


def test_whom_a_person_gives_a_case_hears_of_it_at_once(town: Town, ana: Ana) -> None:
    twice(town, "1")
    town.run()
    tell(town)
    (other,) = [each for each in ana.desk.owners() if each.name == "Other people"]
    ana(Action.ASSIGNED, the(town, 0), owner=other)
    tell(town)

    assert [each["text"].partition(".")[0] for each in roots(town)] == [
        "Nothing waits: Refunded twice (duplicate), medium, test mode"
    ]
    (root,) = roots(town, "others")
    assert "MEDIUM: 1 refunded twice (duplicate), test mode, 49.00 USD" in root["text"]
    assert "Owner: Other people" in root["text"]


def test_a_root_that_waited_shows_what_is_so_when_it_goes_out(town: Town, ana: Ana) -> None:
    twice(town, "1")
    twice(town, "2")
    town.run()
    ana(Action.RESOLVED, the(town, 0), code=Resolution.RECOVERED)
    tell(town)

    (root,) = roots(town)
    assert root["text"].startswith("MEDIUM: 1 refunded twice (duplicate), test mode, 49.00 USD at risk")
    assert root["text"] == outbox_text(town, "root")


def outbox_text(town: Town, verb: str) -> str:
    """Return what the outbox keeps of the latest notice of a verb: what people were shown."""
    return next(each.message.text for each in outbox.recent(town.database, 99) if each.verb == verb)


def test_a_comment_does_not_leave_a_root_with_things_to_click_that_are_stale(town: Town, ana: Ana) -> None:
    town.settings = replace(
        town.settings, slack=replace(town.settings.slack, app_token=Secret("xapp-1-sandbox"))
    )
    twice(town, "1")
    town.run()
    tell(town)
    ana(Action.COMMENTED, the(town, 0))
    tell(town)

    case = the(town, 0)
    (root,) = roots(town)
    assert f"acknowledge/{case.id}/{case.version}" in str(root["blocks"])
    assert len(replies(town)) == 1
