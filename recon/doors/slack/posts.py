"""Slack: one message posted, edited or looked up; what became of it is a value, never an exception.

Slack has no idempotency key: nothing is sent twice here, and the client's own repeating is off. Never says
what follows from an answer, and never escapes a text: rules do.
"""

import http.client
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from urllib.error import URLError

from slack_sdk.errors import SlackApiError
from slack_sdk.web import SlackResponse

from recon.doors.slack import wire
from recon.model.records.deliveries import Absent, Delivered, Finding, NotSent, Unknown, Unreadable
from recon.model.records.notices import Block, Message
from recon.model.settings import SlackSettings

EVENT_TYPE = "recon_notice"  # The type of our metadata; the delivery id is what counts.
# Sources: https://docs.slack.dev/reference/block-kit/blocks, and the page of chat.postMessage; for all blocks
# together, reports of failures from about 13,000 characters on.
BLOCK_LIMIT = 50
TEXT_LIMIT = 4_000
SECTION_LIMIT = 3_000
HEADER_LIMIT = 150
WHOLE_LIMIT = 10_000
_PAGE = 200  # Messages per page of a look-up, as Slack recommends.
_PAGES = 50  # 10,000 messages since a send: beyond that somebody must look with their own eyes.
# A look-up begins that much before the send, as our clock may be ahead of Slack's.
_SKEW = timedelta(minutes=5)
NO_HURRY_SECONDS = 30.0  # After a "too much" that does not say for how long.
# Slack says that some of it may have happened. Source: its page of chat.postMessage.
_PERHAPS = frozenset({"fatal_error", "internal_error", "service_unavailable"})
_TOO_MUCH = frozenset({"rate_limited", "ratelimited"})  # Said in a 429 or, by chat.postMessage, in a 200.
# Not about this message: our token, or Slack as a whole. It may go out when that is put right.
_TOKEN = frozenset(
    {
        "accesslimited",
        "account_inactive",
        "ekm_access_denied",
        "invalid_auth",
        "not_authed",
        "org_login_required",
        "request_timeout",
        "team_access_not_granted",
        "team_added_to_org",
        "token_expired",
        "token_revoked",
        "two_factor_setup_required",
    }
)
_PASSING = _TOKEN | {"missing_scope"}
# This place takes nothing from us, whatever it says.
_ASTRAY = frozenset(
    {
        "channel_not_found",
        "is_archived",
        "no_permission",
        "not_in_channel",
        "restricted_action",
        "user_disabled",
        "user_not_found",
    }
)
# The same message to the same place will be refused again.
_FOR_GOOD = _ASTRAY | {
    "invalid_arguments",
    "invalid_blocks",
    "invalid_blocks_format",
    "metadata_too_large",
    "msg_blocks_too_long",
    "msg_too_long",
    "no_text",
}
# The message to edit, or to reply to, is not there or not ours to change: a new one is needed.
_GONE = frozenset({"cant_update_message", "edit_window_closed", "is_inactive", "message_not_found"})
_NO_THREAD = frozenset({"cannot_reply_to_message", "thread_not_found"})
_ID = re.compile(r"[CDG][A-Z0-9]{2,}")  # What reading takes; a name or a person is for posting only.
_PERSON = re.compile(r"[UW][A-Z0-9]{2,}")


