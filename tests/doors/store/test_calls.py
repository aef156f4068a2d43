"""Calls of the guarded tools are written down as they come, with what each was told."""

from datetime import timedelta

from sqlalchemy import select

from recon.doors.store import calls
from recon.doors.store.engines import Database
from recon.model.guarded import calls as table
from recon.model.records.guarded import Asked, Outcome, OutcomeStatus, Wanted
from recon.model.records.words import IntentKey
from tests.builders import NOON, PLATFORM

SECOND = timedelta(seconds=1)
PRINTS = {"amount_minor": "4900", "currency": "usd", "payment": "pi_1"}
WANTED = Wanted("refund_order", "refund of 8812", PLATFORM, IntentKey("refund_order:8812"), PRINTS, {})


def test_a_call_is_recorded_with_who_asked_for_what_and_what_it_was_told(database: Database) -> None:
    asked = Asked("call_1", "agent 7", {"amount": "49", "currency": "USD"})
    with database.write() as connection:
        number = calls.note(connection, WANTED, asked, NOON)
        other = calls.note(connection, WANTED, Asked(), NOON)
        told = Outcome(OutcomeStatus.ALREADY_DONE, "so")
        calls.note_answer(connection, number, told, NOON + SECOND)

        rows = connection.execute(select(table).order_by(table.c.number)).all()
    assert [row.number for row in rows] == [number, other]
    first, second = rows
    assert (first.call_id, first.caller, first.intent_key, first.tool) == (
        "call_1",
        "agent 7",
        "refund_order:8812",
        "refund_order",
    )
    assert first.asked == {"amount": "49", "amount_minor": "4900", "currency": "usd", "payment": "pi_1"}
    assert (first.asked_at, first.answered_at, first.answer) == (NOON, NOON + SECOND, "already_done")
    assert (second.call_id, second.answer, second.answered_at) == (None, None, None)
