from dataclasses import replace
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from recon.doctor import configuration
from recon.model.records.remarks import Section
from recon.model.settings import DashboardSettings, PullSettings, Secret, Settings, SlackSettings
from tests.doctor.clinic import Clinic, levels, one


def test_files_and_variables_are_named_and_never_shown(small: Clinic) -> None:
    small.configure("recon.toml", "[alarms]\nsurge_limit = 30\n")

    told = small.told(Section.CONFIGURATION)

    assert one(told, f"the shipped defaults, then {small.folder / 'recon.toml'}")
    assert "STRIPE_API_KEY" in one(told, "Set: ")
    assert "SLACK_APP_TOKEN" in one(told, "Not set: ")
    assert "canary" not in "".join(told)


@pytest.mark.parametrize(
    "name, text, sign",
    [
        (
            "recon.toml",
            "[policy]\nstuck_after = 1\n",
            "policy.stuck_after is not a setting",
        ),
        ("recon.toml", "[policy\n", "is not TOML"),
        ("recon.toml", "[pull]\nfirst_window_days = 0\n", "first_window_days must be"),
    ],
)
def test_a_file_that_is_wrong_is_one_failure_and_the_rest_is_looked_at(
    small: Clinic, name: str, text: str, sign: str
) -> None:
    small.configure(name, text)

    found = small.examine()

    failures = [remark for remark in found.remarks if remark.level == "failure"]
    assert [sign in remark.found for remark in failures] == [True]
    assert "the shipped settings stand in" in failures[0].todo
    assert {remark.section for remark in found.remarks} == set(Section)


def test_the_tools_are_named_and_a_file_that_cannot_be_used_is_a_failure(small: Clinic) -> None:
    fine = one(small.told(Section.CONFIGURATION), "Tools with side effects")
    small.configure("tools.toml", '[tools.pay]\ntitle = "Pay"\neffect = "side"\n')
    wrong = [remark for remark in small.examine().remarks if remark.level == "failure"]

    assert fine.endswith("in tools.toml: refund_order.")
    assert ["line 3, [tools.pay]: effect is 'side'" in remark.found for remark in wrong] == [True]
    assert wrong[0].todo.startswith("Put that right: until then the guard sends nothing")


def test_a_variable_that_is_wrong_is_said_and_the_rest_is_looked_at(small: Clinic) -> None:
    small.environ["STRIPE_API_KEY"] = "two words"

    found = small.examine()

    assert [remark.found for remark in found.remarks if remark.level == "failure"] == [
        "STRIPE_API_KEY must be one word of printable ASCII characters; found something else."
    ]
    assert Section.PACKAGES in {remark.section for remark in found.remarks}
    assert "two words" not in repr(found)


def test_a_folder_that_is_not_there_is_said(small: Clinic, tmp_path: Path) -> None:
    small.environ["RECON_CONFIG"] = str(tmp_path / "nowhere")

    assert one(small.told(Section.CONFIGURATION), "neither a file nor a folder").startswith("failure")


def test_a_variable_that_nobody_reads_is_a_warning(small: Clinic) -> None:
    small.environ["RECON_DATABSE_URL"] = "sqlite:///canary.db"

    told = one(small.told(Section.CONFIGURATION), "RECON_DATABSE_URL is set, and nothing reads it")

    assert (
        told == "warning: RECON_DATABSE_URL is set, and nothing reads it. -> Did you mean RECON_DATABASE_URL?"
    )


@pytest.mark.parametrize("mode, warned", [(0o600, False), (0o640, False), (0o644, True)])
def test_a_secret_that_everybody_may_read_is_a_warning(
    small: Clinic, tmp_path: Path, *, mode: int, warned: bool
) -> None:
    file = tmp_path / "key"
    file.write_text(small.environ.pop("STRIPE_API_KEY"))
    file.chmod(mode)
    small.environ["STRIPE_API_KEY_FILE"] = str(file)

    told = small.told(Section.CONFIGURATION)

    assert any("Everybody on this machine may read" in line for line in told) is warned
    assert "STRIPE_API_KEY (in a file)" in one(told, "Set: ")


