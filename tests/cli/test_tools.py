import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recon.cli.tools import app
from recon.doors.store import operators, switches
from recon.doors.store.engines import Database
from recon.guard import Guard
from recon.model import tool_texts
from recon.model.errors import ConfigurationError, NotPermitted, Report
from recon.model.records.people import Operator
from recon.model.records.tools import Switch, SwitchMove
from recon.model.records.words import Actor, Role
from tests.builders import NOON

PAY = '[tools.charge_card]\ntitle = "Charge a card"\neffect = "side_effect"\nkey = ["order_id"]\n'


def said(url: str, *words: str, code: int = 0, config: Path | None = None) -> str:
    """What `recon tools WORDS` prints."""
    env = {"RECON_DATABASE_URL": url} | ({"RECON_CONFIG": str(config)} if config else {})
    done = CliRunner().invoke(app, words, env=env, catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output.strip()


def write(folder: Path, text: str) -> Path:
    (folder / "tools.toml").write_text(text)
    return folder


def test_every_tool_is_listed_with_its_switch(database: Database, database_url: str) -> None:
    assert said(database_url, "list").splitlines() == [
        "refund_order         side_effect  on  key: order_id, reference",
        "check_refund_status  read         on",
    ]


def test_what_is_unknown_of_a_tool_is_counted(database: Database, database_url: str, tmp_path: Path) -> None:
    def away(*_: object) -> str:
        raise TimeoutError

    Guard("charge_card", away, engine=database).call({"order_id": "1"}, {}, noun="charge")
    config = write(tmp_path, PAY + 'fingerprint = ["amount"]\n')

    listed = said(database_url, "list", config=config).splitlines()
    values = json.loads(said(database_url, "list", "--format", "json", config=config))

    assert [each for each in listed if "unknown" in each] == [
        "charge_card          side_effect  on  key: order_id  1 unknown: recon guard unknown"
    ]
    assert {each["name"]: each["unknown"] for each in values} == {
        "refund_order": 0,
        "check_refund_status": 0,
        "charge_card": 1,
    }


def test_a_tool_is_switched_off_and_on_again(database: Database, database_url: str) -> None:
    off = said(database_url, "off", "refund_order", "--reason", "Doubles since 17:01.", "--as", "ana")
    again = said(database_url, "off", "refund_order", "--reason", "And I.", "--as", "bo")
    listed = said(database_url, "list")
    value = json.loads(said(database_url, "list", "--format", "json"))[0]
    on = said(database_url, "on", "refund_order", "--reason", "The tool is mended.")

    first, second = off.splitlines()
    assert first.startswith("refund_order is off: by ana at ")
    assert first.endswith(" UTC: Doubles since 17:01.")
    assert second == "Nothing of it is sent while it is off; look-ups and runs go on."
    assert again.startswith("refund_order was off already: by ana at ")
    assert "refund_order         side_effect  off, by ana at " in listed
    assert (value["off"], value["moved_by"], value["reason"]) == (True, "ana", "Doubles since 17:01.")
    assert on.startswith("refund_order is on: by local operator at ")
    assert [each.move for each in switches.history(database, "refund_order")] == ["lifted", "thrown"]


def test_whoever_is_put_down_as_less_has_less(database: Database, database_url: str) -> None:
    operators.put(database, Operator(Actor("vi"), Role.VIEWER))

    with pytest.raises(NotPermitted, match="vi has the role viewer"):
        said(database_url, "off", "refund_order", "--reason", "x", "--as", "vi")
    with pytest.raises(ConfigurationError, match="recon is the job's own name"):
        said(database_url, "off", "refund_order", "--reason", "x", "--as", "recon")
    assert switches.every(database) == {}


def test_whoever_is_refused_in_a_hurry_hears_what_helps(database: Database, database_url: str) -> None:
    operators.put(database, Operator(Actor("local operator"), Role.VIEWER))

    with pytest.raises(NotPermitted) as refused:
        said(database_url, "off", "refund_order", "--reason", "x")
    assert str(refused.value) == (
        "local operator has the role viewer; this takes operator or approver or admin. Name somebody who may "
        "with --as (recon operators list shows them), or give the role: recon operators add 'local operator' "
        "--role operator"
    )
    with pytest.raises(NotPermitted, match=r"--role admin$"):
        said(database_url, "on", "refund_order", "--reason", "x")


def test_where_people_sign_in_a_typed_name_is_not_taken_for_somebody_who_did(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    (tmp_path / "recon.toml").write_text('[dashboard]\nmode = "proxy"\n')
    operators.put(database, Operator(Actor("vi"), Role.VIEWER))
    told = ("refund_order", "--reason", "Doubles.", "--as")

    off = said(database_url, "off", *told, "ana", config=tmp_path)
    on = said(database_url, "on", *told, "bo", config=tmp_path)
    with pytest.raises(NotPermitted, match="vi has the role viewer"):
        said(database_url, "off", *told, "vi", config=tmp_path)

    assert off.startswith("refund_order is off: by ana (by the command line) at ")
    assert on.startswith("refund_order is on: by bo (by the command line) at ")
    actors = [each.actor for each in switches.history(database, "refund_order")]
    assert actors == ["bo (by the command line)", "ana (by the command line)"]


def test_what_cannot_be_moved_is_said(database: Database, database_url: str) -> None:
    with pytest.raises(Report, match="Expected a tool of tools"):
        said(database_url, "off", "refund_orders", "--reason", "x")
    with pytest.raises(Report, match="A reason is required"):
        said(database_url, "off", "refund_order", "--reason", " ")
    with pytest.raises(Report, match="to be thrown, found that it is not"):
        said(database_url, "on", "refund_order", "--reason", "x")


def test_the_file_is_checked(database: Database, database_url: str, tmp_path: Path) -> None:
    folder = write(tmp_path, PAY + 'fingerprint = ["amount_minor"]\n')
    fine = said(database_url, "check", config=folder)
    write(tmp_path, PAY)

    assert fine.splitlines() == [
        "3 tools can be used, 2 of them with side effects.",
        "Not keyed, so never sent again, and what stays unknown is for a person: charge_card.",
    ]
    with pytest.raises(
        ConfigurationError, match=r"tools.toml, line 1, \[tools.charge_card\]: fingerprint is Non"
    ):
        said(database_url, "check", config=folder)


def test_the_file_is_checked_without_a_database(tmp_path: Path) -> None:
    told = said(f"sqlite:///{tmp_path}/none.db", "check")

    assert told.splitlines()[0] == "2 tools can be used, 1 of them with side effects."
    assert "Switches were not looked at: There is no database yet" in told


def test_a_thrown_switch_of_a_tool_that_is_gone_is_found(database: Database, database_url: str) -> None:
    with database.write() as connection:
        switches.move(
            connection,
            Switch("old"),
            SwitchMove.THROWN,
            actor=Actor("ana"),
            reason="x",
            now=NOON,
            action_id="1",
        )

    assert "old is off, by ana at 2026-03-06 12:00 UTC: x, and tools.toml does not declare it." in said(
        database_url, "check", code=1
    )


def test_what_a_framework_is_told_is_printed(database: Database, database_url: str) -> None:
    told = json.loads(said(database_url, "annotations"))

    assert told["refund_order"] == {
        "title": "Refund an order",
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }
    assert told["check_refund_status"]["readOnlyHint"] is True


def test_what_a_system_prompt_says_is_printed() -> None:
    done = CliRunner().invoke(app, ["prompt"], catch_exceptions=False)

    assert (done.exit_code, done.output) == (0, tool_texts.PROMPT)
