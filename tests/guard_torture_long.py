"""Many agents refund the same orders among faults, are stopped and killed; then the books are counted.

    python -m tests.guard_torture_long --intents 200 --processes 8 --seed 1 [--postgres] [--sabotage no_guard]

Prints one JSON line, and exits with 1 where an order was refunded twice, or was told what is not so. With
--sabotage no_guard each attempt has a key of its own, as tools do that were not written with care; then 0 is
said only if the count finds it out. A seed makes the same orders and faults again, in another order of time.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import signal
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from multiprocessing.context import SpawnProcess
from pathlib import Path
from random import Random

from recon.doors import intents
from recon.doors.store import migrations
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.guard import RefundTool
from recon.model.errors import ProviderRefused, ProviderUnavailable
from recon.model.records.words import DEAD, AccountId
from recon.model.settings import GuardSettings, ProviderSettings, Secret
from recon.sandbox.server import Sandbox
from tests import conftest
from tests.builders import an_intent
from tests.databases import copied, served
from tests.sandboxes import STRIPE_KEY, Street

# A tenth of the shipped times, so that leases lapse and proofs ripen within seconds.
HASTE = GuardSettings(
    deadline_seconds=2.0,
    send_timeout_seconds=0.7,
    lease=timedelta(seconds=4),
    absent_after=timedelta(seconds=2),
)
FAULTS = (
    "drop_before",
    "drop_after",
    "500_before",
    "500_after",
    "cut_body_after",
    "html_200_after",
    "429_lock",
)
SLOW_FAULTS = ("hang_before", "hang_after", "latency")
PASSES = 3  # Calls of each process for each order: an agent, its framework, and a person who asks again.
STOPS = 0.1  # How often, of five times a second, a process is stopped while none is.
UNIT = 1000  # Of each refund; two orders share a payment that holds three.
NO_GUARD = "no_guard"


@dataclass(frozen=True, slots=True)
class Job:
    """What one process is told."""

    url: str
    street: str
    orders: int
    seed: int
    sabotage: str | None


@dataclass(frozen=True, slots=True)
class Count:
    """What was found. sent: requests that could have moved money. lies: orders told what is not so."""

    intents: int
    sent: int
    doubles: int
    lies: int
    told: dict[str, int]


def main() -> int:
    """Torture, count, and return the exit code."""
    told = _arguments()
    conftest.forget_this_machine()
    with ExitStack() as stack:
        url = _database(stack, postgres=told.postgres)
        street = Street(stack.enter_context(Sandbox.start()))
        for number in range((told.intents + 1) // 2):
            street.payment(f"pi_{number}", 3 * UNIT)
        job = Job(url, street.url, told.intents, told.seed, told.sabotage)
        began = time.monotonic()
        killed = _torment(job, street, told.processes)
        found = _count(job, street)
        took = round(time.monotonic() - began, 1)
    print(json.dumps(asdict(found) | {"killed": killed, "seconds": took}))  # noqa: T201 -- what it is for
    caught = found.doubles > 0 or found.lies > 0
    return int(caught if told.sabotage is None else not caught)


def work(job: Job) -> None:
    """Ask for every order, a few times, in an order of one's own."""
    random = Random(job.seed)
    names = [number for number in range(job.orders) for _ in range(PASSES)]
    random.shuffle(names)
    provider = _provider(job.street)
    with Database.open(job.url) as database:
        tool = RefundTool(database, provider, settings=HASTE)
        for number in names:
            if job.sabotage == NO_GUARD:
                _careless(provider, number, random)
            else:
                tool.refund_order(f"o{number}", "10.00", "usd", f"pi_{number // 2}")


def _careless(provider: Provider, number: int, random: Random) -> None:
    """Refund as tools do that take an error for a failure, and a call's id for a key."""
    intent = an_intent(key=f"o{number}", payment=f"pi_{number // 2}", amount_minor=UNIT)
    for _ in range(2):
        try:
            provider.create(intent, f"call_{random.getrandbits(64):x}")
        except ProviderUnavailable:  # It is away: once more.
            continue
        except ProviderRefused:  # Nothing is left.
            return
        return


