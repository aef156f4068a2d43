import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from recon.doors.store import cases, leases
from recon.doors.store.engines import Database
from recon.model.records.cases import Case, Change, Owner
from recon.model.records.runs import HOUR
from recon.model.records.words import Actor
from recon.rules import moves
from tests import seeds
from tests.cli.conftest import recon as command
from tests.sandboxes import SLACK_TOKEN, Street

RULES = """
[owners."support leads"]
target = "#support-leads"
group = "S0123456789"
escalation = [ { after_minutes = 60, owner = "head of support" } ]

[owners."head of support"]
target = "head@example.com"

[[rules]]
name = "everything"
owner = "refund operators"
target = "#refund-operators"

[[rules]]
name = "double refunds"
kind = "duplicate"
owner = "support leads"

[[severities]]
level = "high"
"""
Recon = Callable[..., CompletedProcess[str]]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """The file of rules."""
    (tmp_path / "recon.toml").write_text("")
    file = tmp_path / "owners.toml"
    file.write_text(RULES)
    return file


@pytest.fixture
def environ(rules: Path, database_url: str) -> dict[str, str]:
    return {"RECON_CONFIG": str(rules.parent), "RECON_DATABASE_URL": database_url, "COLUMNS": "100"}


@pytest.fixture
def recon(environ: dict[str, str]) -> Recon:
    """The command's group, as a process."""

    def run(*options: str, **more: str) -> CompletedProcess[str]:
        return command(environ | more, "owners", *options)

    return run


@pytest.fixture
def bare(rules: Path, tmp_path: Path) -> Recon:
    """The same, where no database is yet."""
    nowhere = {"RECON_CONFIG": str(rules.parent), "RECON_DATABASE_URL": f"sqlite:///{tmp_path}/nowhere/x.db"}
    return lambda *options: command(nowhere, "owners", *options)


@pytest.fixture
def doubles(database: Database) -> tuple[Case, ...]:
    """Two orders refunded twice, of which the shipped rules say that the operators own them."""
    now = datetime.now(UTC)
    seen = [seeds.duplicate(number, at=now - timedelta(hours=1)) for number in (1, 2)]
    return seeds.run(database, seen, now=now - timedelta(minutes=2))


def told(done: CompletedProcess[str]) -> str:
    """What was printed, its spaces made one each."""
    assert "Traceback" not in done.stderr
    return re.sub(r" +", " ", done.stdout)


@pytest.mark.usefixtures("doubles")
def test_the_rules_are_shown_with_the_cases_that_they_decide(recon: Recon) -> None:
    done = recon("check")
    lines = told(done).splitlines()

    assert " everything anything refund operators #refund-operators 0" in lines
    assert " double refunds kind duplicate support leads #support-leads 2" in lines
    assert " unanswered: after 1 h 0 min head of support in head@example.com" in lines
    assert " warning 2 open cases would get another owner or severity now." in lines
    assert " Whether Slack knows the owners was not asked: SLACK_BOT_TOKEN is not set." in lines
    assert done.returncode == 1


@pytest.mark.usefixtures("database")
def test_with_nothing_to_put_right_it_ends_well(recon: Recon) -> None:
    done = recon("check")

    assert "To put right: nothing" in told(done)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "wrong, right, line",
    [
        ('kind = "duplicate"', 'kind = "duplicates"', 17),
        ("after_minutes = 60", "after_minutes = 0", 5),
        ('level = "high"', 'level = "high"\nlevel = 1', 22),
    ],
)
def test_a_mistake_is_said_with_its_line(
    bare: Recon, rules: Path, *, wrong: str, right: str, line: int
) -> None:
    rules.write_text(RULES.replace(wrong, right))
    done = bare("check")

    assert f"line {line}" in done.stderr
    assert str(rules) in done.stderr
    assert (done.stdout, done.returncode) == ("", 2)


@pytest.mark.parametrize("sub", [["explain", "C-AAAAAAAAAA"], ["apply"]])
@pytest.mark.usefixtures("doubles")
def test_with_a_mistake_nothing_begins(recon: Recon, rules: Path, sub: list[str]) -> None:
    rules.write_text(RULES.replace("60", "0"))
    done = recon(*sub)

    assert 'line 5, [owners."support leads"] escalation step 1: after_minutes is 0' in done.stderr
    assert (done.stdout, done.returncode) == ("", 2)


