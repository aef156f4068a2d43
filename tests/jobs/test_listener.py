"""The listener against the sandbox's Slack: every click from the message to the case and back."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import structlog
from slack_sdk import WebClient
from sqlalchemy import text

from jobs import listener
from jobs.listener import Address
from recon.doors.store import cases as book
from recon.doors.store import leases, operators
from recon.doors.store.engines import Database
from recon.model.buttons import MENU, Button, Verb
from recon.model.errors import ConfigurationError
from recon.model.records.cases import Case, Entry
from recon.model.records.clicks import LISTENER
from recon.model.records.people import Operator
from recon.model.records.words import Actor, CaseState, Resolution, Role
from recon.model.settings import Secret, Settings, SlackSettings
from tests import seeds
from tests.clicks import SECRET, menu
from tests.sandboxes import SLACK_TOKEN, Street

SECONDS = 20
ANA = "ana@example.com"
VERBS = (Verb.ACKNOWLEDGE, Verb.TAKE, Verb.SNOOZE, Verb.RESOLVE, Verb.OPEN)
REASON = {"reason": {"reason": "The bank has it."}}


@dataclass
class Corner:
    """A case, a message about it in Slack, and people who can click on it."""

    street: Street
    database: Database
    settings: Settings
    case: Case
    channel: str
    ts: str

    def click(self, verb: Verb, *, version: int = 1, by: str = ANA, **more: object) -> dict[str, Any]:
        """Click on the message; what Slack made of it when it was acknowledged."""
        value = Button(verb, self.case.id, version).value
        where = {"channel": self.channel, "ts": self.ts, "user": by, "action_id": MENU, "value": value}
        return self.street.control("clicks", **where, **{"wait_s": 5, **more})

    def replay(self, envelope_id: str) -> dict[str, Any]:
        """Let Slack bring the same click once more."""
        return self.street.control("clicks", replay=envelope_id, wait_s=5)

    def view(self) -> dict[str, Any]:
        """The dialog that is open."""
        views: list[dict[str, Any]] = eventually(lambda: self.street.see("views"))
        return views[0]

    def fill(self, view: dict[str, Any], **values: object) -> dict[str, Any]:
        """Send a dialog."""
        return self.street.control("submissions", view_id=view["id"], values={**REASON, **values}, wait_s=5)

    def told(self, number: int = 1) -> list[str]:
        """What was said in private, once so much was said."""
        eventually(lambda: len(self.street.see("ephemerals")) >= number)
        return [each["text"] for each in self.street.see("ephemerals")]

    def entries(self) -> list[Entry]:
        """The case's story since it was opened."""
        return [stored.entry for stored in book.entries(self.database, self.case.id)][1:]

    def now(self) -> Case:
        found = book.get(self.database, self.case.id)
        assert found is not None
        return found


@pytest.fixture
def corner(database: Database, sandbox: Street) -> Corner:
    sandbox.control("slack", rate_limit=False, users=[{"email": ANA, "id": "U0ANA"}])
    operators.put(database, Operator(Actor("Ana"), Role.OPERATOR, slack_id="U0ANA"))
    now = datetime.now(UTC) - timedelta(hours=1)
    (case,) = seeds.run(database, [seeds.duplicate(8812, at=now - timedelta(hours=2))], now=now)
    client = WebClient(SLACK_TOKEN, base_url=sandbox.slack_url)
    sent = client.chat_postMessage(
        channel="#payments", text="HIGH", blocks=[menu(*(Button.of(verb, case) for verb in VERBS))]
    )
    slack = SlackSettings(Secret(SLACK_TOKEN), app_token=Secret("xapp-1"), base_url=sandbox.slack_url)
    return Corner(sandbox, database, Settings(slack=slack), case, str(sent["channel"]), str(sent["ts"]))


@pytest.fixture
def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def eventually(found: Any, seconds: float = SECONDS) -> Any:  # noqa: ANN401  # whatever is waited for
    """What is found, once there is something."""
    waiting, until = threading.Event(), time.monotonic() + seconds
    while not (seen := found()):
        assert time.monotonic() < until, "it never came"
        waiting.wait(0.02)
    return seen


@contextmanager
def listening(corner: Corner, address: Address | None = None) -> Iterator[threading.Event]:
    """A listener on a thread of its own, connected; ended and waited for at the end."""
    ended, codes, before = threading.Event(), [], len(corner.street.see("sockets"))

    def run() -> None:
        codes.append(listener.listen(corner.database, corner.settings, address=address, ended=ended))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        eventually(lambda: len(corner.street.see("sockets")) > before or address is not None)
        if address is None:  # Its first sign of life is given too: a locked database holds up none.
            eventually(lambda: leases.held(corner.database, LISTENER, now=datetime.now(UTC)))
        yield ended
    finally:
        ended.set()
        thread.join(SECONDS)
    assert codes == [0]


@contextmanager
def slow(database: Database) -> Iterator[None]:
    """A database in which nobody else can write for a while."""
    with database.write() as connection:
        if database.dialect == "postgresql":
            connection.execute(text("LOCK TABLE cases IN ACCESS EXCLUSIVE MODE"))
        yield


