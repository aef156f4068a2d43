"""Every move of the desk: whose it is, on which case, and how often it counts."""

from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from recon.desk import Desk
from recon.doors.store import claims
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.errors import CaseMoved, NotPermitted, Report
from recon.model.records.cases import JOB, Case, Owner
from recon.model.records.claims import Known
from recon.model.records.people import Operator
from recon.model.records.queues import QueueFilters
from recon.model.records.words import CaseId, CaseState, IntentKey, RefundId, Resolution, Role
from recon.model.settings import Settings
from recon.moving import Click
from tests import seeds
from tests.builders import NOON
from tests.hours import OWNERS
from tests.test_desk import ANA, BEN, LATER, VERA, acknowledged, seen

DAY = timedelta(days=1)


@pytest.fixture
def owned(database: Database) -> Desk:
    """A desk whose settings name owners."""
    return Desk(database, Settings(owners=OWNERS), clock=lambda: LATER)


@pytest.fixture
def case(database: Database) -> Case:
    mismatch = seeds.duplicate(8812, at=NOON - timedelta(hours=2))
    intent, refunds = seeds.sides(mismatch, at=mismatch.since)
    seeds.rows(database, [intent], refunds, now=NOON)
    (found,) = seeds.run(database, [mismatch], now=NOON)
    return found


def every_move(desk: Desk, case: Case, operator: Operator) -> dict[str, Callable[[], object]]:
    """Return each move of the desk as one click of this operator's."""
    click = Click(version=case.version, reason="Because.", operator=operator, action_id="click")
    ours, until = {"refund_id": RefundId("re_8812"), "intent_key": IntentKey("refund_order:8812")}, NOON + DAY
    return {
        "acknowledge": lambda: desk.acknowledge(case.id, **click),
        "resolve": lambda: desk.resolve(case.id, code=Resolution.RECOVERED, **click),
        "accept": lambda: desk.accept(case.id, until=until, **click),
        "reopen": lambda: desk.reopen(case.id, **click),
        "snooze": lambda: desk.snooze(case.id, until=until, **click),
        "assign": lambda: desk.assign(case.id, owner=desk.owners()[0], **click),
        "adopt": lambda: desk.adopt(case.id, **click),
        "link": lambda: desk.link(case.id, **ours, **click),  # type: ignore[arg-type]  # by name
        "unlink": lambda: desk.unlink(case.id, refund_id=RefundId("re_8812"), **click),
        "comment": lambda: desk.comment(case.id, **click),
    }


MOVES = (
    "acknowledge",
    "resolve",
    "accept",
    "reopen",
    "snooze",
    "assign",
    "adopt",
    "link",
    "unlink",
    "comment",
)


@pytest.mark.parametrize("move", MOVES)
def test_no_move_is_a_viewers(owned: Desk, case: Case, move: str) -> None:
    with pytest.raises(NotPermitted, match="Vera has the role viewer"):
        every_move(owned, case, VERA)[move]()

    assert len(seen(owned, case).entries) == 1


def test_an_owners_file_that_is_wrong_keeps_nobody_from_acting(database: Database, case: Case) -> None:
    desk = Desk(database, Settings(owners={"rules": 3}), clock=lambda: LATER)

    acknowledged(desk, case, ANA)

    assert seen(desk, case).case.state is CaseState.ACKNOWLEDGED


@pytest.mark.parametrize("move", MOVES)
def test_no_move_is_made_on_a_case_that_moved_meanwhile(owned: Desk, case: Case, move: str) -> None:
    acknowledged(owned, case, BEN)

    with pytest.raises(CaseMoved, match=r"^Ben acknowledged this case"):
        every_move(owned, case, ANA)[move]()

    assert len(seen(owned, case).entries) == 2


@pytest.mark.parametrize("move", ["acknowledge", "resolve", "accept", "snooze", "assign", "link", "comment"])
def test_every_move_is_made_once_however_often_it_is_pressed(owned: Desk, case: Case, move: str) -> None:
    for _ in range(3):
        every_move(owned, case, ANA)[move]()

    assert len(seen(owned, case).entries) == 2


