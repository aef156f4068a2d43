"""Who may throw and lift a tool's kill switch, and what each is told."""

from dataclasses import replace
from datetime import datetime

import pytest

from recon.doors import config
from recon.doors.store import cases, operators, outbox, switches
from recon.doors.store.engines import Database
from recon.model.errors import NotPermitted, Report, SwitchMoved
from recon.model.records.people import Operator
from recon.model.records.tools import Switch, SwitchMove
from recon.model.records.words import Actor, Role
from recon.switchboard import Switchboard
from tests.builders import NOON

ANA, BO = Operator(Actor("ana"), Role.OPERATOR), Operator(Actor("bo"), Role.ADMIN)
VIEWER = Operator(Actor("vi"), Role.VIEWER)
TOOL = "refund_order"


def told(database: Database) -> list[tuple[str, str, str]]:
    """What the operators are told, oldest first: its verb, its thread and its words."""
    found = outbox.recent(database, 10)[::-1]
    assert {each.target for each in found} == {"#refund-operators"}
    return [(each.verb, each.thread_key, each.message.text) for each in found]


@pytest.fixture
def board(database: Database) -> Switchboard:
    """The switchboard over the shipped tools, at noon."""
    settings = config.load({})

    def clock() -> datetime:
        return NOON

    return Switchboard(database, lambda: settings, clock)


def throw(
    board: Switchboard, operator: Operator = ANA, *, reason: str = "doubles", click: str = "1"
) -> Switch:
    return board.throw(TOOL, operator=operator, reason=reason, action_id=f"click_{click}")


def lift(board: Switchboard, operator: Operator = BO, *, version: int = 1, click: str = "2") -> Switch:
    return board.lift(TOOL, version=version, operator=operator, reason="mended", action_id=f"click_{click}")


def test_every_declared_tool_has_a_switch(board: Switchboard) -> None:
    assert board.every() == {name: Switch(name) for name in ("refund_order", "check_refund_status")}
    assert board.thrown() == ()


def test_an_operator_throws_and_an_admin_lifts(board: Switchboard, database: Database) -> None:
    thrown = throw(board)
    seen = board.thrown()
    lifted = lift(board)

    assert seen == (thrown,)
    assert (thrown.thrown, thrown.moved_by, thrown.reason, thrown.moved_at) == (True, "ana", "doubles", NOON)
    assert (lifted.thrown, lifted.version, lifted.moved_by) == (False, 2, "bo")
    assert [each.move for each in board.history(TOOL)] == [SwitchMove.LIFTED, SwitchMove.THROWN]
    assert cases.verify(database) == ()


def test_an_operator_does_not_lift_and_a_viewer_does_not_throw(board: Switchboard) -> None:
    throw(board)

    with pytest.raises(NotPermitted, match="ana has the role operator; this takes admin"):
        lift(board, ANA)
    with pytest.raises(NotPermitted, match="vi has the role viewer; this takes operator"):
        throw(board, VIEWER, click="3")
    assert [board.may(who, SwitchMove.THROWN) for who in (VIEWER, ANA, BO)] == [False, True, True]
    assert [board.may(who, SwitchMove.LIFTED) for who in (VIEWER, ANA, BO)] == [False, False, True]
    assert len(board.history(TOOL)) == 1


def test_the_database_takes_rights_away_at_each_move(board: Switchboard, database: Database) -> None:
    throw(board)
    operators.put(database, replace(BO, role=Role.OPERATOR))
    operators.put(database, replace(ANA, active=False))

    with pytest.raises(NotPermitted, match="bo has the role operator"):
        lift(board)
    with pytest.raises(NotPermitted, match="ana may no longer act"):
        throw(board, click="3")


def test_the_operators_are_told_of_each_move_once_and_of_no_word_of_the_person(
    board: Switchboard, database: Database
) -> None:
    throw(board)
    throw(board, BO, click="again")
    lift(board)
    lift(board)
    throw(board, click="3")

    page = "http://127.0.0.1:8501/tools?tool=refund_order"
    at = "at 2026-03-06 12:00 UTC"
    thrown = (
        f"Kill switch of refund_order thrown, by ana {at}. Nothing of it is sent until an admin lifts it; "
        "look-ups and runs go on. What to do: read why on its page; then, as an admin: "
        f'`recon tools on refund_order --reason "..."`, or there. {page}'
    )
    lifted = (
        f"Kill switch of refund_order lifted, by bo {at}. It is sent again. What to do: nothing; its page "
        f"says why. {page}"
    )
    first, again, second = told(database)
    assert first == ("root", "switch|refund_order|1", thrown)
    assert again == ("call", "switch|refund_order|1", lifted)
    assert second[:2] == ("root", "switch|refund_order|3")
    assert "doubles" not in str(outbox.recent(database, 10))


def test_a_move_that_is_refused_is_not_told(board: Switchboard, database: Database) -> None:
    with pytest.raises(NotPermitted):
        throw(board, VIEWER)

    assert outbox.recent(database, 10) == ()


def test_who_throws_what_is_thrown_is_shown_who_was_first(board: Switchboard) -> None:
    first = throw(board)

    assert throw(board, BO, reason="me too", click="2") == first
    assert len(board.history(TOOL)) == 1


def test_a_lift_of_what_was_moved_after_one_looked_is_refused(board: Switchboard) -> None:
    throw(board)
    lift(board)
    throw(board, click="3")

    with pytest.raises(
        SwitchMoved, match=r"ana threw the switch of refund_order at 2026-03-06 12:00 UTC, aft"
    ):
        lift(board, version=1, click="4")
    assert board.thrown()


def test_a_click_that_comes_twice_lifts_once(board: Switchboard) -> None:
    throw(board)
    lifted = lift(board)

    assert lift(board) == lifted
    assert len(board.history(TOOL)) == 2


def test_what_is_not_thrown_is_not_lifted(board: Switchboard) -> None:
    with pytest.raises(Report, match="to be thrown, found that it is not"):
        lift(board, version=0)
    with pytest.raises(Report, match="to be thrown, found that it is not"):
        lift(board, version=7)


@pytest.mark.parametrize("reason", ["", " \n", "x" * 2_001])
def test_a_move_needs_a_reason_that_can_be_kept(board: Switchboard, reason: str) -> None:
    with pytest.raises(Report, match="reason"):
        throw(board, reason=reason)
    assert board.thrown() == ()


def test_a_tool_that_only_reads_has_no_switch_to_throw(board: Switchboard) -> None:
    with pytest.raises(Report, match="found check_refund_status, which is declared as read"):
        board.throw("check_refund_status", operator=ANA, reason="doubles", action_id="click_1")

    assert board.thrown() == ()


def test_a_tool_that_is_not_declared_has_no_switch_unless_it_had_one(
    board: Switchboard, database: Database
) -> None:
    with pytest.raises(Report, match=r"Expected a tool of tools.toml \(refund_order, check_refund_status\)"):
        board.throw("refund_oder", operator=ANA, reason="x", action_id="1")
    with database.write() as connection:
        switches.move(
            connection, Switch("old"), SwitchMove.THROWN, actor=ANA.name, reason="x", now=NOON, action_id="2"
        )

    assert board.every()["old"].thrown
    assert not board.lift("old", version=1, operator=BO, reason="x", action_id="3").thrown
