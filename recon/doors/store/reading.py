"""The crowds a run judges: intents, refunds and cases in one snapshot, whole or as far as they were touched.

With files, the only door that builds frames. Never judges, and never writes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pandas as pd
import pyarrow as pa
from sqlalchemy import Connection, Table, select, text

from recon.doors.store import closure
from recon.doors.store.engines import Database
from recon.doors.store.rows import INTENTS, REFUNDS, case_record, reject_record
from recon.model import frames, subjects, tables
from recon.model.frames import Intake
from recon.model.records.cases import Case
from recon.model.records.results import InFlight, Reject
from recon.model.records.words import AccountId, Kind, Subject
from recon.model.stored import Instant, instant

# Whether the row of a subject, of a row n, is there.
EXISTS = f"""CASE WHEN n.subject LIKE '{subjects.OF_INTENTS}%'
    THEN EXISTS (SELECT 1 FROM intents i WHERE i.account = n.account AND i.key = substr(n.subject, 8))
    ELSE EXISTS (SELECT 1 FROM refunds r WHERE r.account = n.account AND r.id = substr(n.subject, 8))
    END"""  # noqa: S608 -- our names
# The subjects in flight, as earlier runs left them, but those that are read now.
IN_FLIGHT = f"""SELECT account, subject, becomes, at FROM due d WHERE becomes IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM ties t WHERE t.account = d.account AND t.value = substr(d.subject, 8)
    AND t.tie = CASE WHEN d.subject LIKE '{subjects.OF_INTENTS}%' THEN :key ELSE :refund END)"""  # noqa: S608 -- our names

Pair = tuple[AccountId, Subject]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one reading saw.

    cases: of all subjects read. judged: the subjects read about which something is known: a case, a time to
    be judged again, a reject. gone: subjects of which something is known and whose rows no longer exist.
    in_flight: the subjects that are, and were not read, because nothing of them changed and their time has
    not come. mark: the next reading, after this one was saved, need not look at touches up to it. full:
    everything was read.
    """

    intents: Intake
    refunds: Intake
    cases: tuple[Case, ...]
    judged: frozenset[Pair]
    gone: frozenset[Pair]
    in_flight: tuple[InFlight, ...]
    mark: int
    full: bool


def read(database: Database, *, full: bool, mark: int, as_of: datetime) -> Snapshot:
    """Return what must be judged at as_of: what was touched above the mark or is due, and all tied to it.

    Raises:
        DatabaseUnavailable: It cannot be read now.
    """
    with database.read() as connection:
        new_mark = closure.mark(connection)
        # A mark from the future came with a dump of another server: its numbers say nothing here.
        full = full or mark > new_mark
        foreign = _foreign_rejects(connection)
        if not full:
            beside = _withheld_by(foreign) + _rejected_before(connection)
            closure.follow(connection, above=mark, as_of=as_of, beside=beside)
        intents = frames.intents(_raw(connection, tables.intents, "key", full=full), source=INTENTS)
        refunds = frames.refunds(_raw(connection, tables.refunds, "id", full=full), source=REFUNDS)
        cases = _cases(connection, full=full)
        known = _known(connection, full=full)
        in_flight = () if full else _in_flight(connection)
    return Snapshot(
        intents=replace(intents, rejects=tuple(sorted([*intents.rejects, *foreign], key=_place))),
        refunds=refunds,
        cases=cases,
        judged=frozenset(pair for pair, exists in known.items() if exists),
        gone=frozenset(pair for pair, exists in known.items() if not exists) - _subjects(foreign),
        in_flight=in_flight,
        mark=new_mark,
        full=full,
    )


def _raw(connection: Connection, table: Table, key: str, *, full: bool) -> pd.DataFrame:
    """Return the rows to judge as they are, in the order of account and key."""
    names = [column.name for column in table.c if column.name != "mapped"]
    listed = ", ".join(f'x."{name}"' for name in names)
    among = f"{table.name} x"
    if not full:
        same_row = f'x.account = s.account AND x."{key}" = s."{key}"'
        among = f"read_{table.name} s CROSS JOIN {among} WHERE {same_row}"
    query = f'SELECT {listed} FROM {among} ORDER BY x.account, x."{key}"'  # noqa: S608 -- our names
    rows = connection.execute(text(query)).all()
    columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else ((),) * len(names)
    return pd.DataFrame(
        {name: _column(table, name, values) for name, values in zip(names, columns, strict=True)}
    )


