"""What one side is read from: a file, several that fit a pattern, or standard input; packed or not.

Never reads more than the beginning to tell a format, and never follows an address out of this machine.
"""

import glob
import gzip
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from recon.doors.files.formats import STDIN, SUFFIXES, FileFormat
from recon.model.errors import UnusableInput

_PACKED = b"\x1f\x8b"  # How gzip begins.
_PARQUET = b"PAR1"
_BEGINNING = 65536  # Bytes that tell a format: a header line or the first object fits.
_FURTHER = 1024  # Bytes that tell whether a line follows that begins as the first one does.
_UNPACKED = 12  # Times as large as its gzip at most, for CSV as people have it.
_SHARE = 4  # What part of the memory a file may take as it is: what is made of it takes more.
_BLOCK = 2**20
# What to do with a file of another sort, by its suffix.
_ADVICE = {
    **dict.fromkeys((".xlsx", ".xls", ".ods", ".numbers"), "; save a spreadsheet as CSV"),
    **dict.fromkeys((".zip", ".7z", ".rar", ".tar", ".tgz", ".bz2", ".zst"), "; unpack it first"),
}


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a side.

    label: as it was named, for errors. name: what its rows say they are of. packed: with gzip. keeper: keeps
    what came through standard input or a pipe until it is read.
    """

    path: Path
    label: str
    name: str
    format: FileFormat
    packed: bool = False
    keeper: object = None

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Return its content from the beginning.

        Raises:
            UnusableInput: it cannot be read, or is packed and damaged.
        """
        try:
            with self.path.open("rb") as file:
                yield cast("BinaryIO", gzip.GzipFile(fileobj=file)) if self.packed else file
        except (gzip.BadGzipFile, EOFError, zlib.error):  # Cut off on its way, or overwritten.
            raise UnusableInput(f"{self.label} is damaged: it cannot be unpacked to its end.") from None
        except MemoryError:  # Much larger than it looks, as a packed file can be.
            raise self.too_large() from None
        except OSError as error:  # Missing, a directory, not ours to read.
            raise UnusableInput(f"{self.label} cannot be read: {error.strerror or error}.") from None

    def content(self) -> bytes:
        """Return all of it.

        Raises:
            UnusableInput: it cannot be read, holds nothing, or more than a part of the machine's memory.
        """
        limit = memory() // _SHARE
        with self.opened() as file:
            content = file.read(limit + 1)
        if len(content) > limit:
            raise self.too_large()
        if not content.strip(b"\xef\xbb\xbf \t\r\n"):
            raise self.empty()
        return content

    def beginning(self) -> bytes:
        """Return its first bytes, to the end of a line that is not beyond reason and a little further.

        Raises:
            UnusableInput: it cannot be read.
        """
        with self.opened() as file:
            return file.read(_BEGINNING) + file.readline(_BLOCK) + file.read(_FURTHER)

    def empty(self) -> UnusableInput:
        """Return the error that there is nothing in it."""
        return UnusableInput(
            f"{self.label} is empty, which may be an export that failed: where there is truly nothing, write"
            " a header line into a .csv, or [] into a .json."
        )

    def too_large(self) -> UnusableInput:
        """Return the error that there is no room for it."""
        return UnusableInput(
            f"{self.label} needs more memory than there is: CSV, JSON lines and Parquet that are not packed"
            " are read in pieces, and several files make a side too."
        )

    def is_large(self) -> bool:
        """Return whether it may take more than a quarter of the machine's memory: it is read in pieces."""
        size = self.path.stat().st_size if self.path.is_file() else 0
        return size * (_UNPACKED if self.packed else 1) > memory() // _SHARE


def resolve(named: Sequence[str | Path], format_: FileFormat | None = None) -> list[Source]:
    """Return the sources that a side names, in order: paths, patterns such as 2026-*.csv, or "-".

    format_: what they are, where their names do not say.

    Raises:
        UnusableInput: nothing fits a pattern, or nobody can tell what a source is.
    """
    paths = list(dict.fromkeys(path for each in named for path in _paths(str(each))))
    names = ["stdin" if path == STDIN else Path(path).name for path in paths]
    return [
        _source(path, name if names.count(name) == 1 else _full_name(path), format_)
        for path, name in zip(paths, names, strict=True)
    ]


def memory() -> int:
    """Return how many bytes of memory this process may have."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        return min(physical, int(limit))
    except (OSError, ValueError):  # No container, or one without a limit, which reads "max".
        return physical


def _full_name(path: str) -> str:
    """Return what rows say they are of where two sources have one name; standard input is no path."""
    return "standard input" if path == STDIN else path


def _paths(named: str) -> list[str]:
    """Return the paths that one name stands for."""
    if named == STDIN or not glob.has_magic(named) or os.path.exists(named):  # noqa: PTH110 - Path's raises for a name that is too long.
        return [named]
    found = sorted(path for path in glob.glob(named, recursive=True) if Path(path).is_file())  # noqa: PTH207 - a pattern may be absolute.
    if not found:
        raise UnusableInput(
            f"No file fits {named!r}: check the pattern, and that the shell left it as it is."
        )
    return found


def _source(path: str, name: str, format_: FileFormat | None) -> Source:
    """Return a path as a source."""
    if path == STDIN:
        try:
            return _kept(sys.stdin.buffer, "Standard input", name, format_)
        except AttributeError:  # Python has no standard input where the shell closed it.
            raise UnusableInput("Standard input cannot be read: it is closed.") from None
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    known = format_ or SUFFIXES.get(suffix)
    if _flows(path):
        try:
            with Path(path).open("rb") as flow:
                return _kept(flow, path, name, known)
        except OSError as error:  # Not ours to read.
            raise UnusableInput(f"{path} cannot be read: {error.strerror or error}.") from None
    if known is None:
        raise UnusableInput(
            f"{path} must end in {', '.join(SUFFIXES)}, each also with .gz, or an option must say its format;"
            f" found {suffix or 'no suffix'!r}{_ADVICE.get(suffix, '')}."
        )
    return _seen(Source(Path(path), path, name, known))


def _flows(path: str) -> bool:
    """Return whether a path gives its bytes only once, as a pipe or a terminal does."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - Path's raises the same.
    except (OSError, ValueError):  # Missing, or no name at all; whoever opens it says so.
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _kept(flow: BinaryIO, label: str, name: str, format_: FileFormat | None) -> Source:
    """Return what comes through a flow, kept in a file until it is read."""
    keeper = tempfile.NamedTemporaryFile(prefix="recon-")  # noqa: SIM115 - it goes with the source.
    try:
        shutil.copyfileobj(flow, keeper, _BLOCK)
        keeper.flush()
    except OSError as error:  # A directory, or a disk that is full.
        raise UnusableInput(f"{label} cannot be read: {error.strerror or error}.") from None
    source = _seen(Source(Path(keeper.name), label, name, format_ or FileFormat.CSV, keeper=keeper))
    return source if format_ else replace(source, format=_sniffed(source.beginning()))


def _seen(source: Source) -> Source:
    """Return a source with whether it is packed, as its first bytes say."""
    with source.opened() as file:
        return replace(source, packed=file.read(len(_PACKED)) == _PACKED)


def _sniffed(beginning: bytes) -> FileFormat:
    """Return the format that the first bytes of a source look like."""
    if beginning.startswith(_PARQUET):
        return FileFormat.PARQUET
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text.startswith((b"{", b"[")):
        return FileFormat.CSV
    first, _, rest = text.partition(b"\n")
    lines = rest.lstrip().startswith(b"{") and first.rstrip().endswith(b"}")
    return FileFormat.JSONL if lines else FileFormat.JSON
