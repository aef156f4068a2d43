"""The owners in owners.toml: where each one reads, when they rest, and who is asked after them.

Never says which case is whose: rules/ownership.py does.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, time, timedelta, tzinfo

from recon.model import mapping
from recon.model.documents import Table, error, is_line
from recon.model.records.owners import DIGEST_AT, Profile, Step, is_group

_KEYS = frozenset({"target", "group", "zone", "quiet_hours", "digest_at", "escalation"})
_STEP_KEYS = frozenset({"after_minutes", "owner"})
_LONGEST_MINUTES = 31 * 24 * 60  # A month: a case that nobody answered for longer needs no further step.
_STEPS = 10  # Nobody is left to tell after ten.
_TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
# Slack: a channel by name, an id of a person, channel, group or direct message; an e-mail address.
_TARGETS = (
    re.compile(r"#[^\s#@,<>]{1,80}"),
    re.compile(r"[UWCGD][A-Z0-9]+"),
    re.compile(r"S[A-Z0-9]+"),
    re.compile(r"[^\s@,<>#]+@[^\s@,<>#]+"),
)


def read(document: Mapping[str, object]) -> dict[str, Profile]:
    """Return the owners that have a table of their own, by name, without their chains.

    Raises:
        ConfigurationError: a table is not as the format says; the text names the line and what was expected.
    """
    return {table.name: _profile(table) for table in _tables(document)}


def inline(table: Table, known: Mapping[str, Profile]) -> Profile:
    """Return the owner whom a rule names, as known so far, or by the target that stands beside the name.

    Raises:
        ConfigurationError: nobody says where they read, or two places say it differently.
    """
    name = table.text("owner")
    owner = known.get(name)
    target = _target(table) if "target" in table.row else None
    if owner is None and target is None:
        raise table.error(
            f'owner {name!r} has no target: write one beside it, or a table [owners."{name}"] with one.',
            "owner",
        )
    if owner is not None and target is not None and target != owner.target:
        raise table.error(f"target is {target!r}, and {name!r} reads at {owner.target!r} already.", "target")
    mentioned = _group(table)
    if owner is None:
        assert target is not None, "said above"
        return Profile(name, target, mentioned or _itself(target))
    if owner.group is not None and mentioned not in {None, owner.group}:
        raise table.error(f"group is {mentioned}, and {name!r} has {owner.group} already.", "group")
    return replace(owner, group=owner.group or mentioned)


def _group(table: Table) -> str | None:
    """Return the user group that a table names to be mentioned; None where it names none."""
    if "group" not in table.row:
        return None
    found = table.text("group")
    if not is_group(found):
        raise table.error(f"group is {found!r:.60}; expected a user group's id, S and letters.", "group")
    return found


def chained(document: Mapping[str, object], known: Mapping[str, Profile]) -> dict[str, Profile]:
    """Return the owners with their chains, now that all of them are known.

    Raises:
        ConfigurationError: a chain names somebody unknown or its own owner, or does not grow.
    """
    chains = {table.name: _steps(table, known) for table in _tables(document)}
    return {name: replace(owner, steps=chains.get(name, ())) for name, owner in known.items()}


@dataclass(frozen=True, slots=True)
class _Owned(Table):
    """The table of one owner."""

    @property
    def name(self) -> str:
        """Return the owner's name."""
        return str(self.path[-1])


def _tables(document: Mapping[str, object]) -> Iterator[_Owned]:
    owners = document.get("owners", {})
    if not isinstance(owners, Mapping):
        raise error(document, 'owners must be written as [owners."name"] tables.', "owners")
    for name, row in owners.items():
        table = _Owned(
            row if isinstance(row, Mapping) else {}, f'[owners."{name:.60}"]', ("owners", name), document
        )
        if not isinstance(row, Mapping):
            raise table.error("expected a table with a target.")
        if not is_line(name):
            raise table.error("a name is one line without spaces around it, 200 characters at most.")
        yield table


