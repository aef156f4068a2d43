from dataclasses import replace

from recon.doors.store import cases, operators, runs
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.records.people import Operator
from recon.model.records.runs import AccountReading, Run
from recon.model.records.words import AccountId, Actor, Role, RunId, Verdict
from tests.builders import NOON
from tests.doors.store.books import LATER, a_lease, a_run


def test_before_the_first_run_there_is_none(database: Database) -> None:
    assert runs.last_saved(database) is None
    assert runs.last_complete(database) is None
    assert runs.recent(database, 5) == ()


def test_runs_come_back_whole_newest_first_whatever_the_clock_said(database: Database) -> None:
    lease = a_lease(database)
    other = AccountReading(
        AccountId("acct_2"),
        NOON,
        LATER,
        complete=False,
        pages=3,
        refunds=250,
        changed=9,
        error="Page 3 broke off.",
    )
    told = [
        a_run(finished_at=LATER),
        a_run(id=RunId("run_2"), verdict=Verdict.INCOMPLETE, accounts=(*a_run().accounts, other)),
        a_run(id=RunId("run_3"), verdict=Verdict.INCOMPLETE, accounts=()),
    ]

    saved: list[Run] = [cases.save_run(database, lease, Saving(run)).run for run in told]

    assert [replace(run, heads_digest=None) for run in saved] == told
    assert runs.recent(database, 2) == (saved[2], saved[1])
    assert runs.last_saved(database) == saved[2]
    assert runs.last_complete(database) == saved[0]


def test_operators_are_known_by_name(database: Database) -> None:
    ada = Operator(Actor("ada"), Role.OPERATOR)
    operators.put(database, ada)
    operators.put(database, Operator(Actor("bob"), Role.VIEWER))
    operators.put(database, replace(ada, role=Role.ADMIN, active=False))

    assert operators.get(database, Actor("ada")) == Operator(Actor("ada"), Role.ADMIN, active=False)
    assert operators.get(database, Actor("eve")) is None
