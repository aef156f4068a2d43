"""An agent's process: opens the books, asks for refunds at once, and prints what each call was told.

python -m tests.guard_caller '{"url": ..., "street": ..., "now": ..., "calls": [{...}, ...]}'
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Any

from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.guard import RefundTool
from recon.model.settings import GuardSettings, ProviderSettings, Secret
from tests.sandboxes import STRIPE_KEY


def main(told: dict[str, Any]) -> None:
    """Ask for everything, each call in a thread of its own."""
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    settings = replace(GuardSettings(), **told.get("settings", {}))
    provider = ProviderSettings(
        api_key=Secret(STRIPE_KEY),
        base_url=told["street"],
        read_timeout_seconds=settings.send_timeout_seconds,
        retry_limit=0,
        requests_per_second=1000.0,
    )
    now = datetime.fromisoformat(told["now"])
    with Database.open(told["url"]) as database:
        tool = RefundTool(database, Provider(provider), lambda: now, settings=settings)
        with ThreadPoolExecutor(len(told["calls"])) as threads:
            outcomes = list(threads.map(lambda each: tool.refund_order(**each), told["calls"]))
        print(json.dumps([each.to_model() for each in outcomes]))  # noqa: T201 -- what it is started for
        tool.close()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
