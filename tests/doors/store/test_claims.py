from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select, update

from recon.doors.store import cases, claims, mirror
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.doors.store.evidence import intent_record
from recon.model import tables
from recon.model.errors import CaseMoved
from recon.model.records.cases import Change
from recon.model.records.claims import Adoption, Claim, Known, Link
from recon.model.records.provider import Intent
from recon.model.records.results import Healable
from recon.model.records.runs import Account, Lease
from recon.model.records.words import (
    AccountId,
    Basis,
    IntentKey,
    IntentStatus,
    RefundId,
    RunId,
    Subject,
)
from tests.builders import PLATFORM, a_case, a_mismatch, a_refund, an_intent
from tests.doors.store.books import LATER, a_lease, a_run, acknowledged, count, opened, put

KEY = IntentKey("refund_order:8812")
STRAY = a_refund(intent_key=None)
ADOPTED = an_intent(key=IntentKey("adopted:re_8812"), first_sent_at=None, refund_id=STRAY.id)
OTHER = AccountId("acct_2")


@pytest.fixture
def lease(database: Database) -> Lease:
    return a_lease(database)


@pytest.fixture
def click(database: Database, lease: Lease) -> Change:
    """A move of an orphan's case, which a claim goes with."""
    case = a_case(a_mismatch(subject=Subject(f"refund:{STRAY.id}"), intent_key=None))
    cases.save_run(database, lease, Saving(a_run(), changes=(opened(case),)))
    return acknowledged(case)


def stands(database: Database) -> tuple[int, dict[str, str | None]]:
    """Return how many entries there are, and which intent a person linked each refund to."""
    with database.read() as connection:
        columns = tables.refunds.c
        links = connection.execute(select(columns.id, columns.operator_key)).all()
    return count(database, "entries"), {row.id: row.operator_key for row in links}


def our_intents(database: Database) -> list[Intent]:
    with database.read() as connection:
        rows = connection.execute(select(tables.intents).order_by(tables.intents.c.key)).mappings()
        return [intent_record(row) for row in rows]


def set_refund(database: Database, **values: object) -> None:
    with database.write() as connection:
        connection.execute(update(tables.refunds).where(tables.refunds.c.id == STRAY.id).values(values))


def test_an_adopted_refund_is_an_intent_of_our_own_saved_with_its_entry(
    database: Database, click: Change
) -> None:
    put(database, STRAY)

    for _ in range(2):  # The second time is the same click.
        cases.move(database, click, claim=Adoption(STRAY, ADOPTED))

    assert our_intents(database) == [ADOPTED]
    assert stands(database) == (2, {STRAY.id: None})
    with database.read() as connection:
        assert connection.scalars(select(tables.intents.c.mapped)).all() == [False]


def test_a_link_is_saved_with_its_entry_and_taken_back(database: Database, click: Change) -> None:
    put(database, STRAY, an_intent())

    cases.move(database, click, claim=Link(STRAY, KEY))
    linked = stands(database)
    again = acknowledged(click.case, action_id="click_2")
    cases.move(database, again, claim=Link(replace(STRAY, operator_key=KEY), None))

    assert linked == (2, {STRAY.id: KEY})
    assert stands(database) == (3, {STRAY.id: None})


def test_a_claim_touches_what_it_ties(database: Database, click: Change) -> None:
    put(database, STRAY, an_intent())
    with database.write() as connection:
        connection.execute(tables.touches.delete())

    cases.move(database, click, claim=Link(STRAY, KEY))

    with database.read() as connection:
        columns = tables.touches.c
        touched = connection.execute(select(columns.refund_id, columns.operator_key)).all()
    assert sorted(tuple(row) for row in touched if row.operator_key) == [(STRAY.id, KEY)]


