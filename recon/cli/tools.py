"""`recon tools`: the tools that agents call, whether tools.toml holds, and their kill switches."""

from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli import books, exits
from recon.cli.operators import actor
from recon.cli.options import Format, Output
from recon.cli.unknowns import COMMAND
from recon.model.characters import harmless
from recon.model.errors import NotPermitted, ReconError

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from recon.doors.store.engines import Database
    from recon.model.records.people import Operator
    from recon.model.records.tools import Registry, Switch
    from recon.model.settings import Settings
    from recon.switchboard import Switchboard

app = typer.Typer(
    name="tools",
    help="Look after the tools that agents call: list, check, switch off and on.",
    no_args_is_help=True,
)
ToolName = Annotated[str, typer.Argument(metavar="NAME", help="The tool's name in tools.toml.")]
Reason = Annotated[str, typer.Option(help="Why, in a sentence; it is kept with your name.")]
By = Annotated[
    str | None,
    typer.Option("--as", metavar="OPERATOR", help="Who you are; else dashboard.operator. Nobody checks it."),
]


@app.command("list")
def show(output: Output = Format.TABLE) -> None:
    """Print every declared tool: what calling it does, its key, its kill switch, what is unknown of it.

    Exit 0: they were printed.
    Exit 2: tools.toml cannot be used, or there is no database yet.
    """
    from recon.doors import config

    settings = config.load()
    with books.opened(settings) as database:
        board = _board(database, settings)
        found, stands = board.registry(), board.every()
        unknown = _unknown(database)
    if output is Format.JSON:
        print(_json([_value(name, found, stands[name]) | {"unknown": unknown[name]} for name in stands]))
        return
    width = max(map(len, stands))
    for name, switch in stands.items():
        tool = found.get(name)
        effect = "undeclared" if tool is None else tool.effect
        lacks = f"  {unknown[name]:,} unknown: {COMMAND}" if unknown[name] else ""
        key = f"  key: {', '.join(tool.key)}" if tool is not None and tool.key else ""
        print(f"{name:{width}}  {effect:11}  {_standing(switch)}{key}{lacks}")


@app.command()
def check() -> None:
    """Look whether tools.toml can be used, and whether switches are thrown of tools that it does not declare.

    Exit 0: nothing to put right.
    Exit 1: a switch is thrown whose tool is not declared.
    Exit 2: tools.toml cannot be used; the line is named.
    """
    from recon.doors import config
    from recon.model import registry
    from recon.model.phrases import several

    settings = config.load()
    found = registry.parse(settings.tools)
    effects = [tool for tool in found.values() if tool.key]
    print(f"{several(len(found), 'tool')} can be used, {len(effects)} of them with side effects.")
    # Refunds are keyed whatever the file says.
    once = [tool.name for tool in effects if "payment" not in tool.fingerprint and not tool.keyed]
    if once:
        print(f"Not keyed, so never sent again, and what stays unknown is for a person: {', '.join(once)}.")
    try:
        with books.opened(settings) as database:
            thrown = _board(database, settings).thrown()
    except ReconError as error:  # Not made yet, of another version, or away: the file holds anyway.
        print(f"Switches were not looked at: {error}")
        return
    strange = [switch for switch in thrown if switch.tool not in found]
    for switch in strange:
        print(f"{harmless(switch.tool)} is {_standing(switch)}, and tools.toml does not declare it.")
    if strange:
        raise typer.Exit(exits.FOUND)


@app.command()
def off(name: ToolName, reason: Reason, by: By = None) -> None:
    """Throw a tool's kill switch: nothing of it is sent from then on, by any process, within a second.

    Look-ups and runs go on. A tool that is off already stays so, and it is
    said by whom. Whoever can run this has the database's password and needs
    no role; an operator who is put down as a viewer is refused.

    Exit 0: it is off.
    Exit 2: there is no such tool, or no reason, or you may not.
    Exit 75: others moved the switch at the same moment, again and again.
    """
    from uuid import uuid4

    from recon.doors import config

    settings = config.load()
    with books.opened(settings) as database:
        board = _board(database, settings)
        before = board.every().get(name)
        operator = _operator(settings, by)
        with _helped(operator, "operator"):
            switch = board.throw(
                name,
                operator=operator,
                reason=reason,
                action_id=f"tools:{uuid4()}",
                vouched=_vouched(settings),
            )
    already = before is not None and before.version == switch.version
    print(f"{name} {'was off already' if already else 'is off'}: {_why(switch)}")
    print("Nothing of it is sent while it is off; look-ups and runs go on.")


