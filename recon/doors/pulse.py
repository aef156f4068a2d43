"""The pulse of the job for those who watch it from outside: a heartbeat, and metrics in a file or over HTTP.

Never breaks the job, and never holds it up for longer than its timeout: what cannot be told is said in the
return value.
"""

import os
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.client import HTTPException
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import mkstemp
from threading import Thread
from uuid import NAMESPACE_URL, uuid5
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from recon.model.settings import Secret

_MODE = 0o644  # The exporter that picks the file up runs as somebody else.
PREFIX = "recon_"


class Beat(StrEnum):
    """What the heartbeat says. Source: https://healthchecks.io/docs/http_api/."""

    START = "/start"  # The job has begun.
    SUCCESS = ""  # A complete run has ended: the only thing that counts as alive.
    FAIL = "/fail"  # It broke.


class Sort(StrEnum):
    """What a metric's numbers do. Source: https://prometheus.io/docs/concepts/metric_types/."""

    GAUGE = "gauge"  # Go up and down.
    COUNTER = "counter"  # Only grow; the name ends in _total.


Labels = tuple[tuple[str, str], ...]  # Names with their values.


@dataclass(frozen=True, slots=True)
class Sample:
    """One metric: named without `recon_` in front, its meaning, and a value for each set of labels."""

    name: str
    meaning: str
    values: Mapping[Labels, float] = field(default_factory=dict)
    sort: Sort = Sort.GAUGE


Read = Callable[[], Iterable[Sample]]


def beat(url: Secret, what: Beat | int, run: str, *, timeout_seconds: float) -> str | None:
    """Send one heartbeat; return why it could not be sent, None when it was or when there is no address.

    what: a number is an exit code, for a run that ended without being complete. run: names the run, so that
    a start and its end are told together.
    """
    if not url:
        return None
    path = what if isinstance(what, Beat) else f"/{what}"
    # The protocol takes UUIDs only.
    address = f"{url.reveal().rstrip('/')}{path}?rid={uuid5(NAMESPACE_URL, run)}"
    heard: SimpleQueue[str | None] = SimpleQueue()
    # On a thread of its own: the timeout of a socket bounds neither the look-up of a name nor an answer that
    # comes a byte at a time. What is given up here dies with the process.
    Thread(target=lambda: heard.put(_ask(address, timeout_seconds)), daemon=True).start()
    try:
        return heard.get(timeout=timeout_seconds)
    except Empty:
        return f"the heartbeat was not heard (no answer within {timeout_seconds:g} s)"


def write_metrics(path: str | None, samples: Iterable[Sample]) -> str | None:
    """Put the metrics in the place of the file, whole or not at all; return why not, None when it was done.

    path: None writes nothing. A reader never sees half a file, also after a crash.
    """
    if path is None:
        return None
    place, told = Path(path), tuple(samples)
    try:
        _replace(place, generate_latest(_registry(lambda: told)))
    except OSError as error:  # No such folder, no room, no permission.
        return f"the metrics could not be written to {place} ({error.strerror})"
    return None


@dataclass(frozen=True, slots=True)
class Serving:
    """Metrics that are being served on a thread of their own, until closed or until the process ends."""

    port: int
    _server: WSGIServer

    def close(self) -> None:
        """Stop serving, and free the port."""
        self._server.shutdown()
        self._server.server_close()


def serve_metrics(address: str, port: int, read: Read) -> Serving | str:
    """Serve the metrics at /metrics, read anew for each that asks; return why not when it cannot be done.

    port: 0 is any that is free. read: must not raise, and must not take long.
    """
    try:
        server, _ = start_http_server(port, address, _registry(read))
    except (OSError, OverflowError, UnicodeError) as error:  # Taken, not ours, no such address.
        reason = getattr(error, "strerror", None) or "no such address"
        return f"the metrics cannot be served on {address}:{port} ({reason})"
    return Serving(server.server_port, server)


@dataclass(frozen=True, slots=True)
class _Source(Collector):
    """What prometheus-client asks for metrics."""

    read: Read

    def collect(self) -> Iterator[Metric]:
        """Yield each metric as it is now."""
        for sample in self.read():
            names = [name for name, _ in next(iter(sample.values), ())]
            family = CounterMetricFamily if sample.sort is Sort.COUNTER else GaugeMetricFamily
            metric = family(f"{PREFIX}{sample.name}", sample.meaning, labels=names)
            for labels, value in sample.values.items():
                metric.add_metric([told for _, told in labels], value)
            yield metric


def _registry(read: Read) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_Source(read))
    return registry


def _ask(address: str, timeout_seconds: float) -> str | None:
    try:
        with urllib.request.urlopen(address, timeout=timeout_seconds) as answer:  # noqa: S310 - checked when it was read
            answer.read(1024)
    except (OSError, ValueError, HTTPException) as error:
        # Not there, too slow, refused: the address stays secret.
        return f"the heartbeat was not heard ({type(error).__name__})"
    return None


def _replace(place: Path, content: bytes) -> None:
    handle, name = mkstemp(dir=place.parent, prefix=f".{place.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(_MODE)
        Path(name).replace(place)
    except OSError:
        # The half-written one; what is wrong with the disk is told by the first error.
        with suppress(OSError):
            Path(name).unlink()
        raise
