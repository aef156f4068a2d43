"""One decision has one key, and two decisions never share one."""

import string
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model import money
from recon.model.records.guarded import Unfit
from recon.model.records.words import AccountId
from recon.rules import keys
from recon.rules.keys import Business
from tests.builders import PLATFORM

ORDER: dict[str, Any] = {"order_id": "8812", "amount": "49.00", "currency": "usd", "payment": "pi_123"}
NAMES = st.text(min_size=1, max_size=30)
FIELDS = st.dictionaries(st.sampled_from(["order_id", "reference", "line"]), NAMES, min_size=1)


def business(**changes: object) -> Business:
    found = keys.refund(**(ORDER | changes))
    assert isinstance(found, Business), found
    return found


def key(**changes: object) -> str:
    found = business(**changes)
    return keys.make("refund_order", found.account, found.fields)


def flaw(**changes: object) -> str:
    found = keys.refund(**(ORDER | changes))
    assert isinstance(found, Unfit), found
    return found.reason


def test_a_key_is_this_and_stays_this() -> None:
    # A key that changes between two versions of the product is a second refund.
    assert key() == "refund_order:8812:fb1115b42bdc540bacceffe11711ee74"
    assert key(reference="line 2", account="acct_1") == "refund_order:8812:40c28eed8915af0313ac9c85184fadcf"


@pytest.mark.parametrize(
    "same",
    [
        {"order_id": 8812},
        {"order_id": " 8812\n"},
        {"reference": ""},
        {"reference": "  "},
        {"amount": "50.00"},
        {"currency": "EUR"},
        {"payment": "pi_other"},
        {"customer_id": "cus_1"},
    ],
)
def test_what_is_no_part_of_the_decision_changes_no_key(same: dict[str, object]) -> None:
    assert key(**same) == key()


@pytest.mark.parametrize("other", [{"order_id": "8813"}, {"reference": "return 7"}, {"account": "acct_1"}])
def test_another_order_reference_or_account_is_another_key(other: dict[str, object]) -> None:
    assert key(**other) != key()


def test_another_operation_is_another_key() -> None:
    assert keys.make("refund_order", PLATFORM, {"order_id": "1"}) != keys.make(
        "refund_line", PLATFORM, {"order_id": "1"}
    )


def test_one_name_in_two_codings_is_one_name() -> None:
    assert key(order_id="caf\u00e9") == key(order_id="cafe\u0301")


@given(FIELDS, FIELDS, st.sampled_from(["", "acct_1"]), st.sampled_from(["", "acct_1"]))
def test_two_keys_are_equal_where_everything_is(
    one: dict[str, str], two: dict[str, str], here: str, there: str
) -> None:
    first = keys.make("refund_order", AccountId(here), one)
    second = keys.make("refund_order", AccountId(there), two)

    assert (first == second) == ((one, here) == (two, there))


@given(FIELDS)
def test_a_key_fits_a_header_and_the_providers_limit(fields: dict[str, str]) -> None:
    made = keys.make("refund_order", PLATFORM, fields)

    assert 0 < len(made) <= 255
    assert set(made) <= set(string.ascii_letters + string.digits + "_.:-")


@given(FIELDS)
def test_the_order_of_the_fields_is_no_part_of_it(fields: dict[str, str]) -> None:
    turned = dict(reversed(fields.items()))

    assert keys.make("refund_order", PLATFORM, turned) == keys.make("refund_order", PLATFORM, fields)


@given(NAMES, NAMES)
def test_order_and_reference_do_not_run_into_each_other(order: str, reference: str) -> None:
    joined = keys.make("refund_order", PLATFORM, {"order_id": order + reference})

    assert keys.make("refund_order", PLATFORM, {"order_id": order, "reference": reference}) != joined


@pytest.mark.parametrize(
    "amount, currency, minor",
    [
        ("49.00", "usd", 4900),
        ("49", "usd", 4900),
        ("49.0", "USD ", 4900),
        (" 10.00 ", "usd", 1000),
        (Decimal("1000.0"), "usd", 100_000),
        (Decimal("4.9E+1"), "usd", 4900),
        (49, "usd", 4900),
        ("500", "jpy", 500),
        ("1.230", "kwd", 1230),
        ("0.01", "usd", 1),
        ("92233720368547758.07", "usd", 2**63 - 1),
    ],
)
def test_an_amount_is_exact_minor_units(amount: object, currency: str, minor: int) -> None:
    assert business(amount=amount, currency=currency).amount_minor == minor


@pytest.mark.parametrize(
    "amount",
    [
        0,
        -5,
        True,
        49.0,
        1e3,
        None,
        "",
        "0",
        "0.00",
        "-5",
        "+5",
        "0.001",
        "1e3",
        "1_000",
        "1,000.00",
        "4 9",
        "NaN",
        "Infinity",
        "\u0664\u0669",
        "$49.00",
        "92233720368547758.08",
        "9" * 5000,
        10**5000,
        Decimal("NaN"),
        Decimal(-1),
        Decimal("0.001"),
        Decimal("1E+999999"),
        b"49.00",
        [49],
    ],
    ids=lambda amount: repr(amount)[:20] if not isinstance(amount, int) else f"{amount % 1000}",
)
def test_what_is_no_positive_exact_amount_is_refused(amount: object) -> None:
    assert "amount must be a positive number of major units" in flaw(amount=amount)


