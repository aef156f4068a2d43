from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recon.model.records.notices import Thread
from recon.model.records.results import Reject
from recon.model.records.runs import AccountReading, Run
from recon.model.records.words import AccountId, CaseState, Kind, RunId, Verdict
from recon.rules import notices
from tests.builders import NOON, a_case, a_mismatch
from tests.rules.test_notices import AS_OF, MANNER, blocks_of
from tests.rules.test_notices_fit import NASTY, assert_within_limits


def reading(account: str, error: str | None = "page 3 broke off") -> AccountReading:
    return AccountReading(
        AccountId(account), NOON, AS_OF, complete=error is None, pages=2, refunds=200, changed=3, error=error
    )


def test_an_incomplete_run_is_one_alarm_to_the_operators() -> None:
    readings = [reading("", None), reading("acct_2", NASTY)]
    alarm = notices.incomplete(readings, ["Account acct_9 is not configured."], since=None, manner=MANNER)

    assert (alarm.verb, alarm.target, alarm.case_ids) == ("root", "#operators", ())
    assert alarm.message.text.startswith("Not to be trusted: the live run of 2026-03-06 14:00 UTC")
    assert "Of 2 accounts, 1 could not be read to the end" in alarm.message.text
    assert "acct_2" in blocks_of(alarm)
    assert "acct_9" in blocks_of(alarm)
    for told in ("acct_2", "acct_9", "What to do: Put right", "https://desk.example"):
        assert told in alarm.message.text
    assert "<!channel>" not in blocks_of(alarm)


def test_an_alarm_over_accounts_that_were_all_read_does_not_say_that_none_could_be() -> None:
    alarm = notices.incomplete([reading("", None)], ["acct_9 is asked by nobody."], since=None, manner=MANNER)

    assert "could not be read to the end" not in alarm.message.text
    assert "was read to the end, and that is not enough" in alarm.message.text
    assert "acct_9" in alarm.message.text


def test_an_outage_is_said_once_and_again_only_when_it_hits_others_or_came_back() -> None:
    def key(*accounts: str, since: str | None = "run-1") -> str:
        readings = [reading(account) for account in accounts]
        run = None if since is None else RunId(since)
        return notices.incomplete(readings, [], since=run, manner=MANNER).dedupe_key

    assert key("a", "b") == key("b", "a")
    assert len({key("a"), key("a", "b"), key("a", since="run-2"), key("a", since=None)}) == 4


def test_an_alarm_over_many_accounts_fits() -> None:
    alarm = notices.incomplete(
        [reading(f"acct_{number}", "&" * 500) for number in range(300)], [], since=None, manner=MANNER
    )

    assert_within_limits(alarm)
    assert "and 280 more" in blocks_of(alarm)


@pytest.mark.parametrize(
    "since, threads, expected",
    [
        ("run-0", [[""], ["", "acct_2"]], [[""], ["", "acct_2"]]),  # Two sets of accounts were two alarms.
        ("run-0", [["", "acct_2"]], [["", "acct_2"]]),  # The other was never said.
        ("run-2", [[""]], [[""]]),  # What the second run could not read was before it.
        ("run-3", [[""]], []),
        (None, [[""]], [[""]]),
    ],
)
def test_each_alarm_of_an_outage_hears_once_that_it_is_over(
    since: str | None, threads: list[list[str]], expected: list[list[str]]
) -> None:
    last = None if since is None else RunId(since)

    def key(accounts: list[str]) -> str:
        return notices.incomplete(map(reading, accounts), [], since=last, manner=MANNER).dedupe_key

    known = {key(each): Thread(key(each), "#operators, as it was") for each in threads}
    said = notices.over([*RUNS[:1], *RUNS], known, since=last, manner=MANNER)

    assert [each.thread_key for each in said] == [key(each) for each in expected]
    assert {(each.verb, each.target) for each in said} <= {("reply", "#operators, as it was")}
    assert all("What to do: nothing." in each.message.text for each in said)


# Rows that could not be judged.


