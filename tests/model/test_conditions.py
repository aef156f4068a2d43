from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recon.model import conditions
from recon.model.conditions import Condition, Unfit
from recon.model.documents import Table
from recon.model.errors import ConfigurationError
from recon.model.records.results import Mismatch, Money
from recon.model.records.words import AccountId, Certainty, Finding, Kind
from tests.builders import NOON, a_mismatch

AS_OF = NOON + timedelta(hours=1)
MISMATCH = a_mismatch(account=AccountId("acct_1"), since=NOON, reason="fraudulent")


def read(**row: Any) -> Condition:  # noqa: ANN401  # any matcher
    return conditions.read(Table(row, "[[rules]]", ("rules", 0), {}))


@pytest.mark.parametrize(
    "row, expected",
    [
        ({}, None),
        ({"kind": "duplicate", "team": ["support"]}, None),
        ({"kind": ["orphan", "missing"]}, Unfit("kind", "duplicate", "missing or orphan")),
        ({"finding": "absent"}, Unfit("finding", "none", "absent")),
        ({"account": ""}, Unfit("account", "acct_1", "the platform")),
        ({"reason": "duplicate"}, Unfit("reason", "fraudulent", "duplicate")),
        ({"amount_at_least_minor": {"usd": 4900}}, None),
        (
            {"amount_at_least_minor": {"usd": 4901, "jpy": 1}},
            Unfit("amount_at_least_minor", "49.00 USD", "1 JPY or more or 49.01 USD or more"),
        ),
        ({"amount_below_minor": {"usd": 4901}}, None),
        (
            {"amount_below_minor": {"usd": 4900}},
            Unfit("amount_below_minor", "49.00 USD", "less than 49.00 USD"),
        ),
        (
            {"amount_below_minor": {"jpy": 9999999}},
            Unfit("amount_below_minor", "49.00 USD", "less than 9,999,999 JPY"),
        ),
        ({"older_than_minutes": 60}, None),
        ({"older_than_minutes": 61}, Unfit("older_than_minutes", "1 h 0 min", "1 h 1 min or more")),
        ({"older_than_minutes": 61, "team": "x"}, Unfit("team", "support", "x")),
    ],
)
def test_the_first_matcher_that_fails_is_named(row: dict[str, Any], expected: Unfit | None) -> None:
    condition = read(**row)

    assert condition.unfit(MISMATCH, as_of=AS_OF) == expected
    assert condition.fits(MISMATCH, as_of=AS_OF) is (expected is None)


