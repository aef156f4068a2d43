"""What a month has in store for the hour: when it runs, and what it meets.

Never touches anything: life.py lets it blow.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from random import Random

HOUR = timedelta(hours=1)
LOST_LEASE = timedelta(minutes=6)  # A run that stands still for longer than its lease.


class Sky(StrEnum):
    """How the provider is while a run is at it."""

    CLEAR = "clear"
    AWAY = "away"  # Every request is dropped.
    REFUSING = "refusing"  # 500 to every request.
    LIMITING = "limiting"  # 429 to every request.
    NO_LISTS = "no lists"  # It answers, and lists break off.
    SECOND_PAGE = "second page"  # Lists break off after their first page.
    SECOND_ACCOUNT = "second account"  # The connected account cannot be read.
    NO_EVENTS = "no events"  # The list of events breaks off.
    NO_LOOKS = "no looks"  # Single refunds cannot be retrieved.
    CUT = "cut"  # Half a body.
    HTML = "html"  # Somebody's web page as a 200.
    HANGING = "hanging"  # Silence, for longer than we wait.
    DRIPPING = "dripping"  # A byte a second.


class Slack(StrEnum):
    """How Slack is while something is delivered."""

    CLEAR = "clear"
    AWAY = "away"  # Every request is dropped.
    REFUSING = "refusing"  # 500 to every request.
    LIMITING = "limiting"  # 429 to every request.
    LOSING = "losing"  # It takes the message, and the answer is lost; three times.
    FATAL = "fatal"  # fatal_error, and it has happened or not; twice.


class Turn(StrEnum):
    """What happens in the middle of a run."""

    NONE = "none"
    LEASE = "lease"  # It stands still, and another run takes the lease.
    WORLD = "world"  # Things happen between its reading and its saving.
    DESK = "desk"  # Operators act between its reading and its saving.


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour: when it begins, whether a run comes, and what that run meets.

    at: None where no run comes. ticks: when the minute's job comes. hides: how many seconds fresh refunds
    stay invisible. policy: whether the graces change before it.
    """

    begins: datetime
    at: datetime | None
    ticks: tuple[datetime, ...]
    sky: Sky
    slack: Slack
    turn: Turn
    hides: float
    dry: bool
    policy: bool
    drift: timedelta


def forecast(chance: Random, begins: datetime, days: int) -> Iterator[Hour]:
    """Yield a month's hours; the last two days are calm, so that everything can be told."""
    sky, slack, drift = Sky.CLEAR, Slack.CLEAR, timedelta(0)
    sky_until = slack_until = dark_until = begins
    policy_at = chance.randrange(24, max(25, days * 24))
    for number in range(days * 24):
        hour = begins + number * HOUR
        if number % 24 == 0:
            drift = timedelta(seconds=chance.choice((0, 0, 40, -40, 200, -200)))
        if hour >= sky_until:
            sky = chance.choice(list(Sky)) if number and chance.random() < 0.05 else Sky.CLEAR
            sky_until = hour + chance.choice((1, 1, 2, 5, 12)) * HOUR
        if sky in {Sky.HANGING, Sky.DRIPPING}:
            sky_until = min(sky_until, hour + HOUR)  # They cost real time.
        if hour >= slack_until:
            slack = chance.choice(list(Slack)) if chance.random() < 0.06 else Slack.CLEAR
            slack_until = hour + chance.choice((1, 2, 6, 14)) * HOUR
        if hour >= dark_until and number and chance.random() < 0.012:
            dark_until = hour + chance.choice((1, 4, 10)) * HOUR
        late = chance.choice((5, 5, 5, 5, 6, 17, 49))
        runs = hour >= dark_until
        yield Hour(
            begins=hour,
            at=hour + timedelta(minutes=late) if runs else None,
            ticks=(hour + timedelta(minutes=chance.choice((25, 56)) if late < 25 else 56),),
            sky=sky,
            slack=slack,
            turn=_turn(chance),
            hides=chance.choice((0.0, 0.0, 0.0, 40.0)),
            dry=chance.random() < 0.02,
            policy=number == policy_at,
            drift=drift,
        )


def calm(begins: datetime, hours: int) -> Iterator[Hour]:
    """Yield hours in which nothing goes wrong."""
    for number in range(hours):
        hour = begins + number * HOUR
        at = hour + timedelta(minutes=5)
        ticks = (hour + timedelta(minutes=25),)
        yield Hour(
            hour,
            at,
            ticks,
            Sky.CLEAR,
            Slack.CLEAR,
            Turn.NONE,
            0.0,
            dry=False,
            policy=False,
            drift=timedelta(0),
        )


def _turn(chance: Random) -> Turn:
    dice = chance.random()
    for turn, part in ((Turn.LEASE, 0.015), (Turn.WORLD, 0.05), (Turn.DESK, 0.05)):
        if dice < part:
            return turn
        dice -= part
    return Turn.NONE
