"""A reader who hears only the plain text knows what it is, how many, how much, whose, and what to do."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from recon.model import alarms, messages, reminders
from recon.model.messages import News
from recon.model.records.cases import Case
from recon.model.records.notices import Manner, Message, Standing, Topic
from recon.model.records.owners import Profile
from recon.model.records.reminders import Holdings, Pile, Unanswered
from recon.model.records.results import Money, Reject
from recon.model.records.runs import AccountReading
from recon.model.records.words import AccountId, Action, CaseState, Kind, Severity
from recon.model.settings import DashboardSettings, Settings
from recon.rules import staleness
from tests.builders import NOON, an_owner
from tests.doors.store.books import a_run, case_of

HOUR = timedelta(hours=1)
LINK = "https://desk.example"
MANNER = Manner.of(
    Settings(dashboard=DashboardSettings(url=LINK)), {}, livemode=True, as_of=NOON + HOUR, now=NOON + HOUR
)


def priced(number: int, minor: int, currency: str) -> Case:
    case = case_of(number)
    return replace(case, mismatch=replace(case.mismatch, at_risk=Money(minor, currency)))


THREE = (priced(1, 4900, "usd"), priced(2, 1200, "usd"), priced(3, 650, "jpy"))
MONEY = ("61.00 USD", "650 JPY")
OWNER = an_owner()
TOPIC = Topic("#payments", Kind.DUPLICATE, Severity.HIGH, AccountId(""), livemode=True)
STEP = "What to do: Check whether a second refund was meant"
ENDED = tuple(replace(case, state=CaseState.CLEARED) for case in THREE)
UNREAD = AccountReading(
    AccountId("acct_2"), NOON, NOON, complete=False, pages=0, refunds=0, changed=0, error="not reached"
)
DATED = tuple(replace(case, snoozed_until=NOON, accepted_until=NOON + 2 * HOUR) for case in THREE)
HELD = Holdings(
    "#payments",
    (OWNER.name,),
    piles=(Pile(Kind.DUPLICATE, Severity.HIGH, 3, 3, {"usd": 6100, "jpy": 650}, NOON),),
    oldest=THREE[0],
)


def root(standing: Standing) -> Message:
    return messages.root(TOPIC, [OWNER], standing, MANNER, ping=False)


def reply(action: Action, cases: tuple[Case, ...]) -> Message:
    return messages.replies(
        TOPIC, [OWNER], [News(case, action, "Why.") for case in cases], MANNER, ping=False
    )[0][0]


# What is read out of which message: each of these words.
READ_OUT: dict[str, tuple[Callable[[], Message], tuple[str, ...]]] = {
    "a root": (
        lambda: root(Standing(THREE)),
        ("HIGH: 3 refunded twice (duplicate)", *MONEY, "oldest", "Owner: Payments on call.", STEP),
    ),
    "a root at rest": (
        lambda: root(Standing((), ENDED)),
        ("Nothing waits: Refunded twice", "high", "3 cleared", "Owner: Payments on call.", "to do: nothing."),
    ),
    "what opened": (
        lambda: reply(Action.OPENED, THREE),
        ("HIGH, Refunded twice (duplicate): 3 opened", *MONEY, "Owner: Payments on call.", STEP, THREE[2].id),
    ),
    "what cleared": (
        lambda: reply(Action.CLEARED, ENDED),
        ("Refunded twice (duplicate): 3 cleared", "Owner: Payments on call.", "to do: nothing."),
    ),
    "an escalation": (
        lambda: reminders.escalation(
            TOPIC, Profile("head", "U0HEAD"), [Unanswered(case, 1, NOON) for case in THREE], MANNER
        ),
        (
            "HIGH: nobody has answered for 1 h",
            "3 refunded twice",
            *MONEY,
            "Owner: Payments on call",
            "to do:",
        ),
    ),
    "a snooze's end": (
        lambda: reminders.snoozes_over(DATED, MANNER),
        ("Snooze over: 3 cases", "3 refunded twice", *MONEY, "Owner: Payments on call.", "What to do: "),
    ),
    "an acceptance's end": (
        lambda: reminders.acceptances_ending(DATED, MANNER),
        ("3 acceptances end", "3 refunded twice", *MONEY, "Owner: Payments on call.", "What to do: "),
    ),
    "a digest": (
        lambda: reminders.digest(HELD, MANNER),
        ("Today: 3 cases wait", "3 refunded twice", *MONEY, "Owner: Payments on call.", "What to do: "),
    ),
    "a surge": (
        lambda: alarms.surge(THREE, MANNER),
        ("Surge: 3 new cases", "3 refunded twice (duplicate)", *MONEY, "What to do: "),
    ),
    "an incomplete run": (
        lambda: alarms.incomplete([UNREAD], [], MANNER),
        ("Not to be trusted", "Of 1 account, 1 could not be read", "acct_2: not reached", "What to do: "),
    ),
    "rejected rows": (
        lambda: alarms.rejected([Reject("intents", 1, "8812", "no amount", AccountId(""))], MANNER),
        ("1 row of intents could not be judged", "no amount", "What to do: "),
    ),
    "a stale alarm": (
        lambda: (
            staleness.alarm(
                a_run(),
                3 * HOUR,
                stale_after=HOUR,
                now=NOON + 3 * HOUR,
                dashboard_url=LINK,
                channel="#operators",
            ).message
        ),
        ("Stale: no complete run for 3 h", "What to do: look at the job and its log"),
    ),
}


@pytest.mark.parametrize("what", READ_OUT)
def test_what_is_read_out_is_enough_to_act_on(what: str) -> None:
    made, words = READ_OUT[what]
    text = made().text

    assert [word for word in (*words, LINK) if word not in text] == []
