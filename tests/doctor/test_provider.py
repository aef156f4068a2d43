from datetime import timedelta

import pytest
from sqlalchemy import insert

from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.remarks import Section
from tests.doctor.clinic import CLOSED, Clinic, levels, one
from tests.sandboxes import Street
from tests.wires import answers, wire


def test_a_restricted_key_that_reads_is_all_right(small: Clinic, sandbox: Street) -> None:
    sandbox.fault("POST /v1/refunds/{id}", "403")

    told = small.told(Section.PROVIDER)

    assert one(told, "restricted one, of test mode").startswith("ok")
    assert one(told, "the key is account acct_1SandboxPlatform's").startswith("ok")
    assert one(told, "Refunds and events can be read").startswith("ok")
    assert one(told, "may not write refunds").startswith("ok")
    assert one(told, "which is the sandbox or a stand-in").startswith("warning")
    assert "failure" not in levels(told)


def test_a_key_that_may_write_is_told_so(small: Clinic) -> None:
    assert one(small.told(Section.PROVIDER), "may write refunds").startswith("warning")


def test_a_full_key_is_told_so_and_is_asked_nothing_more(small: Clinic, sandbox: Street) -> None:
    small.environ["STRIPE_API_KEY"] = "sk_live_canary0key"

    told = small.told(Section.PROVIDER)

    assert one(told, "a full secret key, of live mode: it can move money").startswith("warning")
    assert {request["method"] for request in sandbox.requests() if "/v1/" in request["path"]} == {"GET"}


@pytest.mark.parametrize(
    "key, sign",
    [("", "STRIPE_API_KEY is not set"), ("pk_test_canary", "publishable"), ("other", "which sort it is")],
)
def test_other_keys_are_named_for_what_they_are(small: Clinic, key: str, sign: str) -> None:
    small.environ["STRIPE_API_KEY"] = key

    assert not one(small.told(Section.PROVIDER), sign).startswith("ok")


def test_asking_leaves_nothing_at_the_provider(small: Clinic, sandbox: Street) -> None:
    sandbox.payment("pi_1", 4900)

    small.examine()

    posts = [each for each in sandbox.requests("POST") if each["path"].startswith("/v1/")]
    assert posts
    assert [(each["answer"]["status"], each["form"]) for each in posts] == [(404, {})] * len(posts)
    assert all("asks_and_changes_nothing" in each["path"] for each in posts)
    assert sandbox.messages() == []


def test_a_dead_provider_is_one_failure_and_its_clock_is_not_known(small: Clinic) -> None:
    small.environ["RECON_STRIPE_BASE_URL"] = CLOSED

    found = small.told(Section.PROVIDER)

    assert one(found, "did not answer").startswith("failure")
    assert one(found, "did not answer").endswith("its status page. Then again.")
    assert one(small.told(Section.CLOCK), "did not tell its time").startswith("warning")


def test_a_revoked_key_is_a_failure_that_says_what_to_do(small: Clinic) -> None:
    small.environ["STRIPE_API_KEY"] = "rk_wrong_canary"

    told = small.told(Section.PROVIDER)

    assert "revoked, expired or mistyped" in one(told, "was refused with 401")
    assert levels(small.told(Section.CLOCK)) == {"ok"}  # A refusal has its time too.


@pytest.mark.parametrize(
    "path, what",
    [("/v1/events", "events"), ("/v1/refunds", "refunds"), ("/v1/account", "the account")],
)
def test_a_missing_permission_is_named(small: Clinic, sandbox: Street, path: str, what: str) -> None:
    sandbox.fault(f"GET {path}", "403", times=99)

    told = small.told(Section.PROVIDER)

    assert f"Give the key permission to read {what}" in one(told, "was refused with 403")


def test_a_key_that_does_not_see_the_ledger_is_a_warning(small: Clinic, sandbox: Street) -> None:
    sandbox.fault("GET /v1/balance_transactions", "403")

    assert one(small.told(Section.PROVIDER), "may not read balance transactions").startswith("warning")


def test_each_connected_account_is_read(small: Clinic, sandbox: Street) -> None:
    small.configure("recon.toml", '[provider]\naccounts = ["acct_1A", "acct_1B"]\n')

    assert one(small.told(Section.PROVIDER), "of 3 of 3 accounts can be read").startswith("ok")
    asked = {each["account"] for each in sandbox.requests("GET", "/v1/events")}
    assert asked == {"", "acct_1A", "acct_1B"}


@pytest.mark.parametrize("held, level", [(True, "failure"), (False, "ok"), (None, None)])
def test_the_mode_of_the_key_is_that_of_the_database(
    clinic: Clinic, database: Database, *, held: bool | None, level: str | None
) -> None:
    with database.write() as connection:
        connection.execute(insert(tables.accounts).values(account="", livemode=held))

    told = [line for line in clinic.told(Section.PROVIDER) if line.find("The database holds") > 0]

    assert [line.partition(":")[0] for line in told] == ([level] if level else [])


@pytest.mark.parametrize(
    "ahead, level",
    [
        (timedelta(), "ok"),
        (timedelta(seconds=-20), "warning"),
        (timedelta(seconds=20), "warning"),
        (timedelta(hours=1), "failure"),
        (timedelta(hours=-1), "failure"),
    ],
)
def test_a_clock_that_is_off_is_seen(clinic: Clinic, ahead: timedelta, level: str) -> None:
    clinic.ahead = ahead

    told = clinic.told(Section.CLOCK)

    postgres = clinic.environ["RECON_DATABASE_URL"].startswith("postgres")
    assert levels(told) == {level}
    assert len(told) == (2 if postgres else 1)
    assert all(("ahead of" in line) is (ahead > timedelta()) for line in told if level != "ok")


def test_offline_nobody_is_asked(small: Clinic, sandbox: Street) -> None:
    found = small.examine(offline=True)

    assert sandbox.requests() == []
    assert "The provider was not asked (--offline)." in {remark.found for remark in found.remarks}
    assert "Slack was not asked (--offline)." in {remark.found for remark in found.remarks}


def test_what_is_not_the_provider_is_said(small: Clinic) -> None:
    with wire(answers("200 OK", "<h1>Sign in to the hotel's network</h1>")) as served:
        small.environ["RECON_STRIPE_BASE_URL"] = served.url
        told = small.told(Section.PROVIDER)

    assert "is not the provider's" in one(told, "The platform's own account broke off")


def test_who_does_not_answer_does_not_keep_the_others_waiting(small: Clinic, sandbox: Street) -> None:
    sandbox.fault("GET /v1/account", "hang_before", times=9)

    found = small.examine(seconds=2)

    late = [remark.section for remark in found.remarks if "within 2 s" in remark.found]
    assert late == [Section.PROVIDER, Section.CLOCK]
    assert not found.healthy
    assert {remark.section for remark in found.remarks} == set(Section)
