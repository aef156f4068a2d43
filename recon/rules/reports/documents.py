"""A result as programs read it: JSON values and text in the contract's order.

Pure and total: every key is always there, nothing is left out in silence, and two currencies are never
summed.
"""

import json

from recon.model import phrases
from recon.model.records.comparisons import Compared, Comparison, Seen, Standing
from recon.model.records.results import Counts, Mismatch, Result
from recon.model.records.words import Kind

# The fields of a mismatch, in the contract's order.
MISMATCH = (
    "kind",
    "certainty",
    "finding",
    "subject",
    "account",
    "intent_key",
    "order_id",
    "customer_id",
    "tool",
    "team",
    "payment",
    "refund_ids",
    "extra_refund_ids",
    "amount_at_risk",
    "currency",
    "since",
    "direction",
    "diagnosis",
    "why",
)
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


def as_json(result: Result) -> dict[str, object]:
    """Return the result as plain JSON values, every key present, in the contract's order."""
    return {
        "as_of": phrases.iso(result.as_of),
        "verdict": str(result.verdict),
        "counts": counts(result.counts),
        "at_risk": dict(result.at_risk),
        "mismatches": [mismatch(each) for each in result.mismatches],
        "in_flight": [
            {
                "subject": flight.subject,
                "account": flight.account,
                "becomes": str(flight.becomes),
                "breaks_at": phrases.iso(flight.breaks_at),
            }
            for flight in result.in_flight
        ],
        "healable": [
            {
                "account": heal.account,
                "intent_key": heal.intent_key,
                "refund_id": heal.refund_id,
                "basis": str(heal.basis),
            }
            for heal in result.healable
        ],
        "rejected": [
            {"source": reject.source, "row": reject.row, "id": reject.id, "reason": reject.reason}
            for reject in result.rejected
        ],
    }


def json_text(result: Result, comparison: Comparison | None = None) -> str:
    """Return the result as JSON text, one mismatch, reject and so on a line; with `compared` where asked."""
    document = as_json(result)
    if comparison is not None:
        document["compared"] = compared(comparison)
    return _lines(document, "") + "\n"


def _lines(value: object, indent: str) -> str:
    """Return JSON with each item of a list on a line, and each key of an object that holds a list."""
    deeper = f"{indent}  "
    if isinstance(value, list) and value:
        return f"[\n{deeper}" + f",\n{deeper}".join(map(_ENCODE, value)) + f"\n{indent}]"
    if isinstance(value, dict) and any(isinstance(each, list) for each in value.values()):
        parts = (f"{_ENCODE(key)}: {_lines(each, deeper)}" for key, each in value.items())
        return f"{{\n{deeper}" + f",\n{deeper}".join(parts) + f"\n{indent}}}"
    return _ENCODE(value)


def compared(comparison: Comparison) -> dict[str, object]:
    """Return the comparison as plain JSON values: its totals, and every subject.

    at_risk: of each standing what it was in the earlier result and what it is now, in minor units.
    """
    earlier = comparison.earlier
    return {
        "with": {
            "source": earlier.source,
            "as_of": phrases.iso(earlier.as_of),
            "verdict": str(earlier.verdict),
            "mismatches": len(earlier.seen),
        },
        "counts": {
            **{str(standing): len(comparison.of(standing)) for standing in Standing},
            "changed_amount": sum(each.changed_amount for each in comparison.subjects),
        },
        "at_risk": {
            str(standing): dict(zip(("before", "now"), comparison.at_risk(standing), strict=True))
            for standing in Standing
        },
        "subjects": [_compared(each) for each in comparison.subjects],
    }


def _compared(each: Compared) -> dict[str, object]:
    return {
        "standing": str(each.standing),
        "subject": each.subject,
        "account": each.account,
        "before": _seen(each.before),
        "now": _seen(each.now),
        "now_is": None if each.now_is is None else str(each.now_is),
    }


def _seen(seen: Seen | None) -> dict[str, object] | None:
    if seen is None:
        return None
    money = seen.at_risk
    return {"kind": str(seen.kind), "amount_at_risk": money.amount_minor, "currency": money.currency}


def counts(counts: Counts) -> dict[str, object]:
    """Return the counts in the contract's order."""
    return {
        "intents": counts.intents,
        "refunds": counts.refunds,
        "matched": counts.matched,
        "matched_inferred": counts.matched_inferred,
        "declared_repeats": counts.declared_repeats,
        "in_flight": counts.in_flight,
        "healable": counts.healable,
        "system": counts.system,
        "withheld": counts.withheld,
        "rejected": counts.rejected,
        "superseded": counts.superseded,
        "unknown_status": counts.unknown_status,
        "mismatches": {str(kind): counts.mismatches.get(kind, 0) for kind in Kind},
    }


def mismatch(found: Mismatch) -> dict[str, object]:
    """Return one mismatch in the contract's order."""
    return {
        "kind": str(found.kind),
        "certainty": str(found.certainty),
        "finding": None if found.finding is None else str(found.finding),
        "subject": found.subject,
        "account": found.account,
        "intent_key": found.intent_key,
        "order_id": found.order_id,
        "customer_id": found.customer_id,
        "tool": found.tool,
        "team": found.team,
        "payment": found.payment,
        "refund_ids": list(found.refund_ids),
        "extra_refund_ids": list(found.extra_refund_ids),
        "amount_at_risk": found.at_risk.amount_minor,
        "currency": found.at_risk.currency,
        "since": phrases.iso(found.since),
        "direction": None if found.direction is None else str(found.direction),
        "diagnosis": found.diagnosis,
        "why": found.why,
    }
