"""Who may use the desk, and who came to its door. Never holds a secret: signing in is somebody else's."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from recon.model.records.words import Actor, Role

NAME_LIMIT: Final = 80  # Characters: Slack's own limit for a name, and it fits a line of the story.


@dataclass(frozen=True, slots=True)
class Operator:
    """A person at the desk.

    name: as entries name them. active: False keeps the name for the books and lets them do nothing. slack_id:
    who they are in Slack, and nobody else is; None where they do not answer there. since: when they signed
    in, which ends at some time; None where no sign-in is asked for: on this machine, or in Slack.
    """

    name: Actor
    role: Role
    active: bool = True
    slack_id: str | None = None
    since: datetime | None = None


class Shut(StrEnum):
    """Why somebody does not come in."""

    SIGNED_OUT = "signed_out"  # Nobody has signed in yet.
    ENDED = "ended"  # The sign-in was ended, or is too old.
    NAMELESS = "nameless"  # The provider does not vouch for an address that entries could name.
    NO_ROLE = "no_role"  # Nothing in the settings names the person or a group of theirs.
    REMOVED = "removed"  # Somebody took their rights away.
    UNPROVED = "unproved"  # The request does not prove that it comes from the proxy.


@dataclass(frozen=True, slots=True)
class Refused:
    """Somebody who does not come in.

    sentence: for them. name: who they are; "" where nobody vouches for it.
    """

    why: Shut
    sentence: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Arrival:
    """Whom the proxy vouches for. at: when their connection was made."""

    name: Actor
    groups: tuple[str, ...]
    at: datetime


def named(text: object) -> Actor | None:
    """Return the name that entries know somebody by; None where it is not one that a story can tell.

    An e-mail address is written in small letters, but only A to Z have them here: whatever else folds to one
    of those is another letter, and so another person.
    """
    if not isinstance(text, str) or not 0 < len(text) <= NAME_LIMIT:
        return None
    if not text.isprintable() or text != text.strip():
        return None
    if "@" not in text:
        return Actor(text)
    return Actor("".join(each.lower() if each.isascii() else each for each in text))
