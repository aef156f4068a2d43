"""`recon status`: is the hour alive, what has it read, and what waits for people."""

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import typer

from recon.cli import exits
from recon.cli.options import Format, Output
from recon.cli.unknowns import COMMAND
from recon.model import money, phrases, wording
from recon.model.characters import harmless
from recon.model.phrases import duration
from recon.model.records.results import Money
from recon.model.records.words import Kind, NoticeState, Verdict

if TYPE_CHECKING:
    from recon.doors.store.engines import Database
    from recon.doors.store.glance import Unsettled
    from recon.model.records.runs import Account, AccountReading, Lease, Run
    from recon.model.records.tools import Switch
    from recon.model.settings import Settings

_MANY = 2  # Accounts from which on it is worth saying how many of them were read.
_NARROWEST = 30  # Characters of a column: on a narrower screen the lines are its own to break.
_LONG = timedelta(minutes=1)  # From here on it is worth saying how long a run took.


def status(
    output: Output = Format.TABLE,
) -> None:
    """Say how fresh the books are, which cases wait and which notices have not gone out.

    Exit 0: a complete run is young enough, or there was no run yet.
    Exit 3: no complete run is young enough.
    """
    from recon.doors import config
    from recon.doors.store import revisions
    from recon.doors.store.engines import Database

    settings = config.load()
    with Database.open(settings.database_url.reveal()) as database:
        revisions.check(database)
        found = facts(database, settings, now=datetime.now(UTC))
    if output is Format.JSON:
        print(json.dumps(found, indent=2))
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        typer.echo(as_text(found, colour=True, width=width))  # Takes colours out where nobody would see them.
    if found["stale"]:
        raise typer.Exit(exits.INCOMPLETE)


def facts(database: "Database", settings: "Settings", *, now: datetime) -> dict[str, Any]:
    """Return the status as plain values: every key always present, times in ISO 8601 with Z."""
    from recon import watch
    from recon.doors.store import glance, leases, mirror, outbox, queue, standing, switches
    from recon.model.records.runs import HOUR
    from recon.rules import beginnings

    fresh, waiting = watch.freshness(database, settings, now=now), queue.summary(database)
    last = fresh.last_saved
    read = {each.account: each for each in last.accounts} if last is not None else {}
    counts = last.counts if last is not None else {}
    at_work, worst = leases.held(database, HOUR, now=now), glance.most_rejected(database)
    return {
        "stale": fresh.stale,
        "age_seconds": int(fresh.age.total_seconds()) if fresh.age is not None else None,
        "last_complete_run": _as_values(fresh.last_complete),
        "last_run": _as_values(last),
        "last_run_verdict": last.verdict if last is not None else None,
        "at_work": _at_work(at_work, settings.lease.duration),
        "accounts_read": {"read": sum(each.complete for each in read.values()), "of": len(read)},
        "accounts": [_account(each, read.get(each.account)) for each in mirror.accounts(database)],
        "open_cases": {
            "total": waiting.waiting,
            "kinds": {str(kind): n for kind, n in waiting.kinds.items() if n},
            "severities": {str(severity): n for severity, n in waiting.severities.items() if n},
            "at_risk": dict(waiting.at_risk),
            "oldest_opened_at": _time(waiting.oldest_opened_at),
        },
        "pending_unknown": standing.pending_unknown(database),
        "pending": glance.pending(database),
        "unsettled": [_effects(each, now) for each in glance.unsettled(database, now=now)],
        "withheld": counts.get("withheld", 0),
        "rejected": counts.get("rejected", 0),
        "rejected_most": asdict(worst) if worst is not None else None,
        "older": list(beginnings.sentences(beginnings.of_counts(counts))),
        "undelivered": {str(state): n for state, n in outbox.undelivered(database).items()},
        "undelivered_since": _time(outbox.waits_since(database, now=now)),
        "slack": settings.slack.enabled,
        "switched_off": [_switch(each) for each in switches.thrown(database)],
    }


def _account(known: "Account", read: "AccountReading | None") -> dict[str, Any]:
    """Return how far an account is covered, and whether the last run read it to its end."""
    return {
        "account": known.account,
        "livemode": known.livemode,
        "covered_from": _time(known.covered_from),
        "watermark_at": _time(known.watermark_at),
        "read": read.complete if read is not None else None,
        "error": read.error if read is not None else None,
    }


def _switch(thrown: "Switch") -> dict[str, Any]:
    """Return who switched a tool off, when and why."""
    at = _time(thrown.moved_at)
    return {"tool": thrown.tool, "by": thrown.moved_by, "at": at, "reason": thrown.reason}


