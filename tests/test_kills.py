"""The hour killed, stopped and started twice, as processes: what it leaves is as if nothing had happened.

RECON_TEST_KILLS: how many processes die in each test (6). RECON_TEST_SEED: the world in which they do; a test
that fails names it.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import select, update

from recon.doors.store import cases, queue
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.words import CaseState, IntentStatus
from recon.model.stored import EPOCH
from recon.sandbox.faults import Faults
from tests.hours import Town, a_town, twice
from tests.nursery import Nursery
from tests.sandboxes import STRIPE_KEY, Street

KILLS = int(os.environ.get("RECON_TEST_KILLS", "6"))
SEED = int(os.environ.get("RECON_TEST_SEED", "1"))
KILLED, INCOMPLETE, HELD = -9, 3, 75
STALLS = ("latency",)
BREAKS = ("latency", "drop_before", "cut_body_after", "drop_page", "html_200_after")
LISTS = ("GET /v1/refunds", "GET /v1/events")


class World:
    """Two databases of one company and one provider: one where things happen to the hour, and a calm one."""

    def __init__(self, town: Town, calm: Town, tmp_path: Path) -> None:
        self.town, self.calm = town, calm
        (tmp_path / "recon.toml").write_text("[provider]\npage_size = 3\n")
        (tmp_path / "owners.toml").write_text(
            '[[rules]]\nname = "everything"\nowner = "Payments on call"\ntarget = "#payments"\n'
        )
        self.environ = {
            "RECON_CONFIG": str(tmp_path),
            "STRIPE_API_KEY": STRIPE_KEY,
            "RECON_STRIPE_BASE_URL": town.street.url,
            "SLACK_BOT_TOKEN": "",
        }

    def begin(self) -> None:
        """Everything that an hour can find, and a few refunds in order."""
        for name in range(6):
            self.town.refund(f"fine_{name}")
        twice(self.town, "twice")
        self.town.intend("lost")
        self.town.pay(self.town.intend("heal", status=IntentStatus.PENDING_UNKNOWN))
        self.town.intend("stuck", status=IntentStatus.PENDING)
        self.fails = self.town.refund("fails")[1].id
        self.goes = self.town.intend("goes")
        self.town.street.payment("pi_orphan", 5000)
        self.town.street.control("refunds", payment="pi_orphan", amount=700)
        self.town.pass_time(hours=2)
        self._share()

    def go_on(self) -> None:
        """What the next hour must notice: failed, gone, healed, new."""
        self.town.mend(self.fails)
        self.town.forget(self.goes)
        self.calm.forget(self.goes)
        twice(self.town, "again")
        self.town.pay(self.town.intend("heal_2", status=IntentStatus.PENDING))
        self.town.pass_time(hours=2)
        self._share()

    def _share(self) -> None:
        """Write down at the calm company's what the company itself has written down since."""
        known = found(self.calm.database, "intents", "account", "key")
        with self.town.database.read() as reading, self.calm.database.write() as writing:
            rows = reading.execute(select(tables.intents)).mappings().all()
            fresh = [dict(row) for row in rows if (row["account"], row["key"]) not in known]
            writing.execute(tables.intents.insert(), fresh)


@pytest.fixture
def world(database: Database, sqlite_template: Path, sandbox: Street, tmp_path: Path) -> Iterator[World]:
    shutil.copyfile(sqlite_template, tmp_path / "calm.db")
    with Database.open(f"sqlite:///{tmp_path / 'calm.db'}") as calm:
        yield World(a_town(database, sandbox), a_town(calm, sandbox), tmp_path)


@pytest.fixture
def nursery(world: World, database_url: str, tmp_path: Path) -> Iterator[Nursery]:
    with Nursery(world.environ | {"RECON_DATABASE_URL": database_url}, tmp_path / "log") as born:
        yield born


