import threading
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from recon.doctor import configuration
from recon.doctor.examination import Examination
from recon.doctor.patients import Check, Patient, Pen
from recon.model.errors import DatabaseUnavailable
from recon.model.records.remarks import Level, Remark, Section
from tests.builders import NOON
from tests.doctor.clinic import CLOSED, Clinic

CANARIES = {
    "RECON_DATABASE_URL": "postgresql://recon:canary-database@127.0.0.1:9/recon",
    "RECON_INTENTS_DATABASE_URL": "postgresql://recon:canary-intents@127.0.0.1:9/other",
    "STRIPE_API_KEY": "canary-key-of-no-known-shape",
    "SLACK_BOT_TOKEN": "canary-token-of-no-known-shape",
    "SLACK_APP_TOKEN": "canary-app",
    "SLACK_SIGNING_SECRET": "canary-signing",
    "RECON_HEARTBEAT_URL": "https://pulse.example/canary-heartbeat",
}
PEN = Pen(Section.CONFIGURATION)


def test_every_section_has_its_say_in_order(small: Clinic) -> None:
    told = [remark.section for remark in small.examine().remarks]

    assert list(dict.fromkeys(told)) == list(Section)


def test_settings_that_cannot_be_read_are_told_whatever_was_asked(small: Clinic) -> None:
    small.configure("recon.toml", '[dashboard]\nmod = "proxy"\n')

    found = small.examine(Section.DASHBOARD)

    assert not found.healthy
    assert "dashboard.mod is not a setting" in repr(found)


@pytest.mark.parametrize("away", [False, True])
def test_no_secret_is_ever_shown(small: Clinic, tmp_path: Path, *, away: bool) -> None:
    small.configure(
        "recon.toml",
        '[intents]\ntable = "t"\n[intents.columns]\nkey = "k"\namount_minor = "a"\ncurrency = "c"\n'
        'status = "s"\ncreated_at = "m"\n',
    )
    small.environ |= CANARIES
    if away:
        small.environ |= {"RECON_STRIPE_BASE_URL": CLOSED, "RECON_SLACK_BASE_URL": f"{CLOSED}/api/"}
    in_files = tmp_path / "secrets"
    in_files.mkdir()
    for name in list(CANARIES)[::2]:
        (in_files / name).write_text(small.environ.pop(name))
        small.environ[f"{name}_FILE"] = str(in_files / name)

    found = small.examine()

    assert not found.healthy
    assert "canary" not in repr(found)


def test_a_secret_that_slips_into_a_remark_is_starred(small: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    small.environ |= CANARIES

    def leaks(patient: Patient) -> Iterable[Remark]:
        return [PEN.failure(f"found {secret}", f"put {secret} right") for secret in patient.environ.values()]

    monkeypatch.setattr(configuration, "CHECKS", (Check("what leaks", leaks),))

    assert "canary" not in repr(small.examine())


def test_a_check_that_breaks_is_one_failure_and_hides_nothing(
    small: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_: Patient) -> Iterator[Remark]:
        yield PEN.ok("seen before")
        raise ValueError("xoxb-canary and other words that nobody checked")

    def is_away(_: Patient) -> Iterable[Remark]:
        raise DatabaseUnavailable("It is away.")

    def fine(_: Patient) -> Iterable[Remark]:
        return [PEN.ok("seen after")]

    checks = (Check("the first", breaks), Check("the second", is_away), Check("the third", fine))
    monkeypatch.setattr(configuration, "CHECKS", checks)

    found = [each.found for each in small.examine().remarks if each.section is Section.CONFIGURATION]

    assert [found[0], found[3]] == ["seen before", "seen after"]
    assert found[1].startswith(
        "It could not be seen the first: the check itself broke (ValueError, test_exam"
    )
    assert found[2] == "It could not be seen the second: It is away."


def test_a_check_that_hangs_is_one_failure_and_hides_nothing(
    small: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = threading.Event()

    def hangs(_: Patient) -> Iterator[Remark]:
        yield PEN.ok("seen before")
        never.wait(60)

    monkeypatch.setattr(configuration, "CHECKS", (Check("what hangs", hangs),))

    found = small.examine(seconds=3)
    never.set()

    told = [each for each in found.remarks if each.section is Section.CONFIGURATION]
    assert [each.found for each in told] == ["seen before", "It could not be seen what hangs within 3 s."]
    assert {each.section for each in found.remarks} == set(Section)


def test_a_section_whose_extra_is_missing_says_so(small: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(name: str) -> object:
        if name == "recon.doctor.slack":
            raise ModuleNotFoundError(name="slack_sdk")
        return import_module(name)

    monkeypatch.setattr("recon.doctor.examination.import_module", lacking)

    found = [each for each in small.examine().remarks if each.section is Section.SLACK]

    assert [each.found for each in found] == ["Nothing was looked at: slack_sdk is not installed."]


def test_it_is_healthy_without_a_failure() -> None:
    warned = Examination(NOON, (PEN.ok("a"), PEN.warning("b", "c")))

    assert (warned.healthy, warned.count(Level.WARNING)) == (True, 1)
    assert not Examination(NOON, (PEN.failure("a", "b"),)).healthy
