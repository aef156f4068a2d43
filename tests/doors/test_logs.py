import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from recon.doors import logs
from recon.model.settings import ProviderSettings, Secret, Settings

SETTINGS = Settings(
    database_url=Secret("postgresql://recon:hidden1234@db/recon"),
    provider=ProviderSettings(api_key=Secret("odd-hidden1234")),
)


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """What was logged; logging is as before afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    written = io.StringIO()
    logs.configure(SETTINGS, stream=written)
    yield written
    structlog.reset_defaults()
    root.handlers[:], root.level = handlers, level


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_json_with_its_level_time_and_context(stream: io.StringIO) -> None:
    with structlog.contextvars.bound_contextvars(run_id="r1"):
        structlog.get_logger().info("run", counts={"intents": 3}, complete=True)

    (line,) = lines(stream)
    assert (line["event"], line["level"], line["run_id"]) == ("run", "info", "r1")
    assert (line["counts"], line["complete"]) == ({"intents": 3}, True)
    assert line["timestamp"].endswith("Z")


@pytest.mark.parametrize(
    "secret",
    [
        "odd-hidden1234",
        "sk_live_hidden1234",
        "rk_test_hidden1234",
        "xoxb-1-hidden1234",
        "xapp-hidden1234",
        "whsec_hidden1234",
        "postgresql://u:hidden1234@db/x",
        "postgresql://recon:hidden1234@db/recon",
    ],
)
def test_no_secret_is_logged_however_deep(stream: io.StringIO, secret: str) -> None:
    log = structlog.get_logger()
    log.error("failed", reason=f"with {secret}!", deep={"list": [secret, (secret,)]}, odd=ValueError(secret))
    try:
        int(secret)
    except ValueError:
        log.exception("failed")
    logging.getLogger("library").error("it said %s", secret)

    assert len(lines(stream)) == 3
    assert "hidden1234" not in stream.getvalue()
    assert "***" in stream.getvalue()


def test_libraries_log_json_from_warnings_on(stream: io.StringIO) -> None:
    logging.getLogger("library").info("quiet")
    logging.getLogger("library").warning("loud")

    assert [line["event"] for line in lines(stream)] == ["loud"]
