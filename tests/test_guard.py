"""Each row of the state table: what the intent says, and what a call does."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, event, update

from recon.doors.store.engines import Database
from recon.guard import RefundTool
from recon.model import tables
from recon.model.records.words import IntentStatus
from recon.rules import outcomes
from tests.guards import LISTS, NOUN, PATIENT, PAYMENT, REFUNDS, Shop, a_shop, provider, told
from tests.sandboxes import Street


def test_nothing_is_known_and_it_is_done(shop: Shop) -> None:
    outcome = shop.refund(reference="line 1", customer_id="cus_1")

    (refund,) = shop.refunds()
    assert outcome.to_model() == {
        "status": "done",
        "message": f"The refund of 49.00 USD for order 8812 (reference line 1) is done ({refund.id}). "
        "Tell the customer. Do not do it again.",
        "refund_id": refund.id,
    }
    intent = shop.intent()
    assert (intent.key, intent.status, intent.refund_id) == (outcome.intent_key, "done", refund.id)
    assert (intent.amount_minor, intent.currency, intent.payment, intent.reference) == (
        4900,
        "usd",
        PAYMENT,
        "line 1",
    )
    assert (intent.tool, intent.customer_id, intent.first_sent_at) == ("refund_order", "cus_1", shop.now)
    assert (refund.intent_key, refund.amount_minor) == (outcome.intent_key, 4900)


def test_a_first_call_has_two_commits_and_one_that_comes_again_as_well(shop: Shop) -> None:
    commits: list[object] = []

    def counted(connection: object) -> None:
        commits.append(connection)

    event.listen(Engine, "commit", counted)
    try:
        numbers = [(str(shop.refund().status), len(commits)) for _ in range(2)]
    finally:
        event.remove(Engine, "commit", counted)

    assert numbers == [("done", 2), ("already_done", 4)]


@pytest.mark.parametrize("status", ["pending", "requires_action"])
def test_a_refund_that_the_bank_has_not_answered_is_accepted(shop: Shop, status: str) -> None:
    shop.street.payment("pi_slow", 5000, refund_status=status)
    first, second = (shop.refund(payment="pi_slow") for _ in range(2))

    assert [str(each.status) for each in (first, second)] == ["done", "already_done"]
    assert "is accepted" in first.message
    assert "and on its way" in second.message


@pytest.mark.parametrize("status", ["failed", "canceled"])
def test_what_is_done_and_came_to_nothing_is_for_a_person_and_never_sent_again(
    shop: Shop, status: str
) -> None:
    first = shop.refund()
    shop.street.control(f"refunds/{first.refund_id}", status=status)
    shop.pass_time(days=2)
    second = shop.refund()

    assert (str(second.status), second.refund_id) == ("rejected", first.refund_id)
    assert f"then became {status}" in second.message
    assert (shop.status(), len(shop.posts())) == ("done", 1)


def test_what_is_done_stays_done_while_the_provider_does_not_say(shop: Shop) -> None:
    first = shop.refund()
    shop.street.fault("GET /v1/refunds/{id}", "500_before", times=9)

    assert (str(shop.refund().status), shop.status()) == ("already_done", "done")
    assert first.refund_id == shop.refund().refund_id


def test_a_look_up_that_finds_only_a_dead_refund_ends_it_for_a_person(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "500_after")
    shop.street.fault(LISTS, "500_before")
    shop.refund()
    (refund,) = shop.refunds()
    shop.street.control(f"refunds/{refund.id}", status="failed")
    shop.pass_time(minutes=2)
    first, second = shop.refund(), shop.refund()

    assert [str(each.status) for each in (first, second)] == ["rejected", "rejected"]
    assert "the money did not arrive" in second.message
    assert (shop.status(), len(shop.posts())) == ("failed", 1)


@pytest.mark.parametrize("status, became", [("succeeded", "already_done"), ("failed", "rejected")])
def test_a_replayed_answer_is_looked_at_as_it_is_now(shop: Shop, status: str, became: str) -> None:
    """The list does not show the refund, so the same request goes once more and is answered as before."""
    shop.street.fault(REFUNDS, "drop_after")
    shop.street.fault(LISTS, "invisible", times=3, after_s=3600)
    shop.refund()
    shop.pass_time(minutes=2)
    shop.refund()
    shop.street.control(f"refunds/{shop.made()}", status=status)
    shop.pass_time(minutes=2)
    outcome = shop.refund()

    assert (str(outcome.status), len(shop.posts())) == (became, 2)
    assert shop.status() == ("done" if became == "already_done" else "failed")


@pytest.mark.parametrize("payment", ["pi_nowhere", "ch_nowhere"])
def test_a_clear_refusal_is_failed_and_kept(shop: Shop, payment: str) -> None:
    first, second = (shop.refund(payment=payment) for _ in range(2))

    assert told(first) == told(second)
    assert str(first.status) == "rejected"
    assert "is not done: the provider knows no such payment. Do not try again" in first.message
    assert "No such" in str(shop.row().refusal)
    assert (shop.status(), len(shop.posts())) == ("failed", 1)


def test_a_refusal_after_an_unresolved_send_is_not_final(shop: Shop) -> None:
    shop.street.payment("pi_disputed", 5000, disputed=True)
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund(payment="pi_disputed")
    for _ in range(4):
        shop.pass_time(minutes=2)
        outcome = shop.refund(payment="pi_disputed")

    assert str(outcome.status) == "pending_unknown"
    assert "A person has to look into it" in outcome.message
    assert (shop.status(), len(shop.posts())) == ("pending_unknown", 2)


def test_a_key_that_may_not_refund_sends_nothing_and_is_put_right_later(shop: Shop) -> None:
    shop.street.fault(REFUNDS, "403")
    refused = shop.refund()
    between = (shop.status(), shop.intent().first_sent_at)
    done = shop.refund()

    assert str(refused.status) == "rejected"
    assert "The same call may be made later." in refused.message
    assert between == ("cancelled", shop.now)  # It was looked for, and nobody has to wait for it.
    assert (str(done.status), len(shop.refunds())) == ("done", 1)


def test_a_rate_limit_is_waited_for_within_the_deadline(database: Database, sandbox: Street) -> None:
    pauses: list[float] = []
    with a_shop(database, sandbox) as shop:
        sandbox.fault(REFUNDS, "429", times=2)
        tool = RefundTool(database, provider(sandbox, PATIENT), lambda: shop.now, sleep=pauses.append)
        shop.tools.append(tool)

        assert str(shop.refund().status) == "done"
        assert (pauses, len(shop.posts()), len(shop.refunds())) == ([1.0, 1.0], 3, 1)
        assert (shop.row().sends, shop.intent().first_sent_at) == (1, shop.now)


def test_a_rate_limit_beyond_the_deadline_is_not_sent(hasty: Shop) -> None:
    hasty.street.fault(REFUNDS, "429", times=9)
    limited = hasty.refund()
    hasty.street.control("reset")
    hasty.street.payment(PAYMENT, 10_000)

    assert str(limited.status) == "rejected"
    assert "The same call may be made later." in limited.message
    assert (hasty.status(), hasty.intent().first_sent_at) == ("cancelled", hasty.now)
    assert str(hasty.refund().status) == "done"


@pytest.mark.parametrize("fault", ["hang_before", "hang_after"])
def test_a_provider_that_says_nothing_is_given_up_within_the_deadline(hasty: Shop, fault: str) -> None:
    hasty.street.fault(REFUNDS, fault)
    hasty.street.fault(LISTS, "hang_before")
    outcome = hasty.refund()

    assert (str(outcome.status), hasty.status()) == ("pending_unknown", "pending_unknown")
    hasty.pass_time(minutes=2)
    again = hasty.refund()
    assert str(again.status) == ("already_done" if fault == "hang_after" else "pending_unknown")


def test_another_intent_of_the_payment_waits_and_is_told_so(hasty: Shop) -> None:
    hasty.street.fault(REFUNDS, "drop_before")
    hasty.refund("1")
    second = hasty.refund("2")

    assert str(second.status) == "rejected"
    assert "another refund of the same payment is not settled yet" in second.message
    assert (hasty.status("2"), hasty.intent("2").first_sent_at, len(hasty.posts())) == ("pending", None, 1)


def test_nothing_is_sent_once_the_time_is_over(database: Database, sandbox: Street) -> None:
    """Committing took so long that the request could outlive the call."""
    with a_shop(database, sandbox) as shop:
        late = shop.another(replace(PATIENT, deadline_seconds=0.0))
        outcome = late.refund_order("8812", "49.00", "usd", PAYMENT)

        assert told(outcome) == (
            "rejected",
            outcomes.not_sent(NOUN, None, "there was no time left to send it").message,
        )
        assert (shop.status(), shop.intent().first_sent_at, shop.posts()) == ("pending", None, [])


@pytest.mark.parametrize("status", [IntentStatus.DONE, IntentStatus.FAILED])
def test_what_a_run_or_a_person_settled_is_told(shop: Shop, status: IntentStatus) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund()
    with shop.database.write() as connection:
        connection.execute(update(tables.intents).values(status=status))
    outcome = shop.refund()

    assert str(outcome.status) == {"done": "already_done", "failed": "rejected"}[status]
    assert len(shop.posts()) == 1


def test_a_heal_in_the_middle_of_a_look_up_stands(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.street.fault(REFUNDS, "drop_before")
    shop.refund()
    find = shop.tool._provider.find  # noqa: SLF001 -- a run saves between look-up and answer

    def healing(*args: Any, **more: Any) -> object:  # noqa: ANN401  # of find
        found = find(*args, **more)
        with shop.database.write() as connection:
            connection.execute(update(tables.intents).values(status="done", refund_id="re_healed"))
        return found

    monkeypatch.setattr(shop.tool._provider, "find", healing)  # noqa: SLF001 -- as above
    outcome = shop.refund()

    assert (str(outcome.status), outcome.refund_id, shop.status()) == ("already_done", "re_healed", "done")