def test_acknowledging_and_taking_are_one_click_each(corner: Corner) -> None:
    with listening(corner):
        corner.click(Verb.ACKNOWLEDGE)
        said = corner.told()
        again = corner.click(Verb.ACKNOWLEDGE)
        corner.told(2)
        assert again["acknowledged"]

    assert said[0].startswith(f"Done: {corner.case.id}: Refunded twice")
    assert [(each.actor, each.reason) for each in corner.entries()] == [("Ana", "Acknowledged in Slack.")]


def test_whoever_takes_a_case_owns_it(corner: Corner) -> None:
    with listening(corner):
        corner.click(Verb.TAKE)
        corner.told()

    owner = corner.now().owner
    assert owner is not None
    assert (owner.name, owner.target, corner.now().pinned) == ("Ana", "U0ANA", True)


def test_resolving_asks_how_and_why(corner: Corner) -> None:
    with listening(corner):
        corner.click(Verb.RESOLVE)
        sent = corner.fill(corner.view(), code={"code": "written_off"})
        said = corner.told()

    after = corner.now()
    assert (sent["acknowledged"], sent["answer"]) == (True, None)
    assert (after.state, after.resolution) == (CaseState.RESOLVED, Resolution.WRITTEN_OFF)
    assert corner.entries()[-1].reason == "The bank has it."
    assert "resolved as written off" in said[0]


def test_snoozing_asks_until_when_and_says_what_cannot_be(corner: Corner) -> None:
    past, then = datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC) + timedelta(days=2)
    with listening(corner):
        corner.click(Verb.SNOOZE)
        view = corner.view()
        wrong = corner.fill(view, nap={"nap": "chosen"}, date={"date": int(past.timestamp())})
        open_still = corner.street.see("views")
        corner.fill(view, nap={"nap": "chosen"}, date={"date": int(then.timestamp())})
        corner.told()

    assert list(wrong["answer"]["errors"]) == ["date"]
    assert [each["id"] for each in open_still] == [view["id"]]
    assert corner.now().snoozed_until == then.replace(microsecond=0)


def test_a_link_is_acknowledged_and_does_nothing(corner: Corner) -> None:
    with listening(corner):
        done = corner.click(Verb.OPEN)

    assert (done["acknowledged"], corner.entries(), corner.street.see("ephemerals")) == (True, [], [])


def test_a_click_that_slack_brings_again_does_nothing_and_says_so(corner: Corner) -> None:
    with listening(corner):
        first = corner.click(Verb.ACKNOWLEDGE)
        corner.told()
        corner.replay(first["envelope_id"])
        said = corner.told(2)

    assert len(corner.entries()) == 1
    assert said[1].startswith(f"Already done: {corner.case.id}")


def test_a_dialog_that_slack_brings_again_does_nothing_and_says_so(corner: Corner) -> None:
    with listening(corner):
        corner.click(Verb.RESOLVE)
        sent = corner.fill(corner.view(), code={"code": "recovered"})
        corner.told()
        corner.replay(sent["envelope_id"])
        said = corner.told(2)

    assert len(corner.entries()) == 1
    assert said[1].startswith(f"Already done: {corner.case.id}")


def test_what_moved_while_a_dialog_was_open_is_said_and_what_was_typed_comes_back(corner: Corner) -> None:
    with listening(corner):
        corner.click(Verb.RESOLVE)
        view = corner.view()
        seeds.acknowledged(corner.database, corner.case.id, by="Ben", now=datetime.now(UTC))
        corner.fill(view, code={"code": "recovered"})
        said = corner.told()

    assert [each.actor for each in corner.entries()] == ["Ben"]
    assert said[0].startswith("Nothing was done. Ben acknowledged this case at ")
    assert "It is acknowledged; owner" in said[0]
    assert said[0].endswith("You wrote: The bank has it.")


def test_somebody_unknown_is_told_what_to_run_and_only_they_are(corner: Corner) -> None:
    with listening(corner):
        corner.click(Verb.ACKNOWLEDGE, by="eve@example.com")
        (said,) = eventually(lambda: corner.street.see("ephemerals"))

    assert corner.entries() == []
    assert f"recon operators add NAME --slack {said['user']}" in said["text"]
    assert (said["channel"], said["thread_ts"]) == (corner.channel, None)


def test_where_slack_refuses_a_private_word_the_address_of_the_click_is_used(corner: Corner) -> None:
    corner.street.fault("POST /api/chat.postEphemeral", "fatal_error_before")
    with listening(corner):
        corner.click(Verb.ACKNOWLEDGE)
        said = corner.told()

    assert said[0].startswith("Done: ")
    assert len([each for each in corner.street.requests() if "/slack-actions/" in each["path"]]) == 1


def test_a_slow_database_holds_up_no_acknowledgement(corner: Corner) -> None:
    with listening(corner):
        with slow(corner.database):
            began = time.monotonic()
            done = corner.click(Verb.ACKNOWLEDGE)
            seconds = time.monotonic() - began
        corner.told()

    assert done["acknowledged"]
    assert seconds < 2
    assert len(corner.entries()) == 1


