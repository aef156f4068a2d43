"""The slow, obvious reading of the diff, written from the text of the contract and apart from the product.

It imports nothing of the product. Where the text leaves a choice, this is the reading taken:

 1. A refund is known by (account, id) and an intent by (account, key): versions are looked for within an
    account.
 2. Equal rows are equal in what the contract's columns say once read ("49.00" usd is 4900; an expanded
    charge is its id); columns the contract does not name are not looked at. They count as one row and
    supersede nothing. Malformed rows are each rejected, equal or not; of equal readable rows the first
    one's number is kept.
 3. A charge is mapped by any readable refund row of the account that shows both ids: dead, system, older.
    Shown two, the lesser as text. A rejected row shows nothing, except that while versions are compared all
    readable rows count. The mapping is no part of what a row says: (none, ch_1) beside (pi_1, ch_1) are two
    versions, not equal rows.
 4. Versions whose mapped payments differ are rejected, also where one names no payment at all. Versions
    that differ in created_at or system are versions like any other.
 5. Among versions an unknown status comes before every known one. The fuller row names more columns; the
    greater as text is compared column by column in the contract's order. A missing key is taken from the
    best version that has one. Both sentences are about refunds: an intent's refund_id is no key.
 6. An absent status of a refund is an unknown one. Counts of unknown status and system are of standing
    rows, dead ones included.
 7. A good row that shares its key or id with a rejected row is not withheld for that alone.
 8. Withheld subjects still link, stand in groups and are twins: only the judgement on them is withheld. A
    withheld refund that is linked or dead or system is not counted: it would not have been a subject.
 9. An operator_key or intent_key that names no standing intent does not answer; the next basis is asked.
    Only an intent_key keeps a refund from being inferred; an unknown operator_key or request_key does
    not.
10. Both edges of every window belong to it.
11. Rule 1, several currencies: the intent's own counts as one of them. At risk are then those extras that
    are in the first extra's currency.
12. Rule 4: amount and currency of the group are the intents'. A payment never equals an order of the same
    name.
13. declared_repeats counts intents that rule 4's condition holds for, window included, if references are
    ignored, and does not hold for with them; whatever else is wrong with those intents.
14. Rule 7: "a refund that belongs to another intent" is a standing refund, live or dead, linked to
    another.
15. Rule 8 `landed` is any strong L that is not healable, so also one part of the sum where 3 was
    withheld. `absent` looks at every unlinked live refund that is not system, withheld ones included.
16. Rule 9: "those" are the refunds that are both unsettled and old enough; refund_ids are all of L. A
    healable intent is never overdue: only rule 4 stands beside healing.
17. An intent's `payment` in a mismatch is its own, mapped; the refunds' payment does not stand in for it.
18. "Coverage withheld something" is a subject that coverage leaves unjudged; a rule passed over with a
    later one firing, or a finding turned to unknown, is not. A subject touched by a reject is not
    withheld by coverage.
19. refunds_from equal to the intent's created_at, or intents_from equal to the refund's, is read.
20. `source` of a reject is "intents" or "refunds"; objects in pages are numbered through all pages.
21. Where older is outside, the hour's reading: what coverage withholds of a subject older than its side's
    `from`, of a side that is otherwise complete, makes nothing incomplete. An unsettled intent without L that
    was created before it and first sent before it, where it was sent at all, is withheld in the place of rule
    8; one that is too young for rule 8 is in flight all the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.reference_books import read
from tests.reference_rows import Intent, Refund, Row
from tests.reference_rules import (
    INTENT_RULES,
    Found,
    Withheld,
    Young,
    healable,
    is_outside,
    rules_10_and_11,
    strong,
)
from tests.reference_world import DEFAULTS, World, settle

KINDS = (
    "duplicate",
    "currency_mismatch",
    "amount_mismatch",
    "status_mismatch",
    "refund_failed",
    "missing",
    "stuck",
    "overdue",
    "orphan",
)
KNOWN_STATUSES = ("pending", "requires_action", "succeeded", "failed", "canceled")


@dataclass(slots=True)
class Tally:
    """What became of every subject."""

    mismatches: list[Found] = field(default_factory=list)
    in_flight: list[Found] = field(default_factory=list)
    healable: list[Found] = field(default_factory=list)
    matched: int = 0
    matched_inferred: int = 0
    withheld_for_rejects: int = 0
    withheld_for_coverage: int = 0
    older: int = 0


def diff(
    intents: Sequence[Row],
    refunds: Sequence[Row],
    *,
    as_of: datetime,
    policy: Mapping[str, timedelta | bool] | None = None,
    incomplete: frozenset[str] = frozenset(),
    refunds_from: datetime | None = None,
    intents_from: datetime | None = None,
    older_is_outside: bool = False,
) -> dict[str, object]:
    """The result as the JSON contract gives it; the wording of why, diagnosis and reason is free."""
    world = world_of(
        intents,
        refunds,
        as_of=as_of,
        policy=policy,
        incomplete=incomplete,
        refunds_from=refunds_from,
        intents_from=intents_from,
        older_is_outside=older_is_outside,
    )
    tally = Tally()
    for intent in world.books.intents:
        judge_intent(world, intent, tally)
    for refund in world.unlinked():
        judge_refund(world, refund, tally)
    return as_json(world, tally)


def world_of(
    intents: Sequence[Row],
    refunds: Sequence[Row],
    *,
    as_of: datetime,
    policy: Mapping[str, timedelta | bool] | None,
    incomplete: frozenset[str],
    refunds_from: datetime | None,
    intents_from: datetime | None,
    older_is_outside: bool,
) -> World:
    """Everything read and linked, nothing judged."""
    books = read(intents, refunds)
    world = World(
        books=books,
        as_of=as_of,
        policy={**DEFAULTS, **(policy or {})},
        incomplete=incomplete | ({"refunds"} if books.cut else frozenset()),
        refunds_from=refunds_from,
        intents_from=intents_from,
        older_is_outside=older_is_outside,
    )
    settle(world)
    return world


def judge_intent(world: World, intent: Intent, tally: Tally) -> None:
    """Put an intent where it belongs: the first rule that applies, and what holds where none does."""
    if intent.me in world.books.touched_intents:
        tally.withheld_for_rejects += 1
        return
    heals = healable(world, intent)
    if heals:
        refund = world.live[intent.me][0]
        tally.healable.append(
            {
                "account": intent.account,
                "intent_key": intent.key,
                "refund_id": refund.id,
                "basis": world.basis[refund.me],
            }
        )
    young: Young | None = None
    withheld = False
    for rule in INTENT_RULES:
        answer = rule(world, intent)
        if isinstance(answer, dict):
            tally.mismatches.append(answer)
            return
        young = answer if isinstance(answer, Young) else young
        withheld = withheld or isinstance(answer, Withheld)
    if young is not None:
        tally.in_flight.append(in_flight(f"intent:{intent.key}", intent.account, young))
    elif withheld:
        tally.withheld_for_coverage += 1
        tally.older += is_outside(world, intent.created_at, "refunds")
    elif not heals:
        live = world.live[intent.me]
        assert live or intent.status in {"failed", "cancelled"}
        tally.matched += 1
        tally.matched_inferred += not strong(world, live)


def judge_refund(world: World, refund: Refund, tally: Tally) -> None:
    """Put a live refund that belongs to no intent where it belongs."""
    if refund.me in world.books.touched_refunds:
        tally.withheld_for_rejects += 1
        return
    answer = rules_10_and_11(world, refund)
    if isinstance(answer, Young):
        tally.in_flight.append(in_flight(f"refund:{refund.id}", refund.account, answer))
    elif isinstance(answer, Withheld):
        tally.withheld_for_coverage += 1
        tally.older += is_outside(world, refund.created_at, "intents")
    else:
        assert answer is not None
        tally.mismatches.append(answer)


def in_flight(subject: str, account: str, young: Young) -> Found:
    """A subject that will break if nothing changes."""
    return {
        "subject": subject,
        "account": account,
        "becomes": young.becomes,
        "breaks_at": iso(young.breaks_at),
    }


def iso(moment: datetime) -> str:
    """A time as the contract writes it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def verdict(world: World, tally: Tally) -> str:
    """The worst that holds."""
    if world.incomplete or tally.withheld_for_coverage > tally.older:
        return "incomplete"
    if tally.mismatches:
        return "breaks"
    return "reconciled_with_pending" if tally.in_flight or tally.healable else "reconciled"


