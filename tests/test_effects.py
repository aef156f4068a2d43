"""A side effect that is no refund: what tools.toml declares of it, how it is asked for, checked and ended."""

import asyncio
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from recon.doors import config, intents
from recon.doors.store.engines import Database
from recon.guard import Guard, OutcomeStatus
from recon.model import registry
from recon.model.errors import ConfigurationError, DatabaseUnavailable, ProviderRefused
from recon.model.records.words import AccountId, IntentKey
from recon.model.settings import Settings
from tests.guards import LATE, eventually, statuses, told
from tests.loops import in_a_thread

HANDED = "Do not try again; hand it over to a person."
NOWHERE = "sqlite:///nowhere.db"  # For what is refused before it is opened.
PARCEL = """
[tools.send_parcel]
title = "Send a parcel"
effect = "side_effect"
operation = "parcel"
key = ["order", "part"]
fingerprint = ["to"]
repeat = "part"
finder = false
"""


class Post:
    """A post office: every parcel it was given, and what becomes of the next one."""

    LONG = 60.0  # Seconds.

    def __init__(self) -> None:
        self.wakes = threading.Event()
        self.parcels: list[tuple[str, Mapping[str, object]]] = []
        self.breaks = False
        self.seconds = 0.0

    def send(self, key: str, body: Mapping[str, object]) -> str:
        self.parcels.append((key, body))
        time.sleep(self.seconds)
        if self.breaks:
            raise TimeoutError
        return f"parcel {len(self.parcels)}"

    def hang(self, key: str, body: Mapping[str, object]) -> str:
        """Take a parcel, and say so when it wakes."""
        self.parcels.append((key, body))
        assert self.wakes.wait(self.LONG)
        return f"parcel {key}"


@pytest.fixture
def post() -> Post:
    return Post()


def settings(url: str, folder: Path, tools: str = PARCEL) -> Settings:
    (folder / "tools.toml").write_text(tools)
    return config.load({"RECON_DATABASE_URL": url}, folder)


@contextmanager
def declared(url: str, folder: Path, post: Post) -> Iterator[Guard]:
    guarded = Guard.from_settings("send_parcel", post.send, settings=settings(url, folder))
    try:
        yield guarded
    finally:
        guarded.close()


def test_a_declared_effect_has_the_key_and_the_fingerprint_of_the_file(
    database: Database, database_url: str, tmp_path: Path, post: Post
) -> None:
    """What the fingerprint does not name may be said in another way; the first call's words are sent."""
    with declared(database_url, tmp_path, post) as guarded:
        asked = [{"to": "Ana", "note": "Dear Ana"}, {"to": "Ana", "note": "Hi"}, {"to": "Ben", "note": "Hi"}]
        calls = [guarded.call({"order": "1"}, body, noun="parcel") for body in asked]
        other = guarded.call({"order": "1", "part": "b"}, asked[1], noun="parcel")

    assert statuses(*calls, other) == ["done", "already_done", "rejected", "done"]
    assert "asked for before with another to" in calls[2].message
    assert [body for _, body in post.parcels] == [asked[0], asked[1]]
    assert post.parcels[0][0].startswith("parcel:1:")


UNFIT: list[tuple[dict[str, str], dict[str, object], str]] = [
    ({"order": "1", "line": "2"}, {"to": "Ana"}, "Expected the key of send_parcel to be made of order, part"),
    ({"part": "2"}, {"to": "Ana"}, "Expected the key of send_parcel to be made of order, part"),
    ({"order": "1"}, {"note": "Hi"}, "Expected to in the body of send_parcel"),
    ({"order": "1"}, {"to": date(2026, 3, 6)}, "the body must be as JSON has it"),
    ({"order": "1"}, {"to": float("nan")}, "the body must be as JSON has it"),
    ({"order": "x" * 256}, {"to": "Ana"}, "order must have at most 255 characters"),
    (None, {"to": "Ana"}, "the fields must have texts for names"),  # type: ignore[list-item]  # from a host
    ({1: "1"}, {"to": "Ana"}, "the fields must have texts for names"),  # type: ignore[dict-item]  # as above
    ({"order": "1"}, None, "the body must be what is sent, by name; found NoneType"),  # type: ignore[list-item]  # as above
]


