"""Senders killed around what they ask of Slack: in the end each message is seen once, and none is lost.

RECON_TEST_KILLS: how many senders die in a world (5). RECON_TEST_SEED: the world in which they do.
`python -m tests.slack_kills_long` is the same with hundreds of deaths.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kills import KILLED
from tests.nursery import Fate
from tests.sandboxes import Street
from tests.slack_kills import World, a_world, live
from tests.town import a_notice

KILLS = int(os.environ.get("RECON_TEST_KILLS", "5"))
SEED = int(os.environ.get("RECON_TEST_SEED", "1"))


@pytest.fixture
def world(database_url: str, sandbox: Street, tmp_path: Path) -> Iterator[World]:
    with a_world(database_url, sandbox, tmp_path, SEED) as made:
        yield made


def test_senders_that_are_killed_anywhere_let_people_see_each_message_once_and_in_order(world: World) -> None:
    wrong = live(world, KILLS)

    assert wrong == [], "\n".join([f"seed {SEED}", *world.deaths])


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "sabotage,target,dies_at",
    [
        ("no_look_up", "#north", 1),
        # The archived channel says no, and the message goes to the operators.
        ("no_aim", "#closed", 2),
    ],
)
def test_what_is_not_looked_for_where_it_was_sent_is_seen_twice(
    world: World, sabotage: str, target: str, dies_at: int
) -> None:
    world.sabotage = sabotage
    world.tell(a_notice("root", target=target, created_at=world.now(), next_at=world.now()))
    killed = Fate(job="turn", sabotage=sabotage, dies="after post", dies_at=dies_at)
    assert world.first.run(killed).code == KILLED
    world.street.advance(200)

    world.settle()

    assert len(world.street.messages()) == 2
    assert world.wrong() != []
