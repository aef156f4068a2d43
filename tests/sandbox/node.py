"""The official clients in another language: one node process, asked a call at a time or many at once."""

from __future__ import annotations

import itertools
import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from tests import npm
from tests.sandboxes import SLACK_TOKEN, STRIPE_KEY, Street

SOURCE: Final = Path(__file__).parent / "node_files"
# A call that hangs is cut by its client's own timeout long before.
SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Said:
    """What a client made of one call.

    value: what it returned; of a list read to its end the items, also those before an error. response:
    status, requestId and headers of a success, where the client tells them. error: its class, and what the
    client says of it.
    """

    value: Any
    response: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] = field(default_factory=dict)

    @property
    def refusal(self) -> tuple[str, int | None, str | None, str | None]:
        """The class of the error, its status, code and parameter."""
        found = self.error
        return found["class"], found.get("statusCode"), found.get("code"), found.get("param")

    @property
    def headers(self) -> dict[str, str]:
        """The answer's headers, of a success or of an error."""
        found: dict[str, str] = (self.error or self.response)["headers"]
        return found


@dataclass(frozen=True, slots=True)
class Client:
    """One client with its options."""

    node: Node
    kind: str
    key: str
    options: dict[str, Any]

    def ask(self, call: str, *args: object, whole: bool = False) -> Said:
        """Make one call, such as "refunds.create"; whole: read a list to its end."""
        return self.together([(call, *args)], whole=whole)[0]

    def together(self, calls: list[tuple[Any, ...]], *, whole: bool = False) -> list[Said]:
        """Make calls at once; what each came to, in their order."""
        told = {"kind": self.kind, "key": self.key, "options": self.options, "whole": whole}
        return self.node.asked([told | {"call": call, "args": args} for call, *args in calls])


class Node:
    """A running node with the clients in it; folder: where they are installed."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.folder = folder
        self._process = process
        self._numbers = itertools.count()
        self._lines: queue.Queue[str] = queue.Queue()
        assert process.stdout is not None
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def stripe(self, street: Street, *, key: str = STRIPE_KEY, **options: object) -> Client:
        """The provider's client, told not to retry unless `maxNetworkRetries` says otherwise."""
        place = {"host": "127.0.0.1", "port": street.running.port, "protocol": "http"}
        return Client(self, "stripe", key, {"maxNetworkRetries": 0, "timeout": 5000, **place, **options})

    def slack(self, street: Street, *, token: str = SLACK_TOKEN, **options: object) -> Client:
        """Slack's client, told to retry nothing and to wait for nothing unless options say otherwise."""
        plain = {"retryConfig": {"retries": 0}, "rejectRateLimitedCalls": True, "logLevel": "error"}
        return Client(self, "slack", token, {"slackApiUrl": street.slack_url, **plain, **options})

    def asked(self, asks: list[dict[str, Any]]) -> list[Said]:
        """Send every ask before the first answer is read."""
        numbers = [next(self._numbers) for _ in asks]
        assert self._process.stdin is not None
        for number, ask in zip(numbers, asks, strict=True):
            self._process.stdin.write(json.dumps(ask | {"id": number}) + "\n")
        self._process.stdin.flush()
        answers: dict[int, Said] = {}
        while len(answers) < len(asks):
            told = json.loads(self._lines.get(timeout=SECONDS))
            number = told.pop("id")
            answers[number] = Said(**told)
        return [answers[number] for number in numbers]

    def _read(self, lines: IO[str]) -> None:
        for line in lines:
            self._lines.put(line)


@contextmanager
def running(folder: Path) -> Iterator[Node]:
    """Put the clients into a folder and start node there; skip the test where npm does not answer."""
    npm.installed(SOURCE, folder, without="no client in another language to ask")
    process = subprocess.Popen(
        ["node", "clients.js"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield Node(process, folder)
        finally:
            process.terminate()
