"""A machine on which nothing has been set up: each command says in one sentence what is missing."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "prepared, said", [([], "run recon db upgrade"), (["db", "upgrade"], "STRIPE_API_KEY is not set")]
)
def test_run_says_what_is_missing(tmp_path: Path, prepared: list[str], said: str) -> None:
    recon = [sys.executable, "-m", "recon.cli.main"]
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(Path.cwd())}
    if prepared:
        subprocess.run([*recon, *prepared], cwd=tmp_path, env=environ, check=True, capture_output=True)

    ran = subprocess.run(
        [*recon, "run"], cwd=tmp_path, env=environ, check=False, capture_output=True, text=True
    )

    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert said in ran.stderr
