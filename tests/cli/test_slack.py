import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # ships no types

from recon.cli import trial
from recon.cli.trial import Trial
from recon.doctor.patients import Patient
from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model.errors import ConfigurationError
from recon.model.records.owners import Profile
from recon.model.records.remarks import Remark
from recon.model.records.words import NoticeState
from recon.model.settings import Secret, Settings, SlackSettings
from recon.rules import ownership
from tests.cli.conftest import recon
from tests.sandboxes import SLACK_TOKEN, Street
from tests.town import a_notice

CLOSED = "http://127.0.0.1:9/api/"  # Nobody listens on the discard port.
LEADS = Profile("support leads", "#leads", group="S0LEADS")
OWNERS: dict[str, Any] = {
    "rules": [
        {"name": "everything", "owner": "refund operators", "target": "#refund-operators"},
        {"name": "doubles", "kind": "duplicate", "owner": "Support leads", "target": "#leads"},
    ]
}


class Watch:
    """A clock that sleeping moves on, not waiting."""

    def __init__(self, at: datetime | None = None) -> None:
        self.now = at or datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def settings(street: Street, **more: Any) -> Settings:  # noqa: ANN401 - any of Slack's settings
    slack = SlackSettings(bot_token=Secret(SLACK_TOKEN), base_url=street.slack_url, timeout_seconds=2)
    return replace(Settings(), slack=replace(slack, **more))


def tried(
    database: Database,
    known: Settings,
    owner: Profile = LEADS,
    *,
    seconds: int = 30,
    watch: Watch | None = None,
) -> tuple[Trial, list[str]]:
    """Return a trial that is over, and what was seen of it as lines."""
    watch = watch or Watch()
    patient = Patient({}, None, known, None, database, watch)
    found = Trial(patient, owner, budget_seconds=seconds, sleep=watch.sleep)
    return found, [line(remark) for remark in found.remarks()]


def line(remark: Remark) -> str:
    return f"{remark.level}: {remark.found} {remark.todo}"


def one(lines: list[str], sign: str) -> str:
    found = [each for each in lines if sign in each]
    assert len(found) == 1, f"expected one line with {sign!r}, found {lines}"
    return found[0]


@pytest.fixture
def street(sandbox: Street) -> Street:
    """A workspace with two channels and nothing that comes to be by being asked for."""
    channels = [{"name": "leads"}, {"name": "refund-operators"}, {"name": "old", "archived": True}]
    sandbox.control(
        "slack",
        open=False,
        channels=channels,
        usergroups=[{"id": "S0LEADS", "handle": "leads"}],
        users=[{"email": "maria@example.com"}],
    )
    return sandbox


def test_an_owner_gets_one_message_that_is_found_again(database: Database, street: Street) -> None:
    found, lines = tried(database, settings(street))

    (message,) = street.messages()
    assert found.arrived
    assert [each for each in lines if not each.startswith("ok")] == []
    assert one(lines, "Sent to #leads (C").endswith(f"ts {message['ts']}. ")
    assert one(lines, "It is found again by its delivery id")
    assert one(lines, "Found the user groups S0LEADS")


def test_the_message_says_that_it_is_a_test_and_mentions_whom_a_case_would(
    database: Database, street: Street
) -> None:
    tried(database, settings(street))

    (message,) = street.messages()
    assert message["text"].startswith("Test of recon: nothing to do. ")
    assert "support leads at #leads" in message["text"]
    assert "<!subteam^S0LEADS> " in str(message["blocks"])
    assert "<!subteam" not in message["text"]


def test_each_test_is_a_message_of_its_own_and_goes_before_what_waits(
    database: Database, street: Street
) -> None:
    with database.write() as connection:
        outbox.add(connection, [a_notice("digest", thread="t", target="#refund-operators", urgency=0)])

    tried(database, settings(street))
    street.advance(2)
    tried(database, settings(street))

    texts = [message["text"][:13] for message in street.messages()]
    assert sorted(texts) == ["Test of recon", "Test of recon", "digest"]
    assert texts[0] == "Test of recon"


@pytest.mark.parametrize("target", ["#old", "#nowhere", "C0NOWHERE", "U0NOBODY", "nobody@example.invalid"])
def test_what_falls_back_to_the_operators_has_not_arrived(
    database: Database, street: Street, target: str
) -> None:
    found, lines = tried(database, settings(street), Profile("somebody", target))

    assert not found.arrived
    assert one(lines, "It fell back to #refund-operators (C").startswith("failure")
    assert f"does not let it go to {target}." in one(lines, "It fell back")


