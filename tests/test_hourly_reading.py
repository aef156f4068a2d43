from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from recon.doors.store import cases, mirror, runs
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Page, Provider
from recon.model import payloads
from recon.model.errors import (
    ProviderRefused,
    ProviderUnavailable,
    ReconError,
)
from recon.model.records.cases import Change
from recon.model.records.runs import Account
from recon.model.records.words import (
    AccountId,
    Actor,
    CaseState,
    IntentStatus,
    Verdict,
)
from recon.model.settings import ProviderSettings, PullSettings, Secret
from recon.rules import moves
from tests.hours import FRIDAY, Town, a_town, kinds, rows, states, twice
from tests.sandboxes import Street

ANA = Actor("ana")


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox)


# An incomplete reading.


def many(town: Town, number: int) -> None:
    for each in range(number):
        town.refund(f"many_{each}")


@pytest.fixture
def short_pages(database: Database, sandbox: Street) -> Town:
    small = ProviderSettings(api_key=Secret("sk_test_sandbox"), base_url=sandbox.url, page_size=3)
    return a_town(database, sandbox, provider=small)


def test_a_list_that_breaks_off_on_page_3_clears_nothing_and_invents_nothing(short_pages: Town) -> None:
    town = short_pages
    intent, _ = town.refund("twice")
    extra = town.pay(intent)
    town.intend("lost")
    town.pass_time(minutes=20)
    opened = town.run()
    watermark = town.run().run.accounts[0].to_at
    many(town, 9)
    unseen = town.intend("unseen")
    town.pass_time(minutes=30)
    town.mend(extra.id)  # Would clear the duplicate.
    town.street.fault("GET /v1/refunds", "drop_page", times=2, page=3)
    broken = town.run()

    assert kinds(opened) == ["opened duplicate", "opened missing"]
    assert not broken.complete
    assert broken.run.verdict is Verdict.INCOMPLETE
    assert (broken.run.accounts[0].complete, broken.run.accounts[0].pages) == (False, 2)
    assert broken.changes == ()
    assert [notice.target for notice in broken.notices] == ["#operators"]
    assert town.run().run.accounts[0].from_at == watermark - town.settings.pull.overlap
    assert states(town)[f"intent:{unseen.key}"] is CaseState.OPEN
    assert states(town)[f"intent:{intent.key}"] is CaseState.CLEARED


def test_what_an_incomplete_run_kept_back_is_told_by_the_next_complete_one(town: Town) -> None:
    town.run()
    town.intend("stuck", status=IntentStatus.PENDING_UNKNOWN)
    town.pass_time(hours=1)
    town.street.fault("GET /v1/refunds", "drop_before", times=2)
    broken = town.run()
    town.pass_time(minutes=10)
    whole = town.run()
    later = town.run()

    assert kinds(broken) == ["opened stuck"]
    assert [notice.target for notice in broken.notices] == ["#operators"]
    assert {notice.target for notice in whole.notices} == {"#payments", "#operators"}
    assert later.notices == ()


def test_operators_hear_in_the_alarms_thread_that_everything_could_be_read_again(town: Town) -> None:
    town.run()
    town.street.fault("GET /v1/refunds", "drop_before", times=4)
    broken = [town.run(), town.run()]
    town.pass_time(minutes=10)
    planned, whole, later = town.run(dry_run=True), town.run(), town.run()
    (alarm,) = broken[0].notices
    told = [(each.verb, each.target, each.thread_key) for each in whole.notices]

    assert [report.complete for report in broken] == [False, False]
    assert told == [("reply", "#operators", alarm.thread_key)]
    assert "read everything" in whole.notices[0].message.text
    assert [each.dedupe_key for each in planned.notices] == [each.dedupe_key for each in whole.notices]
    assert later.notices == ()


def test_a_case_that_was_told_and_is_commented_on_during_an_outage_is_not_told_again(town: Town) -> None:
    town.intend("lost")
    town.pass_time(hours=1)
    opened = town.run()
    town.pass_time(hours=1)
    town.street.fault("GET /v1/refunds", "drop_before", times=2)
    broken = town.run()
    (change,) = opened.changes
    moved = moves.comment(change.case, actor=ANA, reason="looked into it", now=town.now, action_id="1")
    assert isinstance(moved, Change)
    cases.move(town.database, moved)
    town.pass_time(minutes=10)
    whole = town.run()

    assert (kinds(opened), broken.complete, whole.complete) == (["opened missing"], False, True)
    assert [notice.target for notice in whole.notices] == ["#operators"]


