from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # ships no types

from recon.doctor import slack
from recon.doctor.reach import Targets
from recon.model.records.remarks import Section
from tests.doctor.clinic import CLOSED, Clinic, one
from tests.house import tree
from tests.sandboxes import Street

OWNERS = """
[[rules]]
name = "everything"
owner = "On call"
target = "{target}"
"""
POSTING = ["chat:write", "channels:history", "groups:history"]
READING = [*POSTING, "channels:read", "groups:read"]


def scopes(sandbox: Street, *names: str) -> None:
    sandbox.control("slack", scopes=list(names))


def test_with_everything_there_nothing_is_left_to_do(small: Clinic, sandbox: Street) -> None:
    scopes(sandbox, *READING)

    told = small.told(Section.SLACK)

    assert one(told, "The bot is recon in Sandbox").startswith("ok")
    assert one(told, "every scope that deliveries need").startswith("ok")
    assert one(told, "The bot is in #refund-operators").startswith("ok")
    assert [line for line in told if not line.startswith("ok")] == [one(told, "a stand-in")]


def test_without_a_token_it_says_what_that_means(small: Clinic) -> None:
    del small.environ["SLACK_BOT_TOKEN"]

    assert "nobody is told of a case" in one(small.told(Section.SLACK), "SLACK_BOT_TOKEN is not set")


@pytest.mark.parametrize("scope", READING)
def test_a_missing_scope_is_named_with_what_fails_without_it(
    small: Clinic, sandbox: Street, scope: str
) -> None:
    scopes(sandbox, *(name for name in READING if name != scope))

    told = small.told(Section.SLACK)

    assert one(told, f"lacks the scope {scope}").startswith("failure")
    assert "install the app again" in one(told, f"lacks the scope {scope}")


@pytest.mark.parametrize(
    "target, expected",
    [
        ("#a", set(READING)),
        ("C1", {"chat:write", "channels:history", "groups:history"}),
        ("G1", {"chat:write", "groups:history"}),
        ("U1", {"chat:write", "im:history", "im:write"}),
        ("maria@example.com", {"chat:write", "im:history", "im:write", "users:read.email"}),
    ],
)
def test_what_is_needed_depends_on_who_is_told(target: str, expected: set[str]) -> None:
    assert set(slack.needed(Targets({target: "a rule"}, {}))) == expected


@pytest.mark.parametrize(
    "channel, more, sign, level",
    [
        ({"name": "refund-operators", "member": False}, (), "or there is no such channel", "failure"),
        ({"name": "another"}, (), "or there is no such channel", "failure"),
        ({"name": "refund-operators", "archived": True}, (), "is archived", "failure"),
        ({"name": "another"}, ("chat:write.public",), "cannot look for a notice", "warning"),
    ],
)
def test_a_channel_that_the_bot_is_not_in_is_said(
    small: Clinic, sandbox: Street, *, channel: dict[str, Any], more: tuple[str, ...], sign: str, level: str
) -> None:
    sandbox.control("reset")
    sandbox.control("slack", channels=[channel], scopes=[*READING, *more])

    assert one(small.told(Section.SLACK), sign).startswith(level)


def test_a_private_channel_may_be_hidden(small: Clinic, sandbox: Street) -> None:
    sandbox.control("reset")
    scopes(sandbox, *POSTING, "channels:read")

    assert one(small.told(Section.SLACK), "whether it is in a private one is not known").startswith("warning")


def test_without_the_scopes_to_look_nobody_pretends_to_know(small: Clinic, sandbox: Street) -> None:
    scopes(sandbox, *POSTING)

    told = small.told(Section.SLACK)

    assert one(told, "Whether #refund-operators can be reached is not known").startswith("warning")
    assert not [line for line in told if "The bot is in #" in line or "not in #" in line]


@pytest.mark.parametrize(
    "target, sign",
    [
        ("C0NOWHERE", "C0NOWHERE (rule 'everything') cannot be reached: Slack said channel_not_found"),
        ("nobody@example.invalid", "Slack said users_not_found"),
        ("U0NOBODY", "Slack said user_not_found"),
    ],
)
def test_an_owner_that_slack_does_not_know_is_a_failure(
    small: Clinic, sandbox: Street, target: str, sign: str
) -> None:
    small.configure("owners.toml", OWNERS.format(target=target))
    sandbox.control("slack", open=False)

    assert one(small.told(Section.SLACK), sign).startswith("failure")


def test_an_owner_that_slack_knows_is_found(small: Clinic, sandbox: Street) -> None:
    small.configure("owners.toml", OWNERS.format(target="maria@example.com"))
    sandbox.control("slack", open=False, users=[{"email": "maria@example.com"}])

    assert one(small.told(Section.SLACK), "Found: maria@example.com").startswith("ok")


def test_a_group_that_is_not_there_is_a_warning(small: Clinic, sandbox: Street) -> None:
    small.configure("owners.toml", OWNERS.format(target="#refund-operators") + 'group = "S0GONE"\n')

    assert one(small.told(Section.SLACK), "no user group S0GONE").startswith("warning")
    sandbox.control("slack", usergroups=[{"id": "S0GONE", "handle": "back"}])
    assert one(small.told(Section.SLACK), "Found the user groups S0GONE").startswith("ok")


