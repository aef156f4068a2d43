"""The /slack page: the channels as people see them in Slack, without a script or an outside request."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from html import escape
from importlib.resources import files
from itertools import groupby

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send

from recon.sandbox import drawing
from recon.sandbox.slack import Channel, Message, Workspace
from recon.sandbox.world import Room

_STYLE = files("recon.sandbox").joinpath("slack.css").read_text(encoding="utf-8")
# What a hostile message could still do after escaping: nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"


class SlackPage:
    """An ASGI application that draws the page."""

    def __init__(self, room: Room) -> None:
        self._room = room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Draw the channel asked for by id or name, or else the one with the latest message."""
        workspace = self._room.world.slack
        asked = Request(scope, receive).path_params.get("channel")
        channel = _latest(workspace) if asked is None else workspace.find(asked)
        status = 404 if asked is not None and channel is None else 200
        html = _page(workspace, channel, asked)
        headers = {"content-security-policy": _POLICY, "cache-control": "no-store"}
        await HTMLResponse(html, status, headers)(scope, receive, send)


def _latest(workspace: Workspace) -> Channel | None:
    spoken = [c for c in workspace.channels.values() if c.messages]
    return max(spoken, key=lambda c: float(list(c.messages)[-1]), default=None)


def _page(workspace: Workspace, channel: Channel | None, asked: str | None) -> str:
    title = "Slack" if channel is None else f"{_name(workspace, channel)} - Slack"
    main = _empty(workspace, asked) if channel is None else _channel(workspace, channel)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="icon" href="data:,"><style>{_STYLE}</style></head><body>'
        f"{_sidebar(workspace, channel)}<main>{main}</main></body></html>"
    )


def _sidebar(workspace: Workspace, chosen: Channel | None) -> str:
    channels = sorted(workspace.channels.values(), key=lambda c: c.name)
    groups = (
        ("Channels", [c for c in channels if not _is_direct(c)]),
        ("Direct messages", [c for c in channels if _is_direct(c)]),
    )
    lists = "".join(
        f"<h2>{title}</h2><ul>{''.join(_entry(workspace, c, chosen) for c in group)}</ul>"
        for title, group in groups
        if group
    )
    return (
        '<nav aria-label="Channels"><div class="workspace"><b>Sandbox</b>'
        f"<span>A local Slack. Nothing leaves this machine.</span></div>{lists}</nav>"
    )


def _entry(workspace: Workspace, channel: Channel, chosen: Channel | None) -> str:
    current = ' aria-current="page"' if channel is chosen else ""
    count = len(channel.messages)
    return (
        f'<li><a href="/slack/{escape(channel.id)}"{current}><span>{escape(_name(workspace, channel))}</span>'
        f'<small aria-label="{count} messages">{count}</small></a></li>'
    )


def _channel(workspace: Workspace, channel: Channel) -> str:
    roots = channel.roots()
    count = f"{len(channel.messages)} {'message' if len(channel.messages) == 1 else 'messages'}"
    head = (
        f'<header class="channel"><h1>{escape(_name(workspace, channel))}</h1>'
        f'<span>{count}, times in UTC</span><a href="#latest">Latest</a></header>'
    )
    if not roots:
        return f'{head}<p class="nothing">No message here yet.</p>'
    replies: dict[str, list[Message]] = {}
    for message in channel.messages.values():
        replies.setdefault(message.thread_ts or "", []).append(message)
    drawn = "".join(
        f'<h2 class="day"><span>{_day(day)}</span></h2>'
        + "".join(drawing.thread(root, replies.get(root.ts, []), workspace) for root in of_day)
        for day, of_day in _days(roots)
    )
    return f'{head}<div class="messages">{drawn}<div id="latest"></div></div>'


def _empty(workspace: Workspace, asked: str | None) -> str:
    if asked is not None:
        return f'<p class="nothing">There is no channel <b>{escape(asked)}</b>.</p>'
    words = "Pick a channel." if workspace.channels else "No message yet: whatever is posted shows here."
    return f'<p class="nothing">{words}</p>'


def _days(roots: list[Message]) -> Iterator[tuple[date, Iterator[Message]]]:
    return groupby(roots, key=lambda root: drawing.moment(root.ts).date())


def _day(day: date) -> str:
    return f"{day:%A, %B} {day.day}, {day.year}"


def _is_direct(channel: Channel) -> bool:
    return channel.id.startswith("D")


def _name(workspace: Workspace, channel: Channel) -> str:
    return workspace.name_of(channel.name) if _is_direct(channel) else f"# {channel.name}"
