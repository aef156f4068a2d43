from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from recon.model.records.runs import Run
from recon.model.records.words import RunId, Verdict
from recon.rules import staleness

NOON = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)
RUN = Run(
    id=RunId("r1"),
    fence=1,
    started_at=NOON - timedelta(minutes=1),
    finished_at=NOON,
    as_of=NOON,
    verdict=Verdict.BREAKS,
    mark=0,
    policy_digest="",
    full=True,
    counts={},
    at_risk={},
    opened=0,
    cleared=0,
    healed=0,
    accounts=(),
)
FIRST = replace(RUN, started_at=NOON - timedelta(hours=5), verdict=Verdict.INCOMPLETE)
LIMIT = timedelta(hours=2)


@pytest.mark.parametrize(
    "complete,latest,now,stale",
    [
        (RUN, [RUN], NOON, False),
        (RUN, [RUN], NOON + LIMIT - timedelta(seconds=1), False),
        (RUN, [RUN], NOON + LIMIT, True),
        (RUN, [FIRST, RUN], NOON, False),
        (None, [], NOON, False),
        (None, [RUN], NOON, False),
        (None, [RUN, FIRST], NOON, True),
        # Clocks that were wrong: the run's was ahead, so the provider's time counts; or ours is behind both.
        (replace(RUN, finished_at=NOON + 9 * LIMIT), [RUN], NOON + LIMIT, True),
        (replace(RUN, finished_at=NOON + 9 * LIMIT), [RUN], NOON, False),
        (replace(RUN, as_of=NOON - 9 * LIMIT), [RUN], NOON, False),
        (RUN, [RUN], NOON - 9 * LIMIT, False),
        (None, [RUN], NOON - 9 * LIMIT, False),
    ],
)
def test_the_hour_has_stopped_when_no_complete_run_is_young_enough(
    complete: Run | None,
    latest: list[Run],
    now: datetime,
    stale: bool,  # noqa: FBT001
) -> None:
    age = staleness.age(complete, latest, now=now)

    assert staleness.is_stale(age, stale_after=LIMIT) is stale


def alarm_key(run: Run | None, now: datetime) -> str:
    alarm = staleness.alarm(run, LIMIT, now=now, dashboard_url="http://desk", channel="#ops")
    return alarm.dedupe_key


def test_an_alarm_is_the_same_for_one_day_and_one_last_run() -> None:
    said = alarm_key(RUN, NOON)

    assert alarm_key(RUN, NOON + timedelta(hours=11)) == said
    assert alarm_key(RUN, NOON + timedelta(hours=12)) != said
    assert alarm_key(replace(RUN, id=RunId("r2")), NOON) != said
    assert alarm_key(None, NOON) != said


def test_an_alarm_says_how_long_and_where_to_look_to_those_who_run_it() -> None:
    alarm = staleness.alarm(RUN, timedelta(hours=3), now=NOON, dashboard_url="http://desk", channel="#ops")

    assert (alarm.target, alarm.verb) == ("#ops", "root")
    assert alarm.message.text.startswith(
        "Stale: no complete run for 3 h 0 min. The last one ended at 2026-03-06 12:00"
    )
    assert "http://desk" in alarm.message.text
