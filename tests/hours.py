"""A small company for tests of the hour: a database, the sandbox as its provider, and a clock."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, select, update

from recon import hourly
from recon.doors import intents
from recon.doors.store import cases, queue, reading
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.hourly import RunReport
from recon.model import tables
from recon.model.records.cases import Case
from recon.model.records.provider import Intent, Refund
from recon.model.records.words import AccountId, CaseState, IntentKey, IntentStatus, RefundId
from recon.model.settings import LeaseSettings, ProviderSettings, Secret, Settings, SlackSettings
from tests.builders import PLATFORM, an_intent
from tests.sandboxes import STRIPE_KEY, Street

FRIDAY = datetime(2026, 3, 6, 17, 0, tzinfo=UTC)
OWNERS = {"rules": [{"name": "everything", "owner": "Payments on call", "target": "#payments"}]}


@dataclass
class Town:
    """Everything that a test of the hour touches. The provider's time and ours are the same, to a minute.

    The sandbox's time runs on by itself: a run begins a minute after what it is to see.
    """

    database: Database
    street: Street
    settings: Settings
    provider: Provider
    now: datetime = FRIDAY
    count: int = 0
    history: list[RunReport] = field(default_factory=list)

    def pass_time(self, **span: float) -> None:
        """Let time pass, at the provider and here."""
        self.now += timedelta(**span)
        self.street.set_time(self.now.isoformat())

    def run(self, **options: Any) -> RunReport:  # noqa: ANN401  # what hourly.run takes
        """Pass over the books, a minute from now."""
        self.pass_time(minutes=1)
        options = {"clock": lambda: self.now} | options
        report = hourly.run(self.database, self.provider, self.settings, **options)
        self.history.append(report)
        return report

    def intend(self, name: str, *, minor: int = 4900, **changes: Any) -> Intent:  # noqa: ANN401  # any field
        """Write an intent down as the tool leaves it when a refund was accepted, and make its payment."""
        account = changes.get("account", PLATFORM)
        if changes.pop("paid", True):
            self.street.payment(changes.get("payment", f"pi_{name}"), minor * 4, "usd", account=account)
        intent = an_intent(
            **{
                "key": IntentKey(f"refund_order:{name}"),
                "order_id": f"order_{name}",
                "payment": f"pi_{name}",
                "customer_id": f"cus_{name}",
                "amount_minor": minor,
                "refund_id": None,
                "created_at": self.now,
                "updated_at": self.now,
                "first_sent_at": self.now,
            }
            | changes
        )
        with self.database.write() as connection:
            assert intents.put(connection, intent)
        return intent

    def pay(self, intent: Intent, **options: Any) -> Refund:  # noqa: ANN401  # what create takes
        """Send an intent's refund, each time anew."""
        self.count += 1
        return self.provider.create(intent, f"{intent.key}:{self.count}", **options)

    def refund(self, name: str, **changes: Any) -> tuple[Intent, Refund]:  # noqa: ANN401  # any field
        """Make an ordinary refund: intended, sent, recorded."""
        intent = self.intend(name, **changes)
        made = self.pay(intent)
        self.record(intent, refund_id=made.id)
        return intent, made

    def record(self, intent: Intent, **values: object) -> None:
        """Change an intent's row."""
        columns = tables.intents.c
        same = (columns.account == intent.account) & (columns.key == intent.key)
        with self.database.write() as connection:
            connection.execute(update(tables.intents).where(same).values(values))

    def forget(self, intent: Intent) -> None:
        """Delete an intent's row."""
        columns = tables.intents.c
        same = (columns.account == intent.account) & (columns.key == intent.key)
        with self.database.write() as connection:
            connection.execute(delete(tables.intents).where(same))

    def status(self, intent: Intent) -> IntentStatus:
        """Return what an intent says of itself now."""
        with self.database.read() as connection:
            found = intents.get(connection, intent.account, intent.key)
        assert found is not None
        return found.status

    def mend(self, refund_id: RefundId, status: str = "failed") -> None:
        """Let the bank change its mind."""
        self.street.control(f"refunds/{refund_id}", status=status)

    def waiting(self) -> tuple[Case, ...]:
        """Return the cases that somebody must answer."""
        return queue.page(self.database, limit=500).cases

    def everything(self) -> tuple[Case, ...]:
        """Return all cases, by account and subject."""
        return reading.read(self.database, full=True, mark=0, as_of=self.now).cases

    def story(self, case: Case) -> list[str]:
        """Return the actions of a case's entries, oldest first."""
        return [str(stored.entry.action) for stored in cases.entries(self.database, case.id)]


def a_town(database: Database, street: Street, **changes: Any) -> Town:  # noqa: ANN401  # of settings
    """Return a town on a Friday at 17:00 with nothing in it."""
    accounts = tuple(AccountId(name) for name in changes.pop("accounts", ()))
    settings = replace(
        Settings(
            provider=ProviderSettings(api_key=Secret(STRIPE_KEY), base_url=street.url, accounts=accounts),
            lease=LeaseSettings(),
            slack=SlackSettings(operators_channel="#operators"),
            owners=OWNERS,
        ),
        **changes,
    )
    street.set_time(FRIDAY.isoformat())
    return Town(database, street, settings, Provider(settings.provider, sleep=lambda _: None))


def kinds(report: RunReport) -> list[str]:
    """Return what a run said became of which kind of case, in its order."""
    return [f"{change.entry.action} {change.case.mismatch.kind}" for change in report.changes]


def states(town: Town) -> dict[str, CaseState]:
    """Return how each case stands, by subject."""
    return {case.subject: case.state for case in town.everything()}


def rows(town: Town, table: str) -> int:
    """Return how many rows a table has."""
    with town.database.read() as connection:
        return int(connection.scalar(select(func.count()).select_from(tables.metadata.tables[table])) or 0)


def twice(town: Town, name: str) -> None:
    """Let the tool key by attempt: one intent, two refunds."""
    intent, _ = town.refund(name)
    town.pay(intent)
