"""What tests of jobs share: a sandbox in the environment, what was logged, who hears the heartbeat."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from tests.sandboxes import SLACK_TOKEN, STRIPE_KEY, Street
from tests.wires import Wire, answers, wire

Log = Callable[[], list[dict[str, Any]]]
Configure = Callable[[str], None]


@pytest.fixture(autouse=True)
def no_log_is_left_behind() -> Iterator[None]:
    """Let no test log to what another one captured."""
    yield
    structlog.reset_defaults()


@pytest.fixture
def log(capfd: pytest.CaptureFixture[str]) -> Log:
    """Return what was logged since it was last asked."""
    return lambda: [json.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]


@pytest.fixture
def street(
    sandbox: Street,
    database_url: str,
    configure: Configure,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Street:
    """A sandbox with an orphan of an hour ago, and an environment that names it."""
    monkeypatch.chdir(tmp_path)
    configure("")
    monkeypatch.setenv("RECON_DATABASE_URL", database_url)
    monkeypatch.setenv("STRIPE_API_KEY", STRIPE_KEY)
    monkeypatch.setenv("RECON_STRIPE_BASE_URL", sandbox.url)
    monkeypatch.setenv("SLACK_BOT_TOKEN", SLACK_TOKEN)
    monkeypatch.setenv("RECON_SLACK_BASE_URL", sandbox.slack_url)
    sandbox.control("slack", rate_limit=False)
    sandbox.payment("pi_1", 5000)
    sandbox.control("refunds", payment="pi_1", amount=4900)
    sandbox.advance(3600)
    return sandbox


@pytest.fixture
def configure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Configure:
    """Make this text the configuration, of a provider that lets us hurry."""

    def put(text: str) -> None:
        (tmp_path / "own.toml").write_text(f"[provider]\nrequests_per_second = 1000\n{text}")
        monkeypatch.setenv("RECON_CONFIG", str(tmp_path / "own.toml"))

    return put


@pytest.fixture
def heart(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """What listens for the heartbeat."""
    with wire(answers("200 OK", "OK")) as served:
        monkeypatch.setenv("RECON_HEARTBEAT_URL", f"{served.url}/ping")
        yield served
