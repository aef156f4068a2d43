from __future__ import annotations

from typing import Any

import pytest
import stripe

from tests.sandbox.clients import provider
from tests.sandboxes import Street

START = "2026-05-01T12:00:00Z"
START_S = 1_777_636_800


def fill(street: Street, count: int = 7) -> list[str]:
    """Refunds a minute apart on two payments in turn; their ids, oldest first."""
    for payment in ("pi_0", "pi_1"):
        street.payment(payment, 100_000, charge=f"ch_{payment[-1]}")
    return [
        str(
            street.control("refunds", payment=f"pi_{n % 2}", amount=100 + n, created_at=START_S + 60 * n)[
                "id"
            ]
        )
        for n in range(count)
    ]


def listed(street: Street, **params: Any) -> stripe.ListObject[stripe.Refund]:  # noqa: ANN401  as the client's
    sent: Any = params
    return provider(street).v1.refunds.list(params=sent)


def ids(street: Street, **params: Any) -> list[str]:  # noqa: ANN401  as the client's
    return [r.id for r in listed(street, **params).data]


def test_the_newest_come_first_and_ten_by_default(sandbox: Street) -> None:
    made = fill(sandbox, 12)

    page = provider(sandbox).v1.refunds.list()

    assert [r.id for r in page.data] == made[:1:-1]
    assert (page.has_more, page.url) == (True, "/v1/refunds")


def test_pages_give_every_refund_once(sandbox: Street) -> None:
    made = fill(sandbox, 7)

    paged = provider(sandbox).v1.refunds.list(params={"limit": 3})

    assert [r.id for r in paged.auto_paging_iter()] == made[::-1]


def test_refunds_of_one_second_keep_their_order_over_pages(sandbox: Street) -> None:
    sandbox.payment("pi_0", 100_000)
    made = [sandbox.control("refunds", payment="pi_0", amount=1, created_at=START_S)["id"] for _ in range(5)]

    paged = provider(sandbox).v1.refunds.list(params={"limit": 2})

    assert [r.id for r in paged.auto_paging_iter()] == made[::-1]


def test_a_refund_made_meanwhile_does_not_disturb_a_cursor(sandbox: Street) -> None:
    made = fill(sandbox, 6)
    first = ids(sandbox, limit=3)
    sandbox.control("refunds", payment="pi_0", amount=1)

    assert first + ids(sandbox, limit=3, starting_after=first[-1]) == made[::-1]


def test_ending_before_gives_what_is_just_newer(sandbox: Street) -> None:
    made = fill(sandbox, 7)

    page = provider(sandbox).v1.refunds.list(params={"limit": 2, "ending_before": made[2]})

    assert [r.id for r in page.data] == [made[4], made[3]]
    assert page.has_more is True
    assert ids(sandbox, ending_before=made[6]) == []


@pytest.mark.parametrize(
    "created, expected",
    [
        ({"gte": START_S + 120}, [6, 5, 4, 3, 2]),
        ({"gt": START_S + 120}, [6, 5, 4, 3]),
        ({"lte": START_S + 120}, [2, 1, 0]),
        ({"lt": START_S + 120}, [1, 0]),
        ({"gte": START_S + 60, "lt": START_S + 180}, [2, 1]),
        ({"gte": START_S + 60, "gt": START_S + 60, "lte": START_S + 180}, [3, 2]),
        (START_S + 120, [2]),
    ],
)
def test_creation_bounds_are_exact(sandbox: Street, created: Any, expected: list[int]) -> None:  # noqa: ANN401
    made = fill(sandbox)

    assert ids(sandbox, created=created) == [made[n] for n in expected]


def test_bounds_hold_over_pages(sandbox: Street) -> None:
    made = fill(sandbox)

    window = {"gte": START_S + 60, "lt": START_S + 360}
    paged = listed(sandbox, created=window, limit=2)

    assert [r.id for r in paged.auto_paging_iter()] == made[5:0:-1]


@pytest.mark.parametrize("named", [{"payment_intent": "pi_1"}, {"charge": "ch_1"}])
def test_a_payment_lists_its_own(sandbox: Street, named: dict[str, str]) -> None:
    made = fill(sandbox)

    paged = listed(sandbox, limit=2, **named)

    assert [r.id for r in paged.auto_paging_iter()] == made[5::-2]


@pytest.mark.parametrize(
    "params, code, param, status",
    [
        ({"limit": 0}, "parameter_invalid_integer", "limit", 400),
        ({"limit": 101}, "parameter_invalid_integer", "limit", 400),
        ({"limit": "all"}, "parameter_invalid_integer", "limit", 400),
        ({"starting_after": "re_9"}, "resource_missing", "starting_after", 400),
        ({"ending_before": "re_9"}, "resource_missing", "ending_before", 400),
        ({"status": "failed"}, "parameter_unknown", "status", 400),
        ({"created": {"after": 1}}, "parameter_unknown", "created[after]", 400),
        ({"created": {"gte": "now"}}, "parameter_invalid_integer", "created[gte]", 400),
        ({"charge": "ch_9"}, "resource_missing", "charge", 404),
        ({"starting_after": "re_9", "ending_before": "re_9"}, None, None, 400),
    ],
)
def test_what_a_list_does_not_take_is_refused_by_name(
    sandbox: Street, params: dict[str, Any], code: str | None, param: str | None, status: int
) -> None:
    with pytest.raises(stripe.InvalidRequestError) as refused:
        ids(sandbox, **params)

    assert (refused.value.code, refused.value.param, refused.value.http_status) == (code, param, status)


@pytest.mark.parametrize("limit", [1, 100])
def test_the_ends_of_the_page_size_are_allowed(sandbox: Street, limit: int) -> None:
    fill(sandbox, 2)

    assert len(ids(sandbox, limit=limit)) == min(limit, 2)
