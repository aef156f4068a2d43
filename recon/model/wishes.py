"""How a proposed move reads, and how what it takes is kept and read again.

Never decides whether a move takes a second person: rules/proposals.py does.
"""

import unicodedata
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from recon.model import moments, wording
from recon.model.characters import seen
from recon.model.phrases import iso, minute
from recon.model.records.proposals import Proposal
from recon.model.records.words import Action, IntentKey, RefundId, Resolution

# What moves take beside a reason, and how the text that is kept of it is read.
_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "code": Resolution,
    "until": moments.read,
    "refund_id": RefundId,
    "intent_key": IntentKey,
}


def kept(told: Mapping[str, object]) -> dict[str, str]:
    """Return what a move takes, as texts."""
    assert told.keys() <= _READERS.keys(), f"expected {sorted(_READERS)}, found {sorted(told)}"
    return {name: iso(value) if isinstance(value, datetime) else str(value) for name, value in told.items()}


def read(told: Mapping[str, str]) -> dict[str, Any]:
    """Return what a move takes, as the desk takes it, from such texts."""
    return {name: _READERS[name](text) for name, text in told.items()}


def wish(action: Action, told: Mapping[str, str]) -> str:
    """Return what somebody wants, in words: Resolve as written off. No text of theirs but ids is in it."""
    if action is Action.RESOLVED:
        return f"Resolve as {wording.plain(told['code'])}"
    if action is Action.ACCEPTED:
        until = moments.read(told["until"])
        return f"Accept until {told['until'] if until is None else minute(until)}"
    if action is Action.LINKED:
        return f"Link refund {told['refund_id']} to the intent {told['intent_key']}"
    if action is Action.UNLINKED:
        return f"Take back the link of refund {told['refund_id']}"
    if action is Action.CONFIRMED:
        return f"Confirm as done by refund {told['refund_id']}"
    return _PLAIN[action]


def of(proposal: Proposal) -> str:
    """Return what a proposal wants, in words."""
    return wish(proposal.action, proposal.told)


def second(proposal: Proposal) -> str:
    """Return what stands behind the reason of whoever approved: who proposed it, when and in what words."""
    by, at = proposal.proposed_by, minute(proposal.proposed_at)
    return f" Proposed by {by} on {at}: {proposal.reason}"


def voided(proposal: Proposal) -> str:
    """Return what stands behind the reason of whatever voided a proposal."""
    by, at = proposal.proposed_by, minute(proposal.proposed_at)
    return f" This voids what {by} proposed on {at}: {of(proposal)}."


def spelling(name: str) -> str:
    """Return a name as it is compared: in one normal form, without case, spaces and what nobody sees."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return seen(plain)


_PLAIN: Final = {
    Action.ADOPTED: "Adopt the refund",
    Action.REFUTED: "Confirm that nothing was refunded",
}
