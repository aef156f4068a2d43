from recon.doors.store.engines import Database
from recon.model.records.results import Reject
from tests.builders import PLATFORM, an_intent
from tests.doors.store.books import put
from tests.doors.store.test_reading import mark_of, read, save


def test_a_row_that_stands_rejected_is_said_by_every_reading_until_it_is_put_right(
    database: Database,
) -> None:
    put(database, an_intent(status="lost"))
    first = read(database)
    save(database, "1", rejects=first.intents.rejects)
    mark = mark_of(database)
    unread = Reject("refunds", 1, "re_unread", "No amount.", PLATFORM)
    save(database, "2", rejects=(*first.intents.rejects, unread))  # Its page was unreadable: no row of ours.

    again = read(database, mark=mark)

    assert [each.id for each in first.intents.rejects] == ["refund_order:8812"]
    assert again.intents.rejects == first.intents.rejects
    assert again.judged == {(PLATFORM, "intent:refund_order:8812")}
    assert again.gone == frozenset()
