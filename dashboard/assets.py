"""The files that Streamlit's pages are made of, answered from memory: a new browser asks for over a hundred.

Streamlit reads each from the disk again for everybody who asks, in parts and through threads, and compresses
it anew, which takes more of a processor than the page itself. Here that is done once. Only files that lie in
its folder when the server starts are answered.
"""

import gzip
import mimetypes
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import file_util

# As Streamlit says it of them: their names hold a hash of what is in them.
FOREVER: Final = "public, immutable, max-age=31536000"
PACKED: Final = frozenset({".js", ".css", ".svg", ".json"})  # Fonts and pictures are packed already.
LEVEL: Final = 6


class Assets:
    """ASGI middleware that answers for Streamlit's hashed files, and lets every other request on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        root = Path(file_util.get_static_dir())
        found = (root / "static").rglob("*")
        self._files = {f"/{file.relative_to(root).as_posix()}": file for file in found if file.is_file()}
        # Of the 26 MB there are, the desk's pages ask for five.
        self._kept: dict[tuple[str, bool], Response] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory what is there, and read it the first time."""
        file = None
        if scope["type"] == "http" and scope["method"] == "GET":
            file = self._files.get(scope["path"])
        if file is None:
            await self._app(scope, receive, send)
            return
        told = Headers(scope=scope).get("accept-encoding", "")
        asked = scope["path"], file.suffix in PACKED and "gzip" in told
        answer = self._kept.get(asked)
        if answer is None:
            answer = self._kept[asked] = _answer(file, packed=asked[1])
        await answer(scope, receive, send)


def _answer(file: Path, *, packed: bool) -> Response:
    """Return a file as an answer, from the disk."""
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    headers, content = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding"}, file.read_bytes()
    if packed:
        content = gzip.compress(content, LEVEL)
        headers |= {"Content-Encoding": "gzip"}
    return Response(content, headers=headers, media_type=kind)
