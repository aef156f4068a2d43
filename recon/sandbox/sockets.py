"""Socket Mode: the connections on which an app hears what people do.

Source: https://docs.slack.dev/apis/events-api/using-socket-mode. Envelopes are carried by delivering.py.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from typing import Any

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from recon.sandbox import delivering, slack
from recon.sandbox.interactivity import Interactivity
from recon.sandbox.world import Room

# https://docs.slack.dev/apis/events-api/using-socket-mode: an app may hold ten connections.
CONNECTIONS_LIMIT = 10
# How long a connection lives by what Slack tells its app; nothing here ends it by itself.
_LIFE_S = 18_060
_GOING_AWAY = 1001


class Connection:
    """One open connection; it says what it is told and hands on what it hears."""

    def __init__(self, websocket: WebSocket) -> None:
        self.id = secrets.token_hex(4)
        self.carried = 0
        self._websocket = websocket
        self._loop = asyncio.get_running_loop()

    async def say(self, content: dict[str, Any]) -> bool:
        """Send one message; False where the connection is gone."""
        try:
            await self._websocket.send_text(json.dumps(content))
        except (WebSocketDisconnect, RuntimeError):
            # The client left; Starlette says so in either way, by when it noticed.
            return False
        return True

    async def hear(self) -> dict[str, Any] | None:
        """The next message; None for one that is no JSON object.

        Raises:
            WebSocketDisconnect: the client left.
        """
        try:
            found = json.loads(await self._websocket.receive_text())
        except (ValueError, TypeError, KeyError):
            return None  # No JSON, or bytes.
        return found if isinstance(found, dict) else None

    async def close(self) -> None:
        """Close the connection; once more does nothing."""
        if self._websocket.application_state is not WebSocketState.DISCONNECTED:
            try:
                await self._websocket.close(_GOING_AWAY)
            except RuntimeError:
                return  # The client closed it at the same moment.

    def leave(self) -> None:
        """Close the connection, from any thread."""
        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self.close(), self._loop)


class Link:
    """An ASGI application: the address that apps.connections.open gives out."""

    def __init__(self, room: Room) -> None:
        self._room = room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection until it ends."""
        websocket = WebSocket(scope, receive, send)
        interactivity = self._room.world.interactivity
        ticket = websocket.query_params.get("ticket", "")
        if ticket not in interactivity.tickets:
            await websocket.close()
            return
        interactivity.tickets.discard(ticket)
        await websocket.accept()
        connection = Connection(websocket)
        if len(interactivity.sockets) >= CONNECTIONS_LIMIT:
            await connection.say(goodbye("too_many_websockets"))
            await connection.close()
            return
        interactivity.sockets.append(connection)
        try:
            await connection.say(_hello(len(interactivity.sockets)))
            await self._listen(connection, interactivity)
        except WebSocketDisconnect:
            return  # As every connection ends.
        finally:
            interactivity.sockets.remove(connection)

    async def _listen(self, connection: Connection, interactivity: Interactivity) -> None:
        while True:
            heard = await connection.hear()
            envelope = None if heard is None else interactivity.envelopes.get(str(heard.get("envelope_id")))
            if heard is not None and envelope is not None:
                world = self._room.world
                delivering.acknowledge(interactivity, envelope, heard.get("payload"), now=world.now())


def goodbye(reason: str) -> dict[str, Any]:
    """What Slack says before it closes a connection."""
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": "sandbox"}}


def _hello(count: int) -> dict[str, Any]:
    return {
        "type": "hello",
        "num_connections": count,
        "debug_info": {"host": "sandbox", "build_number": 1, "approximate_connection_time": _LIFE_S},
        "connection_info": {"app_id": slack.APP},
    }