@app.command()
def on(name: ToolName, reason: Reason, by: By = None) -> None:
    """Lift a tool's kill switch: it is sent again. Look at the open cases first.

    Exit 0: it is on.
    Exit 2: there is no such tool, it is not off, or no reason, or you may not.
    Exit 75: somebody moved the switch at the same moment.
    """
    from uuid import uuid4

    from recon.doors import config

    settings = config.load()
    with books.opened(settings) as database:
        board = _board(database, settings)
        before = board.every().get(name)
        version = 0 if before is None else before.version
        operator = _operator(settings, by)
        with _helped(operator, "admin"):
            switch = board.lift(
                name,
                version=version,
                operator=operator,
                reason=reason,
                action_id=f"tools:{uuid4()}",
                vouched=_vouched(settings),
            )
    print(f"{name} is on: {_why(switch)}")


@app.command()
def annotations() -> None:
    """Print what an MCP server says of each tool, as JSON: title and hints, derived from its effect.

    Exit 2: tools.toml cannot be used.
    """
    from recon.doors import config
    from recon.model import registry
    from recon.rules import registry as rules

    found = registry.parse(config.load().tools)
    print(_json({name: rules.annotations(tool) for name, tool in found.items()}))


@app.command()
def prompt() -> None:
    """Print what the system prompt of an agent with the refund tools should say of them."""
    from recon.model import tool_texts

    print(tool_texts.PROMPT, end="")


def _unknown(database: "Database") -> "Counter[str]":
    """Return of how many effects of each tool nobody knows whether they are done."""
    from collections import Counter
    from datetime import UTC, datetime

    from recon.doors.store import glance

    found = glance.unsettled(database, now=datetime.now(UTC))
    return Counter({each.tool: each.number for each in found})


def _board(database: "Database", settings: "Settings") -> "Switchboard":
    from recon.switchboard import Switchboard

    return Switchboard(database, lambda: settings)


def _operator(settings: "Settings", name: str | None) -> "Operator":
    """Return who acts; the database may take rights away from them, and whoever is here has the others."""
    from recon.model.records.people import Operator
    from recon.model.records.words import Role

    return Operator(actor(name or settings.dashboard.operator), Role.ADMIN)


@contextmanager
def _helped(operator: "Operator", needed: str) -> "Iterator[None]":
    """Let a refusal say what helps in a hurry. needed: the role that it takes.

    Raises:
        NotPermitted: the operator may not, and what can be done about it.
    """
    try:
        yield
    except NotPermitted as refused:
        raise NotPermitted(
            f"{refused} Name somebody who may with --as (recon operators list shows them), or give the role: "
            f"recon operators add {quote(operator.name)} --role {needed}"
        ) from None


def _vouched(settings: "Settings") -> bool:
    """Return whether a name says as much here as at the desk: where people sign in there, it does not."""
    return settings.dashboard.mode == "local"


def _standing(switch: "Switch") -> str:
    return f"off, {_why(switch)}" if switch.thrown else "on"


def _why(switch: "Switch") -> str:
    from recon.model.phrases import minute

    assert switch.moved_at is not None, f"somebody moved the switch of {switch.tool}"
    who = harmless(switch.moved_by or "")
    return f"by {who} at {minute(switch.moved_at)}: {harmless(switch.reason)}"


def _value(name: str, found: "Registry", switch: "Switch") -> "dict[str, object]":
    from recon.model.phrases import iso

    tool = found.get(name)
    return {
        "name": name,
        "title": None if tool is None else tool.title,
        "effect": None if tool is None else tool.effect,
        "operation": None if tool is None else tool.operation,
        "key": [] if tool is None else tool.key,
        "fingerprint": [] if tool is None else tool.fingerprint,
        "finder": tool is not None and tool.finder,
        "keyed": tool is not None and tool.keyed,
        "off": switch.thrown,
        "moved_at": None if switch.moved_at is None else iso(switch.moved_at),
        "moved_by": switch.moved_by,
        "reason": switch.reason or None,
    }


def _json(value: object) -> str:
    import json

    return json.dumps(value, indent=2, ensure_ascii=False)