def test_who_decided_on_rows_that_changed_meanwhile_is_told(
    owned: Desk, database: Database, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = claims.read

    def read_and_then(*named: Any) -> Known:  # noqa: ANN401 -- whatever the desk asks
        known = read(*named)
        with database.write() as connection:
            connection.execute(update(tables.refunds).values(status="failed"))
        return known

    monkeypatch.setattr(claims, "read", read_and_then)

    with pytest.raises(CaseMoved, match="refund re_8812 and its intent as they were read"):
        every_move(owned, case, ANA)["link"]()
    assert len(seen(owned, case).entries) == 1


def test_an_action_id_of_another_move_is_not_taken_for_done(
    owned: Desk, database: Database, case: Case
) -> None:
    (other,) = seeds.run(database, [seeds.duplicate(8813, at=NOON)], number=2, now=NOON)
    acknowledged(owned, case, ANA, action_id="once")

    with pytest.raises(Report, match=f"found that of acknowledged on case {case.id}"):
        acknowledged(owned, other, ANA, action_id="once")
    assert len(seen(owned, other).entries) == 1


def test_nobody_acts_by_the_name_of_the_job(owned: Desk, case: Case) -> None:
    with pytest.raises(NotPermitted, match="recon is the job's own name"):
        acknowledged(owned, case, Operator(JOB, Role.ADMIN))


@pytest.mark.parametrize("text", ["re_\x00", "re_\ud800"])
def test_what_no_database_keeps_is_not_found(owned: Desk, case: Case, text: str) -> None:
    click = Click(version=case.version, reason="Because.", operator=ANA, action_id="click")

    assert owned.case(text, operator=ANA) is None
    assert owned.queue(QueueFilters(search=text)).cases == ()
    assert owned.queue(QueueFilters(owners=(text,))).cases == ()
    with pytest.raises(Report, match="has no refund"):
        owned.link(case.id, refund_id=RefundId(text), intent_key=IntentKey("refund_order:8812"), **click)
    with pytest.raises(Report, match="has no intent"):
        owned.link(case.id, refund_id=RefundId("re_8812"), intent_key=IntentKey(text), **click)
    with pytest.raises(Report, match="nothing to take back"):
        owned.unlink(case.id, refund_id=RefundId(text), **click)
    with pytest.raises(Report, match="Expected a case"):
        owned.comment(CaseId(text), **click)


@pytest.mark.parametrize("id_, told", [("ben", True), ("ana", False)])
def test_who_comes_second_while_the_rows_are_read_is_told_of_the_first_not_of_the_rows(
    owned: Desk,
    case: Case,
    monkeypatch: pytest.MonkeyPatch,
    id_: str,
    told: bool,  # noqa: FBT001 -- a table's column
) -> None:
    read = claims.read
    ours: dict[str, Any] = {"refund_id": RefundId("re_8812"), "intent_key": IntentKey("refund_order:8812")}
    click: dict[str, Any] = {"version": case.version, "reason": "Because.", "operator": ANA}

    def after_the_first(*named: Any) -> Known:  # noqa: ANN401 -- whatever the desk asks
        monkeypatch.setattr(claims, "read", read)
        owned.link(case.id, **ours, **(click | {"operator": BEN if told else ANA}), action_id=id_)
        return read(*named)

    monkeypatch.setattr(claims, "read", after_the_first)
    with pytest.raises(CaseMoved, match=r"^Ben linked a refund of this case") if told else nullcontext():
        owned.link(case.id, **ours, **click, action_id="ana")

    assert len(seen(owned, case).entries) == 2


def test_the_owners_are_those_of_owners_toml_each_once(database: Database) -> None:
    rules = [
        {"name": "all", "owner": "Operators", "target": "#ops"},
        {"name": "support", "team": "support", "owner": "Leads", "target": "#leads"},
        {"name": "old", "tool": "old", "unowned": "Closed."},
        {"name": "again", "team": "sales", "owner": "Leads", "target": "#leads"},
    ]
    only_in_a_table = {"Head of support": {"target": "U0HEAD"}}
    told = {"rules": rules, "owners": only_in_a_table}
    desk = Desk(database, Settings(owners=told), clock=lambda: LATER)

    assert [(each.name, each.target) for each in desk.owners()] == [
        ("Head of support", "U0HEAD"),
        ("Leads", "#leads"),
        ("Operators", "#ops"),
    ]


def test_a_case_is_not_given_to_somebody_whom_owners_toml_does_not_name(owned: Desk, case: Case) -> None:
    with pytest.raises(Report, match=r"an owner that owners\.toml names, found 'Mallory'"):
        owned.assign(
            case.id,
            owner=Owner("Mallory", "#elsewhere", "x"),
            version=case.version,
            reason="Why not?",
            operator=ANA,
            action_id="m",
        )
