from recon.model.records.runs import AccountReading
from recon.model.records.words import AccountId, RunId
from recon.rules import notices
from tests.builders import NOON
from tests.rules.test_notices import AS_OF, MANNER, NASTY, assert_within_limits, blocks_of


def reading(account: str, error: str | None = "page 3 broke off") -> AccountReading:
    return AccountReading(
        AccountId(account), NOON, AS_OF, complete=error is None, pages=2, refunds=200, changed=3, error=error
    )


def test_an_incomplete_run_is_one_alarm_to_the_operators() -> None:
    readings = [reading("", None), reading("acct_2", NASTY)]
    alarm = notices.incomplete(readings, ["Account acct_9 is not configured."], since=None, manner=MANNER)

    assert (alarm.verb, alarm.target, alarm.case_ids) == ("root", "#operators", ())
    assert alarm.message.text.startswith("Not to be trusted: the live run of 2026-03-06 14:00 UTC")
    assert "1 account not read to the end" in alarm.message.text
    assert "acct_2" in blocks_of(alarm)
    assert "acct_9" in blocks_of(alarm)
    assert "<!channel>" not in blocks_of(alarm)


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
