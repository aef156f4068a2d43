"""`recon slack`: the app that Slack needs to know of, and one message to see that an owner is reached."""

import json
import re
from typing import Annotated

import typer

from recon.cli import exits, extras
from recon.cli.doctor import plain
from recon.model.characters import harmless
from recon.model.errors import ConfigurationError

NAME_LIMIT = 35  # Characters of an app's name. Source: https://docs.slack.dev/reference/app-manifest

app = typer.Typer(name="slack", help="Set up Slack: manifest, test.", no_args_is_help=True)


@app.command()
def manifest(
    name: Annotated[
        str,
        typer.Option(metavar="NAME", help="What the app is called: one for each environment, each its own."),
    ] = "recon",
    http: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Have clicks sent over HTTP to https://.../slack/interactivity, not over Socket Mode.",
        ),
    ] = None,
) -> None:
    """Print the manifest from which Slack makes the app.

    Paste it at https://api.slack.com/apps under Create New App, From a
    manifest; each thing it asks for has its reason beside it.
    """
    from recon.doors import config

    if not name.strip() or len(name) > NAME_LIMIT or not name.isprintable():
        raise ConfigurationError(
            f"--name must be 1 to {NAME_LIMIT} printable characters, as Slack has it; found {name[:60]!r}."
        )
    if http is not None and not re.fullmatch(r"https://[^\s\"'\\]{1,250}", http):
        raise ConfigurationError(f"--http must be an address with https://, found {http[:60]!r}.")
    print(tailored(config.shipped("slack-manifest.yaml").read_text(), name, http), end="")


def tailored(text: str, name: str, http: str | None) -> str:
    """Return the manifest with another name, and for clicks over HTTP where an address is given."""
    if name != "recon":
        for key in ("name", "display_name"):
            text = text.replace(f"  {key}: recon\n", f"  {key}: {json.dumps(name, ensure_ascii=False)}\n")
    if http is not None:
        text = text.replace("    is_enabled: true\n", f"    is_enabled: true\n    request_url: {http}\n")
        text = text.replace("  socket_mode_enabled: true\n", "  socket_mode_enabled: false\n")
        explained = text.index("  # Clicks reach the listener over a connection")
        text = text[:explained] + text[text.index("  socket_mode_enabled:") :]
    return text


@app.command("test")
def try_owner(
    owner: Annotated[
        str, typer.Argument(help="An owner's name in owners.toml; or a #channel, an id or an e-mail address.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="Show what would be sent; send and write nothing.")
    ] = False,
    seconds: Annotated[
        int,
        typer.Option(help="How long to wait for it to go out; an unclear send takes 150.", min=1, max=3600),
    ] = 30,
) -> None:
    """Send one message, marked as a test, to an owner the way that notices go, and say what became of it.

    It goes through the outbox, mentions whom a new case would mention, and
    is sent in quiet hours too. What else is due may go out with it.

    Exit 0: it arrived, is found again, and nothing is in the way of answers.
    Exit 1: it arrived, and something else is not as it should be.
    Exit 2: configuration, or no such owner.
    Exit 4: it did not arrive at the owner's.
    """
    with extras.needed("recon slack test", "slack"):
        from recon.cli import trial
    from recon.doors import config
    from recon.model.records.remarks import Level
    from recon.rules import ownership

    settings = config.load()
    chosen = trial.chosen(ownership.parse(settings.owners), owner)
    if dry_run:
        for line in trial.shown(chosen, settings):
            print(harmless(line))
        return
    levels = set()
    with trial.opened(settings) as patient:
        result = trial.Trial(patient, chosen, budget_seconds=seconds)
        for remark in result.remarks():
            levels.add(remark.level)
            for line in plain(remark):
                print(line.removeprefix("  "), flush=True)
    if not result.arrived:
        raise typer.Exit(exits.UNDELIVERED)
    if Level.FAILURE in levels:
        raise typer.Exit(exits.FOUND)
