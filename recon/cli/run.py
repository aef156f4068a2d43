"""`recon run`: one pass of the job, and what came of it as a table or JSON."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from html import unescape
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recon.model import money
from recon.model.errors import ConfigurationError
from recon.model.records.cases import Change
from recon.model.records.notices import Notice
from recon.model.records.results import Healable, Money
from recon.model.records.runs import AccountReading
from recon.model.records.words import Action, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from recon.hourly import RunReport
    from recon.model.settings import Settings

SHOWN = 20  # Changes, heals and messages that a table shows of each; JSON has them all.

INCOMPLETE, UNDELIVERED, MISMATCHES = 3, 4, 1  # Exit codes; 2 and 75 come from what a door reports.


class Format(StrEnum):
    """How the report is written."""

    TABLE = "table"
    JSON = "json"


def run(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what a run would do; write nothing but the mirror.")
    ] = False,
    as_of: Annotated[
        str | None,
        typer.Option(help="Judge at this time, ISO 8601 with a zone; else at the end of what was pulled."),
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="How to write the report.")] = Format.TABLE,
    fail_on_mismatch: Annotated[
        bool, typer.Option("--fail-on-mismatch", help="Exit 1 if there are mismatches.")
    ] = False,
    deliver: Annotated[
        bool, typer.Option("--deliver", help="Send the waiting messages afterwards, as the hourly job does.")
    ] = False,
) -> None:
    """Pull refunds, compare them with the intents, move cases, finish what is proved, and queue messages.

    Exit 0: done, whatever was found. 3: not everything was read. 4: messages could not be delivered. 1: with
    --fail-on-mismatch, there are mismatches. 2: the configuration cannot be used. 75: another run is at it.
    """
    asked = None if as_of is None else _time(as_of)
    from recon import hourly
    from recon.doors import config
    from recon.doors.store import migrations
    from recon.doors.store.engines import Database
    from recon.doors.stripe import Provider

    settings = config.load()
    with Database.open(settings.database_url.reveal()) as database:
        migrations.check(database)
        with _progress() as say:
            report = hourly.run(
                database,
                Provider(settings.provider),
                settings,
                clock=_now,
                dry_run=dry_run,
                as_of=asked,
                progress=say,
            )
        if format_ is Format.JSON:
            print(json.dumps(as_json(report), ensure_ascii=False, indent=2))
        else:
            _print(report)
        delivered = _deliver(database, settings) if deliver and not dry_run else True
    raise typer.Exit(exit_code(report, delivered=delivered, fail_on_mismatch=fail_on_mismatch))


def exit_code(report: "RunReport", *, delivered: bool, fail_on_mismatch: bool) -> int:
    """Return what the process ends with: the worst that must be looked at first."""
    if not report.complete:
        return INCOMPLETE
    if not delivered:
        return UNDELIVERED
    return MISMATCHES if fail_on_mismatch and report.result.mismatches else 0


def as_json(report: "RunReport") -> dict[str, object]:
    """Return the result as `recon diff` gives it, with what the run did; every key is always there."""
    from recon.rules import reports

    run = report.run
    return {
        "run": {
            "id": run.id,
            "dry_run": report.dry,
            "complete": report.complete,
            "full": run.full,
            "fence": run.fence,
            "started_at": reports.instant(run.started_at),
            "finished_at": reports.instant(run.finished_at),
            "opened": run.opened,
            "cleared": run.cleared,
            "healed": len(report.heals),
        },
        "accounts": [_account(reading) for reading in run.accounts],
        "changes": [_change(change) for change in report.changes],
        "heals": [_heal(heal) for heal in report.heals],
        "not_healed": [_heal(heal) for heal in report.not_healed],
        "notices": [_notice(notice) for notice in report.notices],
        **reports.as_json(report.result),
    }


def _account(reading: AccountReading) -> dict[str, object]:
    from recon.rules import reports

    return {
        "account": reading.account,
        "from": reports.instant(reading.from_at),
        "to": reports.instant(reading.to_at),
        "complete": reading.complete,
        "pages": reading.pages,
        "refunds": reading.refunds,
        "changed": reading.changed,
        "error": reading.error,
    }


def _change(change: Change) -> dict[str, object]:
    case = change.case
    return {
        "case": case.id,
        "action": str(change.entry.action),
        "state": str(case.state),
        "kind": str(case.mismatch.kind),
        "account": case.account,
        "subject": case.subject,
        "amount_at_risk": case.mismatch.at_risk.amount_minor,
        "currency": case.mismatch.at_risk.currency,
        "severity": str(case.severity),
        "owner": case.owner.name if case.owner else None,
        "reason": change.entry.reason,
    }


def _heal(heal: Healable) -> dict[str, object]:
    return {
        "account": heal.account,
        "intent_key": heal.intent_key,
        "refund_id": heal.refund_id,
        "basis": str(heal.basis),
    }


def _notice(notice: Notice) -> dict[str, object]:
    return {
        "verb": notice.verb,
        "target": notice.target,
        "thread": notice.thread_key,
        "text": notice.message.text,
        "cases": list(notice.case_ids),
    }


def _now() -> datetime:
    return datetime.now(UTC)


def _time(text: str) -> datetime:
    """Return --as-of as a time."""
    time: datetime | None
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:  # Not ISO 8601.
        time = None
    if time is None or time.tzinfo is None:
        raise ConfigurationError(
            "--as-of must be an ISO 8601 time with its zone, such as 2026-03-06T19:00:00Z; "
            f"found {text[:40]!r}."
        )
    return time.astimezone(UTC)


@contextmanager
def _progress() -> "Iterator[Callable[[str], None] | None]":
    """Show on a terminal what the run is doing; say nothing to a log."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("Taking the lease") as status:
        yield lambda sentence: status.update(_shown(sentence))


