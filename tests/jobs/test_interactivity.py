import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import timedelta

import pytest
import structlog

from jobs import interactivity
from jobs.interactivity import BODY_LIMIT, PATH, Counter, Serving
from jobs.reception import Reception
from recon.doors.store import signatures
from recon.doors.store.engines import Database
from recon.model import dialogs
from recon.model.buttons import Button, Verb
from recon.model.errors import ConfigurationError, DatabaseUnavailable
from recon.model.records.clicks import Heard
from recon.model.records.words import CaseId
from recon.model.settings import Secret
from tests.builders import NOON
from tests.clicks import (
    SECRET,
    form,
    press_payload,
    resolution,
    signed,
    submission_payload,
)

BUTTON = Button(Verb.ACKNOWLEDGE, CaseId("C-AAAAAAAAAA"), 7)
BODY = form(press_payload(BUTTON.value))
SECONDS = 20
Body = bytes | Iterator[bytes]


class House:
    """A served endpoint with everything that it touches; fresh: what says whether a signature is new."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.fresh: Callable[[str], bool] = self._fresh
        self.heard: list[Heard] = []
        self.reception = Reception(self.heard.append, clock=lambda: NOON)
        counter = Counter(Secret(SECRET), self.reception, self._asked, lambda: NOON)
        self.serving = Serving(counter, "127.0.0.1", 0)

    def close(self) -> list[Heard]:
        """Close everything, and return what was done."""
        self.serving.close()
        self.reception.close()
        return self.heard

    def ask(
        self,
        body: Body = BODY,
        headers: Mapping[str, str] | None = None,
        *,
        path: str = PATH,
        method: str = "POST",
    ) -> tuple[int, bytes]:
        """The status and the body of an answer; signed where no headers are given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.serving.port, timeout=SECONDS)
        try:
            told = signed(body, NOON) if headers is None and isinstance(body, bytes) else headers
            connection.request(method, path, body, dict(told or {}))
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _asked(self, signature: str) -> bool:
        return self.fresh(signature)

    def _fresh(self, signature: str) -> bool:
        new = signature not in self.known
        self.known.add(signature)
        return new


@pytest.fixture
def house() -> Iterator[House]:
    made = House()
    yield made
    made.close()


def test_slacks_click_is_acknowledged_with_nothing_and_done(house: House) -> None:
    answer = house.ask()

    assert answer == (200, b"")
    assert [each.button for each in house.close()] == [BUTTON]


def test_a_dialog_that_lacks_something_is_told_so_in_the_answer(house: House) -> None:
    button = Button(Verb.RESOLVE, BUTTON.case_id, 7)
    status, content = house.ask(form(submission_payload(button, resolution(reason=""))))

    assert (status, json.loads(content)) == (
        200,
        {"response_action": "errors", "errors": {"reason": dialogs.NO_REASON}},
    )
    assert house.close() == []


def test_a_replay_is_refused_and_nothing_is_done_again(house: House) -> None:
    found = [house.ask() for _ in range(3)]

    assert found == [(200, b""), (401, b""), (401, b"")]
    assert len(house.close()) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-slack-signature": "v0=" + "0" * 64},
        signed(BODY, NOON, "another secret"),
        signed(BODY, NOON - timedelta(seconds=301)),
        signed(BODY, NOON + timedelta(seconds=301)),
        signed(BODY, "yesterday"),
        {**signed(BODY, NOON), "x-slack-signature": "v0=" + "\xe9" * 64},
    ],
)
def test_what_slack_did_not_sign_is_refused_without_a_word(headers: dict[str, str], house: House) -> None:
    with structlog.testing.capture_logs() as logged:
        answer = house.ask(headers=headers)

    assert answer == (401, b"")
    assert (house.close(), house.known) == ([], set())
    assert logged == [{"event": "refused", "why": "signature", "log_level": "warning"}]


@pytest.mark.parametrize(
    "method,path,status",
    [
        ("GET", "/healthz", 200),
        ("POST", "/healthz", 405),
        ("GET", PATH, 405),
        ("PUT", PATH, 405),
        ("POST", f"{PATH}/", 404),
        ("POST", "/", 404),
        ("GET", "/metrics", 404),
        ("POST", "/slack/events", 404),
    ],
)
def test_each_path_takes_what_it_is_for(method: str, path: str, status: int, house: House) -> None:
    found, content = house.ask(path=path, method=method)

    assert found == status
    assert house.close() == []
    assert path.strip("/").encode() not in content or path == "/"


@pytest.mark.parametrize("whole", [True, False])
def test_a_body_that_is_too_large_is_not_read_to_its_end(whole: bool, house: House) -> None:  # noqa: FBT001
    length = BODY_LIMIT + 1

    def parts() -> Iterator[bytes]:
        for _ in range(0, length, 50_000):
            yield b"x" * 50_000

    if whole:
        connection = socket.create_connection(("127.0.0.1", house.serving.port), timeout=SECONDS)
        with connection:
            connection.sendall(
                f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode()
            )
            status = int(connection.recv(1000).split()[1])
    else:
        status, _ = house.ask(parts(), {})

    assert status == 413


