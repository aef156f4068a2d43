import json
import signal
import socket
import sys
import threading
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from apscheduler.schedulers.background import BackgroundScheduler

from jobs import scheduler
from jobs.scheduler import GRACE_SECONDS, Record, build
from recon.doors import logs
from recon.model.settings import Secret, Settings


def record(tmp_path: Path | None = None) -> Record:
    return Record(Settings(metrics_textfile=str(tmp_path / "recon.prom") if tmp_path else None))


def test_two_jobs_with_fixed_ids_run_by_utc_and_forgive_a_late_start() -> None:
    built = build(record(), scheduler=BackgroundScheduler())
    built.start(paused=True)
    try:
        jobs = {job.id: job for job in built.get_jobs()}
        now = datetime(2026, 3, 6, 12, 6, tzinfo=UTC)

        assert set(jobs) == {"hourly", "tick"}
        assert {job.misfire_grace_time for job in jobs.values()} == {GRACE_SECONDS}
        assert {(job.coalesce, job.max_instances) for job in jobs.values()} == {(True, 1)}
        assert jobs["hourly"].trigger.get_next_fire_time(None, now) == datetime(2026, 3, 6, 13, 5, tzinfo=UTC)
        assert jobs["tick"].trigger.interval == timedelta(minutes=1)
    finally:
        built.shutdown(wait=False)


def test_building_twice_keeps_one_of_each() -> None:
    built = BackgroundScheduler()
    for _ in range(2):
        build(record(), scheduler=built)
    built.start(paused=True)

    assert len(built.get_jobs()) == 2
    built.shutdown(wait=False)


def test_an_exit_code_is_kept(tmp_path: Path) -> None:
    kept, ran = record(tmp_path), threading.Event()
    built = build(kept, scheduler=BackgroundScheduler(), run=lambda job: {"hourly": 3, "tick": 0}[job])
    built.add_listener(lambda _: ran.set(), 2**12)  # EVENT_JOB_EXECUTED
    built.start(paused=True)
    built.modify_job("hourly", next_run_time=datetime.now(UTC))
    built.resume()
    try:
        assert ran.wait(20)
    finally:
        built.shutdown()

    assert kept.codes["hourly"] == 3
    assert 'recon_last_exit_code{name="hourly"} 3.0' in (tmp_path / "recon.scheduler.prom").read_text()


def test_a_run_that_is_missed_is_told_and_one_that_is_only_late_runs(tmp_path: Path) -> None:
    kept, ran = record(tmp_path), []
    done = threading.Event()

    def run(job: str) -> int:
        ran.append(job)
        done.set()
        return 0

    built = build(kept, scheduler=BackgroundScheduler(), run=run)
    heard = threading.Event()
    built.add_listener(lambda _: heard.set(), 2**14)  # EVENT_JOB_MISSED
    built.start(paused=True)
    built.modify_job("tick", next_run_time=datetime.now(UTC) - timedelta(seconds=GRACE_SECONDS - 60))
    too_late = datetime.now(UTC) - timedelta(seconds=GRACE_SECONDS + 60)
    built.reschedule_job("hourly", trigger="date", run_date=too_late)
    built.resume()
    try:
        assert done.wait(20)
        assert heard.wait(20)
    finally:
        built.shutdown()

    assert set(ran) == {"tick"}
    assert kept.events["hourly", "missed"] == 1


def test_what_was_missed_many_times_runs_once() -> None:
    ran, done = [], threading.Event()

    def run(job: str) -> int:
        ran.append(job)
        done.set()
        return 0

    built = build(record(), scheduler=BackgroundScheduler(), run=run)
    built.start(paused=True)
    built.modify_job("tick", next_run_time=datetime.now(UTC) - timedelta(minutes=30))
    built.resume()
    try:
        assert done.wait(20)
        again = built.get_job("tick").next_run_time
    finally:
        built.shutdown()

    assert ran == ["tick"]
    assert again > datetime.now(UTC) - timedelta(seconds=5)


def test_an_hour_that_comes_twice_or_not_at_all_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        built = build(record(), scheduler=BackgroundScheduler())
        built.start(paused=True)
        trigger = built.get_job("hourly").trigger
        built.shutdown(wait=False)
        for change in (datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)):
            fired, at = [], trigger.get_next_fire_time(None, change)
            while at < change + timedelta(days=1):
                fired.append(at)
                at = trigger.get_next_fire_time(at, at)

            assert fired == [change + timedelta(hours=hour, minutes=5) for hour in range(24)]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_job_that_fails_to_start_is_told(tmp_path: Path) -> None:
    kept, heard = record(tmp_path), threading.Event()

    def broken(job: str) -> int:
        raise OSError("no more processes")

    built = build(kept, scheduler=BackgroundScheduler(), run=broken)
    built.add_listener(lambda _: heard.set(), 2**13)  # EVENT_JOB_ERROR
    built.start(paused=True)
    built.modify_job("hourly", next_run_time=datetime.now(UTC))
    built.resume()
    try:
        assert heard.wait(20)
    finally:
        built.shutdown()

    assert kept.events["hourly", "error"] == 1
    written = (tmp_path / "recon.scheduler.prom").read_text()
    assert 'recon_scheduler_events_total{event="error",name="hourly"} 1.0' in written


