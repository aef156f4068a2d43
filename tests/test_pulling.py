"""Step two of the hour, by what it asks the provider for and by what it leaves in the mirror."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from urllib.parse import parse_qs

import pytest
from sqlalchemy import select

from recon import pulling
from recon.doors.store import mirror, slices
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Identity, Page, Provider
from recon.hourly import RunReport
from recon.model import payloads, tables
from recon.model.errors import ProviderUnavailable
from recon.model.records.progress import Pulling
from recon.model.records.provider import RefundEvent
from recon.model.records.words import AccountId, RefundId
from recon.model.settings import ProviderSettings, Secret
from recon.pulling import Pull
from recon.rules.windows import Window
from tests.builders import PLATFORM
from tests.doors.store.books import a_lease
from tests.hours import FRIDAY, Town, a_town, rows
from tests.sandboxes import STRIPE_KEY, Street

DAYS = 44
NUMBER = 3 * DAYS
PARTS = 47  # Of the first window.
HALF = FRIDAY - timedelta(days=20)


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    """A company with a history: three refunds a day, two of them in one second, and two of a page."""
    few = ProviderSettings(api_key=Secret(STRIPE_KEY), base_url=sandbox.url, page_size=2)
    town = a_town(database, sandbox, provider=few)
    sandbox.payment("pi_1", 10 * NUMBER)
    for day in range(1, DAYS + 1):
        for hour in (1, 1, 9):
            created = (FRIDAY - timedelta(days=day, hours=hour)).isoformat()
            sandbox.control("refunds", payment="pi_1", amount=10, created_at=created)
    return town


class Cut(Provider):
    """A provider that shows nothing that was made after a time: the line breaks there.

    A look at all of it shows the newest page. deaf: nor what happened.
    """

    until = HALF
    look = timedelta(days=2)  # Longer than any slice.
    deaf = False

    def refund_events(
        self, account: AccountId, since: datetime, until: datetime | None = None
    ) -> Iterator[RefundEvent]:
        return iter(()) if self.deaf else super().refund_events(account, since, until)

    def refunds(self, account: AccountId, created_from: datetime, created_to: datetime) -> Iterator[Page]:
        if created_to > self.until and created_to - created_from < self.look:
            raise ProviderUnavailable("page 1 broke off")
        return super().refunds(account, created_from, created_to)


def broken_off(town: Town, *, until: datetime = HALF, deaf: bool = False, **options: bool) -> RunReport:
    """Return a run whose reading broke off."""
    whole, cut = town.provider, Cut(town.settings.provider, sleep=lambda _: None)
    cut.until, cut.deaf = until, deaf
    town.provider = cut
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pulling, "READERS", 1)  # One after the other: all that is older was read by then.
        report = town.run(**options)
    town.provider = whole
    assert not report.run.accounts[0].complete
    return report


def asked(town: Town) -> list[tuple[datetime, datetime]]:
    """Return the windows of refunds that were asked for, once each; the look at all of it comes first."""
    found = set()
    for request in town.street.requests("GET", "/v1/refunds"):
        query = parse_qs(request["query"])
        first, last = (int(query[f"created[{end}]"][0]) for end in ("gte", "lte"))
        found.add((datetime.fromtimestamp(first, UTC), datetime.fromtimestamp(last, UTC)))
    return sorted(found, key=lambda window: (window[0], -window[1].timestamp()))


def mirrored(town: Town) -> dict[str, str]:
    """Return id and status of what the mirror holds."""
    with town.database.read() as connection:
        columns = tables.refunds.c
        return {
            row.id: row.status
            for row in connection.execute(select(columns.id, columns.status).order_by(columns.created_at))
        }


def test_a_first_reading_is_cut_and_shows_each_refund_once(town: Town) -> None:
    report = town.run()
    look, *windows = asked(town)

    (reading,) = report.run.accounts
    assert look == (reading.from_at, reading.to_at)  # The first page of all: more follow, so that it is cut.
    assert (reading.complete, reading.refunds, reading.changed) == (True, NUMBER, NUMBER)
    assert len(mirrored(town)) == NUMBER
    assert len(windows) == PARTS
    assert (windows[0][0], windows[-1][1]) == (reading.from_at, reading.to_at)
    assert {after[0] - before[1] for before, after in pairwise(windows)} == {timedelta(seconds=1)}
    assert slices.read(town.database, PLATFORM) == ()


def test_a_first_reading_that_fits_one_page_is_one_request_of_each_sort(
    database: Database, sandbox: Street
) -> None:
    empty = a_town(database, sandbox)
    empty.refund("few")
    report = empty.run()
    paths = Counter(each["path"] for each in empty.street.requests("GET"))

    assert paths == {"/v1/account": 1, "/v1/events": 1, "/v1/refunds": 1}
    assert report.run.accounts[0].complete


def test_an_ordinary_hour_asks_as_little_as_it_can(town: Town) -> None:
    town.run()
    town.pass_time(hours=1)
    before = len(town.street.requests())
    town.run()
    paths = Counter(each["path"] for each in town.street.requests()[before:])

    assert paths["/v1/events"] == paths["/v1/account"] == 1
    assert len(asked(town)) == 1 + PARTS + 2  # What is new, and a slice of the re-list.


def test_a_reading_that_broke_off_goes_on_where_it_was(town: Town) -> None:
    broken_off(town)
    kept = slices.read(town.database, PLATFORM)
    _, *first = asked(town)
    town.street.running.state.requests.clear()
    town.pass_time(minutes=10)
    whole = town.run()

    assert 0 < len(kept) < PARTS
    assert {(each.from_at, each.to_at) for each in kept} == set(first)
    assert not {(each.from_at, each.to_at) for each in kept} & set(asked(town))
    assert whole.run.accounts[0].complete
    assert whole.run.accounts[0].refunds < NUMBER == len(mirrored(town))
    assert slices.read(town.database, PLATFORM) == ()
    assert mirror.accounts(town.database)[0].covered_from == whole.run.accounts[0].from_at


def test_an_account_that_breaks_off_day_after_day_keeps_the_slices_of_one(town: Town) -> None:
    broken_off(town)
    old = slices.read(town.database, PLATFORM)
    town.pass_time(days=1, minutes=1)
    broken_off(town)

    assert not set(old) & set(slices.read(town.database, PLATFORM))


def test_slices_are_good_for_a_day(town: Town) -> None:
    broken_off(town)
    town.pass_time(days=1)
    whole = town.run()

    assert whole.run.accounts[0].refunds == NUMBER - 3  # A day of them is older than the window by now.


def test_a_dry_run_leaves_nothing_for_a_wet_one_to_rely_on(town: Town) -> None:
    broken_off(town, dry_run=True)
    town.run(dry_run=True)
    kept = slices.read(town.database, PLATFORM)
    wet = town.run()

    assert kept == ()
    assert wet.run.accounts[0].refunds == NUMBER


def test_a_refund_that_fails_after_its_slice_was_read_is_found_by_its_event_alone(town: Town) -> None:
    broken_off(town)
    town.pass_time(minutes=30)
    failed = list(mirrored(town))[-1]  # Made less than a month ago: its creation is an event as well.
    town.mend(RefundId(failed))
    town.street.running.state.requests.clear()
    report = town.run()

    alone = [each["path"] for each in town.street.requests("GET") if each["path"].startswith("/v1/refunds/")]
    assert alone == [f"/v1/refunds/{failed}"]
    assert report.run.accounts[0].complete
    assert {name for name, status in mirrored(town).items() if status == "failed"} == {failed}
    assert rows(town, "hints") == 0


def test_a_key_that_is_told_late_is_kept_though_its_slice_was_read(town: Town) -> None:
    intent = town.intend("late")
    made = town.provider.create(intent, "call-7", metadata={})
    town.pass_time(days=1)
    broken_off(town, until=FRIDAY + timedelta(hours=12), deaf=True)
    town.run()

    with town.database.read() as connection:
        columns = tables.refunds.c
        key = connection.scalar(select(columns.request_key).where(columns.id == made.id))
    assert key == "call-7"


def test_a_slice_with_a_row_that_cannot_be_read_is_met_again(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    flaw = payloads._flaw  # noqa: SLF001 - the provider shows no such row
    town.run(dry_run=True)
    bad = list(mirrored(town))[NUMBER // 2]  # In a slice that is over.
    monkeypatch.setattr(payloads, "_flaw", lambda row: "It is odd." if row["id"] == bad else flaw(row))
    first = town.run()
    kept = slices.read(town.database, PLATFORM)
    second = town.run()

    assert (first.complete, first.in_order, second.in_order) == (True, False, False)
    assert len(kept) == PARTS - 2  # Neither its own, nor the one that is not over yet.
    assert second.result.rejected == first.result.rejected
    assert mirror.accounts(town.database)[0].watermark_at is None


def test_a_refund_that_cannot_be_read_alone_is_a_reject_and_keeps_no_window_open(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.run()
    town.pass_time(days=2)
    town.run()
    odd = list(mirrored(town))[NUMBER // 2]  # In none of the slices that these runs list again.
    flaw = payloads._flaw  # noqa: SLF001 - as above
    monkeypatch.setattr(payloads, "_flaw", lambda row: "It is odd." if row["id"] == odd else flaw(row))
    town.mend(RefundId(odd))
    reports = [town.run(), town.run()]
    (account,) = mirror.accounts(town.database)
    monkeypatch.undo()
    mended = town.run()

    for report in reports:
        assert (report.complete, report.in_order) == (True, False)
        assert [reject.id for reject in report.result.rejected] == [odd]
    assert account.watermark_at == reports[-1].run.as_of
    assert mended.in_order
    assert mirrored(town)[odd] == "failed"


def test_many_refunds_that_events_name_are_retrieved_side_by_side(town: Town) -> None:
    town.run()
    town.pass_time(days=2)
    town.run()
    for name in list(mirrored(town))[:50]:
        town.mend(RefundId(name))
    town.run()

    assert Counter(mirrored(town).values()) == {"failed": 50, "succeeded": NUMBER - 50}


def test_a_listing_whose_last_page_never_came_is_incomplete(town: Town) -> None:
    class Endless(Provider):
        def refunds(self, account: AccountId, created_from: datetime, created_to: datetime) -> Iterator[Page]:
            for page in super().refunds(account, created_from, created_to):
                yield replace(page, last=False)

    town.provider = Endless(town.settings.provider, sleep=lambda _: None)
    report = town.run()

    assert not report.complete
    assert "no page said that it is the last" in str(report.run.accounts[0].error)


def test_how_far_a_reading_is_and_how_many_accounts_were_read_is_said(
    database: Database, sandbox: Street
) -> None:
    town = a_town(database, sandbox, accounts=("acct_2", "acct_3"))

    class Gone(Provider):
        def refunds(self, account: AccountId, created_from: datetime, created_to: datetime) -> Iterator[Page]:
            if account == "acct_2":
                raise ProviderUnavailable("gone")
            return super().refunds(account, created_from, created_to)

    town.provider = Gone(town.settings.provider, sleep=lambda _: None)
    said: list[object] = []
    town.run(progress=said.append)

    told = [each for each in said if isinstance(each, Pulling)]
    assert [(each.number, each.accounts) for each in told if not each.pages] == [(1, 3), (2, 3), (3, 3)]
    assert (told[-1].account, told[-1].slices_read, told[-1].slices) == ("acct_3", 1, 1)
    assert "2 of 3 accounts read" in said


KILLED = """
import os, signal
from itertools import count
from recon.doors.store import slices

