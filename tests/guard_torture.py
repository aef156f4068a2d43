"""The storm of the guard's torture: who asks for which refund how often, in what weather, and who dies of it.

A seed makes the same orders, turns of each process, ways of each call, faults, deaths and stops again, in
another order of time. Used by tests/guard_torture_long.py, which counts afterwards.
"""

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from multiprocessing.context import SpawnProcess
from multiprocessing.sharedctypes import Synchronized
from random import Random
from typing import Any

from recon import hourly
from recon.doors import intents
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.guard import RefundTool
from recon.model.errors import ProviderRefused, ProviderUnavailable, ReconError
from recon.model.records.words import AccountId, IntentStatus, RefundId
from recon.model.settings import (
    GuardSettings,
    LeaseSettings,
    ProviderSettings,
    Secret,
    Settings,
    SlackSettings,
)
from recon.sandbox import faults
from tests.builders import an_intent
from tests.sandboxes import STRIPE_KEY, Street

# A tenth of the shipped times, so that leases lapse and proofs ripen within seconds.
HASTE = GuardSettings(
    deadline_seconds=2.0,
    send_timeout_seconds=0.7,
    lease=timedelta(seconds=4),
    absent_after=timedelta(seconds=2),
)
ACCOUNTS = ("", "acct_north", "acct_south")
THREADS = 4  # Calls under way at a time in each process.
# (where, fault, seconds): every fault of the provider's, on each request that may meet it. A refund is shown
# late by less than lies between two look-ups, but for the one that a kept error announces.
SENDING = (
    *(("POST /v1/refunds", kind, 0.0) for kind in ("drop_before", "500_before", "429_lock", "409", "403")),
    *(("POST /v1/refunds", kind, 0.0) for kind in ("drop_after", "cut_body_after", "html_200_after")),
    *(("POST /v1/refunds", kind, 0.0) for kind in ("429", "500_after")),
    *(("POST /v1/refunds", kind, 1.0) for kind in ("hang_before", "hang_after", "drip", "latency")),
    ("POST /v1/refunds", "500_then_appears", 5.0),
)
_READS = ("GET /v1/refunds", "GET /v1/refunds/{id}")
READING = (
    *((place, kind, 0.0) for place in _READS for kind in ("drop_before", "500_before", "429", "403")),
    *((place, kind, 0.0) for place in _READS for kind in ("drop_after", "cut_body_after", "html_200_after")),
    *((place, kind, 1.0) for place in _READS for kind in ("hang_before", "hang_after", "drip", "latency")),
    *((place, "invisible", 1.5) for place in _READS),
    ("GET /v1/refunds", "drop_page", 0.0),
)
ARMED = 3  # Of each of the two, at any time.
STOPS = 0.05
NO_GUARD = "no_guard"
FIRST = AccountId("")


@dataclass(frozen=True, slots=True)
class Order:
    """One refund that is decided on, and how many calls ask for it."""

    number: int
    account: AccountId
    payment: str
    minor: int
    calls: int

    @property
    def name(self) -> str:
        """Return what the tool calls it."""
        return f"o{self.number}"

    @property
    def words(self) -> dict[str, Any]:
        """Return what the tool is told of it; the reference keeps two of one payment and amount apart."""
        told = {"amount": self.amount, "currency": "usd", "payment": self.payment}
        return told | {"order_id": self.name, "reference": f"line {self.number}", "account": self.account}

    @property
    def amount(self) -> str:
        """Return its amount in major units of two digits."""
        return f"{self.minor // 100}.{self.minor % 100:02}"


@dataclass(frozen=True, slots=True)
class Job:
    """What one process is told. turns: the orders that it asks for, one after the other."""

    url: str
    street: str
    seed: int
    orders: tuple[Order, ...]
    turns: tuple[int, ...]
    sabotage: str | None = None


@dataclass(slots=True)
class Storm:
    """What happened to the processes."""

    killed: int = 0
    stopped: int = 0
    hours: int = 0


@dataclass(slots=True)
class _Running:
    """A process, its job, how far it is, and until when it is stopped."""

    process: SpawnProcess
    job: Job
    place: "Synchronized[int]"
    until: float | None = field(default=None)


