"""Faults on demand: what the next matching requests will meet.

Only what goes wrong, and when; how it feels on the wire is the exchange's business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What can go wrong."""

    DROP_BEFORE = "drop_before"  # The connection closes; nothing happened.
    HANG_BEFORE = "hang_before"  # Silence for after_s, then the connection closes; nothing happened.
    ERROR_BEFORE = "500_before"  # A 500; nothing happened and nothing is kept.
    RATE_LIMIT = "429"  # Too many requests; nothing happened.
    LOCK = "429_lock"  # The object is busy; nothing happened.
    IN_USE = "409"  # The key is running elsewhere; nothing happened.
    FORBIDDEN = "403"  # The API key lacks the permission; nothing happened.
    DROP_AFTER = "drop_after"  # It happened; the connection closes without an answer.
    HANG_AFTER = "hang_after"  # It happened and is kept; the answer comes after_s later.
    CUT_BODY_AFTER = "cut_body_after"  # It happened; half the body comes.
    HTML_AFTER = "html_200_after"  # It happened; somebody's web page comes as a 200.
    DRIP = "drip"  # It happened; the body comes a byte a second.
    LATENCY = "latency"  # It happens, and the request counts as running until it is answered after_s later.
    ERROR_AFTER = "500_after"  # It happened; a 500 comes and is kept.
    ERROR_THEN_APPEARS = "500_then_appears"  # A 500 comes and is kept; it happens after_s later.
    DROP_PAGE = "drop_page"  # A list request past the first page is dropped.
    INVISIBLE = "invisible"  # What is younger than after_s is not shown, by id or in its thread neither.
    FATAL_BEFORE = "fatal_error_before"  # Slack's fatal_error; nothing happened.
    FATAL_AFTER = "fatal_error_after"  # Slack's fatal_error; it happened.


# Without after_s: a hang outlasts any client's patience, a busy provider takes two seconds, a refund appears
# after a minute and a half, fresh refunds hide for a minute.
DEFAULT_AFTER_S: Mapping[Kind, float] = {
    Kind.HANG_BEFORE: 3600.0,
    Kind.HANG_AFTER: 3600.0,
    Kind.LATENCY: 2.0,
    Kind.ERROR_THEN_APPEARS: 90.0,
    Kind.INVISIBLE: 60.0,
    Kind.RATE_LIMIT: 1.0,
    Kind.DRIP: 1.0,
}

_SLACK_ONLY = frozenset({Kind.FATAL_BEFORE, Kind.FATAL_AFTER})
_PROVIDER_ONLY = frozenset({Kind.LOCK, Kind.IN_USE, Kind.FORBIDDEN, Kind.ERROR_THEN_APPEARS})
_READS_ONLY = frozenset({Kind.DROP_PAGE, Kind.INVISIBLE})
# Where there are pages to lose and young things to hide.
_LISTS = re.compile(r"/v1/(refunds|events)|/api/conversations\.(history|replies)")
_HIDING = re.compile(rf"({_LISTS.pattern})(/[^/]+)?")
_CREATION = re.compile(r"(POST|\*) /v1/refunds")
_PROVIDER_MATCHERS = ("key", "payment")
_SLACK_MATCHERS = ("channel",)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a request is about, for matching; `page` is 1 for a list request without a cursor."""

    method: str
    path: str
    key: str | None = None
    payments: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    page: int = 1


@dataclass(slots=True)
class Fault:
    """One armed fault; `times` is how many matching requests will still meet it."""

    on: str
    kind: Kind
    times: int
    after_s: float
    match: dict[str, str] = field(default_factory=dict)
    page: int = 2

    def fits(self, subject: Subject) -> bool:
        """Whether that request meets this fault."""
        method, path = self.on.split(" ", 1)
        # Slack's methods know no verb: a client may GET or POST any of them.
        if method not in {subject.method, "*"} and not path.startswith("/api/"):
            return False
        if not _path_fits(path, subject.path, by_id_too=self.kind is Kind.INVISIBLE):
            return False
        if self.kind is Kind.IN_USE and subject.method != "POST":
            return False
        if self.kind is Kind.DROP_PAGE and subject.page < self.page:
            return False
        return self._matches(subject)

    def _matches(self, subject: Subject) -> bool:
        if "key" in self.match and self.match["key"] != subject.key:
            return False
        if "payment" in self.match and self.match["payment"] not in subject.payments:
            return False
        return "channel" not in self.match or self.match["channel"].lstrip("#") in subject.channels

    def shown(self) -> dict[str, Any]:
        """The fault as control shows it."""
        return {
            "on": self.on,
            "fault": self.kind.value,
            "times": self.times,
            "after_s": self.after_s,
            "match": self.match,
        }


class Faults:
    """The armed faults, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._armed: list[Fault] = []

    def arm(self, fault: Fault) -> None:
        """Let the next matching requests meet this fault."""
        self._armed.append(fault)

    def take_back(self) -> list[dict[str, Any]]:
        """Disarm every fault; those that were armed."""
        was = self.shown()
        self._armed.clear()
        return was

    def take(self, subject: Subject) -> Fault | None:
        """The first fault that fits, one time less; None when all is well."""
        for fault in self._armed:
            if fault.fits(subject):
                fault.times -= 1
                if fault.times <= 0:
                    self._armed.remove(fault)
                return fault
        return None

    def shown(self) -> list[dict[str, Any]]:
        """The faults still armed."""
        return [fault.shown() for fault in self._armed]


