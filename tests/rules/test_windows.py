from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.results import Reading
from recon.model.records.runs import Account
from recon.model.records.words import AccountId
from recon.model.settings import PullSettings
from recon.rules import windows
from recon.rules.windows import Window
from tests.builders import NOON, PLATFORM

PULL = PullSettings()
DAY = timedelta(days=1)
KNOWN = Account(PLATFORM, livemode=False, covered_from=NOON - 60 * DAY, watermark_at=NOON - DAY)


def test_a_new_account_is_read_from_the_first_window_on() -> None:
    expected = Window(NOON - PULL.first_window, NOON)

    assert windows.created(Account(PLATFORM), now=NOON, pull=PULL) == expected


def test_a_known_account_is_read_from_its_watermark_less_the_overlap() -> None:
    expected = Window(NOON - DAY - PULL.overlap, NOON)

    assert windows.created(KNOWN, now=NOON, pull=PULL) == expected


@pytest.mark.parametrize("covered, expected", [(44, 45), (45, None), (46, None)])
def test_a_first_window_that_was_lengthened_since_is_read_back_to_once(
    covered: int, expected: int | None
) -> None:
    account = replace(KNOWN, covered_from=NOON - covered * DAY)

    window = windows.created(account, now=NOON, pull=PULL)

    assert window.from_at == (NOON - expected * DAY if expected else NOON - DAY - PULL.overlap)
    after = windows.read(account, window)
    assert windows.created(after, now=NOON + DAY, pull=PULL).from_at == NOON - PULL.overlap


@pytest.mark.parametrize(
    "ahead, expected",
    [
        (timedelta(0), PULL.overlap),
        (PULL.overlap, PULL.overlap),
        (PULL.overlap + timedelta(seconds=1), PULL.first_window),
        (1000 * DAY, PULL.first_window),
    ],
)
def test_a_watermark_from_the_future_says_nothing_unless_clocks_differ_by_little(
    ahead: timedelta, expected: timedelta
) -> None:
    account = replace(KNOWN, watermark_at=NOON + ahead)

    assert windows.created(account, now=NOON, pull=PULL) == Window(NOON - expected, NOON)


@pytest.mark.parametrize(
    "cursor, expected", [(None, -DAY), (-2 * DAY, -2 * DAY), (0 * DAY, 0 * DAY), (DAY, -DAY)]
)
def test_events_are_heard_from_the_cursor_on_unless_it_is_yet_to_come(
    cursor: timedelta | None, expected: timedelta
) -> None:
    fresh = Window(NOON - DAY, NOON)

    assert windows.heard(None if cursor is None else NOON + cursor, fresh) == NOON + expected


def test_a_window_that_joins_extends_what_is_covered() -> None:
    window = windows.created(KNOWN, now=NOON, pull=PULL)

    assert windows.read(KNOWN, window) == replace(KNOWN, watermark_at=NOON)


LONG_AGO = replace(KNOWN, covered_from=NOON - 99 * DAY)


@pytest.mark.parametrize("account", [Account(PLATFORM), LONG_AGO])
def test_a_window_that_does_not_join_begins_coverage_anew(account: Account) -> None:
    window = Window(NOON - DAY + timedelta(seconds=1), NOON)

    assert windows.read(account, window).covered_from == window.from_at


def test_nothing_is_listed_again_while_the_fresh_window_holds_it_all() -> None:
    fresh = Window(NOON - PULL.relist, NOON)

    assert windows.relisted(None, fresh=fresh, pull=PULL) is None


@given(
    st.lists(st.integers(min_value=1, max_value=72), min_size=1, max_size=30),
    st.one_of(st.none(), st.datetimes(datetime(2025, 12, 1), datetime(2026, 4, 1))),  # noqa: DTZ001
)
def test_any_cursor_leads_through_everything_old_without_a_gap(
    hours: list[int], began: datetime | None
) -> None:
    cursor = None if began is None else began.replace(tzinfo=NOON.tzinfo)
    now = NOON
    for each in hours:
        now += timedelta(hours=each)
        fresh = Window(now - timedelta(hours=each) - PULL.overlap, now)
        window = windows.relisted(cursor, fresh=fresh, pull=PULL)
        assert window is not None
        oldest, slice_ = now - PULL.relist, PULL.relist / 24
        follows = cursor is not None and oldest <= cursor <= fresh.from_at - slice_
        assert window.from_at == (cursor if follows else oldest)
        assert window.from_at < window.to_at <= fresh.from_at
        assert slice_ <= window.to_at - window.from_at < 2 * slice_
        assert window.to_at == fresh.from_at or window.to_at - window.from_at == slice_
        cursor = window.to_at


@given(st.integers(min_value=0, max_value=80), st.integers(min_value=2 * 60, max_value=44 * 24 * 60))
def test_what_is_old_is_listed_again_within_a_day_of_hourly_runs_however_long_they_go_on(
    runs: int, age_minutes: int
) -> None:
    cursor, now = None, NOON
    for _ in range(runs):
        now += timedelta(hours=1)
        window = windows.relisted(
            cursor, fresh=Window(now - timedelta(hours=1) - PULL.overlap, now), pull=PULL
        )
        assert window is not None
        cursor = window.to_at
    created_at, met = now - timedelta(minutes=age_minutes), 0
    for _ in range(24):
        now += timedelta(hours=1)
        window = windows.relisted(
            cursor, fresh=Window(now - timedelta(hours=1) - PULL.overlap, now), pull=PULL
        )
        assert window is not None
        met += window.from_at <= created_at <= window.to_at
        cursor = window.to_at

    assert met >= 1


def test_an_account_is_covered_as_far_as_it_was_read_and_one_that_nobody_reads_is_not() -> None:
    other, stranger = AccountId("acct_2"), AccountId("acct_9")
    accounts = {PLATFORM: KNOWN, other: Account(other)}
    coverage = windows.coverage(accounts, [PLATFORM], [PLATFORM, stranger], {})

    assert coverage.refunds == {
        PLATFORM: Reading(KNOWN.covered_from, KNOWN.watermark_at, complete=True),
        other: Reading(None, None, complete=False),
        stranger: Reading(None, None, complete=False),
    }


@pytest.mark.parametrize(
    "named, expected",
    [
        ([], None),
        (["", "acct_2"], None),
        (["acct_9", ""], "Account acct_9 has intents here"),
        (["acct_9", "acct_8"], "Accounts acct_8 and acct_9 have intents here"),
        ([f"acct_{n}" for n in range(3, 10)], "acct_6, acct_7 and 2 more have intents here"),
    ],
)
def test_the_accounts_that_have_rows_and_that_nobody_asks_for_are_said(
    named: list[str], expected: str | None
) -> None:
    said = windows.unasked([PLATFORM, AccountId("acct_2")], map(AccountId, named))

    if expected is None:
        assert said == ()
    else:
        assert expected in said[0]


@pytest.mark.parametrize("days, expected", [(90, 60), (60, 60), (30, 30)])
def test_a_refund_is_asked_for_its_intent_from_when_both_sides_are_known(days: int, expected: int) -> None:
    other = AccountId("acct_2")
    since = {PLATFORM: NOON - days * DAY, other: NOON}
    coverage = windows.coverage({PLATFORM: KNOWN, other: Account(other)}, [PLATFORM], [PLATFORM], since)

    assert coverage.intents == {PLATFORM: Reading(NOON - expected * DAY), other: Reading(NOON)}
    assert coverage.older_is_outside
