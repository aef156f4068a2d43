from datetime import UTC, datetime

from recon.doors.store import cases, queue
from recon.doors.store.engines import Database
from recon.rules import stories
from tests import crowd
from tests.doors.store.books import count

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def test_a_crowd_is_what_runs_and_people_could_have_left(database: Database) -> None:
    crowd.fill(database, waiting=200, told=1_500, now=NOW)

    told = list(cases.stories(database))

    assert cases.verify(database) == ()
    assert [found for case, entries in told if (found := stories.unexplained(case, entries))] == []
    assert queue.summary(database).waiting == 200
    assert 1_500 <= count(database, "entries") < 1_510