@pytest.mark.parametrize("target", ["maria@example.com", "S0LEADS"])
def test_a_person_and_a_group_are_reached_where_they_read(
    database: Database, street: Street, target: str
) -> None:
    street.control("slack", open=True)  # A conversation with a person begins with the first message.

    found, lines = tried(database, settings(street), Profile("somebody", target))

    assert found.arrived
    assert one(lines, "Sent to ").startswith("ok")


def test_what_nobody_takes_is_given_up_and_said(database: Database, street: Street) -> None:
    found, lines = tried(database, settings(street, operators_channel="#old"), Profile("old", "#old"))

    assert not found.arrived
    assert one(lines, "Not sent, and given up: Slack said is_archived").startswith("failure")
    assert not [each for each in lines if "found again" in each]


@pytest.mark.parametrize(
    "more, sign",
    [
        ({"base_url": CLOSED}, "Nothing was sent: no usable answer from Slack"),
        ({"bot_token": Secret("mistyped")}, "Nothing was sent: Slack said invalid_auth"),
        ({"bot_token": Secret("xoxp-1")}, "Nothing was sent: SLACK_BOT_TOKEN holds a person's token"),
    ],
)
def test_where_the_bot_cannot_sign_in_nothing_is_left_in_the_outbox(
    database: Database, street: Street, more: Mapping[str, object], sign: str
) -> None:
    found, lines = tried(database, settings(street, **more))

    assert not found.arrived
    assert one(lines, sign).startswith("failure")
    assert outbox.recent(database, 1) == ()


def test_an_unclear_send_is_unclear_and_after_a_while_found(database: Database, street: Street) -> None:
    street.fault("POST /api/chat.postMessage", "drop_after")
    soon, lines = tried(database, settings(street), seconds=30)
    assert not soon.arrived
    assert one(lines, "Nobody knows whether it was sent").startswith("failure")

    street.advance(2)
    street.fault("POST /api/chat.postMessage", "drop_after")
    patient, lines = tried(database, settings(street), seconds=150)

    assert patient.arrived
    assert one(lines, "Sent to #leads").startswith("ok")


def test_what_still_waits_says_why(database: Database, street: Street) -> None:
    street.fault("POST /api/chat.postMessage", "429", times=1000)

    found, lines = tried(database, settings(street), seconds=5)

    assert not found.arrived
    assert one(lines, "Not sent yet: Slack said ratelimited").startswith("failure")
    assert outbox.recent(database, 1)[0].state is NoticeState.WAITING


def test_a_channel_that_cannot_be_read_is_a_failure_though_it_arrived(
    database: Database, street: Street
) -> None:
    street.control("slack", scopes=["chat:write", "channels:read", "groups:read", "usergroups:read"])

    found, lines = tried(database, settings(street))

    assert found.arrived
    assert one(lines, "It is not found again: Slack said missing_scope").startswith("failure")


def test_a_message_that_somebody_deleted_is_not_found_again(database: Database, street: Street) -> None:
    known = settings(street)
    found, _ = tried(database, known)
    (notice,) = outbox.recent(database, 1)

    other = found._found(replace(notice, delivery_id="another"))  # noqa: SLF001 - what nobody can delete here

    assert line(other).startswith("failure: It is not found again: the channel can be read")


def test_quiet_hours_are_said_and_hold_nothing_up(database: Database, street: Street) -> None:
    begins, ends = time(22), time(7)
    owner = replace(LEADS, rest=(begins, ends))
    night = Watch(datetime.now(UTC).replace(hour=23, minute=0))
    noon = datetime.now(UTC).replace(hour=12)

    found, lines = tried(database, settings(street), owner, watch=night)

    assert found.arrived
    assert "22:00 to 07:00 UTC, now; what is not critical would wait until" in one(lines, "Quiet hours")
    (awake,) = [each for each in trial.told_of(owner, settings(street), now=noon) if "Quiet" in each.found]
    assert awake.found == "Quiet hours: 22:00 to 07:00 UTC, not now."


def test_buttons_that_nobody_answers_are_a_failure(database: Database, street: Street) -> None:
    found, lines = tried(database, settings(street, signing_secret=Secret("0" * 32)))

    assert found.arrived
    assert one(lines, "Nobody listens").startswith("failure")


