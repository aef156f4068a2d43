from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model import frames
from recon.model.records.comparisons import (
    OF_EARLIER,
    OF_LATER,
    Comparison,
    Earlier,
    NowIs,
    Pair,
    Rows,
    Seen,
    Standing,
)
from recon.model.records.results import Coverage, Healable, InFlight, Mismatch, Money, Policy, Result
from recon.model.records.words import AccountId, Basis, IntentKey, Kind, RefundId, Subject, Verdict
from recon.rules import comparing, linking
from recon.rules.mismatches import finding
from tests.builders import NOON, a_mismatch, a_result
from tests.product import INTENT_COLUMNS, REFUND_COLUMNS, Row, table

SEEN = st.builds(
    Seen,
    st.sampled_from([Kind.DUPLICATE, Kind.STUCK]),
    st.builds(Money, st.integers(0, 3), st.sampled_from(["usd", "jpy"])),
)
PAIRS = st.tuples(
    st.sampled_from(["", "acct_1"]).map(AccountId),
    st.sampled_from(["intent:a", "intent:b", "refund:a"]).map(Subject),
)
SIDES = st.dictionaries(PAIRS, SEEN)


def rows(seen: Iterable[Pair]) -> Rows:
    return Rows(frozenset(seen), frozenset())


def result(seen: dict[Pair, Seen]) -> Result:
    return a_result(*(mismatch(pair, each) for pair, each in seen.items()))


def mismatch(pair: Pair, seen: Seen) -> Mismatch:
    return a_mismatch(account=pair[0], subject=pair[1], kind=seen.kind, at_risk=seen.at_risk)


def earlier(seen: dict[Pair, Seen]) -> Earlier:
    return Earlier("old.json", NOON, Verdict.BREAKS, seen)