class Slack:
    """One workspace as one bot sees it."""

    def __init__(self, settings: SlackSettings) -> None:
        """Open nothing yet.

        Raises:
            ConfigurationError: there is no token.
        """
        self._client = wire.client(settings)
        self._bot_id: str | None = None
        self._ids: dict[str, str] = {}

    def post(
        self,
        message: Message,
        *,
        delivery_id: str,
        channel: str,
        thread_ts: str | None = None,
        broadcast: bool = False,
    ) -> Delivered | NotSent | Unknown:
        """Post a message once, into a thread where one is given, with the delivery id in its metadata.

        broadcast: the channel sees the reply as well. NotSent with gone where that thread is not there.
        """
        flaw = _flaw(message)
        if flaw is not None:
            return NotSent(flaw, permanent=True)
        outcome = _sent(
            lambda: self._client.chat_postMessage(
                channel=channel,
                text=message.text,
                blocks=list(message.blocks),
                thread_ts=thread_ts,
                reply_broadcast=True if broadcast else None,
                metadata=_metadata(delivery_id),
                unfurl_links=False,
                unfurl_media=False,
            )
        )
        return _gone(outcome, _NO_THREAD)

    def edit(
        self, message: Message, *, delivery_id: str, channel: str, ts: str
    ) -> Delivered | NotSent | Unknown:
        """Put a message in the place of a former one; NotSent with gone where that one cannot be edited."""
        flaw = _flaw(message)
        if flaw is not None:
            return NotSent(flaw, permanent=True)
        outcome = _sent(
            lambda: self._client.chat_update(
                channel=channel,
                ts=ts,
                text=message.text,
                blocks=list(message.blocks),
                metadata=_metadata(delivery_id),
            )
        )
        if isinstance(outcome, Unknown):
            return Unknown(outcome.reason, repeatable=True)
        return _gone(outcome, _GONE)

    def find(self, delivery_id: str, *, channel: str, thread_ts: str | None, oldest: datetime) -> Finding:
        """Return where our own message with that delivery id is, having read everything since oldest.

        thread_ts: replies are found in their thread only. Absent is said only after the last page.
        """
        since = f"{(oldest - _SKEW).timestamp():.6f}"
        place = self._id(channel)
        if isinstance(place, Unreadable):
            return place
        asked: dict[str, Any] = {
            "channel": place,
            "oldest": since,
            "limit": _PAGE,
            "include_all_metadata": True,
        }
        ask: Callable[..., Any] = self._client.conversations_history
        if thread_ts is not None:
            ask, asked["ts"] = self._client.conversations_replies, thread_ts
        bot_id = self._own_bot_id()
        if isinstance(bot_id, Unreadable):
            return bot_id
        for _ in range(_PAGES):
            page = _read(lambda: ask(**asked))
            if isinstance(page, Unreadable):
                return Absent() if page.reason.startswith(_NOTHING_THERE) else page
            found = _in_page(page, delivery_id, bot_id=bot_id, channel=place)
            if found is not None:
                return found
            asked["cursor"] = page["response_metadata"]["next_cursor"]
        return Unreadable(f"More than {_PAGES * _PAGE} messages since the send.")

    def person(self, email: str) -> str | Unreadable | None:
        """Return the user id of a person by their address; None where Slack names nobody to us by it."""
        found = _read(lambda: self._client.users_lookupByEmail(email=email))
        if isinstance(found, Unreadable):
            return found if found.silent else None
        user = found.get("user")
        user_id = user.get("id") if isinstance(user, dict) else None
        return user_id if isinstance(user_id, str) else Unreadable("Slack's answer names no user.")

    def _id(self, channel: str) -> "str | Unreadable":
        """Return the id of a channel, which reading it needs; what Slack does not tell is left as it is."""
        if _ID.fullmatch(channel) or channel in self._ids:
            return self._ids.get(channel, channel)
        found = self._direct(channel) if _PERSON.fullmatch(channel) else self._listed(channel)
        if isinstance(found, str):
            self._ids[channel] = found
        return channel if found is None else found

    def _direct(self, person: str) -> "str | Unreadable | None":
        told = _read(lambda: self._client.conversations_open(users=person))
        if isinstance(told, Unreadable):
            return told if told.silent else None
        found = (told.get("channel") or {}).get("id")
        return found if isinstance(found, str) else None

    def _listed(self, name: str) -> "str | Unreadable | None":
        asked: dict[str, Any] = {"types": "public_channel,private_channel", "limit": _PAGE}
        for _ in range(_PAGES):
            page = _read(lambda: self._client.users_conversations(**asked))
            if isinstance(page, Unreadable):
                return page if page.silent else None
            for each in page.get("channels") or ():
                if each.get("name") == name.removeprefix("#"):
                    return str(each["id"])
            asked["cursor"] = (page.get("response_metadata") or {}).get("next_cursor")
            if not asked["cursor"]:
                return None
        return None

    def _own_bot_id(self) -> "str | Unreadable":
        if self._bot_id is None:
            found = _read(self._client.auth_test)
            if isinstance(found, Unreadable):
                return found
            bot_id = found.get("bot_id")
            if not isinstance(bot_id, str) or not bot_id:
                return Unreadable("Slack does not say who we are; expected a bot's token.")
            self._bot_id = bot_id
        return self._bot_id


_SAID = "Slack said "
# What is said of the thread of a message that was deleted and has no reply.
_NOTHING_THERE = f"{_SAID}thread_not_found"


def _sent(call: Callable[[], SlackResponse]) -> Delivered | NotSent | Unknown:
    try:
        answer = call()
    except SlackApiError as error:  # Slack, or something in front of it, answered no.
        return _refusal(error)
    except Exception as error:  # noqa: BLE001 - a broken connection, an answer cut short or in a wrong encoding
        return _failure(error)
    channel, ts = answer.get("channel"), answer.get("ts")
    if not isinstance(channel, str) or not isinstance(ts, str):
        return Unknown("Slack's answer does not say where the message is.")
    return Delivered(channel, ts)


