"""What `recon lint` finds in other people's sources: a flaw, where it stands, and the rule that it breaks.

Never holds a source's text beyond the few words that a sentence quotes.
"""

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """What a source can do wrong; the values are what --select, --ignore and `recon: allow[...]` name."""

    KEY_FROM_RANDOM = "key-from-random"  # Another key on every attempt.
    KEY_FROM_CLOCK = "key-from-clock"  # As above, by the time.
    KEY_FROM_ATTEMPT = "key-from-attempt"  # As above, by a counter, a thread or a process.
    KEY_FROM_CALL_ID = "key-from-call-id"  # As above, by whoever asked: a tool call, a conversation.
    MISPLACED_KEY = "misplaced-key"  # A key where the SDK does not look, so that it makes a random one.
    MISSING_KEY = "missing-key"  # Money moves, and no key was given.
    RETRY_NEW_KEY = "retry-new-key"  # A retry sends another key than the attempt before it.
    RETRY_WITHOUT_KEY = "retry-without-key"  # A retry sends no key.
    ERROR_AS_FAILED = "error-as-failed"  # An error that proves nothing is told as a failure.
    PROMPT_RETRY = "prompt-retry"  # A model is told to repeat what moves money.
    BAD_ALLOW = "bad-allow"  # A `recon: allow[...]` without a reason, or of no rule.


@dataclass(frozen=True, slots=True)
class Flaw:
    """One place of one source that breaks a rule.

    line, column: count from 1, columns in characters. why: one sentence that says what happens and what to
    write instead.
    """

    line: int
    column: int
    rule: Rule
    why: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found in one source.

    flaws: in the order of the text. unreadable: why it could not be read, in one sentence without a full
    stop; None when it was read whole, and flaws is empty otherwise.
    """

    flaws: tuple[Flaw, ...] = ()
    unreadable: str | None = None


@dataclass(frozen=True, slots=True)
class Explained:
    """A rule with its reason and two examples: what breaks it, and what to write instead."""

    rule: Rule
    reason: str
    bad: str
    good: str