def _deliver(database: Any, settings: "Settings") -> bool:  # noqa: ANN401  # a Database, loaded late
    """Send what waits; return whether all of it went out."""
    from recon import delivery
    from recon.doors.slack import Slack

    slack = Slack(settings.slack) if settings.slack.enabled else None
    done = delivery.deliver(database, slack, settings, clock=_now)
    if not done.enabled:
        print("recon: no SLACK_BOT_TOKEN: the messages wait in the database.", file=sys.stderr)
    for reason in done.reasons:
        print(f"recon: {reason}", file=sys.stderr)
    return done.complete


def _print(report: "RunReport") -> None:
    """Print the report for a person: whether to trust it, what changed, the money, what was said."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for lines in (_verdict, _changes, _mismatches, _heals, _messages):
        for style, line in lines(report):
            console.print(_shown(line), style=style, markup=False)


Lines = Iterator[tuple[str | None, str]]


def _verdict(report: "RunReport") -> Lines:
    for reject in report.result.rejected[:SHOWN]:
        yield (
            "yellow",
            f"Rejected: {reject.source} row {reject.row} ({reject.id or 'no id'}): {reject.reason}",
        )
    run = report.run
    style = {"incomplete": "bold yellow", "breaks": "bold red"}.get(run.verdict, "bold green")
    dry = ", dry run: nothing was written but the mirror" if report.dry else ""
    yield style, f"{run.verdict} as of {run.as_of:%Y-%m-%d %H:%M:%S} UTC{dry}"
    whole = sum(each.complete for each in run.accounts)
    refunds = sum(each.refunds for each in run.accounts)
    changed = sum(each.changed for each in run.accounts)
    since = min(each.from_at for each in run.accounts)
    yield (
        None,
        (
            f"{whole} of {len(run.accounts)} accounts read, since {since:%Y-%m-%d %H:%M} UTC: "
            f"{refunds} refunds, {changed} new or different"
        ),
    )
    for each in run.accounts:
        if not each.complete:
            yield "yellow", f"Not read to the end: {each.account or 'the platform'}: {each.error}"
    counts = report.result.counts
    judged = "everything" if run.full else "what was touched or due"
    yield (
        None,
        (
            f"Compared {judged}: {counts.intents} intents, {counts.refunds} refunds, "
            f"{counts.in_flight} in flight, {counts.withheld} withheld"
        ),
    )


def _changes(report: "RunReport") -> Lines:
    counts = Counter(change.entry.action for change in report.changes)
    told = ", ".join(f"{counts[action]} {action}" for action in Action if action in counts)
    yield "bold", f"Cases: {told or 'nothing changed'}"
    for change in report.changes[:SHOWN]:
        case = change.case
        named = [case.mismatch.order_id, case.mismatch.customer_id, *case.mismatch.refund_ids]
        owner = case.owner.name if case.owner else "nobody"
        what = f"{change.entry.action} {case.mismatch.kind} {case.id} {money.written(case.mismatch.at_risk)}"
        yield (
            None,
            (
                f"  {what} ({', '.join(each for each in named if each) or case.subject}); "
                f"{case.severity}, {owner}"
            ),
        )
    yield from _more(len(report.changes))


def _mismatches(report: "RunReport") -> Lines:
    counts = report.result.counts.mismatches
    told = ", ".join(f"{counts[kind]} {kind}" for kind in Kind if counts[kind])
    yield "bold", f"Mismatches: {told or 'none'}"
    at_risk = [money.written(Money(minor, currency)) for currency, minor in report.result.at_risk.items()]
    if at_risk:
        yield None, f"Money at risk: {' and '.join(at_risk)}"


def _heals(report: "RunReport") -> Lines:
    if report.heals:
        yield "bold", f"Intents finished from the provider's proof: {len(report.heals)}"
    for heal in report.heals[:SHOWN]:
        yield None, f"  {heal.intent_key}: {heal.refund_id} by {heal.basis}"
    yield from _more(len(report.heals))
    for heal in report.not_healed:
        yield "yellow", f"  {heal.intent_key} changed meanwhile; the next run looks again"


def _messages(report: "RunReport") -> Lines:
    yield "bold", f"Messages: {len(report.notices) or 'nothing new to say'}"
    for notice in report.notices[:SHOWN]:
        yield None, f"  {notice.verb} to {notice.target}: {unescape(notice.message.text)}"
    yield from _more(len(report.notices))


def _more(count: int) -> Lines:
    if count > SHOWN:
        yield None, f"  and {count - SHOWN} more; --format json lists them"


def _shown(text: str) -> str:
    """Return text without what a terminal would obey."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