def test_the_rules_are_looked_over_without_a_database(bare: Recon, tmp_path: Path) -> None:
    done = bare("check")

    assert "Open cases were not counted: There is no database yet at" in told(done)
    assert " double refunds kind duplicate support leads #support-leads" in told(done).splitlines()
    assert not (tmp_path / "nowhere").exists()
    assert done.returncode == 0


@pytest.mark.usefixtures("doubles")
def test_whoever_slack_does_not_know_is_named(recon: Recon, rules: Path, sandbox: Street) -> None:
    rules.write_text(RULES.replace("head@example.com", "head@example.invalid"))
    sandbox.control("slack", open=False, channels=[{"name": "support-leads"}])
    done = recon("check", SLACK_BOT_TOKEN=SLACK_TOKEN, RECON_SLACK_BASE_URL=sandbox.slack_url)
    said = told(done)

    assert (
        "head@example.invalid (owner 'head of support') cannot be reached: Slack said users_not_found" in said
    )
    assert "#refund-operators (slack.operators_channel)" in said
    assert "There is no user group S0123456789 (owner 'support leads')" in said
    assert "The bot is in #support-leads" in said
    assert sandbox.messages() == []
    assert done.returncode == 1


def test_a_token_that_is_no_bots_is_not_tried(
    recon: Recon, sandbox: Street, doubles: tuple[Case, ...]
) -> None:
    done = recon("check", SLACK_BOT_TOKEN="xoxp-1", RECON_SLACK_BASE_URL=sandbox.slack_url)

    assert len(doubles) == 2
    assert "failure In SLACK_BOT_TOKEN is a person's token" in told(done)
    assert "xoxp-1" not in done.stdout + done.stderr
    assert (sandbox.requests(), done.returncode) == ([], 1)


@pytest.mark.usefixtures("database")
def test_slack_is_left_alone_when_asked_for(recon: Recon, sandbox: Street) -> None:
    done = recon("check", "--offline", SLACK_BOT_TOKEN=SLACK_TOKEN, RECON_SLACK_BASE_URL=sandbox.slack_url)

    assert "was not asked: --offline." in told(done)
    assert (sandbox.requests(), done.returncode) == ([], 0)


def test_a_case_is_explained(recon: Recon, doubles: tuple[Case, ...]) -> None:
    recon("apply")
    lines = told(recon("explain", doubles[0].id)).splitlines()

    assert f"{doubles[0].id}: Refunded twice (duplicate), 49.00 USD, high, open" in lines
    assert " Owner: support leads in #support-leads, by rule 'double refunds'" in lines
    assert " everything fits refund operators" in lines
    assert " double refunds wins support leads" in lines
    assert " The next message goes to #support-leads, mentioning S0123456789." in lines
    assert any("head of support in head@example.com" in line for line in lines)


def test_why_a_rule_does_not_fit_is_said(recon: Recon, rules: Path, doubles: tuple[Case, ...]) -> None:
    rules.write_text(RULES.replace('kind = "duplicate"', 'kind = "orphan"'))

    assert " double refunds no support leads kind is duplicate, not orphan" in told(
        recon("explain", doubles[0].id)
    )


def test_who_gets_a_case_next_comes_before_where_it_is_told_now(
    recon: Recon, doubles: tuple[Case, ...]
) -> None:
    coming = " The next run, or recon owners apply, gives it to support leads in #support-leads, who is told."
    before = told(recon("explain", doubles[0].id))
    recon("apply")

    assert f"{coming} Until then:\n The next message goes to #refund-operators." in before
    assert "Until then" not in told(recon("explain", doubles[0].id))


def by_hand(database: Database, case: Case) -> None:
    cy = Owner("Cy", "U0CY", "assigned by Ana")
    by: dict[str, Any] = {
        "actor": Actor("Ana"),
        "reason": "Hers.",
        "now": datetime.now(UTC),
        "action_id": "a",
    }
    change = moves.assign(case, owner=cy, **by)
    assert isinstance(change, Change)
    cases.move(database, change)


