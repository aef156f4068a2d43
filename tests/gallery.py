"""Pictures of the Friday evening in Slack, to be looked at: `python -m tests.gallery FOLDER`.

Told, taken on and settled by people, the next hour's edit, and at rest: what people see of each, on a wide
screen, in the dark, on a phone, and as it is read out. Everything is real: the demo's evening, the hour, the
desk, the delivery and the sandbox's page in a browser.
"""

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

from recon import delivery, hourly
from recon.cli import demo
from recon.cli.friday import evening
from recon.cli.friday.street import Street
from recon.desk import Desk
from recon.doors.slack.posts import Slack
from recon.doors.store import queue
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.model.records.people import Operator
from recon.model.records.queues import QueueFilters
from recon.model.records.words import Actor, Kind, Resolution, Role
from recon.model.settings import Secret, Settings
from recon.sandbox.server import Sandbox

ANA = Operator(Actor("Ana"), Role.OPERATOR)
CHANNEL = "payments-oncall"
CLICKS = count(1)
WIDE, PHONE = {"width": 1200, "height": 1000}, {"width": 390, "height": 844}


class Evening:
    """The demo's evening, and what follows it."""

    def __init__(self, database: Database, url: str) -> None:
        self.database, self.street = database, Street(url)
        settings = demo._settings(url)  # noqa: SLF001 - the demo's own, so that this is the demo's evening
        self.settings: Settings = replace(
            settings, slack=replace(settings.slack, app_token=Secret("xapp-sandbox"))
        )
        self.desk = Desk(database, self.settings, clock=self.street.now)

    def begin(self, friday: datetime | None = None) -> None:
        """Let the evening happen, run the hour at its end, and deliver.

        friday: the midnight before it; None is that of the latest Friday.
        """
        day = friday or evening.latest_friday(datetime.now(UTC))
        demo._happen(self.database, self.street, self.settings, day)  # noqa: SLF001 - as above

    def work(self, resolve: int, *, acknowledge: int = 0) -> None:
        """Let somebody at the desk settle some of the duplicates and take on others."""
        found = queue.page(self.database, QueueFilters(kinds=(Kind.DUPLICATE,)), limit=99).cases
        for number, case in enumerate(found[: resolve + acknowledge]):
            click = {"version": case.version, "reason": "Spoke with finance.", "operator": ANA}
            click["action_id"] = f"gallery-{next(CLICKS)}"
            if number < resolve:
                self.desk.resolve(case.id, code=Resolution.RECOVERED, **click)  # type: ignore[arg-type]  # as told
            else:
                self.desk.acknowledge(case.id, **click)  # type: ignore[arg-type]  # as told
        self.deliver()

    def next_hour(self) -> None:
        """Let an hour pass, refund once more by hand what was refunded, and run."""
        first = queue.page(self.database, QueueFilters(kinds=(Kind.DUPLICATE,)), limit=1).cases[0]
        self.street.set_time(self.street.now() + timedelta(minutes=40))
        payment, at_risk = first.mismatch.payment, first.mismatch.at_risk
        self.street.tell(
            "payments", id=f"{payment}_2", amount=3 * at_risk.amount_minor, currency=at_risk.currency
        )
        for _ in range(2):
            self.street.tell("refunds", payment=f"{payment}_2", amount=at_risk.amount_minor)
        self.street.set_time(self.street.now() + timedelta(minutes=20))
        hourly.run(self.database, Provider(self.settings.provider), self.settings, clock=self.street.now)
        self.deliver()

    def deliver(self) -> None:
        """Deliver all that waits."""
        report = delivery.deliver_all(
            self.database,
            Slack(self.settings.slack),
            self.settings,
            clock=self.street.now,
            budget=timedelta(minutes=10),
            sleep=self.street.pass_time,
        )
        assert report.complete, report


def main(folder: Path) -> None:
    """Write the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory() as place,
        Sandbox.start() as sandbox,
        Database.open(f"sqlite:///{place}/recon.db") as database,
        sync_playwright() as playing,
    ):
        browser = playing.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        friday = Evening(database, sandbox.url)
        friday.begin()
        shoot(browser, sandbox.url, folder, "1-told")
        friday.work(3, acknowledge=2)
        shoot(browser, sandbox.url, folder, "2-answered")
        friday.next_hour()
        shoot(browser, sandbox.url, folder, "3-next-hour")
        friday.work(99)
        shoot(browser, sandbox.url, folder, "4-at-rest")


def shoot(browser: Browser, url: str, folder: Path, name: str) -> None:
    """Take the channel's pictures, and keep what it reads as."""
    for look, size, scheme in (("wide", WIDE, "light"), ("dark", WIDE, "dark"), ("phone", PHONE, "light")):
        page = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]  # plain words
        page.goto(f"{url}/slack/{CHANNEL}")
        page.screenshot(path=folder / f"{name}-{look}.png")
        page.close()
    page = browser.new_page()
    page.goto(f"{url}/slack/{CHANNEL}?view=text")
    (folder / f"{name}.txt").write_text(page.inner_text("body"), encoding="utf-8")
    page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
