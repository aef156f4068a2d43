"""One company's month, lived hour by hour over the real flows, a real database and the sandbox over HTTP."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import chain
from random import Random

from sqlalchemy import select

from recon import delivery, hourly, reminding, watch
from recon.doors.slack.posts import Slack as Slacks
from recon.doors.store import cases as book
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.hourly import RunReport
from recon.model import tables
from recon.model.errors import LeaseLost, ProviderUnavailable
from recon.model.records.runs import Lease
from recon.model.records.words import AccountId, Verdict
from recon.model.settings import ProviderSettings, Secret, Settings, SlackSettings
from tests.month import sky as weather_over
from tests.month.company import EDGES, Company
from tests.month.ears import Ears
from tests.month.judge import Judge
from tests.month.operators import Operators
from tests.month.stories import STORIES
from tests.month.street import Street, seeded_ids
from tests.month.truth import Truth
from tests.month.weather import LOST_LEASE, Hour, Sky, Slack, Turn, calm, forecast
from tests.sandboxes import SLACK_TOKEN, STRIPE_KEY

BEGINS = datetime(2026, 3, 2, tzinfo=UTC)
PLATFORM, SECOND = AccountId(""), AccountId("acct_second")
STALE = timedelta(hours=2)
OWNERS: dict[str, object] = {
    "rules": [
        {"name": "everything", "owner": "Payments on call", "target": "#payments"},
        {"name": "doubles", "kind": ["duplicate"], "owner": "Doubles", "target": "#doubles"},
        {"name": "second", "account": str(SECOND), "owner": "Mona", "target": "mona@company.example"},
        {"name": "old", "older_than_minutes": 60 * 72, "owner": "The boss", "target": "#old"},
    ],
    "severities": [{"level": "medium"}, {"level": "high", "kind": ["duplicate", "missing"]}],
    "owners": {
        "Doubles": {
            "target": "#doubles",
            "zone": "Europe/Berlin",
            "digest_at": "08:30",
            "escalation": [{"after_minutes": 240, "owner": "The boss"}],
        }
    },
}


@dataclass(slots=True)
class Ending:
    """How a month ended. digest: of everything that the books then said; the same for the same seed."""

    seed: int
    wrong: list[str]
    counts: Counter[str]
    digest: str
    seconds: float
    hours: int = 0


@dataclass(slots=True)
class Life:
    """A month and everybody in it. busy: how likely it is that something begins in an hour."""

    street: Street
    database: Database
    seed: int
    settings: Settings
    busy: float = 0.09
    chance: Random = field(init=False)
    company: Company = field(init=False)
    judge: Judge = field(init=False)
    ears: Ears = field(init=False)
    operators: Operators = field(init=False)
    hour: Hour = field(init=False)
    last_complete: datetime | None = None
    complete_runs: int = 0
    outages: set[tuple[int, tuple[str, ...]]] = field(default_factory=set)
    stale_days: set[tuple[int, str]] = field(default_factory=set)
    incomplete_now: bool = False

    def __post_init__(self) -> None:
        self.chance = Random(self.seed)
        slices = self.settings.pull.relist_slices
        self.company = Company(self.street, self.database, Random(self.seed + 1), slices=slices)
        self.judge = Judge(self.company, Truth(self.company), self.settings.policy)
        self.ears = Ears(self.street, self.judge)
        self.operators = Operators(self.company, self.settings)

    def hours(self, days: int) -> Iterator[Hour]:
        """Live a month, and then a calm day; yield each hour once it is over."""
        ends = BEGINS + timedelta(days=days)
        calm_hours = self.company.late + EDGES
        for hour in chain(forecast(self.chance, BEGINS, days), calm(ends, calm_hours)):
            if hour.begins == ends:
                self.company.stop()
            elif hour.begins < ends:
                self._begin_stories(hour)
            self.hour = hour
            self.live()
            yield hour

    def _begin_stories(self, hour: Hour) -> None:
        """Let some things begin in this hour, some of them in the very second of a run."""
        company, chance = self.company, self.company.chance
        moments = []
        if chance.random() < self.busy:
            moments.append(hour.begins + timedelta(seconds=chance.randrange(3600)))
        if hour.at is not None and chance.random() < 0.07:
            moments.append(hour.at - timedelta(seconds=chance.choice((0, 0, 1, 20, 39, 45))))
        for moment in moments:
            company.at(moment, self._story(f"{len(company.episodes)}_{moment:%d%H%M%S}"))

    def _story(self, name: str) -> Callable[[], None]:
        chance = self.company.chance
        story = chance.choices([each for each, _ in STORIES], [weight for _, weight in STORIES])[0]
        account = SECOND if chance.random() < 0.2 else PLATFORM
        name = f"{name}_{story.__name__}"

        def begin() -> None:
            story(self.company, self.company.episode(name, account))

        return begin

    def live(self) -> None:
        """Live one hour."""
        hour, company = self.hour, self.company
        company.drift = hour.drift
        if hour.policy:
            longer = timedelta(minutes=100)
            self.judge.policy = replace(self.settings.policy, stuck_after=longer, missing_after=longer / 3)
            self.settings = replace(self.settings, policy=self.judge.policy)
        if hour.at is not None:
            company.go_to(hour.at)
            self.operators.act()
            if hour.turn is Turn.LEASE:  # Something that only these two runs will have been told of.
                self._story(f"{len(company.episodes)}_before")()
                company.hurry(3)
            self._run_as_planned()
            self._deliver(timedelta(seconds=150))
        for tick in hour.ticks:
            company.go_to(tick)
            self._tick()
        self.street.forget_requests()

    def _run_as_planned(self) -> None:
        hour = self.hour
        weather_over.over_provider(self.street, hour.sky, hides=hour.hides)
        compare_dry = hour.dry and hour.turn is Turn.NONE and hour.sky is Sky.CLEAR
        dry = self._run(dry_run=True) if hour.dry else None
        report = self._run(entering=self._turning())
        if compare_dry and dry is not None and report is not None:
            said, done = _moves(dry), _moves(report)
            if said != done:
                self.judge.say(f"a dry run said {said}, and the wet one did {done}")
        if hour.turn is Turn.LEASE and report is not None:
            self.judge.say("a run that lost its lease went on as if it had not")
        self.street.calm()

    def _run(
        self, *, dry_run: bool = False, entering: Callable[[str, Lease], None] | None = None
    ) -> RunReport | None:
        """Let a run come; None where it could not begin, or lost its lease."""
        hides = self.hour.hides
        self.judge.before(hides=hides)
        try:
            report = hourly.run(
                self.database,
                self._provider(),
                self.settings,
                clock=self.company.local,
                dry_run=dry_run,
                entering=entering,
            )
        except (LeaseLost, ProviderUnavailable) as error:
            self.judge.counts[type(error).__name__] += 1
            return None
        if not dry_run:
            self.judge.after(report)
            self._note(report)
        return report

    def _note(self, report: RunReport) -> None:
        """Remember what the operators must be told about this run."""
        unread = tuple(str(each.account) for each in report.run.accounts if not each.complete)
        self.incomplete_now = report.run.verdict is Verdict.INCOMPLETE
        if self.incomplete_now:
            self.outages.add((self.complete_runs, unread))
        else:
            self.complete_runs += 1
            self.last_complete = self.street.now

    def _provider(self) -> Provider:
        settings = self.settings.provider
        if self.hour.sky in {Sky.HANGING, Sky.DRIPPING}:
            settings = replace(settings, connect_timeout_seconds=0.2, read_timeout_seconds=0.1)
        if self.hour.sky is Sky.SECOND_ACCOUNT:
            return weather_over.SecondAccountAway(settings, self.street, sleep=_at_once)
        return Provider(settings, sleep=_at_once)

    def _turning(self) -> Callable[[str, Lease], None] | None:
        """Return what is to happen in the middle of this run."""
        turn = self.hour.turn
        if turn is Turn.NONE:
            return None
        steps = ("read", "compare", "plan", "save") if turn is Turn.LEASE else ("pull", "compare", "save")
        at = self.chance.choice(steps)

        def entering(step: str, _lease: Lease) -> None:
            if step != at:
                return
            if turn is Turn.LEASE:
                self.street.pass_seconds(LOST_LEASE.total_seconds())
                self._run()
                return
            with self.judge.meanwhile():
                self.street.pass_seconds(20)
                if turn is Turn.WORLD:
                    self._story(f"{len(self.company.episodes)}_meanwhile")()
                    self.company.hurry(3)
                for _ in range(2 if turn is Turn.DESK else 0):
                    self.operators.act(busy=True)

        return entering

    def _tick(self) -> None:
        """Do what the minute's job does: remind, watch, and deliver."""
        reminded = reminding.remind(self.database, self.settings, clock=self.company.local)
        self.judge.counts["reminders"] += reminded.total
        found = watch.check(self.database, self.settings, clock=self.company.local)
        if found.stale:
            self.stale_days.add((self.complete_runs, f"{self.company.local():%Y-%m-%d}"))
        told = self._deliver(timedelta(seconds=20))
        since = self.last_complete or BEGINS
        if told and found.stale and not self.ears.heard_since("Stale", since):
            self.judge.say(f"nobody heard that the last complete run was at {since}")
        if not found.stale and self.street.now - since > STALE + timedelta(minutes=8) and self.complete_runs:
            self.judge.say(f"the last complete run was at {since}, and that is called fresh")

    def _deliver(self, budget: timedelta) -> bool:
        """Deliver what waits; return whether nothing waits any more, having looked whether all was said."""
        slack = self.hour.slack
        weather_over.over_slack(self.street, slack)
        report = delivery.deliver_all(
            self.database,
            Slacks(self.settings.slack),
            self.settings,
            clock=self.company.local,
            budget=budget if slack is Slack.CLEAR else timedelta(seconds=5),
            sleep=self.street.pass_seconds,
        )
        self.street.calm()
        self.ears.listen()
        if report.waiting:
            return False
        self.judge.owed(self.ears.told)
        word = "Not to be trusted"
        if self.incomplete_now and not self.ears.heard_since(word, self.last_complete or BEGINS):
            self.judge.say(f"nobody heard that runs are incomplete since {self.last_complete}")
        return True

    def end(self) -> None:
        """Look at everything once more, now that nothing happens any more.

        A plain run comes first, at this very moment: a rule of the owners goes by age, and time has passed
        since the last hour.
        """
        self._run()
        policy = replace(
            self.settings.policy, clock_skew=self.settings.policy.clock_skew + timedelta(microseconds=1)
        )
        settings, self.settings = self.settings, replace(self.settings, policy=policy)
        full = self._run(dry_run=True)
        self.settings = settings
        if full is None or not full.run.full or full.changes or full.heals:
            self.judge.say(f"a full run would change something: {full and _moves(full)}")
        if full is not None:
            self.judge.whole(full.run.as_of)
        for sentence in book.verify(self.database):
            self.judge.say(sentence)
        self._deliver(timedelta(seconds=150))
        self.ears.at_the_end()
        for word, known in (("Not to be trusted", len(self.outages)), ("Stale", len(self.stale_days))):
            if len(self.ears.alarms[word]) > known:
                self.judge.say(f"{word!r} was said {len(self.ears.alarms[word])} times, of {known} reasons")
        if any(each.blind for each in self.company.episodes.values()):
            self.judge.say("something was never looked at")