def test_a_case_that_was_given_by_hand_is_explained_so(
    recon: Recon, database: Database, doubles: tuple[Case, ...]
) -> None:
    by_hand(database, doubles[0])
    lines = told(recon("explain", doubles[0].id)).splitlines()

    assert " Owner: Cy in U0CY, assigned by Ana" in lines
    assert any(line.startswith(" Ana gave it to them by hand") for line in lines)


@pytest.mark.parametrize("named", ["C-AAAAAAAAAA", "\x1b[31mred\u202e", "x" * 3000])
@pytest.mark.usefixtures("database")
def test_a_case_that_is_not_there_is_one_sentence(recon: Recon, named: str) -> None:
    done = recon("explain", "--", named)

    assert done.stderr.count("\n") == 1
    assert "found none with the id" in done.stderr
    assert "\x1b" not in done.stderr
    assert len(done.stderr) < 200
    assert done.returncode == 2


def test_what_would_move_is_said_and_not_done(
    recon: Recon, database: Database, doubles: tuple[Case, ...]
) -> None:
    done = recon("apply", "--dry-run")
    lines = told(done).splitlines()

    assert lines[0].startswith("Would move: 2 of 2 open cases, by the rules as of ")
    assert " refund operators support leads high 2" in lines
    assert "Nothing was written: this was a dry run." in lines
    assert cases.get(database, doubles[0].id) == doubles[0]
    assert done.returncode == 0


def test_what_moved_is_said(recon: Recon, database: Database, doubles: tuple[Case, ...]) -> None:
    done = recon("apply")
    moved = cases.get(database, doubles[0].id)

    assert told(done).startswith("Moved: 2 of 2 open cases")
    assert "#support-leads, new message: HIGH: 2 refunded twice" in told(done)
    assert moved is not None
    assert moved.owner == Owner("support leads", "#support-leads", "double refunds")
    assert told(recon("apply")).startswith("Moved: none of 2 open cases")


@pytest.mark.usefixtures("database")
def test_before_the_first_run_there_is_nothing_to_move(recon: Recon) -> None:
    done = recon("apply")

    assert told(done) == "No run has saved anything yet: there is no case to give to anybody.\n"
    assert done.returncode == 0


def test_while_a_run_is_at_it_apply_exits_75(
    recon: Recon, database: Database, doubles: tuple[Case, ...]
) -> None:
    leases.take(database, HOUR, "a run", now=datetime.now(UTC), duration=timedelta(minutes=5))
    done = recon("apply")

    assert "held by a run" in done.stderr
    assert (done.stdout, done.returncode) == ("", 75)
    assert cases.get(database, doubles[0].id) == doubles[0]


def test_programs_get_every_key(recon: Recon, doubles: tuple[Case, ...]) -> None:
    check, explain, apply = (
        json.loads(recon(*options, "--format", "json").stdout)
        for options in (["check"], ["explain", doubles[0].id], ["apply"])
    )

    assert set(check) == {
        "judged_at", "rules", "severities", "caught_by_the_first", "given_by_hand", "would_move", "owners",
        "remarks", "not_looked_at",
    }  # fmt: skip
    assert check["rules"][1] == {
        "name": "double refunds",
        "says": "support leads",
        "target": "#support-leads",
        "asks": {"kind": "duplicate"},
        "open": 2,
        "unowned": None,
    }
    assert set(explain) == {
        "case", "account", "subject", "kind", "state", "severity", "owner", "given_by_hand_by", "judged_at",
        "by_the_rules", "rules", "severities", "next_message", "owner_told_at", "snoozed_until", "escalation",
    }  # fmt: skip
    assert explain["by_the_rules"]["owner"]["name"] == "support leads"
    assert set(apply) == {
        "dry_run", "judged_at", "open", "given_by_hand", "moved_meanwhile", "changes", "notices",
    }  # fmt: skip
    assert [change["to"]["name"] for change in apply["changes"]] == ["support leads"] * 2


def test_hostile_names_are_printed_harmlessly(recon: Recon, rules: Path, doubles: tuple[Case, ...]) -> None:
    rules.write_text(RULES.replace('name = "double refunds"', 'name = "<!channel> [bold]x[/bold] %s"'))
    done = recon("explain", doubles[0].id)

    assert " <!channel> [bold]x[/bold] %s wins support leads" in told(done).splitlines()
