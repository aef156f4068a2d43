"""The maps that are shipped for well-known tables, and maps of a person's own to add a side to.

Never changes a map: what is to be written is handed back.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from recon.model import mapping_toml
from recon.model.errors import ConfigurationError, UnusableInput
from recon.model.records.maps import Preset

# The head of a preset: comments, each of which begins with one of these.
_GET, _SOURCE, _KNOWN_BY = "Get it: ", "Source: ", "Known by: "


def presets(folder: Path) -> tuple[Preset, ...]:
    """Return the maps in the folder in which they are shipped, by name."""
    return tuple(_preset(path) for path in sorted(folder.glob("*.toml")))


def named(folder: Path, name: str) -> Preset:
    """Return one of the shipped maps.

    Raises:
        ConfigurationError: there is none of that name.
    """
    found = presets(folder)
    chosen = next((each for each in found if each.name == name), None)
    if chosen is None:
        known = ", ".join(each.name for each in found)
        raise ConfigurationError(f"--preset must be one of {known}; found {name[:40]!r}.")
    return chosen


def joined(path: Path, side: str, text: str, *, guessed: bool = False) -> str:
    """Return a map's file with one more side, or the side alone where there is no such file.

    guessed: nobody said the side, so that saying another one may be what is to do.

    Raises:
        UnusableInput: the file has that side already, or is no map. It is as it was.
    """
    try:
        old = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return text
    except (OSError, UnicodeDecodeError):  # A directory, not ours to read, another sort of file.
        raise UnusableInput(f"{path} cannot be read as a map: name another file.") from None
    mapping_toml.read(old, file=str(path))
    if side in tomllib.loads(old):
        other = ", or say --side if it is the other one" if guessed else ""
        raise UnusableInput(
            f"{path} has [{side}] already and was left as it is: name another file, or take [{side}] out of"
            f" it first{other}."
        )
    return f"{old.rstrip()}\n\n{text}"


def _preset(path: Path) -> Preset:
    """Return a shipped map with what its head says of it."""
    text = path.read_text("utf-8")
    told = dict(_told(text))
    return Preset(
        name=path.stem,
        title=told["title"],
        get=told[_GET],
        source=told[_SOURCE],
        known_by=frozenset(mark.strip() for mark in told[_KNOWN_BY].split(",")),
        told=mapping_toml.read(text, file=path.name),
        text=text,
    )


def _told(text: str) -> Iterator[tuple[str, str]]:
    """Yield what each comment of a head says; a comment that begins with nothing known goes on."""
    last, said = "title", ""
    for line in text.split("\n"):
        if not line.startswith("# "):
            break
        begun = next((each for each in (_GET, _SOURCE, _KNOWN_BY) if line.startswith(f"# {each}")), None)
        if begun is None:
            said = f"{said} {line.removeprefix('# ')}".strip()
            continue
        yield last, said
        last, said = begun, line.removeprefix(f"# {begun}").strip()
    yield last, said