def test_what_an_incomplete_run_kept_back_and_the_next_one_heals_is_never_told(town: Town) -> None:
    town.intend("told", status=IntentStatus.PENDING_UNKNOWN)
    town.pass_time(hours=2)
    town.run()
    intent = town.intend("1", status=IntentStatus.PENDING_UNKNOWN)
    town.pass_time(hours=1)
    town.street.fault("GET /v1/refunds", "drop_before", times=2)
    broken = town.run()
    town.pay(intent)
    healed = town.run()
    cleared = town.run()

    assert (kinds(broken), len(healed.heals), kinds(cleared)) == (["opened stuck"], 1, ["cleared stuck"])
    assert [notice.target for notice in broken.notices] == ["#operators"]
    assert [notice.target for notice in healed.notices] == ["#operators"]
    assert cleared.notices == ()


def test_an_outage_is_one_alarm_and_no_movement(town: Town) -> None:
    twice(town, "1")
    first = town.run()
    town.pass_time(hours=1)
    town.street.fault("GET /v1/account", "drop_before", times=4)
    broken = [town.run(), town.run()]

    assert [report.run.as_of for report in broken] == [first.run.as_of] * 2
    assert [report.changes for report in broken] == [(), ()]
    assert len({notice.dedupe_key for report in broken for notice in report.notices}) == 1
    assert runs.last_complete(town.database) == first.run


def test_an_outage_before_the_first_run_is_an_error(town: Town) -> None:
    town.street.fault("GET /v1/account", "drop_before", times=2)
    with pytest.raises(ProviderUnavailable):
        town.run()

    assert rows(town, "runs") == 0


class Cut(Provider):
    """A provider that has lost one account."""

    error: ReconError | None = None

    def refunds(self, account: AccountId, created_from: datetime, created_to: datetime) -> Iterator[Page]:
        if account and self.error:
            raise self.error
        return super().refunds(account, created_from, created_to)


@pytest.mark.parametrize("error", [ProviderUnavailable("page 1 broke off"), ProviderRefused("cut off")])
def test_one_account_that_fails_leaves_the_others_whole(
    database: Database, sandbox: Street, error: ReconError
) -> None:
    town = a_town(database, sandbox, accounts=("acct_2",))
    provider = Cut(town.settings.provider)
    town.provider = provider
    theirs, ours = town.refund("1", account=AccountId("acct_2"))[0], town.refund("2")[0]
    extras = [town.pay(theirs), town.pay(ours)]
    town.run()
    for extra in extras:
        town.mend(extra.id)
    provider.error = error
    report = town.run()

    assert [each.complete for each in report.run.accounts] == [True, False]
    assert {case.account: case.state for case in town.everything()} == {
        "": CaseState.CLEARED,
        "acct_2": CaseState.OPEN,
    }
    assert [notice.target for notice in report.notices] == ["#payments", "#payments", "#operators"]


def test_intents_of_an_account_that_nobody_reads_are_not_judged(town: Town) -> None:
    town.intend("1", account=AccountId("acct_9"), paid=False)
    town.pass_time(hours=2)
    report = town.run()

    assert (report.run.verdict, report.changes) == (Verdict.INCOMPLETE, ())
    (said,) = report.said
    assert said.startswith("Account acct_9 has intents here and no place in accounts under [provider]")
    told = report.notices[0].message
    assert said in told.text
    assert "1 subject could not be judged" in told.text
    assert "acct_9" in str(told.blocks)
    assert "0 could not be read" not in told.text


# What changes late.


class Deaf(Provider):
    """A provider whose events nobody hears."""

    def refund_events(self, account: AccountId, since: object, until: object = None) -> object:  # type: ignore[override]
        return iter(())


def test_a_refund_that_fails_weeks_later_is_found_by_an_event(town: Town) -> None:
    _, made = town.refund("1")
    town.run()
    town.pass_time(days=20)
    town.run()
    town.mend(made.id)
    town.pass_time(minutes=30)

    assert kinds(town.run()) == ["opened refund_failed"]


@pytest.mark.parametrize("hours", [1, 7])
def test_a_refund_that_fails_weeks_later_is_found_by_the_re_list_whatever_hours_were_missed(
    town: Town, hours: int
) -> None:
    town.settings = replace(town.settings, pull=PullSettings(relist_slices=4))
    town.provider = Deaf(town.settings.provider)
    _, made = town.refund("1")
    town.run()
    town.pass_time(days=20)
    town.run()
    town.mend(made.id)
    found = []
    for _ in range(4):
        town.pass_time(hours=hours)
        found += kinds(town.run())

    assert found == ["opened refund_failed"]


