"""Kill switches: each move with its entry, by comparison of versions, in a chain that shows every change."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from sqlalchemy import text

from recon.doors import intents
from recon.doors.store import cases, migrations, switches
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.records.tools import Switch, SwitchEntry, SwitchMove
from recon.model.records.words import Actor
from tests.builders import NOON
from tests.doors.store.books import a_lease, a_run

ANA = Actor("ana")
TOOL = "refund_order"
THROWN = Switch(TOOL, thrown=True, version=1, moved_at=NOON, moved_by=ANA, reason="doubles")


def move(
    database: Database, before: Switch, made: SwitchMove, action_id: str, *, minutes: int = 0, why: str = "x"
) -> Switch | None:
    at = NOON + timedelta(minutes=minutes)
    with database.write() as connection:
        return switches.move(connection, before, made, actor=ANA, reason=why, now=at, action_id=action_id)


def throw(database: Database) -> Switch:
    """Throw the switch of the refund tool at noon."""
    after = move(database, Switch(TOOL), SwitchMove.THROWN, "click_1", why="doubles")
    assert after is not None
    return after


def harm(database: Database, *statements: str) -> None:
    """Change the books past every guard, and put the guards back."""
    postgresql = database.dialect == "postgresql"
    with database.write() as connection:
        for guard in ("entries_kept",) if postgresql else ("entries_kept", "entries_unchanged"):
            connection.execute(text(f"DROP TRIGGER {guard}{' ON entries' if postgresql else ''}"))
        for statement in statements:
            connection.execute(text(statement))
    migrations.upgrade(database)


def test_a_switch_that_nobody_moved_is_not_thrown(database: Database) -> None:
    assert switches.get(database, TOOL) == Switch(TOOL)
    assert (switches.every(database), switches.thrown(database)) == ({}, ())
    assert switches.history(database, TOOL) == ()


def test_a_thrown_switch_is_seen_by_the_guarded_tool_and_lifted_again(database: Database) -> None:
    thrown = throw(database)
    with database.read() as connection:
        seen = [intents.switched_off(connection, tool) for tool in (TOOL, "charge_card")]
    lifted = move(database, thrown, SwitchMove.LIFTED, "click_2", minutes=9, why="mended")

    assert thrown == THROWN
    assert seen == [True, False]
    at = NOON + timedelta(minutes=9)
    assert lifted == Switch(TOOL, version=2, moved_at=at, moved_by=ANA, reason="mended")
    assert switches.get(database, TOOL) == lifted
    assert switches.thrown(database) == ()
    assert switches.history(database, TOOL) == (
        SwitchEntry(TOOL, SwitchMove.LIFTED, ANA, NOON + timedelta(minutes=9), "mended", 2),
        SwitchEntry(TOOL, SwitchMove.THROWN, ANA, NOON, "doubles", 1),
    )
    assert cases.verify(database) == ()


def test_whoever_looked_before_another_move_writes_nothing(database: Database) -> None:
    thrown = throw(database)
    move(database, thrown, SwitchMove.LIFTED, "click_2")

    assert move(database, thrown, SwitchMove.LIFTED, "click_3") is None
    assert move(database, Switch(TOOL), SwitchMove.THROWN, "click_4") is None
    assert [each.version for each in switches.history(database, TOOL)] == [2, 1]
    assert cases.verify(database) == ()


def test_the_same_click_moves_once(database: Database) -> None:
    throw(database)

    assert move(database, Switch(TOOL), SwitchMove.THROWN, "click_1") == THROWN
    assert len(switches.history(database, TOOL)) == 1


def test_of_many_who_throw_at_once_one_does(database: Database) -> None:
    gate = Barrier(4)

    def press(number: int) -> Switch | None:
        gate.wait()
        return move(database, Switch(TOOL), SwitchMove.THROWN, f"click_{number}")

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(press, range(4)))

    assert sum(each is not None for each in found) == 1
    assert len(switches.history(database, TOOL)) == 1
    assert cases.verify(database) == ()


def test_the_next_run_seals_the_move_with_the_others(database: Database) -> None:
    throw(database)
    before = cases.sealed(database).newer

    cases.save_run(database, a_lease(database), Saving(a_run()))

    assert (before, cases.sealed(database).newer) == (1, 0)
    assert str(cases.sealed(database).digest).startswith("1:")
    assert cases.verify(database) == ()


@pytest.mark.parametrize(
    "statement, said",
    [
        (
            "UPDATE entries SET reason = 'other'",
            "tool:refund_order: entry 1 does not continue the one before",
        ),
        (
            "UPDATE switches SET thrown = false",
            "tool:refund_order: the switch is not as its last entry left it.",
        ),
        (
            "UPDATE switches SET reason = 'other'",
            "tool:refund_order: the switch is not as its last entry left",
        ),
        (
            "UPDATE switches SET moved_by = 'bo'",
            "tool:refund_order: the switch is not as its last entry left",
        ),
        ("UPDATE switches SET moved_at = moved_at + 1", "the switch is not as its last entry left it."),
        ("DELETE FROM switches", "tool:refund_order: there are entries and no switch."),
        ("DELETE FROM entries", "tool:refund_order: the switch is not as its last entry left it."),
    ],
)
def test_what_is_changed_past_the_store_is_found(database: Database, statement: str, said: str) -> None:
    throw(database)
    harm(database, statement)

    assert any(said in sentence for sentence in cases.verify(database))


@pytest.mark.parametrize("statement", ["UPDATE entries SET reason = 'other'", "DELETE FROM entries"])
def test_entries_of_switches_can_only_be_added(database: Database, statement: str) -> None:
    throw(database)

    with pytest.raises(Exception, match="append-only"), database.write() as connection:
        connection.execute(text(statement))
    assert len(switches.history(database, TOOL)) == 1
