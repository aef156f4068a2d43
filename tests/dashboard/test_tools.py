"""The page on tools: how each stands, what it was asked, and the switch that people throw and lift on it."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert
from streamlit.testing.v1 import AppTest

from recon.doors.store import operators, switches
from recon.doors.store.engines import Database
from recon.model.guarded import calls
from recon.model.records.people import Operator
from recon.model.records.tools import Switch, SwitchMove
from recon.model.records.words import Actor, Role
from tests.dashboard.conftest import SECONDS, Visit, now, words

TOOL = "refund_order"
ME = Actor("local operator")
HOSTILE = "![](http://127.0.0.1:9/x.png) <b>x</b> \u202e"


def ask(database: Database, ago: float, key: str, payment: str = "pi_1", **more: object) -> None:
    """Record a call for 49.00 USD so many minutes ago."""
    asked = {"amount_minor": "4900", "currency": "usd", "payment": payment}
    at = now() - timedelta(minutes=ago)
    row = {"account": "", "intent_key": key, "tool": TOOL, "asked": asked, "asked_at": at} | more
    with database.write() as connection:
        connection.execute(insert(calls).values(row))


def throw(database: Database, tool: str = TOOL, *, reason: str = "Doubles.", by: str = "ana") -> None:
    with database.write() as connection:
        switches.move(
            connection,
            Switch(tool),
            SwitchMove.THROWN,
            actor=Actor(by),
            reason=reason,
            now=now() - timedelta(minutes=5),
            action_id=f"click {tool}",
        )


def role(database: Database, named: Role) -> None:
    operators.put(database, Operator(ME, named))


def buttons(page: AppTest) -> list[str]:
    return [each.label for each in page.button]


def test_every_declared_tool_is_shown_with_what_it_does(database: Database, visit: Visit) -> None:
    page = visit("tools")
    said = words(page)

    assert not page.exception
    assert [each.value for each in page.header] == ["refund_order", "check_refund_status"]
    assert "has side effects: only through the guard" in said
    assert "order_id, reference" in said
    assert "reads: retry freely" in said
    assert "No call in the last hour." in said
    assert "Nobody has ever moved it." in said
    assert buttons(page) == ["Switch off"]
    assert "switched off" not in said


def test_the_calls_of_the_last_hour_are_shown_and_who_asked_again(database: Database, visit: Visit) -> None:
    for ago in (30, 29.5, 3):
        ask(database, ago, "k1", caller=f"thread {ago}")
    ask(database, 10, "k2", "pi_2")
    ask(database, 61, "old", "pi_3")

    page = visit("tools")
    minutes, again = (page.dataframe[at].value for at in (0, 1))

    assert not page.exception
    assert "Duplicate calls" not in words(page)
    assert minutes[["First for its key", "Asked again"]].astype(int).sum().tolist() == [2, 2]
    assert again.iloc[0].tolist()[:3] == ["k1", "3", "caller"]
    assert len(again) == 1


def test_an_open_alert_says_what_is_odd(database: Database, visit: Visit) -> None:
    ask(database, 3, "k1")
    ask(database, 2, "k2")

    page = visit("tools")
    odd = page.dataframe[0].value

    assert "1 likely intent under 2 keys, in 2 calls, since " in words(page)
    assert odd.iloc[0].tolist() == ["amount 49.00 USD, payment pi_1", "2 keys", "k1, k2"]
    assert "No intent was asked for twice in the last hour." in words(page)


def test_a_thrown_switch_is_said_on_every_page(database: Database, visit: Visit) -> None:
    throw(database)

    for name in ("queue", "runs", "tools"):
        said = words(visit(name))
        assert "1 tool is switched off.** Nothing is sent while it is off; look-ups and runs go on." in said
        assert "refund_order, by ana, " in said
        assert " UTC: Doubles." in said


def test_only_an_admin_sees_the_way_back_on(database: Database, visit: Visit) -> None:
    throw(database)

    assert buttons(visit("tools")) == []
    role(database, Role.ADMIN)
    assert buttons(visit("tools")) == ["Switch on again"]


def test_a_viewer_sees_no_buttons(database: Database, visit: Visit) -> None:
    role(database, Role.VIEWER)

    page = visit("tools")

    assert buttons(page) == []
    assert page.header[0].value == "refund_order"


def pulling() -> None:
    """A page that is the dialog: the router's own cannot be kept open here, a browser keeps it."""
    import streamlit as st  # noqa: PLC0415 -- this function's text is a script of its own

    from dashboard import levers  # noqa: PLC0415
    from recon.model.records.tools import SwitchMove  # noqa: PLC0415

    board = levers.board()
    if "switch" not in st.session_state:  # As a dialog shows the switch that it was opened on.
        st.session_state["switch"] = board.every()["refund_order"]
    made = SwitchMove(st.query_params["move"])
    levers.ask(board, st.session_state["switch"], made, action_id="desk:1")