@pytest.mark.parametrize("amount, currency", [("500.5", "jpy"), ("1.2345", "kwd"), ("49.001", "usd")])
def test_more_decimals_than_the_currency_has_are_refused(amount: str, currency: str) -> None:
    assert f"exact in {currency}" in flaw(amount=amount, currency=currency)


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"order_id": None}, "order_id must say which order"),
        ({"order_id": " "}, "order_id must say which order"),
        ({"order_id": True}, "order_id must be a text or a whole number"),
        ({"order_id": 88.12}, "order_id must be a text or a whole number"),
        ({"order_id": 10**5000}, "order_id must be a name; found a number too large"),
        ({"currency": 10**5000}, "found something that cannot be written"),
        ({"order_id": "x" * 256}, "order_id must have at most 255 characters; found 256"),
        ({"order_id": "a\x00b"}, "order_id must hold no control characters"),
        ({"reference": ["a"]}, "reference must be a text"),
        ({"account": 1.5}, "account must be a text"),
        ({"customer_id": {}}, "customer_id must be a text"),
        ({"currency": "dollars"}, "currency must be a currency's three letters"),
        ({"currency": None}, "currency must be a currency's three letters"),
        ({"payment": None}, "payment must be the provider's id"),
        ({"payment": ""}, "payment must be the provider's id"),
        ({"payment": "pi 1"}, "payment must be the provider's id"),
        ({"payment": "../v1"}, "payment must be the provider's id"),
    ],
)
def test_what_cannot_be_asked_for_is_said(changes: dict[str, object], expected: str) -> None:
    assert expected in flaw(**changes)


@pytest.mark.parametrize(
    "changes, for_person",
    [
        ({"payment": "pi 1"}, True),
        ({"payment": None}, True),
        ({"order_id": "x" * 256}, True),
        ({"order_id": 10**5000}, True),
        ({"reference": "a\x00b"}, True),
        ({"account": 1.5}, True),
        ({"customer_id": {}}, True),
        ({"order_id": " "}, False),
        ({"order_id": "a\x00b"}, False),
        ({"currency": "dollars"}, False),
        ({"amount": "-1"}, False),
    ],
)
def test_what_code_gives_is_for_a_person(changes: dict[str, object], *, for_person: bool) -> None:
    found = keys.refund(**(ORDER | changes))

    assert isinstance(found, Unfit)
    assert found.for_person is for_person


def test_a_payment_is_refused_with_the_characters_that_it_may_have() -> None:
    assert "of at most 255 of A-Z, a-z, 0-9 and _; found 'pi-1'" in flaw(payment="pi-1")


@pytest.mark.parametrize(
    "order, expected", [(" ", "order_id must say which order"), (True, "order_id must be a")]
)
def test_an_order_alone_is_refused_in_the_same_words(order: object, expected: str) -> None:
    found = keys.order(order, "")

    assert isinstance(found, Unfit)
    assert expected in found.reason
    assert keys.order(" 8812 ", " acct_1") == ("8812", "acct_1")


@given(
    amount=st.one_of(
        st.text(max_size=8), st.integers(), st.decimals(), st.floats(), st.booleans(), st.none()
    ),
    currency=st.sampled_from(["usd", "jpy", "kwd", "zzz", ""]),
    order=st.one_of(st.text(max_size=8), st.integers(), st.floats(), st.none()),
)
def test_anything_at_all_is_a_refund_or_a_reason(amount: object, currency: str, order: object) -> None:
    found = keys.refund(order_id=order, amount=amount, currency=currency, payment="pi_1")

    if isinstance(found, Business):
        assert 0 < found.amount_minor < 2**63
        assert Decimal(str(amount).strip()) == Decimal(money.major(found.amount_minor, currency))
    else:
        assert found.reason


def test_the_fingerprint_is_amount_currency_and_payment() -> None:
    assert business().fingerprint == {"amount_minor": "4900", "currency": "usd", "payment": "pi_123"}


def test_a_drift_is_named() -> None:
    kept = business().fingerprint

    assert keys.drift(kept, kept) == ()
    assert keys.drift(kept, business(amount="50", payment="pi_2").fingerprint) == ("amount_minor", "payment")


@pytest.mark.parametrize(
    "written, meant",
    [("\uff21-9", "A-9"), ("\uff18\uff18\uff11\uff12", "8812"), ("\ufb011", "fi1"), ("a\u00b2", "a2")],
)
def test_a_name_that_looks_like_another_is_none(written: str, meant: str) -> None:
    found = keys.normal({"order_id": written})

    assert isinstance(found, Unfit)
    assert found.reason.startswith(f"order_id must be in plain characters, as '{meant}' is;")
    assert keys.normal({"order_id": "A-9 \u00e9"}) == keys.normal({"order_id": "A-9 e\u0301"})


@pytest.mark.parametrize(
    "written, shown",
    [("8812\u20131", "8812<U+2013>1"), ("\u0410-9", "<U+0410>-9"), ("\u039f1", "<U+039F>1")],
)
def test_a_name_of_letters_that_look_like_others_is_none(written: str, shown: str) -> None:
    found = keys.normal({"order_id": written})

    assert isinstance(found, Unfit)
    assert found.reason == f"order_id must be in plain characters; found '{shown}': type it anew"
    assert keys.normal({"order_id": "\u0437\u0430\u043a\u0430\u0437-1"}) == {
        "order_id": "\u0437\u0430\u043a\u0430\u0437-1"
    }
