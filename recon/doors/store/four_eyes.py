"""Four eyes in the database itself: triggers that refuse what one person may not do, whoever writes.

An entry by which somebody settles a case above the limit needs an approved proposal of another person's,
which an entry of theirs tells;
proposals can only be added, open, and answered once; a limit changes only with the entry that says so.
"""

from collections.abc import Callable
from typing import Final

from recon.doors.store import limits
from recon.model.records.proposals import APPROVED, LIMIT, SECONDED
from recon.model.rights import proposals

SECOND: Final = "a second person must approve"  # What a refusal says, by which it is known.
ONCE: Final = "proposals are answered once, by another person"
TOLD: Final = "a limit changes with the entry that says so"

# By their tables; every one is dropped before a migration, which may rebuild what they read.
NAMES: Final = {
    "sqlite": (
        ("entries", "entries_seconded"),
        ("proposals", "proposals_added_open"),
        ("proposals", "proposals_answered_once"),
        ("proposals", "proposals_kept"),
        ("approval_limits", "approval_limits_added"),
        ("approval_limits", "approval_limits_changed"),
        ("approval_limits", "approval_limits_removed"),
    ),
    "postgresql": (
        ("entries", "entries_seconded"),
        ("proposals", "proposals_added_open"),
        ("proposals", "proposals_answered_once"),
        ("proposals", "proposals_kept"),
        ("proposals", "proposals_not_truncated"),
        ("approval_limits", "approval_limits_told"),
        ("approval_limits", "approval_limits_not_truncated"),
    ),
}

_ANSWER = frozenset({"state", "decided_by", "decided_at", "decided_reason"})
_FIXED = tuple(column.name for column in proposals.c if column.name not in _ANSWER)
_ACTIONS = "NEW.action IN (" + ", ".join(f"'{action}'" for action in sorted(SECONDED)) + ")"
_FRESH = "NEW.state = 'open' AND " + " AND ".join(
    f"NEW.{each} IS NULL" for each in sorted(_ANSWER - {"state"})
)
_ENDED = "OLD.state = 'open' AND NEW.state <> 'open' AND " + " AND ".join(
    f"NEW.{each} IS NOT NULL" for each in sorted(_ANSWER - {"state"})
)


def statements(dialect: str) -> list[str]:
    """Return the statements that make the triggers, once none of them is there."""
    return _sqlite() if dialect == "sqlite" else _postgresql()


def _sqlite() -> list[str]:
    # INSERT OR REPLACE removes the row that was there without a word unless recursive_triggers is on.
    there = "EXISTS (SELECT 1 FROM proposals p WHERE p.id = NEW.id OR p.rowid = NEW.rowid)"
    waits = "EXISTS (SELECT 1 FROM proposals p WHERE p.case_id = NEW.case_id AND p.state = 'open')"
    taken = "EXISTS (SELECT 1 FROM approval_limits l WHERE l.rowid = NEW.rowid)"
    moved = "NEW.rowid IS NOT OLD.rowid"
    answered = f"NOT ({_once('IS', _plain)}) OR {moved}"
    changed = f"NOT ({_told('NEW')}) OR NEW.currency <> OLD.currency OR {moved}"
    whens = {
        "entries_seconded BEFORE INSERT ON entries": (f"{_ACTIONS} AND {_alone(_plain)}", SECOND),
        "proposals_added_open BEFORE INSERT ON proposals": (f"NOT ({_FRESH}) OR {there} OR {waits}", ONCE),
        "proposals_answered_once BEFORE UPDATE ON proposals": (answered, ONCE),
        "proposals_kept BEFORE DELETE ON proposals": ("true", ONCE),
        "approval_limits_added BEFORE INSERT ON approval_limits": (f"NOT ({_told('NEW')}) OR {taken}", TOLD),
        "approval_limits_changed BEFORE UPDATE ON approval_limits": (changed, TOLD),
        "approval_limits_removed BEFORE DELETE ON approval_limits": (
            f"NOT ({_told('OLD', gone=True)})",
            TOLD,
        ),
    }
    return [
        f"CREATE TRIGGER {event} WHEN {when} BEGIN SELECT RAISE(ABORT, '{said}'); END"
        for event, (when, said) in whens.items()
    ]


