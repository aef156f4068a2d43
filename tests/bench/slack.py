"""How long Slack's limits hold up news: 2,000 cases to 40 owners in 20 channels, composed as a run does it.

python -m tests.bench.slack [--cases 2000] [--owners 40] [--channels 20]
The sandbox's Slack takes one message a second and channel and refuses the next with 429. Its time, which is
the sender's as well, moves on where the sender would sleep; what it computes takes as long as it takes. First
an hour opens all cases; then one clears a fifth of them and opens as many. The surge limit is out of the way.
"""

import argparse
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from recon.delivery import deliver_all
from recon.doors.slack.posts import Slack
from recon.doors.store import cases as book
from recon.doors.store import migrations, outbox, threads
from recon.doors.store.engines import Database
from recon.model.records.cases import Case, Change
from recon.model.records.notices import Manner, Notice
from recon.model.records.owners import Profile
from recon.model.records.results import Money
from recon.model.records.words import Action, CaseState, Kind, RunId, Severity, Subject
from recon.model.settings import Secret, Settings, SlackSettings
from recon.rules import notices
from recon.sandbox.server import Sandbox
from tests.builders import a_case, a_mismatch, an_owner
from tests.doors.store.books import a_lease, a_run, opened
from tests.sandboxes import SLACK_TOKEN, Street

PARTS = {"critical": 1, "high": 3, "medium": 4, "low": 2}  # Of ten cases.
KINDS = [
    Kind.DUPLICATE,
    Kind.DUPLICATE,
    Kind.AMOUNT_MISMATCH,
    Kind.STATUS_MISMATCH,
    Kind.MISSING,
    Kind.STUCK,
    Kind.ORPHAN,
]
TOO_MANY = 429
BUDGET = timedelta(hours=6)


@dataclass
class Company:
    """A database, a Slack, and how many owners read in how many channels."""

    database: Database
    street: Street
    settings: Settings
    owners: int
    channels: int

    def now(self) -> datetime:
        """Return the sandbox's time."""
        return datetime.fromtimestamp(self.street.running.state.clock.now(), UTC)

    def case(self, number: int, random: Random) -> Case:
        """Return a new case of somebody's."""
        owner = number % self.owners
        name, target = f"Team {owner}", f"#team-{owner % self.channels}"
        mismatch = a_mismatch(
            kind=random.choice(KINDS),
            subject=Subject(f"intent:{number}"),
            order_id=f"order_{number}",
            at_risk=Money(random.randint(100, 90_000), random.choice(["usd", "usd", "eur"])),
        )
        severity = Severity(random.choices(list(PARTS), list(PARTS.values()))[0])
        return a_case(mismatch, owner=an_owner(name=name, target=target), severity=severity)

    def hour(self, name: str, changes: Iterable[Change], before: Iterable[Case]) -> None:
        """Save a run with these changes and what they give to say; deliver that, and print how it went."""
        changes, known, now = tuple(changes), {case.id: case for case in before}, self.now()
        run = a_run(id=RunId(name), started_at=now, finished_at=now, as_of=now, opened=len(changes))
        manner = Manner.of(
            self.settings,
            {f"Team {n}": Profile(f"Team {n}", f"#team-{n % self.channels}") for n in range(self.owners)},
            livemode=True,
            as_of=now,
            now=now,
            run_id=run.id,
        )
        cases = [change.case for change in changes]
        topics = notices.topics([*cases, *known.values()], livemode=True)
        said = notices.compose(
            changes,
            threads.known(self.database, topics, {case.id for case in cases}),
            before=known,
            manner=manner,
        )
        lease = a_lease(self.database, now=now)
        book.save_run(
            self.database, lease, book.Saving(replace(run, fence=lease.fence), changes=changes, notices=said)
        )
        self.deliver(name, said)

    def deliver(self, name: str, said: tuple[Notice, ...]) -> None:
        """Deliver all there is, and print how it went."""
        asked, began, working = len(self.street.requests()), self.now(), time.process_time()
        report = deliver_all(
            self.database,
            Slack(self.settings.slack),
            self.settings,
            clock=self.now,
            budget=BUDGET,
            sleep=lambda seconds: void(self.street.advance(seconds)),
        )
        working = time.process_time() - working
        requests = self.street.requests()[asked:]
        verbs = Counter(each.verb for each in said)
        refused = sum((each["answer"] or {}).get("status") == TOO_MANY for each in requests)
        print(f"{name}: {len(said)} messages {dict(verbs)}, {report.sent} sent, {report.waiting} left,")
        print(f"  in {_minutes(self.now() - began)}; {len(requests)} requests, {refused} of them met a 429;")
        print(f"  {working:.0f} s of them this process, the sandbox included, was working")
        self.lags({each.delivery_id for each in said})

    def lags(self, said: set[str]) -> None:
        """Print how long messages waited, by urgency."""
        rows = [each for each in outbox.recent(self.database, 100_000) if each.delivery_id in said]
        for urgency in sorted({each.urgency for each in rows}, reverse=True):
            lags = [
                each.sent_at - each.created_at for each in rows if each.urgency == urgency and each.sent_at
            ]
            middle = timedelta(seconds=statistics.median(each.total_seconds() for each in lags))
            print(f"  urgency {urgency}: {len(lags)} messages, median lag {_minutes(middle)}, ", end="")
            print(f"worst {_minutes(max(lags))}")


def void(_: object) -> None:
    """Return nothing, which is what a sleep returns."""


def main() -> None:
    """Open, tell, clear, tell, and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.slack")
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--owners", type=int, default=40)
    parser.add_argument("--channels", type=int, default=20)
    asked = parser.parse_args()
    random = Random(1)
    with tempfile.TemporaryDirectory() as folder, Sandbox.start() as running:
        street = Street(running)
        told = SlackSettings(bot_token=Secret(SLACK_TOKEN), base_url=street.slack_url)
        settings = replace(Settings(slack=told), surge_limit=10 * asked.cases)
        with Database.open(f"sqlite:///{Path(folder) / 'recon.db'}") as database:
            migrations.upgrade(database)
            company = Company(database, street, settings, asked.owners, asked.channels)
            first = [company.case(number, random) for number in range(asked.cases)]
            fifth = first[: asked.cases // 5]
            print(f"{asked.cases} cases, {asked.owners} owners, {asked.channels} channels, ", end="")
            print(f"{told.messages_per_minute} messages a minute")
            company.hour("opened", [opened(case, run="opened") for case in first], [])
            street.advance(3600)
            more = [company.case(asked.cases + number, random) for number in range(len(fifth))]
            changes = [cleared(case, company.now()) for case in fifth]
            company.hour("an hour later", changes + [opened(case, run="later") for case in more], fifth)


def cleared(case: Case, now: datetime) -> Change:
    """Return the change by which a run clears a case."""
    after = replace(case, state=CaseState.CLEARED, version=case.version + 1, updated_at=now)
    entry = replace(
        opened(case, run="later").entry,
        action=Action.CLEARED,
        at=now,
        from_state=case.state,
        to_state=after.state,
        version=after.version,
    )
    return Change(after, entry, from_version=case.version)


def _minutes(span: timedelta) -> str:
    minutes, seconds = divmod(round(span.total_seconds()), 60)
    return f"{minutes} min {seconds} s"


if __name__ == "__main__":
    main()
