"""How a duplicate-call alert reads: what is odd about a tool's calls, and what to do.

Never decides whether it is said: rules/alerts.py does. Says keys and payments, and never who called: that may
name a customer, and is one link away.
"""

from collections.abc import Mapping
from urllib.parse import urlencode

from recon.model import money, registry
from recon.model.blocks import VALUE_LIMIT, clean, code, escaped, header, section, sections
from recon.model.phrases import clock, listed, minute, several
from recon.model.records.notices import Message
from recon.model.records.results import Money
from recon.model.records.tools import Burst, Repeated, Switch, Twins

_SHOWN = 5  # Of each sort: the first show what it is, the page has the others.
_KEYS_SHOWN = 3  # Of one twin.
_MADE_UP = "look whether a caller makes references up."
_COUNTED = "The next run says what was done twice"
STOPPED = "Nothing of it is sent until an admin lifts it; look-ups and runs go on."


def begun(found: Burst, switch: Switch, *, dashboard_url: str) -> Message:
    """Return the alert. switch: as it stands when this is said."""
    title = f"Duplicate calls of {_name(found.tool)}"
    said = f"{summary(found)}, since {clock(found.began_at)}."
    lines = [*map(_twins, found.twins[:_SHOWN]), *map(_repeated, found.repeated[:_SHOWN])]
    more = len(found.twins) + len(found.repeated) - len(lines)
    lines += [f"and {more} more"] if more > 0 else []
    link, step = page(found.tool, dashboard_url), _step(found, switch)
    blocks = [
        header(title),
        section(said),
        *sections([f"• {line}" for line in lines]),
        section(f"*What to do:* {step} <{link}|Open the tool>"),
    ]
    return Message(f"{title}: {said} What to do: {step} {link}", tuple(blocks))


def grown(found: Burst, switch: Switch, *, dashboard_url: str) -> Message:
    """Return the word that there is more of it."""
    said = f"It goes on: {summary(found)}, since {clock(found.began_at)}."
    return _reply(f"{said} What to do: {_step(found, switch)}", found, dashboard_url)


def thrown(found: Burst, switch: Switch, *, dashboard_url: str) -> Message:
    """Return the word that recon has thrown the switch."""
    return _reply(f"{_how(switch)} {STOPPED} What to do: {_after(found)}", found, dashboard_url)


def over(found: Burst, *, quiet_minutes: int, dashboard_url: str) -> Message:
    """Return the word that it has ended."""
    ended = several(quiet_minutes, "minute")
    opened = "answer the cases that the next run opens."
    step = opened if _counts(found) else f"find out who called it. {promise(found)}"
    said = (
        f"Over: no odd call of {_name(found.tool)} for {ended}. In all {summary(found)}, from "
        f"{clock(found.began_at)} to {clock(found.last_at)}. What to do: {step}"
    )
    return _reply(said, found, dashboard_url)


def find_out(found: Burst) -> str:
    """Return what is to be found out about a burst, and by what."""
    return f"Find out who calls it. {promise(found)}"


def promise(found: Burst) -> str:
    """Return what will say whether something was done twice: only what is so of this tool and these calls."""
    if not found.refunds:
        return "No run compares what this tool does: look in its own books for what was done twice."
    if not found.doubles:
        return "One key is done once, however often it is asked for."
    if not any(each.declared for each in found.twins):
        return f"{_COUNTED}."
    if _counts(found):
        return f"{_COUNTED}, but keys with a reference each are no repeats to it: {_MADE_UP}"
    return f"No run counts these as repeats, because each has its own reference: {_MADE_UP}"


def _counts(found: Burst) -> bool:
    """Return whether a run opens cases for what of it was done twice."""
    return found.refunds and bool(found.spike or not all(each.declared for each in found.twins))


def reason(found: Burst) -> str:
    """Return why recon throws a switch, as its entry keeps it."""
    return f"Duplicate-call alert: {summary(found)}, since {clock(found.began_at)}."


def _reply(said: str, found: Burst, dashboard_url: str) -> Message:
    link = page(found.tool, dashboard_url)
    return Message(f"{said} {link}", (section(f"{said} <{link}|Open the tool>"),))


def summary(found: Burst) -> str:
    """Return what is odd, without its end: 9 likely intents under 18 keys, in 18 calls."""
    parts = []
    if found.twins:
        keys = sum(len(each.keys) for each in found.twins)
        parts.append(f"{several(len(found.twins), 'likely intent')} under {several(keys, 'key')}")
    if found.repeated:
        parts.append(f"{several(len(found.repeated), 'intent')} asked for again and again")
    if found.spike:
        parts.append(f"{several(found.spike, 'intent')} at once")
    return f"{listed(parts)}, in {several(found.calls, 'call')}"


def _twins(twins: Twins) -> str:
    more = len(twins.keys) - _KEYS_SHOWN
    keys = [code(each) for each in twins.keys[:_KEYS_SHOWN]] + ([f"{more} more"] if more > 0 else [])
    same = ", ".join(f"{clean(name)} {code(value)}" for name, value in alike(twins.same))
    return f"{same}{_of(twins.account)}: keys {listed(keys)}"


def _repeated(repeated: Repeated) -> str:
    drifted = (
        f", with another {listed([clean(field(name)) for name in repeated.drifted])}"
        if repeated.drifted
        else ", all alike"
    )
    return f"{code(repeated.key)}{_of(repeated.account)}: {several(repeated.calls, 'call')}{drifted}"


def _of(account: str) -> str:
    return f" of {code(account)}" if account else ""


def alike(same: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the fields that agree as name and value, money as people write it; nothing is made harmless."""
    told = dict(same)
    minor, currency = told.get("amount_minor", ""), told.get("currency", "")
    if minor.isdecimal() and minor.isascii() and currency in money.EXPONENTS:
        del told["amount_minor"], told["currency"]
        told = {"amount": money.written(Money(int(minor), currency))} | told
    return tuple((field(name), value) for name, value in told.items())


def field(name: str) -> str:
    """Return what a field is called: "amount" for amount_minor; nothing is made harmless."""
    return name.removesuffix("_minor").replace("_", " ")


def _step(found: Burst, switch: Switch) -> str:
    if switch.thrown:
        return f"{_how(switch)} {STOPPED} {_after(found)}"
    how = command("off", found.tool, "its switch on the page")
    return (
        f"Find out who calls it. To stop it at once in every process: {how}. Look-ups and runs go on. "
        f"{promise(found)}"
    )


def _how(switch: Switch) -> str:
    at = f" at {minute(switch.moved_at)}" if switch.moved_at is not None else ""
    return f"Its kill switch is thrown, by {clean(switch.moved_by or 'somebody')}{at}."


def _after(found: Burst) -> str:
    return f"{find_out(found)} Then, as an admin: {command('on', found.tool, 'the page')}."


def command(move: str, tool: str, page: str) -> str:
    """Return how a switch is moved; a name that a stranger made up is nothing to be typed into a shell."""
    return f'`recon tools {move} {tool} --reason "..."`, or {page}' if registry.NAME.fullmatch(tool) else page


def _name(tool: str) -> str:
    return clean(tool, limit=VALUE_LIMIT)


def page(tool: str, dashboard_url: str) -> str:
    """Return the address of a tool's page, escaped."""
    return escaped(f"{dashboard_url}/tools?{urlencode({'tool': tool})}")
