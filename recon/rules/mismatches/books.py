"""From judged arrays to mismatches: the facts of each judged subject, gathered into records."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from recon.model import arrays, money, subjects
from recon.model.arrays import ABSENT, Bools
from recon.model.frames import Intake
from recon.model.links import BASES, Links
from recon.model.records.results import Healable, Mismatch, Money, Policy
from recon.model.records.words import ON_ITS_WAY, AccountId, Certainty, IntentKey, Kind, RefundId, Subject
from recon.model.unjudged import Unjudged
from recon.rules.mismatches import evidence, neighbours
from recon.rules.mismatches import intents as nine
from recon.rules.mismatches.evidence import Facts, Paid
from recon.rules.mismatches.intents import Judgement, Linked
from recon.rules.mismatches.strays import Strays

INTENT_TEXTS = (
    "key",
    "account",
    "order_id",
    "customer_id",
    "tool",
    "team",
    "currency",
    "status",
    "refund_id",
    "reference",
)
REFUND_TEXTS = ("id", "account", "currency", "status", "intent_key", "reason")


class Books:
    """Everything that is known of the two frames, as mismatches and reports need it."""

    def __init__(
        self,
        intents: Intake,
        refunds: Intake,
        links: Links,
        *,
        linked: Linked,
        judged: Judgement,
        stray: Strays,
        policy: Policy,
        as_of: datetime,
    ) -> None:
        self.links, self.linked, self.judged, self.stray, self.policy = links, linked, judged, stray, policy
        self.as_of = as_of
        ours, theirs = intents.frame, refunds.frame
        self.updated_at = arrays.times(ours["updated_at"])
        self.refund_created_at = arrays.times(theirs["created_at"])
        self.refund_status = arrays.strings(theirs["status"])
        self._intent_amount = ours["amount_minor"].to_numpy()
        self._refund_amount = theirs["amount_minor"].to_numpy()
        self._intents = {name: arrays.strings(ours[name]) for name in INTENT_TEXTS}
        self._refunds = {name: arrays.strings(theirs[name]) for name in REFUND_TEXTS}
        self._unjudged_intents = Unjudged(intents.rejects, theirs)
        self._unjudged_refunds = Unjudged(refunds.rejects, theirs)
        self._beside = neighbours.find(
            links,
            judged=judged,
            stray=stray,
            linked=linked,
            declined=arrays.isin(self._intents["status"], nine.NOT_DONE),
            system=theirs["system"].to_numpy(),
        )

    def intent_account(self, position: int) -> AccountId:
        """Return the account of an intent."""
        return AccountId(self._intents["account"][position].as_py())

    def refund_account(self, position: int) -> AccountId:
        """Return the account of a refund."""
        return AccountId(self._refunds["account"][position].as_py())

    def intent_subject(self, position: int) -> Subject:
        """Return an intent's subject."""
        return subjects.of_intent(self._intents["key"][position].as_py())

    def refund_subject(self, position: int) -> Subject:
        """Return a refund's subject."""
        return subjects.of_refund(self._refunds["id"][position].as_py())

    @property
    def uncovered(self) -> bool:
        """Return whether anything was not judged because not enough was read, and is not outside."""
        judged, stray = self.judged, self.stray
        return bool((judged.uncovered & ~judged.older).any() or (stray.uncovered & ~stray.older).any())

    def healable(self) -> tuple[Healable, ...]:
        """Return the intents that a run may finish, with their proofs, by account and key."""
        healable = (
            Healable(
                account=self.intent_account(position),
                intent_key=IntentKey(self._intents["key"][position].as_py()),
                refund_id=RefundId(self._refunds["id"][int(self.linked.first[position])].as_py()),
                basis=BASES[int(self.links.basis[self.linked.first[position]])],
            )
            for position in np.flatnonzero(self.judged.healable).tolist()
        )
        return tuple(sorted(healable, key=lambda heal: (heal.account, heal.intent_key)))

    def of_intents(self) -> Iterator[Mismatch]:
        """Yield the mismatch of each intent that has one."""
        unlinked = self._payments_with_strays()
        positions = np.flatnonzero(self.judged.rule != nine.NONE)
        columns = self._intents | {"payment": self.links.intent_payment}
        texts = [column.take(pa.array(positions)).to_pylist() for column in columns.values()]
        for position, *values in zip(positions.tolist(), *texts, strict=True):
            yield self._of_intent(position, dict(zip(columns, values, strict=True)), unlinked)

    def of_refunds(self) -> Iterator[Mismatch]:
        """Yield the mismatch of each stray refund that has one."""
        for place in np.flatnonzero(self.stray.firing):
            yield self._of_refund(int(self.stray.refund[place]), int(self.stray.twin[place]))

    def _payments_with_strays(self) -> Bools:
        """Return per intent whether an unlinked live refund is on its payment, where a finding needs it."""
        asked = np.flatnonzero(self.judged.rule == nine.STUCK)
        there = np.zeros(len(self.updated_at), bool)
        mine = neighbours.places_of_intents(self.links, asked)
        strays = neighbours.places_of_refunds(self.links, self.stray.refund)
        there[asked] = (mine != ABSENT) & np.isin(mine, strays)
        return there

    def paid(self, positions: Sequence[int]) -> tuple[Paid, ...]:
        """Return refunds as records, in the order given."""
        return tuple(
            Paid(
                id=RefundId(self._refunds["id"][position].as_py()),
                money=Money(int(self._refund_amount[position]), self._refunds["currency"][position].as_py()),
                at=arrays.instant(self.refund_created_at[position]),
                waiting=self._refunds["status"][position].as_py() in ON_ITS_WAY,
                reason=self._refunds["reason"][position].as_py(),
            )
            for position in positions
        )

    def _in_time(self, positions: Sequence[int]) -> tuple[Paid, ...]:
        return tuple(sorted(self.paid(positions), key=lambda paid: (paid.at, paid.id)))

    def _live(self, position: int) -> tuple[Paid, ...]:
        start, number = self.linked.live_from[position], self.linked.live[position]
        return self.paid(self.linked.live_refunds[start : start + number].tolist())

    def _dead(self, position: int) -> tuple[Paid, ...]:
        start, number = self.linked.dead_from[position], self.linked.dead[position]
        return self.paid(self.linked.dead_refunds[start : start + number].tolist())

    def _of_intent(self, position: int, text: Mapping[str, Any], unlinked: Bools) -> Mismatch:
        meant = self._meant(position)
        account = AccountId(text["account"])
        facts = Facts(
            key=text["key"],
            reference=text["reference"],
            meant=meant,
            status=text["status"],
            recorded=text["refund_id"],
            live=self._live(position),
            dead=self._dead(position),
            weak=bool(self.linked.weak[position]),
            covered=bool(self.judged.covered[position]),
            payment=text["payment"],
            stray_on_payment=bool(unlinked[position]),
            updated_at=arrays.instant(self.updated_at[position]),
            stuck_since=arrays.instant(self.judged.stuck_since[position]),
            as_of=self.as_of,
            before=self._before(position),
            claimed_by=self._claimed_by(position),
            beside=self._in_time(self._beside.live.get(position, ())),
            dead_beside=self._in_time(self._beside.dead.get(position, ())),
            unjudged=self._unjudged_refunds.on(account, text["payment"]),
            policy=self.policy,
        )
        found = evidence.told(int(self.judged.rule[position]), facts)
        return Mismatch(
            **found,
            account=account,
            subject=self.intent_subject(position),
            intent_key=IntentKey(text["key"]),
            order_id=text["order_id"],
            customer_id=text["customer_id"],
            tool=text["tool"],
            team=text["team"],
            payment=facts.payment,
            reason=evidence.reason(found, (*facts.live, *facts.dead)),
        )

    def _before(self, position: int) -> tuple[str, Paid] | None:
        before = int(self.judged.before[position])
        if before == ABSENT:
            return None
        return self._intents["key"][before].as_py(), self.paid([int(self.linked.first[before])])[0]

    def _claimed_by(self, position: int) -> str | None:
        holder = int(self.links.claimed_by[position])
        return None if holder == ABSENT else self._intents["key"][holder].as_py()

    def _whose(self, position: int) -> str:
        """Return what to find out of a refund, and which intent's it may be: of one that has none, first.

        Of several that of the same money is named, then the one that was updated first.
        """
        neighbours = self._beside
        missing, declined = neighbours.missing.get(position), neighbours.declined.get(position)
        if not (missing or declined):
            return ": find out who made it, and why"
        keys, own = self._intents["key"], self.paid([position])[0].money
        first = min(
            missing or declined or (),
            key=lambda intent: (
                self._meant(intent) != own,
                self.updated_at[intent],
                keys[intent].as_py(),
            ),
        )
        named = f"; intent {keys[first].as_py()} of {money.written(self._meant(first))} on the same payment"
        if missing:
            return f"{named} has no refund: find out whether it is this one"
        status = self._intents["status"][first].as_py()
        return f"{named} says {status}: find out whether it was carried out all the same"

    def _meant(self, intent: int) -> Money:
        return Money(int(self._intent_amount[intent]), self._intents["currency"][intent].as_py())

    def _of_refund(self, position: int, twin: int) -> Mismatch:
        (subject,) = self.paid([position])
        key = self._refunds["intent_key"][position].as_py()
        place = int(self.links.refund_payment[position])
        payment = None if place == ABSENT else self.links.payments[place].as_py()
        account = self.refund_account(position)
        unjudged = self._unjudged_intents.on(account, payment)
        common = {
            "account": account,
            "subject": self.refund_subject(position),
            "at_risk": subject.money,
            "since": subject.at,
            "intent_key": None if key is None else IntentKey(key),
            "payment": payment,
            "reason": self._refunds["reason"][position].as_py(),
        }
        amount = money.written(subject.money)
        if twin == ABSENT:
            named = f"an intent {key} that we do not have" if key else "no intent"
            why = f"{amount} went back in {subject.id}, which names {named}{self._whose(position)}."
            return Mismatch(
                kind=Kind.ORPHAN,
                certainty=Certainty.CONFIRMED,
                refund_ids=(subject.id,),
                why=evidence.beside_unjudged(why, unjudged, "first"),
                **common,
            )
        (other,) = self.paid([twin])
        ordered = sorted((subject, other), key=lambda paid: (paid.at, paid.id))
        why = (
            f"{subject.id} sent {amount} that no intent asked for, {evidence.apart(subject.at, other.at)}"
            f" {other.id} on the same payment: the customer seems to have been refunded twice."
        )
        return Mismatch(
            kind=Kind.DUPLICATE,
            certainty=Certainty.PROBABLE,
            refund_ids=tuple(paid.id for paid in ordered),
            extra_refund_ids=(subject.id,),
            why=evidence.beside_unjudged(why, unjudged, "first"),
            **common,
        )
