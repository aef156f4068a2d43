from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model.mapping import Column, Side
from recon.model.records.words import Action, Finding, Kind
from recon.model.settings import IntentsMapping
from tests.builders import an_intent
from tests.hours import FRIDAY, Town, a_town, kinds
from tests.past import strangers
from tests.people import Ana, orphan
from tests.sandboxes import Street

MAPPING = IntentsMapping(
    table="refund_requests",
    side=Side(
        {
            "key": Column(("number",)),
            "amount_minor": Column(("cents",)),
            "status": Column(("state",), words={"unsure": "pending_unknown", "ok": "done"}),
            "created_at": Column(("made_at",)),
            "payment": Column(("pi",)),
            "currency": Column(missing="usd"),
        }
    ),
)


@pytest.fixture
def town(database: Database, sandbox: Street) -> Town:
    """A company that keeps its intents in a table of its own: one whose call was left without an answer."""
    built = a_town(database, sandbox, intents=MAPPING)
    with database.write() as connection:
        connection.execute(
            text(
                "CREATE TABLE refund_requests (number TEXT, cents BIGINT, state TEXT, made_at TEXT, pi TEXT)"
            )
        )
        connection.execute(
            text("INSERT INTO refund_requests VALUES ('8812', 4900, 'unsure', :at, 'pi_8812')"),
            {"at": FRIDAY.isoformat()},
        )
    sandbox.payment("pi_8812", 4900, "usd")
    built.pay(an_intent(key="8812", payment="pi_8812"))
    return built


def their_state(town: Town) -> str:
    with town.database.read() as connection:
        return str(connection.scalar(text("SELECT state FROM refund_requests")))


def test_what_landed_in_somebody_elses_books_is_theirs_to_answer_once_the_grace_is_over(town: Town) -> None:
    young = town.run()
    town.pass_time(hours=1)
    old = town.run()

    assert (kinds(young), len(young.result.in_flight)) == ([], 1)
    assert kinds(old) == ["opened stuck"]
    (case,) = town.waiting()
    assert (case.mismatch.kind, case.mismatch.finding) == (Kind.STUCK, Finding.LANDED)
    assert [each.heals + each.not_healed for each in (young, old)] == [(), ()]
    assert their_state(town) == "unsure"


def test_their_case_clears_when_they_write_it_down(town: Town) -> None:
    town.pass_time(hours=1)
    town.run()
    with town.database.write() as connection:
        connection.execute(text("UPDATE refund_requests SET state = 'ok'"))

    assert kinds(town.run()) == ["cleared stuck"]


def test_a_dry_run_over_their_table_says_what_a_wet_one_does(town: Town) -> None:
    town.pass_time(hours=1)

    dry, wet = town.run(dry_run=True), town.run()

    assert kinds(dry) == kinds(wet) == ["opened stuck"]


def test_a_row_of_theirs_that_cannot_be_judged_is_told_once_and_once_more_when_it_is_another(
    town: Town,
) -> None:
    def told(state: str) -> list[str]:
        with town.database.write() as connection:
            connection.execute(text("UPDATE refund_requests SET state = :state"), {"state": state})
        report = town.run()
        assert (report.complete, report.in_order) == (True, False)
        return [
            each.message.text
            for each in outbox.recent(town.database, 9)
            if "not be judged" in each.message.text
        ]

    first, again, other = told("odd"), told("odd"), told("odder")

    assert [len(each) for each in (first, again, other)] == [1, 1, 2]
    for word in (
        "1 row of refund_requests",
        "[intents.statuses]",
        "found 'odd'; what they touch is withheld",
    ):
        assert word in first[0]


def test_taking_the_mapping_away_judges_everything_anew(town: Town) -> None:
    town.run()
    town.settings = replace(town.settings, intents=None)

    assert town.run(as_of=town.now + timedelta(minutes=30)).run.full


def adopted_row(town: Town) -> tuple[object, ...]:
    """Return what stands of the intent of ours that an operator made beside their table."""
    with town.database.read() as connection:
        query = text('SELECT "key", status, refund_id, mapped FROM intents WHERE NOT mapped')
        return tuple(connection.execute(query).one())


def add_theirs(town: Town, number: str, state: str) -> None:
    with town.database.write() as connection:
        connection.execute(
            text("INSERT INTO refund_requests VALUES (:number, 4900, :state, :at, 'pi_lost')"),
            {"number": number, "state": state, "at": FRIDAY.isoformat()},
        )


def test_an_adopted_intent_stands_beside_their_table_whatever_is_copied(town: Town) -> None:
    with town.database.write() as connection:
        connection.execute(text("UPDATE refund_requests SET state = 'ok'"))
    town.run()
    case = orphan(town, metadata={"intent_key": "lost"})
    Ana(town)(Action.ADOPTED, case)
    row = adopted_row(town)

    assert kinds(town.run()) == ["cleared orphan"]
    assert adopted_row(town) == row == ("lost", "done", case.subject.partition(":")[2], False)
    add_theirs(town, "lost", "unsure")
    late = town.run()
    assert adopted_row(town) == row
    assert [reject.reason for reject in late.result.rejected] == [
        "The intent lost is among recon's own already; one key is one intent, whoever keeps it."
    ]
    with town.database.write() as connection:
        connection.execute(text("DELETE FROM refund_requests WHERE number = 'lost'"))
    gone = town.run()
    assert (adopted_row(town), gone.result.rejected) == (row, ())
    assert town.waiting() == ()


def test_our_own_intents_heal_as_ever(database: Database, sandbox: Street) -> None:
    town = a_town(database, sandbox)
    intent = town.intend("1", status="pending_unknown")
    made = town.pay(intent)

    assert [(heal.intent_key, heal.refund_id) for heal in town.run().heals] == [(intent.key, made.id)]


def test_a_mapping_that_was_put_right_moves_the_beginning_back(town: Town) -> None:
    town.settings = replace(town.settings, surge_limit=3)
    town.pass_time(hours=1)
    strangers(town, 4, at=FRIDAY + timedelta(minutes=1))
    elsewhere = {**MAPPING.side.columns, "account": Column(missing="acct_other")}
    wrong = replace(MAPPING, side=Side(elsewhere))
    town.settings = replace(town.settings, intents=wrong)
    first = town.run()
    town.settings = replace(town.settings, intents=MAPPING)
    town.pass_time(hours=1)

    assert [each.refunds for each in first.older] == [5]
    assert kinds(town.run()) == ["opened stuck"] + ["opened orphan"] * 4
