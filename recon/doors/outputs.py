"""Reports into files, a whole one or none; and a former report back, to compare with."""

import os
import tempfile
from pathlib import Path

from recon.model import formers
from recon.model.errors import UnusableInput
from recon.model.records.comparisons import Earlier


def write(path: Path, content: str | bytes) -> None:
    """Write a whole file or nothing: into a temporary one beside it, which then takes its name.

    content: text is written as UTF-8, its line ends as they are.

    Raises:
        UnusableInput: it cannot be written there. What was there is untouched.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():  # A pipe or /dev/null is written to, never replaced.
            path.write_bytes(data)
            return
        target = path.resolve()
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            Path(name).replace(target)
        except BaseException:  # Also an interrupt: nothing half-written stays behind.
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UnusableInput(f"The report cannot be written to {path}: {error.strerror}.") from None


def read_former(path: Path) -> Earlier:
    """Return what a report that `recon diff --format json` wrote says of its mismatches.

    Raises:
        UnusableInput: it cannot be read, or is no such report.
    """
    try:
        content = path.read_bytes()
    except OSError as error:  # Missing, a directory, not ours to read.
        raise UnusableInput(f"{path} cannot be read: {error.strerror}.") from None
    return formers.read(content, source=path.name)


def _umask() -> int:
    """Return the process's umask, which can be read only by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
