"""A browser that nobody watches: how long a person waits for the desk's first row in it.

Playwright has the browser tell it of each of a page's hundred requests, and opens a window, with scripts of
its own, in the moment in which the page is asked for. Both take as much of a processor as the page. Here the
window stands there before, and nothing but the row is asked for.
"""

import json
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from websockets.sync.client import connect
from websockets.sync.connection import Connection

from tests.bench.tabs import ROW, WINDOW
from tests.served import CHROMIUM, FLAGS, answered, free_port

REST_SECONDS: Final = 2.5  # After which a new window has drawn itself.
WAITING: Final = f"""new Promise(done => {{
    const row = {ROW};
    const look = () => {{ const at = row(); if (at) done(at); else requestAnimationFrame(look); }};
    look();
}})"""


@dataclass
class Unwatched:
    """A running browser."""

    line: Connection
    number: int = 0

    def visit(self, address: str) -> float:
        """Return the milliseconds to the first row, for somebody who was never there."""
        context = self._asked("Target.createBrowserContext")["browserContextId"]
        named = {"url": "about:blank", "browserContextId": context, **WINDOW}
        target = self._asked("Target.createTarget", **named)["targetId"]
        session = self._asked("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        time.sleep(REST_SECONDS)
        self._asked("Page.navigate", session, url=address)
        found = self._asked(
            "Runtime.evaluate", session, expression=WAITING, awaitPromise=True, returnByValue=True
        )
        self._asked("Target.disposeBrowserContext", browserContextId=context)
        return float(found["result"]["value"])

    def _asked(self, method: str, session: str | None = None, **told: object) -> dict[str, Any]:
        self.number += 1
        asked: dict[str, object] = {"id": self.number, "method": method, "params": told}
        self.line.send(json.dumps(asked if session is None else asked | {"sessionId": session}))
        while True:
            answer: dict[str, Any] = json.loads(self.line.recv())
            if answer.get("id") == self.number:
                assert "result" in answer, answer
                return dict(answer["result"])


@contextmanager
def unwatched() -> Iterator[Unwatched]:
    """Start the machine's Chromium with an empty folder."""
    port = free_port()
    told = f"http://127.0.0.1:{port}/json/version"
    with tempfile.TemporaryDirectory(prefix="recon-browser-", ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "log"
        flags = [*FLAGS, f"--user-data-dir={folder}/user", f"--remote-debugging-port={port}", "about:blank"]
        with log.open("wb") as written:
            process = subprocess.Popen([CHROMIUM, *flags], stdout=written, stderr=written)
        try:
            answered(told, process, log)
            with urllib.request.urlopen(told) as found:
                address = json.load(found)["webSocketDebuggerUrl"]
            with connect(address, max_size=None) as line:
                yield Unwatched(line)
        finally:
            process.terminate()
            process.wait()
