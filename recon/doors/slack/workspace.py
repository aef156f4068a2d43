"""The Slack workspace as the bot sees it: its scopes, channels, people and groups. Never posts anything."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any

from slack_sdk.errors import SlackApiError

from recon.doors.slack import wire
from recon.model.records.deliveries import Unreadable
from recon.model.settings import SlackSettings

_PAGE = 200  # Channels per page, as Slack recommends.
_PAGES = 25  # A bot that is in more than 5,000 channels was invited by a machine.


@dataclass(frozen=True, slots=True)
class Bot:
    """Who the token is.

    scopes: what it may do; None where Slack did not say. said_at: when Slack answered, by its own clock, in
    whole seconds; None where it did not say.
    """

    team: str
    name: str
    scopes: frozenset[str] | None
    said_at: datetime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel that the bot is in."""

    id: str
    name: str
    archived: bool


class Workspace:
    """One workspace, looked at and left as it was."""

    def __init__(self, settings: SlackSettings) -> None:
        """Open nothing yet.

        Raises:
            ConfigurationError: there is no token.
        """
        self._client = wire.client(settings)
        self._app_token = settings.app_token

    def bot(self) -> Bot | Unreadable:
        """Return who we are there."""
        asked = _asked(self._client.auth_test)
        if isinstance(asked, Unreadable):
            return asked
        told, headers = asked
        if not isinstance(told.get("bot_id"), str):
            return Unreadable("Slack does not say who we are; expected a bot's token (xoxb-)")
        scopes = headers.get("x-oauth-scopes")
        parts = frozenset(part.strip() for part in (scopes or "").split(",") if part.strip())
        who = str(told.get("team", "")), str(told.get("user", ""))
        return Bot(*who, None if scopes is None else parts, _moment(headers.get("date")))

    def channels(self, *, public: bool, private: bool) -> tuple[Channel, ...] | Unreadable:
        """Return every channel of these sorts that the bot is in, archived ones too."""
        sorts = {"public_channel": public, "private_channel": private}
        types = [name for name, wanted in sorts.items() if wanted]
        found: list[Channel] = []
        cursor = ""
        for _ in range(_PAGES):
            asked = _asked(
                partial(
                    self._client.users_conversations,
                    types=types,
                    limit=_PAGE,
                    exclude_archived=False,
                    cursor=cursor,
                )
            )
            if isinstance(asked, Unreadable):
                return asked
            page, _ = asked
            found += [
                Channel(str(each.get("id")), str(each.get("name")), bool(each.get("is_archived")))
                for each in page.get("channels") or []
            ]
            cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return tuple(found)
        return Unreadable(f"the bot is in more than {_PAGES * _PAGE} channels")

    def history(self, channel: str) -> Unreadable | None:
        """Return why a channel cannot be read, as it must be to look for a message; None where it can."""
        asked = _asked(lambda: self._client.conversations_history(channel=channel, limit=1))
        return asked if isinstance(asked, Unreadable) else None

    def person(self, target: str) -> Unreadable | None:
        """Return why a person cannot be found, by an e-mail address or an id; None where they can."""
        by_address = "@" in target
        asked = _asked(
            lambda: (
                self._client.users_lookupByEmail(email=target)
                if by_address
                else self._client.users_info(user=target)
            )
        )
        if isinstance(asked, Unreadable):
            return asked
        user = asked[0].get("user")
        gone = isinstance(user, Mapping) and user.get("deleted")
        return Unreadable("their account is deactivated") if gone else None

    def socket(self) -> Unreadable | None:
        """Return why the app's token opens no socket for clicks; None where it does. None is opened."""
        token = self._app_token.reveal()
        asked = _asked(lambda: self._client.apps_connections_open(app_token=token))
        return asked if isinstance(asked, Unreadable) else None

    def groups(self) -> frozenset[str] | Unreadable:
        """Return the ids of the user groups."""
        asked = _asked(self._client.usergroups_list)
        if isinstance(asked, Unreadable):
            return asked
        return frozenset(str(each.get("id")) for each in asked[0].get("usergroups") or [])


def _moment(date: str | None) -> datetime | None:
    """Return the time in a Date header; None where there is none to read."""
    try:
        told = parsedate_to_datetime(date or "")
    except ValueError:  # Absent, or something in front of Slack wrote it in its own way.
        return None
    return told.replace(tzinfo=UTC) if told.tzinfo is None else told.astimezone(UTC)


def _asked(call: Callable[[], Any]) -> tuple[Mapping[str, Any], Mapping[str, str]] | Unreadable:
    """Return an answer and its headers, by lower-case names; or why there is none."""
    try:
        answer = call()
    except SlackApiError as error:  # Slack, or something in front of it, answered no.
        said = wire.word(error)
        if said is None:
            return Unreadable(f"the answer ({error.response.status_code}) is not Slack's")
        return Unreadable(f"Slack said {said}")
    except Exception as error:  # noqa: BLE001 - a refused or broken connection, an answer cut short
        return Unreadable(f"no usable answer from Slack ({type(error).__name__})")
    if not isinstance(answer.data, dict):
        return Unreadable("Slack's answer is not an object")
    return answer.data, {str(name).lower(): str(value) for name, value in answer.headers.items()}
