"""How reminders read: whole in plain words, within Slack's limits for any number of cases, and harmless."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recon.model import reminders
from recon.model.money import EXPONENTS
from recon.model.records.cases import Case, Owner
from recon.model.records.notices import Manner, Message, Topic
from recon.model.records.owners import Profile
from recon.model.records.reminders import Holdings, Pile, Unanswered
from recon.model.records.results import Money
from recon.model.records.words import AccountId, Kind, Severity
from recon.model.settings import DashboardSettings, Settings
from tests.builders import NOON, a_case, a_mismatch
from tests.doors.store.books import case_of

HOUR = timedelta(hours=1)
MANNER = Manner.of(
    Settings(dashboard=DashboardSettings(url="http://desk")), {}, livemode=True, as_of=NOON, now=NOON + HOUR
)
HEAD = Profile("head", "U0HEAD")
HOSTILE = "<!channel> *bold* <@U1>\n\u202e" + "x" * 500
# Slack's own. Source: https://docs.slack.dev/reference/block-kit/blocks
BLOCKS, SECTION, HEADER, WHOLE, TEXT = 50, 3_000, 150, 10_000, 4_000


def many(number: int, name: str = "leads") -> list[Case]:
    dated = replace(case_of(0), snoozed_until=NOON, accepted_until=NOON + HOUR)
    return [
        replace(dated, id=case_of(each).id, owner=Owner(f"{name} {each % 9}", "#leads", "x"))
        for each in range(number)
    ]


def escalation(cases: list[Case], asked: Profile = HEAD, manner: Manner = MANNER) -> Message:
    topic = Topic("#leads", Kind.DUPLICATE, Severity.CRITICAL, cases[0].account, livemode=True)
    return reminders.escalation(topic, asked, [Unanswered(case, 1, NOON) for case in cases], manner)


def digest(cases: int, currencies: int = 1, name: str = "leads") -> Message:
    names = sorted(EXPONENTS)[:currencies]
    piles = [
        Pile(kind, severity, cases, cases, dict.fromkeys(names, 10**12), NOON)
        for severity in Severity
        for kind in Kind
    ]
    holdings = Holdings(
        "#leads",
        tuple(f"{name} {each}" for each in range(9)),
        piles=tuple(piles),
        snoozed=cases,
        wakes_at=NOON,
        ending=cases,
        ends_at=NOON,
        cleared=cases,
        resolved=cases,
        oldest=a_case(),
    )
    return reminders.digest(holdings, MANNER)


def lengths(message: Message) -> list[int]:
    """Return how long each block's text is."""
    texts = [
        block["text"]["text"] if "text" in block else "".join(each["text"] for each in block["elements"])
        for block in message.blocks
    ]
    return [len(text) for text in texts]


LARGE = {
    "escalation": lambda: escalation(many(10_000, HOSTILE)),
    "snooze": lambda: reminders.snoozes_over(many(10_000, HOSTILE), MANNER),
    "acceptance": lambda: reminders.acceptances_ending(many(10_000, HOSTILE), MANNER),
    "digest": lambda: digest(10_000, 130, HOSTILE),
}


@pytest.mark.parametrize("sort", LARGE)
def test_ten_thousand_cases_fit_into_one_message(sort: str) -> None:
    message = LARGE[sort]()

    assert len(message.blocks) <= BLOCKS
    assert len(message.blocks[0]["text"]["text"]) <= HEADER
    assert max(lengths(message)) <= SECTION
    assert sum(lengths(message)) <= WHOLE
    assert len(message.text) <= TEXT


@pytest.mark.parametrize("sort", LARGE)
def test_an_owners_name_can_neither_ping_nor_break_a_line(sort: str) -> None:
    message = LARGE[sort]()

    said = [message.text, *(str(block) for block in message.blocks)]
    assert not any("<!channel" in each or "<@U1" in each or "\u202e" in each for each in said)
    assert "\n" not in message.text


def test_whoever_comes_next_reads_what_how_many_how_much_whose_and_what_to_do() -> None:
    case = replace(case_of(1), owner=Owner("support leads", "#leads", "x"), account=AccountId("acct_1"))
    yen = replace(case, mismatch=a_mismatch(at_risk=Money(9000, "jpy")))

    said = escalation([case, yen]).text

    assert said == (
        "CRITICAL: nobody has answered for 1 h 0 min: 2 refunded twice (duplicate), 9,000 JPY and 49.00 USD "
        "at risk, oldest 59 min. Account: acct_1. Owner: support leads, told at 2026-03-06 12:00 UTC. What "
        "to do: Answer in their place, or find who does. Check whether a second refund was meant; if not, "
        "recover it or write it off. http://desk/?kind=duplicate&amp;severity=critical "
        f"{case.id} 9,000 JPY, order order_8812, customer cus_8812, account acct_1; "
        f"{case.id} 49.00 USD, order order_8812, customer cus_8812, account acct_1."
    )


@pytest.mark.parametrize(
    "asked, mention",
    [
        (Profile("head", "U0HEAD"), ""),
        (Profile("head", "#head", group="S01"), "<!subteam^S01> "),
        (Profile("head", "S02"), "<!subteam^S02> "),  # Read by the operators, who pass it on.
    ],
)
def test_a_user_group_is_rung_where_whoever_is_asked_has_one(asked: Profile, mention: str) -> None:
    told = escalation([case_of(1)], asked).blocks[1]["text"]["text"]

    assert told.startswith(f"{mention}*49.00 USD")


def test_what_runs_out_says_what_happens_then() -> None:
    case = replace(
        case_of(1), owner=Owner("leads", "#leads", "x"), snoozed_until=NOON, accepted_until=NOON + HOUR
    )

    woken, ends = (
        each([case], MANNER).text.partition(" http")[0]
        for each in (reminders.snoozes_over, reminders.acceptances_ending)
    )

    assert woken == (
        "Snooze over: 1 case waits again: 1 refunded twice (duplicate); 49.00 USD at risk, oldest 59 min. "
        "Owner: leads. What to do: Answer now, or snooze once more and say why."
    )
    assert ends == (
        "1 acceptance ends at 2026-03-06 13:00 UTC: 1 refunded twice (duplicate); 49.00 USD at risk, oldest "
        "59 min. Owner: leads. What to do: Accept for longer, or resolve. The next run after that opens "
        "again whatever it still sees."
    )


def test_the_cases_can_be_answered_where_somebody_hears_of_it() -> None:
    case = replace(case_of(1), owner=Owner("leads", "#leads", "x"), snoozed_until=NOON)
    heard = replace(MANNER, answers=True)

    menus = [
        [block["accessory"]["options"][0]["value"] for block in said.blocks if "accessory" in block]
        for said in (
            escalation([case] * 7, manner=heard),
            reminders.snoozes_over([case], heard),
            reminders.snoozes_over([case], MANNER),
        )
    ]

    assert menus == [[f"acknowledge/{case.id}/1"] * 5, [f"acknowledge/{case.id}/1"], []]


def test_a_digest_shows_each_kind_and_severity_and_the_oldest() -> None:
    whole = "\n".join(block["text"]["text"] for block in digest(2).blocks if "text" in block)

    assert [whole.count(f"• {severity.upper()}: ") for severity in Severity] == [len(Kind)] * len(Severity)
    assert (
        "• LOW: 2 outcomes unknown (stuck), 10,000,000,000.00 AED, oldest 1 h 0 min, *2 unanswered*" in whole
    )
    assert f"The oldest: <http://desk/case?case={a_case().id}" in whole
