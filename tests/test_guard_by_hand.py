"""A look at the payment before a first send: what was refunded by hand, or by books that are lost."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete

from recon.doors import config
from recon.doors.store.engines import Database
from recon.guard import RefundTool
from recon.model.holds import guarded
from recon.model.records.guarded import Outcome
from recon.model.tables import intents
from tests.guards import LISTS, NOUN, ORDER, PATIENT, PAYMENT, REFUNDS, Shop, a_shop, provider, statuses, told
from tests.sandboxes import STRIPE_KEY, Street

DAY = timedelta(hours=24)


def looking(shop: Shop, looks_back: timedelta = DAY) -> RefundTool:
    tool = RefundTool(shop.database, provider(shop.street, PATIENT), lambda: shop.now, looks_back=looks_back)
    shop.tools.insert(0, tool)
    return tool


@pytest.fixture
def wary(database: Database, sandbox: Street) -> Iterator[Shop]:
    """A shop whose tool looks before a first send."""
    with a_shop(database, sandbox) as opened:
        looking(opened)
        yield opened


def by_hand(shop: Shop, amount: int = 4900, **more: object) -> str:
    """Refund in the provider's dashboard."""
    return str(shop.street.control("refunds", payment=PAYMENT, amount=amount, **more)["id"])


def lose(shop: Shop) -> None:
    """Let the books be those of a backup that knows of nothing."""
    with shop.database.write() as connection:
        for table in (guarded, intents):
            connection.execute(delete(table))


def test_a_refund_by_hand_keeps_the_first_send_back_for_a_person(wary: Shop) -> None:
    made = by_hand(wary)
    outcome = wary.refund()

    assert told(outcome) == (
        "rejected",
        (
            f"The {NOUN} was not sent: a refund of the same amount of its payment was made in another way "
            f"({made}), perhaps for this. Do not try again; hand it over to a person."
        ),
    )
    assert (wary.posts(), wary.status(), wary.intent().first_sent_at) == ([], "cancelled", None)
    assert statuses(wary.refund()) == ["rejected"], "it is looked at each time"
    assert [each.answer for each in wary.calls()] == ["rejected", "rejected"]


def test_nobody_looks_unless_told_to(shop: Shop) -> None:
    by_hand(shop)

    assert statuses(shop.refund()) == ["done"]
    assert shop.street.requests("GET", "/v1/refunds") == []


@pytest.mark.parametrize(
    "age_seconds, status", [(86_400 - 60, "rejected"), (86_400, "rejected"), (86_400 + 2, "done")]
)
def test_it_looks_back_as_far_as_it_is_told(wary: Shop, age_seconds: int, status: str) -> None:
    by_hand(wary)
    wary.pass_time(seconds=age_seconds)

    assert statuses(wary.refund()) == [status]


def another_amount(shop: Shop) -> None:
    by_hand(shop, 4800)


def another_line(shop: Shop) -> None:
    shop.refund(reference="line 1")


def one_that_failed(shop: Shop) -> None:
    shop.street.control(f"refunds/{by_hand(shop)}", status="failed", failure_reason="unknown")


def the_providers_own(shop: Shop) -> None:
    by_hand(shop, reason="expired_uncaptured_charge")


@pytest.mark.parametrize("before", [another_amount, another_line, one_that_failed, the_providers_own])
def test_what_is_another_refund_keeps_nothing_back(wary: Shop, before: object) -> None:
    assert callable(before)
    before(wary)

    assert statuses(wary.refund()) == ["done"]


@pytest.mark.parametrize("settled", ["succeeded", "failed"])
def test_a_refund_of_books_that_were_lost_is_known_by_its_key(wary: Shop, settled: str) -> None:
    wary.refund()
    made = wary.intent().refund_id
    lose(wary)
    if settled == "failed":
        wary.street.control(f"refunds/{made}", status="failed", failure_reason="unknown")
    wary.pass_time(hours=25)  # The provider has forgotten the key.
    outcome = wary.refund()

    assert (str(outcome.status), outcome.refund_id) == (
        "already_done" if settled == "succeeded" else "rejected",
        made,
    )
    assert (wary.status(), len(wary.posts())) == ("done" if settled == "succeeded" else "failed", 1)


def test_without_the_look_books_that_were_lost_refund_twice(shop: Shop) -> None:
    """What the setting is for; the hour finds it, as a duplicate."""
    shop.refund()
    lose(shop)
    shop.pass_time(hours=25)

    assert statuses(shop.refund()) == ["done"]
    assert len(shop.refunds()) == 2


@pytest.mark.parametrize("fault", ["500_before", "drop_before", "403", "html_200_after"])
def test_what_cannot_be_seen_is_not_sent_and_may_be_later(wary: Shop, fault: str) -> None:
    wary.street.fault(LISTS, fault)
    first = wary.refund()

    assert told(first) == (
        "rejected",
        (
            f"The {NOUN} was not sent: what went back from its payment already cannot be seen now. Nothing "
            "was done. The same call may be made later."
        ),
    )
    assert (wary.posts(), wary.status()) == ([], "pending")
    assert statuses(wary.refund()) == ["done"]


def test_a_payment_that_nobody_knows_is_refused_by_the_provider(wary: Shop) -> None:
    outcome = wary.refund(payment="pi_nowhere")

    assert "the provider knows no such payment" in outcome.message
    assert wary.status() == "failed"


def test_the_switch_keeps_it_back_after_the_look_as_before(wary: Shop) -> None:
    wary.throw()

    assert statuses(wary.refund()) == ["disabled"]
    wary.throw(thrown=False)
    assert statuses(wary.refund()) == ["done"]


def test_what_was_sent_is_looked_up_as_ever(wary: Shop) -> None:
    wary.street.fault(REFUNDS, "drop_after")
    first = wary.refund()

    assert statuses(first, wary.refund()) == ["done", "already_done"]
    assert len(wary.posts()) == 1


def test_what_was_made_by_hand_after_a_lost_send_is_no_twin(wary: Shop) -> None:
    """It was sent: nothing but the proof that nothing came of it sends it again."""
    wary.street.fault(REFUNDS, "drop_before")
    wary.street.fault(LISTS, "500_before", times=1)
    assert statuses(wary.refund()) == ["rejected"], "it could not look"
    assert statuses(wary.refund()) == ["pending_unknown"]
    by_hand(wary)
    wary.pass_time(minutes=2)

    assert statuses(wary.refund(), wary.refund()) == ["pending_unknown", "pending_unknown"]
    assert len(wary.posts()) == 1


def test_tools_toml_says_how_far_back(shop: Shop, database_url: str, tmp_path: Path) -> None:
    declared = tmp_path / "tools.toml"
    declared.write_text(
        '[tools.refund_order]\ntitle = "Refund"\neffect = "side_effect"\n'
        'key = ["order_id", "reference"]\nfingerprint = ["amount_minor", "currency", "payment"]\n'
        'repeat = "reference"\nfinder = true\nkeyed = true\nlooks_back_hours = 24\n'
    )
    (tmp_path / "recon.toml").write_text("")
    settings = config.load(
        {
            "RECON_CONFIG": str(tmp_path),
            "RECON_DATABASE_URL": database_url,
            "STRIPE_API_KEY": STRIPE_KEY,
            "RECON_STRIPE_BASE_URL": shop.street.url,
        }
    )
    tool = RefundTool.from_settings(replace(settings, guard=PATIENT))
    by_hand(shop)
    outcome: Outcome = tool.refund_order(ORDER, "49.00", "usd", PAYMENT)
    tool.close()

    assert statuses(outcome) == ["rejected"]
    assert shop.posts() == []
