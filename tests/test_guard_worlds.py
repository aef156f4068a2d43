"""No order of calls, deaths, lost answers and passing time refunds twice; each safeguard left out shows."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recon.doors import intents
from recon.doors.store.engines import Database
from recon.model.records.guarded import Answer, AnswerKind, Guarded
from recon.rules import guarding
from tests import guard_worlds
from tests.databases import MEMORY

ONE, TWO = ("8812", "8812"), ("1", "2")
BEHIND = ("2", "1", "1")  # Two calls of one order, and another on its payment, for which both wait.
WALKS = 20  # Random schedules for each pair, beside all with one deviation.


@pytest.fixture(scope="module")
def books(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One database for all schedules, in memory where the system has that; each begins with an empty one."""
    folder = tmp_path_factory.mktemp("worlds")
    name = f"recon-{folder.parent.name}-{folder.name}.db"
    place = (MEMORY if MEMORY.is_dir() else folder) / name
    shutil.copyfile(sqlite_template, place)
    with Database.open(f"sqlite:///{place}") as opened:
        yield opened
    for each in place.parent.glob(f"{place.name}*"):
        each.unlink()


def walk(random: Random) -> list[int]:
    """Return choices that are mostly calm."""
    return [random.randrange(8) if random.random() < 0.25 else 0 for _ in range(80)]


def singles(books: Database, orders: tuple[str, str]) -> Iterator[tuple[int, ...]]:
    """Yield every schedule with one deviation from the calm one."""
    calm = guard_worlds.run(books, orders, ())
    yield from guard_worlds.deviations(calm.told, ())


@pytest.mark.parametrize("orders", [ONE, TWO])
def test_every_schedule_with_one_deviation_refunds_once(books: Database, orders: tuple[str, str]) -> None:
    played = 0
    for schedule in singles(books, orders):
        guard_worlds.run(books, orders, schedule)
        played += 1

    assert played > 60


@pytest.mark.parametrize("orders, turn", [(ONE, 1), (TWO, 1), (BEHIND, 2)])
def test_every_schedule_with_two_turns_refunds_once(
    books: Database, orders: tuple[str, ...], turn: int
) -> None:
    calm = guard_worlds.run(books, orders, ())
    played = 0
    for schedule in guard_worlds.switches_of(calm.told, turn):
        guard_worlds.run(books, orders, schedule)
        played += 1

    assert played > 60


@pytest.mark.parametrize("orders", [ONE, TWO])
@pytest.mark.parametrize("seed", range(WALKS))
def test_a_random_schedule_refunds_once(books: Database, orders: tuple[str, str], seed: int) -> None:
    guard_worlds.run(books, orders, walk(Random(seed)))


def no_lease_nor_fence(patch: pytest.MonkeyPatch) -> None:
    """Whoever asks may act, whoever else is at it: shown by those who wait with what they read before."""
    take, write = intents.take, intents.write

    def taken(connection: Any, row: Guarded, holder: str, **when: Any) -> Guarded | None:  # noqa: ANN401  # of take
        return take(connection, row, holder, **{**when, "now": row.until})

    def written(connection: Any, row: Guarded, **more: Any) -> None:  # noqa: ANN401  # of write
        now = intents.read(connection, row.account, row.key)
        assert now is not None
        write(connection, replace(row, fence=now.fence), **more)

    patch.setattr(intents, "take", taken)
    patch.setattr(intents, "write", written)


def no_bar(patch: pytest.MonkeyPatch) -> None:
    """Another intent of the payment under way bars nothing."""
    patch.setattr(intents, "blocked", lambda *_: None)


def no_mark(patch: pytest.MonkeyPatch) -> None:
    """Nothing says that a request was sent before it is answered."""
    write = intents.write

    def written(connection: Any, row: Guarded, **more: Any) -> None:  # noqa: ANN401  # of write
        if more.get("release") is None:
            row = replace(row, first_sent_at=None, sent_at=None, sends=0)
        write(connection, row, **more)

    patch.setattr(intents, "write", written)


def one_miss(patch: pytest.MonkeyPatch) -> None:
    """One look-up that finds nothing is a proof."""
    patch.setattr(guarding, "PROOF", 1)


def any_miss(patch: pytest.MonkeyPatch) -> None:
    """Look-ups count however soon they follow."""
    patch.setattr(guarding, "_counts", lambda *_: True)


def for_ever(patch: pytest.MonkeyPatch) -> None:
    """A key protects for ever."""
    ages = replace(guard_worlds.SETTINGS, resend_within=timedelta(days=999))
    patch.setattr(guard_worlds, "SETTINGS", ages)


def failed_is_failed(patch: pytest.MonkeyPatch) -> None:
    """An error means that nothing happened."""
    send = guard_worlds.Hands.send

    def believed(hands: Any, row: Guarded, **more: Any) -> Answer:  # noqa: ANN401  # of send
        answer = send(hands, row, **more)
        return replace(answer, kind=AnswerKind.NOT_SENT) if answer.kind is AnswerKind.UNKNOWN else answer

    patch.setattr(guard_worlds.Hands, "send", believed)


# What is left out, and whose calls show it.
SAFEGUARDS = [
    (no_lease_nor_fence, BEHIND),
    (no_bar, TWO),
    (no_mark, ONE),
    (one_miss, ONE),
    (any_miss, ONE),
    (for_ever, ONE),
    (failed_is_failed, ONE),
]


@pytest.mark.parametrize("left_out, orders", SAFEGUARDS, ids=[each.__name__ for each, _ in SAFEGUARDS])
def test_each_safeguard_left_out_shows(
    books: Database,
    monkeypatch: pytest.MonkeyPatch,
    left_out: Any,  # noqa: ANN401  # one of these
    orders: tuple[str, ...],
) -> None:
    calm = guard_worlds.run(books, orders, ())
    left_out(monkeypatch)

    with pytest.raises(guard_worlds.Broken):
        play_all(books, orders, calm.told)


def play_all(books: Database, orders: tuple[str, ...], told: list[int]) -> None:
    """Play what is lost, then one deviation, two turns, one after a loss, until something breaks."""
    lost = list(guard_worlds.losses(told))
    turns = [schedule for turn in (2, 1) for schedule in guard_worlds.switches_of(told, turn)]
    for schedule in (*lost, *guard_worlds.deviations(told, ()), *turns):
        guard_worlds.run(books, orders, schedule)
    for loss in lost:
        for schedule in guard_worlds.deviations(guard_worlds.run(books, orders, loss).told, loss):
            guard_worlds.run(books, orders, schedule)
