"""Which side of the diff a file looks like: what somebody meant to refund, or what the provider did.

Never hides that it cannot tell.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from recon.model import columns
from recon.model.dtypes import INTENTS, REFUNDS
from recon.model.records.maps import Preset
from recon.model.samples import Sample
from recon.rules.mapping.names import BEGINNINGS, normal

_SURE = 3  # Points between the sides from which on nothing needs to be asked.
OWN_KEYS = frozenset({"idempotency_key", "idempotence_key", "intent_key", "key", "intent_id"})
"""Names of keys that are sent to the provider with a refund."""

_OWN_IDS = frozenset(
    {"id", "uuid", "key", "number", "nr", "no", "refund_number", "refund_no", "refund_key", "refund_ref"}
)
_OWN_WORDS = frozenset(
    {"created_by", "approved_by", "agent", "tool", "team", "user_id", "note", "requested_by"}
)
_MOST = 0.6  # Of the cells must begin as the provider's ids do.


@dataclass(frozen=True, slots=True)
class Guess:
    """A side, and what speaks for it. sure: enough does."""

    side: str
    why: str
    sure: bool


def guess(sample: Sample, *, preset: Preset | None = None) -> Guess:
    """Return the side that a file looks like. preset: one that knows it; None where none does."""
    told = [*_evidence(sample)]
    if preset is not None:
        told.append((preset.side, f"it has the columns of {preset.title}", 10))
    points = {side: sum(one[2] for one in told if one[0] == side) for side in (INTENTS, REFUNDS)}
    side = REFUNDS if points[REFUNDS] > points[INTENTS] else INTENTS
    reasons = [reason for each, reason, _ in sorted(told, key=lambda one: -one[2]) if each == side]
    sure = abs(points[INTENTS] - points[REFUNDS]) >= _SURE
    why = " and ".join(reasons[:2]) or "nothing in it says whose records they are"
    return Guess(side, why, sure)


def _evidence(sample: Sample) -> Iterator[tuple[str, str, int]]:
    """Yield what speaks for either side, in words and in points."""
    if sample.objects:
        yield REFUNDS, "its rows are the provider's own refunds", 10
    tool = columns.recognise(sample.headers, REFUNDS).tool
    if tool is not None:
        yield REFUNDS, f"its headers are those of a table of {tool}", 3
    names = {normal(header) for header in sample.headers}
    key = next(iter(sorted(names & OWN_KEYS)), None)
    if key is not None:
        yield INTENTS, f"it has a column {key}, which only your own records have", 5
    yield from _by_ids(sample, names)
    own = sorted(names & _OWN_WORDS)
    if own:
        yield INTENTS, f"it has {' and '.join(own[:2])}, which a provider does not know", 2


def _by_ids(sample: Sample, names: set[str]) -> Iterator[tuple[str, str, int]]:
    """Yield what the provider's ids of refunds say: in the id they are its rows, elsewhere it was noted."""
    for header in sample.columns:
        cells = [cell for cell in sample.filled(header) if isinstance(cell, str)]
        theirs = sum(cell.startswith(BEGINNINGS[REFUNDS]["id"]) for cell in cells)
        if not cells or theirs < _MOST * len(cells):
            continue
        others = names - {normal(header)}
        if header in sample.headers and len(cells) == sample.rows and not others & _OWN_IDS:
            yield REFUNDS, f"the ids in {header} are the provider's refunds", 5
        else:
            yield INTENTS, f"{header} notes the provider's refunds beside what is your own", 5
        return
