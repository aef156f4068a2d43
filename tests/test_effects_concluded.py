"""What a person says became of a side effect: it is kept with who and when, and is no call."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, select

from recon.doors import intents
from recon.doors.store import calls, latencies
from recon.doors.store.engines import Database
from recon.guard import Guard, Outcome
from recon.model.guarded import calls as table
from recon.model.records.guarded import Guarded, Wanted
from recon.model.records.words import AccountId, IntentKey
from recon.rules import keys
from tests.guards import LATE, statuses

FIELDS = {"order": "1"}
MINUTE = timedelta(minutes=1)


@dataclass
class Office:
    """A post office whose answers are lost, and its books."""

    database: Database
    now: datetime = LATE

    def __post_init__(self) -> None:
        self.guard = Guard("send_parcel", self.send, engine=self.database, clock=lambda: self.now)

    def send(self, key: str, _: Mapping[str, object]) -> str:
        """Take a parcel."""
        raise TimeoutError(key)

    def call(self) -> Outcome:
        """Ask for the parcel."""
        return self.guard.call(FIELDS, {}, noun="parcel")

    def conclude(self, **said: Any) -> Outcome:  # noqa: ANN401  # of conclude
        """Say what became of it."""
        named: dict[str, Any] = {"done": True, "by": "ana", "noun": "parcel"}
        return self.guard.conclude(FIELDS, **(named | said))

    def row(self) -> Guarded:
        """Return what the books say of it."""
        with self.database.read() as connection:
            found = intents.read(connection, AccountId(""), key())
        assert found is not None
        return found

    def record(self) -> list[Any]:
        """Return the recorded calls."""
        with self.database.read() as connection:
            return list(connection.execute(select(table).order_by(table.c.number)))


def key() -> IntentKey:
    return keys.make("send_parcel", AccountId(""), FIELDS)


@pytest.fixture
def office(database: Database) -> Office:
    return Office(database)


@pytest.mark.parametrize("done, status", [(True, "done"), (False, "failed")])
def test_who_said_it_is_kept_with_what_and_when(office: Office, *, done: bool, status: str) -> None:
    made = "parcel 7" if done else None
    office.call()
    office.now += MINUTE
    office.conclude(done=done, by="an\0a", result_id=made)
    office.conclude(done=not done, by="bo")
    _, kept = office.record()

    assert (kept.tool, kept.account, kept.intent_key) == ("send_parcel", "", key())
    assert (kept.caller, kept.asked_at, kept.answered_at) == (
        "an\N{REPLACEMENT CHARACTER}a",
        office.now,
        office.now,
    )
    assert (kept.answer, kept.asked) == ("concluded", {"status": status, "result_id": made})


def test_it_is_no_call_to_an_alert_or_a_figure(office: Office) -> None:
    office.call()
    office.conclude()
    asked, _ = calls.since(office.database, LATE)
    timed, _ = latencies.since(office.database, LATE)

    assert ([each.answer for each in asked], len(timed)) == (["pending_unknown"], 1)


def test_of_what_was_never_sent_nothing_is_taken_or_kept(office: Office) -> None:
    """A call that was killed before it sent left the row, and its lease has lapsed."""
    wanted = Wanted("send_parcel", "parcel", AccountId(""), key(), {}, {})
    with office.database.write() as connection:
        intents.enter(connection, wanted, "another", now=LATE, until=LATE)
    before = office.row()
    said = office.conclude()

    assert statuses(said) == ["rejected"]
    assert "nobody has sent it" in said.message
    assert (office.row(), office.record()) == (before, [])


@pytest.mark.parametrize("by", ["", " \u200b", None, 7])
def test_it_is_somebody_who_says_it(office: Office, by: Any) -> None:  # noqa: ANN401  # from a host
    office.call()
    said = office.conclude(by=by)

    assert statuses(said) == ["rejected"]
    assert "by must say who found it out" in said.message
    assert str(office.row().status) == "pending_unknown"


def test_a_lease_that_lapsed_while_a_person_waited_is_in_nobodys_way(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.call()
    with office.database.write() as connection:
        assert intents.take(connection, office.row(), "another", now=LATE, until=LATE + MINUTE)
    write = Database.write

    def late(database: Database, **named: float) -> AbstractContextManager[Connection]:
        monkeypatch.undo()
        office.now += MINUTE
        return write(database, **named)

    monkeypatch.setattr(Database, "write", late)

    assert statuses(office.conclude()) == ["already_done"]
