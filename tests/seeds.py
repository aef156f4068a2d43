"""A database with content for the desk and the dashboard: one saved run over a small, ordinary trouble.

Written through the store's own functions and the rules: nothing stands in it that a run could not have left.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from recon.doors import config, intents
from recon.doors.store import cases, leases, mirror
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.records.cases import Case, Change, case_id
from recon.model.records.provider import Intent, Refund
from recon.model.records.results import Mismatch, Money
from recon.model.records.runs import HOUR, AccountReading, Run
from recon.model.records.words import (
    Actor,
    CaseId,
    Certainty,
    Direction,
    Finding,
    IntentKey,
    IntentStatus,
    Kind,
    RefundId,
    RefundStatus,
    RunId,
    Subject,
    Verdict,
)
from recon.rules import cases as rules
from recon.rules import moves, ownership
from tests.builders import PLATFORM, a_mismatch, a_refund, a_result, an_intent

OVERLAP = timedelta(minutes=10)


def run(
    database: Database,
    mismatches: Iterable[Mismatch] = (),
    *,
    now: datetime,
    number: int = 1,
    complete: bool = True,
) -> tuple[Case, ...]:
    """Save a run that found exactly these mismatches and give back their cases, as the store has them."""
    found = tuple(mismatches)
    result = a_result(*found, as_of=now - timedelta(minutes=1))
    lease = leases.take(database, HOUR, f"seed-{number}", now=now, duration=timedelta(minutes=5))
    stamp = rules.RunStamp(RunId(f"run_{number}"), lease.fence, result.as_of, OVERLAP)
    pairs = frozenset((each.account, each.subject) for each in found)
    judged = rules.Judged(pairs, frozenset({PLATFORM} if complete else ()))
    known = [case for pair in pairs if (case := cases.get(database, case_id(*pair)))]
    changes = rules.plan(result, known, judged, run=stamp, now=now)
    owners = ownership.parse(config.load({}).owners)
    owned = ownership.assign(changes, owners, as_of=result.as_of)
    saved = Run(
        id=stamp.id,
        fence=lease.fence,
        started_at=now - timedelta(minutes=1),
        finished_at=now,
        as_of=result.as_of,
        verdict=(Verdict.BREAKS if found else Verdict.RECONCILED) if complete else Verdict.INCOMPLETE,
        mark=0,
        policy_digest="seed",
        full=False,
        counts={},
        at_risk=result.at_risk,
        opened=len(changes),
        cleared=0,
        healed=0,
        accounts=(_reading(now, complete=complete),),
    )
    cases.save_run(database, lease, Saving(saved, changes=owned, judged=pairs))
    leases.release(database, lease)
    ids = [case_id(each.account, each.subject) for each in found]
    return tuple(case for each in ids if (case := cases.get(database, each)))


def _reading(now: datetime, *, complete: bool) -> AccountReading:
    return AccountReading(
        account=PLATFORM,
        from_at=now - timedelta(hours=1),
        to_at=now - timedelta(minutes=1),
        complete=complete,
        pages=3,
        refunds=212,
        changed=20,
        error=None if complete else "page 3 of the list broke off: the provider answered 502",
    )


def rows(database: Database, ours: Iterable[Intent], theirs: Iterable[Refund], *, now: datetime) -> None:
    """Write intents and the provider's refunds as the tool and a pull would."""
    with database.write() as connection:
        for intent in ours:
            assert intents.put(connection, intent), f"{intent.key} was there already"
    lease = leases.take(
        database, HOUR, "seed-rows", now=now - timedelta(minutes=10), duration=timedelta(minutes=5)
    )
    mirror.save_page(database, lease, theirs)
    leases.release(database, lease)


def acknowledged(database: Database, named: CaseId, *, by: str, now: datetime) -> Case:
    """Let somebody else take a case on."""
    case = cases.get(database, named)
    assert case is not None, f"{named} was never seeded"
    change = moves.acknowledge(
        case, actor=Actor(by), reason="Seeded: asking the bank.", now=now, action_id=f"seed-{by}-{named}"
    )
    assert isinstance(change, Change), change
    cases.move(database, change)
    return change.case


def duplicate(number: int, *, at: datetime, amount_minor: int = 4900, currency: str = "usd") -> Mismatch:
    """Return the mismatch of an order that was refunded twice, half a minute apart."""
    key = IntentKey(f"refund_order:{number}")
    return a_mismatch(
        subject=Subject(f"intent:{key}"),
        at_risk=Money(amount_minor, currency),
        since=at,
        why=f"Order order_{number} was refunded twice: re_{number} stands, re_{number}_2 is extra.",
        intent_key=key,
        order_id=f"order_{number}",
        customer_id=f"cus_{number}",
        payment=f"pi_{number}",
        refund_ids=(RefundId(f"re_{number}"), RefundId(f"re_{number}_2")),
        extra_refund_ids=(RefundId(f"re_{number}_2"),),
    )