def test_what_the_file_does_not_declare_is_not_sent(
    database: Database, database_url: str, tmp_path: Path, post: Post
) -> None:
    with declared(database_url, tmp_path, post) as guarded:
        outcomes = [guarded.call(fields, body, noun="parcel") for fields, body, _ in UNFIT]

    assert {*statuses(*outcomes)} == {"rejected"}
    assert [why in each.message for each, (_, _, why) in zip(outcomes, UNFIT, strict=True)] == [True] * 9
    assert [HANDED in each.message for each in outcomes] == [False] * 3 + [True] * 6
    assert post.parcels == []


@pytest.mark.parametrize(
    "tool, tools, why",
    [
        ("send_parcels", PARCEL, r"did you mean send_parcel\?"),
        ("send_parcel", '[tools.send_parcel]\ntitle = "x"\neffect = "idempotent"\n', "with the effect that"),
        (
            "send_parcel",
            PARCEL.replace("false", "true"),
            "Expected a function that finds what send_parcel did",
        ),
        ("send_parcel", PARCEL.replace('"to"', '"payment"'), "Expected another word than payment"),
        ("Send Parcel", PARCEL, "Expected a tool of tools.toml"),
    ],
)
def test_a_guard_is_not_made_where_the_file_says_otherwise(
    tmp_path: Path, post: Post, tool: str, tools: str, why: str
) -> None:
    with pytest.raises(ConfigurationError, match=why):
        Guard.from_settings(tool, post.send, settings=settings(NOWHERE, tmp_path, tools))


def test_a_finder_that_the_file_does_not_declare_is_refused(
    database: Database, tmp_path: Path, post: Post
) -> None:
    with pytest.raises(ConfigurationError, match="Expected no function that finds"):
        Guard.from_settings("send_parcel", post.send, lambda *_: None, settings=settings(NOWHERE, tmp_path))
    with pytest.raises(ConfigurationError, match="Expected a tool's name in lower case"):
        Guard("Send Parcel", post.send, engine=database)


def test_what_nothing_can_look_for_is_for_a_person_and_stays_so(database: Database, post: Post) -> None:
    guarded = Guard("send_parcel", post.send, engine=database)
    post.breaks = True
    first, second = (guarded.call({"order": "1"}, {}, noun="parcel") for _ in range(2))
    seen = guarded.check({"order": "1"}, noun="parcel")

    assert statuses(first, second, seen) == ["pending_unknown"] * 3
    assert len({told(each) for each in (first, second, seen)}) == 1
    assert "A person has to look into it." in seen.message
    assert (guarded.settle().unknown, len(post.parcels)) == (1, 1)


@pytest.mark.parametrize(
    "done, status, word", [(True, "already_done", "is done"), (False, "rejected", "ana found")]
)
def test_a_person_says_what_became_of_it(
    database: Database, post: Post, *, done: bool, status: str, word: str
) -> None:
    guarded = Guard("send_parcel", post.send, engine=database)
    post.breaks = True
    guarded.call({"order": "1"}, {}, noun="parcel")
    found = guarded.conclude({"order": "1"}, done=done, by="ana", noun="parcel")
    late = guarded.conclude({"order": "1"}, done=not done, by="bo", noun="parcel")
    again = guarded.call({"order": "1"}, {}, noun="parcel")

    assert statuses(found, late, again) == [status] * 3
    assert word in again.message
    assert len(post.parcels) == 1


class Unwritable:
    """What breaks when its text is asked for."""

    def __str__(self) -> str:
        raise ZeroDivisionError


def test_who_asked_need_not_have_a_text(database: Database, post: Post) -> None:
    guarded = Guard("send_parcel", post.send, engine=database)
    first = guarded.call({"order": "1"}, {}, noun="parcel", call_id=Unwritable())  # type: ignore[arg-type]  # from a host

    assert statuses(first) == ["done"]


