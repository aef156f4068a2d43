from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select, text, update

from recon.doors.store import cases, leases, outbox, reading, runs, threads
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.errors import ConfigurationError, LeaseLost
from recon.model.records.cases import Owner
from recon.model.records.results import Due, Healable, Money, Reject
from recon.model.records.runs import HOUR
from recon.model.records.words import (
    AccountId,
    Basis,
    CaseState,
    Direction,
    Finding,
    IntentKey,
    IntentStatus,
    Kind,
    RefundId,
    Resolution,
    RunId,
    Severity,
    Subject,
    Verdict,
)
from tests.builders import NOON, PLATFORM, a_case, a_mismatch, a_refund, an_intent
from tests.doors.store.books import (
    DURATION,
    LATER,
    a_lease,
    a_notice,
    a_run,
    acknowledged,
    case_of,
    count,
    opened,
    put,
)

INTENT = Subject("intent:refund_order:8812")
HEAL = Healable(PLATFORM, IntentKey("refund_order:8812"), RefundId("re_8812"), Basis.INTENT_KEY)
UNSETTLED = an_intent(status=IntentStatus.PENDING_UNKNOWN, refund_id=None)


def due(database: Database) -> dict[tuple[str, str], object]:
    with database.read() as connection:
        return {(row.account, row.subject): row.at for row in connection.execute(select(tables.due))}


def test_a_run_saves_everything_it_found(database: Database) -> None:
    lease = a_lease(database)
    change = opened()
    run = a_run(mark=7)

    saved = cases.save_run(
        database,
        lease,
        Saving(
            run,
            changes=(change,),
            notices=(a_notice(),),
            judged=[(PLATFORM, INTENT)],
            due=(Due(PLATFORM, INTENT, LATER),),
            rejects=(Reject("refunds", 3, "re_9", "No amount.", PLATFORM, ("key_9",)),),
        ),
    )

    assert (saved.moved, saved.not_healed) == ((), ())
    assert runs.last_saved(database) == saved.run == replace(run, heads_digest=saved.run.heads_digest)
    assert cases.get(database, change.case.id) == change.case
    assert [stored.entry for stored in cases.entries(database, change.case.id)] == [change.entry]
    assert outbox.recent(database, 5) == (a_notice(id=1),)
    assert threads.known(database, (), [change.case.id]).told == {change.case.id}
    assert due(database) == {(PLATFORM, INTENT): LATER}
    assert count(database, "rejects") == 1
    assert cases.verify(database) == ()


def test_every_field_of_a_case_comes_back(database: Database) -> None:
    lease = a_lease(database)
    mismatch = a_mismatch(
        kind=Kind.STUCK,
        finding=Finding.PROBABLE,
        direction=Direction.UNDER,
        diagnosis="minor units",
        reason='é\ud83d\ude00 "quoted"'.encode("utf-16", "surrogatepass").decode("utf-16"),
        at_risk=Money(2**62, "jpy"),
    )
    case = a_case(
        mismatch,
        state=CaseState.RESOLVED,
        severity=Severity.CRITICAL,
        owner=Owner("Ada", "U123", "assigned by ada"),
        pinned=True,
        snoozed_until=LATER,
        accepted_until=LATER,
        resolution=Resolution.WRITTEN_OFF,
    )
    bare = a_case(
        a_mismatch(
            account=AccountId("acct_2"),
            intent_key=None,
            order_id=None,
            customer_id=None,
            tool=None,
            team=None,
            payment=None,
            refund_ids=(),
            extra_refund_ids=(),
        ),
        owner=None,
    )

    cases.save_run(database, lease, Saving(a_run(), changes=(opened(case), opened(bare))))

    assert cases.get(database, case.id) == case
    assert cases.get(database, bare.id) == bare


def test_a_case_that_moved_meanwhile_is_handed_back_and_the_others_are_saved(database: Database) -> None:
    lease = a_lease(database)
    first, second = case_of(1), case_of(2)
    cases.save_run(database, lease, Saving(a_run(), changes=(opened(first), opened(second))))
    cases.move(database, acknowledged(first))
    stale, fitting = acknowledged(first, action_id="run_2:1"), acknowledged(second, action_id="run_2:2")

    saved = cases.save_run(database, lease, Saving(a_run(id=RunId("run_2")), changes=(stale, fitting)))

    assert saved.moved == (stale,)
    assert cases.get(database, second.id) == fitting.case
    again = acknowledged(replace(first, version=2), action_id="run_2:1")
    assert cases.save_changes(database, lease, [again]) == ()
    assert cases.get(database, first.id) == again.case
    assert cases.verify(database) == ()


