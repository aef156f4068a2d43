from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from recon.model.records.cases import JOB
from recon.model.records.people import Operator
from recon.model.records.words import Actor, Role
from recon.rules import permissions
from tests.builders import NOON

ANA = Operator(Actor("Ana"), Role.APPROVER, slack_id="U1")


def test_each_role_may_do_what_those_before_it_may() -> None:
    allowed = {
        (role, needed): permissions.allows(replace(ANA, role=role), needed)
        for role, needed in product(Role, Role)
    }

    assert [role for role in Role if allowed[role, Role.OPERATOR]] == [
        Role.OPERATOR,
        Role.APPROVER,
        Role.ADMIN,
    ]
    assert [role for role in Role if allowed[role, Role.APPROVER]] == [Role.APPROVER, Role.ADMIN]
    assert [role for role in Role if allowed[role, Role.ADMIN]] == [Role.ADMIN]


def test_whoever_may_not_is_told_what_it_takes() -> None:
    vera = replace(ANA, role=Role.OPERATOR)

    assert permissions.refusal(vera, Role.APPROVER) == (
        "Ana has the role operator; this takes approver or admin."
    )


@pytest.mark.parametrize(
    "person, said",
    [
        (replace(ANA, active=False), "may no longer act"),
        (replace(ANA, name=JOB, role=Role.ADMIN), "nobody acts by it"),
    ],
)
def test_nobody_acts_who_was_removed_or_uses_the_jobs_name(person: Operator, said: str) -> None:
    assert said in str(permissions.refusal(person, Role.VIEWER))


@pytest.mark.parametrize("told, known", list(product(Role, Role)))
def test_the_database_takes_rights_away_and_adds_none(told: Role, known: Role) -> None:
    found = permissions.standing(replace(ANA, role=told, slack_id=None), replace(ANA, role=known))

    assert found.role in {told, known}
    assert list(Role).index(found.role) == min(list(Role).index(told), list(Role).index(known))
    assert found.slack_id == "U1"


def test_who_was_removed_in_the_database_is_removed_however_they_came_in() -> None:
    assert not permissions.standing(ANA, replace(ANA, active=False)).active
    assert permissions.standing(ANA, None) == ANA


HOURS = timedelta(hours=8)


@pytest.mark.parametrize(
    "age, out, said",
    [
        (timedelta(0), None, None),
        (HOURS - timedelta(microseconds=1), None, None),
        (HOURS, None, "You signed in at 04:00 UTC, and that counts for 8 hours: sign in again to go on."),
        (timedelta(days=1), None, "You signed in on 5 Mar at 12:00 UTC, and that counts for 8 hours"),
        (
            timedelta(hours=1),
            timedelta(minutes=30),
            "You were signed out at 11:30 UTC: sign in again to go on.",
        ),
        (timedelta(hours=1), timedelta(hours=1), "You were signed out at 11:00 UTC"),
        (timedelta(hours=1), timedelta(hours=1, microseconds=1), None),  # Signed in after it.
    ],
)
def test_a_sign_in_counts_for_its_hours_and_until_a_sign_out(
    age: timedelta, out: timedelta | None, said: str | None
) -> None:
    told = replace(ANA, since=NOON - age)

    found = permissions.ended(told, out_at=None if out is None else NOON - out, session=HOURS, now=NOON)

    assert (found or "").startswith(said or "")
    assert (found is None) == (said is None)


def test_where_no_sign_in_is_asked_for_none_ends() -> None:
    assert permissions.ended(ANA, out_at=NOON, session=HOURS, now=NOON + HOURS) is None


def test_when_somebody_signed_in_is_kept_whatever_the_database_knows() -> None:
    told = replace(ANA, since=NOON)

    assert permissions.standing(told, replace(ANA, role=Role.VIEWER)).since == NOON
