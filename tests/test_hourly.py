from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from recon.doors.store import cases as book
from recon.doors.store import leases, mirror, outbox, runs
from recon.doors.store.engines import Database
from recon.doors.stripe import Provider
from recon.model import tables
from recon.model.errors import (
    ConfigurationError,
    LeaseHeld,
    LeaseLost,
    ProviderRefused,
    ProviderUnavailable,
)
from recon.model.records.cases import Change
from recon.model.records.runs import HOUR, Account
from recon.model.records.words import (
    AccountId,
    Actor,
    CaseState,
    IntentStatus,
    Resolution,
    Verdict,
)
from recon.model.settings import ProviderSettings, PullSettings, Secret
from recon.rules import cases
from tests.hours import FRIDAY, Town, a_town, kinds, states
from tests.sandboxes import Street

ANA = Actor("ana")


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox)


def rows(town: Town, table: str) -> int:
    with town.database.read() as connection:
        return int(connection.scalar(select(func.count()).select_from(tables.metadata.tables[table])) or 0)


def twice(town: Town, name: str) -> None:
    """The tool keyed by attempt: one intent, two refunds."""
    intent, _ = town.refund(name)
    town.pay(intent)


def test_books_that_agree_say_so(town: Town) -> None:
    town.refund("1")
    report = town.run()

    assert (report.run.verdict, report.changes, report.notices) == (Verdict.RECONCILED, (), ())
    assert report.complete
    assert FRIDAY <= report.run.as_of <= FRIDAY + timedelta(minutes=2)


def test_a_double_refund_is_a_case_with_an_owner_and_a_message(town: Town) -> None:
    twice(town, "1")
    report = town.run()

    assert kinds(report) == ["opened duplicate"]
    (case,) = town.waiting()
    assert case.owner is not None
    assert (case.owner.name, case.mismatch.at_risk.amount_minor) == ("Payments on call", 4900)
    assert [(notice.verb, notice.target) for notice in outbox.recent(town.database, 9)][::-1] == [
        ("root", "#payments"),
        ("reply", "#payments"),
    ]


def test_the_same_run_twice_changes_nothing(town: Town) -> None:
    twice(town, "1")
    town.intend("lost")
    town.pass_time(hours=2)
    first = town.run()
    before = {table: rows(town, table) for table in ("cases", "entries", "notices", "refunds", "threads")}
    again = [town.run(), town.run()]

    assert len(first.changes) == 2
    assert [(report.changes, report.notices, report.heals) for report in again] == [((), (), ())] * 2
    assert {table: rows(town, table) for table in before} == before
    assert rows(town, "runs") == 3
    assert book.verify(town.database) == ()


def test_what_the_provider_proves_is_healed_and_then_agrees(town: Town) -> None:
    intent = town.intend("1", status=IntentStatus.PENDING_UNKNOWN)
    town.pay(intent)
    first = town.run()

    assert [heal.intent_key for heal in first.heals] == [intent.key]
    assert town.status(intent) is IntentStatus.DONE
    assert first.run.verdict is Verdict.RECONCILED_WITH_PENDING
    assert town.run().run.verdict is Verdict.RECONCILED


def test_a_stuck_case_clears_after_its_intent_was_healed(town: Town) -> None:
    intent = town.intend("1", status=IntentStatus.PENDING_UNKNOWN)
    town.pass_time(hours=1)
    opened = town.run()
    town.pay(intent)
    town.pass_time(minutes=30)
    healed = town.run()
    cleared = town.run()

    assert kinds(opened) == ["opened stuck"]
    assert (healed.changes, len(healed.heals)) == ((), 1)
    assert kinds(cleared) == ["cleared stuck"]


def test_a_dry_run_says_what_a_wet_one_does_and_writes_nothing_but_the_mirror(town: Town) -> None:
    twice(town, "1")
    unknown = town.intend("2", status=IntentStatus.PENDING_UNKNOWN)
    town.pay(unknown)
    town.intend("lost")
    town.pass_time(hours=2)
    as_of = town.now
    dry = town.run(dry_run=True, as_of=as_of)
    written = {
        table: rows(town, table) for table in ("cases", "entries", "notices", "runs", "due", "threads")
    }
    town.now -= timedelta(minutes=1)
    wet = town.run(as_of=as_of)

    assert set(written.values()) == {0}
    assert rows(town, "refunds") == 3
    assert town.status(unknown) is IntentStatus.DONE  # By the wet one.
    assert dry.result == wet.result
    assert [change.case for change in dry.changes] == [change.case for change in wet.changes]
    assert [each.dedupe_key for each in dry.notices] == [each.dedupe_key for each in wet.notices]
    assert [each.message for each in dry.notices] == [each.message for each in wet.notices]
    assert dry.heals == wet.heals
    assert (dry.run.opened, dry.run.verdict) == (wet.run.opened, wet.run.verdict)
    assert rows(town, "accounts") == 1


