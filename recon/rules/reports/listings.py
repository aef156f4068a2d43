"""A result as a CSV: one mismatch a row. Its cells cannot become formulas of a spreadsheet."""

from recon.model import formulas
from recon.model.records.results import Result
from recon.rules.reports import documents

_QUOTED = frozenset(',"\r\n')
COLUMNS = (
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


def as_csv(result: Result) -> str:
    """Return the mismatches as CSV, one row each, columns in the JSON's order; ids are parted by spaces."""
    lines = [",".join(COLUMNS)]
    lines += [",".join(map(_cell, documents.mismatch(mismatch).values())) for mismatch in result.mismatches]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    """Return a value as a CSV cell, quoted where it must be, that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    text = formulas.defused(" ".join(value) if isinstance(value, list) else str(value))
    # Python's csv module would leave a lone carriage return unquoted.
    return '"' + text.replace('"', '""') + '"' if not _QUOTED.isdisjoint(text) else text
