"""The listener as the process that it is: from a run's message to the next delivery, and killed."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from jobs import hourly, tick
from recon.doors.store import cases as book
from recon.doors.store import operators
from recon.doors.store import queue as waiting
from recon.doors.store.engines import Database
from recon.model.buttons import MENU, Button, Verb
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.words import Action, Actor, Role
from tests.databases import ON_ONE
from tests.sandboxes import Street

ROOT = Path(__file__).parents[2]
SECONDS = 30


class Listener:
    """A running process, and what it logs."""

    def __init__(self, environ: dict[str, str], *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jobs.listener", *words],
            env={**environ, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        self.everything = ""
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.everything += line
            if line.startswith("{"):
                self._lines.put(json.loads(line))

    def line(self, event: str) -> dict[str, Any]:
        """The next line of this event."""
        until = time.monotonic() + SECONDS
        while True:
            found = self._lines.get(timeout=max(0.01, until - time.monotonic()))
            if found["event"] == event:
                return found

    def silent(self, seconds: float) -> bool:
        """Whether nothing is logged for a while."""
        try:
            self._lines.get(timeout=seconds)
        except queue.Empty:
            return True
        return False

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal; the exit code."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        code = self.process.wait(SECONDS)
        self._reading.join(SECONDS)
        return code


@contextmanager
def running(*words: str) -> Iterator[Listener]:
    made = Listener(dict(os.environ), *words)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.end(signal.SIGKILL)


@pytest.fixture
def town(street: Street, database: Database, monkeypatch: pytest.MonkeyPatch) -> Street:
    """A run has found an orphan and told its owner; Ana may answer."""
    monkeypatch.setenv("SLACK_APP_TOKEN", "xapp-of-the-sandbox")
    street.control("slack", users=[{"email": "ana@example.com", "id": "U0ANA"}])
    operators.put(database, Operator(Actor("Ana"), Role.OPERATOR, slack_id="U0ANA"))
    hourly.main()
    return street


def case_of(database: Database) -> Case:
    (case,) = waiting.page(database).cases
    return case


def root(street: Street) -> dict[str, Any]:
    """The root that has the case's menu."""
    roots = [each for each in street.messages() if each["thread_ts"] in {None, each["ts"]}]
    (found,) = [each for each in roots if MENU in json.dumps(each["blocks"])]
    return found


def click(street: Street, case: Case, verb: Verb = Verb.ACKNOWLEDGE) -> dict[str, Any]:
    message = root(street)
    return street.control(
        "clicks",
        channel=message["channel"],
        ts=message["ts"],
        user="U0ANA",
        action_id=MENU,
        value=Button.of(verb, case).value,
        wait_s=5,
    )


def actions(database: Database, case: Case) -> list[Action]:
    return [stored.entry.action for stored in book.entries(database, case.id)]


@contextmanager
def locked(database: Database) -> Iterator[None]:
    """A database in which nobody else can write for a while."""
    with database.write() as connection:
        if database.dialect == "postgresql":
            connection.execute(text("LOCK TABLE cases IN ACCESS EXCLUSIVE MODE"))
        yield


def test_a_click_moves_the_case_and_the_next_delivery_shows_it_in_the_message(
    town: Street, database: Database
) -> None:
    case = case_of(database)
    with running() as listener:
        listener.line("connected")
        click(town, case)
        line = listener.line("click")
        before = root(town)
        code = listener.end()
    tick.main()
    after = root(town)

    (said,) = town.see("ephemerals")
    assert (line["outcome"], line["case_id"], line["slack_id"], code) == ("done", case.id, "U0ANA", 0)
    assert said["text"].startswith(f"Done: {case.id}")
    assert (before["edited"], after["edited"], after["ts"]) == (False, True, before["ts"])
    assert "acknowledged" in json.dumps(after["blocks"])
    # The menu names the version as it is now: the next click is no stale one.
    assert Button.of(Verb.TAKE, case_of(database)).value in json.dumps(after["blocks"])
    for secret in ("xapp-of-the-sandbox", os.environ["SLACK_BOT_TOKEN"], said["text"]):
        assert secret not in listener.everything


@ON_ONE
def test_a_listener_that_is_told_to_end_finishes_the_click_that_it_has_acknowledged(
    town: Street, database: Database
) -> None:
    case = case_of(database)
    with running() as listener:
        listener.line("connected")
        with locked(database):
            done = click(town, case)
            listener.process.send_signal(signal.SIGTERM)
            listener.process.send_signal(signal.SIGTERM)
            assert listener.silent(3)
        code = listener.ended()

    events = [json.loads(line)["event"] for line in listener.everything.splitlines()]
    assert (done["acknowledged"], code) == (True, 0)
    assert events[-2:] == ["click", "ended"]
    assert actions(database, case) == [Action.OPENED, Action.ACKNOWLEDGED]
    assert len(town.see("ephemerals")) == 1


def test_a_click_is_lost_when_the_listener_is_killed_before_the_move_and_can_be_made_again(
    town: Street, database: Database
) -> None:
    case = case_of(database)
    with running() as listener:
        listener.line("connected")
        with locked(database):
            done = click(town, case)
            code = listener.end(signal.SIGKILL)
    lost = actions(database, case)
    with running() as listener:
        listener.line("connected")
        click(town, case)
        line = listener.line("click")
        listener.end()

    assert (done["acknowledged"], code, lost) == (True, -signal.SIGKILL, [Action.OPENED])
    assert line["outcome"] == "done"
    assert actions(database, case) == [Action.OPENED, Action.ACKNOWLEDGED]


@pytest.mark.parametrize("words", [(), ("--http", "127.0.0.1:0")])
@ON_ONE
def test_without_a_token_or_a_secret_it_says_what_to_set_and_ends_with_2(
    words: tuple[str, ...], street: Street
) -> None:
    with running(*words) as listener:
        code = listener.ended()

    (line,) = [json.loads(each) for each in listener.everything.splitlines()]
    assert (code, line["event"], line["job"]) == (2, "failed", "listener")
    assert "SLACK_SIGNING_SECRET" in line["reason"]


@ON_ONE
def test_a_token_that_slack_refuses_ends_it_with_2(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_APP_TOKEN", "xoxb-the-wrong-one")
    with running() as listener:
        code = listener.ended()

    assert code == 2
    assert "not_allowed_token_type" in listener.everything
    assert "the-wrong-one" not in listener.everything


@ON_ONE
def test_it_waits_for_a_slack_that_is_away(
    town: Street, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.fault("POST /api/apps.connections.open", "500_before", times=2)
    began = datetime.now(UTC)
    with running() as listener:
        failed = [listener.line("not connected")["reason"] for _ in range(2)]
        listener.line("connected")
        code = listener.end(signal.SIGINT)

    assert (failed, code) == (["Slack answered 500."] * 2, 0)
    assert (datetime.now(UTC) - began).total_seconds() < SECONDS
