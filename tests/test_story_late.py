"""What comes late: refunds that fail weeks later, show up late, share a second, come twice; found once."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Page, Provider
from recon.hourly import RunReport
from recon.model.records.cases import Case
from recon.model.records.provider import RefundEvent
from recon.model.records.words import AccountId, CaseState, Kind
from recon.model.settings import PullSettings
from recon.rules import windows
from recon.rules.windows import Window
from recon.sandbox.faults import Faults
from tests.aftermath import news
from tests.hours import FRIDAY, Town, a_town, twice
from tests.sandboxes import Street

DAY = timedelta(days=1)


class Deaf(Provider):
    """A provider as one sees it who hears of no event: what it finds, the lists alone have shown."""

    def refund_events(self, *_: object) -> Iterator[RefundEvent]:
        """Yield nothing."""
        return iter(())


class Stammering(Provider):
    """A provider that gives every page twice, as a list does that moves on while it is read."""

    def refunds(self, account: AccountId, created_from: datetime, created_to: datetime) -> Iterator[Page]:
        """Yield each page, and yield it again."""
        for page in super().refunds(account, created_from, created_to):
            yield replace(page, last=False)
            yield page


# A re-list in few parts: what it finds in a day by the shipped settings, it finds here in fewer runs.
RELIST_HOURS = 5


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox, pull=PullSettings(relist_slices=RELIST_HOURS - 1))


@pytest.fixture(params=[Provider, Deaf], ids=["events", "lists alone"])
def hearing(request: pytest.FixtureRequest, town: Town) -> Town:
    """A town that is told of events, or that has the lists alone."""
    return as_seen_by(request.param, town)


def as_seen_by(provider: type[Provider], town: Town) -> Town:
    """Return the town with another provider in front of the same street."""
    town.provider = provider(town.settings.provider, sleep=lambda _: None)
    return town


def hours(town: Town, number: int) -> list[RunReport]:
    """Let so many hours pass, with a run in each."""
    reports = []
    for _ in range(number):
        town.pass_time(minutes=59)
        reports.append(town.run())
    return reports


def found_once(town: Town, kind: Kind, number: int = 1) -> tuple[Case, ...]:
    """Return the cases of a kind: as many as that, each opened once, told once and still open."""
    hours(town, 3)  # And nothing comes of it a second time.
    cases = tuple(case for case in town.everything() if case.mismatch.kind is kind)
    told = news(town.database)

    assert len({case.subject for case in cases}) == len(cases) == number
    assert {case.state for case in cases} == {CaseState.OPEN}
    assert [town.story(case) for case in cases] == [["opened"]] * number
    assert [told[case.id] for case in cases] == [1] * number
    return cases


def test_a_refund_that_fails_21_days_later_is_found_once(hearing: Town) -> None:
    town = hearing
    _, refund = town.refund("fails")
    hours(town, 2)
    for _ in range(3):  # Days without a run are caught up in one.
        town.pass_time(days=7)
        town.run()
    assert town.everything() == ()
    town.mend(refund.id)
    first = hours(town, 1)[0]
    hours(town, RELIST_HOURS)

    (case,) = found_once(town, Kind.REFUND_FAILED)
    heard = type(town.provider) is Provider
    assert [change.case.id for change in first.changes] == ([case.id] if heard else [])


def test_a_refund_that_fails_while_nothing_runs_for_5_days_is_found_once(hearing: Town) -> None:
    town = hearing
    _, refund = town.refund("fails")
    hours(town, 2)
    town.pass_time(days=21)
    town.mend(refund.id)
    town.pass_time(days=5)
    hours(town, RELIST_HOURS)

    found_once(town, Kind.REFUND_FAILED)


def test_a_refund_that_appears_40_s_after_its_timestamp_is_found_once(hearing: Town) -> None:
    town = hearing
    hours(town, 1)
    twice(town, "late")
    town.pass_time(seconds=-25)  # The run comes a minute later: the two are 35 s old then.
    town.street.fault("GET /v1/refunds", "invisible", times=10, after_s=40)
    hidden = town.run()
    town.street.running.state.faults = Faults()

    assert (hidden.complete, hidden.result.counts.refunds, hidden.changes) == (True, 0, ())
    found_once(town, Kind.DUPLICATE)


def test_refunds_in_the_very_second_at_which_a_window_ends_are_found_once(
    database: Database, sandbox: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = as_seen_by(Deaf, a_town(database, sandbox, pull=PullSettings(overlap=timedelta(0))))
    hours(town, 1)
    edge = town.now.replace(microsecond=0) + timedelta(hours=1)
    # A second that lasts: the run ends in it, and the provider makes refunds in it before and after.
    with monkeypatch.context() as frozen:
        frozen.setattr(sandbox.running.state.clock, "now", edge.timestamp)
        for name in ("before_1", "before_2", "before_3"):
            twice(town, name)
        first = town.run()
        for name in ("after_1", "after_2", "after_3"):
            twice(town, name)
    town.now = edge

    assert first.run.as_of == edge
    assert len(first.changes) == 3
    found_once(town, Kind.DUPLICATE, 6)


def test_refunds_at_every_edge_of_the_slices_of_a_window_are_found_once(
    database: Database, sandbox: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull = PullSettings(first_window=DAY, intents_from=FRIDAY - 30 * DAY)
    town = as_seen_by(Deaf, a_town(database, sandbox, pull=pull, surge_limit=1000))
    now = town.now + timedelta(minutes=1)
    second = timedelta(seconds=1)
    edges = {
        edge
        for part in windows.parts(Window(now - DAY, now))
        for edge in (part.from_at - second, part.from_at, part.to_at, part.to_at + second)
        if now - DAY <= edge <= now - town.settings.policy.orphan_after
    }
    for number, edge in enumerate(sorted(edges)):
        for copy in range(1 + number % 3):
            sandbox.payment(f"pi_{number}_{copy}", 700)
            made = {"payment": f"pi_{number}_{copy}", "created_at": edge.isoformat()}
            sandbox.control("refunds", **made)
    with monkeypatch.context() as frozen:
        frozen.setattr(sandbox.running.state.clock, "now", now.timestamp)
        first = town.run()

    assert first.run.as_of == now
    assert len(edges) > 40
    found_once(town, Kind.ORPHAN, sum(1 + number % 3 for number in range(len(edges))))


def test_refunds_that_come_twice_in_a_list_and_once_more_by_their_events_are_found_once(town: Town) -> None:
    as_seen_by(Stammering, town)
    for number in range(4):
        twice(town, f"again_{number}")
    town.pass_time(minutes=5)
    reports = [town.run(), town.run()]

    assert [len(report.changes) for report in reports] == [4, 0]
    assert reports[0].result.counts.refunds == 8
    found_once(town, Kind.DUPLICATE, 4)


@pytest.mark.parametrize("settles", [True, False])
def test_a_duplicate_that_was_in_flight_when_it_was_first_read_is_found_once(
    town: Town, *, settles: bool
) -> None:
    hours(town, 1)
    town.refund("first")
    # Somebody refunds once more in the provider's own dashboard: at first it may be an intent still to come.
    extra = town.street.control("refunds", payment="pi_first", amount=4900, status="pending")
    town.pass_time(minutes=4)
    young = town.run()
    if settles:
        town.mend(extra["id"], "succeeded")
    town.pass_time(minutes=20)
    grown = town.run()

    assert [flight.subject for flight in young.result.in_flight] == [f"refund:{extra['id']}"]
    assert young.changes == ()
    assert [change.case.subject for change in grown.changes] == [f"refund:{extra['id']}"]
    found_once(town, Kind.DUPLICATE)