def orders(number: int, calls: int, random: Random) -> tuple[Order, ...]:
    """Return orders over all accounts.

    Every tenth shares its payment with another; half of these together want more than it holds. calls: the
    most that ask for one of them.
    """
    made = []
    shared = number // 20 * 2
    for each in range(number):
        pair = each // 2
        account = AccountId(ACCOUNTS[(pair if each < shared else each) % len(ACCOUNTS)])
        payment = f"pi_pair{pair}" if each < shared else f"pi_{each}"
        minor = (6000 if pair % 2 else 4000) if each < shared else random.randrange(100, 9000)
        made.append(Order(each, account, payment, minor, random.randint(1, calls)))
    return tuple(made)


def book(street: Street, made: Sequence[Order]) -> None:
    """Make the payments: one that is shared holds 100.00, each other holds its refund three times."""
    for payment, order in {each.payment: each for each in made}.items():
        holds = 10_000 if payment.startswith("pi_pair") else 3 * order.minor
        street.payment(payment, holds, account=order.account)


def deal(made: Sequence[Order], processes: int, random: Random) -> list[tuple[int, ...]]:
    """Return the turns of each process: the calls for one order come near to each other, in any of them."""
    slots = [
        (each.number + (0 if random.random() < 0.5 else random.expovariate(1 / 20)), each.number)
        for each in made
        for _ in range(each.calls)
    ]
    slots.sort()
    return [tuple(number for _, number in slots[first::processes]) for first in range(processes)]


