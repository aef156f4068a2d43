"""The chain of those who are asked when nobody answers, on a real database: each of them once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recon.doors.store import cases as book
from recon.doors.store import outbox
from recon.doors.store import reminders as door
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.errors import DatabaseUnavailable
from recon.model.records.words import Action, CaseState, Kind, NoticeState, Resolution, RunId, Severity
from recon.model.settings import Settings
from recon.reminding import Reminded
from recon.rules import ownership
from tests.builders import NOON
from tests.doors.store.books import a_lease, a_run, opened
from tests.waits import (
    HOUR,
    LEADS,
    MINUTE,
    OPERATORS,
    OWNERS,
    deliver,
    lead_case,
    move,
    open_cases,
    remind,
    said,
    tell,
    whom,
)


@pytest.mark.parametrize(
    "after, asked",
    [
        (HOUR - timedelta(microseconds=1), []),
        (HOUR, ["U0HEAD"]),
        (4 * HOUR - timedelta(microseconds=1), ["U0HEAD"]),
        (4 * HOUR, ["#refund-operators"]),  # Nobody looked for hours: only who comes last is told.
    ],
)
def test_the_chain_is_asked_when_its_time_has_come(
    database: Database, after: timedelta, asked: list[str]
) -> None:
    open_cases(database, lead_case())

    remind(database, after)

    assert whom(database) == asked


def test_each_step_is_said_once_however_often_it_is_looked(database: Database) -> None:
    open_cases(database, lead_case())

    done = [remind(database, minutes * MINUTE).escalations for minutes in range(0, 600, 7)]

    assert sum(done) == 2
    assert whom(database) == ["U0HEAD", "#refund-operators"]


def test_the_chain_begins_when_the_message_went_out_not_when_it_was_composed(database: Database) -> None:
    case = lead_case()
    book.save_run(database, a_lease(database), Saving(a_run(), changes=(opened(case),)))
    tell(database, case, state=NoticeState.WAITING, sent_at=None)
    remind(database, 9 * HOUR)
    deliver(database, at=10 * HOUR)

    remind(database, 11 * HOUR - MINUTE)
    before = whom(database)
    remind(database, 11 * HOUR)

    assert (before, whom(database)) == ([], ["U0HEAD"])


def test_a_case_that_was_only_shown_in_an_edit_or_to_somebody_else_was_not_told(database: Database) -> None:
    case = lead_case()
    book.save_run(database, a_lease(database), Saving(a_run(), changes=(opened(case),)))
    tell(database, case, verb="edit")
    tell(database, case, target="#elsewhere")
    tell(database, case, created_at=NOON - MINUTE)  # Before it was theirs.

    remind(database, 5 * HOUR)

    assert whom(database) == []


def test_a_surge_tells_the_operators_in_the_owners_place(database: Database) -> None:
    case = lead_case()
    book.save_run(database, a_lease(database), Saving(a_run(), changes=(opened(case),)))
    tell(database, case, target="#refund-operators", thread_key="surge|test|1")
    remind(database, MINUTE)

    remind(database, HOUR)

    assert whom(database) == ["U0HEAD"]


def test_cases_of_one_thread_are_one_message_and_others_are_others(database: Database) -> None:
    wrong = replace(lead_case().mismatch, kind=Kind.AMOUNT_MISMATCH)
    other = lead_case(3)
    open_cases(
        database,
        lead_case(1),
        lead_case(2),
        replace(other, mismatch=replace(other.mismatch, kind=wrong.kind)),
        lead_case(4, severity=Severity.LOW),
    )

    assert remind(database, HOUR).escalations == 3
    assert sorted((each.urgency, len(each.case_ids)) for each in said(database)) == [(0, 1), (2, 1), (2, 2)]


@pytest.mark.parametrize(
    "how, changes",
    [
        (Action.ACKNOWLEDGED, {"state": CaseState.ACKNOWLEDGED}),
        (
            Action.RESOLVED,
            {"state": CaseState.RESOLVED, "resolution": Resolution.RECOVERED, "decided_fence": 1},
        ),
        (Action.SNOOZED, {"snoozed_until": NOON + 24 * HOUR}),
        (Action.ASSIGNED, {"owner": OPERATORS, "pinned": True}),
    ],
)
def test_an_answer_stops_the_chain(database: Database, how: Action, changes: dict[str, Any]) -> None:
    case = lead_case()
    open_cases(database, case)
    remind(database, HOUR)

    move(database, case, how, 2 * HOUR, **changes)
    remind(database, 5 * HOUR)

    assert whom(database) == ["U0HEAD"]


@pytest.mark.parametrize("how", [Action.REOPENED, Action.RECLASSIFIED, Action.ASSIGNED])
def test_a_case_that_becomes_theirs_anew_begins_the_chain_anew(database: Database, how: Action) -> None:
    case = lead_case()
    open_cases(database, case)
    remind(database, HOUR)
    case = move(database, case, Action.ACKNOWLEDGED, 2 * HOUR, state=CaseState.ACKNOWLEDGED)
    case = move(database, case, how, 3 * HOUR, state=CaseState.OPEN)
    tell(database, case, at=3 * HOUR)

    for minutes in range(181, 480, 13):
        remind(database, minutes * MINUTE)

    assert whom(database) == ["U0HEAD", "U0HEAD", "#refund-operators"]
    assert said(database)[1].created_at >= NOON + 4 * HOUR


def test_another_severity_alone_begins_nothing_anew(database: Database) -> None:
    case = lead_case()
    open_cases(database, case)
    rules = ownership.parse(OWNERS | {"severities": [{"level": "critical"}]})
    (change,) = ownership.reconsider(
        [case], rules, run_id=RunId("run_2"), as_of=NOON + MINUTE, now=NOON + 30 * MINUTE
    )
    book.move(database, change)
    tell(database, change.case, at=30 * MINUTE)

    remind(database, HOUR)

    assert whom(database) == ["U0HEAD"]


def test_an_owner_by_other_rules_begins_the_chain_anew(database: Database) -> None:
    case = lead_case(owner=OPERATORS)
    open_cases(database, case)
    rules = ownership.parse(OWNERS)
    (change,) = ownership.reconsider([case], rules, run_id=RunId("run_2"), as_of=NOON, now=NOON + 30 * MINUTE)
    book.move(database, change)
    tell(database, change.case, at=30 * MINUTE)

    remind(database, 90 * MINUTE - MINUTE)
    before = whom(database)
    remind(database, 90 * MINUTE)

    assert (before, whom(database)) == ([], ["U0HEAD"])


def test_new_evidence_and_comments_begin_nothing_anew(database: Database) -> None:
    case = lead_case()
    open_cases(database, case)
    case = move(database, case, Action.CHANGED, 30 * MINUTE)
    tell(database, case, at=30 * MINUTE)
    move(database, case, Action.COMMENTED, 40 * MINUTE)

    remind(database, HOUR)
    remind(database, 2 * HOUR)

    assert whom(database) == ["U0HEAD"]


def test_a_snooze_that_runs_out_is_said_and_then_the_chain_begins_anew(database: Database) -> None:
    case = lead_case()
    open_cases(database, case)
    case = move(database, case, Action.SNOOZED, 10 * MINUTE, snoozed_until=NOON + 6 * HOUR)
    tell(database, case, at=10 * MINUTE)
    asleep = [remind(database, minutes * MINUTE).total for minutes in range(11, 360, 29)]

    woken = remind(database, 6 * HOUR)
    deliver(database, at=6 * HOUR)
    again = remind(database, 7 * HOUR - MINUTE)
    asked = remind(database, 7 * HOUR)

    assert (sum(asleep), woken, again, asked) == (
        0, Reminded(snoozes=1), Reminded(), Reminded(escalations=1)
    )  # fmt: skip
    assert said(database, "snooze")[0].target == "#support-leads"
    assert whom(database) == ["U0HEAD"]


def test_a_case_that_changes_hands_asleep_sleeps_on_and_begins_when_it_wakes(database: Database) -> None:
    case = lead_case(owner=OPERATORS)
    open_cases(database, case)
    case = move(database, case, Action.SNOOZED, 10 * MINUTE, snoozed_until=NOON + 6 * HOUR)
    case = move(database, case, Action.ASSIGNED, 20 * MINUTE, owner=LEADS, pinned=True)
    tell(database, case, at=20 * MINUTE)

    for hours in (1, 2, 5, 6):
        remind(database, hours * HOUR)
    deliver(database, at=6 * HOUR)
    remind(database, 7 * HOUR - MINUTE)
    before = whom(database)
    remind(database, 7 * HOUR)

    assert (before, whom(database)) == ([], ["U0HEAD"])


def test_a_snooze_that_new_evidence_ends_begins_the_chain_with_that_news(database: Database) -> None:
    case = lead_case()
    open_cases(database, case, lead_case(2, owner=OPERATORS))
    move(database, lead_case(2, owner=OPERATORS), Action.CHANGED, 5 * MINUTE)
    case = move(database, case, Action.SNOOZED, 10 * MINUTE, snoozed_until=NOON + 9 * HOUR)
    tell(database, case, at=10 * MINUTE)
    case = move(database, case, Action.CHANGED, 5 * HOUR, snoozed_until=None)
    tell(database, case, at=5 * HOUR)

    remind(database, 6 * HOUR - MINUTE)
    before = whom(database)
    remind(database, 6 * HOUR)

    assert (before, whom(database)) == ([], ["U0HEAD"])


def test_the_head_sleeps_but_for_what_is_critical(database: Database) -> None:
    critical = lead_case(2, severity=Severity.CRITICAL)
    book.save_run(
        database,
        a_lease(database),
        Saving(a_run(), changes=(opened(lead_case(1)), opened(critical))),
    )
    for case in (lead_case(1), critical):
        tell(database, case, at=11 * HOUR)

    remind(database, 12 * HOUR)  # At midnight.

    held = {each.urgency: each.next_at - NOON for each in said(database)}
    assert held == {3: 12 * HOUR, 2: 19 * HOUR}
    assert whom(database) == ["U0HEAD", "U0HEAD"]


def test_two_looks_at_once_say_everything_once(database: Database) -> None:
    day = OWNERS["owners"] | {"support leads": OWNERS["owners"]["support leads"] | {"digest_at": "13:00"}}
    settings = Settings(owners=OWNERS | {"owners": day})
    open_cases(
        database,
        *(lead_case(number) for number in range(20)),
        *(lead_case(n, snoozed_until=NOON + HOUR, state=CaseState.ACKNOWLEDGED) for n in range(20, 30)),
        *(
            lead_case(
                number,
                state=CaseState.ACCEPTED,
                accepted_until=NOON + HOUR,
                decided_at=NOON,
                decided_fence=1,
            )
            for number in range(30, 40)
        ),
    )

    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(lambda _: remind(database, HOUR, settings), range(8)))

    told = [case for each in said(database, "") if each.verb == "root" for case in each.case_ids]
    assert sorted(told) == sorted({lead_case(number).id for number in range(40)})
    assert sum(each.digests for each in done) == 1


def test_a_look_that_dies_before_it_has_saved_says_nothing_and_the_next_one_everything(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_cases(database, lead_case(1), lead_case(2, snoozed_until=NOON + HOUR))
    remind(database, MINUTE)

    def die(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("It is away.")

    with monkeypatch.context() as patch:
        patch.setattr(outbox, "add", die)
        with pytest.raises(DatabaseUnavailable):
            remind(database, HOUR)
    assert said(database, "escalation") == said(database, "snooze") == []

    assert remind(database, HOUR) == Reminded(escalations=1, snoozes=1)


def test_a_case_that_moves_while_it_is_looked_at_is_left_to_the_next_look(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = lead_case()
    open_cases(database, case)
    remind(database, MINUTE)
    hold = door.hold

    def late(connection: object, read: object) -> object:
        return hold(connection, [replace(each, version=each.version - 1) for each in read])  # type: ignore[arg-type, attr-defined]

    monkeypatch.setattr(door, "hold", late)
    moved = remind(database, 90 * MINUTE)
    monkeypatch.setattr(door, "hold", hold)

    assert moved.escalations == 0
    assert remind(database, 3 * HOUR).escalations == 1


def test_more_than_one_look_can_take_is_said_by_the_next(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_cases(database, *(lead_case(number) for number in range(7)))
    remind(database, MINUTE)
    monkeypatch.setattr(door, "LIMIT", 3)

    done = [remind(database, halves * HOUR / 2).escalations for halves in range(3, 8)]

    assert done == [1, 1, 1, 0, 0]
    assert sorted(len(each.case_ids) for each in said(database)) == [1, 3, 3]


def test_ticks_that_stopped_for_days_lose_no_step(database: Database) -> None:
    open_cases(database, lead_case(1))
    remind(database, MINUTE)

    remind(database, 72 * HOUR)

    assert whom(database) == ["#refund-operators"]


def test_a_clock_that_was_ahead_keeps_nothing_back_afterwards(database: Database) -> None:
    remind(database, 240 * HOUR)
    open_cases(database, lead_case(1))

    remind(database, HOUR)

    assert whom(database) == ["U0HEAD"]


def test_a_chain_that_is_made_longer_asks_who_is_new_in_it(database: Database) -> None:
    open_cases(database, lead_case(1))
    short = OWNERS["owners"] | {
        "support leads": {
            "target": "#support-leads",
            "digest_at": "",
            "escalation": [{"after_minutes": 60, "owner": "head of support"}],
        }
    }
    remind(database, 5 * HOUR, Settings(owners=OWNERS | {"owners": short}))
    remind(database, 9 * HOUR, Settings(owners=OWNERS | {"owners": short}))

    remind(database, 10 * HOUR)

    assert whom(database) == ["U0HEAD", "#refund-operators"]


def test_nothing_is_written_where_nothing_is_to_be_said(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_cases(database, lead_case(1))
    remind(database, MINUTE)
    monkeypatch.setattr(Database, "write", None)

    assert remind(database, 5 * MINUTE) == Reminded()