def _column(table: Table, name: str, values: Sequence[Any]) -> pd.Series:
    """Return a column in its own type, or as it is where a cell is of another: frames rejects such rows."""
    kind = table.c[name].type
    wanted = {
        "Text": pa.large_string(),
        "BigInteger": pa.int64(),
        "Boolean": pa.bool_(),
        "Instant": pa.int64(),
    }[type(kind).__name__]
    try:
        array = pa.array([bool(value) for value in values] if wanted == pa.bool_() else values, wanted)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        # SQLite keeps a text in an integer column if it was given one.
        found = [_time(value) for value in values] if isinstance(kind, Instant) else list(values)
        return pd.Series(found, dtype=object)
    if isinstance(kind, Instant):
        array = array.cast(pa.timestamp("us", "UTC"))
    return pd.Series(pd.arrays.ArrowExtensionArray(array))


def _time(value: object) -> object:
    """Return the time an integer stands for, and anything else as it is."""
    try:
        return instant(value) if isinstance(value, int) else value
    except OverflowError:
        # Beyond the year 9999: no time, whatever wrote it.
        return str(value)


def _cases(connection: Connection, *, full: bool) -> tuple[Case, ...]:
    query = select(tables.cases).order_by(tables.cases.c.account, tables.cases.c.subject)
    if not full:
        query = query.where(text(f"(account, subject) IN ({closure.SUBJECTS})"))
    return tuple(map(case_record, connection.execute(query).mappings()))


def _known(connection: Connection, *, full: bool) -> dict[Pair, bool]:
    """Return each subject read about which something is known, and whether its row exists."""
    of_reject = (
        f"CASE source WHEN '{REFUNDS}' THEN '{subjects.OF_REFUNDS}' ELSE '{subjects.OF_INTENTS}' END || id"
    )
    places = {"cases": "subject", "due": "subject", "rejects": of_reject}
    found = {}
    for table, subject in places.items():
        named = f"SELECT account, {subject} AS subject FROM {table}"  # noqa: S608 -- our names
        if not full:
            named += f" WHERE (account, {subject}) IN ({closure.SUBJECTS})"
        query = f"SELECT account, subject, {EXISTS} FROM ({named}) n WHERE subject IS NOT NULL"  # noqa: S608 -- our names
        for account, name, exists in connection.execute(text(query)):
            found[AccountId(account), Subject(name)] = bool(exists)
    return found


def _in_flight(connection: Connection) -> tuple[InFlight, ...]:
    """Return the subjects in flight that are not read now."""
    rows = connection.execute(text(IN_FLIGHT), {"key": closure.KEY, "refund": closure.REFUND})
    return tuple(
        InFlight(AccountId(account), Subject(subject), Kind(becomes), instant(at))
        for account, subject, becomes, at in rows
    )


def _foreign_rejects(connection: Connection) -> tuple[Reject, ...]:
    """Return the rows of a foreign table that cannot be judged: they are not among our intents."""
    table = tables.rejects
    query = select(table).where(table.c.source.not_in([INTENTS, REFUNDS]))
    return tuple(map(reject_record, connection.execute(query).mappings()))


def _rejected_before(connection: Connection) -> list[closure.Tie]:
    """Return the rows of our own tables that stand rejected: each run says them until they are put right.

    What the provider sent unreadable stands in no table: it is met again where its page is.
    """
    found: list[closure.Tie] = []
    for source, kind, name in (
        (INTENTS, closure.KEY, tables.intents.c.key),
        (REFUNDS, closure.REFUND, tables.refunds.c.id),
    ):
        told = tables.rejects.c
        same_row = (name.table.c.account == told.account) & (name == told.id)
        query = select(told.account, told.id).where(told.source == source).join(name.table, same_row)
        found += [(account, kind, each) for account, each in connection.execute(query)]
    return found


def _withheld_by(rejects: Iterable[Reject]) -> list[closure.Tie]:
    own: list[closure.Tie] = [(each.account, closure.KEY, each.id) for each in rejects if each.id]
    return own + [(each.account, closure.REFUND, name) for each in rejects for name in each.names]


def _subjects(rejects: Iterable[Reject]) -> frozenset[Pair]:
    return frozenset((each.account, subjects.of_intent(each.id)) for each in rejects if each.id)


def _place(reject: Reject) -> tuple[str, int]:
    return reject.source, reject.row
