"""This machine, as the job will find it: installed packages, disk space, who may read and write which file.

Never opens a file, and never changes one.
"""

import os
import shutil
import stat
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

_WORLD = stat.S_IROTH


def lacking(modules: Iterable[str]) -> tuple[str, ...]:
    """Return which of these modules are not installed; none is loaded."""
    return tuple(name for name in modules if find_spec(name) is None)


def installed(package: str) -> str | None:
    """Return the version of a package; None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:  # Run from a copy of the files.
        return None


def free_bytes(folder: Path) -> int:
    """Return how much room is left where a folder is."""
    return shutil.disk_usage(folder).free


def open_to_all(file: Path) -> bool:
    """Return whether everybody on this machine may read a file; False where it is not there."""
    try:
        return bool(file.stat().st_mode & _WORLD)
    except OSError:  # Not there, or in a folder that is closed to us.
        return False


def unwritable(file: Path) -> str | None:
    """Return why a file cannot be put into its folder; None where it can."""
    folder = file.parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"the folder {folder} may not be written"
    return None
