import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import Connection, delete, func, insert, select, text, update

from recon.doors import intents
from recon.doors.store import cases, closure, reading
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.doors.store.reading import Snapshot
from recon.model import frames, tables
from recon.model.records.cases import Case
from recon.model.records.provider import Intent, Refund
from recon.model.records.results import Due, Reject
from recon.model.records.words import AccountId, CaseState, IntentKey, IntentStatus, RefundId, RunId, Subject
from tests.builders import NOON, PLATFORM, a_case, a_mismatch, a_refund, an_intent
from tests.doors.store.books import LATER, a_lease, a_run, opened, put

DAY = timedelta(days=1)
PATIENCE = 30  # Seconds; the server's transactions of all tests count, and theirs are short.


def read(database: Database, *, mark: int = 0, full: bool = False) -> Snapshot:
    return reading.read(database, full=full, mark=mark, as_of=LATER)


def names(snapshot: Snapshot) -> set[str]:
    return {*snapshot.intents.frame["key"], *snapshot.refunds.frame["id"]}


def save(database: Database, run: str, **found: object) -> None:
    saving = Saving(a_run(id=RunId(run)), **found)  # type: ignore[arg-type]
    cases.save_run(database, a_lease(database, now=NOON + DAY * int(run)), saving)


def loner(number: int) -> Iterator[Intent | Refund]:
    """An intent and its refund, tied to nothing else."""
    yield an_intent(
        key=IntentKey(f"key_{number}"),
        order_id=f"order_{number}",
        payment=f"pi_{number}",
        refund_id=RefundId(f"re_{number}"),
    )
    yield a_refund(
        id=RefundId(f"re_{number}"),
        payment_intent=f"pi_{number}",
        charge=f"ch_{number}",
        intent_key=IntentKey(f"key_{number}"),
    )


def mark_of(database: Database) -> int:
    """The mark above everything written so far, once the other tests' transactions let it rise."""
    until = time.monotonic() + PATIENCE
    touches = tables.touches.c
    number = touches.id if database.dialect == "sqlite" else touches.xact
    while True:
        mark = read(database, full=True).mark
        with database.read() as connection:
            written = connection.scalar(select(func.max(number))) or 0
        if mark >= written:
            return mark
        assert time.monotonic() < until, "a transaction of another test does not end"


def fill(database: Database, *numbers: int) -> int:
    """Put loners down; return the mark after them."""
    put(database, *(row for number in numbers for row in loner(number)))
    return mark_of(database)


def test_a_full_reading_is_everything_in_the_frames_of_the_diff(database: Database) -> None:
    intent = an_intent(reference=None, first_sent_at=None, created_at=NOON + timedelta(microseconds=1))
    refund = a_refund(system=True, request_key="r", operator_key=IntentKey("o"), pending_reason="p")
    put(database, intent, refund)

    snapshot = read(database, full=True)

    left, right = snapshot.intents.frame, snapshot.refunds.frame
    assert left.dtypes.astype(str).to_dict() == frames.INTENT_DTYPES
    assert right.dtypes.astype(str).to_dict() == frames.REFUND_DTYPES
    for frame, record in ((left, intent), (right, refund)):
        row = frame.iloc[0]
        found = {name: None if row[name] != row[name] else row[name] for name in frame.columns}
        assert found == {name: getattr(record, name) for name in frame.columns}
    assert (snapshot.intents.rejects, snapshot.refunds.rejects) == ((), ())


def test_an_empty_database_has_empty_frames(database: Database) -> None:
    for full in (True, False):
        snapshot = read(database, full=full)

        assert snapshot.intents.frame.dtypes.astype(str).to_dict() == frames.INTENT_DTYPES
        assert (len(snapshot.intents.frame), len(snapshot.refunds.frame), snapshot.cases) == (0, 0, ())


