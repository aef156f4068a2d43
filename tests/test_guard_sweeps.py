"""A sweep ends where the world is silent, and goes on where it answers and proves nothing."""

from collections.abc import Mapping

import pytest

from recon.doors.store.engines import Database
from recon.guard import Guard
from recon.handling import Finder
from tests.guards import REFUNDS, Shop

LETTERS = 5


def lost(key: str, _: Mapping[str, object]) -> str:
    raise TimeoutError(key)


def away(key: str, _: Mapping[str, object]) -> str:
    raise ConnectionError(key)


def nothing(_key: str, _: Mapping[str, object]) -> None:
    """Find nothing, which says nothing of a letter that is under way."""


def nonsense(_key: str, _: Mapping[str, object]) -> str:
    return {"id": "letter 1"}  # type: ignore[return-value]  # from a host


@pytest.mark.parametrize(
    "find, looked, unreadable",
    [(None, LETTERS, 0), (nothing, LETTERS, 0), (nonsense, LETTERS, 0), (away, 3, 3)],
)
def test_letters_that_nobody_can_find_starve_no_others(
    database: Database, find: Finder | None, looked: int, unreadable: int
) -> None:
    guarded = Guard("send_letter", lost, find, engine=database)
    for number in range(LETTERS):
        guarded.call({"number": number}, {}, noun="letter")
    swept = guarded.settle()

    assert (swept.looked, swept.unknown, swept.unreadable) == (looked, looked, unreadable)
    guarded.close()


def test_refunds_of_payments_that_nobody_knows_any_more_starve_no_others(shop: Shop) -> None:
    for number in range(LETTERS):
        shop.street.payment(f"pi_s{number}", 5000)
        shop.street.fault(REFUNDS, "drop_after")
        shop.street.fault("GET /v1/refunds", "500_before")
        shop.refund(str(number), payment=f"pi_s{number}")
    shop.pass_time(minutes=2)
    shop.street.control("reset")
    shop.street.set_time(shop.now.isoformat())
    swept = shop.tool.settle()

    assert (swept.looked, swept.unknown, swept.unreadable) == (LETTERS, LETTERS, 0)