def _postgresql() -> list[str]:
    told = f"""CASE TG_OP WHEN 'DELETE' THEN {_told("OLD", gone=True)} ELSE {_told("NEW")} END
        AND (TG_OP <> 'UPDATE' OR NEW.currency = OLD.currency)"""
    once = _once("IS NOT DISTINCT FROM", _normal)
    # A run adds thousands of entries: the function is called for those alone that it is about.
    some = f" WHEN ({_ACTIONS})"
    return [
        *_made(
            "entries_seconded", "AFTER INSERT ON entries", f"ROW{some}", f"NOT ({_alone(_normal)})", SECOND
        ),
        *_made("proposals_added_open", "AFTER INSERT ON proposals", "ROW", _FRESH, ONCE),
        *_made("proposals_answered_once", "AFTER UPDATE ON proposals", "ROW", once, ONCE),
        *_made("proposals_kept", "BEFORE DELETE ON proposals", "ROW", "false", ONCE),
        *_made("proposals_not_truncated", "BEFORE TRUNCATE ON proposals", "STATEMENT", "false", ONCE),
        *_made(
            "approval_limits_told", "AFTER INSERT OR UPDATE OR DELETE ON approval_limits", "ROW", told, TOLD
        ),
        *_made(
            "approval_limits_not_truncated", "BEFORE TRUNCATE ON approval_limits", "STATEMENT", "false", TOLD
        ),
    ]


def _made(name: str, event: str, each: str, must: str, said: str) -> list[str]:
    """Return a PostgreSQL trigger with its function, which refuses unless what must hold does."""
    refuse = f"RAISE EXCEPTION '{said}' USING ERRCODE = 'integrity_constraint_violation'"
    body = f"BEGIN IF ({must}) IS NOT TRUE THEN {refuse}; END IF; RETURN NULL; END"
    return [
        f"CREATE OR REPLACE FUNCTION recon_{name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$",
        f"CREATE TRIGGER {name} {event} FOR EACH {each} EXECUTE FUNCTION recon_{name}()",
    ]


def _alone(spelled: Callable[[str], str]) -> str:
    """Return whether a new entry's case is at or above the limit, and nobody proposed it to its actor."""
    tied = f"substr(NEW.action_id, 1, {len(APPROVED)}) = '{APPROVED}'"
    of_proposal = f"p.id = substr(NEW.action_id, {len(APPROVED) + 1}) AND p.case_id = NEW.topic"
    # Else somebody could write down in another's name what they then approve in their own.
    told = (
        "e.topic = NEW.topic AND e.action = 'proposed' AND e.actor = p.proposed_by AND e.at = p.proposed_at"
    )
    another = f"p.decided_by = NEW.actor AND {spelled('p.proposed_by')} <> {spelled('NEW.actor')}"
    return (
        "EXISTS (SELECT 1 FROM cases c JOIN approval_limits l ON l.currency = c.currency "  # noqa: S608 -- our names
        "WHERE c.id = NEW.topic AND c.at_risk_minor >= l.minor) "
        f"AND NOT ({tied} AND EXISTS (SELECT 1 FROM proposals p WHERE {of_proposal} "
        f"AND p.action = NEW.action AND p.state = 'approved' AND {another} "
        f"AND EXISTS (SELECT 1 FROM entries e WHERE {told})))"
    )


def _once(same: str, spelled: Callable[[str], str]) -> str:
    """Return whether a proposal's new row is the answer to an open one, and nothing else of it differs."""
    fixed = " AND ".join(f'NEW."{column}" {same} OLD."{column}"' for column in _FIXED)
    other = f"{spelled('NEW.decided_by')} <> {spelled('OLD.proposed_by')}"
    return f"{_ENDED} AND {fixed} AND (NEW.state <> 'approved' OR {other})"


def _told(row: str, *, gone: bool = False) -> str:
    """Return whether the latest entry about a row's currency says what the row does, or that it is gone."""
    latest = f"""(SELECT e.to_state FROM entries e WHERE e.topic = '{LIMIT}' || {row}.currency
        ORDER BY e.version DESC LIMIT 1)"""  # noqa: S608 -- our names
    states = f"'{limits.state(None)}'" if gone else f"CAST({row}.minor AS TEXT)"
    return f"coalesce({latest} = {states}, false)"


def _plain(name: str) -> str:
    """Return a name as SQLite can compare it: without case of A to Z, and without spaces."""
    return f"replace(lower({name}), ' ', '')"


def _normal(name: str) -> str:
    """Return a name as PostgreSQL can compare it: in one normal form, without case and white space."""
    unicode = (
        f"CASE WHEN current_setting('server_encoding') = 'UTF8' THEN normalize({name}, NFKC) ELSE {name} END"
    )
    return f"lower(regexp_replace({unicode}, '\\s', '', 'g'))"
