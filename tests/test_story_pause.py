"""The hour after a pause, and under clocks that are wrong: everything is found once, and told once."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from recon.delivery import deliver_all
from recon.doors.slack.posts import Slack
from recon.doors.store import leases, mirror, runs
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Identity, Provider
from recon.model.errors import LeaseHeld
from recon.model.records.runs import HOUR, Lease
from recon.model.records.words import AccountId, CaseState, IntentStatus, Verdict
from recon.model.settings import Secret, SlackSettings
from tests.builders import PLATFORM
from tests.hours import Town, a_town, kinds, rows, states, twice
from tests.sandboxes import SLACK_TOKEN, Street


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    """A town with a Slack, and a refund that nobody will ever have to speak of."""
    told = SlackSettings(
        operators_channel="#operators", bot_token=Secret(SLACK_TOKEN), base_url=sandbox.slack_url
    )
    town = a_town(database, sandbox, slack=told)
    sandbox.control("slack", rate_limit=False)
    town.refund("quiet")
    return town


def hour(town: Town) -> list[str]:
    """Let the scheduled job do its work once; return what became of which cases."""
    report = town.run()
    assert report.complete

    def sleep(seconds: float) -> None:
        town.pass_time(seconds=max(seconds, 1))

    deliver_all(
        town.database,
        Slack(town.settings.slack),
        town.settings,
        clock=lambda: town.now,
        budget=timedelta(minutes=5),
        sleep=sleep,
    )
    return kinds(report)


def a_day_of_trouble(town: Town) -> list[str]:
    """Let 24 hours pass while nothing of ours runs: an ordinary refund every hour, now and then more.

    Return what the trouble is called in messages.
    """
    _, failing = town.refund("fails-later")
    for number in range(24):
        town.refund(f"ordinary-{number}")
        if number == 3:
            twice(town, "double")
        if number == 7:
            town.street.payment("pi_unasked", 9000)
            unasked = town.street.control("refunds", payment="pi_unasked", amount=4900)["id"]
        if number == 12:
            landed = town.intend("landed", status=IntentStatus.PENDING_UNKNOWN)
            town.pay(landed)
        if number == 14:
            town.intend("lost", status=IntentStatus.PENDING_UNKNOWN)
        if number == 20:
            town.mend(failing.id)
        town.pass_time(hours=1)
    return ["order_double", "order_fails-later", "order_lost", unasked]


def test_a_days_pause_is_caught_up_in_one_run_and_told_once(town: Town) -> None:
    hour(town)
    before = mirror.accounts(town.database)[0]
    names = a_day_of_trouble(town)

    found = hour(town)

    after = mirror.accounts(town.database)[0]
    assert found == ["opened duplicate", "opened refund_failed", "opened stuck", "opened orphan"]
    assert rows(town, "refunds") == 1 + 1 + 24 + 2 + 1 + 1
    assert [each.intent_key for each in town.history[-1].heals] == ["refund_order:landed"]
    assert after.covered_from == before.covered_from
    assert after.watermark_at == town.history[-1].run.as_of
    assert set(states(town).values()) == {CaseState.OPEN}

    told = town.street.messages()
    replies = [message for message in told if message["thread_ts"]]
    for name in names:
        assert sum(name in str(reply) for reply in replies) == 1, name

    town.pass_time(minutes=58)
    assert hour(town) == []
    assert town.street.messages() == told


def test_a_run_after_a_pause_finds_what_hourly_runs_would_have_found(town: Town) -> None:
    hour(town)
    a_day_of_trouble(town)
    hour(town)
    once = {case.subject: (case.mismatch.kind, case.mismatch.at_risk) for case in town.waiting()}

    with town.database.write() as connection:  # The next run judges everything anew.
        connection.exec_driver_sql("UPDATE runs SET policy_digest = 'another'")
    full = town.run()

    assert full.run.full
    assert {each.subject: (each.kind, each.at_risk) for each in full.result.mismatches} == once


HOURS = [timedelta(hours=-1), timedelta(hours=1)]


@pytest.mark.parametrize("off", HOURS, ids=["behind", "ahead"])
def test_a_local_clock_that_is_wrong_finds_the_same_at_the_providers_time(town: Town, off: timedelta) -> None:
    town.run()
    twice(town, "double")
    lost = town.intend("lost", status=IntentStatus.PENDING_UNKNOWN)
    town.pass_time(minutes=50)
    early = town.run(clock=lambda: town.now + off)
    town.pass_time(minutes=20)

    late = town.run(clock=lambda: town.now + off)
    again = town.run()

    assert (kinds(early), kinds(late), kinds(again)) == (["opened duplicate"], ["opened stuck"], [])
    assert late.run.as_of <= town.now
    assert all(each.complete for each in town.history)
    assert states(town) == {
        f"intent:{lost.key}": CaseState.OPEN,
        "intent:refund_order:double": CaseState.OPEN,
    }
    assert mirror.accounts(town.database)[0].watermark_at == again.run.as_of


@pytest.mark.parametrize("step", ["read", "save"])
@pytest.mark.parametrize("jump", [timedelta(hours=1), timedelta(hours=-1)], ids=["ahead", "back"])
def test_a_clock_that_jumps_within_a_run_changes_nothing(town: Town, step: str, jump: timedelta) -> None:
    twice(town, "double")
    off = timedelta(0)

    def entering(name: str, _: Lease) -> None:
        nonlocal off
        off = jump if name == step else off

    report = town.run(clock=lambda: town.now + off, entering=entering)

    assert report.run.verdict is Verdict.BREAKS
    assert kinds(report) == ["opened duplicate"]
    assert runs.last_complete(town.database) == report.run
    assert kinds(town.run()) == []


def dies(town: Town, clock: Callable[[], datetime]) -> None:
    """Let a run take the lease, and never give it back."""
    leases.take(town.database, HOUR, "the dead one", now=clock(), duration=town.settings.lease.duration)


def test_a_dead_runs_lease_is_waited_for_and_one_of_a_clock_that_was_wrong_is_not(town: Town) -> None:
    dies(town, lambda: town.now)
    with pytest.raises(LeaseHeld):
        town.run()
    town.pass_time(minutes=5)
    assert town.run().complete

    dies(town, lambda: town.now + timedelta(days=7))
    assert town.run().complete


def test_a_pause_longer_than_the_re_list_is_still_read_without_a_gap(town: Town) -> None:
    town.run()
    _, made = town.refund("old")
    town.pass_time(days=50)
    town.refund("new")
    changed = replace(town.settings, pull=replace(town.settings.pull, first_window=timedelta(days=1)))
    town.settings = changed

    report = town.run()

    assert report.complete
    assert rows(town, "refunds") == 3
    account = mirror.accounts(town.database)[0]
    assert account.covered_from is not None
    assert account.covered_from < made.created_at


class OneFast(Provider):
    """A provider one of whose machines, the one that knows accounts, is an hour ahead."""

    def account(self, account: AccountId = PLATFORM) -> Identity:
        found = super().account(account)
        now = self._asking.now
        assert now is not None
        self._asking.now = now + timedelta(hours=1)
        return found


def test_a_provider_whose_clocks_differ_is_not_read_until_they_agree(town: Town) -> None:
    before = town.run()
    town.pass_time(minutes=30)
    town.refund("meanwhile")
    lost = town.intend("lost", status=IntentStatus.PENDING_UNKNOWN)
    town.pass_time(minutes=20)
    sound, town.provider = town.provider, OneFast(town.settings.provider, sleep=lambda _: None)
    wrong = town.run()
    town.provider = sound
    account = mirror.accounts(town.database)[0]
    town.pass_time(minutes=10)

    assert (wrong.complete, wrong.run.as_of, kinds(wrong)) == (False, before.run.as_of, [])
    assert "clock cannot be trusted" in str(wrong.run.accounts[0].error)
    assert account.watermark_at == before.run.as_of
    assert kinds(town.run()) == []
    town.pass_time(minutes=40)
    assert kinds(town.run()) == ["opened stuck"]
    assert states(town) == {f"intent:{lost.key}": CaseState.OPEN}


def test_a_provider_whose_clock_was_years_ahead_for_an_hour_loses_nothing(town: Town) -> None:
    town.run()
    town.pass_time(minutes=58)
    at = town.now
    town.now += timedelta(days=2000)
    wrong, before = town.run(clock=lambda: at), rows(town, "refunds")
    town.now = at
    town.pass_time(minutes=1)
    town.refund("meanwhile")
    twice(town, "double")
    town.pass_time(minutes=58)

    right, next_one = town.run(), town.run()

    assert wrong.run.as_of > town.now
    assert (kinds(right), kinds(next_one)) == (["opened duplicate"], [])
    assert rows(town, "refunds") == before + 3