def _torment(job: Job, street: Street, processes: int) -> int:
    """Let processes work among faults; kill every third a while after its start, and start another for it."""
    random, spawn = Random(job.seed), multiprocessing.get_context("spawn")
    waiting = [replace(job, seed=job.seed * 1000 + number) for number in range(processes)]
    running: dict[SpawnProcess, float | None] = {}
    stopped: dict[SpawnProcess, float] = {}
    killed = 0
    while waiting or running:
        while waiting and len(running) < processes:
            process = spawn.Process(target=work, args=(waiting.pop(),))
            process.start()
            # Those that follow a killed one live.
            dies = killed + sum(at is not None for at in running.values()) < processes
            running[process] = time.monotonic() + random.uniform(2, 12) if dies else None
        if len(street.see("faults")) < processes // 2:  # About every other request meets one.
            fault = random.choice(FAULTS if random.random() < 0.8 else SLOW_FAULTS)
            place = random.choice(["POST /v1/refunds", "POST /v1/refunds", "GET /v1/refunds"])
            street.fault(place, fault, after_s=1)
        _stop_one(running, stopped, random)
        time.sleep(0.2)
        for process, at in list(running.items()):
            if at is not None and time.monotonic() > at and process.is_alive():
                process.kill()
                killed += 1
                waiting.append(replace(job, seed=job.seed * 1000 + 500 + killed))
            if not process.is_alive():
                process.join()
                del running[process]
    return killed


def _stop_one(running: Iterable[SpawnProcess], stopped: dict[SpawnProcess, float], random: Random) -> None:
    """Stop a process now and then for longer than its lease, as a machine that sleeps; let others go on."""
    now = time.monotonic()
    for process in [each for each, until in stopped.items() if now > until or not each.is_alive()]:
        del stopped[process]
        if process.pid is not None and process.is_alive():
            os.kill(process.pid, signal.SIGCONT)
    free = [each for each in running if each not in stopped and each.is_alive()]
    if free and not stopped and random.random() < STOPS:
        chosen = random.choice(free)
        assert chosen.pid is not None, "it was started"
        os.kill(chosen.pid, signal.SIGSTOP)
        stopped[chosen] = now + HASTE.lease.total_seconds() + 1


def _count(job: Job, street: Street) -> Count:
    """Let the weather clear, ask for everything once more, and compare what is told with what is so."""
    urllib.request.urlopen(urllib.request.Request(f"{street.url}/_sandbox/faults", method="DELETE")).close()  # noqa: S310 -- loopback
    provider = _provider(street.url)
    doubles, lies, last = 0, 0, dict[int, str]()
    with Database.open(job.url) as database:
        tool = RefundTool(database, provider, settings=HASTE)
        if job.sabotage is None:  # Twice: one that nobody knows of holds up the other of its payment.
            for number in [*range(job.orders), *range(job.orders)]:
                last[number] = _settled(tool, number)
        for number in range(job.orders):
            key = _key(database, number) if job.sabotage is None else f"o{number}"
            listed = provider.find(f"pi_{number // 2}", AccountId(""))
            made = [each for each in listed if each.intent_key == key and each.status not in DEAD]
            doubles += len(made) > 1
            lies += job.sabotage is None and (last[number] == "already_done") != (len(made) == 1)
        tool._threads.shutdown()  # noqa: SLF001 -- the database is closed here
    sent = len(street.requests("POST", "/v1/refunds"))
    return Count(job.orders, sent, doubles, lies, dict(Counter(last.values())))


def _settled(tool: RefundTool, number: int) -> str:
    """Return what an order comes to when it is asked for until it is settled."""
    status = ""
    for _ in range(10):
        status = str(tool.refund_order(f"o{number}", "10.00", "usd", f"pi_{number // 2}").status)
        if status in {"done", "already_done"}:
            return "already_done"
        time.sleep(0.5)
    return status


def _key(database: Database, number: int) -> str:
    with database.read() as connection:
        (intent,) = intents.of_order(connection, AccountId(""), f"o{number}")
    return intent.key


def _provider(street: str) -> Provider:
    settings = ProviderSettings(
        api_key=Secret(STRIPE_KEY),
        base_url=street,
        read_timeout_seconds=HASTE.send_timeout_seconds,
        connect_timeout_seconds=1.0,
        retry_limit=0,
        requests_per_second=1000.0,
    )
    return Provider(settings)


def _database(stack: ExitStack, *, postgres: bool) -> str:
    if postgres:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm")))
        server = served(home / "postgres")
        stack.callback(server.cleanup)
        return stack.enter_context(copied(server))
    folder = Path(tempfile.mkdtemp())
    stack.callback(shutil.rmtree, folder)
    url = f"sqlite:///{folder / 'recon.db'}"
    with Database.open(url) as database:
        migrations.upgrade(database)
    return url


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--intents", type=int, default=200)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=int(datetime.now(UTC).timestamp()))
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--sabotage", choices=[NO_GUARD])
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
