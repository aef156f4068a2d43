"""What people hear in Slack: which cases, when, and nothing twice."""

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select

from recon.model import tables
from recon.model.records.words import NoticeState
from recon.sandbox.slack import Message
from tests.month.judge import Judge
from tests.month.street import Street

CASE = re.compile(r"C-[A-Z2-7]{10}")
ALARMS = ("Not to be trusted", "Stale", "Surge")
# What becomes of a case that nobody hears of.
UNTOLD = ("healed", "commented", "unlinked")


@dataclass(slots=True)
class Ears:
    """Listens to every channel of the sandbox's Slack."""

    street: Street
    judge: Judge
    told: dict[str, datetime] = field(default_factory=dict)
    alarms: dict[str, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    news: Counter[tuple[str, str]] = field(default_factory=Counter)
    deliveries: Counter[str] = field(default_factory=Counter)

    def listen(self) -> None:
        """Hear what was posted since the last time."""
        for message in self.street.heard():
            self._hear(message)

    def _hear(self, message: Message) -> None:
        metadata = message.metadata or {}
        delivery = str(metadata.get("event_payload", {}).get("delivery_id"))
        self.deliveries[delivery] += 1
        if self.deliveries[delivery] > 1:
            self.judge.say(f"the message {delivery} was posted twice: {message.text[:80]}")
        for word in ALARMS:
            if message.text.startswith(word):
                self.alarms[word].append(self.street.now)
        named = CASE.findall(message.text + json.dumps(message.blocks))
        if message.text.startswith("Surge"):
            named = self._surged(delivery)
        for case_id in set(named):
            self.told[case_id] = self.street.now
            if message.thread_ts is not None:
                self.news[case_id, message.thread_ts] += 1
            self._true(case_id, message.text)

    def _true(self, case_id: str, text: str) -> None:
        """Nobody hears of what never was."""
        case = self.judge.cases().get(case_id)
        if case is None:
            self.judge.say(f"a message names {case_id}, which is no case: {text[:80]}")
        elif (case.account, case.subject) not in self.judge.ever:
            episode = self.judge.company.of_subject(case.account, case.subject)
            if episode is None or not episode.blind:
                self.judge.say(f"people heard of {case.subject}, which never was wrong: {text[:120]}")

    def _surged(self, delivery: str) -> list[str]:
        columns = tables.notices.c
        with self.judge.company.database.read() as connection:
            found = connection.scalar(select(columns.case_ids).where(columns.delivery_id == delivery))
        return list(found or ())

    def heard_since(self, word: str, moment: datetime) -> bool:
        """Return whether an alarm was heard since then."""
        return any(at >= moment for at in self.alarms[word])

    def at_the_end(self) -> None:
        """Everything was sent, once, and no news of a case was told more often than there was any."""
        notices, entries = tables.notices, tables.entries
        with self.judge.company.database.read() as connection:
            states = Counter(connection.scalars(select(notices.c.state)))
            written = connection.execute(select(entries.c.topic, entries.c.action)).all()
            rejected = connection.scalars(
                select(notices.c.dedupe_key).where(notices.c.dedupe_key.like("rejected|%"))
            ).all()
        if set(states) - {NoticeState.SENT}:
            self.judge.say(f"not everything was sent: {dict(states)}")
        if rejected:
            self.judge.say("rows of the provider's were rejected, and all of them are good")
        worth = Counter(topic for topic, action in written if action not in UNTOLD)
        for (case_id, thread), times in self.news.items():
            if times > worth[case_id]:
                self.judge.say(f"{case_id} was told {times} times in {thread}, of {worth[case_id]} news")
