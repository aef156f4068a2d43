import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import insert

from recon.doors.store import operators
from recon.doors.store.engines import Database
from recon.model.errors import Report
from recon.model.records.people import Operator
from recon.model.records.words import Actor, Role
from recon.model.rights import operators as table

ADA = Operator(Actor("ada"), Role.OPERATOR, slack_id="U0ADA")
BOB = Operator(Actor("bob"), Role.VIEWER)


def test_somebody_is_found_by_who_they_are_in_slack_also_when_they_may_no_longer_act(
    database: Database,
) -> None:
    operators.put(database, replace(ADA, active=False))
    operators.put(database, BOB)

    assert operators.in_slack(database, "U0ADA") == replace(ADA, active=False)
    assert operators.in_slack(database, "U0EVE") is None


def test_two_operators_may_both_be_nobody_in_slack(database: Database) -> None:
    operators.put(database, BOB)
    operators.put(database, replace(ADA, slack_id=None))

    assert operators.every(database) == (replace(ADA, slack_id=None), BOB)


def test_one_slack_id_is_one_persons(database: Database) -> None:
    operators.put(database, ADA)

    with pytest.raises(Report, match="U0ADA, which is ada's: run recon operators remove 'ada' first"):
        operators.put(database, replace(BOB, slack_id="U0ADA"))

    assert operators.every(database) == (ADA,)


def test_the_same_operator_once_more_is_no_other(database: Database) -> None:
    operators.put(database, ADA)
    operators.put(database, replace(ADA, role=Role.ADMIN))

    assert operators.every(database) == (replace(ADA, role=Role.ADMIN),)


def test_of_two_who_write_one_slack_id_down_at_once_the_second_is_told(database: Database) -> None:
    with ThreadPoolExecutor(1) as pool:
        with database.write() as connection:
            connection.execute(
                insert(table).values(name="ada", role="operator", active=True, slack_id="U0ADA")
            )
            second = pool.submit(operators.put, database, replace(BOB, slack_id="U0ADA"))
            threading.Event().wait(0.3)  # For the other to come as far as it can.

        with pytest.raises(Report, match="U0ADA"):
            second.result(20)

    assert operators.every(database) == (ADA,)
