"""What people click in Slack, read as records; and how they are answered: in private, or with a dialog.

Never decides who may do what, and never edits a message: its root is the outbox's.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from slack_sdk.errors import SlackApiError

from recon.doors.slack import wire
from recon.model import dialogs
from recon.model.buttons import MENU, Button
from recon.model.records.clicks import Heard, Place, Pressed, Sent
from recon.model.records.notices import Block
from recon.model.settings import SlackSettings

_ANSWER_LIMIT = 3_500  # Characters of a private answer; Slack takes 4,000 well.
_HOOKS = ("https://hooks.slack.com/", "https://hooks.slack-gov.com/")  # Where Slack itself hears answers.
_ID = re.compile(r"[A-Z0-9]{2,40}")  # As Slack makes them, of people and channels; ten or so in truth.


@dataclass(frozen=True, slots=True)
class Flawed:
    """A dialog that cannot be taken as it was filled in. flaws: one sentence per block, shown beside it."""

    flaws: Mapping[str, str]

    @property
    def answer(self) -> Block:
        """Return what Slack is to show in the dialog, which stays open."""
        return {"response_action": "errors", "errors": dict(self.flaws)}


def read(payload: Mapping[str, Any], *, now: datetime) -> Heard | Flawed | None:
    """Return what somebody did; None where it is nothing of ours. now: of a time that somebody chose."""
    slack_id = _id(payload, "user", "id")
    if slack_id is None:
        return None
    if payload.get("type") == "block_actions":
        return _pressed(payload, slack_id)
    if payload.get("type") == "view_submission":
        return _sent(payload, slack_id, now)
    return None


class Mouth:
    """Answers one person at a time; what cannot be said is a value, never an exception."""

    def __init__(self, settings: SlackSettings) -> None:
        """Open nothing yet.

        Raises:
            ConfigurationError: there is no token.
        """
        self._client = wire.client(settings)
        self._base = settings.base_url
        self._home: frozenset[str] | None = None

    def say(self, place: Place, text: str) -> str | None:
        """Tell somebody something that only they see; return why that was not possible, or None."""
        text = text[:_ANSWER_LIMIT]

        def ephemeral() -> None:
            self._client.chat_postEphemeral(
                channel=place.channel, user=place.slack_id, thread_ts=place.thread_ts, text=text
            )

        failed = _tried(ephemeral)
        url = place.response_url
        if failed is None or url is None or not is_slacks(url, self._base):
            return failed
        again = _tried(lambda: self._respond(url, text))
        return None if again is None else f"{failed} {again}"

    def open(self, trigger_id: str, view: Block) -> str | None:
        """Open a dialog for whoever clicked; return why that was not possible, or None."""
        return _tried(lambda: self._client.views_open(trigger_id=trigger_id, view=view))

    def home(self) -> frozenset[str] | None:
        """Return the ids of the bot's workspace, and of the organisation that holds it; None: Slack is away.

        It is asked once.
        """
        if self._home is None:
            told: list[object] = []
            if _tried(lambda: told.append(self._client.auth_test().data)) is not None:
                return None
            answer = told[0] if isinstance(told[0], dict) else {}
            ids = (_id(answer, "team_id"), _id(answer, "enterprise_id"))
            self._home = frozenset(each for each in ids if each is not None) or None
        return self._home

    def _respond(self, url: str, text: str) -> None:
        self._client.post(url, {"text": text, "response_type": "ephemeral", "replace_original": False})


def is_slacks(url: str, base_url: str | None) -> bool:
    """Return whether an address is Slack's own, or where the settings say that Slack is."""
    if base_url is not None:
        return urlsplit(url)[:2] == urlsplit(base_url)[:2]
    return url.startswith(_HOOKS)


def _pressed(payload: Mapping[str, Any], slack_id: str) -> Pressed | None:
    actions = payload.get("actions")
    for action in actions if isinstance(actions, list) else ():
        if not isinstance(action, dict) or action.get("action_id") != MENU:
            continue
        button = Button.read(_text(action, "selected_option", "value") or _text(action, "value") or "")
        place = _place(payload, slack_id)
        if button is not None and place is not None:
            return Pressed(button, place, _text(payload, "trigger_id"))
    return None


def _place(payload: Mapping[str, Any], slack_id: str) -> Place | None:
    """Return where whoever clicked looks at: the thread for a reply, the channel for a root."""
    channel = _id(payload, "container", "channel_id") or _id(payload, "channel", "id")
    if channel is None:
        return None
    ts = _text(payload, "container", "message_ts")
    thread = _text(payload, "container", "thread_ts") or _text(payload, "message", "thread_ts")
    # Slack shows a private answer in a thread only to those who have the thread open.
    thread = None if thread == ts else thread
    url = _text(payload, "response_url")
    return Place(slack_id, channel, thread_ts=thread, response_url=url, team_id=_team(payload))


def _team(payload: Mapping[str, Any]) -> str | None:
    """Return where somebody is at home: in a channel that two companies share, not where the channel is."""
    return _id(payload, "user", "team_id") or _id(payload, "team", "id")


def _sent(payload: Mapping[str, Any], slack_id: str, now: datetime) -> Sent | Flawed | None:
    view = payload.get("view")
    if not isinstance(view, dict) or view.get("callback_id") != dialogs.CALLBACK:
        return None
    memo = dialogs.found(view.get("private_metadata"), slack_id)
    view_id = _id(view, "id")
    if memo is None or view_id is None:
        return None
    button, place = memo[0], replace(memo[1], team_id=_team(payload))
    state = view.get("state")
    values = state.get("values") if isinstance(state, dict) else None
    told = dialogs.filled(button.verb, values, now=now)
    if told.flaws:
        return Flawed(told.flaws)
    return Sent(button, place, view_id, told.reason, code=told.code, until=told.until)


def _tried(call: Callable[[], object]) -> str | None:
    """Return why a call failed, without a token or an address; None where it did not."""
    try:
        call()
    except SlackApiError as error:  # Slack, or something in front of it, answered no.
        return wire.refusal(error)
    except Exception as error:  # noqa: BLE001 - a broken connection, an answer cut short or in a wrong encoding
        return f"No usable answer from Slack ({type(error).__name__})."
    return None


def _id(content: Mapping[str, Any], *path: str) -> str | None:
    """Return an id of Slack's somewhere in an object; None where there is none."""
    found = _text(content, *path)
    return found if found is not None and _ID.fullmatch(found) else None


def _text(content: Mapping[str, Any], *path: str) -> str | None:
    """Return a text somewhere in an object; None where there is none, or an empty one."""
    found: object = content
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) and found else None
