from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.comparisons import OF_EARLIER, OF_LATER, Earlier, NowIs, Seen, Standing
from recon.model.records.results import Healable, InFlight, Mismatch, Money, Result
from recon.model.records.words import AccountId, Basis, IntentKey, Kind, RefundId, Subject, Verdict
from recon.rules import comparing
from tests.builders import NOON, a_mismatch, a_result

SEEN = st.builds(
    Seen,
    st.sampled_from([Kind.DUPLICATE, Kind.STUCK]),
    st.builds(Money, st.integers(0, 3), st.sampled_from(["usd", "jpy"])),
)
SIDES = st.dictionaries(
    st.tuples(
        st.sampled_from(["", "acct_1"]).map(AccountId),
        st.sampled_from(["intent:a", "intent:b", "refund:a"]).map(Subject),
    ),
    SEEN,
)


def result(seen: dict[tuple[AccountId, Subject], Seen]) -> Result:
    return a_result(*(mismatch(pair, each) for pair, each in seen.items()))


def mismatch(pair: tuple[AccountId, Subject], seen: Seen) -> Mismatch:
    return a_mismatch(account=pair[0], subject=pair[1], kind=seen.kind, at_risk=seen.at_risk)


def earlier(seen: dict[tuple[AccountId, Subject], Seen]) -> Earlier:
    return Earlier("old.json", NOON, Verdict.BREAKS, seen)


def money(seen: dict[tuple[AccountId, Subject], Seen]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for each in seen.values():
        sums[each.at_risk.currency] += each.at_risk.amount_minor
    return dict(sums)


@given(SIDES, SIDES)
def test_both_reports_add_up_in_number_and_in_money(
    old: dict[tuple[AccountId, Subject], Seen], new: dict[tuple[AccountId, Subject], Seen]
) -> None:
    compared = comparing.compare(earlier(old), result(new))

    assert len(compared.of(*OF_EARLIER)) == len(old)
    assert len(compared.of(*OF_LATER)) == len(new)
    assert len(compared.of(*Standing)) == len(compared.subjects) == len(old | new)
    assert compared.at_risk(*OF_EARLIER)[0] == money(old)
    assert compared.at_risk(*OF_LATER)[1] == money(new)
    assert compared.at_risk(Standing.NEW)[0] == compared.at_risk(Standing.RESOLVED)[1] == {}


@given(SIDES)
def test_a_report_compared_with_itself_has_nothing_new_and_nothing_gone(
    seen: dict[tuple[AccountId, Subject], Seen],
) -> None:
    compared = comparing.compare(earlier(seen), result(seen))

    assert {each.standing for each in compared.subjects} <= {Standing.PERSISTING}
    assert not any(each.changed_amount for each in compared.subjects)


PAIR = (AccountId(""), Subject("intent:k"))
BEFORE = Seen(Kind.MISSING, Money(100, "usd"))


@pytest.mark.parametrize(
    "now, standing, changed",
    [
        (BEFORE, Standing.PERSISTING, False),
        (Seen(Kind.MISSING, Money(101, "usd")), Standing.PERSISTING, True),
        (Seen(Kind.MISSING, Money(100, "eur")), Standing.PERSISTING, True),
        (Seen(Kind.STUCK, Money(100, "usd")), Standing.RECLASSIFIED, False),
        (Seen(Kind.STUCK, Money(99, "usd")), Standing.RECLASSIFIED, True),
    ],
)
def test_a_subject_of_both_is_persisting_or_of_another_kind(
    now: Seen, standing: Standing, *, changed: bool
) -> None:
    (each,) = comparing.compare(earlier({PAIR: BEFORE}), result({PAIR: now})).subjects

    assert (each.standing, each.changed_amount, each.now_is) == (standing, changed, None)


def test_an_account_is_part_of_a_subject() -> None:
    other = (AccountId("acct_1"), PAIR[1])
    compared = comparing.compare(earlier({PAIR: BEFORE}), result({other: BEFORE}))

    assert [each.standing for each in compared.subjects] == [Standing.NEW, Standing.RESOLVED]


@pytest.mark.parametrize(
    "change, now_is",
    [
        ({}, NowIs.NO_MISMATCH),
        ({"withheld": (PAIR,)}, NowIs.NOT_JUDGED),
        ({"in_flight": (InFlight(*PAIR, Kind.MISSING, NOON),)}, NowIs.IN_FLIGHT),
        (
            {"healable": (Healable(PAIR[0], IntentKey("k"), RefundId("re"), Basis.INTENT_KEY),)},
            NowIs.HEALABLE,
        ),
    ],
)
def test_what_is_gone_says_what_it_is_now(change: dict[str, object], now_is: NowIs) -> None:
    later = replace(result({}), **change)  # type: ignore[arg-type]  # fields of the record
    (each,) = comparing.compare(earlier({PAIR: BEFORE}), later).subjects

    assert (each.standing, each.now, each.now_is) == (Standing.RESOLVED, None, now_is)
