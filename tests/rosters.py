"""Two owners, their rules, and cases that the shipped rules gave to others: for tests of who owns what."""

from datetime import UTC, datetime, timedelta
from typing import Any

from recon import assigning
from recon.assigning import Applied
from recon.doors.store import cases as book
from recon.doors.store.engines import Database
from recon.model.changes import Illegal
from recon.model.records.cases import Case, Change, Owner
from recon.model.records.words import Actor
from recon.model.settings import Settings, SlackSettings
from recon.rules import moves
from tests import seeds
from tests.builders import NOON

NOW = datetime(2026, 3, 6, 23, 30, tzinfo=UTC)
EVERYTHING = {"name": "everything", "owner": "refund operators", "target": "#refund-operators"}
LEADS = {
    "target": "#leads",
    "group": "S0123",
    "zone": "Europe/Berlin",
    "quiet_hours": "22:00-07:00",
    "escalation": [{"after_minutes": 60, "owner": "refund operators"}],
}
DOUBLES = {"name": "doubles", "kind": "duplicate", "owner": "leads"}
OPERATORS = Owner("refund operators", "#refund-operators", "everything")
LEAD = Owner("leads", "#leads", "doubles")


def ruled(*rules: dict[str, Any], severities: list[dict[str, Any]] | None = None) -> Settings:
    """Settings with these rules after the catch-all; every case is high, as the seeded doubles are."""
    owners = {"rules": [EVERYTHING, *rules], "owners": {"leads": LEADS}}
    owners["severities"] = severities or [{"level": "high"}]
    return Settings(owners=owners, slack=SlackSettings(operators_channel="#operators"))


SETTINGS = ruled(DOUBLES)


def doubles(database: Database) -> tuple[Case, ...]:
    """Seed three orders that were refunded twice, which the operators own."""
    seen = [seeds.duplicate(number, at=NOON + timedelta(hours=number)) for number in range(3)]
    return seeds.run(database, seen, now=NOW - timedelta(minutes=10))


def apply(database: Database, settings: Settings = SETTINGS, **options: Any) -> Applied:  # noqa: ANN401  # as apply takes
    return assigning.apply(database, settings, **{"clock": lambda: NOW} | options)


def as_stored(database: Database, case: Case) -> Case:
    found = book.get(database, case.id)
    assert found is not None
    return found


def move(database: Database, change: Change | Illegal) -> Case:
    assert isinstance(change, Change), change
    book.move(database, change)
    return change.case


def by_hand(database: Database, case: Case) -> Case:
    """Give a case to Cy, by Ana's hand."""
    cy = Owner("Cy", "U0CY", "assigned by Ana")
    by: dict[str, Any] = {"actor": Actor("Ana"), "reason": "Hers.", "now": NOW, "action_id": f"a-{case.id}"}
    return move(database, moves.assign(case, owner=cy, **by))
