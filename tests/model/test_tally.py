from datetime import timedelta

import pytest

from recon.model import tally
from recon.model.records.progress import Pulling
from recon.model.records.provider import RefundEvent
from recon.model.records.runs import Account, Cursors
from recon.model.records.words import RefundId
from recon.model.tally import Tally
from tests.builders import NOON, PLATFORM

HOUR = timedelta(hours=1)


def a_tally() -> Tally:
    return Tally(Account(PLATFORM), Cursors(), Pulling(PLATFORM, 1, 1))


@pytest.mark.parametrize("order", [1, -1])
def test_of_a_refund_s_events_the_latest_time_and_the_only_key_are_kept(order: int) -> None:
    made = RefundEvent(RefundId("re_1"), "call-7", NOON)
    failed = RefundEvent(RefundId("re_1"), None, NOON + HOUR)
    found = a_tally()
    found.note([made, failed][::order])

    assert found.hints == {made.refund_id: failed._replace(request_key="call-7")}


def test_what_broke_off_is_incomplete_and_says_why() -> None:
    found = a_tally()
    found.turn(2, 0)
    reading = found.pulled(NOON, NOON + HOUR, "it broke off").reading

    assert (reading.complete, reading.pages, reading.error) == (False, 2, "it broke off")
    assert found.pulled(NOON, NOON + HOUR, None).reading.complete


def test_of_nothing_there_is_no_page_and_no_completeness() -> None:
    reading = tally.nothing(Account(PLATFORM), NOON, NOON, "it is away").reading

    assert (reading.complete, reading.pages, reading.refunds, reading.error) == (False, 0, 0, "it is away")
