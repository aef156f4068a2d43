"""A server that forks its workers, each of which has the tool that its parent used before."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from sqlalchemy import func, select

from recon.doors.store.engines import Database
from recon.model.guarded import calls
from recon.model.tables import intents
from tests.guards import LATE
from tests.sandboxes import Street

ORDERS = 8
# What the log says of each call of a worker that may not use its file.
REFUSED = re.compile(r"The books of refund_order:\S+ cannot be read .*while this process was forked, .*\n")


def forked(url: str, sandbox: Street, *, busy: bool = False) -> dict[str, list[str]]:
    """Return what the calls of a server and of its worker were told."""
    sandbox.set_time(LATE.isoformat())
    for number in range(1, ORDERS + 1):
        sandbox.payment(f"pi_{number}", 100)
    told = {"url": url, "street": sandbox.url, "now": LATE.isoformat(), "busy": busy}
    asked = [sys.executable, "-X", "dev", "-m", "tests.guard_forker", json.dumps(told)]
    ended = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=100)
    assert (ended.returncode, REFUSED.sub("", ended.stderr)) == (0, "")
    found: dict[str, list[dict[str, Any]]] = json.loads(ended.stdout)
    return {side: [each["status"] for each in outcomes] for side, outcomes in found.items()}


def kept(url: str) -> tuple[dict[str, int], int]:
    """Return how many intents the books have by their status, and how many calls."""
    query = select(intents.c.status, func.count()).group_by(intents.c.status)
    with Database.open(url) as database, database.read() as connection:
        by_status = {row[0]: row[1] for row in connection.execute(query)}
        return by_status, connection.scalar(select(func.count()).select_from(calls)) or 0


def test_a_worker_that_was_forked_after_the_first_call_refunds_once_as_its_parent_does(
    database_url: str, sandbox: Street
) -> None:
    """It goes on when its parent has closed the tool, and nothing that it wrote is lost."""
    told = forked(database_url, sandbox)

    assert told == {
        "parent": ["done", "done", "already_done", "already_done", "done", "done"],
        "child": ["already_done", "already_done", "done", "done", "done", "done"],
    }
    assert len(sandbox.requests("POST", "/v1/refunds")) == ORDERS
    assert kept(database_url) == ({"done": ORDERS}, 12)


@pytest.mark.parametrize("database_url", [pytest.param("sqlite")], indirect=True)
def test_a_worker_that_was_forked_while_a_file_was_written_sends_nothing(
    database_url: str, sandbox: Street
) -> None:
    """Its locks would be worth nothing. The parent goes on."""
    told = forked(database_url, sandbox, busy=True)

    assert told == {
        "parent": ["done", "done", "already_done", "already_done", "done", "done"],
        "child": ["rejected"] * 6,
    }
    assert len(sandbox.requests("POST", "/v1/refunds")) == 4
    assert kept(database_url) == ({"done": 4}, 6)


@pytest.mark.postgres
@pytest.mark.parametrize("database_url", [pytest.param("postgres")], indirect=True)
def test_a_worker_that_was_forked_while_a_server_was_written_to_has_lines_of_its_own(
    database_url: str, sandbox: Street
) -> None:
    told = forked(database_url, sandbox, busy=True)

    assert told["child"] == ["already_done", "already_done", "done", "done", "done", "done"]
    assert kept(database_url) == ({"done": ORDERS}, 12)