def _failure(error: Exception) -> NotSent | Unknown:
    """Return what a call without an answer means: only a connection that was never made is certain."""
    cause = error.reason if isinstance(error, URLError) else error
    if cause is not error and isinstance(cause, socket.gaierror | ConnectionRefusedError):
        return NotSent(f"Slack was not reached ({type(cause).__name__}).", counted=False)
    return Unknown(f"No usable answer from Slack ({type(cause).__name__}).")


def _gone(outcome: Delivered | NotSent | Unknown, words: frozenset[str]) -> Delivered | NotSent | Unknown:
    if isinstance(outcome, NotSent) and outcome.reason.removeprefix(_SAID) in words:
        return replace(outcome, gone=True)
    return outcome


def _refusal(error: SlackApiError) -> NotSent | Unknown:
    status, said = error.response.status_code, wire.word(error)
    if status == http.client.TOO_MANY_REQUESTS or said in _TOO_MUCH:
        after = _seconds(error.response.headers)
        return NotSent(f"{_SAID}ratelimited", retry_after_seconds=after, counted=False)
    if status >= http.client.INTERNAL_SERVER_ERROR:
        return Unknown(f"Slack answered {status}.")
    if said is None:
        return Unknown(f"The answer ({status}) is not Slack's.")
    if said in _PERHAPS:
        return Unknown(f"{_SAID}{said}")
    return NotSent(
        f"{_SAID}{said}",
        permanent=said in _FOR_GOOD,
        counted=said not in _PASSING,
        astray=said in _ASTRAY,
    )


def _read(call: Callable[[], Any]) -> "Mapping[str, Any] | Unreadable":
    try:
        answer = call().data
    except SlackApiError as error:  # Slack, or something in front of it, answered no.
        status, said = error.response.status_code, wire.word(error)
        silent = status != http.client.OK or said is None or said in _PERHAPS | _TOO_MUCH | _TOKEN
        reason = f"{_SAID}{said or 'nothing usable'} ({status}) when it was asked to look."
        return Unreadable(reason, silent=silent)
    except Exception as error:  # noqa: BLE001 - every failure proves nothing
        reason = f"No usable answer from Slack ({type(error).__name__}) when it was asked to look."
        return Unreadable(reason, silent=True)
    return answer if isinstance(answer, dict) else Unreadable("Slack's answer is not an object.", silent=True)


def _in_page(page: Mapping[str, Any], delivery_id: str, *, bot_id: str, channel: str) -> Finding | None:
    """Return what a page says of a message of ours; None where the next page must be read."""
    messages = page.get("messages")
    if not isinstance(messages, list):
        return Unreadable("Slack's answer holds no messages.")
    for found in messages:
        ts = _ours(found, delivery_id, bot_id)
        if ts is not None:
            return Delivered(str(page.get("channel") or channel), ts)
    if (page.get("response_metadata") or {}).get("next_cursor"):
        return None
    return Unreadable("Slack says more follows, but not where.") if page.get("has_more") else Absent()


def _ours(found: object, delivery_id: str, bot_id: str) -> str | None:
    if not isinstance(found, dict) or found.get("bot_id") != bot_id:
        return None
    payload = (found.get("metadata") or {}).get("event_payload") or {}
    ts = found.get("ts")
    return ts if payload.get("delivery_id") == delivery_id and isinstance(ts, str) else None


def _metadata(delivery_id: str) -> dict[str, Any]:
    return {"event_type": EVENT_TYPE, "event_payload": {"delivery_id": delivery_id}}


def _seconds(headers: Mapping[str, Any]) -> float:
    named = {str(name).lower(): value for name, value in headers.items()}
    try:
        return max(0.0, float(named.get("retry-after", "")))
    except ValueError:  # Absent, or a date.
        return NO_HURRY_SECONDS


def _flaw(message: Message) -> str | None:
    """Return which of Slack's limits the message breaks; None where it keeps them all."""
    if not message.text or len(message.text) > TEXT_LIMIT:
        return f"The message has {len(message.text)} characters; expected 1 to {TEXT_LIMIT}."
    if len(message.blocks) > BLOCK_LIMIT:
        return f"The message has {len(message.blocks)} blocks; expected at most {BLOCK_LIMIT}."
    lengths = [(block.get("type"), len(text)) for block in message.blocks for text in _texts(block)]
    for kind, length in lengths:
        limit = HEADER_LIMIT if kind == "header" else SECTION_LIMIT
        if length > limit:
            return f"A {kind} block has a text of {length} characters; expected at most {limit}."
    whole = sum(length for _, length in lengths)
    return (
        f"The blocks have {whole} characters; expected at most {WHOLE_LIMIT}."
        if whole > WHOLE_LIMIT
        else None
    )


def _texts(part: Block | list[Any]) -> list[str]:
    found: list[str] = []
    for name, inner in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(inner, dict | list):
            found += _texts(inner)
        elif name == "text" and isinstance(inner, str):
            found.append(inner)
    return found