def _profile(table: _Owned) -> Profile:
    table.only(_KEYS)
    target = _target(table)
    return Profile(
        name=table.name,
        target=target,
        group=_group(table) or _itself(target),
        zone=_zone(table),
        rest=_rest(table),
        digest_at=_digest_at(table),
    )


def _target(table: Table) -> str:
    found = table.text("target")
    if not any(each.fullmatch(found) for each in _TARGETS):
        raise table.error(
            f"target is {found!r:.60}; expected a #channel, the id of a channel, a person or a user group, "
            "or an e-mail address.",
            "target",
        )
    return found


def _itself(target: str) -> str | None:
    """Return the group that a target is; it reads in the operators' channel, where it is mentioned."""
    return target if is_group(target) else None


def _zone(table: Table) -> tzinfo:
    if "zone" not in table.row:
        return UTC
    name = table.text("zone")
    try:
        return mapping.zone_of(name)
    except ValueError:
        raise table.error(
            f"zone is {name!r:.60}; expected a name such as Europe/Berlin or UTC.", "zone"
        ) from None


def _rest(table: Table) -> tuple[time, time] | None:
    if table.row.get("quiet_hours", "") == "":
        return None
    written = table.text("quiet_hours")
    begins, _, ends = written.partition("-")
    if not _TIME.fullmatch(begins) or not _TIME.fullmatch(ends):
        raise table.error(
            f"quiet_hours is {written!r:.60}; expected two times of day such as 22:00-07:00.", "quiet_hours"
        )
    if begins == ends:
        raise table.error(f"quiet_hours begins and ends at {begins}; leave it out for none.", "quiet_hours")
    return time.fromisoformat(begins), time.fromisoformat(ends)


def _digest_at(table: Table) -> time | None:
    if "digest_at" not in table.row:
        return DIGEST_AT
    if table.row["digest_at"] == "":
        return None
    written = table.text("digest_at")
    if not _TIME.fullmatch(written):
        raise table.error(
            f'digest_at is {written!r:.60}; expected a time of day such as 09:00, or "" for none.',
            "digest_at",
        )
    return time.fromisoformat(written)


def _steps(table: _Owned, known: Mapping[str, Profile]) -> tuple[Step, ...]:
    """Return the chain of an owner, soonest first."""
    rows = table.row.get("escalation", [])
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows) or len(rows) > _STEPS:
        raise table.error(
            f'escalation must be a list like [ {{ after_minutes = 60, owner = "..." }} ], {_STEPS} steps '
            "at most.",
            "escalation",
        )
    found: list[Step] = []
    for number, row in enumerate(rows, start=1):
        step = _step(_step_table(table, row, number), known, table.name)
        if found and step.after <= found[-1].after:
            raise table.error(
                f"escalation step {number} comes no later than the one before it; after_minutes must grow.",
                "escalation",
            )
        found.append(step)
    return tuple(found)


def _step_table(table: _Owned, row: Mapping[str, object], number: int) -> Table:
    """Return one step of a chain as a table; it has no line of its own but the chain's."""
    return Table(row, f"{table.title} escalation step {number}", (*table.path, "escalation"), table.document)


def _step(table: Table, known: Mapping[str, Profile], owner: str) -> Step:
    table.only(_STEP_KEYS)
    name, minutes = table.text("owner"), table.row.get("after_minutes")
    if not isinstance(minutes, int) or isinstance(minutes, bool) or not 1 <= minutes <= _LONGEST_MINUTES:
        raise table.error(f"after_minutes is {minutes!r:.60}; expected whole minutes, 1 to a month.")
    if name == owner:
        raise table.error(f"{name!r} is asked after themselves; name somebody else.")
    if name not in known:
        raise table.error(
            f'{name!r} is nobody: no rule names them with a target, and there is no [owners."{name}"].'
        )
    return Step(timedelta(minutes=minutes), name, known[name].target)
