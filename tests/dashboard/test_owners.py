from datetime import timedelta
from pathlib import Path

import pytest

from recon.doors.store.engines import Database
from tests import seeds
from tests.dashboard.conftest import Visit, now, words
from tests.weeks import Week

RULES = """
[owners."refund operators"]
target = "#refund-operators"
escalation = [ { after_minutes = 60, owner = "finance" } ]

[owners.finance]
target = "#finance"
zone = "Europe/Berlin"
quiet_hours = "20:00-07:00"

[[rules]]
name = "everything"
owner = "refund operators"

[[rules]]
name = "large"
amount_at_least_minor = { usd = 5000 }
owner = "finance"

[[rules]]
name = "![](http://127.0.0.1:9/x.png)"
kind = "missing"
unowned = "Finance says so."

[[severities]]
level = "medium"
"""

LATER_RULE = """
[[rules]]
name = "whatever the tool"
owner = "finance"
"""


@pytest.fixture(autouse=True)
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the rules in force, which a test may write anew."""
    file = tmp_path / "config" / "owners.toml"
    file.parent.mkdir()
    file.write_text(RULES)
    monkeypatch.setenv("RECON_CONFIG", str(file.parent))
    return file


@pytest.fixture
def week(database: Database) -> Week:
    """Two waiting cases, given to their owner by the rules of the file."""
    week = Week(database, now() - timedelta(hours=1))
    week.run([seeds.duplicate(1, at=now()), seeds.duplicate(2, at=now(), amount_minor=9800)])
    return week


def test_rules_are_shown_in_order_with_what_they_ask_and_hold(
    database: Database, visit: Visit, week: Week
) -> None:
    page = visit("owners")
    rows = page.dataframe[0].value

    assert not page.exception
    assert list(rows["Rule"])[:2] == ["1. everything", "2. large"]
    assert list(rows["Asks for"]) == ["anything", "amount 50.00 USD or more", "kind missing"]
    assert list(rows["Owner"]) == ["refund operators", "finance", "nobody, on purpose: Finance says so."]
    assert list(rows["Waiting cases"]) == ["1", "1", "0"]
    assert "Nothing looks wrong in owners.toml." in words(page)


def test_rules_are_those_of_the_file_as_it_is_now(
    database: Database, visit: Visit, week: Week, rules: Path
) -> None:
    page = visit("owners")
    rules.write_text(RULES.replace('name = "everything"', 'name = "all others"'))

    page.run()

    assert list(page.dataframe[0].value["Rule"])[:2] == ["1. all others", "2. large"]
    assert "1 waiting case by the rule 'everything', which is gone" in words(page)


def test_a_file_that_cannot_be_used_is_said_with_its_line(
    database: Database, visit: Visit, rules: Path
) -> None:
    rules.write_text(RULES.replace('kind = "missing"', 'kind = "mising"'))

    page = visit("owners")

    assert not page.exception
    assert "unknown kind 'mising'" in words(page)


def test_a_rule_that_can_never_win_is_to_be_put_right(database: Database, visit: Visit, rules: Path) -> None:
    rules.write_text(RULES.replace("amount_at_least_minor = { usd = 5000 }", 'tool = "a"') + LATER_RULE)

    said = words(visit("owners"))

    assert "To put right" in said
    assert "'large'" in said


def test_owners_are_shown_with_when_they_rest_and_who_comes_next(
    database: Database, visit: Visit, week: Week
) -> None:
    owners = visit("owners").dataframe[2].value.set_index("Owner")

    assert owners.loc["finance", "Zone"] == "Europe/Berlin"
    assert owners.loc["finance", "Rests"] == "20:00 to 07:00, but for critical"
    assert owners.loc["finance", "If nobody answers"] == "nobody else is asked"
    assert owners.loc["refund operators", "If nobody answers"] == "after 1 h finance in #finance"


def test_a_case_is_tried_against_the_rules(database: Database, visit: Visit, week: Week) -> None:
    small = next(case for case in week.everything() if case.mismatch.order_id == "order_1")

    page = visit("owners", case=small.id)
    tried = page.dataframe[0].value

    assert not page.exception
    assert list(tried["Fits"]) == ["wins", "no", "no"]
    assert list(tried["Why not"]) == [
        "—",
        "amount is 49.00 USD, not 50.00 USD or more",
        "kind is duplicate, not missing",
    ]
    assert (
        "By the rules it belongs to refund operators, because 'everything' is the last that fits."
        in words(page)
    )


def test_a_case_that_other_rules_win_now_says_so(
    database: Database, visit: Visit, week: Week, rules: Path
) -> None:
    rules.write_text(RULES.replace("usd = 5000", "usd = 50000"))
    large = next(case for case in week.everything() if case.mismatch.order_id == "order_2")
    page = visit("owners")

    page.text_input[0].set_value(f" {large.id} ")
    page.button[0].click().run()

    said = "The next run, or recon owners apply, gives it to refund operators with severity medium."
    assert said in words(page)
    assert list(page.dataframe[0].value["Fits"]) == ["wins", "no", "no"]
    assert page.query_params["case"] == large.id


def test_a_case_that_is_not_there_is_said(database: Database, visit: Visit) -> None:
    page = visit("owners", case="C-NOTHERE")

    assert "Expected a case, found none with the id 'C-NOTHERE'." in words(page)
    assert page.dataframe


def test_rules_are_also_a_plain_list_of_text(database: Database, visit: Visit, week: Week) -> None:
    page = visit("owners", view="list")

    assert not page.dataframe
    assert "3. ![](http://127.0.0.1:9/x.png)" in words(page)
    assert all("![" not in each.value for each in (*page.markdown, *page.caption))


def test_a_rule_that_fits_and_does_not_win_says_why(database: Database, visit: Visit, week: Week) -> None:
    large = next(case for case in week.everything() if case.mismatch.order_id == "order_2")

    tried = visit("owners", case=large.id).dataframe[0].value

    assert list(tried["Fits"]) == ["yes", "wins", "no"]
    assert list(tried["Why not"])[:2] == ["a later rule fits as well", "—"]