def test_a_duplicate_clears_when_the_extra_refund_failed(town: Town) -> None:
    intent, _ = town.refund("1")
    extra = town.pay(intent)
    town.run()
    town.mend(extra.id)
    town.pass_time(hours=1)
    report = town.run()

    assert kinds(report) == ["cleared duplicate"]
    (case,) = town.everything()
    assert town.story(case) == ["opened", "cleared"]
    assert "~" in str(report.notices[-1].message.blocks)


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
    town.street.fault("GET /v1/refunds", "drop_page", match={"page": 3})
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
    town.street.fault("GET /v1/refunds", "drop_before")
    broken = town.run()
    town.pass_time(minutes=10)
    whole = town.run()
    later = town.run()

    assert kinds(broken) == ["opened stuck"]
    assert [notice.target for notice in broken.notices] == ["#operators"]
    assert {notice.target for notice in whole.notices} == {"#payments"}
    assert later.notices == ()


def test_an_outage_is_one_alarm_and_no_movement(town: Town) -> None:
    twice(town, "1")
    first = town.run()
    town.pass_time(hours=1)
    town.street.fault("GET /v1/account", "drop_before", times=2)
    broken = [town.run(), town.run()]

    assert [report.run.as_of for report in broken] == [first.run.as_of] * 2
    assert [report.changes for report in broken] == [(), ()]
    assert len({notice.dedupe_key for report in broken for notice in report.notices}) == 1
    assert runs.last_complete(town.database) == first.run


def test_an_outage_before_the_first_run_is_an_error(town: Town) -> None:
    town.street.fault("GET /v1/account", "drop_before")
    with pytest.raises(ProviderUnavailable):
        town.run()

    assert rows(town, "runs") == 0


def test_one_account_that_fails_leaves_the_others_whole(database: Database, sandbox: Street) -> None:
    town = a_town(database, sandbox, accounts=("acct_2",))
    theirs, ours = town.refund("1", account=AccountId("acct_2"))[0], town.refund("2")[0]
    extras = [town.pay(theirs), town.pay(ours)]
    town.run()
    for extra in extras:
        sandbox.control(f"refunds/{extra.id}", status="failed")
    town.pass_time(hours=1)
    sandbox.fault("GET /v1/refunds", "drop_before", match={"account": "acct_2"})
    report = town.run()

    assert [each.complete for each in report.run.accounts] == [True, False]
    assert {case.account: case.state for case in town.everything()} == {
        "": CaseState.CLEARED,
        "acct_2": CaseState.OPEN,
    }


def test_intents_of_an_account_that_nobody_reads_are_not_judged(town: Town) -> None:
    town.intend("1", account=AccountId("acct_9"), paid=False)
    town.pass_time(hours=2)
    report = town.run()

    assert (report.run.verdict, report.changes) == (Verdict.INCOMPLETE, ())
    assert "acct_9" in str(report.notices[0].message.blocks)


# The lease.


def test_a_second_run_finds_the_lease_held_and_writes_nothing(town: Town) -> None:
    twice(town, "1")
    leases.take(town.database, HOUR, "another", now=town.now, duration=timedelta(minutes=5))
    with pytest.raises(LeaseHeld):
        town.run()

    assert rows(town, "refunds") == rows(town, "runs") == 0


def test_a_run_that_lost_its_lease_saves_nothing(town: Town) -> None:
    twice(town, "1")

    def steal(sentence: str) -> None:
        if sentence.startswith("Comparing"):
            later = town.now + timedelta(minutes=6)
            leases.take(town.database, HOUR, "another", now=later, duration=timedelta(minutes=5))

    with pytest.raises(LeaseLost):
        town.run(progress=steal)

    assert rows(town, "cases") == rows(town, "runs") == rows(town, "notices") == 0
    assert leases.newest(town.database, HOUR) == 2


def test_a_long_run_renews_its_lease(town: Town) -> None:
    twice(town, "1")
    ticking = iter(FRIDAY + timedelta(minutes=2) * tick for tick in range(1000))
    town.run(clock=lambda: next(ticking))

    assert len(town.waiting()) == 1


def test_the_lease_is_given_back_after_success_and_after_failure(town: Town) -> None:
    town.street.fault("GET /v1/account", "drop_before")
    with pytest.raises(ProviderUnavailable):
        town.run()
    town.run()
    town.run()

    assert leases.newest(town.database, HOUR) == 3


