from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import text, update

from jobs import vitals
from recon.doors.pulse import Labels, Sort
from recon.doors.store import cases, leases
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.runs import HOUR
from recon.model.records.words import CaseState, IntentKey, IntentStatus, RunId, Severity, Verdict
from tests.builders import NOON, a_case, a_mismatch, an_intent
from tests.doors.store.books import a_lease, a_notice, a_run, case_of, opened, put

MINUTE = timedelta(minutes=1)


def values(database: Database, *, now: datetime) -> dict[str, dict[Labels, float]]:
    return {sample.name: dict(sample.values) for sample in vitals.samples(database, now=now)}


def test_the_metrics_say_what_the_database_holds(database: Database) -> None:
    change = opened(a_case(a_mismatch(), opened_at=NOON))
    run = a_run(counts={"rejected": 2, "withheld": 7})
    saving = Saving(run, changes=(change,), notices=(a_notice(created_at=NOON),))
    cases.save_run(database, a_lease(database), saving)
    put(database, an_intent(key=IntentKey("odd"), status=IntentStatus.PENDING_UNKNOWN), an_intent())

    found = values(database, now=NOON + 5 * MINUTE)

    assert found["last_success_timestamp"] == {(): (NOON + timedelta(seconds=9)).timestamp()}
    assert found["last_complete_window_end"] == {(): NOON.timestamp()}
    assert found["run_duration_seconds"] == {(): 9}
    assert {labels: n for labels, n in found["open_cases"].items() if n} == {
        (("kind", "duplicate"), ("severity", "high")): 1
    }
    assert found["money_at_risk_minor"] == {(("currency", "usd"), ("kind", "duplicate")): 4900}
    assert (found["oldest_open_seconds"], found["delivery_lag_seconds"]) == ({(): 300}, {(): 300})
    assert found["oldest_unanswered_seconds"][("severity", "high"),] == 300
    assert found["deliveries"][("state", "waiting"),] == 1
    assert (found["rejected_rows"], found["withheld_subjects"]) == ({(): 2}, {(): 7})
    assert (found["accounts"], found["accounts_read"], found["pending_unknown"]) == (
        {(): 1},
        {(): 1},
        {(): 1},
    )


def test_before_the_first_run_nothing_is_said_of_runs_but_that_there_were_none(database: Database) -> None:
    found = values(database, now=NOON)

    assert "last_success_timestamp" not in found
    assert set(found["runs_total"].values()) == {0}
    assert set(found["open_cases"].values()) == {0}
    assert "delivery_lag_seconds" in found


def test_runs_are_counted_by_how_they_ended_and_the_one_at_work_is_not_counted(database: Database) -> None:
    ends = [Verdict.BREAKS, None, Verdict.INCOMPLETE, Verdict.BREAKS, None]
    for number, end in enumerate(ends):
        now = NOON + number * MINUTE
        lease = a_lease(database, now=now)
        if end is not None:
            run = a_run(id=RunId(f"run_{number}"), fence=lease.fence, verdict=end)
            cases.save_run(database, lease, Saving(run))
        leases.release(database, lease)
    ended = values(database, now=NOON)["runs_total"]
    at_work = leases.take(database, HOUR, "at work", now=NOON, duration=5 * MINUTE)
    during = values(database, now=NOON + MINUTE)["runs_total"]
    slow = values(database, now=NOON + 6 * MINUTE)["runs_total"]
    cases.save_run(database, at_work, Saving(a_run(id=RunId("last"), fence=at_work.fence)))
    saved = values(database, now=NOON + 7 * MINUTE)["runs_total"]
    leases.take(database, HOUR, "killed", now=NOON + 8 * MINUTE, duration=5 * MINUTE)
    a_lease(database, now=NOON + timedelta(hours=1))
    killed = values(database, now=NOON + timedelta(hours=1))["runs_total"]

    assert {labels[0][1]: n for labels, n in ended.items() if n} == {
        "breaks": 2,
        "incomplete": 1,
        "unsaved": 2,
    }
    assert during == slow == ended  # A counter that went down would be taken for one that began anew.
    assert saved == ended | {(("outcome", "breaks"),): 3}
    assert killed == saved | {(("outcome", "unsaved"),): 3}


def test_counters_are_named_as_such_and_nothing_else_is(database: Database) -> None:
    for sample in vitals.told(database, now=NOON):
        assert (sample.sort is Sort.COUNTER) == sample.name.endswith("_total"), sample.name
        assert sample.meaning.endswith("."), sample.name


@pytest.mark.parametrize(
    "changes,age",
    [
        ({}, 3600),
        ({"state": CaseState.ACKNOWLEDGED}, 0),
        ({"state": CaseState.RESOLVED}, 0),
        ({"snoozed_until": NOON + timedelta(hours=1, seconds=1)}, 0),
        ({"snoozed_until": NOON + timedelta(hours=1)}, 3600),
        ({"severity": Severity.HIGH}, 0),
    ],
)
def test_an_answered_case_is_not_unanswered(
    database: Database, changes: dict[str, object], age: float
) -> None:
    whole: dict[str, object] = {"opened_at": NOON, "severity": Severity.CRITICAL} | changes
    young = replace(case_of(2), opened_at=NOON + timedelta(hours=2), severity=Severity.LOW)
    saving = Saving(a_run(), changes=(opened(replace(case_of(1), **whole)), opened(young)))  # type: ignore[arg-type] # of the record
    cases.save_run(database, a_lease(database), saving)

    found = values(database, now=NOON + timedelta(hours=1))["oldest_unanswered_seconds"]

    assert found[("severity", "critical"),] == age
    assert found[("severity", "low"),] == 0  # A clock that was wrong has put it ahead of now.


@pytest.mark.parametrize(
    "url",
    ["postgresql://nobody@127.0.0.1:9/recon", "sqlite:///{tmp}/nothing-in-it.db"],
    ids=["away", "not ready"],
)
def test_a_database_that_cannot_be_read_is_one_metric(url: str, tmp_path: object) -> None:
    with Database.open(url.format(tmp=tmp_path)) as database:
        (only,) = vitals.told(database, now=NOON)

    assert (only.name, dict(only.values)) == ("database_up", {(): 0})


def test_a_database_of_a_newer_version_is_not_read(database: Database) -> None:
    cases.save_run(database, a_lease(database), Saving(a_run(), changes=(opened(),)))
    with database.write() as connection:
        connection.execute(update(tables.cases).values(kind="of a newer version"))
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    (only,) = vitals.told(database, now=NOON)

    assert (only.name, dict(only.values)) == ("database_up", {(): 0})


def test_a_database_that_can_be_read_is_up(database: Database) -> None:
    first = vitals.told(database, now=NOON)[0]

    assert (first.name, dict(first.values)) == ("database_up", {(): 1})
