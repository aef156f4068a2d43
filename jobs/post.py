"""The post: what a job does with the notices that wait, and what its log says of it.

Loads no frames: the tick passes here every minute.
"""

from datetime import timedelta

import structlog

from recon import delivery
from recon.delivery import DeliveryReport
from recon.doors.clock import Clock
from recon.doors.slack.posts import Slack
from recon.doors.store.engines import Database
from recon.model.settings import Settings

log = structlog.get_logger("recon")


def deliver(database: Database, settings: Settings, *, clock: Clock, budget: timedelta) -> DeliveryReport:
    """Deliver what waits, and log what became of it."""
    slack = Slack(settings.slack) if settings.slack.enabled else None
    report = delivery.deliver_all(database, slack, settings, clock=clock, budget=budget)
    tell = log.info if report.complete and report.enabled else log.warning
    tell(
        "delivery",
        enabled=report.enabled,
        sent=report.sent,
        postponed=report.postponed,
        given_up=report.given_up,
        waiting=report.waiting,
        reasons=list(report.reasons) or (None if report.enabled else ["SLACK_BOT_TOKEN is not set"]),
    )
    return report