@pytest.mark.parametrize(
    "row, told",
    [
        ({"amount_at_least_minor": {}}, "must be like"),
        ({"amount_at_least_minor": {"usd": True}}, "amount_at_least_minor.usd is True"),
        ({"amount_at_least_minor": {"usd": -1}}, "amount_at_least_minor.usd is -1"),
        ({"amount_at_least_minor": {"usd": 2**63}}, "amount_at_least_minor.usd is 9223372036854775808"),
        ({"amount_at_least_minor": {"usd": 1, "USD": 2}}, "names usd twice"),
        ({"amount_at_least_minor": {"btc": 1}}, "names 'btc', which is no currency"),
        ({"amount_below_minor": {"usd": 0}}, "amount_below_minor.usd is 0; expected whole minor units, 1"),
        ({"amount_at_least_minor": {"usd": 5}, "amount_below_minor": {"usd": 5}}, "no currency and amount"),
        ({"amount_at_least_minor": {"usd": 5}, "amount_below_minor": {"eur": 9}}, "no currency and amount"),
        ({"kind": ["missing", "orphan"], "finding": "absent"}, "kind leaves stuck out"),
        ({"kind": "missing", "certainty": "probable"}, "kind leaves both out"),
        ({"older_than_minutes": 5_270_401}, "older_than_minutes is 5270401"),
        ({"certainty": ["sure"]}, "unknown certainty 'sure'"),
        ({"account": None}, "account is None"),
    ],
)
def test_a_matcher_that_nothing_can_fit_is_refused(row: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(**row)

    assert told in str(caught.value)


@pytest.mark.parametrize(
    "row",
    [
        {"kind": ["missing", "stuck"], "finding": "absent"},
        {"kind": ["missing", "duplicate"], "certainty": "probable"},
        {"kind": "missing", "certainty": ["probable", "confirmed"]},
        {"amount_at_least_minor": {"usd": 5, "jpy": 1}, "amount_below_minor": {"usd": 6}},
        {"amount_at_least_minor": {"usd": 0}},
        {"older_than_minutes": 5_270_400},
    ],
)
def test_a_matcher_that_something_can_fit_is_taken(row: dict[str, Any]) -> None:
    assert read(**row).never is None


@pytest.mark.parametrize(
    "later, earlier, expected",
    [
        ({}, {"team": "a"}, True),
        ({"team": "a"}, {}, False),
        ({"team": "a"}, {"team": "a", "tool": "b"}, True),
        ({"team": ["a", "b"]}, {"team": "b"}, True),
        ({"team": "b"}, {"team": ["a", "b"]}, False),
        ({"kind": list(Kind)}, {}, True),
        ({"kind": list(Kind)[1:]}, {}, False),
        ({"certainty": ["confirmed", "probable"]}, {"kind": "orphan"}, True),
        ({"finding": list(Finding)}, {}, False),  # Only stuck has one.
        ({"older_than_minutes": 60}, {"older_than_minutes": 60}, True),
        ({"older_than_minutes": 61}, {"older_than_minutes": 60}, False),
        ({"older_than_minutes": 59}, {"older_than_minutes": 60, "team": "a"}, True),
        ({"amount_at_least_minor": {"usd": 5}}, {"amount_at_least_minor": {"usd": 5}}, True),
        ({"amount_at_least_minor": {"usd": 6}}, {"amount_at_least_minor": {"usd": 5}}, False),
        ({"amount_at_least_minor": {"usd": 5, "eur": 1}}, {"amount_at_least_minor": {"usd": 5}}, True),
        ({"amount_at_least_minor": {"usd": 5}}, {"amount_at_least_minor": {"usd": 5, "eur": 9}}, False),
        ({"amount_at_least_minor": {"usd": 5}}, {}, False),
        ({}, {"amount_at_least_minor": {"usd": 5}}, True),
        ({"amount_below_minor": {"usd": 5}}, {"amount_below_minor": {"usd": 5}}, True),
        ({"amount_below_minor": {"usd": 5}}, {"amount_below_minor": {"usd": 6}}, False),
        ({"amount_below_minor": {"usd": 5}}, {"amount_at_least_minor": {"usd": 5}}, False),
        ({"amount_at_least_minor": {"usd": 0}}, {"amount_below_minor": {"usd": 5}}, True),
        (
            {"amount_at_least_minor": {"usd": 4}, "amount_below_minor": {"usd": 9}},
            {"amount_at_least_minor": {"usd": 5}, "amount_below_minor": {"usd": 9, "eur": 1}},
            True,
        ),
    ],
)
def test_a_condition_covers_another_when_it_fits_all_that_the_other_fits(
    later: dict[str, Any], earlier: dict[str, Any], *, expected: bool
) -> None:
    assert read(**later).covers(read(**earlier)) is expected


def world() -> list[Mismatch]:
    """One mismatch of each sort that the diff can find, as far as matchers tell them apart."""
    sure, perhaps = Certainty.CONFIRMED, Certainty.PROBABLE
    sorts: list[tuple[Kind, Certainty, Finding | None]] = [
        (Kind.DUPLICATE, sure, None),
        (Kind.DUPLICATE, perhaps, None),
        (Kind.STUCK, sure, Finding.ABSENT),
        (Kind.STUCK, perhaps, Finding.PROBABLE),
        (Kind.MISSING, sure, None),
        (Kind.ORPHAN, sure, None),
    ]
    moneys = [Money(minor, currency) for currency in ("usd", "jpy") for minor in range(4)]
    return [
        a_mismatch(
            kind=kind,
            certainty=certainty,
            finding=finding,
            account=account,
            team=team,
            at_risk=at_risk,
            since=AS_OF - timedelta(minutes=minutes),
        )
        for kind, certainty, finding in sorts
        for account in (AccountId(""), AccountId("acct_1"))
        for team in (None, "support")
        for at_risk in (*moneys, Money(1, "eur"))
        for minutes in (-1, 0, 1, 2)
    ]


WORLD = world()


def some(*values: str) -> st.SearchStrategy[Any]:
    few = st.lists(st.sampled_from(values), min_size=1, max_size=2)
    return st.one_of(st.sampled_from(values), few, st.just(list(values)))


AMOUNTS = st.dictionaries(st.sampled_from(["usd", "jpy"]), st.integers(1, 3), min_size=1)
MATCHERS: dict[str, st.SearchStrategy[Any]] = {
    "kind": st.one_of(some("duplicate", "stuck", "missing"), st.just(list(Kind))),
    "certainty": some(*Certainty),
    "finding": st.one_of(some("absent", "probable"), st.just(list(Finding))),
    "account": some("", "acct_1"),
    "team": some("support", "billing"),
    "amount_at_least_minor": AMOUNTS,
    "amount_below_minor": AMOUNTS,
    "older_than_minutes": st.integers(0, 2),
}


def taken(row: dict[str, Any]) -> Condition | None:
    """The condition of a row; None where nothing can fit it."""
    try:
        return read(**row)
    except ConfigurationError:
        return None


@st.composite
def alike(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two rows of few matchers, the later of which mostly asks for the same or less."""
    names = draw(st.lists(st.sampled_from(sorted(MATCHERS)), max_size=3, unique=True))
    earlier = {name: draw(MATCHERS[name]) for name in names}
    later = dict(earlier)
    if names:
        name = draw(st.sampled_from(names))
        later[name] = draw(MATCHERS[name])
    if draw(st.booleans()):
        name = draw(st.sampled_from(sorted(MATCHERS)))
        (later if draw(st.booleans()) else earlier)[name] = draw(MATCHERS[name])
    return earlier, later


@settings(max_examples=250)
@given(rows=alike())
def test_what_is_covered_is_never_fitted_alone(rows: tuple[dict[str, Any], dict[str, Any]]) -> None:
    earlier, later = (taken(row) for row in rows)
    if earlier is None or later is None or not later.covers(earlier):
        return
    alone = [each for each in WORLD if earlier.fits(each, as_of=AS_OF) and not later.fits(each, as_of=AS_OF)]

    assert alone == []


@settings(max_examples=250)
@given(rows=alike())
def test_a_condition_fits_as_the_format_says_and_only_what_fits_nothing_is_refused(
    rows: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    row, _ = rows
    condition = taken(row)
    fitting = [each for each in WORLD if plainly(row, each, as_of=AS_OF)]
    found = [each for each in WORLD if condition is not None and condition.fits(each, as_of=AS_OF)]

    assert found == fitting


def plainly(row: dict[str, Any], mismatch: Mismatch, *, as_of: datetime) -> bool:
    """Whether a row fits, told once more in the plainest way."""
    for name in ("kind", "certainty", "finding", "account", "team"):
        asked = row.get(name)
        value = getattr(mismatch, name)
        if asked is not None and (value or "") not in (asked if isinstance(asked, list) else [asked]):
            return False
    currency, minor = mismatch.at_risk.currency, mismatch.at_risk.amount_minor
    least, below = row.get("amount_at_least_minor"), row.get("amount_below_minor")
    if least is not None and (currency not in least or minor < least[currency]):
        return False
    if below is not None and (currency not in below or minor >= below[currency]):
        return False
    minutes = row.get("older_than_minutes", 0)
    return minutes == 0 or as_of - mismatch.since >= timedelta(minutes=minutes)