def test_only_what_was_touched_is_read(database: Database) -> None:
    mark = fill(database, 1, 2, 3)

    assert names(read(database, mark=mark)) == set()

    with database.write() as connection:
        connection.execute(
            update(tables.refunds).where(tables.refunds.c.id == "re_2").values(status="failed")
        )

    assert names(read(database, mark=mark)) == {"key_2", "re_2"}
    assert names(read(database, mark=mark, full=True)) == {"key_1", "re_1", "key_2", "re_2", "key_3", "re_3"}


@pytest.mark.parametrize(
    "tie",
    [
        {"payment": "pi_2"},
        {"payment": "ch_2"},
        {"order_id": "order_2"},
        {"refund_id": "re_2"},
    ],
)
def test_what_a_new_intent_is_tied_to_is_read(database: Database, tie: dict[str, str]) -> None:
    mark = fill(database, 1, 2)
    alone = {"payment": None, "order_id": None, "refund_id": None}

    put(database, an_intent(**{"key": IntentKey("new"), **alone, **tie}))

    assert names(read(database, mark=mark)) == {"new", "key_2", "re_2"}


@pytest.mark.parametrize(
    "tie",
    [
        {"payment_intent": "pi_2"},
        {"charge": "ch_2"},
        {"charge": "pi_2"},
        {"intent_key": "key_2"},
        {"request_key": "key_2"},
        {"operator_key": "key_2"},
    ],
)
def test_what_a_new_refund_is_tied_to_is_read(database: Database, tie: dict[str, str]) -> None:
    mark = fill(database, 1, 2)
    alone = {"payment_intent": None, "charge": None, "intent_key": None}

    put(database, a_refund(**{"id": RefundId("new"), **alone, **tie}))

    assert names(read(database, mark=mark)) == {"new", "key_2", "re_2"}


def test_ties_lead_on_until_nothing_is_added(database: Database) -> None:
    chain = [
        an_intent(
            key=IntentKey(f"link_{n}"), order_id=f"o_{n // 2}", payment=f"p_{(n + 1) // 2}", refund_id=None
        )
        for n in range(9)
    ]
    put(database, *chain)
    mark = fill(database, 1)

    with database.write() as connection:
        connection.execute(update(tables.intents).where(tables.intents.c.key == "link_0").values(team="x"))

    assert names(read(database, mark=mark)) == {f"link_{n}" for n in range(9)}


def test_accounts_are_worlds_apart(database: Database) -> None:
    mark = fill(database, 1)

    put(database, an_intent(key=IntentKey("key_1"), account=AccountId("acct_2"), payment="pi_1"))

    snapshot = read(database, mark=mark)
    assert list(snapshot.intents.frame["account"]) == ["acct_2"]
    assert len(snapshot.refunds.frame) == 0


@pytest.mark.parametrize("column", ["payment", "order_id", "refund_id"])
def test_an_empty_text_ties_nothing(database: Database, column: str) -> None:
    put(database, an_intent(key=IntentKey("a"), **{column: ""}, **_without(column)))
    mark = mark_of(database)

    put(database, an_intent(key=IntentKey("b"), **{column: ""}, **_without(column)))

    assert names(read(database, mark=mark)) == {"b"}


def _without(column: str) -> dict[str, None]:
    return {name: None for name in ("payment", "order_id", "refund_id") if name != column}


def test_a_changed_row_leads_to_what_it_was_tied_to(database: Database) -> None:
    mark = fill(database, 1, 2, 3)

    with database.write() as connection:
        changed = update(tables.intents).where(tables.intents.c.key == "key_1")
        connection.execute(changed.values(payment="pi_2", order_id=None, refund_id=None))
        connection.execute(update(tables.refunds).where(tables.refunds.c.id == "re_1").values(intent_key="x"))

    assert names(read(database, mark=mark)) == {"key_1", "re_1", "key_2", "re_2"}