def pull(move: SwitchMove, reason: str = "Doubles since 17:01.") -> AppTest:
    page = AppTest.from_function(pulling, default_timeout=SECONDS)
    page.query_params.update({"move": str(move)})
    page.run()
    page.text_area[0].set_value(reason)
    page.button[0].click().run()
    assert not page.exception
    return page


def test_a_switch_is_thrown_with_a_reason(database: Database) -> None:
    page = pull(SwitchMove.THROWN)
    switch = switches.get(database, TOOL)

    assert "Nothing is sent while it is off; look-ups and runs go on." in words(page)
    assert (switch.thrown, switch.moved_by, switch.reason) == (True, ME, "Doubles since 17:01.")


def test_without_a_reason_nothing_is_thrown(database: Database) -> None:
    page = pull(SwitchMove.THROWN, "  ")

    assert "A reason is required" in words(page)
    assert switches.thrown(database) == ()


def test_an_operator_who_asks_for_it_all_the_same_does_not_lift(database: Database) -> None:
    throw(database)

    page = pull(SwitchMove.LIFTED)

    assert "this takes admin" in words(page)
    assert switches.get(database, TOOL).thrown


def test_an_admin_lifts_and_the_history_tells_both(database: Database, visit: Visit) -> None:
    throw(database)
    role(database, Role.ADMIN)

    pull(SwitchMove.LIFTED, "Mended.")
    history = visit("tools").dataframe[0].value

    assert list(history["Move"]) == ["Lifted", "Thrown"]
    assert list(history["Reason"]) == ["Mended.", "Doubles."]


def test_text_of_strangers_is_only_text(database: Database, visit: Visit) -> None:
    throw(database, HOSTILE, reason=HOSTILE, by=HOSTILE)
    ask(database, 2, HOSTILE, HOSTILE, tool=HOSTILE)
    ask(database, 1, f"{HOSTILE} 2", HOSTILE, tool=HOSTILE)

    page = visit("tools")
    texts = [each.value for each in page.text]

    assert not page.exception
    assert page.header[0].value == "Not declared"
    assert any("[U+202E]" in each for each in texts)
    assert not [each for each in (*page.markdown, *page.caption) if "127.0.0.1:9" in each.value]


@pytest.mark.parametrize("text", ["[tools.pay]\nretries = 3\n"])
def test_a_file_that_cannot_be_used_is_said_with_its_line(
    database: Database, visit: Visit, tmp_path: Path, text: str
) -> None:
    folder = tmp_path / "config"
    folder.mkdir()
    (folder / "tools.toml").write_text(text)

    page = visit("tools")

    assert not page.exception
    assert "line 2, [tools.pay]: unknown key 'retries'" in words(page)
    assert not visit("queue").exception


def test_the_tool_in_the_address_comes_first(database: Database, visit: Visit) -> None:
    page = visit("tools", tool="check_refund_status")

    assert [each.value for each in page.header] == ["check_refund_status", "refund_order"]
