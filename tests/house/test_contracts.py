"""Each import contract holds on a clean house, and breaks, alone, when the import it forbids is there."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.house import tree

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")
CONTRACTS = {
    contract["id"]: contract
    for contract in tomllib.loads((tree.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
}

HOUSE = [
    "recon/__init__.py",
    "recon/hourly.py",
    "recon/planning.py",
    "recon/lookback.py",
    "recon/moving.py",
    "recon/pulling.py",
    "recon/delivery.py",
    "recon/watch.py",
    "recon/desk.py",
    "recon/guard.py",
    "recon/effects.py",
    "recon/callers.py",
    "recon/guarding.py",
    "recon/handling.py",
    "recon/lookups.py",
    "recon/history.py",
    "recon/adapters/__init__.py",
    "recon/adapters/functions.py",
    "recon/cli/__init__.py",
    "recon/cli/main.py",
    "recon/sandbox/__init__.py",
    "recon/sandbox/server.py",
    "recon/doors/__init__.py",
    "recon/doors/files/__init__.py",
    "recon/doors/files/reading.py",
    "recon/doors/intents.py",
    "recon/doors/store/__init__.py",
    "recon/doors/store/reading.py",
    "recon/doors/stripe/__init__.py",
    "recon/doors/stripe/provider.py",
    "recon/rules/__init__.py",
    "recon/rules/cases.py",
    "recon/rules/guarding.py",
    "recon/rules/keys.py",
    "recon/rules/linking.py",
    "recon/model/__init__.py",
    "recon/model/money.py",
    "recon/model/frames.py",
    "jobs/__init__.py",
    "jobs/hourly.py",
    "dashboard/__init__.py",
    "dashboard/app.py",
]

# contract, the module that breaks it, the import
BREAKS = [
    ("floors", "recon/model/money.py", "import recon.rules.cases"),
    ("floors", "recon/model/money.py", "import recon.doors.files.reading"),
    ("floors", "recon/rules/cases.py", "import recon.doors.files.reading"),
    ("floors", "recon/rules/cases.py", "import recon.desk"),
    ("floors", "recon/doors/files/reading.py", "import recon.desk"),
    ("floors", "recon/desk.py", "import recon.cli.main"),
    ("floors", "recon/desk.py", "import recon.sandbox.server"),
    ("floors", "recon/guard.py", "import recon.adapters.functions"),
    ("floors", "recon/hourly.py", "import jobs.hourly"),
    ("floors", "recon/desk.py", "import dashboard.app"),
    ("floors", "recon/pulling.py", "import recon.hourly"),
    ("floors", "recon/doors/files/reading.py", "import recon.pulling"),
    ("pulling", "recon/desk.py", "import recon.pulling"),
    ("pulling", "jobs/hourly.py", "import recon.pulling"),
    ("floors", "recon/planning.py", "import recon.hourly"),
    ("pulling", "jobs/hourly.py", "import recon.planning"),
    ("pulling", "recon/cli/run.py", "import recon.lookback"),
    ("flows", "recon/hourly.py", "import recon.delivery"),
    ("flows", "recon/watch.py", "from recon import guard"),
    ("flows", "recon/desk.py", "import recon.history"),
    ("doors", "recon/doors/files/reading.py", "import recon.doors.stripe.provider"),
    ("doors", "recon/doors/store/reading.py", "import recon.doors.files.reading"),
    ("rules", "recon/rules/cases.py", "import recon.rules.linking"),
    ("doors-and-rules", "recon/doors/store/reading.py", "import recon.rules.linking"),
    ("pure-rules", "recon/rules/cases.py", "import sqlalchemy"),
    ("pure-rules", "recon/rules/cases.py", "import http.client"),
    ("dashboard-and-desk", "dashboard/app.py", "import recon.doors.files.reading"),
    ("streamlit", "recon/desk.py", "import streamlit"),
    ("streamlit", "jobs/hourly.py", "import streamlit"),
    ("light-guard", "recon/guard.py", "import pandas"),
    ("light-guard", "recon/guard.py", "import recon.model.frames"),
    ("light-guard", "recon/effects.py", "import pandas"),
    ("light-guard", "recon/callers.py", "import pandas"),
    ("light-guard", "recon/guarding.py", "import pandas"),
    ("light-guard", "recon/handling.py", "import pandas"),
    ("light-guard", "recon/lookups.py", "import pandas"),
    ("light-guard", "recon/rules/guarding.py", "import pandas"),
    ("floors", "recon/guarding.py", "import recon.guard"),
    ("floors", "recon/effects.py", "import recon.guard"),
    ("floors", "recon/callers.py", "import recon.effects"),
    ("floors", "recon/handling.py", "import recon.guarding"),
    ("floors", "recon/lookups.py", "import recon.guarding"),
    ("light-guard", "recon/doors/stripe/provider.py", "import pandas"),
    ("light-guard", "recon/doors/intents.py", "import pyarrow"),
    ("light-guard", "recon/rules/keys.py", "import pandas"),
    ("light-guard", "recon/model/money.py", "import pandas"),
    ("frameworks", "recon/guard.py", "import langgraph"),
    ("frameworks", "recon/adapters/functions.py", "import mcp"),
    ("frameworks", "recon/cli/main.py", "from agents import Agent"),
    ("street", "recon/sandbox/server.py", "import recon.doors.files.reading"),
    ("street", "recon/sandbox/server.py", "import recon.rules.cases"),
    ("street", "recon/sandbox/server.py", "import recon.cli.main"),
    ("street", "recon/sandbox/server.py", "import recon.watch"),
]


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """An empty house of the real plan, under the real contracts; frames load pandas, as the real ones do."""
    for name in HOUSE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "recon/model/frames.py").write_text("import pandas\n", encoding="utf-8")
    shutil.copy(tree.ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def broken(house: Path) -> list[str]:
    """The names of the contracts that do not hold; a linter that did not get that far fails the test."""
    done = subprocess.run(
        [LINT_IMPORTS, "--no-cache", "--no-logo"],
        cwd=house,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    names = re.findall(r"^(.+) BROKEN", done.stdout, re.MULTILINE)
    assert re.search(r"^Contracts: \d+ kept", done.stdout, re.MULTILINE), done.stdout + done.stderr
    assert done.returncode == (1 if names else 0)
    return names


def test_a_clean_house_breaks_none(house: Path) -> None:
    assert broken(house) == []


@pytest.mark.parametrize(
    "contract, module, line", BREAKS, ids=[f"{name}: {line}" for name, _, line in BREAKS]
)
def test_the_forbidden_import_breaks_its_contract_alone(
    house: Path, contract: str, module: str, line: str
) -> None:
    (house / module).write_text(line + "\n", encoding="utf-8")

    assert broken(house) == [CONTRACTS[contract]["name"]]


def test_every_contract_was_seen_to_break() -> None:
    assert {contract for contract, _, _ in BREAKS} == set(CONTRACTS)


def test_every_part_of_recon_stands_on_a_floor() -> None:
    floors = re.findall(r"recon\.(\w+)", " ".join(CONTRACTS["floors"]["layers"]))
    flows = re.findall(r"recon\.(\w+)", " ".join(CONTRACTS["flows"]["layers"]))
    steps = {name.removeprefix("*.") for name in CONTRACTS["pulling"]["forbidden_modules"]}
    steps |= {"moving", "effects", "callers", "guarding", "handling", "lookups"}
    fronts = {"pytest_plugin"}
    parts = {path.stem for path in (tree.ROOT / "recon").iterdir() if path.suffix == ".py"} - {"__init__"}
    packages = {path.parent.name for path in (tree.ROOT / "recon").glob("*/__init__.py")}

    assert parts - steps - fronts <= set(flows)
    assert parts | packages <= set(floors)