def test_a_body_that_does_not_come_is_not_waited_for(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interactivity, "BODY_SECONDS", 0.1)
    with socket.create_connection(("127.0.0.1", house.serving.port), timeout=SECONDS) as connection:
        connection.sendall(f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx".encode())

        assert connection.recv(1000).split()[1] == b"408"


@pytest.mark.parametrize("body", [b"", b"payload=", b"payload=%7B", b"payload=[]", b"a=1&" * 50, b"[" * 9999])
def test_what_slack_signed_and_is_no_click_is_said_to_be_none(body: bytes, house: House) -> None:
    assert house.ask(body) == (400, b"")
    assert house.close() == []


def test_what_is_not_ours_is_acknowledged_and_left(house: House) -> None:
    assert house.ask(form({"type": "shortcut", "user": {"id": "U0"}})) == (200, b"")
    assert house.close() == []


def test_while_the_database_is_away_nothing_is_done_and_slack_tells_whoever_clicked(house: House) -> None:
    def fresh(_signature: str) -> bool:
        raise DatabaseUnavailable("Expected SQLite to answer, found that the disk is full.")

    house.fresh = fresh

    assert house.ask() == (503, b"")
    assert house.close() == []


@pytest.mark.parametrize("says", [True, False, None])
def test_a_slow_database_holds_up_no_acknowledgement_and_has_the_last_word(
    *, says: bool | None, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interactivity, "FRESH_SECONDS", 0.1)
    slow = threading.Event()

    def fresh(_signature: str) -> bool:
        assert slow.wait(SECONDS)
        if says is None:
            raise DatabaseUnavailable("Expected SQLite to answer, found that the disk is full.")
        return says

    house.fresh = fresh
    began = time.monotonic()
    answer = house.ask()
    seconds, before = time.monotonic() - began, list(house.heard)
    slow.set()

    assert (answer, before) == ((200, b""), [])
    assert seconds < 2
    assert len(house.close()) == (1 if says else 0)


def test_where_too_many_wait_slack_tells_whoever_clicked(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house.reception, "work", lambda *_, **__: False)

    assert house.ask() == (503, b"")
    assert house.close() == []


@pytest.mark.parametrize(
    "head", [b"", b"POST / HTTP/1.1\r\nHost: x", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"]
)
def test_connections_that_ask_nothing_keep_nobody_out_for_long(
    head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interactivity, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(interactivity, "CONNECTIONS", 3)
    house = House()
    with ExitStack() as opened:
        for _ in range(3):
            idle = opened.enter_context(socket.create_connection(("127.0.0.1", house.serving.port), SECONDS))
            idle.sendall(head)
            if head.endswith(b"\r\n\r\n"):  # It is answered; the next head begins and never ends.
                idle.recv(1_000)
                with suppress(OSError):
                    idle.sendall(b"GET")
            with suppress(ConnectionResetError):
                while idle.recv(1_000):
                    pass
        found = house.ask()

    assert found == (200, b"")
    assert len(house.close()) == 1


def test_many_replays_at_once_are_one_click(database: Database, house: House) -> None:
    house.fresh = lambda signature: signatures.take(database, signature, now=NOON)
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(house.ask()[0])) for _ in range(12)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(SECONDS)

    assert sorted(found) == [200] + [401] * 11
    assert len(house.close()) == 1


def test_an_address_that_is_taken_is_said(house: House) -> None:
    counter = Counter(Secret(SECRET), house.reception, house.fresh, lambda: NOON)

    with pytest.raises(ConfigurationError, match="Address already in use"):
        Serving(counter, "127.0.0.1", house.serving.port)


@pytest.mark.parametrize("host", ["\u00e4" * 80, "\udcff"])
def test_what_is_no_host_is_said(host: str, house: House) -> None:
    counter = Counter(Secret(SECRET), house.reception, house.fresh, lambda: NOON)

    with pytest.raises(ConfigurationError, match="that is no host"):
        Serving(counter, host, 0)


def test_it_says_whether_it_serves(house: House) -> None:
    turns = [house.serving.turn(), house.serving.turn()]
    house.serving.close()
    turns.append(house.serving.turn())

    assert [(each.connected, each.changed) for each in turns] == [(True, True), (True, False), (False, True)]


def test_a_server_that_ends_by_itself_ends_the_listener(house: House) -> None:
    house.serving._server.started = False  # noqa: SLF001 - as when its thread has died

    with pytest.raises(AssertionError, match="ended by itself"):
        house.serving.turn()