def _effects(found: "Unsettled", now: datetime) -> dict[str, Any]:
    """Return how many effects of a guarded tool nobody knows of, and since when the oldest was sent."""
    age = int((now - found.since).total_seconds())
    return {"tool": found.tool, "unknown": found.number, "since": _time(found.since), "age_seconds": age}


def _as_values(run: "Run | None") -> dict[str, Any] | None:
    """Return what is said of one run; None where there is none."""
    if run is None:
        return None
    return {
        "id": run.id,
        "as_of": _time(run.as_of),
        "finished_at": _time(run.finished_at),
        "seconds": (run.finished_at - run.started_at).total_seconds(),
        "verdict": run.verdict,
    }


def _at_work(lease: "Lease | None", duration: timedelta) -> dict[str, Any] | None:
    """Return who holds the lease now; None where no run is at work."""
    if lease is None:
        return None
    heard_at = lease.expires_at - duration  # Each renewal gives it this long from then on.
    return {"holder": lease.holder, "heard_at": _time(heard_at), "until": _time(lease.expires_at)}


def as_text(found: Mapping[str, Any], *, colour: bool = False, width: int | None = None) -> str:
    """Return the status in lines for people. width: of their screen; None where lines may have any length."""
    last, complete = found["last_run"], found["last_complete_run"]
    lines = [
        ("freshness", _freshness(found, colour=colour)),
        ("last complete run", _run(complete) if complete is not None else "none yet"),
    ]
    if last != complete:
        lines.append(("last run", _run(last)))
    if found["at_work"] is not None:
        lines.append(("at work now", _worker(found["at_work"])))
    if found["rejected"]:
        lines.append(("rejected rows", _rejected(found)))
    lines += _column("switched off", map(_off, found["switched_off"]))
    lines += [
        *_column("accounts", _accounts(found)),
        *_column("not judged", _not_judged(found)),
        *_column("open cases", _cases(found["open_cases"])),
        ("money at risk", _money(found["open_cases"]["at_risk"], beside=bool(found["unsettled"]))),
        ("unknown intents", _unknown(found["pending_unknown"], found["pending"])),
        *_column("unknown effects", map(_told, found["unsettled"])),
        ("notices", _notices(found)),
    ]
    names = max(len(name) for name, _ in lines) + 2
    return "\n".join(
        f"{name:<{names}}{shown}"
        for name, value in lines
        for name, shown in _column(name, _folded(value, None if width is None else width - names))
    )


