"""What Slack sends when somebody clicks, as its documentation shows it, for tests.

Source: https://docs.slack.dev/reference/interaction-payloads
"""

import hashlib
import hmac
import json
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from recon.model import dialogs
from recon.model.buttons import MENU, Button
from recon.model.records.clicks import Place, Pressed, Sent
from recon.model.records.words import Resolution

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
ANA = "U0ANA"
CHANNEL = "C0PAYMENTS"
ROOT = "1700000000.000100"
HOME = "T0"  # The workspace of everybody here.
PLACE = Place(ANA, CHANNEL, team_id=HOME)


def pressed(button: Button, by: str = ANA, *, trigger_id: str | None = "trigger.1") -> Pressed:
    """A click on a root in a channel."""
    return Pressed(button, Place(by, CHANNEL, team_id=HOME), trigger_id)


def sent(button: Button, by: str = ANA, *, view_id: str = "V1", **told: Any) -> Sent:  # noqa: ANN401  # any field
    """A dialog that was sent, of a resolution where nothing else is said."""
    code = {} if "until" in told else {"code": Resolution.RECOVERED}
    return Sent(
        button, Place(by, CHANNEL, team_id=HOME), view_id, **{"reason": "The bank has it.", **code, **told}
    )


def press_payload(value: str, by: str = ANA, **changes: object) -> dict[str, Any]:
    """A click on a case's menu in a root; everything that is not ours is there as well."""
    return {
        "type": "block_actions",
        "team": {"id": HOME, "domain": "acme"},
        "user": {"id": by, "username": "ana", "name": "ana", "team_id": HOME},
        "api_app_id": "A0",
        "token": "verification-token",
        "container": {
            "type": "message",
            "message_ts": ROOT,
            "channel_id": CHANNEL,
            "is_ephemeral": False,
        },
        "trigger_id": "12466734323.1395872398",
        "channel": {"id": CHANNEL, "name": "payments"},
        "message": {"bot_id": "B0", "type": "message", "text": "HIGH", "ts": ROOT, "thread_ts": ROOT},
        "response_url": "https://hooks.slack.com/actions/T0/123/abc",
        "actions": [
            {
                "type": "overflow",
                "action_id": MENU,
                "block_id": "b1",
                "selected_option": {"text": {"type": "plain_text", "text": "Acknowledge"}, "value": value},
                "action_ts": "1548426417.840180",
            }
        ],
        **changes,
    }


def submission_payload(button: Button, values: object, by: str = ANA, **view: object) -> dict[str, Any]:
    """A dialog that was sent."""
    return {
        "type": "view_submission",
        "team": {"id": HOME, "domain": "acme"},
        "user": {"id": by, "username": "ana", "team_id": HOME},
        "view": {
            "id": "V0",
            "type": "modal",
            "callback_id": dialogs.CALLBACK,
            "private_metadata": dialogs.kept(button, Place(by, CHANNEL)),
            "state": {"values": values},
            "hash": "156772938.1827394",
            **view,
        },
        "response_urls": [],
    }


def resolution(code: str = "recovered", reason: str = "The bank has it.") -> dict[str, Any]:
    """The state of a resolution's dialog."""
    return {
        "code": {"code": {"type": "static_select", "selected_option": {"value": code}}},
        "reason": {"reason": {"type": "plain_text_input", "value": reason}},
    }


def form(payload: object) -> bytes:
    """The body in which Slack posts a payload."""
    return urlencode({"payload": json.dumps(payload)}).encode()


def signed(body: bytes, at: datetime | str, secret: str = SECRET) -> dict[str, str]:
    """The headers with which Slack signs a body."""
    told = at if isinstance(at, str) else str(int(at.timestamp()))
    digest = hmac.new(secret.encode(), f"v0:{told}:".encode() + body, hashlib.sha256).hexdigest()
    return {
        "content-type": "application/x-www-form-urlencoded",
        "x-slack-request-timestamp": told,
        "x-slack-signature": f"v0={digest}",
    }


def menu(*buttons: Button) -> dict[str, Any]:
    """A paragraph of a message with the menu of a case."""
    options = [{"text": {"type": "plain_text", "text": each.verb}, "value": each.value} for each in buttons]
    text = {"type": "mrkdwn", "text": "Refunded twice"}
    return {
        "type": "section",
        "text": text,
        "accessory": {"type": "overflow", "action_id": MENU, "options": options},
    }
