"""How a move of a tool's kill switch reads to the operators.

Says who moved it and when, and none of their words: those are on its page. Never decides whether it is said:
rules/alerts.py does.
"""

from recon.model import bursts
from recon.model.blocks import VALUE_LIMIT, clean, section
from recon.model.phrases import minute
from recon.model.records.notices import Message
from recon.model.records.tools import Switch


def moved(switch: Switch, *, dashboard_url: str) -> Message:
    """Return the word that somebody moved a switch; switch: as it stands since then."""
    assert switch.moved_at is not None, f"somebody moved the switch of {switch.tool}"
    name, who = (clean(each, limit=VALUE_LIMIT) for each in (switch.tool, switch.moved_by or "somebody"))
    done = "thrown" if switch.thrown else "lifted"
    said = f"Kill switch of {name} {done}, by {who} at {minute(switch.moved_at)}. "
    if switch.thrown:
        said += f"{bursts.STOPPED} What to do: read why on its page; then, as an admin: "
        said += f"{bursts.command('on', switch.tool, 'there')}."
    else:
        said += "It is sent again. What to do: nothing; its page says why."
    link = bursts.page(switch.tool, dashboard_url)
    return Message(f"{said} {link}", (section(f"{said} <{link}|Open the tool>"),))
