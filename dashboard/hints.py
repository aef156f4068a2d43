"""What a page will need, named in its first answer: the browser fetches it while the line is idle.

Streamlit's page loads the half of its scripts that draw metrics, buttons and the grid only once the desk's
first elements have come, one round of a hundred small files later. What is not named is loaded as ever, so
that a Streamlit with other files costs time and nothing else.
"""

import re
from http import HTTPStatus
from pathlib import Path
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import file_util

# Streamlit's scripts for what the queue shows, in the order in which it is drawn.
SHOWN: Final = ("Html", "Metric", "PageLink", "ButtonGroup", "TextInput", "Button", "Checkbox", "DataFrame")
_IMPORTED: Final = re.compile(r"""(?:from|import)\s*["']\./([\w.-]+\.js)["']""")
_END: Final = b"</head>"


class Hints:
    """ASGI middleware that names the scripts of the desk's elements in each page that Streamlit answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        root = Path(file_util.get_static_dir())
        told = (root / "index.html").read_text(encoding="utf-8")
        names = [name for name in needed(root / "static" / "js") if name not in told]
        # Low: what is on the page already comes first.
        link = '<link rel="modulepreload" crossorigin fetchpriority="low" href="./static/js/{}">'
        self._links = "".join(map(link.format, names)).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add to the answer where it is a page."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        held: list[Message] = []
        body = bytearray()

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start" and _page(message):
                held.append(message)
            elif held and message["type"] == "http.response.body":
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    whole = bytes(body).replace(_END, self._links + _END, 1)
                    MutableHeaders(scope=held[0])["content-length"] = str(len(whole))
                    await send(held[0])
                    await send({"type": "http.response.body", "body": whole})
            else:
                await send(message)

        await self._app(scope, receive, told)


def needed(folder: Path) -> list[str]:
    """Return the files of Streamlit's that draw what the queue shows, with all that they import."""
    found: dict[str, None] = {}
    left = [file.name for kind in reversed(SHOWN) for file in folder.glob(f"{kind}.*.js")]
    while left:
        name = left.pop()
        if name not in found:
            found[name] = None
            left.extend(_IMPORTED.findall((folder / name).read_text(encoding="utf-8")))
    return list(found)


def _page(start: Message) -> bool:
    headers = MutableHeaders(scope=start)
    return start["status"] == HTTPStatus.OK and headers.get("content-type", "").startswith("text/html")