def a_reject(row: int = 1, **changes: Any) -> Reject:  # noqa: ANN401  # any field of the reject
    return replace(Reject("refund_requests", row, f"r{row}", "currency is missing"), **changes)


def test_rejected_rows_are_one_notice_to_the_operators() -> None:
    said = notices.rejected([a_reject(), a_reject(2, id=None, reason=NASTY)], manner=MANNER)

    assert (said.verb, said.target, said.case_ids) == ("root", "#operators", ())
    first = "2 rows of refund_requests could not be judged: currency is missing, and 1 other reason; what"
    assert said.message.text.startswith(first)
    assert "`no id`" in blocks_of(said)
    assert "<!channel>" not in blocks_of(said)


def test_rejected_rows_are_said_again_only_when_they_are_others() -> None:
    def key(*rejects: Reject) -> str:
        again = replace(MANNER, run_id=RunId("another"), as_of=AS_OF + timedelta(hours=1))
        told = {notices.rejected(rejects, manner=manner).dedupe_key for manner in (MANNER, again)}
        assert len(told) == 1
        return told.pop()

    one, two = a_reject(1), a_reject(2)
    assert key(one, two) == key(two, one)
    assert key(one) == key(replace(one, row=7))  # Moved on its page, or in its table.
    others = [
        (one,),
        (two,),
        (one, two),
        (replace(one, reason="key is missing"),),
        (replace(one, source="x"),),
    ]
    assert len({key(*each) for each in others}) == len(others)


def test_a_notice_of_many_rejected_rows_fits() -> None:
    many = [a_reject(n, source=f"{n}{'&' * 300}", id="&" * 300, reason="&" * 900) for n in range(300)]
    said = notices.rejected(many, manner=MANNER)

    assert_within_limits(said)
    assert "and 280 more" in blocks_of(said)
    assert "and 295 more sources could not be judged" in said.message.text


# What was kept back, and is told when the account was read at last.


def a_run(number: int, *complete: str, of: tuple[str, ...] = ("", "acct_2")) -> Run:
    at = NOON + timedelta(hours=number)
    return Run(
        id=RunId(f"run-{number}"),
        fence=number,
        started_at=at,
        finished_at=at + timedelta(minutes=1),
        as_of=at,
        verdict=Verdict.INCOMPLETE,
        mark=number,
        policy_digest="",
        full=False,
        counts={},
        at_risk={},
        opened=0,
        cleared=0,
        healed=0,
        accounts=tuple(reading(each, None if each in complete else "broke off") for each in of),
    )


RUNS = [a_run(3, "acct_2"), a_run(2), a_run(1, "", "acct_2")]  # Newest first.


@pytest.mark.parametrize(
    "runs, read, expected",
    [
        (RUNS, ["", "acct_2"], [""]),  # The third read the other one, so it told what was kept back there.
        (RUNS, ["acct_2"], []),
        (RUNS[1:], ["", "acct_2"], ["", "acct_2"]),
        (RUNS[2:], ["", "acct_2"], []),
        ([a_run(3, "", of=("",)), *RUNS[1:]], ["", "acct_2"], ["acct_2"]),  # It asked for the one only.
        ([], ["", "acct_2"], []),
        (RUNS, ["acct_new"], []),
    ],
)
def test_an_account_s_news_were_kept_back_where_the_latest_run_that_asked_could_not_read_it(
    runs: list[Run], read: list[str], expected: list[str]
) -> None:
    found = notices.unread_before(runs, [AccountId(each) for each in read])

    assert sorted(found) == expected


@pytest.mark.parametrize("state", list(CaseState))
@pytest.mark.parametrize("kind", list(Kind))
def test_only_an_open_case_that_rests_on_absence_may_have_been_kept_back(
    kind: Kind, state: CaseState
) -> None:
    case = a_case(a_mismatch(kind=kind), state=state)
    rests = kind in {Kind.MISSING, Kind.ORPHAN, Kind.STUCK}

    assert notices.may_be_kept_back(case) is (rests and state is CaseState.OPEN)
