"""The table of what Slack's failures mean, row by row: over real HTTP, with Slack's own client, to the end.

Source: Slack's documentation, and its client run against a server that fails so. In each row the first send
meets the failure, whether the message came to be or not; then everything is well, and delivery goes on.
"""

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote_plus

import pytest

from recon.delivery import DeliveryReport, deliver
from recon.doors.slack.posts import Slack
from recon.model.records.deliveries import Delivered, NotSent, Unknown
from recon.model.records.words import NoticeState
from tests.town import Town, a_notice, town
from tests.wires import Act, Wire, answers, closes, cuts, hangs, resets, wire

__all__ = ["town"]  # A fixture: pytest finds it by this name.

WAITING, UNKNOWN, SENT, UNDELIVERABLE = (
    NoticeState.WAITING,
    NoticeState.UNKNOWN,
    NoticeState.SENT,
    NoticeState.UNDELIVERABLE,
)
POST = b"POST /api/chat.postMessage"
HTML = "<!doctype html><h1>One moment, please</h1>"


class Listening(Slack):
    """The door to Slack, and what came of each post through it."""

    outcomes: list[Delivered | NotSent | Unknown]

    def post(self, *told: Any, **more: Any) -> Delivered | NotSent | Unknown:  # noqa: ANN401 - as the real one
        """Post, and remember the outcome."""
        outcome = super().post(*told, **more)
        self.outcomes.append(outcome)
        return outcome


@dataclass
class Office:
    """A town whose way to Slack leads through a gate, which lets a failure happen to one send."""

    town: Town
    slack: Listening
    served: Wire

    def turn(self) -> DeliveryReport:
        """Take one turn."""
        town = self.town
        return deliver(town.database, self.slack, town.settings, clock=town.clock, sleep=town.sleep)

    def go_on(self, hours: float) -> DeliveryReport:
        """Take a turn a minute, which is what the tick does, until nothing is late or the hours are over."""
        for _ in range(int(hours * 60)):
            self.town.sleep(60)
            report = self.turn()
            if report.complete:
                break
        return report

    def posts(self) -> list[bytes]:
        """Return every post that reached the gate."""
        return [request for request in self.served.requests if request.startswith(POST)]


@contextmanager
def an_office(
    town: Town, act: Act | None, *, happens: bool = False, reading: Act | None = None
) -> Iterator[Office]:
    """Yield an office where the first post meets an act.

    happens: the message comes to be all the same. reading: the act that every look into a channel meets.
    """
    acts = [act] if act is not None else []

    def gate(connection: socket.socket) -> None:
        request = served.requests[-1]
        if request.startswith(POST) and acts:
            if happens:
                passed_on(town, request)
            acts.pop()(connection)
        elif reading is not None and b"conversations.history" in request:
            reading(connection)
        else:
            passed_on(town, request)(connection)

    with wire(gate) as served:
        told = replace(town.settings.slack, base_url=f"{served.url}/api/")
        town.settings = replace(town.settings, slack=told)
        slack = Listening(told)
        slack.outcomes = []
        yield Office(town, slack, served)


def passed_on(town: Town, request: bytes) -> Act:
    """Ask the sandbox, and return an act that gives its answer back."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    method, path, _ = first.split()
    headers = dict(line.split(": ", 1) for line in lines)
    connection = http.client.HTTPConnection(town.sandbox.url.removeprefix("http://"), timeout=10)
    try:
        connection.request(method, path, body, {k: v for k, v in headers.items() if k != "Content-Length"})
        answer = connection.getresponse()
        return answers(f"{answer.status} {answer.reason}", answer.read().decode())
    finally:
        connection.close()


def says(error: str) -> Act:
    """Return an act that refuses in Slack's words."""
    return answers("200 OK", json.dumps({"ok": False, "error": error}))


UNCLEAR: dict[str, Act] = {
    "reads the body, then closes": closes,
    "resets the connection": resets,
    "hangs": hangs,
    "cuts the body": cuts('{"ok": true'),
    "500": answers("500 Internal Server Error", ""),
    "502": answers("502 Bad Gateway", HTML),
    "503": answers("503 Service Unavailable", HTML),
    "504": answers("504 Gateway Timeout", HTML),
    "500 in Slack's words": answers("500 Oops", '{"ok": false, "error": "internal_error"}'),
    "503 in other words": answers("503 Oops", '{"ok": false, "error": "team_overloaded"}'),
    "200 with HTML": answers("200 OK", HTML, "Content-Type: text/html"),
    "fatal_error": says("fatal_error"),
    "internal_error": says("internal_error"),
    "service_unavailable": says("service_unavailable"),
}


@pytest.mark.parametrize("happens", [True, False], ids=["it happened", "it did not"])
@pytest.mark.parametrize("act", UNCLEAR.values(), ids=UNCLEAR)
def test_where_it_is_unclear_it_is_unknown_and_looked_for_before_anything_is_sent(
    town: Town,
    act: Act,
    happens: bool,  # noqa: FBT001
) -> None:
    town.add(a_notice("root"))
    with an_office(town, act, happens=happens) as office:
        first = office.turn()
        after, seen = town.notices()["root"].state, len(office.posts())
        early = office.turn()
        last = office.go_on(hours=1)

        assert [type(outcome) for outcome in office.slack.outcomes][:1] == [Unknown]
        assert (after, seen, first.complete) == (UNKNOWN, 1, False)
        assert early.postponed + early.sent == 0  # It is not looked for at once.
        assert (last.complete, town.notices()["root"].state) == (True, SENT)
        # Found after one look; or absent twice, then sent again under the same delivery id.
        assert len(office.posts()) == (1 if happens else 2)
        assert all("delivery-root" in unquote_plus(post.decode()) for post in office.posts())
        assert town.delivery_ids() == {"delivery-root": 1}


