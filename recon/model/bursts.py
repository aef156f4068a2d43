"""How a duplicate-call alert reads: what is odd about a tool's calls, and what to do.

Never decides whether it is said: rules/alerts.py does. Says keys and payments, and never who called: that may
name a customer, and is one link away.
"""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode

from recon.model import money
from recon.model.blocks import clean, code, escaped, header, section, sections
from recon.model.phrases import clock, minute, several
from recon.model.records.notices import Message
from recon.model.records.results import Money
from recon.model.records.tools import Burst, Repeated, Switch, Twins

_SHOWN = 5  # Of each sort: the first show what it is, the page has the others.
_KEYS_SHOWN = 3  # Of one twin.
_STOPPED = "Nothing of it is sent until an admin lifts it; look-ups and runs go on."


def begun(found: Burst, switch: Switch, *, dashboard_url: str) -> Message:
    """Return the alert. switch: as it stands when this is said."""
    title = f"Duplicate calls of {found.tool}"
    said = f"{_told(found)}, since {clock(found.began_at)}."
    lines = [*map(_twins, found.twins[:_SHOWN]), *map(_repeated, found.repeated[:_SHOWN])]
    more = len(found.twins) + len(found.repeated) - len(lines)
    lines += [f"and {more} more"] if more > 0 else []
    link, step = _link(found.tool, dashboard_url), _step(found, switch)
    blocks = [
        header(title),
        section(said),
        *sections([f"• {line}" for line in lines]),
        section(f"*What to do:* {step} <{link}|Open the tool>"),
    ]
    return Message(f"{title}: {said} What to do: {step} {link}", tuple(blocks))


def grown(found: Burst, switch: Switch, *, dashboard_url: str) -> Message:
    """Return the word that there is more of it."""
    said = f"It goes on: {_told(found)}, since {clock(found.began_at)}."
    return _reply(f"{said} What to do: {_step(found, switch)}", found, dashboard_url)


def thrown(found: Burst, switch: Switch, *, dashboard_url: str) -> Message:
    """Return the word that recon has thrown the switch."""
    return _reply(f"{_how(switch)} {_STOPPED} What to do: {_after(found.tool)}", found, dashboard_url)


def over(found: Burst, *, quiet_minutes: int, dashboard_url: str) -> Message:
    """Return the word that it has ended."""
    ended = several(quiet_minutes, "minute")
    said = (
        f"Over: no odd call of {found.tool} for {ended}. In all {_told(found)}, from "
        f"{clock(found.began_at)} to {clock(found.last_at)}. What to do: answer the cases that the next run "
        "opens."
    )
    return _reply(said, found, dashboard_url)


def reason(found: Burst) -> str:
    """Return why recon throws a switch, as its entry keeps it."""
    return f"Duplicate-call alert: {_told(found)}, since {clock(found.began_at)}."


def _reply(said: str, found: Burst, dashboard_url: str) -> Message:
    link = _link(found.tool, dashboard_url)
    return Message(f"{said} {link}", (section(f"{said} <{link}|Open the tool>"),))


def _told(found: Burst) -> str:
    parts = []
    if found.twins:
        keys = sum(len(each.keys) for each in found.twins)
        parts.append(f"{several(len(found.twins), 'likely intent')} under {several(keys, 'key')}")
    if found.repeated:
        parts.append(f"{several(len(found.repeated), 'intent')} asked for again and again")
    if found.spike:
        parts.append(f"{several(found.spike, 'intent')} at once")
    return f"{_and(parts)}, in {several(found.calls, 'call')}"


def _twins(twins: Twins) -> str:
    more = len(twins.keys) - _KEYS_SHOWN
    keys = [code(each) for each in twins.keys[:_KEYS_SHOWN]] + ([f"{more} more"] if more > 0 else [])
    return f"{_same(twins.same)}{_of(twins.account)}: keys {_and(keys)}"


def _repeated(repeated: Repeated) -> str:
    drifted = f", with another {_and(map(_field, repeated.drifted))}" if repeated.drifted else ", all alike"
    return f"{code(repeated.key)}{_of(repeated.account)}: {several(repeated.calls, 'call')}{drifted}"


def _of(account: str) -> str:
    return f" of {code(account)}" if account else ""


def _same(same: Mapping[str, str]) -> str:
    """Return the fields that agree, money as people write it."""
    told = dict(same)
    minor, currency = told.get("amount_minor", ""), told.get("currency", "")
    parts = []
    if minor.isdecimal() and minor.isascii() and currency in money.EXPONENTS:
        parts.append(money.written(Money(int(minor), currency)))
        told = {name: value for name, value in told.items() if name not in {"amount_minor", "currency"}}
    return ", ".join([*parts, *(f"{_field(name)} {code(value)}" for name, value in told.items())])


def _field(name: str) -> str:
    return clean(name.removesuffix("_minor").replace("_", " "))


def _step(found: Burst, switch: Switch) -> str:
    if switch.thrown:
        return f"{_how(switch)} {_STOPPED} {_after(found.tool)}"
    return (
        "Find out who calls it. To stop it at once in every process: "
        f'`recon tools off {found.tool} --reason "..."`, or its switch on the page. Look-ups and runs go on; '
        "the next run says what was done twice."
    )


def _how(switch: Switch) -> str:
    at = f" at {minute(switch.moved_at)}" if switch.moved_at is not None else ""
    return f"Its kill switch is thrown, by {clean(switch.moved_by or 'somebody')}{at}."


def _after(tool: str) -> str:
    return (
        "Find out who calls it; the next run says what was done twice. Then, as an admin: "
        f'`recon tools on {tool} --reason "..."`, or the page.'
    )


def _link(tool: str, dashboard_url: str) -> str:
    return escaped(f"{dashboard_url}/tools?{urlencode({'tool': tool})}")


def _and(parts: Iterable[str]) -> str:
    told: Sequence[str] = tuple(parts)
    return " and ".join([", ".join(told[:-1]), told[-1]]) if len(told) > 1 else "".join(told)
