"""A stuck case in a real browser: looked up, refused by a wrong id, confirmed by the right one."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.cases import Case
from recon.model.records.words import Action, CaseState, Finding, IntentStatus, Kind
from recon.sandbox.server import Sandbox
from tests import seeds
from tests.browser.conftest import NUMBERS, Desk
from tests.browser.test_case import Tab, confirm, decide, entries
from tests.sandboxes import STRIPE_KEY, Street
from tests.served import served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def server(
    street_server: Sandbox, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    """The dashboard with a key and an address for the provider."""
    folder = tmp_path_factory.mktemp("desk-with-a-key")
    url = f"sqlite:///{folder / 'recon.db'}"
    (folder / "recon.db").write_bytes(sqlite_template.read_bytes())
    told = {
        "RECON_DATABASE_URL": url,
        "STRIPE_API_KEY": STRIPE_KEY,
        "RECON_STRIPE_BASE_URL": street_server.url,
    }
    with Database.open(url) as database, served(folder, told) as address:
        yield Desk(address, database)


def stuck(desk: Desk, street: Street) -> Case:
    """Save a run that found one more intent that nobody knows the outcome of."""
    number, now = next(NUMBERS), datetime.now(UTC)
    mismatch = replace(
        seeds.duplicate(number, at=now - timedelta(hours=3)),
        kind=Kind.STUCK,
        finding=Finding.ABSENT,
        refund_ids=(),
        extra_refund_ids=(),
        why=f"Order order_{number} was sent over an hour ago and nobody knows what became of it.",
    )
    intent, _ = seeds.sides(mismatch, at=mismatch.since)
    street.payment(f"pi_{number}", 20_000)
    seeds.rows(desk.database, [intent], [], now=now)
    (case,) = seeds.run(desk.database, [mismatch], now=now, number=number)
    return case


def row(desk: Desk, case: Case) -> tuple[str, str | None]:
    columns = tables.intents.c
    with desk.database.read() as connection:
        found = connection.execute(select(columns.status, columns.refund_id)).one()
    return found.status, found.refund_id


def test_a_stuck_case_is_looked_up_and_confirmed(desk: Desk, sandbox: Street, tab: Tab) -> None:
    case = stuck(desk, sandbox)
    made = sandbox.control("refunds", payment=case.mismatch.payment, amount=4900)["id"]
    page = tab(f"/case?case={case.id}")

    page.get_by_role("button", name="Look again now").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text(f"{made} of 49.00 USD, succeeded")).to_be_visible()
    dialog.get_by_role("button", name="Back to the case").click()
    expect(dialog).to_have_count(0)

    decide(page, "Confirm as refunded", "The shop sees it.")
    expect(dialog.get_by_label("Id of the refund")).to_have_value(made)  # As the look found it.
    dialog.get_by_label("Id of the refund").fill("re_wrong")
    confirm(page, "Confirm as refunded 49.00 USD")
    expect(page.get_by_text("The provider shows no refund re_wrong")).to_be_visible()
    assert row(desk, case) == (IntentStatus.PENDING_UNKNOWN, None)

    dialog.get_by_label("Id of the refund").fill(made)
    confirm(page, "Confirm as refunded 49.00 USD")
    expect(page.get_by_text("Confirmed as refunded. Saved with your reason.")).to_be_visible()
    assert row(desk, case) == (IntentStatus.DONE, made)
    assert [action for action, _ in entries(desk, case)] == [
        Action.OPENED,
        Action.LOOKED,
        Action.CONFIRMED,
    ]
    with desk.database.read() as connection:
        assert connection.scalar(select(tables.cases.c.state)) == CaseState.ACKNOWLEDGED
