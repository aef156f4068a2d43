"""What is really so: the slow reading of the contract over the provider's own books and the intents table.

It knows nothing of the mirror, of touches, of cases. Episode by episode, because none has to do with another;
once, at the end, over everything, to see that this is so.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from recon.model.records.cases import Case
from recon.model.records.results import Mismatch, Policy
from recon.sandbox.provider import Refund
from tests import reference
from tests.month.company import Company, Episode, Row

Pair = tuple[str, str]
Facts = Mapping[str, object]
UNSETTLED = {"pending", "requires_action"}
_EVIDENCE = ("certainty", "finding", "refund_ids", "extra_refund_ids", "direction", "payment", "order_id")


@dataclass(frozen=True, slots=True)
class Standing:
    """How an episode's subjects stand: the facts of what is a mismatch, and what is neither that nor well."""

    mismatches: Mapping[Pair, Facts]
    unsettled: frozenset[Pair]
    restless: bool


@dataclass(slots=True)
class Truth:
    """What is so in a company, asked again for only where something may have changed."""

    company: Company
    _known: dict[str, tuple[object, Standing]] = field(default_factory=dict)

    def at(self, as_of: datetime, policy: Policy, rows: Mapping[Pair, Row]) -> dict[str, Standing]:
        """Return how every episode stands at that time, with the intents that were committed then."""
        return {
            episode.name: self._standing(episode, as_of, policy, rows)
            for episode in self.company.episodes.values()
        }

    def whole(self, as_of: datetime, policy: Policy, rows: Mapping[Pair, Row]) -> Standing:
        """Return how everything stands, read at once."""
        episodes = self.company.episodes.values()
        refunds = [_refund_row(each, refund) for each in episodes for refund in each.refunds]
        return _read(list(rows.values()), refunds, as_of, policy)

    def _standing(
        self, episode: Episode, as_of: datetime, policy: Policy, rows: Mapping[Pair, Row]
    ) -> Standing:
        own = [rows[episode.account, key] for key in sorted(episode.keys) if (episode.account, key) in rows]
        shown = [each for each in episode.refunds if each.appeared]
        seen = (
            policy,
            [tuple(row.values()) for row in own],
            [(each.id, each.status, tuple(each.metadata)) for each in shown],
            tuple(episode.links.items()),
        )
        known = self._known.get(episode.name)
        if known is not None and known[0] == seen and not known[1].restless:
            return known[1]
        standing = _read(own, [_refund_row(episode, each) for each in shown], as_of, policy)
        self._known[episode.name] = (seen, standing)
        return standing


def _read(
    intents: Iterable[Row], refunds: Iterable[dict[str, Any]], as_of: datetime, policy: Policy
) -> Standing:
    refunds = list(refunds)
    found: Mapping[str, Any] = reference.diff(
        [_intent_row(row) for row in intents], refunds, as_of=as_of, policy=asdict(policy)
    )
    unsettled = {(each["account"], each["subject"]) for each in found["in_flight"]}
    unsettled |= {(each["account"], f"intent:{each['intent_key']}") for each in found["healable"]}
    return Standing(
        mismatches={(each["account"], each["subject"]): _of_reference(each) for each in found["mismatches"]},
        unsettled=frozenset(unsettled),
        restless=bool(unsettled) or any(each["status"] in UNSETTLED for each in refunds),
    )


def facts(case: Case) -> Facts:
    """Return what a case says, as far as the contract says it."""
    mismatch = case.mismatch
    return {
        "kind": str(mismatch.kind),
        "at_risk": (mismatch.at_risk.amount_minor, mismatch.at_risk.currency),
        "since": mismatch.since,
        **{name: _plain(mismatch, name) for name in _EVIDENCE},
    }


def _plain(mismatch: Mismatch, name: str) -> object:
    value = getattr(mismatch, name)
    if value is None:
        return None
    return tuple(value) if isinstance(value, tuple) else str(value)


def _of_reference(found: Mapping[str, Any]) -> Facts:
    return {
        "kind": found["kind"],
        "at_risk": (found["amount_at_risk"], found["currency"]),
        "since": datetime.fromisoformat(found["since"]),
        **{name: tuple(found[name]) if isinstance(found[name], list) else found[name] for name in _EVIDENCE},
    }


def _intent_row(row: Row) -> dict[str, Any]:
    """Return a row of the table as a file would give it."""
    return {name: _written(value) for name, value in row.items() if name != "mapped"}


def _refund_row(episode: Episode, refund: Refund) -> dict[str, Any]:
    """Return a refund of the provider's books as a file would give it."""
    return {
        "id": refund.id,
        "account": episode.account,
        "payment_intent": refund.payment.intent,
        "charge": refund.payment.charge,
        "amount_minor": refund.amount_minor,
        "currency": refund.payment.currency,
        "status": refund.status,
        "created_at": datetime.fromtimestamp(refund.created, UTC).isoformat(),
        "intent_key": refund.metadata.get("intent_key"),
        "request_key": episode.request_keys[refund.id],
        "operator_key": episode.links.get(refund.id),
        "reason": refund.reason,
        "failure_reason": refund.failure_reason,
        "pending_reason": refund.pending_reason,
    }


def _written(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value
