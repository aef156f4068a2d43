"""How long calls took, from what the guard itself writes down of them."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from sqlalchemy import update

from recon.doors.store import latencies
from recon.doors.store.engines import Database
from recon.guard import Guard
from recon.model.guarded import calls
from recon.model.records.latencies import Timed
from tests.builders import NOON

SECOND = timedelta(seconds=1)


@dataclass
class Office:
    """A tool whose sends take as long as a test says, by a clock of its own."""

    database: Database
    now: datetime = NOON
    takes: list[tuple[float, bool]] = field(default_factory=list)  # Seconds, and whether an answer came.

    def send(self, key: str, _: object) -> str:
        """Take that long."""
        seconds, answered = self.takes.pop(0)
        self.now += seconds * SECOND
        if not answered:
            raise TimeoutError
        return f"made for {key}"

    def find(self, key: str, _: object) -> str | None:
        """Find what was made a second later."""
        self.now += SECOND
        return f"made for {key}" if key.startswith("found") else None

    def ask(self, tool: str, order: str, seconds: float, *, answered: bool = True) -> None:
        """Call it once."""
        self.takes = [(seconds, answered)]
        guard = Guard(tool, self.send, self.find, engine=self.database, clock=lambda: self.now)
        guard.call({"order_id": order}, {}, noun="a thing")
        self.now += 60 * SECOND

    def times(self, since: datetime = NOON, **more: object) -> tuple[tuple[Timed, ...], datetime]:
        """Return what is read back."""
        return latencies.since(self.database, since, **more)  # type: ignore[arg-type]  # of since


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database)


def test_a_call_is_timed_and_its_send_where_the_answer_is_known(office: Office) -> None:
    office.ask("pay", "1", 3)
    office.ask("pay", "1", 9)  # It is done already.
    office.ask("pay", "2", 10, answered=False)
    office.ask("found", "1", 10, answered=False)  # The answer is lost, and a look-up finds it.

    times, since = office.times()
    assert since == NOON
    assert list(reversed(times)) == [
        Timed("pay", 3 * SECOND, 3 * SECOND),
        Timed("pay", 0 * SECOND),
        Timed("pay", 11 * SECOND, unknown=True),
        Timed("found", 11 * SECOND, 10 * SECOND),
    ]


def test_what_nobody_was_told_has_no_time(office: Office) -> None:
    office.ask("pay", "1", 3)
    with office.database.write() as connection:
        connection.execute(update(calls).values(answered_at=None, answer=None))

    assert office.times()[0] == (Timed("pay", None),)


def test_calls_of_a_time_and_of_one_tool_are_read_and_no_more_than_the_limit(office: Office) -> None:
    for number in range(4):
        office.ask("pay" if number % 2 else "mail", str(number), 1)
    third = NOON + 2 * 61 * SECOND

    assert [each.tool for each in office.times()[0]] == ["pay", "mail"] * 2
    assert [each.tool for each in office.times(tool="mail")[0]] == ["mail"] * 2
    assert [each.tool for each in office.times(third)[0]] == ["pay", "mail"]
    times, since = office.times(limit=2)
    assert (len(times), since) == (2, third - 61 * SECOND + timedelta(microseconds=1))
