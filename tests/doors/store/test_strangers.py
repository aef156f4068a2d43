"""A refund is a stranger where no intent of its account has its key or its id."""

from recon.doors import intents
from recon.doors.store import strangers
from recon.doors.store.engines import Database
from recon.model.records.words import AccountId
from tests.builders import a_refund, an_intent


def test_a_refund_is_no_stranger_whose_key_or_id_an_intent_has(database: Database) -> None:
    with database.write() as connection:
        intents.put(connection, an_intent(key="refund_order:8812"))
        intents.put(connection, an_intent(key="k2", refund_id="re_known"))
    ours = a_refund(id="re_1", intent_key="refund_order:8812")
    known = a_refund(id="re_known", intent_key=None)
    requested = a_refund(id="re_2", intent_key=None, request_key="k2")
    nobodys = a_refund(id="re_3", intent_key="k_nobody")
    bare = a_refund(id="re_4", intent_key=None)
    elsewhere = a_refund(id="re_known", intent_key=None, account=AccountId("acct_1"))

    with database.read() as connection:
        assert strangers.among(connection, [ours, known, requested, nobodys, bare]) == (nobodys, bare)
        assert strangers.among(connection, [elsewhere]) == (elsewhere,)
        assert strangers.among(connection, []) == ()
