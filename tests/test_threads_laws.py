"""After any history: whoever had to hear has heard, once, in order, and each root shows what is so."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from recon.doors.store.engines import Database
from recon.model.records.words import Action, Kind
from tests.builders import PLATFORM
from tests.databases import Fresh
from tests.echoes import faults, stale_roots, unheard
from tests.newsroom import ACCOUNTS, OTHER, RULES, Newsroom

KINDS = (Kind.DUPLICATE, Kind.MISSING, Kind.ORPHAN, Kind.STUCK, Kind.STATUS_MISMATCH)
account, place, number = st.sampled_from(ACCOUNTS), st.integers(0, 5), st.integers(0, 3)
weather = st.lists(st.sampled_from(("fine", "away", "drop", "lose", "limit", "die", "killed")), max_size=6)
broken = st.sampled_from(((), (), (OTHER,), (PLATFORM,), ACCOUNTS))
STEP = st.one_of(
    st.tuples(st.just("wait"), st.sampled_from((1, 5, 20, 60, 60 * 5, 60 * 24))),
    st.tuples(st.just("break"), account, number, st.sampled_from(KINDS), st.sampled_from((4900, 100))),
    st.tuples(st.just("break"), account, number, st.sampled_from(KINDS), st.sampled_from((4900, 100))),
    st.tuples(st.just("mend"), account, number),
    st.tuples(st.just("run"), broken),
    st.tuples(st.just("run"), broken),
    st.tuples(st.just("rules"), st.integers(0, len(RULES) - 1)),
    st.tuples(st.sampled_from(("apply", "remind"))),
    st.tuples(st.just("deliver"), weather.map(tuple)),
    st.tuples(st.just("deliver"), st.just(())),
    st.tuples(st.just("meanwhile"), place, st.sampled_from(Newsroom.MOVES), st.integers(0, 3)),
    st.tuples(st.just("move"), place, st.sampled_from(Newsroom.MOVES), st.integers(0, 3)),
)


@given(
    steps=st.lists(STEP, min_size=6, max_size=30),
    limit=st.sampled_from((1, 20)),
    deleting=st.one_of(st.none(), st.integers(0, 3)),
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=6,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # Making a history shorter takes minutes.
)
def test_after_any_history_all_is_told_once_and_each_root_shows_what_is_so(
    steps: list[tuple[object, ...]], limit: int, deleting: int | None, fresh: Fresh
) -> None:
    with fresh() as database:
        room = Newsroom(database, surge_limit=limit)

        assert faults(room, steps, deleting) == []


@pytest.fixture
def room(database: Database) -> Newsroom:
    return Newsroom(database)


def test_a_new_owner_hears_of_a_known_case_though_its_account_cannot_be_read(room: Newsroom) -> None:
    room.do_break(OTHER, 1, Kind.STUCK, 4900)
    room.do_run()
    room.do_rules(1)  # Mona owns what is of the other account.
    room.do_run((OTHER,))
    room.settle()

    assert unheard(room) == []


@pytest.mark.parametrize("applied", [True, False])
def test_a_case_that_nobody_owned_reaches_the_owner_it_gets_while_its_account_cannot_be_read(
    room: Newsroom, *, applied: bool
) -> None:
    room.do_rules(2)  # Nobody owns an orphan.
    room.do_break(OTHER, 1, Kind.ORPHAN, 4900)
    room.do_run()
    room.do_rules(0)
    if applied:
        room.do_rules(2)
        room.do_run((OTHER,))  # So that the latest run is not to be trusted.
        room.do_rules(0)
        room.do_apply()
    else:
        room.do_run((OTHER,))
    room.settle()

    assert unheard(room) == []


def test_a_root_that_a_new_one_follows_before_its_last_edit_has_gone_shows_how_it_ended(
    room: Newsroom,
) -> None:
    room.do_break(PLATFORM, 1, Kind.DUPLICATE, 4900)
    room.do_run()
    room.do_deliver()
    room.do_mend(PLATFORM, 1)
    room.do_run()  # Slack is away, and the edit waits.
    room.do_break(PLATFORM, 2, Kind.DUPLICATE, 4900)
    room.do_run()
    room.settle()

    assert stale_roots(room) == []


def test_a_root_that_was_deleted_is_not_posted_again_to_say_how_it_ended(room: Newsroom) -> None:
    room.do_break(PLATFORM, 1, Kind.DUPLICATE, 4900)
    room.do_run()
    room.do_deliver()
    room.do_mend(PLATFORM, 1)
    room.do_run()
    room.do_break(PLATFORM, 2, Kind.DUPLICATE, 4900)
    room.do_run()
    room.do_delete(0)
    room.settle()

    assert not any("Nothing waits" in each.message.text for each in room.slack.roots("CPAYMENTS"))
    assert stale_roots(room) == []


def test_of_two_cases_that_clear_the_one_that_somebody_moves_meanwhile_is_not_said_twice(
    room: Newsroom,
) -> None:
    for number in (1, 2):
        room.do_break(PLATFORM, number, Kind.DUPLICATE, 4900)
    room.do_run()
    for number in (1, 2):
        room.do_mend(PLATFORM, number)
    room.do_meanwhile(1, Action.ACKNOWLEDGED)
    room.do_run()
    room.settle()

    told = [each.message.text.partition(": ")[2].partition(".")[0] for each in room.slack.said]
    assert [each for each in told if "cleared" in each] == ["1 cleared", "1 cleared"]


def test_what_opens_in_a_thread_whose_channel_was_archived_is_told_to_the_operators(room: Newsroom) -> None:
    room.do_break(PLATFORM, 1, Kind.DUPLICATE, 4900)
    room.do_run()
    room.do_deliver()
    room.slack.archived.add("CPAYMENTS")
    room.do_break(PLATFORM, 2, Kind.DUPLICATE, 4900)
    room.do_run()
    room.do_deliver()
    (told,) = room.slack.roots("COPERATORS")

    assert told.message.text.startswith("Meant for #payments, where Slack takes no message from us. MEDIUM")
    assert "1 opened" in told.message.text


def test_a_thread_that_a_person_and_a_run_begin_at_once_has_one_root(room: Newsroom) -> None:
    room.do_break(PLATFORM, 1, Kind.DUPLICATE, 4900)
    room.do_run()
    room.do_move(0, Action.RESOLVED)
    room.do_deliver()
    room.do_break(PLATFORM, 2, Kind.DUPLICATE, 4900)
    room.do_meanwhile(0, Action.REOPENED)
    room.do_run()
    room.settle()

    assert len(room.slack.roots("CPAYMENTS")) == 2
    assert stale_roots(room) + unheard(room) == []