# The modes.


def test_a_test_key_against_live_refunds_is_refused(town: Town) -> None:
    town.run()
    key = replace(town.settings.provider, api_key=Secret("sk_live_sandbox"))
    town.provider = Provider(key)
    with pytest.raises(ConfigurationError, match="holds test refunds, and STRIPE_API_KEY is a live key"):
        town.run()


def test_a_key_that_the_provider_refuses_ends_the_run(town: Town) -> None:
    town.provider = Provider(replace(town.settings.provider, api_key=Secret("nonsense")))
    with pytest.raises(ProviderRefused):
        town.run()

    assert rows(town, "runs") == 0


# What changes late.


class Deaf(Provider):
    """A provider whose events nobody hears."""

    def refund_events(self, account: AccountId, since: object) -> object:  # type: ignore[override]
        return iter(())


def test_a_refund_that_fails_weeks_later_is_found_by_an_event(town: Town) -> None:
    _, made = town.refund("1")
    town.run()
    town.pass_time(days=20)
    town.run()
    town.mend(made.id)
    town.pass_time(minutes=30)

    assert kinds(town.run()) == ["opened refund_failed"]


def test_a_refund_that_fails_weeks_later_is_found_by_the_re_list_within_a_day(town: Town) -> None:
    town.provider = Deaf(town.settings.provider)
    _, made = town.refund("1")
    town.run()
    town.pass_time(days=20)
    town.run()
    town.mend(made.id)
    found = []
    for _ in range(24):
        town.pass_time(hours=1)
        found += kinds(town.run())

    assert found == ["opened refund_failed"]


def test_a_missed_hour_skips_no_slice_of_the_re_list(town: Town) -> None:
    town.provider = Deaf(town.settings.provider)
    _, made = town.refund("1")
    town.run()
    town.pass_time(days=20)
    town.run()
    town.mend(made.id)
    found = []
    for _ in range(24):
        town.pass_time(hours=2)
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


# People.


def resolve(town: Town, code: Resolution = Resolution.RECOVERED) -> None:
    (case,) = town.waiting()
    fence = leases.newest(town.database, HOUR)
    change = cases.resolve(
        case, code=code, fence=fence, actor=ANA, reason="done", now=town.now, action_id=f"click-{fence}"
    )
    assert isinstance(change, Change)
    book.move(town.database, change)


def test_a_resolved_missing_regresses_once_a_run_saw_past_the_decision(town: Town) -> None:
    town.intend("lost")
    town.pass_time(hours=1)
    town.run()
    resolve(town)
    past = town.now + town.settings.pull.overlap
    town.pass_time(minutes=20)
    soon = town.run(as_of=past)
    late = town.run(as_of=past + timedelta(seconds=1))

    assert kinds(soon) == []
    assert kinds(late) == ["regressed missing"]


def test_a_resolved_duplicate_stays_resolved_until_its_evidence_changes(town: Town) -> None:
    intent, _ = town.refund("1")
    town.pay(intent)
    town.run()
    resolve(town, Resolution.WRITTEN_OFF)
    town.pass_time(hours=1)
    quiet = town.run()
    town.pay(intent)
    third = town.run()

    assert kinds(quiet) == []
    assert kinds(third) == ["reopened duplicate"]


def test_a_case_that_a_person_moved_during_the_run_is_planned_again_alone(town: Town) -> None:
    intent = town.intend("lost")
    town.intend("lost too")
    town.pass_time(hours=1)
    town.run()
    town.pay(intent)
    town.pass_time(minutes=1)
    (case,) = [each for each in town.waiting() if each.subject == f"intent:{intent.key}"]

    def click(sentence: str) -> None:
        if sentence.startswith("Comparing"):
            change = cases.acknowledge(case, actor=ANA, reason="on it", now=town.now, action_id="click")
            assert isinstance(change, Change)
            book.move(town.database, change)

    report = town.run(progress=click)

    assert kinds(report) == ["cleared missing"]
    assert town.story(case) == ["opened", "acknowledged", "cleared"]
    assert states(town)[case.subject] is CaseState.CLEARED
    assert book.verify(town.database) == ()


def test_a_heal_that_no_longer_fits_leaves_its_intent_in_flight(town: Town) -> None:
    intent = town.intend("1", status=IntentStatus.PENDING_UNKNOWN)
    town.pay(intent)

    def change_mind(sentence: str) -> None:
        if sentence.startswith("Comparing"):
            town.record(intent, status=IntentStatus.CANCELLED)

    report = town.run(progress=change_mind)

    assert (report.heals, len(report.not_healed)) == ((), 1)
    assert kinds(town.run()) == ["opened status_mismatch"]


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
