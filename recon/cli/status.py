"""`recon status`: is the hour alive, what has it read, and what waits for people."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recon.cli import exits
from recon.model import money, wording
from recon.model.blocks import duration
from recon.model.records.results import Money
from recon.model.records.words import Kind, Verdict

if TYPE_CHECKING:
    from recon.doors.store.engines import Database
    from recon.model.settings import Settings


class Format(StrEnum):
    """How the status is written."""

    TABLE = "table"
    JSON = "json"


def status(
    output: Annotated[
        Format, typer.Option("--format", help="Table for people, JSON for programs.")
    ] = Format.TABLE,
) -> None:
    """Say how fresh the books are, which cases wait and which notices have not gone out.

    Exit 0: a complete run is young enough, or there was no run yet.
    Exit 3: no complete run is young enough.
    """
    from recon.doors import config
    from recon.doors.store import migrations
    from recon.doors.store.engines import Database

    settings = config.load()
    with Database.open(settings.database_url.reveal()) as database:
        migrations.check(database)
        found = facts(database, settings, now=datetime.now(UTC))
    print(json.dumps(found, indent=2) if output is Format.JSON else as_text(found))
    if found["stale"]:
        raise typer.Exit(exits.INCOMPLETE)


def facts(database: "Database", settings: "Settings", *, now: datetime) -> dict[str, Any]:
    """Return the status as plain values: every key always present, times in ISO 8601 with Z."""
    from recon import watch
    from recon.doors.store import mirror, outbox, queue

    fresh, waiting = watch.freshness(database, settings, now=now), queue.summary(database)
    last = fresh.last_complete
    return {
        "stale": fresh.stale,
        "age_seconds": int(fresh.age.total_seconds()) if fresh.age is not None else None,
        "last_complete_run": None
        if last is None
        else {
            "id": last.id,
            "as_of": _time(last.as_of),
            "finished_at": _time(last.finished_at),
            "verdict": last.verdict,
        },
        "last_run_verdict": fresh.last_saved.verdict if fresh.last_saved is not None else None,
        "accounts": [
            {
                "account": each.account,
                "livemode": each.livemode,
                "covered_from": _time(each.covered_from),
                "watermark_at": _time(each.watermark_at),
            }
            for each in mirror.accounts(database)
        ],
        "open_cases": {
            "total": waiting.waiting,
            "kinds": {str(kind): n for kind, n in waiting.kinds.items() if n},
            "severities": {str(severity): n for severity, n in waiting.severities.items() if n},
            "at_risk": dict(waiting.at_risk),
            "oldest_opened_at": _time(waiting.oldest_opened_at),
        },
        "undelivered": {str(state): n for state, n in outbox.undelivered(database).items()},
        "slack": settings.slack.enabled,
    }


def as_text(found: Mapping[str, Any]) -> str:
    """Return the status in lines for people."""
    cases, last = found["open_cases"], found["last_complete_run"]
    lines = [
        ("freshness", _freshness(found)),
        ("last complete run", _run(last) if last is not None else "none yet"),
        ("last run", _verdict(found["last_run_verdict"])),
        *(("read", _read(each)) for each in found["accounts"]),
        *(("open cases" if not at else "", told) for at, told in enumerate(_cases(cases))),
        ("money at risk", _money(cases["at_risk"])),
        ("notices", _notices(found)),
    ]
    width = max(len(name) for name, _ in lines) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in lines)


def _freshness(found: Mapping[str, Any]) -> str:
    """Return whether somebody may rely on what the books say."""
    if found["age_seconds"] is None:
        return "no run yet: recon run"
    age = duration(timedelta(seconds=found["age_seconds"]))
    if not found["stale"]:
        return f"ok, {age} old"
    return f"STALE: no complete run for {age}; look at the hourly job and its log"


def _run(last: Mapping[str, Any]) -> str:
    return f"{last['id']}, as of {_minute(last['as_of'])}, {_verdict(last['verdict'])}"


def _verdict(verdict: str | None) -> str:
    if verdict is None:
        return "none yet"
    said = wording.VERDICTS[Verdict(verdict)]
    return said if said == verdict else f"{wording.plain(verdict)}: {said}"


def _read(account: Mapping[str, Any]) -> str:
    name = account["account"] or "the platform"
    mode = {True: ", live", False: ", test mode", None: ""}[account["livemode"]]
    if account["watermark_at"] is None:
        return f"{name}{mode}: not yet"
    return f"{name}{mode}: {_minute(account['covered_from'])} to {_minute(account['watermark_at'])}"


def _cases(cases: Mapping[str, Any]) -> list[str]:
    """Return how many wait, how soon they must be looked at, and one line for each kind."""
    severities = ", ".join(f"{number} {severity}" for severity, number in cases["severities"].items())
    told = [f"{cases['total']}: {severities}" if severities else str(cases["total"])]
    if cases["oldest_opened_at"] is not None:
        told[0] += f"; the oldest since {_minute(cases['oldest_opened_at'])}"
    return told + [f"  {wording.counted(Kind(kind), number)}" for kind, number in cases["kinds"].items()]


def _money(at_risk: Mapping[str, int]) -> str:
    return ", ".join(money.written(Money(minor, each)) for each, minor in at_risk.items()) or "none"


def _notices(found: Mapping[str, Any]) -> str:
    waiting = ", ".join(f"{number} {state}" for state, number in found["undelivered"].items() if number)
    if found["slack"]:
        return f"{waiting}: recon deliver tries again" if waiting else "none waits"
    return f"{waiting or 'none waits'}; SLACK_BOT_TOKEN is not set"


def _minute(time: str | None) -> str:
    """Return a time of the facts as people read it."""
    return "never" if time is None else f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M} UTC"


def _time(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment is not None else None
