"""A result as programs read it: JSON values and text in the contract's order.

Pure and total: every key is always there, nothing is left out in silence, and two currencies are never
summed.
"""

import json

from recon.model import phrases
from recon.model.records.results import Counts, Mismatch, Result
from recon.model.records.words import Kind


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


def json_text(result: Result) -> str:
    """Return the result as JSON text, one mismatch, reject and so on a line."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    parts = []
    for key, value in as_json(result).items():
        if isinstance(value, list) and value:
            lines = ",\n    ".join(map(encode, value))
            parts.append(f"  {encode(key)}: [\n    {lines}\n  ]")
        else:
            parts.append(f"  {encode(key)}: {encode(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


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
