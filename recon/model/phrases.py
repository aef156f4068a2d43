"""How numbers of things, times and accounts read, in every sentence, log and report alike.

Never makes a stranger's text harmless: recon/model/blocks.py does for Slack, and each front for its own.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from recon.model.records.words import AccountId


def several(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: 1 refund, 1,200 refunds. many: where it is not the noun with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def listed(parts: Sequence[str]) -> str:
    """Return parts as a sentence lists them: a, b and c."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def few(parts: Sequence[str], most: int) -> str:
    """Return the first parts of a list as a sentence has it, and how many more there are."""
    more = len(parts) - most
    return f"{', '.join(parts[:most])} and {more:,} more" if more > 0 else listed(parts)


def opening(text: str) -> str:
    """Return a text as a sentence begins with it: its first letter large, the others as they are."""
    return text[:1].upper() + text[1:]


def duration(age: timedelta) -> str:
    """Return how long, in the two largest units: 3 h 10 min."""
    minutes = max(0, int(age.total_seconds())) // 60
    days, hours = minutes // 1440, minutes // 60 % 24
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


def minute(at: datetime) -> str:
    """Return a time as people read it: 2026-03-06 17:00 UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def second(at: datetime) -> str:
    """Return a time as people read it, to the second: 2026-03-06 17:00:04 UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def lately(at: datetime, now: datetime) -> str:
    """Return when something was, to stand behind it: at 17:00 UTC; on 6 Mar at 17:00 UTC if not today."""
    then = at.astimezone(UTC)
    day = "" if then.date() == now.astimezone(UTC).date() else f"on {then.day} {then:%b} "
    return f"{day}at {then:%H:%M} UTC"


def clock(at: datetime) -> str:
    """Return a time of today as people read it, to the second: 04:41:04 UTC."""
    return f"{at.astimezone(UTC):%H:%M:%S} UTC"


def iso(at: datetime) -> str:
    """Return a time as programs read it: ISO 8601 with Z; microseconds only where there are some."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def account(name: AccountId | str) -> str:
    """Return whose books these are: the platform's own have no name."""
    return name or "the platform"


def in_full(name: AccountId | str) -> str:
    """Return whose books these are, as a sentence first speaks of them: account acct_1."""
    return f"account {name}" if name else "the platform's own account"


def why_unread(name: AccountId | str, error: str) -> str:
    """Return why an account was not read to its end, to stand behind its name and the words that say so.

    An error of a reading says of whom it is and that it broke off, for whoever sees it alone.
    """
    what, broke_off, why = error.partition(" broke off: ")
    if not broke_off:
        return error
    part = what.removesuffix(f" of {account(name)}")
    return why if part in {f"account {name}", in_full("")} else f"{part}: {why}"


def of_account(name: AccountId | str) -> str:
    """Return whose something is, to stand behind it: nothing where it is the platform's own."""
    return f" of {name}" if name else ""
