"""What a command says where the packages of its extra are not installed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT = (
    "import sys; sys.modules[{0!r}] = None; sys.argv = ['recon', *{1!r}.split()]; "
    "from recon.cli.main import main; main()"
)


@pytest.mark.parametrize(
    "command, package, what, extra",
    [
        ("sandbox", "websockets", "The sandbox", "sandbox"),
        ("sandbox", "uvicorn", "The sandbox", "sandbox"),
        ("demo", "websockets", "The demo", "all"),
        ("dashboard", "streamlit", "The dashboard", "dashboard"),
        ("deliver", "slack_sdk", "recon deliver", "slack"),
        ("run --deliver", "slack_sdk", "Sending notices", "slack"),
    ],
)
def test_a_command_without_its_extra_says_what_to_install(
    command: str, package: str, what: str, extra: str, tmp_path: Path
) -> None:
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(package, command)],
        env={"PYTHONPATH": str(ROOT), "RECON_DATABASE_URL": f"sqlite:///{tmp_path / 'recon.db'}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        f"recon: {what} needs {package}, which is not installed: pip install 'refund-recon[{extra}]' "
        f"(in the folder of a clone: pip install '.[{extra}]').\n"
    )
