"""Spoiled files until time is over: python -m tests.spoiled_long SECONDS [FIRST SEED]."""

import sys
import tempfile
import time
from pathlib import Path

from tests import spoiled


def main(seconds: float, seed: int) -> None:
    """Read spoiled files one after the other; a bug ends it with its seed."""
    until, read, refused = time.monotonic() + seconds, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until:
            began = time.monotonic()
            try:
                intake = spoiled.attempt(Path(folder), seed)
            except BaseException:
                sys.stderr.write(f"seed {seed}\n")
                raise
            assert intake is None or spoiled.adds_up(intake), seed
            assert time.monotonic() - began < 60, seed
            read, refused, seed = read + 1, refused + (intake is None), seed + 1
    sys.stdout.write(f"{read} files, {refused} refused as a whole, next seed {seed}\n")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