@pytest.mark.parametrize("named", ["x\0y", "\ud800", "", 7, ["parcel 7"]])
def test_a_person_names_what_was_made_by_what_can_be_kept(database: Database, post: Post, named: Any) -> None:  # noqa: ANN401  # from a host
    guarded = Guard("send_parcel", post.send, engine=database)
    post.breaks = True
    guarded.call({"order": "1"}, {}, noun="parcel")
    refused = guarded.conclude({"order": "1"}, done=True, by="ana", noun="parcel", result_id=named)
    found = guarded.conclude({"order": "1"}, done=True, by="ana", noun="parcel", result_id="parcel 7")

    assert statuses(refused, found) == ["rejected", "already_done"]
    assert "result_id must be the id of what was made" in refused.message
    assert found.refund_id == "parcel 7"


def test_a_secret_that_a_refusal_quotes_is_neither_kept_nor_told(database: Database) -> None:
    def send(_key: str, _body: Mapping[str, object]) -> str:
        raise ProviderRefused("Invalid key sk_" + "live_51Habc; smtp://bob:hunter2@mail")

    guarded = Guard("send_parcel", send, engine=database)
    first = guarded.call({"order": "1"}, {}, noun="parcel")
    with database.read() as connection:
        row = intents.read(connection, AccountId(""), IntentKey(str(first.intent_key)))

    assert row is not None
    assert row.refusal == "Invalid key ***; smtp://***@mail"
    assert row.refusal in first.message


def test_a_person_says_nothing_of_what_was_not_sent_or_is_under_way(database: Database, post: Post) -> None:
    clock = [LATE]
    guarded = Guard("send_parcel", post.send, engine=database, clock=lambda: clock[0])
    never = guarded.conclude({"order": "1"}, done=True, by="ana", noun="parcel")
    post.breaks = True
    guarded.call({"order": "1"}, {}, noun="parcel")
    with database.write() as connection:
        (row,) = intents.due(connection, ["send_parcel"], now=LATE + timedelta(days=1), limit=9)
        assert intents.take(connection, row, "another", now=LATE, until=LATE + timedelta(minutes=1))
    busy = guarded.conclude({"order": "1"}, done=True, by="ana", noun="parcel")

    assert told(never) == ("rejected", "No parcel was ever asked for. Nothing was sent.")
    assert statuses(busy) == ["pending_unknown"]


def test_what_is_checked_is_looked_for_and_never_sent(database: Database, post: Post) -> None:
    shown: list[str] = []
    guarded = Guard("send_parcel", post.send, lambda *_: shown[0] if shown else None, engine=database)
    nothing = guarded.check({"order": "1"}, noun="parcel")
    post.breaks = True
    guarded.call({"order": "1"}, {}, noun="parcel")
    early = guarded.check({"order": "1"}, noun="parcel")
    shown.append("parcel 7")
    late = guarded.check({"order": "1"}, noun="parcel")
    done = guarded.check({"order": "1"}, noun="parcel")
    unfit = guarded.check({}, noun="parcel")

    assert statuses(nothing, early, late, done, unfit) == [
        "rejected",
        "pending_unknown",
        "already_done",
        "already_done",
        "rejected",
    ]
    assert (late.refund_id, len(post.parcels)) == ("parcel 7", 1)


def test_what_another_tool_of_the_operation_began_is_looked_for(database: Database, post: Post) -> None:
    two = PARCEL + PARCEL.replace("send_parcel", "post_parcel")
    tools = registry.parse([tomllib.loads(two.replace("false", "true"))])
    shown: list[str] = []

    def guard(name: str) -> Guard:
        def find(*_: object) -> str | None:
            return shown[0] if shown else None

        return Guard(name, post.send, find, engine=database, declared=tools[name])

    post.breaks = True
    first, asked = guard("send_parcel"), guard("post_parcel")
    first.call({"order": "1"}, {"to": "Ana"}, noun="parcel")
    early = asked.check({"order": "1"}, noun="parcel")
    shown.append("parcel 7")
    late = asked.check({"order": "1"}, noun="parcel")
    again = asked.call({"order": "1"}, {"to": "Ana"}, noun="parcel")

    assert statuses(early, late, again) == ["pending_unknown", "already_done", "already_done"]
    assert len(post.parcels) == 1


