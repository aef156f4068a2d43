from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
import structlog
from sqlalchemy import Connection

from jobs.presence import BEAT, LASTS, Presence
from recon.doors.store import leases
from recon.doors.store.engines import Database
from recon.model.errors import DatabaseUnavailable
from recon.model.records.clicks import LISTENER
from tests.builders import NOON


class Time:
    """A clock that somebody moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


def held(database: Database, time: Time) -> bool:
    return leases.held(database, LISTENER, now=time()) is not None


def test_whoever_is_connected_is_seen_and_whoever_left_is_not(database: Database, time: Time) -> None:
    presence = Presence(database, time)
    seen = []
    for there in (False, True, False, True):
        presence.turn(there=there)
        seen.append(held(database, time))
    presence.leave()

    assert seen == [False, True, False, True]
    assert not held(database, time)


def test_a_sign_of_life_lasts_until_it_is_missed(database: Database, time: Time) -> None:
    presence = Presence(database, time)
    seen = []
    for _ in range(10):
        presence.turn(there=True)
        time.now += BEAT
        seen.append(held(database, time))
    time.now += LASTS
    seen.append(held(database, time))

    assert seen == [True] * 10 + [False]


def test_a_second_listener_says_nothing_until_the_first_is_gone(database: Database, time: Time) -> None:
    first, second = Presence(database, time), Presence(database, time)
    found = [first.turn(there=True), second.turn(there=True)]
    first.leave()
    time.now += BEAT
    found += [second.turn(there=True), held(database, time)]

    assert found == [True, False, True, True]


def test_a_listener_that_slept_does_not_speak_for_the_one_that_took_over(
    database: Database, time: Time
) -> None:
    first, second = Presence(database, time), Presence(database, time)
    first.turn(there=True)
    time.now += LASTS
    found = [second.turn(there=True), first.turn(there=True)]
    first.leave()

    assert found == [True, False]
    assert held(database, time)


class Away(Database):
    """A database that can be taken away."""

    gone = False

    @contextmanager
    def write(self, *, wait_seconds: float | None = None) -> Iterator[Connection]:
        if self.gone:
            raise DatabaseUnavailable("Expected SQLite to answer, found that the disk is full.")
        with super().write(wait_seconds=wait_seconds) as connection:
            yield connection


def test_a_database_that_is_away_ends_nothing(database_url: str, time: Time) -> None:
    with Away.open(database_url) as database, structlog.testing.capture_logs() as logged:
        presence = Presence(database, time)
        presence.turn(there=True)
        database.gone = True
        time.now += BEAT
        presence.turn(there=True)
        database.gone = False
        time.now += BEAT
        presence.turn(there=True)
        time.now += LASTS - timedelta(seconds=1)

        assert held(database, time)
        assert [each["event"] for each in logged] == ["presence"]
