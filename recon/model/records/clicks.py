"""What somebody did in Slack: pressed a button of ours, or sent a dialog of ours.

Never says whether they may: who they are and what they may do is asked of the desk when it arrives.
"""

from dataclasses import dataclass
from datetime import datetime

from recon.model.buttons import Button
from recon.model.records.words import Resolution

# The lease of whoever listens for clicks: held means that somebody is connected to Slack.
LISTENER = "listener"


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody is to be answered, so that only they see it.

    slack_id: who, within their workspace or the organisation that holds it. channel: as Slack names it.
    thread_ts: of the thread they clicked in; None where it was in the channel. response_url: Slack's own
    address for answers to this click; None where it gave none. team_id: their workspace or organisation; None
    where Slack does not say, which is nobody's.
    """

    slack_id: str
    channel: str
    thread_ts: str | None = None
    response_url: str | None = None
    team_id: str | None = None


@dataclass(frozen=True, slots=True)
class Pressed:
    """A button was pressed. trigger_id: opens a dialog, for three seconds; None opens none."""

    button: Button
    place: Place
    trigger_id: str | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A dialog was sent. button: that opened it. view_id: of this one dialog, however often it arrives.

    code: only of a resolution. until: only of a snooze, aware UTC.
    """

    button: Button
    place: Place
    view_id: str
    reason: str
    code: Resolution | None = None
    until: datetime | None = None


Heard = Pressed | Sent