def test_a_secret_file_that_is_not_there_is_a_failure(small: Clinic, tmp_path: Path) -> None:
    del small.environ["STRIPE_API_KEY"]
    small.environ["STRIPE_API_KEY_FILE"] = str(tmp_path / "gone")

    assert one(small.told(Section.CONFIGURATION), "which cannot be read: No such file").startswith("failure")


@pytest.mark.parametrize(
    "section, changes, sign",
    [
        ("policy", {"missing_after": timedelta(seconds=119)}, "policy.missing_after_minutes"),
        ("policy", {"orphan_after": timedelta()}, "policy.orphan_after_minutes is 0"),
        ("policy", {"stuck_after": timedelta(minutes=14)}, "policy.stuck_after_minutes"),
        ("policy", {"clock_skew": timedelta(minutes=6)}, "policy.clock_skew_seconds"),
        ("pull", {"overlap": timedelta(minutes=1)}, "pull.overlap_minutes"),
        ("pull", {"relist": timedelta(days=29)}, "pull.relist_days is 29"),
        ("", {"stale_after": timedelta(hours=1)}, "alarms.stale_after_minutes is 60"),
        ("", {"stale_after": timedelta(days=2)}, "alarms.stale_after_minutes is 2880"),
        ("", {"slack": SlackSettings(bot_token=Secret("xoxb-x"))}, "dashboard.url"),
        ("", {"four_eyes": {"usd": 50000}}, "four_eyes.amounts is set, and dashboard.mode is local"),
    ],
)
def test_values_that_are_allowed_and_hardly_meant(section: str, changes: dict[str, Any], sign: str) -> None:
    settings = Settings()
    changed = replace(getattr(settings, section), **changes) if section else None
    settings = replace(settings, **({section: changed} if section else changes))

    odd = list(configuration.oddities(settings))

    assert len(odd) == 1
    assert sign in odd[0][0]


def test_values_at_the_edge_are_meant() -> None:
    settings = replace(
        Settings(),
        pull=PullSettings(overlap=timedelta(minutes=2), relist=timedelta(days=30)),
        slack=SlackSettings(bot_token=Secret("xoxb-x")),
        dashboard=DashboardSettings(url="https://desk.example", mode="proxy"),
        four_eyes={"usd": 50000},
        stale_after=timedelta(days=1),
    )

    assert list(configuration.oddities(settings)) == []
    assert list(configuration.oddities(Settings())) == []


@pytest.mark.parametrize(
    "lacking, told",
    [("slack_sdk", "SLACK_BOT_TOKEN is set"), ("pandas", "the hour needs it"), ("dask", None)],
)
def test_a_package_that_is_needed_and_missing_is_a_failure(
    small: Clinic, monkeypatch: pytest.MonkeyPatch, lacking: str, told: str | None
) -> None:
    monkeypatch.setattr(
        "recon.doors.machine.find_spec", lambda name: None if name == lacking else find_spec(name)
    )

    failures = [line for line in small.told(Section.PACKAGES) if line.startswith("failure")]

    assert [line for line in failures if told is None or told not in line] == []
    assert bool(failures) is (told is not None)


def test_owners_that_cannot_be_read_are_a_failure(small: Clinic) -> None:
    small.configure("owners.toml", '[[rules]]\nname = "all"\nowner = "On call"\ntarget = "somewhere"\n')

    told = small.told(Section.OWNERS)

    assert levels(told) == {"failure"}
    assert "[[rules]] number 1 (all): target is 'somewhere'" in told[0]


def test_a_rule_that_never_wins_is_named(small: Clinic) -> None:
    rule = '[[rules]]\nname = "{}"\nowner = "On call"\ntarget = "#refund-operators"\n'
    small.configure("owners.toml", rule.format("first") + rule.format("second"))

    told = small.told(Section.OWNERS)

    assert one(told, "the rule 'first' never wins: the rule 'second' comes later").startswith("warning")
