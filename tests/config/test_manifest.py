"""Slack's app asks for what the product's calls need, and for nothing else."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # ships no types
from slack_sdk import WebClient

from recon.cli import slack
from tests.house import tree

TEXT = (tree.ROOT / "config/slack-manifest.yaml").read_text()
MANIFEST: dict[str, Any] = yaml.safe_load(TEXT)
BOT = frozenset(MANIFEST["oauth_config"]["scopes"]["bot"])
HISTORY = frozenset({"channels:history", "groups:history", "im:history"})
NONE: frozenset[str] = frozenset()
# What a bot's token needs for each method. Source: the page of each, https://docs.slack.dev/reference/methods:
# users.conversations for public and private channels, histories for these and direct messages,
# conversations.open for direct messages. auth.test and views.open need none; apps.connections.open needs
# connections:write of the app's own token, which no manifest gives. users:read.email comes with users:read.
METHODS: dict[str, frozenset[str]] = {
    "apps.connections.open": NONE,
    "auth.test": NONE,
    "chat.postEphemeral": frozenset({"chat:write"}),
    "chat.postMessage": frozenset({"chat:write"}),
    "chat.update": frozenset({"chat:write"}),
    "conversations.history": HISTORY,
    "conversations.open": frozenset({"im:write"}),
    "conversations.replies": HISTORY,
    "usergroups.list": frozenset({"usergroups:read"}),
    "users.conversations": frozenset({"channels:read", "groups:read"}),
    "users.info": frozenset({"users:read"}),
    "users.lookupByEmail": frozenset({"users:read.email", "users:read"}),
    "views.open": NONE,
}
FLOORS = ("recon/doors", "recon/cli", "recon/doctor", "jobs")
_ENDS = re.compile(r"[a-z]+(?:_[a-z][A-Za-z]*)+")


def asked(file: Path) -> Iterator[str]:
    """Yield the methods of Slack that a module calls, by the client's names for them or by their own."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Attribute) and _ENDS.fullmatch(node.attr) and hasattr(WebClient, node.attr):
            yield node.attr.replace("_", ".")
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "api_call"
        ):
            assert isinstance(node.args[0], ast.Constant), "a method is named where it is called"
            yield str(node.args[0].value)


def called() -> frozenset[str]:
    files = [file for floor in FLOORS for file in (tree.ROOT / floor).rglob("*.py")]
    return frozenset(method for file in files for method in asked(file)) - {"api.call"}


def test_each_method_that_is_called_is_known_here_and_each_known_one_is_called() -> None:
    assert called() == frozenset(METHODS)


def test_a_method_by_either_name_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text('client.reactions_add(name="eyes")\nclient.api_call("files.upload")\nself.base_url\n')

    assert set(asked(file)) == {"reactions.add", "files.upload", "api.call"}


def test_the_manifest_asks_for_what_the_calls_need_and_for_nothing_else() -> None:
    assert frozenset().union(*METHODS.values()) == BOT


def test_each_scope_stands_once_below_its_reason() -> None:
    block = TEXT[TEXT.index("    bot:\n") : TEXT.index("\nsettings:")]
    runs = re.findall(r"((?:      #.*\n)+)((?:      - .*\n)+)", block)

    listed = [scope.strip(" -") for _, scopes in runs for scope in scopes.splitlines()]
    assert sorted(listed) == sorted(BOT)


def test_clicks_come_over_a_socket_and_nothing_else_is_asked_of_slack() -> None:
    assert MANIFEST["settings"] == {
        "interactivity": {"is_enabled": True},
        "socket_mode_enabled": True,
        "org_deploy_enabled": False,
        "token_rotation_enabled": False,
    }
    assert set(MANIFEST["features"]) == {"bot_user", "app_home"}


def test_people_can_be_written_to_and_are_not_invited_to_write_back() -> None:
    assert MANIFEST["features"]["app_home"] == {
        "home_tab_enabled": False,
        "messages_tab_enabled": True,
        "messages_tab_read_only_enabled": True,
    }


# Source: https://docs.slack.dev/reference/app-manifest
@pytest.mark.parametrize("name, limit", [("name", 35), ("description", 140)])
def test_what_people_read_of_the_app_is_within_slacks_limits(name: str, limit: int) -> None:
    assert 0 < len(MANIFEST["display_information"][name]) <= limit


@pytest.mark.parametrize("name", ["recon", "recon (staging)", 'a "quoted": #name', "Rückerstattung", "- x"])
def test_another_name_is_that_name_in_both_places_and_nothing_else_changes(name: str) -> None:
    found = yaml.safe_load(slack.tailored(TEXT, name, None))

    assert found["display_information"].pop("name") == name
    assert found["features"]["bot_user"].pop("display_name") == name
    bare = yaml.safe_load(TEXT)
    del bare["display_information"]["name"], bare["features"]["bot_user"]["display_name"]
    assert found == bare


def test_clicks_over_http_name_the_address_and_open_no_socket() -> None:
    url = "https://recon.example/slack/interactivity"

    found = yaml.safe_load(slack.tailored(TEXT, "recon", url))

    wanted = yaml.safe_load(TEXT)
    wanted["settings"]["interactivity"]["request_url"] = url
    wanted["settings"]["socket_mode_enabled"] = False
    assert found == wanted