def torment(
    street: Street, jobs: Sequence[Job], *, kills: int, random: Random, stops: float = STOPS
) -> Storm:
    """Let processes work among faults until all is asked; kill and stop them, settle and reconcile beside.

    stops: how often, of ten times a second, a process is stopped while none is. Who follows a killed process
    goes on behind it: what that one had under way, it has asked for.
    """
    storm = Storm()
    running = [_start(job) for job in jobs]
    spread = max(1, sum(len(job.turns) for job in jobs) // (kills + 1))
    ended = threading.Event()
    beside = threading.Thread(target=_beside, args=(jobs[0], ended, storm), daemon=True)
    beside.start()
    while running:
        _arm(street, random)
        _stop_one(running, storm, random, stops)
        asked = sum(len(job.turns) for job in jobs) - sum(
            len(each.job.turns) - min(_place(each), len(each.job.turns)) for each in running
        )
        if storm.killed < kills and asked > spread * (storm.killed + 1):
            running.append(_kill_one(running, storm, random))
        running = [each for each in running if each.process.is_alive() or not _gone(each)]
        time.sleep(0.1)
    ended.set()
    beside.join()
    return storm


def work(job: Job, place: "Synchronized[int]") -> None:
    """Ask for one order after the other, from where a process before this one was killed."""
    with Database.open(job.url) as database:
        tool = RefundTool(database, provider(job.street), settings=HASTE)
        threads = [threading.Thread(target=_work, args=(job, place, tool, database)) for _ in range(THREADS)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        tool.close()


def _work(job: Job, place: "Synchronized[int]", tool: RefundTool, database: Database) -> None:
    while True:
        with place.get_lock():
            turn = place.value
            place.value += 1
        if turn >= len(job.turns):
            return
        order, random = job.orders[job.turns[turn]], Random(f"{job.seed} {turn}")
        if job.sabotage == NO_GUARD:
            careless(database, provider(job.street), order, random)
        else:
            _ask(tool, order, random)


def _ask(tool: RefundTool, order: Order, random: Random) -> None:
    """Ask once, in one of the ways in which agents do."""
    way = random.random()
    if way < 0.6:
        refund(tool, order)
    elif way < 0.95:  # Every other one is cancelled: by its framework's time-out, or by a person.
        patience = random.uniform(0.01, 1.5) if way < 0.8 else None
        with suppress(TimeoutError):
            asyncio.run(_arefund(tool, order, patience))
    else:
        tool.check_refund_status(order.name, account=order.account)


async def _arefund(tool: RefundTool, order: Order, patience: float | None) -> None:
    await asyncio.wait_for(tool.arefund_order(**order.words), patience)


def refund(tool: RefundTool, order: Order) -> str:
    """Ask for an order, and return the status."""
    return str(tool.refund_order(**order.words).status)


def careless(database: Database, asked: Provider, order: Order, random: Random) -> None:
    """Refund as tools do that take an error for a failure, and a call's id for a key."""
    now = datetime.now(UTC)
    intent = an_intent(
        key=order.name,
        account=order.account,
        order_id=order.name,
        payment=order.payment,
        amount_minor=order.minor,
        status=IntentStatus.PENDING,
        refund_id=None,
        created_at=now,
        updated_at=now,
        first_sent_at=now,
    )
    with database.write() as connection:
        intents.put(connection, intent)
    for _ in range(2):
        try:
            made = asked.create(intent, f"call_{random.getrandbits(64):x}")
        except ProviderUnavailable:  # It is away: once more.
            continue
        except ProviderRefused:  # Nothing is left.
            return
        done = replace(intent, status=IntentStatus.DONE, refund_id=RefundId(made.id))
        with database.write() as connection:
            intents.settle(connection, done, expected=[IntentStatus.PENDING])
        return


def provider(street: str, **more: float) -> Provider:
    """Return the provider as the tool asks it."""
    return Provider(settings(street).provider if not more else replace(settings(street).provider, **more))  # type: ignore[arg-type]  # numbers


def settings(street: str) -> Settings:
    """Return how the company is set up, for its hour."""
    return Settings(
        provider=ProviderSettings(
            api_key=Secret(STRIPE_KEY),
            base_url=street,
            accounts=tuple(AccountId(each) for each in ACCOUNTS[1:]),
            read_timeout_seconds=HASTE.send_timeout_seconds,
            connect_timeout_seconds=1.0,
            retry_limit=0,
            requests_per_second=1000.0,
        ),
        lease=LeaseSettings(),
        slack=SlackSettings(operators_channel="#operators"),
        owners={"rules": [{"name": "everything", "owner": "Payments on call", "target": "#payments"}]},
    )


def _beside(job: Job, ended: threading.Event, storm: Storm) -> None:
    """Settle every second, and let the hour pass over the books ten times as seldom, in the same weather."""
    asked = provider(job.street)
    with Database.open(job.url) as database:
        tool = RefundTool(database, asked, settings=HASTE)
        turns = 0
        while job.sabotage is None and not ended.wait(1.0):
            turns += 1
            with suppress(ReconError):  # The books are held by a process that is stopped, say.
                tool.settle()
            if turns % 10 == 0:
                with suppress(ReconError):  # As above.
                    hourly.run(database, asked, settings(job.street), clock=lambda: datetime.now(UTC))
                storm.hours += 1
        tool._threads.shutdown()  # noqa: SLF001 -- closing the tool would close the database twice


def _start(job: Job, place: int = 0) -> _Running:
    spawn = multiprocessing.get_context("spawn")
    value = spawn.Value("i", place)
    process = spawn.Process(target=work, args=(job, value))
    process.start()
    return _Running(process, job, value)


def _gone(each: _Running) -> bool:
    each.process.join()
    assert each.process.exitcode in {0, -signal.SIGKILL}, f"a process ended with {each.process.exitcode}"
    return True


def _kill_one(running: list[_Running], storm: Storm, random: Random) -> _Running:
    """Kill one process in the middle of whatever it does, and return the one that follows it."""
    chosen = random.choice(running)
    chosen.process.kill()
    chosen.process.join()
    storm.killed += 1
    running.remove(chosen)
    return _start(chosen.job, _place(chosen))


def _place(each: _Running) -> int:
    """Return how far a process is; who dies while it holds the lock of its counter leaves it locked."""
    return int(each.place.get_obj().value)


def _arm(street: Street, random: Random) -> None:
    """Let about every third request of either sort meet a fault."""
    weather = street.running.state.faults
    armed = [each["on"] for each in weather.shown()]
    for sort in (SENDING, READING):
        places = {place for place, _, _ in sort}
        for _ in range(ARMED - sum(each in places for each in armed)):
            place, fault, seconds = random.choice(sort)
            more = {"page": 1} if fault == "drop_page" else {}
            weather.arm(faults.read({"on": place, "fault": fault, "after_s": seconds, **more}))


def _stop_one(running: list[_Running], storm: Storm, random: Random, stops: float) -> None:
    """Stop a process now and then for longer than its lease, as a machine that sleeps; let others go on."""
    now = time.monotonic()
    for each in running:
        if each.until is not None and now > each.until:
            each.until = None
            _signal(each, signal.SIGCONT)
    free = [each for each in running if each.process.is_alive()]
    if free and all(each.until is None for each in running) and random.random() < stops:
        chosen = random.choice(free)
        chosen.until = now + HASTE.lease.total_seconds() + 1
        storm.stopped += 1
        _signal(chosen, signal.SIGSTOP)


def _signal(each: _Running, number: int) -> None:
    assert each.process.pid is not None, "it was started"
    with suppress(ProcessLookupError):  # It ended by itself.
        os.kill(each.process.pid, number)
