"""The pytest plugin in a project of somebody else's: a good tool passes, a naive one is told what it did."""

import subprocess
import sys
from pathlib import Path

from recon import pytest_plugin

TOOLS = """
import os
import stripe


def client():
    return stripe.StripeClient(
        os.environ["STRIPE_API_KEY"], base_addresses={"api": os.environ["RECON_STRIPE_BASE_URL"]}
    )


def naive(order_id, amount):
    return client().v1.refunds.create({"payment_intent": "pi_1", "amount": amount})


def by_order(order_id, amount):
    return client().v1.refunds.create(
        {"payment_intent": "pi_1", "amount": amount}, {"idempotency_key": f"refund-{order_id}"}
    )
"""
TESTS = """
import contextlib
import os

import pytest

import shop


def asked_twice(tool):
    for _ in range(2):
        with contextlib.suppress(Exception):
            tool("8812", 4900)


@pytest.mark.recon_faults
def test_good(recon_sandbox, recon_environment, assert_one_refund):
    recon_sandbox.payment(order="8812")
    asked_twice(shop.by_order)
    assert_one_refund("8812")
    assert_one_refund("pi_1")


@pytest.mark.recon_faults("drop_after")
def test_naive(recon_environment, recon_sandbox, assert_one_refund):
    recon_sandbox.payment("pi_1", 10_000, order="8812")
    asked_twice(shop.naive)
    assert_one_refund("8812")


@pytest.mark.recon_faults("hang_after", "500_after", times=2)
def test_guarded(recon_tool, recon_sandbox, assert_one_refund):
    recon_sandbox.payment("pi_1")
    first, second = (recon_tool.refund_order("8812", "49.00", "usd", "pi_1") for _ in range(2))
    assert {"done", "already_done"} >= {first.status, second.status}
    assert_one_refund("pi_1")
    assert recon_sandbox.refunds("pi_1")[0].intent_key == first.intent_key
    assert recon_tool.check_refund_status("8812").refund_id == recon_sandbox.refunds()[0].id


def test_empty_at_first(recon_sandbox, assert_one_refund, recon_environment):
    assert (recon_sandbox.requests(), recon_sandbox.refunds()) == ((), ())
    recon_sandbox.payment("pi_1")
    with pytest.raises(pytest.fail.Exception, match="found none: no request for one reached the provider"):
        assert_one_refund("pi_1")
    with pytest.raises(ValueError, match="Expected an order or payment that .* made, found '8812'"):
        assert_one_refund("8812")
    assert recon_environment.items() <= os.environ.items()


def test_a_day_later(recon_sandbox, recon_environment, assert_one_refund):
    recon_sandbox.payment("pi_1")
    recon_sandbox.payment("pi_2", order="another")
    shop.by_order("8812", 4900)
    with pytest.raises(pytest.fail.Exception, match="found none: no request for one reached the provider"):
        assert_one_refund("another")
    recon_sandbox.advance(25 * 3600)
    shop.by_order("8812", 4900)
    with pytest.raises(pytest.fail.Exception, match="The provider had forgotten their key meanwhile"):
        assert_one_refund("pi_1")


def test_amounts_and_all_payments(recon_sandbox, recon_environment, assert_one_refund):
    recon_sandbox.payment("pi_1")
    recon_sandbox.payment("pi_2")
    shop.by_order("8812", 4)
    assert_one_refund("pi_1", amount_minor=4)
    assert_one_refund()
    with pytest.raises(pytest.fail.Exception, match="Expected a refund of 4900 minor units, found one of 4"):
        assert_one_refund("pi_1", amount_minor=4900)
    shop.client().v1.refunds.create({"payment_intent": "pi_2", "amount": 4})
    with pytest.raises(pytest.fail.Exception, match="Expected 1 refund, found 2"):
        assert_one_refund()


def test_faults(recon_sandbox, recon_environment):
    recon_sandbox.payment("pi_1")
    recon_sandbox.fault("500_before", times=9)
    recon_sandbox.calm()
    shop.by_order("8812", 4900)
    with pytest.raises(Exception, match='expected "fault" to be one of drop_before'):
        recon_sandbox.fault("drop_afterwards")
"""
UNUSED = """
import sys


def test_light():
    heavy = {"alembic", "pandas", "recon.cli", "recon.guard", "sqlalchemy", "starlette", "stripe", "uvicorn"}
    assert "recon.pytest_plugin" in sys.modules
    assert heavy & set(sys.modules) == set()
"""
WRONG = """
import pytest


@pytest.mark.recon_faults
def test_without_a_fixture():
    pass
"""


# What else is installed here, and takes its time to load.
OTHERS = ("anyio", "asyncio", "cacheprovider", "hypothesispytest", "langsmith_plugin", "timeout", "xdist")


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run somebody else's tests, who has the package installed."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", *(f"-pno:{each}" for each in OTHERS), "--strict-markers", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_good_tools_pass_and_a_naive_one_is_told_what_it_did(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(TOOLS)
    (tmp_path / "test_shop.py").write_text(TESTS)
    told = run(tmp_path, "-v", "-rA").stdout

    for fault in pytest_plugin.FAULTS:
        assert f"test_good[{fault}] PASSED" in told
    assert "= 1 failed, 12 passed in" in told
    failure = told.partition("test_naive[drop_after] __")[2].partition("= PASSES =")[0]
    lines = [each for each in failure.splitlines() if each.startswith("E ")]
    assert lines[0].startswith("E       Failed: Expected 1 refund, found 2: re_")
    assert "Each attempt had a key of its own: make the key of the order" in lines[0]
    assert [each.split()[1:4] for each in lines[1:]] == [["request", "1:", "key"], ["request", "2:", "key"]]
    assert lines[1].endswith("; it met the fault drop_after")
    assert '    assert_one_refund("8812")' in failure
    assert "pytest_plugin.py" not in failure


def test_it_loads_nothing_heavy_for_whoever_does_not_use_it(tmp_path: Path) -> None:
    (tmp_path / "test_unused.py").write_text(UNUSED)
    done = run(tmp_path)

    assert done.returncode == 0, done.stdout


def test_a_marker_without_a_fixture_that_meets_faults_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test_wrong.py").write_text(WRONG)
    told = run(tmp_path)

    assert (
        "is marked recon_faults and asks for no fixture that meets them: expected recon_sandbox"
        in told.stdout
    )


LIVE = """
import stripe

stripe.api_key = "sk_live_secret"


def test_live(recon_environment):
    pass
"""
KEYWORD = """
import pytest


@pytest.mark.recon_faults("429", time=2)
def test_keyword(recon_sandbox):
    pass
"""


def test_a_live_key_that_a_module_took_and_an_unknown_option_are_refused(tmp_path: Path) -> None:
    (tmp_path / "test_live.py").write_text(LIVE)
    live = run(tmp_path).stdout
    (tmp_path / "test_keyword.py").write_text(KEYWORD)
    keyword = run(tmp_path).stdout

    assert "Expected no live key in a test, found one in stripe.api_key" in live
    assert "1 error" in live
    assert "expected recon_faults(*faults, times=1, after_s=None), found time." in keyword
