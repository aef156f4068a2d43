"""What holds for any sequence of requests, whatever the order."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from recon.sandbox.errors import ProviderError
from recon.sandbox.forms import Between
from recon.sandbox.provider import STATUSES, Origin, Payment, Provider, Wish
from recon.sandbox.shelf import Cut, Shelf


@dataclass(frozen=True, slots=True)
class Item:
    id: str
    place: tuple[int, int]


moves = st.lists(
    st.one_of(
        st.tuples(st.just("refund"), st.integers(1, 120), st.sampled_from([0.0, 30.0])),
        st.tuples(st.just("change"), st.integers(0, 9), st.sampled_from(sorted(STATUSES))),
        st.tuples(st.just("wait"), st.integers(1, 40), st.none()),
    ),
    max_size=30,
)


@given(moves)
def test_no_more_than_the_payment_ever_goes_back(asked: list[tuple[str, int, object]]) -> None:
    provider, now = Provider(), 1000.0
    payment = Payment("pi_1", "ch_1", "", 100, "usd", 0)
    provider.add_payment(payment)

    for what, number, more in asked:
        now += number if what == "wait" else 0
        provider.settle(now)
        with contextlib.suppress(ProviderError, ValueError, IndexError):
            if what == "refund":
                wish = Wish(amount_minor=number, appears_after_s=float(str(more)))
                provider.refund(payment, wish, origin=Origin(), now=now)
            elif what == "change":
                refund = [r for r in payment.refunds if r.appeared][number]
                provider.change(refund, str(more), None, origin=Origin(), now=now)

        assert 0 <= payment.refunded_minor <= 100
        assert payment.left_minor >= 0
        listed = [r for r in payment.refunds if provider.account("").refunds.get(r.id)]
        assert listed == [r for r in payment.refunds if r.appeared]


@given(
    seconds=st.lists(st.integers(0, 8), max_size=25),
    limit=st.integers(1, 7),
    lowest=st.none() | st.integers(0, 8),
    highest=st.none() | st.integers(0, 8),
    forward=st.booleans(),
)
def test_pages_in_either_direction_give_everything_within_the_bounds_once(
    seconds: list[int], limit: int, lowest: int | None, highest: int | None, *, forward: bool
) -> None:
    shelf: Shelf[Item] = Shelf()
    items = [Item(f"i{n}", (second, n)) for n, second in enumerate(seconds)]
    for item in items:
        shelf.add(item)
    wanted = [
        i.id
        for i in sorted(items, key=lambda i: i.place, reverse=True)
        if (lowest is None or i.place[0] >= lowest) and (highest is None or i.place[0] <= highest)
    ]

    found: list[str] = []
    cursor, more = (None if forward or not wanted else wanted[-1]), True
    while more:
        cut = Cut(limit, cursor if forward else None, None if forward else cursor, Between(lowest, highest))
        page = shelf.page(cut, kind="item", keep=lambda _: True)
        ids = [i.id for i in page.items]
        found = found + ids if forward else ids + found
        more = page.more
        cursor = (ids[-1] if forward else ids[0]) if ids else cursor

    # Backwards begins before the oldest, which a cursor leaves out; without a cursor there is only one way.
    assert found == (wanted if forward else wanted[:-1])