def _folded(value: str, width: int | None) -> list[str]:
    """Return a value in lines of its column; what leads its first word leads every line, and two spaces."""
    if width is None or len(value) <= width:
        return [value]
    room, indent = max(width, _NARROWEST), " " * (len(value) - len(value.lstrip()) + 2)
    return textwrap.wrap(
        value, room, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _column(name: str, told: Iterable[str]) -> list[tuple[str, str]]:
    """Return lines of which the first has the name."""
    return [(name if not at else "", each) for at, each in enumerate(told)]


def _off(switch: Mapping[str, Any]) -> str:
    """Return which tool sends nothing, and by whose word; what somebody typed may hold anything."""
    return harmless(f"{switch['tool']}, by {switch['by']} since {_minute(switch['at'])}: {switch['reason']}")


def _freshness(found: Mapping[str, Any], *, colour: bool) -> str:
    """Return whether somebody may rely on what the books say."""
    if found["age_seconds"] is None:
        return "no run yet: recon run"
    age = duration(timedelta(seconds=found["age_seconds"]))
    if not found["stale"] and found["rejected"]:
        return f"{_painted('rows rejected', typer.colors.YELLOW, colour=colour)}, {age} old"
    if not found["stale"]:
        return f"{_painted('ok', typer.colors.GREEN, colour=colour)}, {age} old"
    stale = _painted("STALE", typer.colors.RED, colour=colour)
    return f"{stale}: no complete run for {age}; look at the hourly job and its log"


def _painted(word: str, shade: str, *, colour: bool) -> str:
    return typer.style(word, fg=shade, bold=True) if colour else word


def _run(run: Mapping[str, Any]) -> str:
    said = f"{run['id']}, as of {_minute(run['as_of'])}, {_verdict(run['verdict'])}"
    took = timedelta(seconds=run["seconds"])
    return f"{said}; it took {duration(took)}" if took >= _LONG else said


def _worker(at_work: Mapping[str, Any]) -> str:
    """Return who is at it, since when at least, and until when it may be without another word."""
    heard_at, until = (datetime.fromisoformat(at_work[name]) for name in ("heard_at", "until"))
    told = f"{at_work['holder']}: heard of at {phrases.clock(heard_at)}, has the lease until "
    return harmless(told + phrases.clock(until))


def _rejected(found: Mapping[str, Any]) -> str:
    """Return how many rows cannot be judged, and why most of them."""
    told, worst = f"{found['rejected']:,}, and what they touch is not judged", found["rejected_most"]
    if worst is not None:
        told += f"; {worst['rows']:,} of {worst['source']}: {worst['reason']}"
    return harmless(f"{told}; recon run --format json lists them")


def _unknown(unknown: int, pending: int) -> str:
    """Return how many intents have no known outcome, so that the cases of that kind can be told from them."""
    told = f"{unknown:,}" if unknown else "none"
    if pending:
        told += f", and {pending:,} pending: a case of an unknown outcome (stuck) may be of either"
    return told


def _told(effects: Mapping[str, Any]) -> str:
    """Return which guarded tool waits for an answer, and for how long."""
    age = duration(timedelta(seconds=effects["age_seconds"]))
    return harmless(f"{effects['tool']}: {effects['unknown']:,} unknown, oldest {age}: {COMMAND}")


def _verdict(verdict: str | None) -> str:
    if verdict is None:
        return "none yet"
    said = wording.VERDICTS[Verdict(verdict)]
    return said if said == verdict else f"{wording.plain(verdict)}: {said}"


def _accounts(found: Mapping[str, Any]) -> list[str]:
    """Return how many the last run read of all there are, and how far each one is read."""
    accounts, read = found["accounts"], found["accounts_read"]
    if not accounts:
        return ["none yet"]
    each = [_read(account) for account in accounts]
    return (
        each
        if read["of"] < _MANY
        else [f"{read['read']} of {read['of']} accounts read by the last run", *each]
    )


def _read(account: Mapping[str, Any]) -> str:
    name = phrases.account(account["account"])
    mode = {True: ", live", False: ", test mode", None: ""}[account["livemode"]]
    told = f"{name}{mode}: not yet"
    if account["watermark_at"] is not None:
        told = f"{name}{mode}: {_minute(account['covered_from'])} to {_minute(account['watermark_at'])}"
    if account["read"] is False:
        why = phrases.why_unread(account["account"], account["error"] or "no reason was given")
        told += f"; the last run did not read it to the end: {why}"
    return harmless(told)


def _not_judged(found: Mapping[str, Any]) -> list[str]:
    """Return what the last run could not judge, and what is older than all it judges; often nothing."""
    told = list(found["older"])
    if found["withheld"] and not found["rejected"] and not told:
        told.append(f"{found['withheld']:,} withheld, because not enough was read")
    return told


def _cases(cases: Mapping[str, Any]) -> list[str]:
    """Return how many wait, how soon they must be looked at, and one line for each kind."""
    severities = ", ".join(f"{number} {severity}" for severity, number in cases["severities"].items())
    told = [f"{cases['total']}: {severities}" if severities else str(cases["total"])]
    if cases["oldest_opened_at"] is not None:
        told[0] += f"; the oldest opened {_minute(cases['oldest_opened_at'])}"
    return told + [f"  {wording.counted(Kind(kind), number)}" for kind, number in cases["kinds"].items()]


def _money(at_risk: Mapping[str, int], *, beside: bool) -> str:
    """Return what is at risk in the open cases. beside: whether there are effects that may have none."""
    told = ", ".join(money.written(Money(minor, each)) for each, minor in at_risk.items()) or "none"
    return f"{told}; unknown effects without a case are not in it" if beside else told


def _notices(found: Mapping[str, Any]) -> str:
    undelivered = dict(found["undelivered"])
    given_up = undelivered.pop(NoticeState.UNDELIVERABLE, 0)
    waiting = ", ".join(f"{number} {state}" for state, number in undelivered.items() if number)
    if found["slack"] and waiting:
        if found["undelivered_since"] is not None:
            waiting += f", the oldest since {_minute(found['undelivered_since'])}: recon deliver tries again"
        else:
            waiting += ", held back by quiet hours"
    told = [waiting or "none waits"]
    if given_up:  # For good: nothing tries those again.
        told.append(f"{given_up} given up, see their cases in the dashboard")
    if not found["slack"]:
        told.append("SLACK_BOT_TOKEN is not set")
    return "; ".join(told)


def _minute(time: str | None) -> str:
    """Return a time of the facts as people read it."""
    return "never" if time is None else phrases.minute(datetime.fromisoformat(time))


def _time(moment: datetime | None) -> str | None:
    return phrases.iso(moment) if moment is not None else None
