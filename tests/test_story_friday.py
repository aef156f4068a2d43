"""The Friday evening in small: from the first double refund to the last closed case."""

from recon.doors.store import cases as book
from recon.doors.store import leases
from recon.doors.store.engines import Database
from recon.model.records.cases import Change
from recon.model.records.runs import HOUR
from recon.model.records.words import Actor, CaseState, IntentKey, IntentStatus, Resolution, Verdict
from recon.rules import moves
from tests.hours import Town, a_town, kinds
from tests.sandboxes import Street

ANA = Actor("ana")


def refund_twice_by_call(town: Town, order: str) -> None:
    """The tool keyed by call id: the agent's retry is another intent and another refund."""
    for call in ("0", "1"):
        town.refund(
            f"{order}_{call}",
            key=IntentKey(f"refund_order:call_{order}_{call}"),
            order_id=f"order_{order}",
            payment=f"pi_{order}",
            customer_id=f"cus_{order}",
            paid=call == "0",
        )


def settle(town: Town, code: Resolution) -> None:
    """Ana takes every waiting case on and resolves it."""
    fence = leases.newest(town.database, HOUR)
    for case in town.waiting():
        name = f"{case.id}:{fence}"
        told = {"actor": ANA, "now": town.now}
        taken = moves.acknowledge(case, reason="looking", action_id=f"{name}:take", **told)  # type: ignore[arg-type]  # keywords
        assert isinstance(taken, Change)
        done = moves.resolve(
            taken.case,
            code=code,
            fence=fence,
            actor=ANA,
            reason="asked the customer",
            now=town.now,
            action_id=name,
        )
        assert isinstance(done, Change)
        book.move(town.database, taken)
        book.move(town.database, done)


def test_the_friday_evening_from_the_first_double_refund_to_the_last_closed_case(
    database: Database, sandbox: Street
) -> None:
    town = a_town(database, sandbox)
    for number in range(5):
        town.refund(f"ordinary_{number}")
    for order in ("1", "2", "3"):
        refund_twice_by_call(town, order)
    slow = town.intend("slow", status=IntentStatus.PENDING_UNKNOWN)
    town.pay(slow)
    lost = town.intend("lost")

    town.pass_time(hours=1)
    first = town.run()
    assert first.run.verdict is Verdict.BREAKS
    assert kinds(first) == ["opened duplicate"] * 3 + ["opened missing"]
    assert first.result.at_risk == {"usd": 4 * 4900}
    assert [heal.intent_key for heal in first.heals] == [slow.key]
    root = first.notices[0]
    assert (root.verb, root.target) == ("root", "#payments")
    assert "3 refunded twice (duplicate), test mode, 147.00 USD at risk" in root.message.text
    assert len({notice.thread_key for notice in first.notices}) == 2

    town.pass_time(minutes=5)
    settle(town, Resolution.WRITTEN_OFF)
    town.pass_time(minutes=55)
    second = town.run()
    assert kinds(second) == [
        "regressed missing"
    ]  # The others were decided on; this one was said to be mended.

    made = town.pay(lost)
    town.record(lost, refund_id=made.id)
    town.pass_time(hours=1)
    third = town.run()
    assert kinds(third) == ["cleared missing"]
    assert "Nothing waits: Refund missing" in third.notices[0].message.text
    assert town.waiting() == ()
    assert {case.state for case in town.everything()} == {CaseState.RESOLVED, CaseState.CLEARED}
    (missing,) = [case for case in town.everything() if case.state is CaseState.CLEARED]
    assert town.story(missing) == ["opened", "acknowledged", "resolved", "regressed", "cleared"]

    assert town.run().changes == ()
    assert book.verify(database) == ()