def read(asked: Mapping[str, Any]) -> Fault:
    """The fault that a control call asks for.

    Raises:
        ValueError: it says what was expected. Nothing was armed.
    """
    on = asked.get("on")
    if not isinstance(on, str) or not re.fullmatch(r"(GET|POST|DELETE|\*) /(v1|api|slack-actions)/\S+", on):
        raise ValueError(
            f'expected "on" like "POST /v1/refunds" or "POST /api/chat.postMessage", found {on!r}'
        )
    try:
        kind = Kind(asked.get("fault", ""))
    except ValueError:
        known = ", ".join(k.value for k in Kind)
        raise ValueError(f'expected "fault" to be one of {known}, found {asked.get("fault")!r}') from None
    _check_place(kind, on)
    return Fault(
        on=on,
        kind=kind,
        times=_whole(asked, "times", 1),
        after_s=_seconds(asked, DEFAULT_AFTER_S.get(kind, 0.0)),
        match=_match(asked.get("match"), on),
        page=_whole(asked, "page", 2),
    )


def _check_place(kind: Kind, on: str) -> None:
    provider, slack = " /v1/" in on, " /api/" in on
    if (not provider and kind in _PROVIDER_ONLY) or (not slack and kind in _SLACK_ONLY):
        raise ValueError(f"the fault {kind.value} does not exist on {on}")
    if kind is Kind.ERROR_THEN_APPEARS and not _CREATION.fullmatch(on):
        raise ValueError(
            f'only what is created can appear: expected "on" as "POST /v1/refunds", found {on!r}'
        )
    if kind is Kind.IN_USE and on.startswith("GET "):
        raise ValueError(f'a read has no key in use: expected "on" like "POST /v1/refunds", found {on!r}')
    if kind not in _READS_ONLY:
        return
    method, path = on.split(" ", 1)
    wanted = _LISTS if kind is Kind.DROP_PAGE else _HIDING
    # Slack's methods know no verb: whoever posts to one may be reading.
    if not wanted.fullmatch(path) or (not slack and method not in {"GET", "*"}):
        raise ValueError(
            f'the fault {kind.value} is for lists: expected "on" like "GET /v1/refunds", "GET /v1/events" or '
            f'"POST /api/conversations.history", found {on!r}'
        )


def _match(found: object, on: str) -> dict[str, str]:
    if found is None:
        return {}
    known = _PROVIDER_MATCHERS if " /v1/" in on else _SLACK_MATCHERS
    if not isinstance(found, dict) or not all(
        name in known and isinstance(value, str) for name, value in found.items()
    ):
        raise ValueError(f'on {on} expected "match" with {" or ".join(known)} as texts, found {found!r}')
    return dict(found)


def _whole(asked: Mapping[str, Any], name: str, default: int) -> int:
    found = asked.get(name, default)
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise ValueError(f'expected "{name}" to be a whole number from 1, found {found!r}')
    return found


def _seconds(asked: Mapping[str, Any], default: float) -> float:
    found = asked.get("after_s")
    if found is None:
        return default
    if not isinstance(found, int | float) or isinstance(found, bool) or found < 0:
        raise ValueError(f'expected "after_s" to be seconds from 0, found {found!r}')
    return float(found)


def _path_fits(template: str, path: str, *, by_id_too: bool) -> bool:
    wanted, found = template.strip("/").split("/"), path.strip("/").split("/")
    if by_id_too and len(found) == len(wanted) + 1:
        found = found[:-1]
    return len(wanted) == len(found) and all(
        w == f or (w.startswith("{") and w.endswith("}")) for w, f in zip(wanted, found, strict=True)
    )
