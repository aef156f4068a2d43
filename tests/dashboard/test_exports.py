import csv
import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from dashboard import exports
from recon.model.records.cases import Case
from recon.model.records.results import Money
from recon.model.records.words import RefundId
from tests.builders import NOON, a_case, a_mismatch, an_owner


def read(*cases: Case) -> list[dict[str, str]]:
    """The rows as another program reads them."""
    text = (exports.header() + exports.rows(cases)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_case_is_a_row_with_its_money_both_ways_and_times_in_utc() -> None:
    berlin = timezone(timedelta(hours=1))
    mismatch = a_mismatch(
        at_risk=Money(123450, "usd"),
        since=datetime(2026, 3, 6, 18, 0, tzinfo=berlin),
        refund_ids=(RefundId("re_1"), RefundId("re_2")),
    )
    (row,) = read(a_case(mismatch, opened_at=NOON, snoozed_until=datetime(2026, 3, 9, tzinfo=UTC)))

    assert {name: row[name] for name in ("at_risk_minor", "at_risk", "currency", "refund_ids", "since")} == {
        "at_risk_minor": "123450",
        "at_risk": "1234.50",
        "currency": "usd",
        "refund_ids": "re_1 re_2",
        "since": "2026-03-06T17:00:00Z",
    }
    assert (row["snoozed_until"], row["accepted_until"]) == ("2026-03-09T00:00:00Z", "")


@pytest.mark.parametrize(
    "money, minor, major",
    [
        (Money(500, "jpy"), "500", "500"),
        (Money(2**53 + 1, "kwd"), "9007199254740993", "9007199254740.993"),
        (Money(7, "xyz"), "7", ""),
        (Money(0, "eur"), "0", "0.00"),
    ],
)
def test_each_currency_has_its_own_exponent(money: Money, minor: str, major: str) -> None:
    (row,) = read(a_case(a_mismatch(at_risk=money)))

    assert (row["at_risk_minor"], row["at_risk"]) == (minor, major)


@pytest.mark.parametrize(
    "text, cell",
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("order, with a comma", "order, with a comma"),
        ('with "quotes"', 'with "quotes"'),
        ("two\nlines", "two\nlines"),
        ("a\rb", "a\rb"),
        ("1=1", "1=1"),
        ("½ ü", "½ ü"),
    ],
)
def test_what_others_wrote_comes_back_whole_and_is_no_formula(text: str, cell: str) -> None:
    case = replace(a_case(a_mismatch(order_id=text, customer_id=text, why=text)), owner=an_owner(name=text))
    rows = read(case, a_case())

    assert [rows[0][name] for name in ("order_id", "customer_id", "why", "owner")] == [cell] * 4
    assert len(rows) == 2


def test_a_case_without_owner_or_ids_has_empty_cells() -> None:
    mismatch = a_mismatch(order_id=None, customer_id=None, payment=None, intent_key=None, refund_ids=())
    (row,) = read(replace(a_case(mismatch), owner=None))

    assert {
        row[name] for name in ("order_id", "customer_id", "payment", "intent_key", "refund_ids", "owner")
    } == {""}
