import re
import socket as socket_module
import threading
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha1
from typing import Any

import pytest
from slack_sdk import WebClient

from recon.doors.slack.socket import Socket, Turn
from recon.model import dialogs
from recon.model.buttons import MENU, Button, Verb
from recon.model.errors import ConfigurationError, Wait
from recon.model.records.clicks import Place
from recon.model.records.words import CaseId
from recon.model.settings import Secret, SlackSettings
from tests.builders import NOON, a_case
from tests.clicks import menu
from tests.sandboxes import SLACK_TOKEN, Street
from tests.wires import answers, wire

ACKNOWLEDGE = Button(Verb.ACKNOWLEDGE, CaseId("C-AAAAAAAAAA"), 7)
OPEN = Button(Verb.OPEN, CaseId("C-AAAAAAAAAA"), 7)
CONNECTIONS = "POST /api/apps.connections.open"
APP_TOKEN = "xapp-1"
SECONDS = 20


@dataclass
class Ear:
    """Remembers what was heard, and says what it is told to."""

    answer: Mapping[str, Any] | None = None
    heard: list[Mapping[str, Any]] = field(default_factory=list)

    def __call__(self, payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
        self.heard.append(payload)
        return self.answer


@dataclass
class Timer:
    """Time that passes when it is told to."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def settings(street: Street, token: str = APP_TOKEN) -> SlackSettings:
    return SlackSettings(Secret(SLACK_TOKEN), app_token=Secret(token), base_url=street.slack_url)


@contextmanager
def socket(street: Street, ear: Ear, timer: Any = time.monotonic, **more: str) -> Iterator[Socket]:  # noqa: ANN401
    made = Socket(settings(street, **more), ear, timer=timer)
    try:
        yield made
    finally:
        made.close()


def posted(street: Street) -> tuple[str, str]:
    """A message with a menu: its channel and timestamp."""
    client = WebClient(SLACK_TOKEN, base_url=street.slack_url)
    answer = client.chat_postMessage(channel="#payments", text="HIGH", blocks=[menu(ACKNOWLEDGE, OPEN)])
    return str(answer["channel"]), str(answer["ts"])


def clicked(street: Street, where: tuple[str, str], **more: object) -> dict[str, Any]:
    channel, ts = where
    return street.control(
        "clicks",
        channel=channel,
        ts=ts,
        user="ana@example.com",
        action_id=MENU,
        value=ACKNOWLEDGE.value,
        **{"wait_s": 5, **more},
    )


def until(socket: Socket, *, connected: bool) -> list[Turn]:
    """Turn until it is so; the turns it took."""
    waiting, turns = threading.Event(), [socket.turn()]
    ends = time.monotonic() + SECONDS
    while turns[-1].connected is not connected and time.monotonic() < ends:
        waiting.wait(0.02)
        turns.append(socket.turn())
    assert turns[-1].connected is connected
    return turns


def test_a_click_is_heard_and_acknowledged(sandbox: Street) -> None:
    ear, where = Ear(), posted(sandbox)
    with socket(sandbox, ear) as opened:
        turns = [opened.turn(), opened.turn()]
        done = clicked(sandbox, where)

        assert turns == [Turn(connected=True, changed=True), Turn(connected=True)]
        assert (done["acknowledged"], done["answer"]) == (True, None)
        assert [each["actions"][0]["selected_option"]["value"] for each in ear.heard] == [ACKNOWLEDGE.value]


def test_what_is_answered_goes_back_with_the_acknowledgement(sandbox: Street) -> None:
    ear, where = Ear(), posted(sandbox)
    client = WebClient(SLACK_TOKEN, base_url=sandbox.slack_url)
    with socket(sandbox, ear) as opened:
        opened.turn()
        trigger = clicked(sandbox, where)["trigger_id"]
        view = dialogs.resolving(a_case(), Place("U0", "C0"), now=NOON)
        found = client.views_open(trigger_id=trigger, view=view)["view"]["id"]
        ear.answer = {"response_action": "errors", "errors": {"reason": dialogs.NO_REASON}}
        values = {"code": {"code": "recovered"}, "reason": {"reason": "x"}}
        sandbox.control("submissions", view_id=found, values=values, wait_s=5)

        assert [each["type"] for each in ear.heard] == ["block_actions", "view_submission"]
        assert [each["errors"] for each in sandbox.see("views")] == [{"reason": dialogs.NO_REASON}]


@pytest.mark.parametrize("paragraphs", [0, 1, 4])
def test_a_click_on_a_long_message_is_heard_whole(paragraphs: int, sandbox: Street) -> None:
    ear = Ear()
    client = WebClient(SLACK_TOKEN, base_url=sandbox.slack_url)
    metadata = {"event_type": "x", "event_payload": {"a": "x" * 1_900 * paragraphs}}
    filler = [{"type": "section", "text": {"type": "mrkdwn", "text": "é" * 3_000}}] * paragraphs
    answer = client.chat_postMessage(
        channel="#payments", text="HIGH", blocks=[menu(ACKNOWLEDGE, OPEN), *filler], metadata=metadata
    )
    with socket(sandbox, ear) as opened:
        opened.turn()
        done = clicked(sandbox, (str(answer["channel"]), str(answer["ts"])))

        assert (done["acknowledged"], len(ear.heard)) == (True, 1)


def test_a_connection_that_ends_without_a_word_is_noticed_at_once_and_made_anew(sandbox: Street) -> None:
    ear, where = Ear(), posted(sandbox)
    with socket(sandbox, ear) as opened:
        opened.turn()
        began = time.monotonic()
        sandbox.control("disconnect", reason=None)
        lost = until(opened, connected=False) if opened.turn().connected else []
        noticed = time.monotonic() - began
        turns = until(opened, connected=True)
        done = clicked(sandbox, where)

        assert noticed < 3
        assert [each.changed for each in [*lost, *turns] if each.changed]
        assert (done["acknowledged"], len(ear.heard)) == (True, 1)


def test_a_connection_whose_other_side_is_gone_is_an_end_and_no_silence() -> None:
    def greets_and_goes(connection: socket_module.socket) -> None:
        key = re.search(rb"Sec-WebSocket-Key: (\S+)", served.requests[-1])
        assert key is not None
        accepted = b64encode(sha1(key[1] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()  # noqa: S324
        head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        connection.sendall(f"{head}Sec-WebSocket-Accept: {accepted}\r\n\r\n".encode())

    with wire(answers("200 OK", "{}"), greets_and_goes, answers("500 Internal Server Error", "")) as served:
        url = served.url.replace("http", "ws")
        served.acts[0] = answers("200 OK", f'{{"ok": true, "url": "{url}/link/?ticket=1"}}')
        told = SlackSettings(Secret(SLACK_TOKEN), app_token=Secret(APP_TOKEN), base_url=f"{served.url}/api/")
        opened = Socket(told, Ear())
        try:
            began, busy = time.monotonic(), time.process_time()
            assert opened.turn().connected
            while opened.turn().connected:
                threading.Event().wait(0.02)
            noticed, spent = time.monotonic() - began, time.process_time() - busy
        finally:
            opened.close()

    assert noticed < 3
    assert spent < 1


def test_when_slack_moves_the_app_to_another_connection_nothing_is_lost(sandbox: Street) -> None:
    ear, where, timer = Ear(), posted(sandbox), Timer()
    with socket(sandbox, ear, timer) as opened:
        opened.turn()
        timer.now += 3_600
        sandbox.control("disconnect", reason="refresh_requested", after_s=1)
        done = [clicked(sandbox, where)["acknowledged"] for _ in range(10)]
        until(opened, connected=True)

        assert done == [True] * 10
        assert len(sandbox.requests("POST", "/api/apps.connections.open")) == 2


@pytest.mark.parametrize("token,said", [("xoxb-1", "not_allowed_token_type"), ("nonsense", "invalid_auth")])
def test_a_token_that_opens_no_socket_is_for_a_person_to_put_right(
    token: str, said: str, sandbox: Street
) -> None:
    with socket(sandbox, Ear(), token=token) as opened, pytest.raises(ConfigurationError) as refused:
        opened.turn()

    assert str(refused.value).startswith("Expected SLACK_APP_TOKEN to open a socket")
    assert said in str(refused.value)
    assert token not in str(refused.value)


@pytest.mark.parametrize("fault", ["500_before", "429", "drop_before", "html_200_after", "cut_body_after"])
def test_while_slack_is_away_the_pauses_grow_to_a_minute(fault: str, sandbox: Street) -> None:
    sandbox.fault(CONNECTIONS, fault, times=9, after_s=3600)
    timer = Timer()
    pauses = []
    with socket(sandbox, Ear(), timer) as opened:
        for _ in range(9):
            last = timer.now
            while (turn := opened.turn()).failed is None:
                timer.now += 0.5
            assert not turn.connected
            pauses.append(timer.now - last)
        timer.now += 60
        turns = [opened.turn()]

    assert pauses == [0, 1, 2, 4, 8, 16, 32, 60, 60]
    assert turns == [Turn(connected=True, changed=True)]


def test_connections_that_do_not_last_are_not_made_without_a_pause(sandbox: Street) -> None:
    timer = Timer()
    with socket(sandbox, Ear(), timer) as opened:
        for expected in (1, 2, 4):
            assert opened.turn().connected
            sandbox.control("disconnect", reason=None)
            waiting = threading.Event()
            while opened.turn().connected:
                waiting.wait(0.02)
            timer.now += expected - 0.01
            assert not opened.turn().connected
            timer.now += 0.01


def test_an_app_with_too_many_connections_makes_no_storm_of_them(sandbox: Street) -> None:
    timer = Timer()
    with ExitStack() as others:
        for _ in range(10):  # As many as an app may have.
            assert others.enter_context(socket(sandbox, Ear())).turn().connected
        before = len(sandbox.requests("POST", "/api/apps.connections.open"))
        with socket(sandbox, Ear(), timer) as opened:
            opened.turn()
            waiting = threading.Event()
            while opened.turn().connected:
                waiting.wait(0.02)
            waiting.wait(0.5)
            tried = len(sandbox.requests("POST", "/api/apps.connections.open")) - before

    assert tried == 1


def test_what_cannot_be_taken_in_is_not_acknowledged_and_the_next_click_is_heard(sandbox: Street) -> None:
    class Full(Ear):
        def __call__(self, payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
            if not self.heard:
                self.heard.append(payload)
                raise Wait("Expected room, found none.")
            return super().__call__(payload)

    where = posted(sandbox)
    with socket(sandbox, Full()) as opened:
        opened.turn()
        done = [clicked(sandbox, where, wait_s=1)["acknowledged"] for _ in range(2)]

        assert done == [False, True]
        assert opened.turn().connected


def test_what_is_no_click_is_acknowledged_or_left(sandbox: Street) -> None:
    ear = Ear()
    with socket(sandbox, ear) as opened:
        opened.turn()
        said: list[str] = []
        opened._client.send_message = said.append  # type: ignore[assignment,method-assign]  # noqa: SLF001 - Slack sends such things never
        for text in ("", "{", "[]", "{}", "[" * 100_000, '{"type": "hello"}'):
            opened._read(text)  # noqa: SLF001 - as above
        opened._read('{"envelope_id": "e1", "type": "events_api", "payload": {}}')  # noqa: SLF001 - as above

        assert (ear.heard, said) == ([], ['{"envelope_id": "e1"}'])