def money(seen: dict[Pair, Seen]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for each in seen.values():
        sums[each.at_risk.currency] += each.at_risk.amount_minor
    return dict(sums)


@given(SIDES, SIDES, st.frozensets(PAIRS), st.frozensets(PAIRS))
def test_both_reports_add_up_in_number_and_in_money(
    old: dict[Pair, Seen], new: dict[Pair, Seen], standing: frozenset[Pair], rejected: frozenset[Pair]
) -> None:
    compared = comparing.compare(earlier(old), result(new), Rows(standing, rejected))

    assert len(compared.of(*OF_EARLIER)) == len(old)
    assert len(compared.of(*OF_LATER)) == len(new)
    assert len(compared.of(*Standing)) == len(compared.subjects) == len(old | new)
    assert compared.at_risk(*OF_EARLIER)[0] == money(old)
    assert compared.at_risk(*OF_LATER)[1] == money(new)
    assert compared.at_risk(Standing.NEW)[0] == {}
    assert compared.at_risk(Standing.RESOLVED, Standing.NOT_JUDGED)[1] == {}
    assert {(each.account, each.subject) for each in compared.of(Standing.RESOLVED)} <= standing


@given(SIDES)
def test_a_report_compared_with_itself_has_nothing_new_and_nothing_gone(
    seen: dict[Pair, Seen],
) -> None:
    compared = comparing.compare(earlier(seen), result(seen), rows(()))

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
    (each,) = comparing.compare(earlier({PAIR: BEFORE}), result({PAIR: now}), rows(())).subjects

    assert (each.standing, each.changed_amount, each.now_is) == (standing, changed, None)


def test_an_account_is_part_of_a_subject() -> None:
    other = (AccountId("acct_1"), PAIR[1])
    compared = comparing.compare(earlier({PAIR: BEFORE}), result({other: BEFORE}), rows([PAIR]))

    assert [each.standing for each in compared.subjects] == [Standing.NEW, Standing.RESOLVED]


@pytest.mark.parametrize(
    "change, standing, now_is",
    [
        ({}, Standing.RESOLVED, NowIs.NO_MISMATCH),
        ({"withheld": (PAIR,)}, Standing.NOT_JUDGED, NowIs.NOT_JUDGED),
        ({"in_flight": (InFlight(*PAIR, Kind.MISSING, NOON),)}, Standing.RESOLVED, NowIs.IN_FLIGHT),
        (
            {"healable": (Healable(PAIR[0], IntentKey("k"), RefundId("re"), Basis.INTENT_KEY),)},
            Standing.RESOLVED,
            NowIs.HEALABLE,
        ),
    ],
)
def test_what_is_gone_says_what_it_is_now(
    change: dict[str, object], standing: Standing, now_is: NowIs
) -> None:
    later = replace(result({}), **change)  # type: ignore[arg-type]  # fields of the record
    (each,) = comparing.compare(earlier({PAIR: BEFORE}), later, rows([PAIR])).subjects

    assert (each.standing, each.now, each.now_is) == (standing, None, now_is)


def intent(key: str, **changes: object) -> Row:
    ordinary = {"key": key, "account": "", "payment": f"pi_{key}", "amount_minor": 500, "currency": "usd"}
    return {**ordinary, "status": "done", "created_at": NOON.isoformat(), **changes}


def refund(name: str, key: str, **changes: object) -> Row:
    ordinary = {"id": name, "account": "", "payment_intent": f"pi_{key}", "amount_minor": 500}
    return {
        **ordinary,
        "currency": "usd",
        "status": "succeeded",
        "created_at": NOON.isoformat(),
        "intent_key": key,
        **changes,
    }


def judged(
    ours: Iterable[Row], theirs: Iterable[Row], before: Earlier | None = None
) -> tuple[Earlier, Comparison]:
    """The diff of these rows as an earlier report, and compared with the one before it."""
    intents = frames.intents(table([*ours], INTENT_COLUMNS), source="intents")
    refunds = frames.refunds(table([*theirs], REFUND_COLUMNS), source="refunds")
    links = linking.link(intents.frame, refunds.frame, Policy())
    later = finding.find(
        intents, refunds, links, policy=Policy(), coverage=Coverage(), as_of=NOON + timedelta(days=1)
    )
    found = earlier(
        {
            (each.account, each.subject): Seen(each.kind, each.at_risk, each.refund_ids)
            for each in later.mismatches
        }
    )
    before = before or found
    return found, comparing.compare(before, later, comparing.rows(before, intents, refunds))


Sides = tuple[list[Row], list[Row]]
TWICE: Sides = ([intent("k")], [refund("re_1", "k"), refund("re_2", "k")])
ORPHAN: Sides = ([], [refund("re_1", "k")])
MISSING: Sides = ([intent("k")], [])


@pytest.mark.parametrize(
    "before, ours, theirs, now_is",
    [
        (MISSING, [], [], NowIs.NOT_READ),
        (MISSING, [intent("other")], [refund("re_9", "other")], NowIs.NOT_READ),
        (MISSING, [intent("k", account="acct_1")], [refund("re_1", "k", account="acct_1")], NowIs.NOT_READ),
        (MISSING, [intent("k", status="so la la")], [], NowIs.NOT_JUDGED),
        (MISSING, [intent("k", status="failed")], [], NowIs.NO_MISMATCH),
        (MISSING, [intent("k")], [refund("re_1", "k")], NowIs.NO_MISMATCH),
        (MISSING, [intent("k"), intent("k")], [refund("re_1", "k")], NowIs.NO_MISMATCH),
        (ORPHAN, [], [], NowIs.NOT_READ),
        (ORPHAN, [intent("k")], [], NowIs.NOT_READ),
        (ORPHAN, [], [refund("re_1", "k", amount_minor="much")], NowIs.NOT_JUDGED),
        (ORPHAN, [], [refund("re_1", "k", status="failed")], NowIs.NO_MISMATCH),
        (ORPHAN, [intent("k")], [refund("re_1", "k")], NowIs.NO_MISMATCH),
        # One of two refunds is not in the file: that there is but one cannot be said.
        (TWICE, [intent("k")], [refund("re_1", "k")], NowIs.NOT_READ),
        (
            TWICE,
            [intent("k")],
            [refund("re_1", "k"), refund("re_2", "k", status="failed")],
            NowIs.NO_MISMATCH,
        ),
        (TWICE, [intent("k")], [refund("re_1", "k"), refund("re_2", "k", currency="?")], NowIs.NOT_JUDGED),
    ],
)
def test_nothing_is_resolved_that_nobody_looked_at(
    before: Sides, ours: list[Row], theirs: list[Row], now_is: NowIs
) -> None:
    old, _ = judged(*before)
    _, compared = judged(ours, theirs, old)
    gone = compared.of(Standing.RESOLVED, Standing.NOT_JUDGED)

    assert len(old.seen) == 1
    standing = Standing.RESOLVED if now_is is NowIs.NO_MISMATCH else Standing.NOT_JUDGED
    assert [(each.standing, each.now_is) for each in gone] == [(standing, now_is)]


BOOKS = st.dictionaries(
    st.sampled_from("abcd"),
    st.tuples(
        st.booleans(),
        st.sampled_from(["done", "failed", "pending"]),
        st.lists(st.sampled_from([500, 400]), max_size=3),
    ),
)


@given(BOOKS, st.data())
def test_of_a_part_of_the_same_rows_only_what_is_in_it_is_resolved(
    books: dict[str, tuple[bool, str, list[int]]], data: st.DataObject
) -> None:
    ours = [intent(key, status=status) for key, (there, status, _) in books.items() if there]
    theirs = [
        refund(f"re_{key}{place}", key, amount_minor=amount)
        for key, (_, _, amounts) in books.items()
        for place, amount in enumerate(amounts)
    ]
    old, same = judged(ours, theirs)
    part, rest = (
        data.draw(st.lists(st.sampled_from(side), unique_by=id)) if side else [] for side in (ours, theirs)
    )
    _, compared = judged(part, rest, old)
    read = {("", f"intent:{row['key']}") for row in part} | {("", f"refund:{row['id']}") for row in rest}

    assert {each.standing for each in same.subjects} <= {Standing.PERSISTING}
    assert len(compared.of(*OF_EARLIER)) == len(old.seen)
    for each in compared.of(Standing.RESOLVED):
        needed: set[tuple[str, str]] = {(each.account, each.subject)}
        if each.subject.startswith("intent:"):
            needed |= {("", f"refund:{name}") for name in old.seen[each.account, each.subject].refund_ids}
        assert needed <= read