def _moves(report: RunReport) -> list[tuple[str, str]]:
    return [(str(change.case.subject), str(change.entry.action)) for change in report.changes]


def _at_once(_: float) -> None:
    """Wait for nothing: the provider's pauses are tested elsewhere."""


def settings_for(street: Street) -> Settings:
    """Return what this company configured."""
    return Settings(
        provider=ProviderSettings(
            api_key=Secret(STRIPE_KEY), base_url=street.url, accounts=(SECOND,), page_size=8
        ),
        slack=SlackSettings(
            bot_token=Secret(SLACK_TOKEN), base_url=street.slack_url, operators_channel="#operators"
        ),
        owners=OWNERS,
    )


def live(
    street: Street,
    database: Database,
    *,
    seed: int,
    days: int,
    settings: Settings | None = None,
    busy: float = 0.09,
) -> Ending:
    """Live a month of this seed, until its end or until the first thing that is wrong."""
    started, hours = time.monotonic(), 0
    street.begin(BEGINS)
    with ExitStack() as stack:
        stack.enter_context(seeded_ids(Random(seed + 2)))
        life = Life(street, database, seed, settings or settings_for(street), busy)
        for _ in life.hours(days):
            hours += 1
            if life.judge.wrong:
                break
        else:
            life.end()
        life.company.stop()
    life.judge.counts["episodes"] = len(life.company.episodes)
    life.judge.counts["messages"] = sum(life.ears.deliveries.values())
    seconds = time.monotonic() - started
    return Ending(seed, life.judge.wrong, life.judge.counts, digest(database), seconds, hours)


def digest(database: Database) -> str:
    """Return a name for everything that the books say."""
    of_each = {
        tables.cases: ("id", "state", "version", "kind", "opened_at"),
        tables.entries: ("topic", "version", "action", "at", "reason"),
        tables.notices: ("dedupe_key", "state"),
        tables.intents: ("account", "key", "status", "refund_id", "updated_at"),
    }
    name = sha256()
    with database.read() as connection:
        for table, columns in of_each.items():
            rows = connection.execute(select(*(table.c[each] for each in columns))).all()
            for row in sorted(map(str, rows)):
                name.update(row.encode())
    return name.hexdigest()[:16]
