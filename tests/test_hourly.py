from dataclasses import replace
from datetime import timedelta

import pytest

from recon.doors.store import cases as book
from recon.doors.store import leases, limits, outbox
from recon.doors.store.cases import Saved, Saving
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.model.errors import (
    ConfigurationError,
    LeaseHeld,
    LeaseLost,
    ProviderRefused,
    ProviderUnavailable,
)
from recon.model.records.cases import Change
from recon.model.records.runs import HOUR, Lease
from recon.model.records.words import (
    Actor,
    CaseState,
    IntentStatus,
    Resolution,
    Verdict,
)
from recon.model.settings import Secret
from recon.rules import moves
from tests.hours import FRIDAY, Town, a_town, kinds, rows, states, twice
from tests.sandboxes import Street

ANA = Actor("ana")


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    return a_town(database, sandbox)


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


# The lease.


def test_a_second_run_finds_the_lease_held_and_writes_nothing(town: Town) -> None:
    twice(town, "1")
    leases.take(town.database, HOUR, "another", now=town.now, duration=timedelta(minutes=5))
    with pytest.raises(LeaseHeld):
        town.run()

    assert rows(town, "refunds") == rows(town, "runs") == 0


def test_a_run_that_lost_its_lease_saves_nothing(town: Town) -> None:
    twice(town, "1")

    def steal(said: object) -> None:
        if str(said).startswith("Comparing"):
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
    town.street.fault("GET /v1/account", "drop_before", times=2)
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


# People.


def resolve(town: Town, code: Resolution = Resolution.RECOVERED) -> None:
    (case,) = town.waiting()
    fence = leases.newest(town.database, HOUR)
    change = moves.resolve(
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

    def click(said: object) -> None:
        if str(said).startswith("Comparing"):
            change = moves.acknowledge(case, actor=ANA, reason="on it", now=town.now, action_id="click")
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

    def change_mind(said: object) -> None:
        if str(said).startswith("Comparing"):
            town.record(intent, status=IntentStatus.CANCELLED)

    report = town.run(progress=change_mind)

    assert (report.heals, len(report.not_healed)) == ((), 1)
    assert kinds(town.run()) == ["opened status_mismatch"]


def test_a_case_that_people_moved_is_seen_again_when_the_run_dies_before_planning_it_anew(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent, _ = town.refund("1")
    extra = town.pay(intent)
    town.run()
    town.mend(extra.id)
    town.run()
    (cleared,) = town.everything()
    town.pay(intent)
    save = book.save_run

    def save_late(database: Database, lease: Lease, saving: Saving) -> Saved:
        words = moves.comment(cleared, actor=ANA, reason="Why?", now=town.now, action_id="click")
        assert isinstance(words, Change)
        book.move(database, words)
        return save(database, lease, saving)

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(book, "save_run", save_late)
        patched.setattr(book, "save_changes", die)
        with pytest.raises(KeyboardInterrupt):
            town.run()

    assert cleared.state is CaseState.CLEARED
    assert kinds(town.run()) == ["reopened duplicate"]


def test_a_run_keeps_the_limits_of_its_settings_and_a_dry_one_does_not(town: Town) -> None:
    town.settings = replace(town.settings, four_eyes={"usd": 50000})
    town.run(dry_run=True)
    before = limits.read(town.database)
    town.run()

    assert (before, limits.read(town.database)) == ({}, {"usd": 50000})
    assert book.verify(town.database) == ()
