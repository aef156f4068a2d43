"""What `recon status` says of guarded tools whose effects nobody knows of."""

from datetime import timedelta

import pytest

from recon.cli import status
from recon.doors import config
from recon.doors.store.engines import Database
from recon.guard import Guard
from tests.guards import LATE


def away(*_: object) -> str:
    """Send something, perhaps."""
    raise TimeoutError


def refused(*_: object) -> str:
    """Look in vain."""
    raise ConnectionError


@pytest.fixture
def guard(database: Database) -> Guard:
    return Guard("charge_card", away, refused, engine=database, clock=lambda: LATE)


def test_unknown_effects_of_every_guarded_tool_are_counted(database: Database, guard: Guard) -> None:
    made = Guard("send_letter", lambda *_: "17", engine=database, clock=lambda: LATE)
    for invoice in ("1", "2"):
        guard.call({"invoice": invoice}, {"amount": 4900}, noun="charge")
    made.call({"letter": "1"}, {}, noun="letter")

    found = status.facts(database, config.load({}), now=LATE + timedelta(minutes=12))

    assert found["unsettled"] == [
        {"tool": "charge_card", "unknown": 2, "since": "2026-03-06T23:59:50Z", "age_seconds": 720}
    ]
    told = "unknown effects    charge_card: 2 unknown, oldest 12 min: recon guard unknown"
    lines = status.as_text(found).splitlines()
    assert told in lines
    assert "money at risk      none; unknown effects without a case are not in it" in lines


def test_what_a_person_settled_or_a_call_is_at_is_not_unknown(database: Database, guard: Guard) -> None:
    guard.call({"invoice": "1"}, {"amount": 4900}, noun="charge")
    guard.conclude({"invoice": "1"}, done=True, by="ana", noun="charge")
    seen = []

    def looking(*_: object) -> str:
        seen.append(status.facts(database, config.load({}), now=LATE)["unsettled"])
        return "17"

    Guard("charge_card", looking, engine=database, clock=lambda: LATE).call({"invoice": "2"}, {}, noun="c")

    assert seen == [[]]