@pytest.mark.parametrize(
    "name, value, sign",
    [
        ("SLACK_BOT_TOKEN", "xoxb-revoked", "The bot is recon"),
        ("SLACK_BOT_TOKEN", "mistyped-token", "cannot sign in: Slack said invalid_auth"),
        ("RECON_SLACK_BASE_URL", f"{CLOSED}/api/", "cannot sign in: no usable answer"),
    ],
)
def test_a_bot_that_cannot_sign_in_is_said_once(small: Clinic, name: str, value: str, sign: str) -> None:
    small.environ[name] = value

    told = small.told(Section.SLACK)

    assert one(told, sign)
    assert sum(line.startswith("failure") for line in told) == ("cannot sign in" in sign)


def test_nothing_is_posted(small: Clinic, sandbox: Street) -> None:
    small.examine()

    asked = {each["path"] for each in sandbox.requests() if each["path"].startswith("/api/")}
    assert sandbox.messages() == []
    assert not {path for path in asked if "post" in path.lower() or "update" in path}


def test_what_is_asked_for_is_what_the_manifest_asks_for() -> None:
    manifest = yaml.safe_load(Path(tree.ROOT / "config/slack-manifest.yaml").read_text())

    assert frozenset(manifest["oauth_config"]["scopes"]["bot"]) == slack.SCOPES


@pytest.mark.parametrize("target", ["#a", "C1", "G1", "U1", "maria@example.com"])
def test_nothing_is_needed_that_the_manifest_does_not_ask_for(target: str) -> None:
    assert set(slack.needed(Targets({target: "a rule"}, {}))) <= slack.SCOPES


def test_a_token_that_may_do_more_is_a_warning(small: Clinic, sandbox: Street) -> None:
    scopes(sandbox, *READING, "chat:write.public", "files:write")

    told = one(small.told(Section.SLACK), "may do more than recon ever does: chat:write.public, files:write.")

    assert told.startswith("warning")


@pytest.mark.parametrize(
    "token, sign, level",
    [
        ("xoxp-1", "a person's token", "failure"),
        ("xapp-1", "belongs into SLACK_APP_TOKEN", "failure"),
        ("xoxe-1", "only renews others", "failure"),
        ("xoxe.xoxp-1", "ends by itself", "failure"),
        ("xoxe.xoxb-1", "rotating", "failure"),
    ],
)
def test_a_token_of_another_sort_is_told_by_its_beginning(
    small: Clinic, token: str, sign: str, level: str
) -> None:
    small.environ["SLACK_BOT_TOKEN"] = token

    told = small.told(Section.SLACK)

    assert one(told, sign).startswith(level)


def test_slack_is_not_asked_with_a_token_of_another_sort(small: Clinic, sandbox: Street) -> None:
    small.environ["SLACK_BOT_TOKEN"] = "xoxp-1"

    small.told(Section.SLACK)

    assert [each for each in sandbox.requests() if each["path"].startswith("/api/")] == []


def test_a_channel_named_by_its_id_is_found_and_its_archiving_seen(small: Clinic, sandbox: Street) -> None:
    small.configure("owners.toml", OWNERS.format(target="C0LEADS"))
    scopes(sandbox, *READING)
    sandbox.control("slack", channels=[{"name": "leads", "id": "C0LEADS"}])
    assert one(small.told(Section.SLACK), "The bot is in #refund-operators, C0LEADS").startswith("ok")

    sandbox.control("slack", channels=[{"name": "leads", "id": "C0LEADS", "archived": True}])

    assert one(small.told(Section.SLACK), "C0LEADS (rule 'everything') is archived").startswith("failure")


def test_a_channel_that_the_bot_is_in_and_cannot_read_is_a_failure(small: Clinic, sandbox: Street) -> None:
    scopes(sandbox, *READING)
    sandbox.fault("POST /api/conversations.history", "500_before", times=50)

    told = one(small.told(Section.SLACK), "#refund-operators (slack.operators_channel) cannot be read")

    assert told.startswith("failure")


def test_whoever_is_only_asked_when_nobody_answers_is_looked_for_too(small: Clinic, sandbox: Street) -> None:
    chain = '[owners."head of support"]\ntarget = "#heads"\ngroup = "S0HEADS0"\n' + OWNERS.format(
        target="#leads"
    )
    small.configure("owners.toml", chain)
    scopes(sandbox, *READING, "usergroups:read")
    sandbox.control("slack", channels=[{"name": "leads"}])

    told = small.told(Section.SLACK)

    assert one(told, "The bot is not in #heads (owner 'head of support')").startswith("failure")
    assert one(told, "There is no user group S0HEADS0 (owner 'head of support')").startswith("warning")


def test_a_user_group_that_owns_cases_is_looked_for_among_groups(small: Clinic, sandbox: Street) -> None:
    small.configure("owners.toml", OWNERS.format(target="S0123456789"))
    scopes(sandbox, *READING, "usergroups:read")

    told = small.told(Section.SLACK)

    assert one(told, "S0123456789").startswith("warning: There is no user group S0123456789 ")


@pytest.mark.parametrize(
    "ahead, sign, level",
    [
        (timedelta(), "Our clock and Slack's agree", "ok"),
        (timedelta(minutes=1), "s ahead of Slack's", "warning"),
        (timedelta(minutes=6), "s ahead of Slack's", "failure"),
        (timedelta(minutes=-6), "s behind Slack's", "failure"),
    ],
)
def test_our_clock_is_held_beside_slacks(small: Clinic, *, ahead: timedelta, sign: str, level: str) -> None:
    small.ahead = ahead

    assert one(small.told(Section.SLACK), sign).startswith(level)
