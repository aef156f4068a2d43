"""`recon deliver`: send the notices that wait, now."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from recon.cli import exits, extras
from recon.model import phrases
from recon.model.characters import harmless


def deliver(
    seconds: Annotated[
        int, typer.Option(help="How long to wait for notices that cannot go out at once.", min=0, max=3600)
    ] = 30,
) -> None:
    """Send the notices that wait for Slack.

    Exit 0: none is left but what quiet hours hold back, or Slack is not set
    up.
    Exit 4: some are left; what stopped them is said, and when the next is due.
    """
    with extras.needed("recon deliver", "slack"):
        from recon.doors.slack.posts import Slack
    from recon import delivery
    from recon.doors import config
    from recon.doors.store import outbox, revisions
    from recon.doors.store.engines import Database

    settings = config.load()
    with Database.open(settings.database_url.reveal()) as database:
        revisions.check(database)
        slack = Slack(settings.slack) if settings.slack.enabled else None
        budget = timedelta(seconds=seconds)
        report = delivery.deliver_all(
            database, slack, settings, clock=lambda: datetime.now(UTC), budget=budget
        )
        due = outbox.next_due(database)
    if not report.enabled:
        wait = "1 notice waits" if report.waiting == 1 else f"{report.waiting} notices wait"
        print(f"SLACK_BOT_TOKEN is not set: {wait}.")
        return
    print(f"{report.sent} sent, {report.waiting} waiting, {report.given_up} given up.")
    if report.resting:
        print(f"  Held back by quiet hours: {report.resting}.")
    if not report.complete:
        for reason in report.reasons:
            print(f"  {harmless(reason)}")
        if due is not None:
            print(f"  The next is due at {phrases.minute(due)}.")
        raise typer.Exit(exits.UNDELIVERED)
