"""The /slack page: the channels as people see them in Slack, and what they can do there.

Everything is HTML and forms; the script only saves reloading. It comes with the page, and nothing else does.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import date
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send

from recon.sandbox import drawing, modal
from recon.sandbox.interactivity import Ephemeral
from recon.sandbox.slack import Channel, Message, SlackError, Workspace
from recon.sandbox.viewing import Viewing, replies, timeline
from recon.sandbox.world import Room, World

_HERE = files("recon.sandbox")
_STYLE = _HERE.joinpath("slack.css").read_text(encoding="utf-8")
_SCRIPT = _HERE.joinpath("slack.js").read_text(encoding="utf-8")
# What a hostile message could still do after escaping: nothing. The script's nonce is new each time.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; connect-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# What became of the last click, where it went wrong; the address says which.
NOTES = {
    "unheard": "The app did not answer. Slack shows a warning beside the button, and nothing else happens.",
    "nobody": "Nobody listens: the app has no open connection and no interactivity address.",
    "who": "Choose who you are first: on the left, at the top.",
    "wrong": "That cannot be done here any more.",
}


class SlackPage:
    """An ASGI application that draws the page."""

    def __init__(self, room: Room) -> None:
        self._room = room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Draw the channel asked for by id or name, or else the one with the latest message."""
        request = Request(scope, receive)
        world, nonce = self._room.world, secrets.token_hex(16)
        asked = request.path_params.get("channel")
        channel = _latest(world.slack) if asked is None else world.slack.find(asked)
        person = _person(world, request.query_params.get("as"))
        query = request.query_params
        spoken, versions = query.get("view") == "text", query.get("versions", "")
        viewing = Viewing(world, channel, person, spoken=spoken, versions=versions)
        note = NOTES.get(query.get("note", ""), "")
        status = 404 if asked is not None and channel is None else 200
        headers = {"content-security-policy": _POLICY.format(nonce=nonce), "cache-control": "no-store"}
        html = _page(viewing, asked, note, nonce)
        await HTMLResponse(html, status, headers)(scope, receive, send)


def _latest(workspace: Workspace) -> Channel | None:
    spoken = [c for c in workspace.channels.values() if c.messages]
    return max(spoken, key=lambda c: float(list(c.messages)[-1]), default=None)


def _person(world: World, asked: str | None) -> dict[str, Any] | None:
    """Who looks: whoever was asked for, else the first by name, else nobody."""
    if asked:
        try:
            found = world.slack.person(asked.strip())
        except SlackError:
            return None
        return None if found["deleted"] else found
    people = world.slack.people()
    return people[0] if people and asked is None else None


def _page(viewing: Viewing, asked: str | None, note: str, nonce: str) -> str:
    workspace, channel = viewing.workspace, viewing.channel
    title = "Slack" if channel is None else f"{_name(workspace, channel)} - Slack"
    main = _empty(workspace, asked) if channel is None else _channel(viewing)
    view = None if viewing.person is None else viewing.world.interactivity.top(viewing.person["id"])
    dialog = "" if view is None else modal.draw(view, viewing)
    said = f'<p class="note" role="status">{note}</p>' if note else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<title>{escape(title)}</title><link rel="icon" href="data:,"><style>{_STYLE}</style></head><body>'
        f'{_sidebar(viewing)}<main data-key="main">{said}{main}</main><div id="dialogs">{dialog}</div>'
        f'<script nonce="{nonce}">{_SCRIPT}</script></body></html>'
    )


def _sidebar(viewing: Viewing) -> str:
    channels = sorted(viewing.workspace.channels.values(), key=lambda c: c.name)
    groups = (
        ("Channels", [c for c in channels if not _is_direct(c)]),
        ("Direct messages", [c for c in channels if _is_direct(c)]),
    )
    lists = "".join(
        f"<h2>{title}</h2><ul>{''.join(_entry(viewing, c) for c in group)}</ul>"
        for title, group in groups
        if group
    )
    return (
        '<nav aria-label="Channels"><div class="workspace"><b>Sandbox</b>'
        f"<span>A local Slack. Nothing leaves this machine.</span>{_who(viewing)}</div>{lists}</nav>"
    )


