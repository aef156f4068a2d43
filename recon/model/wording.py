"""What people read for the closed vocabularies: Slack, the terminal and the desk say the same.

Never holds text from a database or a stranger: everything here may be shown as it is.
"""

from typing import Final

from recon.model.records.settlements import Retry, RetryKind
from recon.model.records.words import Action, Kind, Resolution, Severity, Verdict

KINDS: Final = {
    Kind.DUPLICATE: "Refunded twice",
    Kind.CURRENCY_MISMATCH: "Wrong currency",
    Kind.AMOUNT_MISMATCH: "Wrong amount",
    Kind.STATUS_MISMATCH: "Paid, though we say not",
    Kind.REFUND_FAILED: "Refund came back",
    Kind.MISSING: "Refund missing",
    Kind.STUCK: "Outcome unknown",
    Kind.OVERDUE: "Pending too long",
    Kind.ORPHAN: "Refund nobody asked for",
}

# What a kind means for the money, for somebody who has never seen one, as one sentence.
MEANINGS: Final = {
    Kind.DUPLICATE: (
        "More money went back than was decided: one decision was carried out twice, or so it seems where a "
        "row says probable."
    ),
    Kind.CURRENCY_MISMATCH: "Money went back in another currency than was decided.",
    Kind.AMOUNT_MISMATCH: "More or less money went back than was decided.",
    Kind.STATUS_MISMATCH: "Our records say that this refund failed or was cancelled, yet the money went out.",
    Kind.REFUND_FAILED: (
        "Our records say done, but the provider could not deliver the money: the customer still waits for it."
    ),
    Kind.MISSING: "Our records say done, and the provider knows of no such refund: no money was sent.",
    Kind.STUCK: "The refund was asked for, and our records do not say whether the money went out.",
    Kind.OVERDUE: "The provider took the refund on and has not delivered it for longer than banks need.",
    Kind.ORPHAN: "Money went back without any decision in our records that it belongs to.",
}

# What to do about a kind, as one sentence. None of them says to send money again before somebody has looked.
NEXT_STEPS: Final = {
    Kind.DUPLICATE: "Check whether a second refund was meant; if not, recover it or write it off.",
    Kind.CURRENCY_MISMATCH: (
        "Check which currency the customer was promised, then correct our record or settle the difference."
    ),
    Kind.AMOUNT_MISMATCH: (
        "Compare the refund with the order: recover or write off what was too much, pay out what is lacking."
    ),
    Kind.STATUS_MISMATCH: (
        "Do not refund again: the customer has the money. Correct our record, or recover what was not meant."
    ),
    Kind.REFUND_FAILED: "Tell the customer, who does not have the money, and agree on another way to pay it.",
    Kind.MISSING: (
        "Look at the payment at the provider, also for a refund of another amount; only if none is this one, "
        "pay it out, and tell the customer."
    ),
    Kind.STUCK: "Look at the provider before anybody tries again, then record what happened.",
    Kind.OVERDUE: "Ask the provider what holds it up, and do not send another.",
    Kind.ORPHAN: "Find out who made it and why, then record an intent for it or recover it.",
}

SEVERITIES: Final = {
    Severity.CRITICAL: "Critical",
    Severity.HIGH: "High",
    Severity.MEDIUM: "Medium",
    Severity.LOW: "Low",
}

ACTIONS: Final = {
    Action.OPENED: "Opened",
    Action.CHANGED: "Evidence changed",
    Action.RECLASSIFIED: "Reclassified",
    Action.REOPENED: "Reopened",
    Action.REGRESSED: "Regressed: seen again after it was resolved",
    Action.CLEARED: "Cleared",
    Action.HEALED: "Healed",
    Action.ACKNOWLEDGED: "Acknowledged",
    Action.ASSIGNED: "Assigned",
    Action.COMMENTED: "Commented",
    Action.RESOLVED: "Resolved",
    Action.ACCEPTED: "Accepted",
    Action.SNOOZED: "Snoozed",
    Action.ADOPTED: "Refund adopted",
    Action.LINKED: "Refund linked",
    Action.UNLINKED: "Link taken back",
    Action.LOOKED: "Looked at the provider",
    Action.CONFIRMED: "Confirmed as refunded",
    Action.REFUTED: "Confirmed as not refunded",
    Action.PROPOSED: "Proposed, for a second person",
    Action.DECLINED: "Proposal declined",
}

