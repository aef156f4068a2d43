import os
import socket
import stat
import time
import urllib.request
from pathlib import Path
from uuid import UUID

import pytest

from recon.doors import pulse
from recon.doors.pulse import Beat, Labels, Sample, Serving, Sort
from recon.model.settings import Secret
from tests.wires import Act, answers, closes, drips, hangs, wire


@pytest.mark.parametrize(
    "what,path", [(Beat.START, "/p/start"), (Beat.SUCCESS, "/p"), (Beat.FAIL, "/p/fail")]
)
def test_a_beat_says_what_happened_to_which_run(what: Beat, path: str) -> None:
    with wire(answers("200 OK", "OK")) as served:
        failed = pulse.beat(Secret(f"{served.url}/p/"), what, "run 1", timeout_seconds=1)
        again = pulse.beat(Secret(f"{served.url}/p"), what, "run 1", timeout_seconds=1)

    assert (failed, again) == (None, None)
    first, second = (request.split(b" ")[1].decode() for request in served.requests)
    assert first == second
    assert first.partition("?rid=")[0] == path
    assert str(UUID(first.partition("?rid=")[2])) == first.partition("?rid=")[2]


@pytest.mark.parametrize("act", [closes, hangs, answers("500 Oops", ""), answers("404 No", "")])
def test_a_beat_that_is_not_heard_is_a_value_that_hides_the_address(act: Act) -> None:
    with wire(act) as served:
        failed = pulse.beat(Secret(f"{served.url}/hidden1234"), Beat.START, "r", timeout_seconds=0.2)

    assert failed is not None
    assert "heartbeat was not heard" in failed
    assert "hidden1234" not in failed


def test_an_exit_code_is_told_as_such() -> None:
    with wire(answers("200 OK", "OK")) as served:
        assert pulse.beat(Secret(f"{served.url}/p"), 75, "run 1", timeout_seconds=1) is None

    assert served.requests[0].startswith(b"GET /p/75?rid=")


def test_an_answer_that_drips_is_given_up_after_the_timeout() -> None:
    started = time.monotonic()
    with wire(drips("OK" * 200, pause_seconds=0.02)) as served:
        failed = pulse.beat(Secret(f"{served.url}/p"), Beat.SUCCESS, "r", timeout_seconds=0.3)

        lasted = time.monotonic() - started

    assert failed == "the heartbeat was not heard (no answer within 0.3 s)"
    assert lasted < 3


def test_without_an_address_nothing_is_sent() -> None:
    assert pulse.beat(Secret(""), Beat.START, "r", timeout_seconds=0.1) is None


def test_metrics_are_written_whole_with_their_labels(tmp_path: Path) -> None:
    place = tmp_path / "recon.prom"
    labels = (("kind", "orphan"), ("severity", "high"))

    samples = [Sample("open_cases", "Cases.", {labels: 3.0}), Sample("age", "Age.", {(): 1.5})]
    assert pulse.write_metrics(str(place), samples) is None
    assert pulse.write_metrics(str(place), samples) is None

    lines = place.read_text().splitlines()
    assert 'recon_open_cases{kind="orphan",severity="high"} 3.0' in lines
    assert "recon_age 1.5" in lines
    assert os.listdir(tmp_path) == ["recon.prom"]  # noqa: PTH208 - nothing half-written beside it
    assert stat.S_IMODE(place.stat().st_mode) == 0o644


def test_a_metric_without_values_is_no_line(tmp_path: Path) -> None:
    place = tmp_path / "recon.prom"

    assert pulse.write_metrics(str(place), [Sample("open_cases", "Cases.", {})]) is None
    assert "recon_open_cases{" not in place.read_text()


def test_metrics_that_cannot_be_written_are_a_value_and_leave_the_old_ones(tmp_path: Path) -> None:
    failed = pulse.write_metrics(str(tmp_path / "nowhere" / "recon.prom"), [])
    assert failed is not None
    assert "No such file" in failed

    (tmp_path / "folder").mkdir()
    assert pulse.write_metrics(str(tmp_path / "folder"), []) is not None
    assert os.listdir(tmp_path) == ["folder"]  # noqa: PTH208 - as above


def test_no_path_writes_nothing() -> None:
    assert pulse.write_metrics(None, [Sample("x", "X.", {(): 1.0})]) is None


def page(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        read: bytes = answer.read()
    return read.decode()


def test_metrics_are_served_anew_each_time_and_counters_as_counters() -> None:
    values = iter((1.0, 2.0))
    runs: Labels = (("outcome", "breaks"),)

    def read() -> list[Sample]:
        return [
            Sample("runs_total", "Runs.", {runs: next(values)}, Sort.COUNTER),
            Sample("oldest_seconds", "Age.", {(): 1.5}),
        ]

    served = pulse.serve_metrics("127.0.0.1", 0, read)
    assert isinstance(served, Serving)
    first, second = page(served.port), page(served.port)
    served.close()

    assert first.splitlines() == [
        "# HELP recon_runs_total Runs.",
        "# TYPE recon_runs_total counter",
        'recon_runs_total{outcome="breaks"} 1.0',
        "# HELP recon_oldest_seconds Age.",
        "# TYPE recon_oldest_seconds gauge",
        "recon_oldest_seconds 1.5",
    ]
    assert 'recon_runs_total{outcome="breaks"} 2.0' in second


def test_a_port_that_is_taken_is_a_value_that_names_it_and_one_that_was_closed_is_free() -> None:
    first = pulse.serve_metrics("127.0.0.1", 0, list)
    assert isinstance(first, Serving)
    second = pulse.serve_metrics("127.0.0.1", first.port, list)
    first.close()
    third = pulse.serve_metrics("127.0.0.1", first.port, list)
    assert isinstance(third, Serving)
    third.close()

    expected = f"the metrics cannot be served on 127.0.0.1:{first.port} (Address already in use)"
    assert second == expected


@pytest.mark.parametrize("address", ["localhost.", "127.0.0.1:", "::zz"])
def test_an_address_that_is_none_is_a_value(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    failed = pulse.serve_metrics(address, 0, list)

    assert isinstance(failed, str)
    assert failed.startswith(f"the metrics cannot be served on {address}:0 (")