def test_a_notice_of_moved_cases_alone_is_not_saved(database: Database) -> None:
    lease = a_lease(database)
    first, second = case_of(1), case_of(2)
    cases.save_run(database, lease, Saving(a_run(), changes=(opened(first),)))
    stale, new = opened(first, run="run_2"), opened(second, run="run_2")
    about = {
        "moved": (first.id,),
        "both": (first.id, second.id),
        "nobody": (),
    }
    notices = tuple(a_notice(dedupe_key=name, delivery_id=name, case_ids=ids) for name, ids in about.items())

    cases.save_run(database, lease, Saving(a_run(id=RunId("run_2")), changes=(stale, new), notices=notices))

    assert {notice.dedupe_key for notice in outbox.recent(database, 9)} == {"both", "nobody"}


def test_the_same_news_is_told_once(database: Database) -> None:
    lease = a_lease(database)
    cases.save_run(database, lease, Saving(a_run(), notices=(a_notice(),)))

    cases.save_run(
        database, lease, Saving(a_run(id=RunId("run_2")), notices=(a_notice(delivery_id="delivery_2"),))
    )

    assert outbox.recent(database, 9) == (a_notice(id=1),)


def test_a_run_that_lost_its_lease_leaves_nothing(database: Database) -> None:
    lease = a_lease(database)
    leases.take(database, HOUR, "another", now=NOON + DURATION, duration=DURATION)
    put(database, UNSETTLED, a_refund())

    with pytest.raises(LeaseLost):
        cases.save_run(
            database, lease, Saving(a_run(), changes=(opened(),), heals=(HEAL,), notices=(a_notice(),))
        )

    assert [count(database, table) for table in ("cases", "entries", "notices", "runs")] == [0, 0, 0, 0]
    assert (
        reading.read(database, full=True, mark=0, as_of=NOON).intents.frame["status"][0] == "pending_unknown"
    )


@pytest.mark.parametrize("where", ["runs", "entries", "notices", "due", "rejects", "run_accounts"])
def test_an_error_anywhere_in_a_save_leaves_nothing(database: Database, where: str) -> None:
    lease = a_lease(database)
    put(database, UNSETTLED, a_refund())
    with database.write() as connection:
        connection.execute(text(f"ALTER TABLE {where} RENAME TO away"))

    with pytest.raises(ConfigurationError, match="db upgrade"):
        cases.save_run(
            database,
            lease,
            Saving(
                a_run(mark=2**60),
                changes=(opened(),),
                heals=(HEAL,),
                notices=(a_notice(),),
                due=(Due(PLATFORM, INTENT, LATER),),
                rejects=(Reject("refunds", 3, "re_9", "No amount."),),
            ),
        )

    with database.write() as connection:
        connection.execute(text(f"ALTER TABLE away RENAME TO {where}"))
    written = ("cases", "entries", "notices", "threads", "due", "rejects", "runs", "run_accounts")
    assert [count(database, table) for table in written] == [0] * len(written)
    assert count(database, "touches") > 0
    assert (
        reading.read(database, full=True, mark=0, as_of=NOON).intents.frame["status"][0] == "pending_unknown"
    )


def test_a_heal_finishes_the_intent(database: Database) -> None:
    lease = a_lease(database)
    put(database, UNSETTLED, a_refund())

    saved = cases.save_run(database, lease, Saving(a_run(as_of=LATER), heals=(HEAL,)))

    assert (saved.healed, saved.not_healed, saved.run.healed) == ((HEAL,), (), 1)
    row = reading.read(database, full=True, mark=0, as_of=NOON).intents.frame.iloc[0]
    assert (row["status"], row["refund_id"], row["updated_at"]) == ("done", "re_8812", LATER)