# How a sentence tells what somebody did to a case.
DEEDS: Final = {
    Action.OPENED: "opened",
    Action.CHANGED: "saw other evidence in",
    Action.RECLASSIFIED: "reclassified",
    Action.REOPENED: "reopened",
    Action.REGRESSED: "saw again what was resolved in",
    Action.CLEARED: "cleared",
    Action.HEALED: "healed",
    Action.ACKNOWLEDGED: "acknowledged",
    Action.ASSIGNED: "gave another owner to",
    Action.COMMENTED: "commented on",
    Action.RESOLVED: "resolved",
    Action.ACCEPTED: "accepted",
    Action.SNOOZED: "snoozed",
    Action.ADOPTED: "adopted the refund of",
    Action.LINKED: "linked a refund of",
    Action.UNLINKED: "took back a link of",
    Action.LOOKED: "asked the provider about",
    Action.CONFIRMED: "confirmed the refund of",
    Action.REFUTED: "confirmed that nothing was refunded in",
    Action.PROPOSED: "proposed a decision on",
    Action.DECLINED: "declined what was proposed for",
}

RESOLUTIONS: Final = {
    Resolution.RECOVERED: "Recovered: the money was got back, or paid out at last",
    Resolution.WRITTEN_OFF: "Written off: the loss is accepted",
    Resolution.LEGITIMATE_REPEAT: "Legitimate repeat: every refund was meant",
    Resolution.FIXED_AT_PROVIDER: "Fixed at the provider, in its own dashboard",
    Resolution.FALSE_ALARM: "False alarm: nothing was wrong",
}

VERDICTS: Final = {
    Verdict.INCOMPLETE: "incomplete",
    Verdict.BREAKS: "mismatches found",
    Verdict.RECONCILED_WITH_PENDING: "reconciled, some still pending",
    Verdict.RECONCILED: "reconciled",
}

_RETRIES: Final = {
    RetryKind.NEVER_SENT: (
        "No request for it was ever recorded, so no key protects it: ask for the refund again under a new "
        "reference."
    ),
    RetryKind.SAFE: (
        "Safe to send again with the same key until {until}, not after: so long the provider knows the key "
        "and refunds once. After that, ask for a new refund under a new reference."
    ),
    RetryKind.OVER: (
        "Not to be sent again with the same key: since {until} the provider may have forgotten it, and would "
        "make a new refund. Ask for a new refund under a new reference."
    ),
    RetryKind.SPENT: (
        "Not to be sent again with the same key: it made a refund that came to nothing, and would only show "
        "that one again. Ask for a new refund under a new reference."
    ),
}

_SEVERAL: Final = {
    Kind.CURRENCY_MISMATCH: "wrong currencies",
    Kind.AMOUNT_MISMATCH: "wrong amounts",
    Kind.REFUND_FAILED: "refunds came back",
    Kind.MISSING: "refunds missing",
    Kind.STUCK: "outcomes unknown",
    Kind.ORPHAN: "refunds nobody asked for",
}


def plain(word: str) -> str:
    """Return a word of ours without its underscores: amount mismatch."""
    return word.replace("_", " ")


def named(kind: Kind) -> str:
    """Return a kind as a phrase, with its word beside it unless it is in it: Refunded twice (duplicate)."""
    return _beside(KINDS[kind], kind)


def counted(kind: Kind, number: int) -> str:
    """Return how many of a kind, as `named` does: 10 refunded twice (duplicate), 2 refunds missing."""
    one = _in_a_sentence(KINDS[kind])
    return f"{number} {_beside(one if number == 1 else _SEVERAL.get(kind, one), kind)}"


def retry(verdict: Retry, until: str) -> str:
    """Return whether a request for what was not refunded may be sent again; until: the verdict's time."""
    return _RETRIES[verdict.kind].format(until=until)


def done(action: Action, number: int) -> str:
    """Return to how many cases something was done: 3 opened."""
    word = _in_a_sentence(ACTIONS[action].partition(":")[0])
    return f"{number} {'with other evidence' if action is Action.CHANGED else word}"


def _beside(phrase: str, kind: Kind) -> str:
    return phrase if plain(kind) in phrase else f"{phrase} ({plain(kind)})"


def _in_a_sentence(phrase: str) -> str:
    return phrase[0].lower() + phrase[1:]
