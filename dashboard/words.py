"""What the pages call the closed vocabularies: one short phrase for each word, and the symbol beside it.

What Slack and the terminal say as well comes from recon.model.wording, so that all say the same. Never holds
text from a database: everything here may be shown as markdown.
"""

from typing import Final, Literal

from recon.model import wording
from recon.model.records.words import (
    CaseState,
    Certainty,
    Direction,
    Finding,
    NoticeState,
    Severity,
    Verdict,
)

Color = Literal["red", "orange", "blue", "green", "gray"]

NOBODY: Final = "nobody yet"  # Who owns a case without an owner.

KINDS: Final = wording.KINDS

CERTAINTIES: Final = {
    Certainty.CONFIRMED: "proved by the books",
    Certainty.PROBABLE: "probable: a person has to look",
}

FINDINGS: Final = {
    Finding.LANDED: "refunds that belong to it are at the provider",
    Finding.PROBABLE: "a refund of its payment and amount is at the provider, and names no intent",
    Finding.FAILED: "only refunds that failed or were canceled are at the provider",
    Finding.ABSENT: "no refund of it is at the provider, and everything was read",
    Finding.UNKNOWN: "what was read, and what the intent says, cannot tell",
}

DIRECTIONS: Final = {
    Direction.OVER: "more went back than intended",
    Direction.UNDER: "less went back than intended",
}

STATES: Final = {
    CaseState.OPEN: "Open",
    CaseState.ACKNOWLEDGED: "Acknowledged",
    CaseState.RESOLVED: "Resolved",
    CaseState.ACCEPTED: "Accepted",
    CaseState.CLEARED: "Cleared",
}

STATE_COLORS: Final[dict[CaseState, Color]] = {
    CaseState.OPEN: "orange",
    CaseState.ACKNOWLEDGED: "blue",
    CaseState.RESOLVED: "green",
    CaseState.ACCEPTED: "gray",
    CaseState.CLEARED: "green",
}

# Each severity has a word and a shape of its own: color alone says nothing to some of us.
SEVERITIES: Final = wording.SEVERITIES

SEVERITY_COLORS: Final[dict[Severity, Color]] = {
    Severity.CRITICAL: "red",
    Severity.HIGH: "orange",
    Severity.MEDIUM: "blue",
    Severity.LOW: "gray",
}

SEVERITY_ICONS: Final = {
    Severity.CRITICAL: ":material/error:",
    Severity.HIGH: ":material/keyboard_double_arrow_up:",
    Severity.MEDIUM: ":material/drag_handle:",
    Severity.LOW: ":material/keyboard_arrow_down:",
}

RESOLUTIONS: Final = wording.RESOLUTIONS

ACTIONS: Final = wording.ACTIONS

VERDICTS: Final = {verdict: phrase.capitalize() for verdict, phrase in wording.VERDICTS.items()}

VERDICT_COLORS: Final[dict[Verdict, Color]] = {
    Verdict.INCOMPLETE: "red",
    Verdict.BREAKS: "orange",
    Verdict.RECONCILED_WITH_PENDING: "blue",
    Verdict.RECONCILED: "green",
}

VERDICT_ICONS: Final = {
    Verdict.INCOMPLETE: ":material/error:",
    Verdict.BREAKS: ":material/compare_arrows:",
    Verdict.RECONCILED_WITH_PENDING: ":material/hourglass_top:",
    Verdict.RECONCILED: ":material/check_circle:",
}

# What a run counted, in the order in which it is read.
COUNTS: Final = {
    "intents": "Intents",
    "refunds": "Refunds",
    "matched": "In agreement",
    "matched_inferred": "Of these, by inference only",
    "in_flight": "In flight",
    "healable": "Proved, to be finished",
    "withheld": "Withheld",
    "rejected": "Rejected rows",
    "superseded": "Older versions of rows",
    "system": "Made by the provider",
    "declared_repeats": "Declared repeats",
    "unknown_status": "Of unknown status",
}

NOTICE_STATES: Final = {
    NoticeState.WAITING: "Waiting",
    NoticeState.SENDING: "Being sent",
    NoticeState.UNKNOWN: "Unknown",
    NoticeState.SENT: "Sent",
    NoticeState.UNDELIVERABLE: "Given up",
}

NOTICE_COLORS: Final[dict[NoticeState, Color]] = {
    NoticeState.WAITING: "blue",
    NoticeState.SENDING: "blue",
    NoticeState.UNKNOWN: "orange",
    NoticeState.SENT: "green",
    NoticeState.UNDELIVERABLE: "red",
}

NOTICE_ICONS: Final = {
    NoticeState.WAITING: ":material/schedule:",
    NoticeState.SENDING: ":material/send:",
    NoticeState.UNKNOWN: ":material/help:",
    NoticeState.SENT: ":material/check_circle:",
    NoticeState.UNDELIVERABLE: ":material/error:",
}

# What a message is in its channel.
VERBS: Final = {
    "root": "New message",
    "reply": "Reply",
    "call": "Reply in the channel",
    "edit": "Rewritten",
}