def money_at_risk(mismatches: Sequence[Found]) -> dict[str, int]:
    """The sums by currency, without zeros."""
    sums: dict[str, int] = {}
    for found in mismatches:
        currency, amount = found["currency"], found["amount_at_risk"]
        assert isinstance(currency, str)
        assert isinstance(amount, int)
        sums[currency] = sums.get(currency, 0) + amount
    return {currency: amount for currency, amount in sums.items() if amount}


def as_json(world: World, tally: Tally) -> dict[str, object]:
    """The contract's document, every list in its order."""
    books = world.books
    found = sorted(
        tally.mismatches, key=lambda m: (KINDS.index(str(m["kind"])), str(m["account"]), str(m["subject"]))
    )
    repeats = set(world.before_without_references) - set(world.before)
    unknown = [r for r in books.refunds if r.status not in KNOWN_STATUSES]
    return {
        "as_of": iso(world.as_of),
        "verdict": verdict(world, tally),
        "counts": {
            "intents": len(books.intents),
            "refunds": len(books.refunds),
            "matched": tally.matched,
            "matched_inferred": tally.matched_inferred,
            "declared_repeats": len(repeats),
            "in_flight": len(tally.in_flight),
            "healable": len(tally.healable),
            "system": sum(r.system for r in books.refunds),
            "withheld": tally.withheld_for_rejects + tally.withheld_for_coverage,
            "rejected": len(books.rejects),
            "superseded": books.superseded,
            "unknown_status": len(unknown),
            "mismatches": {kind: sum(m["kind"] == kind for m in found) for kind in KINDS},
        },
        "at_risk": money_at_risk(found),
        "mismatches": [{**m, "since": iso(m["since"])} for m in found if isinstance(m["since"], datetime)],
        "in_flight": sorted(tally.in_flight, key=lambda f: (str(f["account"]), str(f["subject"]))),
        "healable": sorted(tally.healable, key=lambda h: (str(h["account"]), str(h["intent_key"]))),
        "rejected": [
            {"source": r.source, "row": r.row, "id": r.id, "reason": r.reason}
            for r in sorted(books.rejects, key=lambda r: (r.source, r.row))
        ],
    }
