from dataclasses import replace
from datetime import timedelta

from recon.doors import intents
from recon.doors.store.engines import Database
from recon.model.records.words import AccountId, IntentKey, IntentStatus, RefundId
from tests.builders import NOON, PLATFORM, an_intent

PENDING = an_intent(status=IntentStatus.PENDING, refund_id=None, first_sent_at=None)
DONE = replace(
    PENDING,
    status=IntentStatus.DONE,
    refund_id=RefundId("re_1"),
    first_sent_at=NOON,
    updated_at=NOON + timedelta(seconds=2),
)


def test_an_intent_is_written_once(database: Database) -> None:
    with database.write() as connection:
        assert intents.put(connection, PENDING)
        assert not intents.put(connection, replace(PENDING, amount_minor=1))
        assert intents.put(connection, replace(PENDING, account=AccountId("acct_2")))

        assert intents.get(connection, PLATFORM, PENDING.key) == PENDING
        assert intents.get(connection, PLATFORM, IntentKey("another")) is None


def test_an_intent_is_settled_from_an_expected_status_only(database: Database) -> None:
    with database.write() as connection:
        intents.put(connection, PENDING)

        assert not intents.settle(connection, DONE, expected=[IntentStatus.PENDING_UNKNOWN])
        assert intents.settle(connection, DONE, expected=[IntentStatus.PENDING, IntentStatus.PENDING_UNKNOWN])

        assert intents.get(connection, PLATFORM, PENDING.key) == DONE


def test_a_done_intent_stays_done(database: Database) -> None:
    with database.write() as connection:
        intents.put(connection, DONE)

        assert not intents.settle(
            connection, replace(DONE, status=IntentStatus.FAILED), expected=list(IntentStatus)
        )
        assert intents.get(connection, PLATFORM, DONE.key) == DONE
