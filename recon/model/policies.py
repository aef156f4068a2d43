"""The graces by the names that files use: of [policy] in recon.toml, of a policy file, and in reports.

Never says what a grace is for: config/recon.toml does, and each reader says which values it takes.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from recon.model.errors import ConfigurationError
from recon.model.records.results import Policy
from recon.model.sections import SECTIONS

SECTION: Final = "policy"
KEYS: Final = SECTIONS[SECTION][1]  # Name in a file: (field of Policy, reader).
UNITS: Final = {
    "seconds": timedelta(seconds=1),
    "minutes": timedelta(minutes=1),
    "hours": timedelta(hours=1),
    "days": timedelta(days=1),
}


def read(document: Mapping[str, object], *, source: str, base: Policy | None = None) -> Policy:
    """Return base (the defaults where it is None) with the graces that a file names.

    document: a file as TOML reads it: the names at its top, or in a table [policy], as recon.toml has it; of
    that file's other tables nothing is asked. source: the file, for messages.

    Raises:
        ConfigurationError: a name is none of ours, or its value is not what it takes.
    """
    content = document.get(SECTION, document)
    strange = sorted(set(document) - {*SECTIONS, "rules", "severities"}) if SECTION in document else ()
    if not isinstance(content, Mapping) or strange:
        found = f"{strange[0]!r:.60}" if strange else f"{content!r:.60}"
        raise ConfigurationError(f"{source}: [policy] must be a table of graces by name; found {found}.")
    told: dict[str, Any] = {}
    for name, value in content.items():
        field, given = one(name, value, source=source)
        told[field] = given
    return replace(base or Policy(), **told)


def one(name: str, value: object, *, source: str) -> tuple[str, object]:
    """Return the field of Policy that a name means, and its value.

    Raises:
        ConfigurationError: the name is none of ours, or the value is not what it takes.
    """
    if name not in KEYS:
        raise ConfigurationError(f"{source}: {name!r:.60} is no grace; known are {', '.join(KEYS)}.")
    field, reader = KEYS[name]
    try:
        return field, reader(value)
    except ValueError as unfit:  # A reader's own way to say what it would have taken.
        raise ConfigurationError(f"{source}: {name} must be {unfit}; found {value!r:.80}.") from None


def told(policy: Policy) -> dict[str, str]:
    """Return every grace as a file would say it, by name, in recon.toml's order: stuck_after_minutes: 60."""
    return {name: written(name, getattr(policy, field)) for name, (field, _) in KEYS.items()}


def written(name: str, value: object) -> str:
    """Return one value as a file would say it, in the unit of its name."""
    if isinstance(value, timedelta):
        return f"{value / UNITS[name.rpartition('_')[2]]:.12g}"
    return str(value).lower()


def in_words(name: str, value: object) -> str:
    """Return one value with its unit, for people: 60 minutes."""
    unit = name.rpartition("_")[2]
    told = written(name, value)
    return f"{told} {unit.removesuffix('s') if told == '1' else unit}" if unit in UNITS else told
