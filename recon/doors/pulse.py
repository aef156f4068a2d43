"""The pulse of the job for those who watch it from outside: a heartbeat, and metrics in a text file.

Never breaks the job: what cannot be told is said in the return value.
"""

import os
import urllib.request
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.client import HTTPException
from pathlib import Path
from tempfile import mkstemp
from uuid import NAMESPACE_URL, uuid5

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from recon.model.settings import Secret

_MODE = 0o644  # The exporter that picks the file up runs as somebody else.


class Beat(StrEnum):
    """What the heartbeat says. Source: https://healthchecks.io/docs/http_api/."""

    START = "/start"  # The job has begun.
    SUCCESS = ""  # A complete run has ended: the only thing that counts as alive.
    FAIL = "/fail"  # It ended otherwise.


Labels = tuple[tuple[str, str], ...]  # Names with their values.


@dataclass(frozen=True, slots=True)
class Sample:
    """One metric: named without `recon_` in front, its meaning, and a value for each set of labels."""

    name: str
    meaning: str
    values: Mapping[Labels, float] = field(default_factory=dict)


def beat(url: Secret, what: Beat, run: str, *, timeout_seconds: float) -> str | None:
    """Send one heartbeat; return why it could not be sent, None when it was or when there is no address.

    run: names the run, so that a start and its end are told together.
    """
    if not url:
        return None
    # The protocol takes UUIDs only.
    address = f"{url.reveal().rstrip('/')}{what}?rid={uuid5(NAMESPACE_URL, run)}"
    try:
        with urllib.request.urlopen(address, timeout=timeout_seconds) as answer:  # noqa: S310 - checked when it was read
            answer.read(1024)
    except (OSError, ValueError, HTTPException) as error:
        # Not there, too slow, refused: the address stays secret.
        return f"the heartbeat was not heard ({type(error).__name__})"
    return None


def write_metrics(path: str | None, samples: Iterable[Sample]) -> str | None:
    """Put the metrics in the place of the file, whole or not at all; return why not, None when it was done.

    path: None writes nothing. A reader never sees half a file, also after a crash.
    """
    if path is None:
        return None
    registry = CollectorRegistry()
    for sample in samples:
        labels = [name for name, _ in next(iter(sample.values), ())]
        gauge = Gauge(f"recon_{sample.name}", sample.meaning, labels, registry=registry)
        for names, value in sample.values.items():
            (gauge.labels(**dict(names)) if names else gauge).set(value)
    place = Path(path)
    try:
        _replace(place, generate_latest(registry))
    except OSError as error:  # No such folder, no room, no permission.
        return f"the metrics could not be written to {place} ({error.strerror})"
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
