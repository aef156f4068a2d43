"""What is known of one unsettled intent when a person settles it: our books, and what the provider shows.

Never decides anything: rules/settling.py does.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recon.model.records.provider import Intent, Refund
from recon.model.records.words import IntentKey, RefundId


@dataclass(frozen=True, slots=True)
class Sighting:
    """A refund as the provider shows it now.

    holder: the intent that it belongs to by our books, by a key or by that intent's record; None where it is
    nobody's.
    """

    refund: Refund
    holder: IntentKey | None


@dataclass(frozen=True, slots=True)
class Look:
    """One look-up of the refunds of an intent's payment.

    at: when it began. sightings: every refund of the payment, newest first. failed: why not all of it was
    read, as a sentence; nothing is known then. None where all was.
    """

    at: datetime
    sightings: tuple[Sighting, ...] = ()
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What a person is shown of one look-up. said: what was found, in words.

    likely: the one live refund that is the intent's or else may be; None where there is none, or several.
    """

    look: Look
    said: str
    likely: RefundId | None


@dataclass(frozen=True, slots=True)
class Books:
    """What our books say of an intent.

    mapped: it is copied from somebody else's table, which is only read. guarded: the guarded tool made it.
    first_sent_at, sent_at: of its first request and of its latest; None while nothing was sent. busy_until:
    until when the guarded tool alone may act on it; in the past where it is not at it, None where it never
    was. named: refunds of the mirror that are its own, by a key or by its record, live or dead.
    """

    intent: Intent
    mapped: bool = False
    guarded: bool = False
    first_sent_at: datetime | None = None
    sent_at: datetime | None = None
    busy_until: datetime | None = None
    named: tuple[Refund, ...] = ()


class RetryKind(StrEnum):
    """Whether a request for an intent that was not refunded may be sent once more."""

    NEVER_SENT = "never_sent"  # No request was recorded: no key protects it.
    SAFE = "safe"  # The provider still knows the key: with it, nothing is refunded twice.
    OVER = "over"  # The provider may have forgotten the key: with it, this would be a new refund.
    SPENT = "spent"  # The key made a refund that came to nothing, and would only show it again.


@dataclass(frozen=True, slots=True)
class Retry:
    """The verdict on sending once more. until: up to when the key protects; None where none ever did."""

    kind: RetryKind
    until: datetime | None = None
