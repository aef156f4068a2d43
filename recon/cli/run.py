"""`recon run`: one pass of the job, and what came of it as a table or JSON."""

import importlib
import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recon.cli import exits, extras, progress
from recon.cli.options import DryRun, FailOnMismatch, Format, Output, Wait, time
from recon.model import phrases
from recon.model.records.cases import Change
from recon.model.records.notices import Notice
from recon.model.records.results import Healable
from recon.model.records.runs import AccountReading, Backfill, ReadBack
from recon.model.records.words import CaseId, Kind

if TYPE_CHECKING:
    from recon.hourly import RunReport
    from recon.model.settings import Settings


Deliver = Annotated[
    bool,
    typer.Option(
        "--deliver", metavar="", help="Send the waiting notices afterwards, as the hourly job does."
    ),
]


def run(
    *,
    dry_run: DryRun = False,
    as_of: Annotated[
        str | None,
        typer.Option(
            metavar="ISO",
            help="Judge at this time, ISO 8601 with a zone; else at the end of what was pulled.",
        ),
    ] = None,
    format_: Output = Format.TABLE,
    fail_on_mismatch: FailOnMismatch = False,
    deliver: Deliver = False,
    wait: Wait = 0,
) -> None:
    """Pull refunds, compare them with the intents, move cases, finish what is proved, and queue notices.

    Exit 0: done, whatever was found.
    Exit 1: there are mismatches, and --fail-on-mismatch was given.
    Exit 2: the configuration cannot be used; nothing was done.
    Exit 3: not everything was read, or rows were rejected; nothing was cleared where that is so.
    Exit 4: notices could not be delivered; they wait.
    Exit 75: another run is at it, and was so for as long as --wait says.
    """
    asked = None if as_of is None else time("--as-of", as_of)
    carry_out(
        dry_run=dry_run,
        as_of=asked,
        format_=format_,
        fail_on_mismatch=fail_on_mismatch,
        deliver=deliver,
        wait=wait,
    )


def carry_out(
    *,
    dry_run: bool,
    format_: Format,
    fail_on_mismatch: bool,
    deliver: bool,
    wait: int,
    as_of: datetime | None = None,
    back: Backfill | None = None,
) -> None:
    """Pass over the books once, print what came of it, and end the process with its exit code."""
    from recon import hourly
    from recon.doors import config
    from recon.doors.store import revisions
    from recon.doors.store.engines import Database
    from recon.doors.stripe.provider import Provider

    if deliver and not dry_run:  # Not after an hour's work.
        with extras.needed("Sending notices", "slack"):
            importlib.import_module("recon.delivery")
    settings = config.load()
    with Database.open(settings.database_url.reveal()) as database:
        revisions.check(database)
        with progress.shown() as say:
            report = hourly.run(
                database,
                Provider(settings.provider),
                settings,
                clock=_now,
                dry_run=dry_run,
                as_of=as_of,
                progress=say,
                wait=timedelta(seconds=wait),
                back=back,
            )
        _print(report, format_, settings, delivers=deliver)
        delivered = _deliver(database, settings) if deliver and not dry_run else True
    raise typer.Exit(exit_code(report, delivered=delivered, fail_on_mismatch=fail_on_mismatch))


def exit_code(report: "RunReport", *, delivered: bool, fail_on_mismatch: bool) -> int:
    """Return what the process ends with: the worst that must be looked at first."""
    if not report.in_order:
        return exits.INCOMPLETE
    if not delivered:
        return exits.UNDELIVERED
    return exits.FOUND if fail_on_mismatch and report.result.mismatches else exits.OK


def as_json(report: "RunReport") -> dict[str, object]:
    """Return the result as `recon diff` gives it, with what the run did; every key is always there."""
    from recon.rules import beginnings
    from recon.rules.reports import documents

    run = report.run
    return {
        "run": {
            "id": run.id,
            "dry_run": report.dry,
            "complete": report.complete,
            "full": run.full,
            "fence": run.fence,
            "started_at": phrases.iso(run.started_at),
            "finished_at": phrases.iso(run.finished_at),
            "opened": run.opened,
            "cleared": run.cleared,
            "healed": len(report.heals),
            "untold": report.untold,
        },
        "accounts": [_account(reading) for reading in run.accounts],
        "read_back": [_back(each) for each in report.back],
        "older": beginnings.as_counts(report.older),
        "said": list(report.said),
        "changes": [_change(change, report.was) for change in report.changes],
        "heals": [_heal(heal) for heal in report.heals],
        "not_healed": [_heal(heal) for heal in report.not_healed],
        "notices": [_notice(notice) for notice in report.notices],
        **documents.as_json(report.result),
    }


def _account(reading: AccountReading) -> dict[str, object]:
    return {
        "account": reading.account,
        "from": phrases.iso(reading.from_at),
        "to": phrases.iso(reading.to_at),
        "complete": reading.complete,
        "pages": reading.pages,
        "refunds": reading.refunds,
        "changed": reading.changed,
        "error": reading.error,
    }


def _back(back: ReadBack) -> dict[str, object]:
    began = back.covered_from
    return {
        **_account(back.reading),
        "joined": back.joined,
        "covered_from": phrases.iso(began) if began is not None else None,
        "rejected": back.unread,
    }


def _change(change: Change, was: Mapping[CaseId, Kind]) -> dict[str, object]:
    case = change.case
    before = was.get(case.id)
    return {
        "case": case.id,
        "action": str(change.entry.action),
        "state": str(case.state),
        "kind": str(case.mismatch.kind),
        "was": str(before) if before is not None else None,
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


def _print(report: "RunReport", format_: Format, settings: "Settings", *, delivers: bool) -> None:
    """Print the report to standard output."""
    from recon.cli import run_table

    if format_ is Format.JSON:
        print(json.dumps(as_json(report), ensure_ascii=False, indent=2))
    else:
        run_table.show(report, dashboard=settings.dashboard.url, delivers=delivers)


def _deliver(database: Any, settings: "Settings") -> bool:  # noqa: ANN401  # a Database, loaded late
    """Send what waits; return whether all of it went out."""
    from recon import delivery
    from recon.doors.slack.posts import Slack

    slack = Slack(settings.slack) if settings.slack.enabled else None
    done = delivery.deliver(database, slack, settings, clock=_now)
    if not done.enabled:
        print("recon: no SLACK_BOT_TOKEN: the notices wait in the database.", file=sys.stderr)
    for reason in () if done.complete else done.reasons:  # What went out in the end stopped nothing.
        print(f"recon: {reason}", file=sys.stderr)
    if done.complete and (done.sent or done.resting):
        rest = f", {done.resting} held back by quiet hours" if done.resting else ""
        print(f"recon: {phrases.several(done.sent, 'notice')} sent{rest}.", file=sys.stderr)
    if done.enabled and not done.complete:
        told = (
            f"{phrases.several(done.sent, 'notice')} sent, {done.waiting} waiting, {done.given_up} given up"
        )
        print(f"recon: {told}; recon deliver tries again.", file=sys.stderr)
    return done.complete
