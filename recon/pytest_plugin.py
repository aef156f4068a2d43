"""The pytest plugin: whether a refund tool refunds once, in the tests of whoever wrote the tool.

It comes with the `sandbox` extra, and loads nothing but this page until a test asks for one of its fixtures:

    @pytest.mark.recon_faults  # Once for each of FAULTS; recon_faults("drop_after") for that one alone.
    def test_a_customer_is_refunded_once(recon_sandbox, recon_environment, assert_one_refund):
        recon_sandbox.payment("pi_1", 10_000, "usd", order="8812")
        for _ in range(2):  # The answer got lost: the agent asks again.
            with contextlib.suppress(Exception):
                my_refund_tool("8812", "49.00")
        assert_one_refund("8812")

Nothing leaves this machine, and each test begins with an empty provider and empty books.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from recon.cli.smoking.hand import SandboxHand
    from recon.doors.store.engines import Database
    from recon.guard import RefundTool
    from recon.sandbox.server import Sandbox

MARKER = "recon_faults"
_OPTIONS = {"times", "after_s"}
# What loses an answer after the refund, and a rate limit: whatever asks again must come to one refund.
FAULTS = ("drop_after", "hang_after", "cut_body_after", "html_200_after", "500_after", "429")
_AFTER_S = {"hang_after": 2.0}  # Real seconds: longer than recon_tool waits, and no test's whole time.


def pytest_configure(config: pytest.Config) -> None:
    """Say what the marker is."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(*faults, times=1, after_s=None): run the test once for each fault that the first requests "
        f"for a refund meet; without names, for each of {', '.join(FAULTS)}.",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a marked test once for each fault."""
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None:
        return
    if "recon_sandbox" not in metafunc.fixturenames:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid} is marked {MARKER} and asks for no fixture that meets them: "
            "expected recon_sandbox, recon_tool, recon_environment or assert_one_refund."
        )
    strange = ", ".join(sorted(set(marker.kwargs) - _OPTIONS))
    if strange:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: expected {MARKER}(*faults, times=1, after_s=None), "
            f"found {strange}."
        )
    faults = [(each, marker.kwargs) for each in marker.args or FAULTS]
    metafunc.parametrize("recon_sandbox", faults, indirect=True, ids=[each for each, _ in faults])


@pytest.fixture(scope="session")
def _recon_server() -> "Iterator[Sandbox]":
    """One local provider for the whole process."""
    from recon.cli import extras  # noqa: PLC0415 - loaded when a test asks for it

    with extras.needed("The fixture recon_sandbox", "sandbox"):
        from recon.sandbox.server import Sandbox  # noqa: PLC0415 - as above
    with Sandbox.start() as running:
        yield running


@pytest.fixture
def recon_sandbox(request: pytest.FixtureRequest, _recon_server: "Sandbox") -> "SandboxHand":
    """An empty local provider: url, payment(), fault(), refunds(), requests(), advance().

    Under the marker recon_faults, the first requests for a refund meet a fault.
    """
    from recon.cli.smoking.hand import SandboxHand  # noqa: PLC0415 - loaded when a test asks for it

    _recon_server.reset()
    hand = SandboxHand(_recon_server.url)
    fault, more = getattr(request, "param", (None, {}))
    if fault is not None:
        hand.fault(fault, **({"after_s": _AFTER_S.get(fault)} | more))
    return hand


@pytest.fixture
def _recon_books(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[tuple[Path, Database]]":
    """Empty books, gone with the test's folder."""
    scratch = _scratch()
    path = tmp_path_factory.mktemp("recon") / "recon.db"
    with scratch.books(path) as database:
        yield path, database


@pytest.fixture
def recon_environment(
    recon_sandbox: "SandboxHand", _recon_books: "tuple[Path, Database]", monkeypatch: pytest.MonkeyPatch
) -> Mapping[str, str]:
    """The variables under which a tool of your own finds the local provider and empty books; they are set.

    STRIPE_API_KEY, RECON_STRIPE_BASE_URL, RECON_DATABASE_URL, and NO_PROXY. A tool reads them when it is
    made: make it in the test, or in a fixture that asks for this one.
    """
    if "_live_" in str(getattr(sys.modules.get("stripe"), "api_key", "")):
        pytest.fail(
            "Expected no live key in a test, found one in stripe.api_key: a module took it as it was "
            "imported. Let the tool read STRIPE_API_KEY when it is made, and run tests without a live key."
        )
    scratch = _scratch()
    told: Mapping[str, str] = scratch.environment(
        recon_sandbox.url, _recon_books[0], proxies=os.environ.get("NO_PROXY", "")
    )
    for name, value in told.items():
        monkeypatch.delenv(f"{name}_FILE", raising=False)
        monkeypatch.setenv(name, value)
    return told


@pytest.fixture
def recon_tool(recon_sandbox: "SandboxHand", _recon_books: "tuple[Path, Database]") -> "Iterator[RefundTool]":
    """The guarded tool on empty books, at the local provider. A call of it takes three seconds at most."""
    with _scratch().tool(_recon_books[1], recon_sandbox.url) as tool:
        yield tool


@pytest.fixture
def assert_one_refund(recon_sandbox: "SandboxHand") -> Callable[..., None]:
    """A function of an order's id or a payment's, which fails unless it has exactly one live refund.

    Without a name it looks at all payments together; with amount_minor=4900 the refund must be of that.

    What it says then: the refunds, each request with its key, its answer and its fault, and what to do.
    """

    def check(order_or_payment: str | None = None, *, amount_minor: int | None = None) -> None:
        __tracebackhide__ = True
        wrong = recon_sandbox.wrong(order_or_payment, amount_minor=amount_minor)
        if wrong is not None:
            pytest.fail(wrong)

    return check


def _scratch() -> ModuleType:
    """Return what makes books, tools and environments for a trial."""
    from recon.cli.smoking import scratch  # noqa: PLC0415 - loaded when a test asks for it

    return scratch