def test_a_request_s_key_links_a_refund_without_metadata(town: Town) -> None:
    intent = town.intend("1", status=IntentStatus.PENDING_UNKNOWN)
    town.provider.create(intent, intent.key, metadata={})
    report = town.run()

    assert [str(heal.basis) for heal in report.heals] == ["request_key"]


def test_a_case_whose_rows_are_gone_is_cleared(town: Town) -> None:
    intent = town.intend("lost")
    town.pass_time(hours=1)
    town.run()
    town.forget(intent)
    report = town.run()

    assert kinds(report) == ["cleared missing"]
    assert "no longer exist" in report.changes[0].entry.reason


def test_another_policy_judges_everything_anew(town: Town) -> None:
    town.intend("young")
    town.pass_time(minutes=10)
    town.run()
    impatient = replace(town.settings.policy, missing_after=timedelta(minutes=5))
    town.settings = replace(town.settings, policy=impatient)
    report = town.run()

    assert report.run.full
    assert kinds(report) == ["opened missing"]
    assert not town.run().run.full


def test_time_alone_makes_a_case(town: Town) -> None:
    town.intend("lost")
    young = town.run()
    town.pass_time(minutes=15)
    old = town.run()

    assert young.run.verdict is Verdict.RECONCILED_WITH_PENDING
    assert kinds(old) == ["opened missing"]


def test_as_of_says_when_to_judge(town: Town) -> None:
    town.intend("lost")
    town.pass_time(hours=1)

    assert town.run(as_of=FRIDAY + timedelta(minutes=14), dry_run=True).changes == ()
    assert kinds(town.run(as_of=FRIDAY + timedelta(minutes=15), dry_run=True)) == ["opened missing"]


def test_the_mirror_keeps_how_far_each_account_was_read(town: Town) -> None:
    first = town.run()
    town.pass_time(hours=1)
    second = town.run()
    (account,) = mirror.accounts(town.database)

    expected = Account(
        AccountId(""),
        livemode=False,
        covered_from=first.run.as_of - PullSettings().first_window,
        watermark_at=second.run.as_of,
    )
    assert account == expected


def test_a_text_that_no_database_takes_does_not_stop_the_hour(town: Town) -> None:
    town.street.payment("pi_1", 4900)
    town.street.control("refunds", payment="pi_1", amount=4900, metadata={"intent_key": "k\x00"})
    town.pass_time(hours=1)
    report = town.run()

    assert kinds(report) == ["opened orphan"]
    assert report.changes[0].case.mismatch.intent_key == "k\ufffd"
    assert town.run().changes == ()


@pytest.mark.parametrize("edge", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)])
def test_the_edges_of_all_time_may_be_asked_for(town: Town, edge: datetime) -> None:
    twice(town, "1")
    town.run()
    again = town.run(as_of=edge, dry_run=True)

    assert (again.run.full, kinds(again)) == (False, [])


def test_judging_the_past_clears_nothing(town: Town) -> None:
    intent = town.intend("1")
    named = {"intent_key": str(intent.key)}
    town.street.control("refunds", payment="pi_1", amount=4900, metadata=named, status="pending")
    town.pass_time(days=8)
    opened = town.run()
    past = town.run(as_of=FRIDAY + timedelta(days=1))
    again = town.run()

    assert kinds(opened) == ["opened overdue"]
    assert (past.changes, again.changes) == ((), ())


@pytest.mark.parametrize("jump", [timedelta(days=-1), timedelta(days=1)])
def test_a_clock_of_ours_that_jumps_moves_no_judgement(town: Town, jump: timedelta) -> None:
    twice(town, "1")
    town.run()
    town.intend("lost")
    town.pass_time(hours=1)
    ticks = count()

    def clock() -> datetime:
        return town.now + (jump if next(ticks) > 3 else timedelta(0))

    assert kinds(town.run(clock=clock)) == ["opened missing"]
    assert town.run().changes == ()


def test_a_refund_of_the_providers_that_cannot_be_judged_is_told_to_the_operators(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    twice(town, "1")
    monkeypatch.setattr(payloads, "_flaw", lambda _: "amount is missing")
    report = town.run()

    (said,) = (each for each in report.notices if each.dedupe_key.startswith("rejected|"))
    assert (report.in_order, said.target) == (False, "#operators")
    first = (
        "2 rows of provider, refunds of the platform could not be judged, test mode: amount is missing; what"
    )
    assert said.message.text.startswith(first)
