"""A town: an outbox, a sandbox's Slack and a clock that tests move, for everything that is about delivery."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recon.delivery import DeliveryReport, deliver, deliver_all
from recon.doors.slack.posts import Slack
from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model.records.notices import Message, Notice
from recon.model.records.words import NoticeState
from recon.model.settings import Secret, Settings, SlackSettings
from tests.sandboxes import SLACK_TOKEN, Street

START = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)


@dataclass
class Town:
    """A database, a sandbox whose time is ours, and the settings that tie them together."""

    database: Database
    sandbox: Street
    settings: Settings
    now: datetime = START

    def clock(self) -> datetime:
        """Return the town's time, a moment later each time it is asked."""
        self.now += timedelta(milliseconds=1)
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass, here and there."""
        self.now += timedelta(seconds=seconds)
        self.sandbox.advance(seconds)

    def turn(self, *, limit: int = 200) -> DeliveryReport:
        """Take one turn."""
        slack = Slack(self.settings.slack)
        return deliver(self.database, slack, self.settings, clock=self.clock, sleep=self.sleep, limit=limit)

    def turns(self, minutes: float = 10) -> DeliveryReport:
        """Take turns until all is told."""
        slack, budget = Slack(self.settings.slack), timedelta(minutes=minutes)
        return deliver_all(
            self.database, slack, self.settings, clock=self.clock, sleep=self.long_sleep, budget=budget
        )

    def long_sleep(self, seconds: float) -> None:
        """Let more time pass than is asked for: fewer turns, the same end."""
        self.sleep(max(seconds, 20))

    def add(self, *notices: Notice) -> None:
        """Put notices into the outbox."""
        with self.database.write() as connection:
            outbox.add(connection, notices)

    def notices(self) -> dict[str, Notice]:
        """Return the outbox by dedupe key."""
        return {notice.dedupe_key: notice for notice in outbox.recent(self.database, 1000)}

    def shown(self) -> list[str]:
        """Return what people see, in order."""
        return [message["text"] for message in self.sandbox.messages()]

    def delivery_ids(self) -> Counter[str]:
        """Return how often each delivery id is visible."""
        return Counter(m["metadata"]["event_payload"]["delivery_id"] for m in self.sandbox.messages())


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    """A town at noon."""
    sandbox.set_time(START.isoformat())
    told = SlackSettings(bot_token=Secret(SLACK_TOKEN), base_url=sandbox.slack_url, timeout_seconds=1)
    return Town(database, sandbox, Settings(slack=told))


def a_notice(key: str, verb: str = "root", thread: str = "t1", **more: Any) -> Notice:  # noqa: ANN401 - any field
    ordinary = Notice(
        id=None,
        dedupe_key=key,
        delivery_id=f"delivery-{key}",
        thread_key=thread,
        target="#refunds",
        verb=verb,
        message=Message(key),
        case_ids=(),
        state=NoticeState.WAITING,
        created_at=START,
        next_at=START,
    )
    return replace(ordinary, **more)
