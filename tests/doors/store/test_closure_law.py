"""A law: the diff of what was touched is the full diff, as far as those rows go, and the rest stands."""

import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import count
from random import Random
from typing import Any

import pandas as pd
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert, text

from recon.doors.store import cases, leases, reading
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.doors.store.reading import Snapshot
from recon.doors.store.rows import case_row
from recon.model import frames, tables
from recon.model.records.results import Coverage, InFlight, Mismatch, Policy, Result
from recon.model.records.runs import HOUR
from recon.model.records.words import RunId
from recon.rules import linking
from recon.rules.mismatches import finding
from tests import worlds
from tests.builders import a_case
from tests.doors.store.books import DURATION, a_run
from tests.drawer import AS_OF
from tests.product import INTENT_COLUMNS, REFUND_COLUMNS, table

Rows = dict[tuple[str, str], dict[str, Any]]
World = dict[str, Rows]
Said = dict[tuple[str, str], Mismatch | InFlight]

POLICY = Policy()
KEYS = {"intents": "key", "refunds": "id"}
RUNS = count(1)
# Each is two hours of a small company; more of them before a release.
EXAMPLES = int(os.environ.get("RECON_TEST_LAW_EXAMPLES", "10"))


def drawn(random: Random) -> World:
    """The standing rows of a random world, as the tables hold them."""
    world = worlds.draw(random)
    while world.paged:
        world = worlds.draw(random)
    left = frames.intents(table(world.intents, INTENT_COLUMNS), source="intents").frame
    right = frames.refunds(table(world.refunds, REFUND_COLUMNS), source="refunds").frame
    return {"intents": stored(left, "key"), "refunds": stored(right, "id")}


def stored(frame: pd.DataFrame, key: str) -> Rows:
    plain = frame.astype(object).where(frame.notna(), None)
    rows: list[dict[str, Any]] = [
        {str(name): _plain(value) for name, value in row.items()} for row in plain.to_dict("records")
    ]
    for row in rows:
        row["status"] = row["status"] or "succeeded"  # The mirror has no refund without a status.
    return {(row["account"], row[key]): row for row in rows}


def _plain(value: object) -> object:
    return value.to_pydatetime() if isinstance(value, pd.Timestamp) else value


def changed(before: World, random: Random) -> World:
    """A later state of a world: some rows gone, some others, some new."""
    other = drawn(random)
    after: World = {}
    for side, rows in before.items():
        kept = {name: dict(row) for name, row in rows.items() if random.random() < 0.8}
        fresh = {name: row for name, row in other[side].items() if random.random() < 0.4}
        after[side] = kept | fresh
        for row in after[side].values():
            if random.random() < 0.15:
                donor = random.choice(list(other[side].values()) or [row])
                name = random.choice([name for name in row if name not in {"account", KEYS[side]}])
                row[name] = donor[name]
    return after


def write(database: Database, before: World, after: World) -> None:
    """Turn one world into the other, a statement per row, as its writers do."""
    with database.write() as connection:
        for side, key in KEYS.items():
            columns = tables.metadata.tables[side].c
            for (account, name), row in after[side].items():
                former = before[side].get((account, name))
                same = (columns.account == account) & (columns[key] == name)
                if former is None:
                    connection.execute(insert(tables.metadata.tables[side]).values(row))
                elif former != row:
                    connection.execute(tables.metadata.tables[side].update().where(same).values(row))
            for account, name in before[side].keys() - after[side].keys():
                same = (columns.account == account) & (columns[key] == name)
                connection.execute(delete(tables.metadata.tables[side]).where(same))


def judge(snapshot: Snapshot, as_of: datetime) -> Result:
    links = linking.link(snapshot.intents.frame, snapshot.refunds.frame, POLICY)
    return finding.find(
        snapshot.intents, snapshot.refunds, links, policy=POLICY, coverage=Coverage(), as_of=as_of
    )


def said(result: Result) -> Said:
    """What a result says of each subject: it disagrees, or will; of all others it says nothing."""
    found: tuple[Mismatch | InFlight, ...] = (*result.mismatches, *result.in_flight)
    return {(each.account, each.subject): each for each in found}


def subjects(snapshot: Snapshot) -> set[tuple[str, str]]:
    left, right = snapshot.intents.frame, snapshot.refunds.frame
    named = {(account, f"intent:{key}") for account, key in zip(left["account"], left["key"], strict=True)}
    return named | {
        (account, f"refund:{id_}") for account, id_ in zip(right["account"], right["id"], strict=True)
    }


def among(named: Said, pairs: Iterable[tuple[str, str]]) -> Said:
    wanted = set(pairs)
    return {pair: each for pair, each in named.items() if pair in wanted}


def begin(database: Database, world: World) -> None:
    with database.write() as connection:
        for name in ("cases", "due", "intents", "refunds", "touches"):
            connection.execute(text(f"DELETE FROM {name}"))  # noqa: S608 -- our names
    write(database, {"intents": {}, "refunds": {}}, world)


def save(database: Database, result: Result, snapshot: Snapshot) -> None:
    """Save a run, and the cases of its mismatches as if there had been no others."""
    number = next(RUNS)
    lease = leases.take(database, HOUR, "law", now=AS_OF + number * DURATION, duration=DURATION)
    run = a_run(id=RunId(str(number)), as_of=result.as_of, mark=snapshot.mark, full=snapshot.full)
    saving = Saving(run, judged=snapshot.judged | snapshot.gone, due=result.due, withheld=result.withheld)
    cases.save_run(database, lease, saving)
    with database.write() as connection:
        connection.execute(delete(tables.cases))
        for mismatch in result.mismatches:
            connection.execute(insert(tables.cases).values(case_row(a_case(mismatch)) | {"head": "x"}))


@given(seed=st.integers(min_value=0, max_value=2**32))
@example(seed=0)
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_touched_diff_is_the_full_diff(database: Database, seed: int) -> None:
    random = Random(seed)
    world, as_of = drawn(random), AS_OF
    begin(database, world)
    snapshot = reading.read(database, full=True, mark=0, as_of=as_of)
    result = judge(snapshot, as_of)
    known = said(result)
    for _ in range(2):
        save(database, result, snapshot)
        mark, before = snapshot.mark, world
        world = changed(before, random)
        write(database, before, world)
        as_of += random.choice([timedelta(0), timedelta(minutes=16), timedelta(hours=1), timedelta(days=8)])

        snapshot = reading.read(database, full=False, mark=mark, as_of=as_of)
        result = judge(snapshot, as_of)
        whole = reading.read(database, full=True, mark=0, as_of=as_of)
        everything, read = said(judge(whole, as_of)), subjects(snapshot)

        assert said(result) == among(everything, read)
        assert among(known, subjects(whole) - read) == among(everything, subjects(whole) - read)
        assert known.keys() - subjects(whole) <= snapshot.gone
        known = everything
