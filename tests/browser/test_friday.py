from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from dashboard import tables
from recon.cli.friday import evening
from recon.doors.store.engines import Database
from recon.incidents import Incidents
from recon.model.records.cases import Case
from recon.model.records.words import Kind
from recon.sandbox.server import Sandbox
from tests.gallery import CHANNEL, Evening
from tests.served import SECONDS, served

pytestmark = pytest.mark.browser

TOLD = 10  # Customers of the message: one more was refunded twice that evening.
NINE = 9  # Customers who were refunded twice within fourteen minutes.


@dataclass
class Friday:
    """The evening, its Slack, the desk that its messages link to, and the cases of the burst."""

    slack: str
    nine: tuple[Case, ...]


@pytest.fixture(scope="module")
def friday(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Friday]:
    folder = tmp_path_factory.mktemp("friday")
    file = folder / "recon.db"
    file.write_bytes(sqlite_template.read_bytes())
    address = f"sqlite:///{file}"
    with (
        Sandbox.start() as sandbox,
        Database.open(address) as database,
        served(folder, {"RECON_DATABASE_URL": address}) as url,
    ):
        night = Evening(database, sandbox.url)
        night.settings = replace(night.settings, dashboard=replace(night.settings.dashboard, url=url))
        night.begin(datetime.now(UTC) - evening.JUDGED)
        past = Incidents(database)
        window = past.latest(Kind.DUPLICATE)
        assert window is not None
        yield Friday(sandbox.url, past.incident(Kind.DUPLICATE, window).cases)


def test_from_the_message_to_its_customers_it_takes_one_click_and_to_the_nine_of_the_burst_two(
    chromium: Browser, friday: Friday
) -> None:
    page = chromium.new_page(viewport={"width": 1366, "height": 768}, timezone_id="Europe/Berlin")
    page.set_default_timeout(SECONDS * 1000)
    page.goto(f"{friday.slack}/slack/{CHANNEL}")

    page.get_by_role("link", name="Open the incident").first.click()
    expect(page.get_by_role("heading", name=f"{TOLD} customers")).to_be_visible()
    page.go_back()
    page.locator("a[href*='/?kind=duplicate']").first.click()
    page.get_by_role("link", name=f"Incident: refunded twice, {NINE} cases").click()
    expect(page.get_by_role("heading", name=f"{NINE} customers")).to_be_visible()

    grid = page.get_by_test_id("stDataFrame")
    rows = grid.locator("tr").filter(has=page.locator("td"))
    expect(rows).to_have_count(NINE)
    box = grid.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 768  # In sight, without scrolling.
    shown = [set(row.locator("td").all_inner_texts()) for row in rows.all()]
    assert all(shown[at] >= told(case) for at, case in enumerate(friday.nine))
    page.close()


def told(case: Case) -> set[str]:
    """What has to be read of a case: whose, which order, how much, and the refunds of it."""
    mismatch = case.mismatch
    (extra,) = mismatch.extra_refund_ids
    (stands,) = set(mismatch.refund_ids) - {extra}
    return {str(mismatch.customer_id), str(mismatch.order_id), tables.money(mismatch.at_risk), extra, stands}
