"""Reports into files: a whole one or none. Never reads one back."""

import os
import tempfile
from pathlib import Path

from recon.model.errors import UnusableInput


def write_text(path: Path, text: str) -> None:
    """Write a whole file or nothing: into a temporary one beside it, which then takes its name.

    Raises:
        UnusableInput: it cannot be written there. What was there is untouched.
    """
    try:
        if path.exists() and not path.is_file():  # A pipe or /dev/null is written to, never replaced.
            path.write_text(text, encoding="utf-8", newline="")
            return
        target = path.resolve()
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            Path(name).replace(target)
        except BaseException:  # Also an interrupt: nothing half-written stays behind.
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UnusableInput(f"The report cannot be written to {path}: {error.strerror}.") from None


def _umask() -> int:
    """Return the process's umask, which can be read only by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
