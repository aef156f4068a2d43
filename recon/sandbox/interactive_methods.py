"""The Web API methods with which an app answers people: dialogs, private words, and its own connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recon.sandbox import asked as asking
from recon.sandbox import views
from recon.sandbox.asked import Asked
from recon.sandbox.interactivity import Ephemeral
from recon.sandbox.slack import APP, SlackError
from recon.sandbox.views import View

VIEW_LIMIT_CHARACTERS = 250_000


def _post_ephemeral(asked: Asked) -> dict[str, Any]:
    draft = asking.draft(asked)
    channel = asked.workspace.channel(asking.channel(asked), posting=True)
    user = asked.text("user")
    if not asked.workspace.may_see(user):
        raise SlackError("user_not_in_channel")
    if channel.archived:
        raise SlackError("is_archived")
    if draft.thread_ts is not None and draft.thread_ts not in channel.messages:
        raise SlackError("thread_not_found")
    word = Ephemeral(
        channel.id, asked.workspace.stamp(asked.now), user, draft.text, draft.blocks, draft.thread_ts
    )
    asked.world.interactivity.ephemerals.append(word)
    return {"message_ts": word.ts}


def _open_view(asked: Asked) -> dict[str, Any]:
    return _opened(asked, push=False)


def _push_view(asked: Asked) -> dict[str, Any]:
    return _opened(asked, push=True)


def _update_view(asked: Asked) -> dict[str, Any]:
    content = _content(asked)
    found = asked.text("view_id") or asked.text("external_id")
    if not found:
        raise SlackError("invalid_arguments", messages=("[ERROR] missing required field: view_id",))
    view = asked.world.interactivity.update_view(found, content, expected=asked.text("hash"), now=asked.now)
    return _shown(view)


def _open_connection(asked: Asked) -> dict[str, Any]:
    ticket = asked.world.interactivity.ticket()
    return {"url": f"{asked.world.url.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={APP}"}


METHODS: dict[str, Callable[[Asked], dict[str, Any]]] = {
    "apps.connections.open": _open_connection,
    "chat.postEphemeral": _post_ephemeral,
    "views.open": _open_view,
    "views.push": _push_view,
    "views.update": _update_view,
}

# Which need the app's own token, of the kind xapp-.
APP_METHODS = frozenset({"apps.connections.open"})
APP_SCOPES = ("connections:write",)


def _opened(asked: Asked, *, push: bool) -> dict[str, Any]:
    content = _content(asked)
    trigger_id = asked.text("trigger_id")
    if not trigger_id:
        raise SlackError("invalid_arguments", messages=("[ERROR] missing required field: trigger_id",))
    view = asked.world.interactivity.open_view(trigger_id, content, now=asked.now, push=push)
    return _shown(view)


def _content(asked: Asked) -> dict[str, Any]:
    try:
        found = asked.structure("view")
    except SlackError:
        found = None
    refused = views.faults(found)
    if refused:
        raise SlackError("invalid_arguments", messages=tuple(refused))
    if len(str(found)) > VIEW_LIMIT_CHARACTERS:
        raise SlackError("view_too_large")
    return found if isinstance(found, dict) else {}


def _shown(view: View) -> dict[str, Any]:
    return {"view": view.shown()}