def test_a_deletion_leads_to_what_was_tied_and_says_which_cases_lost_their_row(database: Database) -> None:
    fill(database, 1, 2)
    known = a_case(a_mismatch(subject=Subject("intent:key_1")), state=CaseState.CLEARED)
    save(
        database, "1", changes=(opened(known),), due=(Due(PLATFORM, Subject("refund:re_1"), NOON + 9 * DAY),)
    )
    mark = mark_of(database)

    with database.write() as connection:
        connection.execute(delete(tables.intents).where(tables.intents.c.key == "key_1"))
    snapshot = read(database, mark=mark)

    assert names(snapshot) == {"re_1"}
    assert snapshot.cases == (known,)
    assert snapshot.gone == {(PLATFORM, "intent:key_1")}
    assert snapshot.judged == {(PLATFORM, "refund:re_1")}
    whole = read(database, full=True)
    assert (whole.gone, whole.judged) == (snapshot.gone, snapshot.judged)


@pytest.mark.parametrize(
    "state, looked_at",
    [
        ({"state": CaseState.OPEN}, True),
        ({"state": CaseState.ACKNOWLEDGED}, True),
        ({"state": CaseState.CLEARED}, False),
        ({"state": CaseState.RESOLVED, "decided_at": LATER - 7 * DAY}, True),
        ({"state": CaseState.RESOLVED, "decided_at": LATER - 7 * DAY - timedelta(microseconds=1)}, False),
        ({"state": CaseState.ACCEPTED, "accepted_until": LATER}, True),
        ({"state": CaseState.ACCEPTED, "accepted_until": LATER + timedelta(microseconds=1)}, False),
        ({"state": CaseState.ACCEPTED, "accepted_until": None}, False),
    ],
)
@pytest.mark.parametrize("subject", ["intent:key_1", "refund:re_1"])
def test_cases_that_may_move_by_themselves_are_looked_at(
    database: Database, state: dict[str, object], *, looked_at: bool, subject: str
) -> None:
    fill(database, 1, 2)
    known = a_case(a_mismatch(subject=Subject(subject)), **state)
    save(database, "1", changes=(opened(known),))
    mark = mark_of(database)

    snapshot = read(database, mark=mark)

    assert names(snapshot) == ({"key_1", "re_1"} if looked_at else set())
    assert snapshot.cases == ((known,) if looked_at else ())


def test_subjects_are_read_when_their_time_has_come(database: Database) -> None:
    fill(database, 1, 2, 3, 4)
    times = {"intent:key_1": LATER, "refund:re_2": LATER, "intent:key_3": LATER + timedelta(microseconds=1)}
    due = tuple(Due(PLATFORM, Subject(subject), at) for subject, at in times.items())
    save(database, "1", due=due, withheld=((PLATFORM, Subject("intent:key_4")),))
    mark = mark_of(database)

    snapshot = read(database, mark=mark)

    assert names(snapshot) == {"key_1", "re_1", "key_2", "re_2", "key_4", "re_4"}
    assert snapshot.judged == {
        (PLATFORM, "intent:key_1"),
        (PLATFORM, "refund:re_2"),
        (PLATFORM, "intent:key_4"),
    }


def test_rows_that_cannot_be_judged_are_rejects_with_their_table_as_source(database: Database) -> None:
    put(
        database,
        an_intent(currency="doubloon"),
        an_intent(key=IntentKey("b"), status="lost"),
        a_refund(amount_minor=-1),
    )

    snapshot = read(database)

    assert names(snapshot) == set()
    assert {(each.source, each.id) for each in snapshot.intents.rejects + snapshot.refunds.rejects} == {
        ("intents", "refund_order:8812"),
        ("intents", "b"),
        ("refunds", "re_8812"),
    }
    assert snapshot.refunds.rejects[0].names == ("refund_order:8812",)


def test_what_sqlite_keeps_in_a_wrong_type_is_a_reject(database: Database) -> None:
    if database.dialect != "sqlite":
        pytest.skip("only SQLite keeps a text in an integer column")
    fill(database, 1)
    put(database, an_intent(), an_intent(key=IntentKey("b")))
    with database.write() as connection:
        connection.execute(text("UPDATE intents SET amount_minor = 'many' WHERE key = 'refund_order:8812'"))
        connection.execute(text("UPDATE intents SET created_at = 'noon' WHERE key = 'b'"))

    snapshot = read(database)

    assert names(snapshot) == {"key_1", "re_1"}
    assert {each.id for each in snapshot.intents.rejects} == {"refund_order:8812", "b"}


