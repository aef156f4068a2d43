"""Stuck intents settled by people, over the sandbox's HTTP and on both databases."""

from collections.abc import Callable
from dataclasses import replace
from threading import Event

import pytest
from sqlalchemy import select

from recon import settling
from recon.doors.store import cases as book
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.model import tables
from recon.model.errors import (
    ConfigurationError,
    NotPermitted,
    ProviderRefused,
    ProviderUnavailable,
    ReconError,
    Report,
)
from recon.model.records.cases import Case
from recon.model.records.provider import Refund
from recon.model.records.words import (
    AccountId,
    Action,
    CaseState,
    IntentKey,
    IntentStatus,
    RefundId,
)
from recon.model.settings import Secret
from tests import seeds
from tests.builders import PLATFORM
from tests.hours import Town, a_town
from tests.sandboxes import Street
from tests.settlers import (
    ANA,
    UNKNOWN,
    VERA,
    at,
    by_hand,
    click,
    last,
    looked,
    row,
    state,
    stuck,
)


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox)


def mirrored(town: Town) -> set[str]:
    with town.database.read() as connection:
        return set(connection.scalars(select(tables.refunds.c.id)))


def test_a_look_says_what_is_there_now_and_changes_nothing_but_the_story(town: Town) -> None:
    intent, case = stuck(town)
    town.pay(intent)
    before = mirrored(town)
    asked = len(town.street.requests("POST", "/v1/refunds"))

    said = looked(town, case)

    assert "all was read, and the payment pi_8812 has 1 refund: re_" in said
    assert said.endswith("is this intent's.")
    assert last(town, case) == (Action.LOOKED, said)
    assert (row(town, intent), state(town, case)) == ((UNKNOWN, None), CaseState.OPEN)
    assert (mirrored(town), len(town.street.requests("POST", "/v1/refunds"))) == (before, asked)


def test_a_look_that_broke_off_is_told_as_that_and_proves_nothing(town: Town) -> None:
    intent, case = stuck(town)
    for _ in range(3):
        by_hand(town, intent, 100)
    town.settings = replace(town.settings, provider=replace(town.settings.provider, page_size=2))
    town.street.fault("GET /v1/refunds", "drop_page", times=4)

    said = looked(town, case)

    assert "not everything could be read, which proves nothing: page 2 of the refunds of the" in said
    assert last(town, case) == (Action.LOOKED, said)
    with pytest.raises(Report, match="The look-up broke off and proves nothing: page 2"):
        at(town).refute(case.id, **click(replace(case, version=2)))
    assert row(town, intent) == (UNKNOWN, None)


def test_the_same_look_again_is_one_entry(town: Town) -> None:
    _, case = stuck(town)
    looked(town, case)

    again = at(town).look(case.id, version=case.version, operator=ANA, action_id="look")

    assert again is None
    assert [each.entry.action for each in book.entries(town.database, case.id)] == [
        Action.OPENED,
        Action.LOOKED,
    ]