def found(database: Database, table: str, *columns: str) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Every row of a table by its first two columns."""
    of = tables.metadata.tables[table].c
    with database.read() as connection:
        rows = connection.execute(select(*(of[name] for name in columns))).all()
    named = {tuple(row[:2]): tuple(row[2:]) for row in rows}
    assert len(named) == len(rows), f"{table} has a row twice"
    return named


def facts(database: Database) -> dict[str, object]:
    """What the books say, whatever number of runs it took."""
    return {
        "cases": {
            name: row
            for name, row in found(
                database, "cases", "account", "subject", "state", "kind", "mismatch"
            ).items()
            if row[0] != CaseState.CLEARED
        },
        "intents": found(database, "intents", "account", "key", "status", "refund_id"),
        "refunds": found(database, "refunds", "account", "id", "status", "amount_minor", "request_key"),
        "due": found(database, "due", "account", "subject", "at"),
        "rejects": found(database, "rejects", "account", "id"),
    }


def steps(database: Database) -> dict[str, object]:
    """How it came to say so: each step of each case once, each message once."""
    return {
        "entries": found(database, "entries", "topic", "version", "action", "to_state"),
        "threads": found(database, "threads", "key", "target"),
        "notices": found(database, "notices", "dedupe_key", "verb", "target", "case_ids", "state"),
    }


def told(database: Database) -> set[str]:
    """The cases that somebody was told of."""
    named = found(database, "notices", "dedupe_key", "verb", "case_ids")
    return {case for (_, verb), (ids,) in named.items() if verb != "edit" for case in ids}


def waiting(database: Database) -> set[str]:
    """The cases that somebody must answer."""
    return {str(case.id) for case in queue.page(database, limit=500).cases}


def lapse(database: Database) -> None:
    """Let the five minutes pass that a dead run holds its lease."""
    with database.write() as connection:
        connection.execute(update(tables.leases).values(expires_at=EPOCH))


def kill_some(
    world: World, nursery: Nursery, random: Random, *, number: int, weather: tuple[str, ...], length: int
) -> None:
    """Let runs die anywhere in their length, all parts of it alike, every other one in that weather."""
    for each in range(number):
        for place in LISTS if each % 2 else ():
            fault = random.choice(weather)
            if (fault, place) != ("drop_page", "GET /v1/events"):
                world.town.street.fault(place, fault, after_s=0.02)
        kill_at = 1 + int(length * (number - 1 - each + random.random()) / number)
        assert nursery.run(kill_at=kill_at).code in {KILLED, 0, INCOMPLETE}
        lapse(world.town.database)


def clear_up(world: World) -> None:
    """Forget the faults that nobody has met."""
    world.town.street.running.state.faults = Faults()


def test_runs_that_are_killed_anywhere_leave_what_one_calm_run_leaves(
    world: World, nursery: Nursery, tmp_path: Path
) -> None:
    random = Random(SEED)
    calm_url = f"sqlite:///{tmp_path / 'calm.db'}"
    ours, calm = world.town.database, world.calm.database
    with Nursery(world.environ | {"RECON_DATABASE_URL": calm_url}, tmp_path / "calm.log") as calm_nursery:
        for happen, weather in ((world.begin, STALLS), (world.go_on, BREAKS)):
            happen()
            calmly = calm_nursery.run()
            kill_some(world, nursery, random, number=KILLS // 2, weather=weather, length=calmly.statements)
            clear_up(world)

            assert (calmly.code, nursery.run().code) == (0, 0), (tmp_path / "log").read_text()
            if weather is STALLS:
                assert steps(ours) == steps(calm), f"seed {SEED}"
            else:  # What an incomplete run opened and this one has healed is cleared by the next.
                assert (nursery.run().code, calm_nursery.run().code) == (0, 0)
            assert facts(ours) == facts(calm), f"seed {SEED}"
            assert waiting(ours) - told(ours) == set(), f"seed {SEED}"
    assert cases.verify(ours) == ()


@pytest.fixture
def second(world: World, database_url: str, tmp_path: Path) -> Iterator[Nursery]:
    with Nursery(world.environ | {"RECON_DATABASE_URL": database_url}, tmp_path / "second") as born:
        yield born


def everything(database: Database) -> dict[str, list[Any]]:
    """Every row of every table."""
    with database.read() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table)).all()]
            for table in tables.metadata.sorted_tables
        }


def test_of_two_runs_at_once_one_works_and_the_other_exits_75(
    world: World, nursery: Nursery, second: Nursery
) -> None:
    world.begin()
    for _ in range(KILLS // 2):
        assert nursery.run(stop_at=2).code is None  # Its first write took the lease.
        assert second.run().code == HELD
        assert nursery.go_on().code == 0

    # Started in the same moment they meet somewhere, or miss each other: never more than one at work.
    nursery.begin()
    second.begin()
    codes = sorted([nursery.ended().code, second.ended().code], key=str)
    assert codes in ([0, HELD], [0, 0])
    once = found(world.town.database, "entries", "topic", "version")

    assert cases.verify(world.town.database) == ()
    assert {version for _, version in once} == {1}
    assert len(found(world.town.database, "runs", "number", "fence")) == KILLS // 2 + codes.count(0)


def test_a_run_that_slept_past_its_lease_writes_nothing_and_exits_75(
    world: World, nursery: Nursery, second: Nursery, tmp_path: Path
) -> None:
    world.begin()
    code: int | None = HELD
    stop_at = 1  # The first write takes the lease.
    while code == HELD:
        stop_at += 1
        assert nursery.run(stop_at=stop_at).code is None
        lapse(world.town.database)
        assert second.run().code == 0
        before = everything(world.town.database)
        code = nursery.go_on().code

        assert everything(world.town.database) == before, f"stopped before write {stop_at}"

    # Before its last write, which gives the lease back, a run had saved all it had to save.
    assert (code, stop_at > 5) == (0, True)
    assert "Traceback" not in (tmp_path / "log").read_text()
