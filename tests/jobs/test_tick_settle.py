"""The tick looks up what the guarded tool left unknown, after all else, and needs no key until then."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs import tick
from recon import guard
from recon.doors.store.engines import Database
from recon.model.settings import Settings
from tests.guards import LISTS, REFUNDS, a_shop
from tests.jobs.conftest import Log
from tests.sandboxes import Street


def test_what_is_unknown_is_settled_and_said_in_the_log(
    street: Street, database: Database, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    street.control("reset")
    with a_shop(database, street, now=datetime.now(UTC)) as shop:
        street.fault(REFUNDS, "drop_after")
        street.fault(LISTS, "500_before")
        shop.refund()
        later = shop.now + timedelta(minutes=2)
        monkeypatch.setattr(tick, "utc_now", lambda: later)
        posts = len(shop.posts())

        tick.main()

        assert (shop.status(), len(shop.posts())) == ("done", posts)
        assert [line["done"] for line in log() if line["event"] == "settled"] == [1]


def test_with_nothing_unknown_no_key_is_asked_for(database: Database) -> None:
    assert guard.settle(database, Settings()).looked == 0


def test_a_key_that_is_missing_keeps_no_message_back(
    street: Street, database: Database, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    street.control("reset")
    with a_shop(database, street, now=datetime.now(UTC)) as shop:
        street.fault(REFUNDS, "drop_before")
        shop.refund()
        monkeypatch.setattr(tick, "utc_now", lambda: shop.now + timedelta(minutes=2))
    monkeypatch.delenv("STRIPE_API_KEY")

    assert tick.main() == 2
    failed = [line for line in log() if line["event"] == "failed"]
    assert [(line["part"], "STRIPE_API_KEY" in line["reason"]) for line in failed] == [("settle", True)]
