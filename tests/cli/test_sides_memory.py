import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

INTENTS = "key,amount_minor,currency,status,created_at\nk,100,usd,done,2026-03-06T17:00:00Z\n"
REFUNDS = (
    "id,amount_minor,currency,status,created_at,intent_key\nr,100,usd,succeeded,2026-03-06T17:00:01Z,k\n"
)
DIFF = """
import sys
import pyarrow
from typer.testing import CliRunner
from recon.cli.app import app
done = CliRunner().invoke(app, ["diff", *sys.argv[1:], "--format", "json"])
print(done.exit_code, pyarrow.default_memory_pool().backend_name)
"""


@pytest.mark.skipif("jemalloc" not in pa.supported_memory_backends(), reason="Arrow brings no jemalloc here")
@pytest.mark.parametrize("named, taken", [("", "jemalloc"), ("system", "system")])
def test_files_are_read_into_small_pages_unless_a_person_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, taken: str
) -> None:
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", named)
    sides = tmp_path / "intents.csv", tmp_path / "refunds.csv"
    for path, text in zip(sides, (INTENTS, REFUNDS), strict=True):
        path.write_text(text, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-c", DIFF, *map(str, sides)], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.split() == ["0", taken], done.stderr
