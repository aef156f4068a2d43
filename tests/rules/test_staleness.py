from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from recon.model.records.notices import Notice
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


def alarm(run: Run | None, how_long: timedelta) -> Notice:
    return staleness.alarm(
        run, how_long, stale_after=LIMIT, now=NOON, dashboard_url="http://desk", channel="#ops"
    )


@pytest.mark.parametrize(
    "run,how_long,same",
    [
        (RUN, LIMIT, True),
        (RUN, LIMIT + timedelta(hours=12, minutes=1), True),  # Midnight in between is no reason.
        (RUN, LIMIT + timedelta(hours=24) - timedelta(seconds=1), True),
        (RUN, LIMIT + timedelta(hours=24), False),
        (replace(RUN, id=RunId("r2")), LIMIT, False),
        (None, LIMIT, False),
    ],
)
def test_an_alarm_is_the_same_for_24_hours_and_one_last_run(
    run: Run | None,
    how_long: timedelta,
    same: bool,  # noqa: FBT001
) -> None:
    first = alarm(RUN, LIMIT).dedupe_key

    assert (alarm(run, how_long).dedupe_key == first) is same


def test_the_alarms_of_one_outage_are_in_the_order_of_their_keys() -> None:
    keys = [alarm(RUN, LIMIT + timedelta(days=days)).dedupe_key for days in range(120)]

    assert keys == sorted(keys)


def test_an_alarm_says_how_long_and_where_to_look_to_those_who_run_it() -> None:
    said = alarm(RUN, timedelta(hours=3))

    assert (said.target, said.verb, said.urgency) == ("#ops", "root", 3)
    assert said.message.text.startswith(
        "Stale: no complete run for 3 h 0 min. The last one ended at 2026-03-06 12:00"
    )
    assert "http://desk" in said.message.text