def _who(viewing: Viewing) -> str:
    """Whose eyes these are, and a form to change that."""
    people = viewing.workspace.people()
    text = '<input type="hidden" name="view" value="text">' if viewing.spoken else ""
    here = viewing.address().partition("?")[0]
    if not people:
        field = '<input name="as" type="email" required placeholder="your e-mail">'
    else:
        chosen = "" if viewing.person is None else viewing.person["id"]
        listed = "".join(
            f'<option value="{escape(p["id"])}"{" selected" if p["id"] == chosen else ""}>'
            f"{escape(p['real_name'])}</option>"
            for p in people
        )
        nobody = f'<option value=""{"" if chosen else " selected"}>Everybody, look only</option>'
        field = f'<select name="as" data-sends>{listed}{nobody}</select>'
    return (
        f'<form class="who" method="get" action="{here}"><label><span>You are</span>{field}</label>{text}'
        '<button class="plain">Go</button></form>'
    )


def _entry(viewing: Viewing, channel: Channel) -> str:
    current = ' aria-current="page"' if channel is viewing.channel else ""
    count = len(channel.messages)
    name = escape(_name(viewing.workspace, channel))
    return (
        f'<li><a href="{escape(viewing.address(channel.id))}"{current}><span>{name}</span>'
        f'<small aria-label="{count} messages">{count}</small></a></li>'
    )


def _channel(viewing: Viewing) -> str:
    channel = viewing.channel
    assert channel is not None
    count = f"{len(channel.messages)} {'message' if len(channel.messages) == 1 else 'messages'}"
    other = "As people see it" if viewing.spoken else "As it is read out"
    marks = [word for word, so in (("archived", channel.archived), ("not joined", not channel.member)) if so]
    more = "".join(f", {word}" for word in marks)
    head = (
        f'<header class="channel"><h1>{escape(_name(viewing.workspace, channel))}</h1>'
        f"<span>{count}, times in UTC{more}</span>"
        f'<a href="{escape(viewing.address(spoken=not viewing.spoken))}">{other}</a>'
        '<a href="#latest">Latest</a></header>'
    )
    shown = timeline(viewing)
    if not shown:
        return f'{head}<p class="nothing">No message here yet.</p>'
    threads = replies(viewing)
    drawn = "".join(
        f'<h2 class="day"><span>{_day(day)}</span></h2>'
        + "".join(_shown(found, threads, viewing) for found in of_day)
        for day, of_day in _days(shown)
    )
    return f'{head}<div class="messages">{drawn}<div id="latest"></div></div>'


def _shown(
    found: Message | Ephemeral, threads: dict[str, list[Message | Ephemeral]], viewing: Viewing
) -> str:
    if isinstance(found, Ephemeral):
        return drawing.word(found, viewing)
    if found.thread_ts is not None:
        return drawing.broadcast(found, viewing)
    return drawing.thread(found, threads.get(found.ts, []), viewing)


def _empty(workspace: Workspace, asked: str | None) -> str:
    if asked is not None:
        return f'<p class="nothing">There is no channel <b>{escape(asked)}</b>.</p>'
    words = "Pick a channel." if workspace.channels else "No message yet: whatever is posted shows here."
    return f'<p class="nothing">{words}</p>'


def _days(shown: list[Message | Ephemeral]) -> Iterator[tuple[date, Iterator[Message | Ephemeral]]]:
    return groupby(shown, key=lambda found: drawing.moment(found.ts).date())


def _day(day: date) -> str:
    return f"{day:%A, %B} {day.day}, {day.year}"


def _is_direct(channel: Channel) -> bool:
    return channel.id.startswith("D")


def _name(workspace: Workspace, channel: Channel) -> str:
    return workspace.name_of(channel.name) if _is_direct(channel) else f"# {channel.name}"
