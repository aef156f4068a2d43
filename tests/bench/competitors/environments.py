"""Each competitor's own environment, made once from its lock and kept in build/bench.

python -m tests.bench.competitors.environments writes the locks anew, with hashes and without the address of
an index, from WANTED.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
CACHE = ROOT / "build" / "bench"
UV = Path(sys.executable).with_name("uv")
WANTED = {
    "pandas": ("pandas", "pyarrow"),
    "datacompy": ("datacompy",),
    "fastrecon": ("fastrecon",),
    "duckdb": ("duckdb",),
}
COMPILE = [
    "--universal",
    "--python-version",
    "3.11",
    "--generate-hashes",
    "--no-header",
    "--no-emit-index-url",
]
WAIT_S = 900  # A slow network has this long for the largest, half a gigabyte.
SAID = 200  # Characters of a reason that fit a table's note.


class NotInstallableError(Exception):
    """A competitor cannot be had here; its text says why."""


def python(name: str) -> Path:
    """Return the Python of a competitor's environment, after making it where its lock has changed.

    Raises:
        NotInstallableError: its packages cannot be fetched, or do not fit this machine.
    """
    lock, folder = HERE / f"{name}.lock", CACHE / name
    ready, found = folder / "ready.lock", folder / "bin" / "python"
    if ready.is_file() and ready.read_bytes() == lock.read_bytes() and found.exists():
        return found
    _uv(["venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
    _uv(["pip", "sync", "--quiet", "--require-hashes", "--python", str(found), str(lock)])
    ready.write_bytes(lock.read_bytes())
    return found


def _uv(arguments: list[str]) -> None:
    """Run uv, or say in one line why it did not work."""
    try:
        done = subprocess.run(
            [UV, *arguments], capture_output=True, text=True, check=False, timeout=WAIT_S, cwd=ROOT
        )
    except (
        OSError,
        subprocess.TimeoutExpired,
    ) as error:  # No uv in this environment; no network that answers.
        raise NotInstallableError(str(error)[:SAID]) from None
    if done.returncode:
        raise NotInstallableError(" ".join(done.stderr.split())[:SAID] or f"uv ended with {done.returncode}")


def main() -> None:
    """Write every lock anew."""
    for name, packages in WANTED.items():
        subprocess.run(
            [UV, "pip", "compile", "-", *COMPILE, "--quiet", "--output-file", HERE / f"{name}.lock"],
            input="\n".join(packages),
            text=True,
            check=True,
        )


if __name__ == "__main__":
    main()
