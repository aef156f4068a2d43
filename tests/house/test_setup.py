"""Where make setup cannot go on by itself, it says so in one sentence that helps."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house import tree

TOOLS = ["cat", "dirname", "grep", "mktemp", "rm", "sh"]
ORDINARY_PERSON, ROOT = "echo 1000", "echo 0"
# Answers as Debian's python3 without python3-venv does: new enough, but it cannot import ensurepip.
PYTHON_WITHOUT_VENV = """
case "$2" in
    *ensurepip*) exit 1 ;;
    *python%d.%d-venv*) echo python3.11-venv ;;
esac
"""
OLD_PYTHON = "exit 1"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A checkout of the script alone, on a machine with hardly a program, for somebody who is not root."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(tree.ROOT / ".ci" / "setup", tmp_path / ".ci")
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        (tmp_path / "bin" / tool).symlink_to(str(shutil.which(tool)))
    program(tmp_path, "id", ORDINARY_PERSON)
    program(tmp_path, "apt-get", "echo apt-get was called; exit 1")
    return tmp_path


def program(machine: Path, name: str, body: str) -> None:
    path = machine / "bin" / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def setup(machine: Path, part: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(machine / "bin" / "sh"), ".ci/setup", part]
    known = {"PATH": str(machine / "bin"), **environment}
    return subprocess.run(
        command, cwd=machine, env=known, capture_output=True, text=True, check=False, timeout=30
    )


def test_no_python_at_all(machine: Path) -> None:
    done = setup(machine, "venv")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "No Python 3.11 or newer was found: install one (on Debian: apt install python3 python3-venv), "
        "then run make again.\n"
    )


def test_only_an_old_python(machine: Path) -> None:
    program(machine, "python3", OLD_PYTHON)

    assert setup(machine, "venv").stderr.startswith("No Python 3.11 or newer was found: ")


def test_a_python_that_cannot_make_environments(machine: Path) -> None:
    program(machine, "python3", PYTHON_WITHOUT_VENV)

    done = setup(machine, "venv")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "python3 cannot make virtual environments yet: install python3.11-venv "
        "(on Debian: apt install python3.11-venv), then run make again.\n"
    )


def test_no_browser(machine: Path) -> None:
    done = setup(machine, "browser")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "The browser tests need Chromium: install it (on Debian: apt install chromium) "
        "or name its program in RECON_CHROMIUM, then run make again.\n"
    )


def test_a_browser_that_is_there_is_taken(machine: Path) -> None:
    program(machine, "chromium", "exit 0")

    assert setup(machine, "browser").returncode == 0


def test_a_browser_that_is_named_is_taken(machine: Path) -> None:
    named = machine / "elsewhere"
    named.write_text("", encoding="utf-8")
    named.chmod(0o755)

    assert setup(machine, "browser", RECON_CHROMIUM=os.fspath(named)).returncode == 0


def test_root_on_debian_gets_the_browser_installed(machine: Path) -> None:
    program(machine, "id", ROOT)
    program(machine, "apt-get", 'echo "$@" >>calls')

    done = setup(machine, "browser")

    assert (done.returncode, done.stdout, done.stderr) == (0, "Installing chromium with apt-get.\n", "")
    assert (machine / "calls").read_text(encoding="utf-8") == (
        "-qq update\n-qq install --no-install-recommends chromium\n"
    )


def test_root_on_debian_gets_the_missing_part_of_python_installed(machine: Path) -> None:
    program(machine, "id", ROOT)
    program(machine, "python3", PYTHON_WITHOUT_VENV)
    program(machine, "apt-get", 'echo "$@" >>calls; exit 1')

    setup(machine, "venv")
    program(machine, "apt-get", 'echo "$@" >>calls')
    setup(machine, "venv")

    assert (machine / "calls").read_text(encoding="utf-8") == (
        "-qq update\n-qq update\n-qq install --no-install-recommends python3.11-venv\n"
    )


def test_what_apt_says_is_shown_when_it_fails(machine: Path) -> None:
    program(machine, "id", ROOT)
    program(machine, "apt-get", "echo no mirror answers; exit 100")

    done = setup(machine, "browser")

    assert done.returncode == 1
    assert done.stderr == (
        "no mirror answers\napt-get could not install chromium: put that right, then run make again.\n"
    )
