"""Whose sign-in counts at the desk: at every move, and for coming in at all."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from inspect import Parameter, getmembers, isfunction, signature

import pytest

from recon.desk import Desk
from recon.doors.store import operators, sign_outs
from recon.doors.store.engines import Database
from recon.model.errors import NotPermitted
from recon.model.records.cases import Case
from recon.model.records.people import Operator, Refused, Shut
from recon.model.records.words import Actor, Role
from recon.model.settings import Settings
from recon.moving import Click
from recon.rules.arrivals import SKEW
from tests import seeds
from tests.builders import NOON
from tests.hours import OWNERS
from tests.test_desk import LATER, seen
from tests.test_desk_moves import MOVES, every_move

KIM = Operator(Actor("kim@example.com"), Role.OPERATOR, since=NOON)
SESSION = timedelta(hours=8)


@pytest.fixture
def case(database: Database) -> Case:
    mismatch = seeds.duplicate(8812, at=NOON - timedelta(hours=2))
    intent, refunds = seeds.sides(mismatch, at=mismatch.since)
    seeds.rows(database, [intent], refunds, now=NOON)
    (found,) = seeds.run(database, [mismatch], now=NOON)
    return found


@pytest.fixture
def desk(database: Database) -> Desk:
    return Desk(database, Settings(owners=OWNERS), clock=lambda: LATER)


def moves_of_a_person() -> Iterator[str]:
    """The desk's own list: whatever takes a click."""
    for name, method in getmembers(Desk, isfunction):
        kinds = {each.name: each.kind for each in signature(method).parameters.values()}
        if kinds.get("click") is Parameter.VAR_KEYWORD:
            yield name


def test_every_move_that_there_is_is_tried_here() -> None:
    assert {*MOVES, "take"} <= set(moves_of_a_person())


def made(desk: Desk, case: Case, move: str, operator: Operator) -> None:
    if move == "take":
        click = Click(version=case.version, reason="Because.", operator=operator, action_id="click")
        desk.take(case.id, **click)
    else:
        every_move(desk, case, operator)[move]()


@pytest.mark.parametrize(
    "told, known, said",
    [
        (replace(KIM, role=Role.VIEWER), replace(KIM, role=Role.ADMIN), "has the role viewer"),
        (replace(KIM, role=Role.ADMIN), replace(KIM, role=Role.VIEWER), "has the role viewer"),
        (KIM, replace(KIM, active=False), "may no longer act"),
        (replace(KIM, since=LATER - SESSION), KIM, "that counts for 8 hours"),
        (replace(KIM, since=NOON - timedelta(minutes=1)), KIM, "You were signed out at 12:00 UTC"),
    ],
)
def test_no_move_is_made_by_who_may_not_whatever_their_tab_still_shows(
    desk: Desk, database: Database, case: Case, *, told: Operator, known: Operator, said: str
) -> None:
    operators.put(database, replace(known, slack_id="U1", since=None))
    if "signed out" in said:
        sign_outs.put(database, KIM.name, NOON)

    for move in (*MOVES, "take"):
        with pytest.raises(NotPermitted, match=said):
            made(desk, case, move, replace(told, slack_id="U1"))

    assert len(seen(desk, case).entries) == 1


def test_the_entry_names_who_signed_in(desk: Desk, case: Case) -> None:
    made(desk, case, "acknowledge", KIM)

    assert seen(desk, case).entries[-1].actor == "kim@example.com"


def test_who_signs_out_is_out_with_every_sign_in_until_then(desk: Desk) -> None:
    assert desk.standing(KIM) == KIM

    desk.sign_out(KIM)

    assert desk.standing(KIM) == Refused(
        Shut.ENDED, "You were signed out at 12:07 UTC: sign in again to go on.", KIM.name
    )
    again = replace(KIM, since=LATER + timedelta(seconds=1))
    assert desk.standing(again) == again


@pytest.mark.parametrize("ahead", [timedelta(seconds=1), SKEW])
def test_who_signs_out_is_out_where_the_providers_clock_is_ahead(desk: Desk, ahead: timedelta) -> None:
    early = replace(KIM, since=LATER + ahead)

    desk.sign_out(early)

    found = desk.standing(early)
    assert isinstance(found, Refused)
    assert found.why is Shut.ENDED


def test_who_was_removed_does_not_come_in_and_who_was_lowered_does(desk: Desk, database: Database) -> None:
    operators.put(database, replace(KIM, role=Role.VIEWER, since=None))
    assert desk.standing(KIM) == replace(KIM, role=Role.VIEWER)

    operators.put(database, replace(KIM, active=False, since=None))
    found = desk.standing(KIM)

    assert isinstance(found, Refused)
    assert (found.why, found.sentence) == (
        Shut.REMOVED,
        "kim@example.com may no longer come in at this desk.",
    )


def test_nobody_whose_sign_in_ended_is_offered_a_move(desk: Desk, case: Case) -> None:
    assert seen(desk, case, KIM).moves != ()

    desk.sign_out(KIM)

    assert seen(desk, case, KIM).moves == ()
    assert not desk.may_act(KIM)
