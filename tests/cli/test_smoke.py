"""`recon smoke` as people and CI start it: against the sandbox, and against a provider's test account."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from typer.testing import CliRunner

from recon.cli.app import app
from recon.cli.smoking.scenarios import SCENARIOS
from recon.model.errors import ConfigurationError
from tests.sandboxes import Street

ROOT = Path(__file__).parents[2]
TOOLS = "tests.cli.smoking.tools"
RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """Whatever a run tells its tool is forgotten afterwards."""
    with mock.patch.dict(os.environ):
        yield


def smoke(*options: str, patience: int = 1) -> tuple[int, str]:
    """Run it in this process; its exit code and what it printed."""
    done = RUNNER.invoke(app, ["smoke", "--patience", str(patience), *options])
    if isinstance(done.exception, ConfigurationError):
        raise done.exception
    return done.exit_code, done.stdout


def read(told: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told)
    return found


def verdicts(told: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["verdict"] for each in told["scenarios"]}


def test_the_guarded_tool_refunds_each_order_once() -> None:
    """As a person starts it, in a process; it leaves nothing behind and needs no configuration."""
    done = subprocess.run(
        [sys.executable, "-m", "recon.cli.main", "smoke"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    lines = done.stdout.splitlines()

    assert (done.returncode, done.stderr) == (0, "")
    assert [each.split()[0] for each in lines[: len(SCENARIOS) + 2]] == ["ok"] * (len(SCENARIOS) + 2)
    assert lines[len(SCENARIOS)] == "ok       recon diff of 8 intents and 8 refunds: no mismatch"
    assert lines[-1].startswith(
        "Each of 8 orders was refunded once: recon.guard.RefundTool against the sandbox"
    )


def test_a_tool_of_ones_own_that_goes_through_the_guard_passes_and_has_a_switch() -> None:
    code, told = smoke("--tool", f"{TOOLS}:guarded", "--status", f"{TOOLS}:status", "--format", "json")

    assert (code, read(told)["ok"]) == (0, True)
    assert set(verdicts(read(told)).values()) == {"ok"}
    assert read(told)["diff"] == {"verdict": "reconciled", "mismatches": []}


def test_a_naive_tool_fails_and_is_told_which_keys_and_what_to_do() -> None:
    code, told = smoke("--tool", f"{TOOLS}:naive", "--format", "json")

    scenarios = {each["name"]: each for each in read(told)["scenarios"]}
    dropped = scenarios["dropped"]
    assert code == 1
    assert verdicts(read(told)) == {
        **dict.fromkeys(("answered", "dropped", "error", "silence", "together", "cancelled"), "FAIL"),
        "limited": "ok",
        "switched-off": "skipped",
    }
    assert scenarios["switched-off"]["why"] == (
        "no call through recon.guard is in the books that RECON_DATABASE_URL names here, and so there is no "
        "kill switch to throw"
    )
    assert [len(each["refunds"]) for each in scenarios.values()] == [2, 2, 2, 2, 1, 3, 2, 0]
    assert dropped["why"].startswith(f"Expected 1 refund, found 2: {dropped['refunds'][0]} of 1.02 USD and ")
    assert "make the key of the order, the same for every attempt" in dropped["why"]
    assert dropped["requests"][0].endswith(f"made {dropped['refunds'][0]}; it met the fault drop_after")
    assert dropped["calls"][0].startswith("call 1: raised APIConnectionError")
    assert {each["kind"] for each in read(told)["diff"]["mismatches"]} == {"duplicate"}


def test_a_tool_that_sends_nothing_is_told_once_what_it_must_know() -> None:
    code, told = smoke("--tool", f"{TOOLS}:nothing")

    assert code == 1
    assert told.count("Expected 1 refund, found none: no request for one reached the provider.") == 1
    assert told.count("RECON_SMOKE_PAYMENT says it at each call") == 1
    assert told.count("RECON_STRIPE_BASE_URL") == 1


@pytest.fixture
def account(sandbox: Street) -> Street:
    """A provider's test account, which answers as it should: a relay loses the answers."""
    sandbox.payment("pi_test", 10_000, "eur")
    os.environ.update(STRIPE_API_KEY="sk_test_ours", RECON_STRIPE_BASE_URL=sandbox.url)
    return sandbox


def test_at_a_provider_a_relay_loses_the_answers(account: Street) -> None:
    code, told = smoke("--provider", "--payment", "pi_test", "--format", "json", patience=3)

    scenarios = read(told)["scenarios"]
    assert (code, set(verdicts(read(told)).values())) == (0, {"ok"})
    met = {each["name"]: each["requests"][0].partition("it met the fault ")[2] for each in scenarios}
    assert met == {each.name: each.fault or "" for each in SCENARIOS}
    refunds = [each["body"]["amount"] for each in told_of(account) if each["status"] == 200]
    assert refunds == [101, 102, 103, 104, 105, 106, 107, 108]
    assert {each["fault"] for each in account.requests()} == {None}


def told_of(account: Street) -> list[dict[str, Any]]:
    """Every answer to a request for a refund."""
    return [each["answer"] for each in account.requests("POST", "/v1/refunds")]


def test_a_naive_tool_fails_at_a_provider_too(account: Street) -> None:
    code, told = smoke("--provider", "--payment", "pi_test", "--tool", f"{TOOLS}:naive")

    assert code == 1
    assert "FAIL     the connection is dropped after the refund" in told
    assert "it met the fault drop_after\n" in told
    assert (
        "6 of 7 scenarios failed: tests.cli.smoking.tools:naive against the provider's test account" in told
    )
    assert "sk_test_ours" not in told


@pytest.mark.parametrize(
    "key, found",
    [("sk_live_x", "a live key"), ("rk_live_x", "a live key"), ("x", "something else"), ("", "none")],
)
def test_no_key_but_a_test_accounts_is_used(account: Street, key: str, found: str) -> None:
    os.environ["STRIPE_API_KEY"] = key
    with pytest.raises(ConfigurationError, match=f"to be a test key .* found {found}: nothing was sent"):
        smoke("--provider", "--payment", "pi_test")

    assert account.requests() == []


@pytest.mark.parametrize(
    "options, why",
    [
        (("--provider",), "--provider needs --payment: a captured payment of the test account to refund."),
        (("--provider", "--payment", "pi_0"), "found pi_0: No such payment_intent: 'pi_0'."),
        (("--payment", "pi_test"), "say --provider too"),
        (("--status", f"{TOOLS}:status"), "say --tool too"),
        (("--tool", "nowhere"), "--tool must be MODULE:CALLABLE"),
    ],
)
def test_options_that_do_not_fit_are_refused(account: Street, options: tuple[str, ...], why: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        smoke(*options)

    assert why in str(caught.value)
    assert account.requests("POST") == []
