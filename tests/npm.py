"""Programs of node's for tests: what a package.json asks for, without a lock that names a registry."""

import shutil
import subprocess
from pathlib import Path

import pytest

INSTALL_SECONDS = 90  # It takes 6 on a machine that does nothing else.


def installed(source: Path, folder: Path, *, without: str) -> None:
    """Copy a program into a folder with what it needs; skip the test where npm does not answer.

    without: what the test has to do without then, for the reason it gives.
    """
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip(f"node and npm are not installed: {without}")
    for file in source.iterdir():
        shutil.copy(file, folder)
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not answer within {INSTALL_SECONDS} s: {without}")
    if done.returncode:
        pytest.skip(f"npm could not install {source.name}: {done.stderr.splitlines()[-1:]}")