def test_a_reject_is_judged_again_when_its_row_was_mended(database: Database) -> None:
    put(database, an_intent(status="lost"))
    save(database, "1", rejects=(Reject("intents", 1, "refund_order:8812", "why", PLATFORM),))
    mark = mark_of(database)

    with database.write() as connection:
        connection.execute(update(tables.intents).values(status=IntentStatus.DONE))

    assert read(database, mark=mark).judged == {(PLATFORM, "intent:refund_order:8812")}


def test_rows_of_a_foreign_table_that_cannot_be_judged_withhold_what_they_name(database: Database) -> None:
    mark = fill(database, 1, 2)
    known: Case = a_case(a_mismatch(subject=Subject("intent:theirs")))
    save(database, "1", changes=(opened(known),))
    reject = Reject("billing.refunds", 7, "theirs", "No amount.", PLATFORM, ("re_2",))
    with database.write() as connection:
        row = {"source": reject.source, "row": 7, "id": "theirs", "account": "", "reason": reject.reason}
        connection.execute(insert(tables.rejects).values(row | {"names": ["re_2"]}))

    snapshot = read(database, mark=mark)

    assert names(snapshot) == {"key_2", "re_2"}
    assert snapshot.intents.rejects == (reject,)
    assert snapshot.gone == frozenset()


def test_a_mark_from_the_future_means_that_everything_is_read(database: Database) -> None:
    mark = fill(database, 1)

    snapshot = read(database, mark=mark + 1_000_000)

    assert snapshot.full
    assert names(snapshot) == {"key_1", "re_1"}
    assert snapshot.mark >= mark


def test_the_mark_does_not_move_back_when_touches_are_forgotten(database: Database) -> None:
    fill(database, 1)
    mark = mark_of(database)
    with database.write() as connection:
        connection.execute(delete(tables.touches))

    again = read(database, mark=mark)

    assert again.mark >= mark
    assert not again.full


@contextmanager
def unfinished(database: Database) -> Iterator[Connection]:
    """A transaction that the test ends itself."""
    with database.write() as connection:
        yield connection


def test_a_row_that_commits_late_does_not_slip_in_under_the_mark(database: Database) -> None:
    if database.dialect == "sqlite":
        pytest.skip("on SQLite writers go one by one")
    mark = fill(database, 1)
    late = replace(an_intent(), key=IntentKey("late"))

    with unfinished(database) as connection:
        values = {name: getattr(late, name) for name in intents.COLUMNS}
        connection.execute(insert(tables.intents).values(values))
        put(database, an_intent(key=IntentKey("early"), order_id=None, payment=None, refund_id=None))
        between = read(database, mark=mark)
        save_between = a_run(id=RunId("1"), mark=between.mark)
        cases.save_run(database, a_lease(database), Saving(save_between))

    put(database, an_intent(key=IntentKey("later"), order_id=None, payment=None, refund_id=None))
    after = read(database, mark=between.mark)
    assert names(between) == {"early"}
    assert names(after) >= {"late", "later"}
    assert not after.full


def test_a_reading_sees_one_moment(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = fill(database, 1)
    follow = closure.follow

    def slow(connection: Connection, *, above: int, as_of: datetime, beside: Iterable[closure.Tie]) -> None:
        follow(connection, above=above, as_of=as_of, beside=beside)
        put(database, a_refund(id=RefundId("meanwhile"), payment_intent="pi_1"))

    put(database, an_intent(key=IntentKey("new"), payment="pi_1", order_id=None, refund_id=None))
    monkeypatch.setattr(closure, "follow", slow)
    snapshot = read(database, mark=mark)
    monkeypatch.undo()

    assert names(snapshot) == {"new", "key_1", "re_1"}
    assert names(read(database, mark=snapshot.mark)) >= {"meanwhile", "key_1", "new"}
    with database.read() as connection:
        assert len(connection.execute(select(tables.refunds)).all()) == 2
