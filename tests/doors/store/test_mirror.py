from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from recon.doors.store import mirror
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.provider import Refund, RefundEvent
from recon.model.records.runs import Account, Cursors
from recon.model.records.words import AccountId, IntentKey, RefundId
from tests.builders import NOON, PLATFORM, a_refund
from tests.doors.store.books import a_lease, count

OTHER = AccountId("acct_2")


def stored(database: Database) -> list[Refund]:
    query = select(tables.refunds).order_by(tables.refunds.c.account, tables.refunds.c.id)
    with database.read() as connection:
        return [mirror.record(row) for row in connection.execute(query)]


def test_a_page_is_saved_and_counted_once(database: Database) -> None:
    lease = a_lease(database)
    page = [
        a_refund(),
        a_refund(id="re_2", system=True, reason="expired_uncaptured_charge"),
        a_refund(account=OTHER),
    ]

    assert mirror.save_page(database, lease, page) == 3
    assert mirror.save_page(database, lease, page) == 0
    assert stored(database) == [page[1], page[0], page[2]]


def test_what_does_not_change_is_no_touch(database: Database) -> None:
    lease = a_lease(database)
    mirror.save_page(database, lease, [a_refund()])
    before = count(database, "touches")

    mirror.save_page(database, lease, [a_refund(intent_key=None, status="pending")])

    assert count(database, "touches") == before


@pytest.mark.parametrize(
    "known, told, after",
    [
        ("pending", "requires_action", "requires_action"),
        ("pending", "succeeded", "succeeded"),
        ("succeeded", "failed", "failed"),
        ("failed", "canceled", "canceled"),
        ("succeeded", "pending", "succeeded"),
        ("succeeded", "requires_action", "succeeded"),
        ("failed", "succeeded", "failed"),
        ("canceled", "pending", "canceled"),
        ("succeeded", "a_new_word", "succeeded"),
        ("a_new_word", "pending", "pending"),
    ],
)
def test_a_status_only_moves_forward(known: str, told: str, after: str) -> None:
    reasons = {"failed": "lost_or_stolen_card"}
    first = a_refund(status=known, failure_reason=reasons.get(known))

    merged = mirror.merged(first, a_refund(status=told, failure_reason=reasons.get(told)))

    assert (merged.status, merged.failure_reason) == (after, reasons.get(after))


def test_a_key_once_known_is_kept(database: Database) -> None:
    lease = a_lease(database)
    keys = {"intent_key": IntentKey("a"), "request_key": "b", "operator_key": IntentKey("c"), "charge": "ch"}
    mirror.save_page(database, lease, [a_refund(**keys)])

    changed = mirror.save_page(
        database, lease, [a_refund(**dict.fromkeys(keys), payment_intent=None, status="failed")]
    )

    assert changed == 1
    assert stored(database) == [a_refund(**keys, status="failed")]


def test_a_key_learned_later_is_added(database: Database) -> None:
    lease = a_lease(database)
    mirror.save_page(database, lease, [a_refund(intent_key=None)])

    assert mirror.save_page(database, lease, [a_refund(request_key="b")]) == 1
    assert stored(database) == [a_refund(request_key="b")]


def test_two_versions_on_one_page_are_one_row(database: Database) -> None:
    lease = a_lease(database)

    assert mirror.save_page(database, lease, [a_refund(status="failed"), a_refund(status="pending")]) == 1
    assert stored(database) == [a_refund(status="failed")]


def test_a_long_page_is_saved(database: Database) -> None:
    lease = a_lease(database)
    page = [a_refund(id=f"re_{number:05}") for number in range(2_500)]
    mirror.save_page(database, lease, page[:1_500])

    assert mirror.save_page(database, lease, page) == 1_000
    assert stored(database) == page


def test_accounts_are_remembered_in_order(database: Database) -> None:
    lease = a_lease(database)
    platform = Account(PLATFORM, livemode=False, covered_from=NOON - timedelta(days=45), watermark_at=NOON)
    mirror.save_account(database, lease, Account(OTHER))
    mirror.save_account(database, lease, replace(platform, watermark_at=None))
    mirror.save_account(database, lease, platform)

    assert mirror.accounts(database) == (platform, Account(OTHER))


def test_money_is_real_where_an_account_says_so(database: Database) -> None:
    lease = a_lease(database)
    modes = [mirror.livemode(database)]
    for account in (Account(PLATFORM, livemode=False), Account(OTHER, livemode=True)):
        mirror.save_account(database, lease, account)
        modes.append(mirror.livemode(database))

    assert modes == [False, False, True]


def test_cursors_stand_beside_the_watermark(database: Database) -> None:
    lease = a_lease(database)
    read = Cursors(relist_at=NOON - timedelta(days=3), events_at=NOON)
    account = Account(PLATFORM, livemode=True, watermark_at=NOON)

    assert mirror.cursors(database, PLATFORM) == Cursors()
    mirror.save_cursors(database, lease, PLATFORM, read)
    mirror.save_account(database, lease, account)

    assert mirror.cursors(database, PLATFORM) == read
    assert mirror.accounts(database) == (account,)


def test_a_hint_waits_until_its_refund_was_retrieved(database: Database) -> None:
    lease = a_lease(database)
    created = RefundEvent(RefundId("re_1"), "the request's key", NOON)
    updated = RefundEvent(RefundId("re_1"), None, NOON + timedelta(hours=1))
    another = RefundEvent(RefundId("re_2"), None, NOON)
    mirror.save_hints(database, lease, PLATFORM, waiting=[created, another], retrieved=[])

    mirror.save_hints(database, lease, PLATFORM, waiting=[updated], retrieved=[RefundId("re_2")])

    assert mirror.hints(database, PLATFORM) == (created,)
    assert mirror.hints(database, OTHER) == ()