LIMIT = 300  # Seconds: the longest that Slack is obeyed.
# Not sent, for certain: whether it is this message's fault, and how many seconds it rests.
CLEAR: dict[str, tuple[Act, NoticeState, int, int | None]] = {
    "429, Retry-After 30": (answers("429 Too Many", "", "Retry-After: 30"), WAITING, 0, 30),
    "429, no Retry-After": (answers("429 Too Many", ""), WAITING, 0, 30),
    "429, Retry-After no number": (
        answers("429 Too Many", "", "Retry-After: Fri, 06 Mar 2026 12:01:00 GMT"),
        WAITING,
        0,
        30,
    ),
    "429, Retry-After 0.4": (answers("429 Too Many", "", "Retry-After: 0.4"), WAITING, 0, 1),
    "429, Retry-After a day": (answers("429 Too Many", "", "Retry-After: 86400"), WAITING, 0, LIMIT),
    "429, Retry-After beyond numbers": (answers("429 Too Many", "", "Retry-After: 9e999"), WAITING, 0, LIMIT),
    "429 with HTML": (answers("429 Too Many", HTML, "Retry-After: 5"), WAITING, 0, 5),
    "ok:false rate_limited": (says("rate_limited"), WAITING, 0, 30),
    "ok:false about our token": (says("token_expired"), WAITING, 0, 30),
    "ok:false, never heard of": (says("some_new_error"), WAITING, 1, 15),
    "ok:false about this message": (says("invalid_blocks"), UNDELIVERABLE, 1, None),
}


@pytest.mark.parametrize("row", CLEAR.values(), ids=CLEAR)
def test_where_slack_says_no_it_is_not_sent_and_not_looked_for(
    town: Town, row: tuple[Act, NoticeState, int, int | None]
) -> None:
    act, state, attempts, rests = row
    town.add(a_notice("root"))
    with an_office(town, act) as office:
        first = office.turn()
        notice, seen = town.notices()["root"], len(office.posts())
        last = office.go_on(hours=0.2)

        assert [type(outcome) for outcome in office.slack.outcomes][:1] == [NotSent]
        assert (notice.state, notice.attempts, seen, first.complete) == (state, attempts, 1, False)
        if rests is None:
            assert (first.given_up, town.delivery_ids(), len(office.posts())) == (1, {}, 1)
            assert notice.error == "Slack said invalid_blocks"
        else:
            waits = (notice.next_at - town.notices()["root"].created_at).total_seconds()
            assert rests <= waits < rests + 1
            assert (last.complete, town.delivery_ids(), len(office.posts())) == (
                True,
                {"delivery-root": 1},
                2,
            )
        assert not [each for each in office.served.requests if b"conversations." in each]


def nobody_answers_for_the_name(breaking: pytest.MonkeyPatch) -> None:
    """Let no name be looked up."""

    def nowhere(*_: object, **__: object) -> None:
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    breaking.setattr("socket.getaddrinfo", nowhere)


def nobody_listens(breaking: pytest.MonkeyPatch) -> None:
    """Let every connection be refused."""

    def refused(*_: object, **__: object) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    breaking.setattr("socket.create_connection", refused)


def there_is_no_way(breaking: pytest.MonkeyPatch) -> None:
    """Let every connection fail in another way."""

    def unreachable(*_: object, **__: object) -> None:
        raise OSError(113, "No route to host")

    breaking.setattr("socket.create_connection", unreachable)


@pytest.mark.parametrize(
    "breaks, kind, state, looks",
    [
        (nobody_answers_for_the_name, NotSent, WAITING, 0),
        (nobody_listens, NotSent, WAITING, 0),
        (there_is_no_way, Unknown, UNKNOWN, 2),
    ],
)
def test_where_no_connection_was_made_only_a_name_or_a_refusal_is_certain(  # noqa: PLR0917 - the columns of the table
    town: Town,
    monkeypatch: pytest.MonkeyPatch,
    breaks: Callable[[pytest.MonkeyPatch], None],
    kind: type,
    state: NoticeState,
    looks: int,
) -> None:
    town.add(a_notice("root"))
    with an_office(town, None) as office:
        with monkeypatch.context() as breaking:
            breaks(breaking)
            office.turn()
        after = town.notices()["root"].state
        last = office.go_on(hours=1)

        assert [type(outcome) for outcome in office.slack.outcomes][:1] == [kind]
        assert (after, last.complete, len(office.posts())) == (state, True, 1)
        assert len([each for each in office.served.requests if b"conversations.history" in each]) == looks
        assert town.delivery_ids() == {"delivery-root": 1}


@pytest.mark.parametrize("error", ["not_in_channel", "missing_scope", "internal_error", "ratelimited"])
def test_what_cannot_be_read_stays_unknown_for_a_day_and_is_shown(town: Town, error: str) -> None:
    town.add(a_notice("root"), a_notice("reply", "reply"), a_notice("other", thread="t2", target="#b"))
    with an_office(town, closes, happens=True, reading=says(error)) as office:
        office.turn()
        for _ in range(24):
            town.sleep(3600)
            report = office.turn()

    assert (report.left[UNKNOWN], report.left[WAITING], report.late, report.complete) == (1, 1, 1, False)
    assert report.reasons == (f"Slack said {error} (200) when it was asked to look.",)
    assert town.shown() == ["root", "other"]  # Nothing twice, and nobody else held up.