@pytest.mark.parametrize(
    "intent, refund",
    [
        ({"status": IntentStatus.DONE}, {}),
        ({"status": IntentStatus.FAILED}, {}),
        ({"status": IntentStatus.CANCELLED}, {}),
        ({"key": IntentKey("another")}, {}),
        ({}, {"status": "failed"}),
        ({}, {"status": "canceled"}),
        ({}, {"id": RefundId("re_other")}),
        ({}, {"account": AccountId("acct_2")}),
        ({}, {"amount_minor": 4899}),
        ({}, {"currency": "eur"}),
    ],
)
def test_a_heal_that_no_longer_fits_leaves_its_intent_for_the_next_run(
    database: Database, intent: dict[str, object], refund: dict[str, object]
) -> None:
    lease = a_lease(database)
    before = replace(UNSETTLED, **intent)  # type: ignore[arg-type]
    put(database, before, a_refund(**refund))

    saved = cases.save_run(database, lease, Saving(a_run(as_of=LATER), heals=(HEAL,)))

    assert (saved.healed, saved.not_healed, saved.run.healed) == ((), (HEAL,), 0)
    assert reading.read(database, full=True, mark=0, as_of=NOON).intents.frame["status"][0] == before.status
    assert due(database) == {(PLATFORM, INTENT): LATER}


def test_a_copied_intent_is_never_healed(database: Database) -> None:
    lease = a_lease(database)
    put(database, UNSETTLED, a_refund())
    with database.write() as connection:
        connection.execute(update(tables.intents).values(mapped=True))

    assert cases.save_run(database, lease, Saving(a_run(), heals=(HEAL,))).not_healed == (HEAL,)


def test_the_times_of_judged_subjects_are_replaced_and_the_withheld_are_due_at_once(
    database: Database,
) -> None:
    lease = a_lease(database)
    settled, waiting, withheld, far = (Subject(f"intent:{name}") for name in "abcd")
    first = tuple(Due(PLATFORM, subject, LATER) for subject in (settled, waiting, withheld, far))
    cases.save_run(database, lease, Saving(a_run(), due=first))
    later = LATER + timedelta(hours=1)

    cases.save_run(
        database,
        lease,
        Saving(
            a_run(id=RunId("run_2"), as_of=LATER, verdict=Verdict.INCOMPLETE),
            judged=[(PLATFORM, settled), (PLATFORM, waiting), (PLATFORM, withheld)],
            due=(Due(PLATFORM, waiting, later), Due(PLATFORM, withheld, later)),
            withheld=((PLATFORM, withheld),),
        ),
    )

    assert due(database) == {(PLATFORM, waiting): later, (PLATFORM, withheld): LATER, (PLATFORM, far): LATER}


def test_a_full_run_replaces_every_time_and_every_reject_of_ours(database: Database) -> None:
    lease = a_lease(database)
    rejects = tuple(Reject(source, 1, "x", "why") for source in ("intents", "refunds", "their_table"))
    cases.save_run(database, lease, Saving(a_run(), due=(Due(PLATFORM, INTENT, NOON),), rejects=rejects))
    with database.write() as connection:
        connection.execute(
            tables.rejects.insert().values(
                {"source": "their_table", "row": 1, "account": "", "reason": "why", "names": []}
            )
        )

    cases.save_run(database, lease, Saving(a_run(id=RunId("run_2"), full=True)))

    assert due(database) == {}
    with database.read() as connection:
        assert connection.scalars(select(tables.rejects.c.source)).all() == ["their_table"]


def test_a_reject_stays_until_its_row_was_read_again(database: Database) -> None:
    lease = a_lease(database)
    rejects = tuple(Reject("refunds", 1, name, "why", PLATFORM) for name in ("re_1", "re_2", "re_3"))
    cases.save_run(database, lease, Saving(a_run(), rejects=rejects))

    cases.save_run(
        database,
        lease,
        Saving(
            a_run(id=RunId("run_2")),
            judged=[(PLATFORM, Subject("refund:re_1")), (PLATFORM, Subject("refund:re_2"))],
            rejects=(Reject("refunds", 5, "re_2", "still", PLATFORM),),
        ),
    )

    with database.read() as connection:
        left = connection.execute(select(tables.rejects.c.id, tables.rejects.c.reason)).all()
    assert sorted(tuple(row) for row in left) == [("re_2", "still"), ("re_3", "why")]


def test_a_saved_run_forgets_the_touches_it_saw(database: Database) -> None:
    lease = a_lease(database)
    put(database, an_intent())
    number = func.coalesce(tables.touches.c.xact, tables.touches.c.id)
    with database.read() as connection:
        last = connection.scalar(select(func.max(number))) or 0
    mark = 0
    while mark < last:  # Anything else in the server, autovacuum say, may hold it back for a moment.
        mark = reading.read(database, full=True, mark=0, as_of=NOON).mark
    put(database, a_refund())

    cases.save_run(database, lease, Saving(a_run(mark=mark)))

    with database.read() as connection:
        assert connection.scalars(select(tables.touches.c.charge)).all() == ["ch_8812"]
