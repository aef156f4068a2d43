from recon.doors.store.rows import reject_record, reject_row
from recon.model.records.results import Reject
from recon.model.records.words import AccountId
from recon.model.tables import rejects


def test_a_reject_is_kept_without_the_payments_that_it_is_on() -> None:
    reject = Reject("refunds", 3, "re_9", "No amount.", AccountId("acct_1"), ("key_9",), ("pi_1", "ch_1"))

    row = reject_row(reject)

    assert set(row) < set(rejects.c.keys())
    assert reject_record(row) == reject
    assert reject_record(row).payments == ()