def test_a_job_still_running_is_not_started_again_and_told() -> None:
    kept, told, go = record(), threading.Event(), threading.Event()

    def slow(job: str) -> int:
        go.wait(20)
        return 0

    built = build(kept, scheduler=BackgroundScheduler(), run=slow)
    built.add_listener(lambda _: told.set(), 2**16)  # EVENT_JOB_MAX_INSTANCES
    built.start(paused=True)
    built.reschedule_job("tick", trigger="interval", seconds=0.2)
    built.resume()
    try:
        assert told.wait(20)
    finally:
        go.set()
        built.shutdown()

    assert kept.events["tick", "max_instances"] >= 1


def test_a_job_is_a_process_whose_exit_code_comes_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECON_CONFIG", "nowhere")

    assert scheduler.start("tick") == 2


def test_a_job_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sleeper = tmp_path / "python"
    sleeper.write_text("#!/bin/sh\nexec sleep 60\n")
    sleeper.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(sleeper))
    monkeypatch.setitem(scheduler.LIMITS_SECONDS, "tick", 0.2)

    assert scheduler.start("tick") == 124


def test_a_second_signal_does_not_break_off_the_wait_for_a_running_job() -> None:
    begun, go_on, kept = threading.Event(), threading.Event(), record()

    def run(job: str) -> int:
        begun.set()
        go_on.wait(20)
        return 0

    built = build(kept, scheduler=BackgroundScheduler(), run=run)
    end = scheduler.ending(built)
    built.start(paused=True)
    built.modify_job("tick", next_run_time=datetime.now(UTC))
    heard = threading.Event()
    kept.ended = lambda *_: heard.set()  # type: ignore[method-assign]  # told when the job has ended
    built.resume()
    assert begun.wait(20)

    end(signal.SIGTERM, None)
    end(signal.SIGTERM, None)
    go_on.set()

    assert heard.wait(20)
    assert not built.running


def test_a_signal_before_the_scheduler_has_begun_ends_it() -> None:
    with pytest.raises(SystemExit) as ended:
        scheduler.ending(BackgroundScheduler())(signal.SIGTERM, None)

    assert ended.value.code == 0


def test_wrong_settings_stop_the_scheduler_before_it_starts(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECON_CONFIG", "nowhere")

    assert scheduler.main() == 2
    assert "RECON_CONFIG names nowhere" in capfd.readouterr().err


def test_another_at_it_is_no_error_and_anything_else_is(capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure()
    kept = record()
    for code in (0, 75, 3):
        kept.ended("hourly", code)

    said = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [(line["exit_code"], line["level"]) for line in said] == [(0, "info"), (75, "info"), (3, "error")]


def settings(database_url: str, **more: Any) -> Settings:  # noqa: ANN401 - of the record
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return Settings(**{"database_url": Secret(database_url), "metrics_port": port} | more)


def page(told: Settings) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{told.metrics_port}/metrics", timeout=5) as answer:
        read: bytes = answer.read()
    return read.decode()


def test_the_jobs_metrics_and_the_schedulers_are_served_together(database_url: str) -> None:
    told, kept = settings(database_url), record()
    kept.ended("hourly", 3)
    with scheduler.serving(told, kept):
        said = page(told).splitlines()

    assert "recon_database_up 1.0" in said
    assert 'recon_runs_total{outcome="incomplete"} 0.0' in said
    assert 'recon_scheduler_events_total{event="missed",name="hourly"} 0.0' in said
    assert 'recon_last_exit_code{name="hourly"} 3.0' in said


def test_while_the_database_is_away_the_page_says_so_and_the_schedulers_own_metrics() -> None:
    told = settings("postgresql://nobody@127.0.0.1:9/recon")
    with scheduler.serving(told, record()):
        said = page(told).splitlines()

    assert "recon_database_up 0.0" in said
    assert 'recon_scheduler_events_total{event="missed",name="tick"} 0.0' in said


def test_a_port_that_is_taken_is_said_and_stops_nothing(
    database_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    logs.configure()
    told = settings(database_url)
    with scheduler.serving(told, record()), scheduler.serving(told, record()) as second:
        assert second is None

    assert (
        f"cannot be served on 127.0.0.1:{told.metrics_port} (Address already in use)"
        in capfd.readouterr().err
    )


def test_without_a_port_nothing_is_served(database_url: str) -> None:
    with scheduler.serving(settings(database_url, metrics_port=0), record()) as served:
        assert served is None
