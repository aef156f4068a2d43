"""A server that forks its workers after it has used its tool: asks before, and on both sides.

python -m tests.guard_forker '{"url": ..., "street": ..., "now": ..., "busy": ...}' prints what each was told.
"""

import asyncio
import json
import os
import signal
import sys
import threading
from contextlib import ExitStack
from datetime import datetime
from typing import Any

from recon.doors.store import rooms
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.guard import RefundTool
from recon.model.records.guarded import Outcome
from recon.model.settings import ProviderSettings, Secret
from tests.sandboxes import STRIPE_KEY

LONGEST_SECONDS = 15  # After which a process that hangs is killed.


def main(told: dict[str, Any]) -> None:
    """Ask for orders 1 and 2, fork, and ask for these and others on both sides.

    The child asks last when its parent has closed the tool. busy: a thread of the parent writes at the fork.
    """
    signal.alarm(LONGEST_SECONDS)
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    settings = ProviderSettings(
        api_key=Secret(STRIPE_KEY), base_url=told["street"], retry_limit=0, requests_per_second=1000.0
    )
    database, now = Database.open(told["url"]), datetime.fromisoformat(told["now"])
    tool = RefundTool(database, Provider(settings), lambda: now)
    parent, child = [_plain(tool, "1"), _beside(tool, "2")], list[Outcome]()
    closed, closing = os.pipe()
    heard, telling = os.pipe()
    with ExitStack() as busy:
        if told.get("busy"):
            busy.enter_context(_writing(database))
        worker = os.fork()
    if not worker:
        signal.alarm(LONGEST_SECONDS)
        child += [_plain(tool, "1"), _beside(tool, "2"), _plain(tool, "3"), _beside(tool, "4")]
        os.write(telling, b"\n")
        os.read(closed, 1)
        child += [_plain(tool, "5"), _beside(tool, "6")]
        _tell(telling, child)
        os._exit(0)  # As one that is killed: what it wrote is kept all the same.
    os.read(heard, 1)
    parent += [_plain(tool, "1"), _beside(tool, "2"), _plain(tool, "7"), _beside(tool, "8")]
    tool.close()
    os.write(closing, b"\n")
    _, status = os.waitpid(worker, 0)
    os.close(telling)
    said = json.loads(os.read(heard, 100_000) or b"[]")
    assert os.waitstatus_to_exitcode(status) == 0, "the worker ended otherwise"
    answers = {"parent": [each.to_model() for each in parent], "child": said}
    print(json.dumps(answers))  # noqa: T201 -- what it is started for


def _plain(tool: RefundTool, order: str) -> Outcome:
    return tool.refund_order(order, "1.00", "usd", payment=f"pi_{order}")


def _beside(tool: RefundTool, order: str) -> Outcome:
    return asyncio.run(tool.arefund_order(order, "1.00", "usd", payment=f"pi_{order}"))


def _tell(telling: int, outcomes: list[Outcome]) -> None:
    os.write(telling, json.dumps([each.to_model() for each in outcomes]).encode())


def _writing(database: Database) -> ExitStack:
    """Return once a thread writes, which goes on until the stack is left."""
    rooms._FORK_SECONDS = 0.1  # noqa: SLF001 -- no thread gives in here
    inside, leave = threading.Event(), threading.Event()

    def write() -> None:
        with database.write():
            inside.set()
            leave.wait(LONGEST_SECONDS)

    thread = threading.Thread(target=write)
    thread.start()
    inside.wait(LONGEST_SECONDS)
    stack = ExitStack()
    stack.callback(thread.join)
    stack.callback(leave.set)
    return stack


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
