"""`recon status`: is the hour alive, what has it read, and what waits for people."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from recon.doors.store.engines import Database
    from recon.model.settings import Settings

STALE = 3


class Format(StrEnum):
    """How the status is written."""

    TABLE = "table"
    JSON = "json"


def status(
    output: Annotated[
        Format, typer.Option("--format", help="table for people, json for programs.")
    ] = Format.TABLE,
) -> None:
    """Say how fresh the books are and what waits; exit 3 when no complete run is young enough."""
    from recon.doors import config
    from recon.doors.store import migrations
    from recon.doors.store.engines import Database

    settings = config.load()
    with Database.open(settings.database_url.reveal()) as database:
        migrations.check(database)
        found = facts(database, settings, now=datetime.now(UTC))
    print(json.dumps(found, indent=2) if output is Format.JSON else as_text(found))
    if found["stale"]:
        raise typer.Exit(STALE)


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
    from recon.model import money
    from recon.model.records.results import Money

    cases, last = found["open_cases"], found["last_complete_run"]
    risk = ", ".join(money.written(Money(minor, currency)) for currency, minor in cases["at_risk"].items())
    kinds = ", ".join(f"{n} {kind}" for kind, n in cases["kinds"].items())
    notices = ", ".join(f"{n} {state}" for state, n in found["undelivered"].items() if n)
    fresh = f"{last['id']}, as of {last['as_of']}, {last['verdict']}" if last is not None else "none yet"
    lines = [
        ("freshness", "STALE: no complete run is young enough" if found["stale"] else "ok"),
        ("last complete run", fresh),
        ("last run", found["last_run_verdict"] or "none yet"),
        *(
            (
                f"read of {each['account'] or 'the platform'}",
                f"{each['covered_from']} to {each['watermark_at']}",
            )
            for each in found["accounts"]
        ),
        ("open cases", f"{cases['total']}" + (f" ({kinds})" if kinds else "")),
        ("money at risk", risk or "none"),
        (
            "notices",
            (notices or "all delivered") + ("" if found["slack"] else "; SLACK_BOT_TOKEN is not set"),
        ),
    ]
    width = max(len(name) for name, _ in lines) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in lines)


def _time(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment is not None else None