def test_a_check_without_books_is_unknown(
    database: Database, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise DatabaseUnavailable("gone")

    guarded = Guard("send_parcel", post.send, engine=database)
    monkeypatch.setattr(intents, "read", away)

    assert statuses(guarded.check({"order": "1"}, noun="parcel")) == ["pending_unknown"]


@in_a_thread
async def test_it_is_asked_for_and_checked_beside_an_event_loop(database: Database, post: Post) -> None:
    guarded = Guard("send_parcel", post.send, engine=database)
    post.seconds = 0.2
    turns: list[float] = []
    beating = asyncio.create_task(beats(turns))
    calls = await asyncio.gather(*(guarded.acall({"order": "1"}, {}, noun="parcel") for _ in range(3)))
    seen = await guarded.acheck({"order": "1"}, noun="parcel")
    beating.cancel()

    assert sorted(statuses(*calls)) == ["already_done", "already_done", "done"]
    assert (statuses(seen), len(post.parcels)) == (["already_done"], 1)
    assert len(turns) > 1


async def beats(seen: list[float]) -> None:
    """Note that the event loop turns."""
    while True:
        seen.append(time.monotonic())
        await asyncio.sleep(0.01)


@in_a_thread
async def test_it_is_answered_by_its_deadline_though_the_sender_hangs(
    database: Database, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the sender returns when it wakes is written down. Here time is over once both are at it."""

    def over(*_: object) -> float:
        eventually(lambda: len(post.parcels) == 2)
        return 0.0

    monkeypatch.setattr("recon.callers._Turn.left", over)
    guarded = Guard("send_parcel", post.hang, engine=database)
    plain, turned = await asyncio.gather(
        asyncio.to_thread(guarded.call, {"order": "1"}, {}, noun="parcel"),
        guarded.acall({"order": "2"}, {}, noun="parcel"),
    )
    post.wakes.set()

    def done() -> bool:
        seen = [guarded.check({"order": order}, noun="parcel") for order in "12"]
        return statuses(*seen) == ["already_done", "already_done"]

    assert statuses(plain, turned) == ["pending_unknown", "pending_unknown"]
    assert "A person has to look into it." in plain.message
    assert {plain.intent_key, turned.intent_key} == {key for key, _ in post.parcels}
    await asyncio.to_thread(eventually, done)
    assert len(post.parcels) == 2
    guarded.close()


@in_a_thread
async def test_whoever_is_cancelled_hears_of_it_and_the_answer_is_written_down(
    database: Database, post: Post
) -> None:
    guarded = Guard("send_parcel", post.send, engine=database)
    post.seconds = 0.5
    asked = asyncio.create_task(guarded.acall({"order": "1"}, {}, noun="parcel"))
    await asyncio.to_thread(eventually, lambda: post.parcels)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked

    def done() -> bool:
        return guarded.check({"order": "1"}, noun="parcel").status is OutcomeStatus.ALREADY_DONE

    await asyncio.to_thread(eventually, done)
    assert len(post.parcels) == 1


@in_a_thread
async def test_a_guard_that_is_closed_sends_nothing_and_does_not_raise(
    database: Database, database_url: str, tmp_path: Path, post: Post
) -> None:
    with declared(database_url, tmp_path, post) as guarded:
        pass
    outcome = await guarded.acall({"order": "1"}, {"to": "Ana"}, noun="parcel")
    seen = await guarded.acheck({"order": "1"}, noun="parcel")
    plain = guarded.call({"order": "1"}, {"to": "Ana"}, noun="parcel")

    assert (statuses(outcome, seen), post.parcels) == (["rejected", "pending_unknown"], [])
    assert told(plain) == told(outcome)
