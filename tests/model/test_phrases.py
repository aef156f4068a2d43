from datetime import UTC, datetime, timedelta, timezone

import pytest

from recon.model import phrases


@pytest.mark.parametrize(
    "number, one, many, told",
    [
        (0, "refund", None, "0 refunds"),
        (1, "refund", None, "1 refund"),
        (2, "reply", "replies", "2 replies"),
        (1, "reply", "replies", "1 reply"),
        (1200, "refund", None, "1,200 refunds"),
    ],
)
def test_a_number_stands_with_its_noun(number: int, one: str, many: str | None, told: str) -> None:
    assert phrases.several(number, one, many) == told


@pytest.mark.parametrize(
    "age, told",
    [
        (timedelta(seconds=-5), "0 min"),
        (timedelta(seconds=59), "0 min"),
        (timedelta(hours=3, minutes=10), "3 h 10 min"),
        (timedelta(days=2, hours=1, minutes=59), "2 d 1 h"),
    ],
)
def test_how_long_is_told_in_the_two_largest_units(age: timedelta, told: str) -> None:
    assert phrases.duration(age) == told


@pytest.mark.parametrize(
    "at, told",
    [
        (datetime(2026, 3, 6, 17, 0, tzinfo=UTC), "2026-03-06T17:00:00Z"),
        (datetime(2026, 3, 6, 17, 0, 0, 5, tzinfo=UTC), "2026-03-06T17:00:00.000005Z"),
        (datetime(2026, 3, 6, 19, 0, tzinfo=timezone(timedelta(hours=2))), "2026-03-06T17:00:00Z"),
    ],
)
def test_programs_get_a_time_in_utc_with_its_z(at: datetime, told: str) -> None:
    assert phrases.iso(at) == told


def test_people_get_a_time_in_utc_to_the_minute() -> None:
    assert phrases.minute(datetime(2026, 3, 6, 19, 0, 59, tzinfo=timezone(timedelta(hours=2)))) == (
        "2026-03-06 17:00 UTC"
    )


@pytest.mark.parametrize(
    "parts, told", [((), ""), (("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c")]
)
def test_parts_are_listed_as_a_sentence_does(parts: tuple[str, ...], told: str) -> None:
    assert phrases.listed(parts) == told


@pytest.mark.parametrize("text, told", [("", ""), ("the key K", "The key K"), ("Ü", "Ü")])
def test_a_sentence_opens_with_a_large_letter_and_keeps_the_others(text: str, told: str) -> None:
    assert phrases.opening(text) == told


def test_people_get_a_time_in_utc_to_the_second() -> None:
    assert phrases.second(datetime(2026, 3, 6, 19, 0, 4, 9, tzinfo=timezone(timedelta(hours=2)))) == (
        "2026-03-06 17:00:04 UTC"
    )


@pytest.mark.parametrize(
    "at, told",
    [
        (datetime(2026, 3, 6, 0, 0, tzinfo=UTC), "at 00:00 UTC"),
        (datetime(2026, 3, 5, 23, 59, tzinfo=UTC), "on 5 Mar at 23:59 UTC"),
        (datetime(2026, 3, 6, 1, 0, tzinfo=timezone(timedelta(hours=2))), "on 5 Mar at 23:00 UTC"),
    ],
)
def test_what_was_lately_is_told_by_the_hour_and_earlier_by_the_day(at: datetime, told: str) -> None:
    assert phrases.lately(at, datetime(2026, 3, 6, 17, 0, tzinfo=UTC)) == told


def test_the_platforms_own_books_have_no_name_and_are_told_all_the_same() -> None:
    assert (phrases.account(""), phrases.account("acct_1")) == ("the platform", "acct_1")
    assert phrases.in_full("") == "the platform's own account"
    assert phrases.in_full("acct_1") == "account acct_1"
    assert (phrases.of_account(""), phrases.of_account("acct_1")) == ("", " of acct_1")


@pytest.mark.parametrize(
    "name, error, why",
    [
        ("", "the platform's own account broke off: no answer (refused).", "no answer (refused)."),
        ("acct_1", "account acct_1 broke off: no answer.", "no answer."),
        ("", "page 3 of the refunds of the platform broke off: 502.", "page 3 of the refunds: 502."),
        ("acct_1", "page 1 of the refunds of acct_1 broke off: 502.", "page 1 of the refunds: 502."),
        ("acct_1", "The refunds of acct_1 broke off: too many.", "The refunds: too many."),
        ("acct_1", "The provider refused with 403.", "The provider refused with 403."),
        ("acct_1", "page 3 broke off", "page 3 broke off"),
    ],
)
def test_why_an_account_was_not_read_says_its_name_and_that_it_broke_off_no_second_time(
    name: str, error: str, why: str
) -> None:
    assert phrases.why_unread(name, error) == why
