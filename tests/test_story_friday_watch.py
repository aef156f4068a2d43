"""The Friday evening with a watch on it: the minute of the alert, of the switch, and what the hour finds."""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import insert

from recon import watch
from recon.doors import intents
from recon.doors.store import cases as book
from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model.guarded import calls
from recon.model.records.people import Operator
from recon.model.records.provider import Intent
from recon.model.records.words import Actor, IntentKey, Kind, Role, Verdict
from recon.switchboard import Switchboard
from tests.hours import FRIDAY, Town, a_town
from tests.sandboxes import Street

EVENING = json.loads((Path(__file__).parent / "cases" / "friday-evening.json").read_text())
ANA = Operator(Actor("ana"), Role.OPERATOR)
TOOL = "refund_order"
ALERTING = {"title": "Refund an order", "effect": "side_effect", "key": ["order_id", "reference"]}
FIELDS = {"fingerprint": ["amount_minor", "currency", "payment"], "repeat": "reference"}
HOUR = 60


@dataclass
class Watched:
    """The evening as it was, with a tick each minute. log: what happened in which minute after 17:00."""

    town: Town
    board: Switchboard
    log: list[tuple[int, str]] = field(default_factory=list)
    refused: int = 0

    @classmethod
    def begin(cls, town: Town) -> "Watched":
        """Return the evening before anybody called."""
        return cls(town, Switchboard(town.database, lambda: town.settings, lambda: town.now))

    def play(self, *, thrown_in: int | None = None) -> None:
        """Let the hour from 17:00 pass. thrown_in: the minute in which Ana throws the switch, if she does."""
        waiting = sorted(EVENING["intents"], key=lambda told: str(told["created_at"]))
        for minute in range(1, HOUR):
            until = FRIDAY + timedelta(minutes=minute)
            while waiting and at(waiting[0]) < until:
                self.call(waiting.pop(0))
            self.town.now = until
            if thrown_in == minute:
                self.board.throw(TOOL, operator=ANA, reason="Refunded twice since 17:01.", action_id="ana")
            self.look(minute)

    def call(self, told: dict[str, str]) -> None:
        """Let the tool be called as it was: a key per call, and the switch read before anything is sent."""
        self.town.now = at(told)
        self.town.street.set_time(told["created_at"])
        with self.town.database.read() as connection:
            off = intents.switched_off(connection, TOOL)
        record(self.town.database, told, "disabled" if off else "done")
        if off:
            self.refused += 1
            return
        refund(self.town, told)

    def look(self, minute: int) -> None:
        """Tick, and note what came of it."""
        before = {switch.tool for switch in self.board.thrown()}
        for burst in watch.calls(self.town.database, self.town.settings, clock=lambda: self.town.now):
            self.log.append((minute, f"told of {len(burst.twins)}"))
        if before != {switch.tool for switch in self.board.thrown()}:
            self.log.append((minute, "switched off"))


def at(told: dict[str, str]) -> datetime:
    return datetime.fromisoformat(told["created_at"])


def record(database: Database, told: dict[str, str], answer: str) -> None:
    asked = {"amount_minor": str(told["amount_minor"]), "currency": told["currency"]}
    row = {
        "account": "",
        "intent_key": told["key"],
        "tool": TOOL,
        "call_id": told["key"].partition(":")[2],
        "asked_at": at(told),
        "answer": answer,
        "asked": asked | {"payment": told["payment"], "order_id": told["order_id"]},
    }
    with database.write() as connection:
        connection.execute(insert(calls).values(row))


def refund(town: Town, told: dict[str, str]) -> Intent:
    """Refund as the careless tool did: an intent for each call."""
    name = told["key"].partition(":")[2]
    intent, _ = town.refund(
        name,
        key=IntentKey(told["key"]),
        order_id=told["order_id"],
        payment=told["payment"],
        customer_id=told["customer_id"],
        paid=name.endswith("_0"),
    )
    return intent


def an_evening(database: Database, sandbox: Street, *, throws: bool) -> Watched:
    tools = ({"tools": {TOOL: ALERTING | FIELDS | {"alert": {"throws": throws}}}},)
    return Watched.begin(a_town(database, sandbox, tools=tools))


def doubles(town: Town) -> int:
    return sum(case.mismatch.kind is Kind.DUPLICATE for case in town.everything())


def targets(database: Database) -> set[str]:
    """Where the alerts of calls went."""
    return {each.target for each in outbox.recent(database, 99) if each.thread_key.startswith("calls|")}


def test_the_alert_comes_with_the_first_double_and_the_next_hour_confirms_all_nine(
    database: Database, sandbox: Street
) -> None:
    evening = an_evening(database, sandbox, throws=False)
    evening.play(thrown_in=14)

    # 17:02 the alert, again at two, four and eight; 17:14 Ana throws the switch; a quarter of an hour after
    # the last odd call it is over.
    assert evening.log == [
        (2, "told of 1"),
        (3, "told of 2"),
        (5, "told of 4"),
        (9, "told of 8"),
        (25, "told of 9"),
    ]
    (switch,) = evening.board.thrown()
    assert (switch.moved_by, switch.moved_at) == ("ana", FRIDAY + timedelta(minutes=14))
    assert targets(database) == {"#operators"}

    evening.town.pass_time(minutes=1)
    report = evening.town.run()

    assert (report.run.verdict, report.result.at_risk) == (Verdict.BREAKS, {"usd": 9 * 4900})
    assert doubles(evening.town) == 9
    assert book.verify(database) == ()
    assert evening.refused == 0


def test_where_the_alert_throws_the_switch_nine_doubles_become_one(
    database: Database, sandbox: Street
) -> None:
    evening = an_evening(database, sandbox, throws=True)
    evening.play()

    assert evening.log == [(2, "told of 1"), (2, "switched off"), (17, "told of 1")]
    (switch,) = evening.board.thrown()
    assert (switch.moved_by, switch.moved_at) == ("recon", FRIDAY + timedelta(minutes=2))
    assert evening.refused == 16

    evening.town.pass_time(minutes=1)
    report = evening.town.run()

    assert (doubles(evening.town), report.result.at_risk) == (1, {"usd": 4900})
    assert book.verify(database) == ()


def test_a_keyed_tool_on_the_same_evening_alerts_nobody(database: Database, sandbox: Street) -> None:
    evening = an_evening(database, sandbox, throws=True)
    for told in EVENING["intents"]:
        record(database, {**told, "key": f"refund_order:{told['order_id']}"}, "already_done")
    evening.town.now = FRIDAY + timedelta(minutes=10)
    evening.look(10)

    assert evening.log == []
    assert evening.board.thrown() == ()