@pytest.mark.parametrize(
    "meanwhile",
    [
        {"status": "failed"},
        {"status": "canceled"},
        {"operator_key": "other"},
        {"amount_minor": 1},
        {"system": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("claim", [Adoption(STRAY, ADOPTED), Link(STRAY, KEY)], ids=["adopt", "link"])
def test_what_was_said_of_a_refund_that_changed_is_not_saved(
    database: Database, click: Change, claim: Claim, meanwhile: dict[str, object]
) -> None:
    put(database, STRAY, an_intent(refund_id=None))
    set_refund(database, **meanwhile)

    with pytest.raises(CaseMoved, match="re_8812 and its intent as they were read"):
        cases.move(database, click, claim=claim)

    assert stands(database) == (1, {STRAY.id: meanwhile.get("operator_key")})
    assert len(our_intents(database)) == 1


def test_a_refund_that_arrives_meanwhile_is_linked_all_the_same(database: Database, click: Change) -> None:
    pending = replace(STRAY, status="pending")
    put(database, pending, an_intent())
    set_refund(database, status="succeeded")

    cases.move(database, click, claim=Link(pending, KEY))

    assert stands(database) == (2, {STRAY.id: KEY})


@pytest.mark.parametrize(
    "refund, intent",
    [
        ({}, {"refund_id": STRAY.id}),
        ({"intent_key": KEY}, {"refund_id": None}),
        ({"request_key": KEY}, {"refund_id": None}),
        ({"operator_key": KEY}, {"refund_id": None}),
        ({}, {"key": ADOPTED.key, "refund_id": None}),  # The key is taken.
    ],
    ids=str,
)
def test_a_refund_that_is_somebodys_by_now_is_not_adopted(
    database: Database, click: Change, refund: dict[str, Any], intent: dict[str, Any]
) -> None:
    stray, theirs = replace(STRAY, **refund), an_intent(**intent)
    put(database, stray, theirs)

    with pytest.raises(CaseMoved):
        cases.move(database, click, claim=Adoption(stray, ADOPTED))

    assert our_intents(database) == [theirs]
    assert stands(database)[0] == 1


def test_a_refund_is_not_linked_to_an_intent_that_is_gone(database: Database, click: Change) -> None:
    put(database, STRAY, an_intent(account=OTHER))

    with pytest.raises(CaseMoved):
        cases.move(database, click, claim=Link(STRAY, KEY))

    assert stands(database) == (1, {STRAY.id: None})


def test_a_case_that_moved_leaves_its_claim_unsaid(database: Database, click: Change) -> None:
    put(database, STRAY, an_intent())
    cases.move(database, replace(click, entry=replace(click.entry, action_id="first")))

    with pytest.raises(CaseMoved, match="at version 1, found it at 2"):
        cases.move(database, click, claim=Link(STRAY, KEY))

    assert stands(database) == (2, {STRAY.id: None})


# What a claim is decided on.


@pytest.mark.parametrize(
    "refund, intent, holder",
    [
        ({}, {"refund_id": None}, None),
        ({}, {"refund_id": STRAY.id}, KEY),
        ({"intent_key": KEY}, {"refund_id": None}, KEY),
        ({"request_key": KEY}, {"refund_id": None}, KEY),
        ({"operator_key": KEY}, {"refund_id": None}, KEY),
        ({"intent_key": IntentKey("gone")}, {"refund_id": None}, None),
        ({}, {"account": OTHER}, None),
    ],
    ids=str,
)
def test_the_holder_is_who_the_rows_say(
    database: Database, refund: dict[str, Any], intent: dict[str, Any], holder: IntentKey | None
) -> None:
    stray = replace(STRAY, **refund)
    put(database, stray, an_intent(**intent))

    assert claims.read(database, PLATFORM, STRAY.id) == Known(stray, holder=holder)


def test_a_persons_word_is_the_holder_before_every_other(database: Database) -> None:
    by_person, by_key = an_intent(key=IntentKey("z"), refund_id=None), an_intent(key=IntentKey("a"))
    put(database, replace(STRAY, operator_key=by_person.key, intent_key=by_key.key), by_person, by_key)

    assert claims.read(database, PLATFORM, STRAY.id).holder == "z"


def test_an_intent_is_looked_for_in_the_cases_account_and_found_in_the_others(
    database: Database, lease: Lease
) -> None:
    for account in (PLATFORM, OTHER, AccountId("acct_3")):
        mirror.save_account(database, lease, Account(account))
    ours = an_intent()
    put(database, STRAY, ours, replace(ours, account=OTHER))

    assert claims.read(database, PLATFORM, STRAY.id, KEY).intent == ours
    elsewhere = claims.read(database, AccountId("acct_3"), STRAY.id, KEY)
    assert elsewhere == Known(None, elsewhere=(PLATFORM, OTHER))
    assert claims.read(database, PLATFORM, RefundId("re_none")) == Known(None)


# Beside a run.


def beside(
    monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor, name: str, act: Callable[[], object]
) -> list[Future[object]]:
    """Let somebody act when the mirror has done this of a page; who cannot get on waits for its end."""
    started: list[Future[object]] = []
    done = getattr(mirror, name)

    def and_then(*told: object) -> object:
        found = done(*told)
        started.append(pool.submit(act))
        wait(started, timeout=1)
        return found

    monkeypatch.setattr(mirror, name, and_then)
    return started


@pytest.mark.parametrize("moment", ["_known", "_update"])
def test_a_page_of_the_mirror_does_not_overwrite_a_link_that_is_made_meanwhile(
    database: Database, lease: Lease, click: Change, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    pending = replace(STRAY, status="pending")
    put(database, pending, an_intent())

    with ThreadPoolExecutor(1) as pool:
        link = Link(pending, KEY)
        started = beside(monkeypatch, pool, moment, lambda: cases.move(database, click, claim=link))
        assert mirror.save_page(database, lease, [STRAY]) == 1
        for each in started:
            each.result()

    assert stands(database) == (2, {STRAY.id: KEY})
    assert claims.read(database, PLATFORM, STRAY.id).refund == replace(STRAY, operator_key=KEY)


UNSETTLED = an_intent(status=IntentStatus.PENDING_UNKNOWN, refund_id=None)


@pytest.mark.parametrize(
    "basis, linked, healed",
    [
        (Basis.INTENT_KEY, None, True),
        (Basis.INTENT_KEY, KEY, True),
        (Basis.INTENT_KEY, "another", False),
        (Basis.OPERATOR, KEY, True),
        (Basis.OPERATOR, None, False),
        (Basis.OPERATOR, "another", False),
    ],
)
def test_a_heal_gives_way_to_what_a_person_said_of_its_refund_meanwhile(
    database: Database, lease: Lease, basis: Basis, linked: str | None, *, healed: bool
) -> None:
    heal = Healable(PLATFORM, KEY, STRAY.id, basis)
    put(database, UNSETTLED, STRAY)
    set_refund(database, operator_key=linked)

    saved = cases.save_run(database, lease, Saving(a_run(id=RunId("run_2"), as_of=LATER), heals=(heal,)))

    assert (heal in saved.healed, heal in saved.not_healed) == (healed, not healed)
    assert our_intents(database)[0].status == (IntentStatus.DONE if healed else IntentStatus.PENDING_UNKNOWN)