def sides(mismatch: Mismatch, *, at: datetime) -> tuple[Intent, tuple[Refund, ...]]:
    """Return the intent and the refunds behind a mismatch of an intent, disagreeing as its kind says."""
    key = IntentKey(mismatch.subject.removeprefix("intent:"))
    amount, currency = mismatch.at_risk.amount_minor, mismatch.at_risk.currency
    intent = an_intent(
        key=key,
        order_id=mismatch.order_id,
        customer_id=mismatch.customer_id,
        payment=mismatch.payment,
        refund_id=next(iter(mismatch.refund_ids), None),
        created_at=at,
        updated_at=at + timedelta(seconds=4),
        first_sent_at=at,
        amount_minor=amount,
        currency=currency,
        status=INTENT_STATUSES.get(mismatch.kind, IntentStatus.DONE),
    )
    refund = a_refund(
        intent_key=key,
        payment_intent=mismatch.payment,
        charge=None,
        amount_minor=amount * 100 if mismatch.kind is Kind.AMOUNT_MISMATCH else amount,
        currency="gbp" if mismatch.kind is Kind.CURRENCY_MISMATCH else currency,
        status=REFUND_STATUSES.get(mismatch.kind, RefundStatus.SUCCEEDED),
    )
    seconds = (2, 33, 64)
    return intent, tuple(
        replace(refund, id=each, created_at=at + timedelta(seconds=later))
        for each, later in zip(mismatch.refund_ids, seconds, strict=False)
    )


INTENT_STATUSES = {
    Kind.STATUS_MISMATCH: IntentStatus.FAILED,
    Kind.STUCK: IntentStatus.PENDING_UNKNOWN,
}
REFUND_STATUSES = {Kind.REFUND_FAILED: RefundStatus.FAILED, Kind.OVERDUE: RefundStatus.PENDING}


def trouble(database: Database, *, now: datetime) -> tuple[Case, ...]:
    """Fill a database with nine double refunds, one of each other kind, and the run that found them."""
    evening = now - timedelta(hours=3)
    doubles = [
        duplicate(8812 + place, at=evening + timedelta(minutes=place), amount_minor=4900 + 1375 * place)
        for place in range(9)
    ]
    others = [_other(kind, 9100 + place, at=evening) for place, kind in enumerate(OTHERS)]
    written = [
        sides(each, at=each.since) for each in (*doubles, *others) if each.subject.startswith("intent:")
    ]
    theirs = [refund for _, refunds in written for refund in refunds]
    theirs.append(
        a_refund(id=RefundId("re_9107"), intent_key=None, created_at=evening, payment_intent="pi_9107")
    )
    rows(database, [intent for intent, _ in written], theirs, now=now)
    return run(database, [*doubles, *others], now=now)


OTHERS = {
    Kind.CURRENCY_MISMATCH: "Order {order} was refunded in eur, intended were usd: agree on the difference.",
    Kind.AMOUNT_MISMATCH: "Order {order} was refunded 100 times its amount: a minor-unit error, most likely.",
    Kind.STATUS_MISMATCH: "Order {order} is marked failed, and the provider paid re_{number} all the same.",
    Kind.REFUND_FAILED: "Order {order}: the refund failed, and the customer was told that it was done",
    Kind.MISSING: "Order {order} is marked done, and the provider knows of no refund.",
    Kind.STUCK: "Order {order} was sent over an hour ago and nobody knows what became of it.",
    Kind.OVERDUE: "Order {order}: the provider has had re_{number} pending for more than 7 days.",
    Kind.ORPHAN: "Refund re_{number} went out, and no intent of ours asked for it.",
}


def _other(kind: Kind, number: int, *, at: datetime) -> Mismatch:
    without_refund = kind in {Kind.MISSING, Kind.STUCK}
    subject = f"refund:re_{number}" if kind is Kind.ORPHAN else f"intent:refund_order:{number}"
    why = OTHERS[kind].format(order=f"order_{number}", number=number)
    return replace(
        duplicate(number, at=at, amount_minor=700 * (number - 9090), currency="eur" if number % 2 else "usd"),
        kind=kind,
        subject=Subject(subject),
        certainty=Certainty.CONFIRMED,
        why=why,
        refund_ids=() if without_refund else (RefundId(f"re_{number}"),),
        extra_refund_ids=(),
        finding=Finding.ABSENT if kind is Kind.STUCK else None,
        direction=Direction.OVER if kind is Kind.AMOUNT_MISMATCH else None,
        diagnosis="minor-unit error: exactly 100 times" if kind is Kind.AMOUNT_MISMATCH else None,
    )