@pytest.mark.parametrize(
    "wanted, expected",
    [
        ("refund operators", Profile("refund operators", "#refund-operators")),
        ("#leads", Profile("Support leads", "#leads")),
        ("#other", Profile("#other", "#other")),
        ("U0MARIA77", Profile("U0MARIA77", "U0MARIA77")),
        ("maria@example.com", Profile("maria@example.com", "maria@example.com")),
        ("S0123456", Profile("S0123456", "S0123456", group="S0123456")),
    ],
)
def test_an_owner_is_named_or_a_target_given(wanted: str, expected: Profile) -> None:
    assert trial.chosen(ownership.parse(OWNERS), wanted) == expected


@pytest.mark.parametrize(
    "wanted, nearest",
    [("support lead", "Support leads"), ("REFUND", "refund operators"), ("U1", ""), ("", "")],
)
def test_an_unknown_owner_is_refused_with_the_nearest(wanted: str, nearest: str) -> None:
    with pytest.raises(ConfigurationError, match=f"names no owner {wanted!r}; the nearest is '{nearest}"):
        trial.chosen(ownership.parse(OWNERS), wanted)


def test_an_owners_name_pings_nobody_and_turns_no_terminal(database: Database, street: Street) -> None:
    tried(database, settings(street), Profile("<!channel> \x1b[31m", "#leads"))

    (message,) = street.messages()
    assert "&lt;!channel&gt;" in message["text"]
    assert "<!channel>" not in str(message)
    assert "\x1b" not in str(message)


@pytest.fixture
def environ(street: Street, tmp_path: Path) -> dict[str, str]:
    """The variables of a process that knows this street, an owners.toml and no database."""
    (tmp_path / "owners.toml").write_text('[[rules]]\nname = "all"\nowner = "leads"\ntarget = "#leads"\n')
    return {
        **os.environ,
        "RECON_CONFIG": str(tmp_path),
        "RECON_DATABASE_URL": "sqlite:////nowhere/recon.db",
        "SLACK_BOT_TOKEN": SLACK_TOKEN,
        "RECON_SLACK_BASE_URL": street.slack_url,
    }


def test_the_command_ends_with_what_came_of_it(environ: dict[str, str], database_url: str) -> None:
    environ["RECON_DATABASE_URL"] = database_url
    there = recon(environ, "slack", "test", "leads")
    no_listener = recon(environ | {"SLACK_SIGNING_SECRET": "0" * 32}, "slack", "test", "leads")
    nobody = recon(environ, "slack", "test", "no such\x1b[31m")
    lost = recon(environ, "slack", "test", "#nowhere")

    assert [each.returncode for each in (there, no_listener, nobody, lost)] == [0, 1, 2, 4]
    assert "ok       Sent to #leads" in there.stdout
    assert "\x1b" not in nobody.stderr
    assert "->" in lost.stdout


def test_a_dry_run_needs_neither_token_nor_database_and_sends_nothing(
    environ: dict[str, str], street: Street
) -> None:
    bare = environ | {"SLACK_BOT_TOKEN": ""}

    done = recon(bare, "slack", "test", "leads", "--dry-run")

    assert done.returncode == 0
    assert "Messages for leads go to #leads." in done.stdout
    assert "It would say: Test of recon: nothing to do." in done.stdout
    assert done.stdout.endswith("Nothing was sent.\n")
    assert street.messages() == []


def test_the_manifest_is_printed_as_it_is_or_for_another_environment(
    environ: dict[str, str], street: Street
) -> None:
    plain = recon(environ, "slack", "manifest")
    named = recon(environ, "slack", "manifest", "--name", "recon (staging)")

    assert plain.stdout == Path("config/slack-manifest.yaml").read_text()
    assert yaml.safe_load(named.stdout)["display_information"]["name"] == "recon (staging)"


@pytest.mark.parametrize(
    "options",
    [
        ("--name", ""),
        ("--name", "x" * 36),
        ("--name", "a\nb"),
        ("--http", "http://recon.example/slack/interactivity"),
        ("--http", "https://recon.example/ x"),
    ],
)
def test_a_manifest_that_slack_would_refuse_is_not_printed(
    environ: dict[str, str], street: Street, options: tuple[str, str]
) -> None:
    done = recon(environ, "slack", "manifest", *options)

    assert (done.returncode, done.stdout) == (2, "")
