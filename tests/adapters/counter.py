"""A local provider of two other side effects over HTTP: cards are charged, and letters are posted."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

CHARGES, LETTERS = "/v1/payment_intents", "/letters"


@dataclass
class Counter:
    """What was done, and what the next requests meet: drop acts and answers nothing, lost does not act."""

    url: str = ""
    faults: list[str] = field(default_factory=list)
    charges: list[dict[str, Any]] = field(default_factory=list)
    letters: list[dict[str, Any]] = field(default_factory=list)
    kept: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)

    def post(self, path: str, form: dict[str, str], key: str | None) -> tuple[int, dict[str, Any]]:
        """Act once for a key, as the provider of cards does; a letter is posted each time."""
        if path == LETTERS:
            self.letters.append(form | {"id": f"letter_{len(self.letters) + 1}"})
            return 200, self.letters[-1]
        if key not in self.kept:
            self.kept[str(key)] = self._charge(form)
        return self.kept[str(key)]

    def _charge(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if form["payment_method"] == "pm_declined":
            words = {"type": "card_error", "code": "card_declined", "message": "Your card was declined."}
            return 402, {"error": words}
        made = {
            "id": f"pi_{len(self.charges) + 1}",
            "object": "payment_intent",
            "status": "succeeded",
            "amount": int(form["amount"]),
            "currency": form["currency"],
            "customer": form["customer"],
            "metadata": {"intent_key": form["metadata[intent_key]"]},
        }
        self.charges.insert(0, made)
        return 200, made


@contextmanager
def counter() -> Iterator[Counter]:
    """Serve one on loopback."""
    behind = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            fault = behind.faults.pop(0) if behind.faults else None
            said = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(said).items()}
            answer = None
            if fault != "lost":
                answer = behind.post(self.path, form, self.headers.get("Idempotency-Key"))
            self._answer(None if fault else answer)

        def do_GET(self) -> None:
            asked = parse_qs(urlsplit(self.path).query)
            found = [each for each in behind.charges if [each["customer"]] == asked["customer"]]
            fault = behind.faults.pop(0) if behind.faults else None
            self._answer(None if fault else (200, {"object": "list", "data": found, "has_more": False}))

        def _answer(self, answer: tuple[int, dict[str, Any]] | None) -> None:
            if answer is None:
                self.close_connection = True
                return
            content = json.dumps(answer[1]).encode()
            self.send_response(answer[0])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        behind.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield behind
        finally:
            server.shutdown()
            thread.join(5)
