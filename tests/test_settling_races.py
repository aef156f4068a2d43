"""What happens while the provider is asked about a stuck intent: nothing is overwritten or done twice."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from threading import Barrier

import pytest
from sqlalchemy import update

from recon.doors.store import cases as book
from recon.doors.store.engines import Database
from recon.model.errors import (
    CaseMoved,
)
from recon.model.holds import guarded
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.provider import Intent
from recon.model.records.words import (
    IntentStatus,
    RefundId,
)
from tests.hours import Town, a_town
from tests.sandboxes import Street
from tests.settlers import (
    ANA,
    BEN,
    UNKNOWN,
    at,
    by_hand,
    click,
    held,
    meanwhile,
    row,
    stuck,
)


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox)


def sent_anew(town: Town, intent: Intent) -> None:
    with town.database.write() as connection:
        fresh = town.now + timedelta(seconds=1)
        connection.execute(update(guarded).values(sent_at=fresh, until=fresh + timedelta(seconds=45)))


Happens = Callable[[Town, Intent], object]
MEANWHILE: dict[str, Happens] = {
    "finished by a run": lambda town, intent: town.record(intent, status=IntentStatus.DONE),
    "failed by its tool": lambda town, intent: town.record(intent, status=IntentStatus.FAILED),
    "another amount": lambda town, intent: town.record(intent, amount_minor=4901),
    "sent once more": sent_anew,
    "gone": lambda town, intent: town.forget(intent),
}


@pytest.mark.parametrize("happens", MEANWHILE)
@pytest.mark.parametrize("move", ["confirm", "refute"])
def test_what_changed_while_the_provider_was_asked_is_not_overwritten(
    town: Town, move: str, happens: str
) -> None:
    intent, case = stuck(town)
    held(town, intent)
    made = by_hand(town, intent) if move == "confirm" else RefundId("re_none")
    desk = at(town, meanwhile(lambda: MEANWHILE[happens](town, intent)))
    act = partial(desk.confirm, refund_id=made) if move == "confirm" else desk.refute

    with pytest.raises(CaseMoved, match=f"Expected intent {intent.key}.* as they were read"):
        act(case.id, **click(case))

    assert len(book.entries(town.database, case.id)) == 1


def test_a_refund_that_a_run_saw_meanwhile_stands_against_not_refunded(town: Town) -> None:
    intent, case = stuck(town)
    elsewhere = town.intend("other", status=IntentStatus.DONE)
    town.settings = replace(town.settings, policy=replace(town.settings.policy, healing=False))

    def seen() -> None:
        town.pay(elsewhere, metadata={"intent_key": intent.key})
        town.run()

    with pytest.raises(CaseMoved):
        at(town, meanwhile(seen)).refute(case.id, **click(case))
    assert row(town, intent) == (UNKNOWN, None)


def test_who_is_second_is_told_of_the_first(town: Town) -> None:
    intent, case = stuck(town)
    made = by_hand(town, intent)

    def first() -> None:
        at(town).confirm(case.id, refund_id=made, **click(case, BEN))

    with pytest.raises(CaseMoved, match=r"^Ben confirmed the refund of this case"):
        at(town, meanwhile(first)).refute(case.id, **click(case))
    assert row(town, intent) == (IntentStatus.DONE, made)


def test_one_refund_confirms_one_intent_whoever_says_so_at_once(town: Town) -> None:
    first = town.intend("8812", status=UNKNOWN)
    second = town.intend("8813", status=UNKNOWN, payment=first.payment, paid=False)
    town.pass_time(hours=2)
    town.run()
    mine, yours = town.waiting()
    made = by_hand(town, first)
    both = Barrier(2, timeout=30)
    desk = at(town, meanwhile(both.wait))

    def attempt(case: Case, operator: Operator) -> str:
        try:
            desk.confirm(case.id, refund_id=made, **click(case, operator))
        except CaseMoved:
            return "told"
        return "done"

    with ThreadPoolExecutor(2) as pool:
        outcomes = sorted(pool.map(attempt, (mine, yours), (ANA, BEN)))

    assert outcomes == ["done", "told"]
    assert sorted(row(town, each)[0] for each in (first, second)) == ["done", "pending_unknown"]