saved, number = slices.save, count(1)

def save(*told):
    saved(*told)
    if next(number) == 4:
        os.kill(os.getpid(), signal.SIGKILL)

slices.save = save
from jobs import hourly
hourly.main()
"""


def test_a_first_reading_that_was_killed_goes_on_where_it_was(
    town: Town, database_url: str, sandbox: Street
) -> None:
    environ = {
        **os.environ,
        "RECON_DATABASE_URL": database_url,
        "STRIPE_API_KEY": STRIPE_KEY,
        "RECON_STRIPE_BASE_URL": sandbox.url,
    }
    done = subprocess.run([sys.executable, "-c", KILLED], env=environ, capture_output=True, check=False)
    first = asked(town)
    kept = {(each.from_at, each.to_at) for each in slices.read(town.database, PLATFORM)}
    held = mirrored(town)
    sandbox.running.state.requests.clear()
    whole = town.run()

    assert done.returncode == -9, done.stderr
    assert 4 <= len(kept) < PARTS
    assert kept <= set(first)
    assert 0 < len(held) < NUMBER
    assert not kept & set(asked(town))
    assert len(asked(town)) <= PARTS - len(kept) + 2
    assert whole.run.accounts[0].complete
    assert len(mirrored(town)) == NUMBER


def test_an_older_window_is_read_back_to_and_moves_no_watermark(town: Town) -> None:
    town.settings = replace(town.settings, pull=replace(town.settings.pull, first_window=timedelta(days=10)))
    town.run()
    (known,) = mirror.accounts(town.database)
    assert known.covered_from is not None
    window = Window(known.covered_from - timedelta(days=20), known.covered_from)

    lease = a_lease(town.database)
    pull = Pull(town.database, town.provider, town.settings, lambda: lease, lambda _: None, dry=False)
    found = pull.back(known, window, Pulling(PLATFORM, 1, 1))

    assert (found.reading.complete, found.reading.refunds) == (True, 3 * 20)
    assert mirror.accounts(town.database) == (replace(known, covered_from=window.from_at),)
    assert slices.read(town.database, PLATFORM) == ()


class Fast(Provider):
    """A provider whose first word is two hours ahead of all that it says later."""

    def account(self, account: AccountId = PLATFORM) -> Identity:
        found = super().account(account)
        assert self._asking.now is not None
        self._asking.now += timedelta(hours=2)
        return found


def test_no_slice_counts_as_read_at_a_time_that_the_provider_takes_back(town: Town) -> None:
    town.run()
    town.pass_time(days=3)
    whole, town.provider = town.provider, Fast(town.settings.provider, sleep=lambda _: None)
    town.street.payment("pi_2", 100)
    for hour in range(6):
        created = (town.now - timedelta(hours=hour)).isoformat()
        town.street.control("refunds", payment="pi_2", amount=10, created_at=created)
    report = town.run()
    town.provider = whole

    assert "clock cannot be trusted" in str(report.run.accounts[0].error)
    assert slices.read(town.database, PLATFORM) == ()
    town.pass_time(hours=2)
    assert town.run().complete
    assert len(mirrored(town)) == NUMBER + 6
