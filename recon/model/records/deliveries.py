"""What became of one attempt to say something: sent, not sent, unknown; or what a look-up found.

Never says what follows from it: rules/deliveries.py does.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Delivered:
    """Slack has the message. channel: the id Slack named; ts: the message's timestamp in it."""

    channel: str
    ts: str


@dataclass(frozen=True, slots=True)
class NotSent:
    """Slack certainly does not have the message.

    reason: for people, without secrets. retry_after_seconds: what Slack asked for, None when it did not.
    permanent: the same again would be refused again. counted: it says something of this message, so that it
    counts towards the limit of attempts; False when nothing could be sent, as while Slack is not reachable.
    gone: the message to edit or to reply to is not there, or may not be edited. astray: this place takes no
    message of ours, whatever it says; another may.
    """

    reason: str
    retry_after_seconds: float | None = None
    permanent: bool = False
    counted: bool = True
    gone: bool = False
    astray: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """Slack may have the message or not. repeatable: doing it once more does no harm, as with an edit."""

    reason: str
    repeatable: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """Nothing was tried, because something else must come first. silent: as with Unreadable."""

    reason: str
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Absent:
    """The channel was read completely from before the first send, and the message is not in it."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The channel could not be read completely, which proves nothing.

    silent: nothing usable came from Slack, so that asking for more has little use now.
    """

    reason: str
    silent: bool = False


Outcome = Delivered | NotSent | Unknown | Held
Finding = Delivered | Absent | Unreadable
