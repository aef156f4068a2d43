from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recon.cli.operators import app
from recon.doors.store import operators, sign_outs
from recon.doors.store.engines import Database
from recon.model.errors import ConfigurationError, Report
from recon.model.records.people import NAME_LIMIT, Operator
from recon.model.records.words import Actor, Role


def said(url: str, *words: str) -> str:
    """What `recon operators WORDS` prints."""
    done = CliRunner().invoke(app, words, env={"RECON_DATABASE_URL": url}, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output.strip()


def test_nobody_is_said_to_be_there_with_what_to_run(database: Database, database_url: str) -> None:
    assert said(database_url, "list").endswith("recon operators add NAME --slack ID.")


def test_an_operator_is_put_down_changed_and_removed(database: Database, database_url: str) -> None:
    ana = Operator(Actor("Ana Lima"), Role.OPERATOR, slack_id="U012AB3CD")

    first = said(database_url, "add", "Ana Lima", "--slack", "U012AB3CD")
    known = operators.get(database, ana.name)
    said(database_url, "add", "Ana Lima", "--role", "admin")
    changed = operators.get(database, ana.name)
    last = said(database_url, "remove", "Ana Lima")

    assert first == "Ana Lima has the role operator and is U012AB3CD in Slack."
    assert known == ana
    assert changed == Operator(ana.name, Role.ADMIN, slack_id="U012AB3CD")
    assert last == "Ana Lima may no longer act on cases."
    assert operators.get(database, ana.name) == Operator(ana.name, Role.ADMIN, active=False)


def test_a_removed_operators_slack_id_is_free_and_an_empty_one_is_taken_away(
    database: Database, database_url: str
) -> None:
    said(database_url, "add", "Ana", "--slack", "U012AB3CD")
    said(database_url, "remove", "Ana")
    said(database_url, "add", "Ana L.", "--slack", "U012AB3CD")
    last = said(database_url, "add", "Ana L.", "--slack", "")

    assert last == "Ana L. has the role operator and does not answer in Slack."
    assert operators.in_slack(database, "U012AB3CD") is None


def test_everybody_is_listed_by_name(database: Database, database_url: str) -> None:
    said(database_url, "add", "Vera", "--role", "viewer")
    said(database_url, "add", "Ana", "--slack", "U012AB3CD")
    said(database_url, "add", "Ben")
    said(database_url, "remove", "Ben")

    assert [line.split() for line in said(database_url, "list").splitlines()] == [
        ["Ana", "operator", "U012AB3CD"],
        ["Ben", "removed", "not", "in", "Slack"],
        ["Vera", "viewer", "not", "in", "Slack"],
    ]


@pytest.mark.parametrize(
    "words,expected",
    [
        (("add", "recon"), "the job's own name"),
        (("add", " "), "1 to 80 characters; found 0"),
        (("add", "a" * (NAME_LIMIT + 1)), "found 81 characters"),
        (("add", "a\nb"), "one line"),
        (("add", "Ana", "--slack", "ana@example.com"), "begins with U or W"),
        (("add", "Ana", "--slack", "C012AB3CD"), "begins with U or W"),
    ],
)
def test_what_cannot_be_an_operator_is_refused(
    words: tuple[str, ...], expected: str, database: Database, database_url: str
) -> None:
    with pytest.raises(ConfigurationError, match=expected):
        said(database_url, *words)

    assert operators.every(database) == ()


def test_whoever_was_never_there_cannot_be_removed(database: Database, database_url: str) -> None:
    with pytest.raises(Report, match="found none of the name 'Eve'"):
        said(database_url, "remove", "Eve")


@pytest.mark.parametrize("words", [("list",), ("add", "Ana"), ("remove", "Ana")])
def test_a_database_that_is_not_there_is_not_made(words: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "folder" / "recon.db"

    with pytest.raises(ConfigurationError, match=r"no database yet at .*: recon db upgrade"):
        said(f"sqlite:///{file}", *words)
    assert not file.parent.exists()


def test_an_address_is_who_signs_in_with_it_whatever_its_case(database: Database, database_url: str) -> None:
    assert said(database_url, "add", "Ana@Example.com").startswith("ana@example.com has the role operator")
    assert said(database_url, "remove", "ANA@example.com") == "ana@example.com may no longer act on cases."

    (found,) = operators.every(database)
    assert (found.name, found.active) == ("ana@example.com", False)


def test_who_signs_in_is_removed_also_when_nobody_had_put_them_down(
    database: Database, database_url: str
) -> None:
    last = said(database_url, "remove", "Bo@example.com")

    assert last == (
        "bo@example.com may no longer act on cases. Nobody had put them down before: look whether the "
        "address is right."
    )
    assert operators.get(database, Actor("bo@example.com")) == Operator(
        Actor("bo@example.com"), Role.VIEWER, active=False
    )


def test_somebody_is_signed_out_from_now_on_and_keeps_what_they_are(
    database: Database, database_url: str
) -> None:
    said(database_url, "add", "ana@example.com", "--role", "admin")
    before = datetime.now(UTC)

    last = said(database_url, "sign-out", "Ana@example.com")

    out_at = sign_outs.latest(database, Actor("ana@example.com"))
    assert out_at is not None
    assert before <= out_at <= datetime.now(UTC)
    assert last == (
        f"ana@example.com is signed out: sign-ins from before {out_at:%H:%M:%S} UTC no longer count."
    )
    known = operators.get(database, Actor("ana@example.com"))
    assert known == Operator(Actor("ana@example.com"), Role.ADMIN)
