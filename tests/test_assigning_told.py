"""Why a case is whose it is, and what is to be said of the rules in force."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from recon import assigning
from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.conditions import Unfit
from recon.model.errors import Report
from recon.model.records.cases import Case
from recon.model.records.notices import Topic
from recon.model.records.words import Actor, Kind, NoticeState, Resolution, Severity
from recon.model.settings import Settings
from recon.rules import moves
from tests import rosters, seeds
from tests.builders import NOON
from tests.hours import a_town
from tests.rosters import DOUBLES, LEAD, NOW, SETTINGS, apply, as_stored, by_hand, move, ruled
from tests.sandboxes import Street
from tests.town import a_notice


@pytest.fixture(name="doubles")
def seeded(database: Database) -> tuple[Case, ...]:
    """Three cases of orders refunded twice, which the operators own."""
    return rosters.doubles(database)


def told(database: Database, case: Case, *, sent_at: datetime, verb: str = "root") -> None:
    """Let a notice about a case have gone out to its owner."""
    topic = Topic.of(case, livemode=False)
    assert topic is not None
    notice = a_notice(
        f"{verb}-{case.id}",
        verb=verb,
        thread=topic.key,
        target=topic.target,
        case_ids=(case.id,),
        created_at=sent_at,
    )
    with database.write() as connection:
        outbox.add(connection, [notice])
        columns = tables.notices.c
        connection.execute(
            tables.notices.update()
            .where(columns.dedupe_key == notice.dedupe_key)
            .values(state=NoticeState.SENT, sent_at=sent_at)
        )


def explained(
    database: Database, case: Case, settings: Settings = SETTINGS, *, now: datetime = NOW
) -> assigning.Explanation:
    return assigning.explain(database, settings, case.id, now=now)


def test_each_rule_is_tried_and_the_first_matcher_that_fails_is_named(
    database: Database, doubles: tuple[Case, ...]
) -> None:
    small = {"name": "small", "owner": "leads", "kind": "duplicate", "amount_below_minor": {"usd": 100}}
    found = explained(database, doubles[0], ruled(DOUBLES, small))

    assert [(each.name, each.says, each.unfit, each.wins) for each in found.rules] == [
        ("everything", "refund operators", None, False),
        ("doubles", "leads", None, True),
        ("small", "leads", Unfit("amount_below_minor", "49.00 USD", "less than 1.00 USD"), False),
    ]
    assert [(each.says, each.wins) for each in found.severities] == [("high", True)]
    assert (found.owner, found.severity, found.pinned_by) == (LEAD, Severity.HIGH, None)


def test_whoever_gave_a_case_to_its_owner_by_hand_is_named(
    database: Database, doubles: tuple[Case, ...]
) -> None:
    by_hand(database, doubles[0])
    apply(database, ruled(DOUBLES, severities=[{"level": "low"}]))  # Which moves it as well.
    found = explained(database, as_stored(database, doubles[0]))

    assert (found.pinned_by, found.case.owner and found.case.owner.name, found.owner) == ("Ana", "Cy", LEAD)
    assert found.profile is not None
    assert (found.profile.target, found.profile.steps) == ("U0CY", ())


@pytest.mark.parametrize(
    "severity, at, expected, resting",
    [
        ("high", "2026-03-06T20:59:59Z", "2026-03-06T20:59:59Z", False),
        ("high", "2026-03-06T21:00:00Z", "2026-03-07T06:00:00Z", True),  # Ten at night in Berlin.
        ("critical", "2026-03-06T21:00:00Z", "2026-03-06T21:00:00Z", False),
    ],
)
def test_the_next_message_waits_for_quiet_hours_to_end_unless_it_is_critical(
    database: Database, doubles: tuple[Case, ...], *, severity: str, at: str, expected: str, resting: bool
) -> None:
    settings = ruled(DOUBLES, severities=[{"level": severity}])
    apply(database, settings)
    found = explained(database, doubles[0], settings, now=datetime.fromisoformat(at))

    assert found.awake_at == datetime.fromisoformat(expected)
    assert found.resting is resting


def test_a_chain_is_counted_from_when_its_owner_was_told(
    database: Database, doubles: tuple[Case, ...]
) -> None:
    told(database, doubles[0], sent_at=NOW - timedelta(minutes=5))  # To whoever had it before.
    apply(database)
    untold = explained(database, doubles[0])
    told(database, as_stored(database, doubles[0]), sent_at=NOW + timedelta(minutes=1), verb="edit")
    edited = explained(database, doubles[0])
    told(database, as_stored(database, doubles[0]), sent_at=NOW + timedelta(minutes=2), verb="reply")
    heard = explained(database, doubles[0])

    assert (untold.told_at, edited.told_at, heard.told_at) == (None, None, NOW + timedelta(minutes=2))
    assert heard.profile is not None
    assert [step.owner for step in heard.profile.steps] == ["refund operators"]


def test_of_a_decided_case_nobody_is_told(database: Database, doubles: tuple[Case, ...]) -> None:
    by: dict[str, Any] = {
        "actor": Actor("Ana"),
        "reason": "So.",
        "now": NOW,
        "action_id": "decided",
        "fence": 1,
    }
    decided = move(database, moves.resolve(doubles[0], code=Resolution.RECOVERED, **by))
    found = explained(database, decided)

    assert (found.decided, found.profile, found.awake_at) == (True, None, None)


def test_of_a_case_that_is_nobodys_on_purpose_nobody_is_told(
    database: Database, doubles: tuple[Case, ...]
) -> None:
    settings = ruled({"name": "closed", "unowned": "Says finance."})
    apply(database, settings)
    found = explained(database, doubles[0], settings)

    assert (found.decided, found.profile) == (False, None)


@pytest.mark.parametrize("named", ["", "C-AAAAAAAAAA", "C-\x00", "\ud800", "x" * 10_000, "%"])
def test_a_case_that_is_not_there_is_said(database: Database, named: str) -> None:
    with pytest.raises(Report, match="found none with the id"):
        assigning.explain(database, SETTINGS, named, now=NOW)


def test_the_rules_in_force_are_counted(database: Database, doubles: tuple[Case, ...]) -> None:
    other = replace(seeds.duplicate(7, at=NOON), kind=Kind.MISSING, team=None)
    seeds.run(database, [other], now=NOW, number=2)
    by_hand(database, doubles[0])
    found = assigning.survey(SETTINGS, database)

    assert [(rule.name, rule.wins) for rule in found.rules] == [("everything", 1), ("doubles", 3)]
    assert [(level.says, level.wins) for level in found.severities] == [("high", 4)]
    assert found.caught == {("", ""): 1}
    assert (found.pinned, found.moves) == (1, 2)
    assert [remark.found for remark in found.remarks] == [
        "2 open cases would get another owner or severity now."
    ]
    apply(database)
    assert assigning.survey(SETTINGS, database).remarks == ()


def test_without_a_database_the_rules_are_looked_over_all_the_same() -> None:
    found = assigning.survey(ruled(DOUBLES, DOUBLES | {"name": "again"}), None)

    assert [rule.wins for rule in found.rules] == [0, 0, 0]
    assert ["'doubles' never wins" in remark.found for remark in found.remarks] == [True]
    assert found.judged_at is None


def test_the_providers_reason_reaches_the_rule_that_asks_for_it(database: Database, sandbox: Street) -> None:
    fraud = {"name": "fraud", "reason": "fraudulent", "owner": "leads"}
    town = a_town(database, sandbox, owners=ruled(fraud).owners)
    for name, reason in (("1", "fraudulent"), ("2", "requested_by_customer")):
        intent, _ = town.refund(name)
        town.pay(intent, reason=reason)
    town.run()

    assert {case.mismatch.order_id: case.owner and case.owner.rule for case in town.waiting()} == {
        "order_1": "fraud",
        "order_2": "everything",
    }