def test_two_listeners_are_one_move(corner: Corner) -> None:
    with listening(corner), listening(corner), ExitStack() as held:
        assert len(corner.street.see("sockets")) == 2
        held.enter_context(slow(corner.database))
        first = corner.click(Verb.ACKNOWLEDGE)
        for _ in range(5):
            corner.replay(first["envelope_id"])
        held.close()
        said = corner.told(6)
        carried = [each["carried"] for each in corner.street.see("sockets")]

    assert min(carried) > 0
    assert len(corner.entries()) == 1
    assert all(each.startswith(("Done: ", "Already done: ")) for each in said)


def test_a_listener_that_ends_finishes_what_it_has_acknowledged(corner: Corner) -> None:
    with listening(corner) as ended, ExitStack() as held:
        held.enter_context(slow(corner.database))
        done = corner.click(Verb.ACKNOWLEDGE)
        ended.set()
        eventually(lambda: not corner.street.see("sockets"))
        held.close()

    assert done["acknowledged"]
    assert len(corner.entries()) == 1
    assert len(corner.told()) == 1


def test_a_connection_that_breaks_is_made_anew(corner: Corner) -> None:
    with structlog.testing.capture_logs() as logged, listening(corner):
        eventually(lambda: "connected" in [each["event"] for each in logged])
        (before,) = corner.street.see("sockets")
        corner.street.control("disconnect", reason=None)
        eventually(lambda: [each for each in corner.street.see("sockets") if each["id"] != before["id"]])
        corner.click(Verb.ACKNOWLEDGE)
        corner.told()

    assert len(corner.entries()) == 1
    assert [each["event"] for each in logged if "connected" in each["event"]] in (
        ["connected", "disconnected", "connected"],
        ["connected", "connected"],
    )


def test_others_see_that_somebody_listens_while_it_is_connected(corner: Corner) -> None:
    def held() -> bool:
        return leases.held(corner.database, LISTENER, now=datetime.now(UTC)) is not None

    with listening(corner):
        eventually(held)

    assert not held()


def test_over_http_the_same_clicks_do_the_same(corner: Corner, free_port: int) -> None:
    slack = replace(corner.settings.slack, app_token=Secret(""), signing_secret=Secret(SECRET))
    corner.settings = replace(corner.settings, slack=slack)
    url = f"http://127.0.0.1:{free_port}/slack/interactivity"
    corner.street.control("interactivity", url=url, signing_secret=SECRET)
    with listening(corner, Address("127.0.0.1", free_port)):
        eventually(lambda: leases.held(corner.database, LISTENER, now=datetime.now(UTC)))
        corner.click(Verb.RESOLVE)
        view = corner.view()
        wrong = corner.fill(view, code={"code": "recovered"}, reason={"reason": " "})
        sent = corner.fill(view, code={"code": "recovered"})
        corner.told()
        again = corner.replay(sent["envelope_id"])
        tried = corner.street.see("envelopes")[-1]["tries"]

    assert list(wrong["answer"]["errors"]) == ["reason"]
    assert corner.now().state is CaseState.RESOLVED
    assert [each["status"] for each in tried] == [200, 401]
    assert again["envelope_id"] == sent["envelope_id"]
    assert len(corner.entries()) == 1


@pytest.mark.parametrize(
    "slack,address,expected",
    [
        ({}, None, "Neither SLACK_APP_TOKEN .* nor SLACK_SIGNING_SECRET"),
        ({"signing_secret": Secret(SECRET)}, None, "say --http HOST:PORT"),
        ({"app_token": Secret("xapp-1")}, Address("127.0.0.1", 0), "SLACK_SIGNING_SECRET is not set"),
        ({"app_token": Secret("xapp-1"), "bot_token": Secret("")}, None, "SLACK_BOT_TOKEN is not set"),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(
    slack: dict[str, Secret], address: Address | None, expected: str, database: Database
) -> None:
    settings = Settings(slack=replace(SlackSettings(Secret(SLACK_TOKEN)), **slack))  # type: ignore[arg-type]  # secrets all

    with pytest.raises(ConfigurationError, match=expected):
        listener.listen(database, settings, address=address)


@pytest.mark.parametrize(
    "words,expected",
    [
        ([], None),
        (["--http", "127.0.0.1:8080"], Address("127.0.0.1", 8080)),
        (["--http", "8080"], Address("127.0.0.1", 8080)),
        (["--http", ":8080"], Address("127.0.0.1", 8080)),
        (["--http", "0.0.0.0:8080"], Address("0.0.0.0", 8080)),  # noqa: S104 - somebody may say so
        (["--http", "[::1]:8080"], Address("::1", 8080)),
    ],
)
def test_where_to_listen_is_loopback_unless_somebody_says_else(
    words: list[str], expected: Address | None
) -> None:
    assert listener.arguments(words) == expected


@pytest.mark.parametrize(
    "words",
    [["--http", "here"], ["--http", "127.0.0.1:99999"], ["--http", "00000808080"], ["--port", "1"], ["x"]],
)
def test_what_is_no_address_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        listener.arguments(words)

    assert ended.value.code == 2
    assert "usage: python -m jobs.listener" in capsys.readouterr().err
