"""A result as a CSV: one mismatch a row. Its cells cannot become formulas of a spreadsheet."""

from recon.model import formulas
from recon.model.records.comparisons import Compared, Comparison, Standing
from recon.model.records.results import Result
from recon.rules.reports import documents

_QUOTED = frozenset(',"\r\n')
COMPARED_COLUMNS = ("standing", "earlier_kind", "earlier_amount_at_risk", "earlier_currency", "now_is")


def as_csv(result: Result, comparison: Comparison | None = None) -> str:
    """Return the mismatches as CSV, one row each, columns in the JSON's order; ids are parted by spaces.

    comparison: five columns more, and a row for each that is resolved or not judged, in which of the columns
    before only account and subject are told.
    """
    found = [list(documents.mismatch(mismatch).values()) for mismatch in result.mismatches]
    header: tuple[str, ...] = documents.MISMATCH
    if comparison is not None:
        header += COMPARED_COLUMNS
        place = {(each.account, each.subject): each for each in comparison.subjects}
        for row, mismatch in zip(found, result.mismatches, strict=True):
            row.extend(_compared(place[mismatch.account, mismatch.subject]))
        for each in comparison.of(Standing.RESOLVED, Standing.NOT_JUDGED):
            told = {"account": each.account, "subject": each.subject}
            found.append([*(told.get(name) for name in documents.MISMATCH), *_compared(each)])
    return "\n".join([",".join(header), *(",".join(map(_cell, row)) for row in found)]) + "\n"


def _compared(each: Compared) -> list[object]:
    before = each.before
    seen = (
        (None, None, None)
        if before is None
        else (before.kind, before.at_risk.amount_minor, before.at_risk.currency)
    )
    return [each.standing, *seen, each.now_is]


def _cell(value: object) -> str:
    """Return a value as a CSV cell, quoted where it must be, that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    text = formulas.defused(" ".join(value) if isinstance(value, list) else str(value))
    # Python's csv module would leave a lone carriage return unquoted.
    return '"' + text.replace('"', '""') + '"' if not _QUOTED.isdisjoint(text) else text