@pytest.mark.parametrize("times", [1, 2])
def test_a_provider_that_says_nothing_is_waited_for_no_longer_than_a_person_waits(
    town: Town, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    _, case = stuck(town)
    monkeypatch.setattr(settling, "LOOK_SECONDS", 0.4)
    town.street.fault("GET /v1/refunds", "hang_before", times=times, after_s=30)

    assert "which proves nothing" in looked(town, case)


def test_even_what_no_timeout_covers_is_not_waited_for(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    _, case = stuck(town)
    monkeypatch.setattr(settling, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(settling, "GRACE_SECONDS", 0.1)
    for_ever = Event()

    class Lost(Provider):
        def find(self, payment: str, account: AccountId, *, until: float | None = None) -> tuple[Refund, ...]:
            for_ever.wait()
            return super().find(payment, account, until=until)

    said = looked(town, case, provider=Lost)
    for_ever.set()

    assert "did not answer within 0.1 seconds" in said


ACTS: dict[str, Callable[[Town, Case], object]] = {
    "look": lambda town, case: looked(town, case, VERA),
    "confirm": lambda town, case: at(town).confirm(case.id, refund_id=RefundId("re_1"), **click(case, VERA)),
    "refute": lambda town, case: at(town).refute(case.id, **click(case, VERA)),
}


@pytest.mark.parametrize("act", ACTS)
def test_a_viewer_asks_nobody_anything(town: Town, act: str) -> None:
    _, case = stuck(town)
    before = len(town.street.requests())

    with pytest.raises(NotPermitted, match="Vera has the role viewer"):
        ACTS[act](town, case)

    assert len(town.street.requests()) == before
    assert len(book.entries(town.database, case.id)) == 1


@pytest.mark.parametrize(
    "key, error", [("", ConfigurationError), ("wrong", ProviderRefused)], ids=["no key", "a wrong one"]
)
def test_a_desk_without_a_right_key_says_so_and_writes_nothing(
    town: Town, key: str, error: type[ReconError]
) -> None:
    _, case = stuck(town)
    town.settings = replace(town.settings, provider=replace(town.settings.provider, api_key=Secret(key)))

    with pytest.raises(error):
        looked(town, case)
    assert len(book.entries(town.database, case.id)) == 1


def test_a_key_of_the_other_mode_proves_nothing_and_is_not_asked_with(town: Town) -> None:
    intent, case = stuck(town)
    made = by_hand(town, intent)
    before = len(town.street.requests())
    live = replace(town.settings.provider, api_key=Secret("sk_live_sandbox"))
    town.settings = replace(town.settings, provider=live)

    for ask in (
        lambda: looked(town, case),
        lambda: at(town).confirm(case.id, refund_id=made, **click(case)),
        lambda: at(town).refute(case.id, **click(case)),
    ):
        with pytest.raises(ConfigurationError, match="holds test refunds, and STRIPE_API_KEY is a live key"):
            ask()
    assert (row(town, intent), len(town.street.requests())) == ((UNKNOWN, None), before)


def test_who_has_no_payment_to_ask_about_is_told_what_to_do(town: Town) -> None:
    _, case = stuck(town, payment=None, paid=False)

    with pytest.raises(Report, match=r"names no payment, .*: find it there, then confirm"):
        looked(town, case)
    with pytest.raises(Report, match="names no payment"):
        at(town).refute(case.id, **click(case))


def test_an_intent_is_done_by_a_refund_that_the_provider_shows_and_the_next_run_clears_it(
    town: Town,
) -> None:
    intent, case = stuck(town)
    made = by_hand(town, intent)

    at(town).confirm(case.id, refund_id=RefundId(f" {made} "), **click(case))

    assert (row(town, intent), state(town, case)) == ((IntentStatus.DONE, made), CaseState.ACKNOWLEDGED)
    proof = f"The provider shows refund {made} (49.00 USD, succeeded): intent {intent.key} is done by it. "
    assert last(town, case) == (Action.CONFIRMED, f"{proof}Asked the shop.")
    town.run()
    assert state(town, case) is CaseState.CLEARED
    assert town.waiting() == ()


def test_confirming_twice_by_one_click_is_one_move(town: Town) -> None:
    intent, case = stuck(town)
    made = by_hand(town, intent)

    for _ in range(3):
        at(town).confirm(case.id, refund_id=made, **click(case))

    assert len(book.entries(town.database, case.id)) == 2


def test_a_refund_of_another_amount_confirms_nothing(town: Town) -> None:
    intent, case = stuck(town)
    made = by_hand(town, intent, 4800)

    with pytest.raises(Report, match=r"is of 48\.00 USD, and the intent is of 49\.00 USD"):
        at(town).confirm(case.id, refund_id=made, **click(case))
    assert (row(town, intent), len(book.entries(town.database, case.id))) == ((UNKNOWN, None), 1)


def test_a_refund_that_failed_confirms_nothing(town: Town) -> None:
    intent, case = stuck(town)
    made = by_hand(town, intent)
    town.mend(made)

    with pytest.raises(Report, match="is failed: its money did not go to anybody"):
        at(town).confirm(case.id, refund_id=made, **click(case))
    assert (row(town, intent), len(book.entries(town.database, case.id))) == ((UNKNOWN, None), 1)


def test_a_refund_of_another_payment_account_or_nowhere_confirms_nothing(
    database: Database, sandbox: Street
) -> None:
    town = a_town(database, sandbox, accounts=["acct_2"])
    intent, case = stuck(town)
    other, _ = stuck(town, "9000")
    abroad = town.intend("9001", account=AccountId("acct_2"))
    theirs = town.pay(abroad).id

    for refund_id, said in (
        (by_hand(town, other), "is of the payment pi_9000 or ch_.*, and the intent is of pi_8812"),
        (theirs, "shows no refund re_.* in the platform's own account"),
        (RefundId("re_nowhere"), "shows no refund re_nowhere"),
        (RefundId("../account"), "shows no refund"),
        (RefundId("re_\x00"), "shows no refund"),
    ):
        with pytest.raises(Report, match=said):
            at(town).confirm(case.id, refund_id=refund_id, **click(case))

    assert row(town, intent) == (UNKNOWN, None)


def test_a_refund_that_is_another_intents_by_any_tie_confirms_nothing(town: Town) -> None:
    intent, case = stuck(town)
    named = town.pay(town.intend("9001", status=UNKNOWN, payment=intent.payment, paid=False)).id
    told = by_hand(town, intent)
    town.intend("9002", status=IntentStatus.DONE, refund_id=told, payment=intent.payment, paid=False)
    linked = by_hand(town, intent)
    known = town.provider.retrieve(linked, PLATFORM)
    assert isinstance(known, Refund)
    given = replace(known, operator_key=IntentKey("refund_order:9001"))  # By a person, on another case.
    seeds.rows(town.database, [], [given], now=town.now)

    for refund_id, key in ((named, "9001"), (told, "9002"), (linked, "9001")):
        with pytest.raises(Report, match=f"belongs to the intent refund_order:{key} by our books"):
            at(town).confirm(case.id, refund_id=refund_id, **click(case))

    assert row(town, intent) == (UNKNOWN, None)


def test_a_look_up_of_one_refund_that_breaks_off_confirms_nothing(town: Town) -> None:
    intent, case = stuck(town)
    made = by_hand(town, intent)
    town.street.fault(f"GET /v1/refunds/{made}", "drop_before", times=4)

    with pytest.raises(ProviderUnavailable):
        at(town).confirm(case.id, refund_id=made, **click(case))
    assert row(town, intent) == (UNKNOWN, None)


def test_an_intent_of_a_connected_account_is_looked_up_there(database: Database, sandbox: Street) -> None:
    town = a_town(database, sandbox, accounts=["acct_2"])
    intent, case = stuck(town, account=AccountId("acct_2"))
    made = town.pay(intent).id

    said = looked(town, case)
    at(town).confirm(case.id, refund_id=made, **click(replace(case, version=2)))

    assert f"{made} of 49.00 USD, succeeded, this intent's" in said
    assert row(town, intent) == (IntentStatus.DONE, made)


def test_a_case_that_is_stuck_no_more_is_not_settled(town: Town) -> None:
    intent, case = stuck(town)
    town.record(intent, status=IntentStatus.DONE, updated_at=town.now)
    town.pass_time(hours=2)
    town.run()
    now = next(each for each in town.everything() if each.id == case.id)
    before = len(town.street.requests())

    with pytest.raises(Report, match="no longer about an intent that nobody knows the outcome of"):
        at(town).refute(case.id, **click(now))
    assert (now.mismatch.kind, len(town.street.requests())) == ("missing", before)
