"""`recon demo`: a Friday evening of double refunds, replayed on this machine, and what the hour finds.

Needs no account and no key: provider and Slack are the sandbox, reached over HTTP by the same code as the
real ones. Leaves one database, which the desk can be opened on.
"""

import os
import shutil
import sys
import threading
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli import exits, extras
from recon.model.settings import Settings

if TYPE_CHECKING:
    from recon.cli.friday.findings import Findings
    from recon.cli.friday.street import Street
    from recon.doors.store.engines import Database
    from recon.hourly import RunReport

DATABASE = Path("var/demo/recon.db")
# Where the evening is written down until it is over: its three hundred commits need not wait for a disk.
_MEMORY = Path("/dev/shm")  # noqa: S108 -- a folder of our own is made in it
_DELIVERY_BUDGET = timedelta(minutes=10)  # In sandbox time, of which a pause costs nothing.
# What opens no door anywhere: the sandbox takes any key of this shape.
_KEYS = {"STRIPE_API_KEY": "sk_test_sandbox", "SLACK_BOT_TOKEN": "xoxb-sandbox"}


def demo(
    keep: Annotated[
        bool,
        typer.Option("--keep", metavar="", help="Leave provider and Slack running afterwards, until Ctrl-C."),
    ] = False,
) -> None:
    """Replay a Friday evening of double refunds against a local provider, and show what the hour finds.

    Needs no account and no key. Leaves var/demo/recon.db, on which the desk can
    be opened.
    """
    with extras.needed("The demo", "all"):
        from recon.cli.friday import evening, story
        from recon.sandbox.server import Sandbox
    friday = evening.latest_friday(datetime.now(UTC))
    console = story.screen()
    try:
        with Sandbox.start() as sandbox:
            story.begin(console, friday)
            with console.status("Replaying the evening"):
                findings = replay(sandbox.url, friday, DATABASE)
            story.tell(console, findings)
            story.go_on(
                console,
                dashboard=_desk(sandbox.url if keep else None),
                again=_command("demo", "--keep"),
                files=f"{_program()} diff INTENTS.csv REFUNDS.csv",
                slack_url=f"{sandbox.url}/slack" if keep else None,
            )
            if keep:
                _wait()
    except KeyboardInterrupt:  # The database of an earlier demo, if there is one, is as it was.
        raise typer.Exit(exits.INTERRUPTED) from None


def replay(url: str, friday: datetime, target: Path) -> "Findings":
    """Let the evening happen at the sandbox of this address, run the hour, and return what it left behind.

    target: the database that holds it afterwards, in place of what was there.

    Raises:
        ConfigurationError: the target cannot be written.
        DatabaseUnavailable: another process keeps the target locked. It is as it was.
    """
    from recon.cli.friday import findings
    from recon.cli.friday.street import Street
    from recon.doors.store import copies
    from recon.doors.store.engines import Database

    street = Street(url)
    settings = _settings(url)
    memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with TemporaryDirectory(prefix="recon-demo-", dir=memory) as folder, ExitStack() as doors:
        fresh = Path(folder) / "recon.db"
        database = doors.enter_context(Database.open(f"sqlite:///{fresh}"))
        report = _happen(database, street, settings, friday)
        copies.replace(fresh, target)
        kept = doors.enter_context(Database.open(f"sqlite:///{target}"))
        return findings.read(kept, street, report)


def _happen(database: "Database", street: "Street", settings: Settings, friday: datetime) -> "RunReport":
    """Carry out the evening under a watch, run the hour as of its end, and deliver what there is to say."""
    from recon import delivery, hourly
    from recon.cli.friday import evening
    from recon.cli.friday.careless import Shop
    from recon.cli.friday.vigil import Vigil
    from recon.doors.slack.posts import Slack
    from recon.doors.store import migrations
    from recon.doors.stripe.provider import Provider

    migrations.upgrade(database)
    deliver = partial(
        delivery.deliver_all,
        database,
        Slack(settings.slack),
        settings,
        clock=street.now,
        budget=_DELIVERY_BUDGET,
        sleep=street.pass_time,
    )
    shop = Shop.open(database, street, settings.provider)
    vigil = Vigil(database, street, settings, friday, deliver)
    for step in evening.steps(friday):
        vigil.until(step.at)
        shop.carry_out(step)
    vigil.until(friday + evening.JUDGED)
    street.set_time(friday + evening.JUDGED)
    report = hourly.run(database, Provider(settings.provider), settings, clock=street.now)
    deliver()
    return report


def _settings(url: str) -> Settings:
    """Return the demo's settings: nothing of this machine's environment, and no real address."""
    from recon.doors import config

    # A proxy for the world outside must not be asked for this machine.
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), "127.0.0.1")))
    addresses = {"RECON_STRIPE_BASE_URL": url, "RECON_SLACK_BASE_URL": url}
    return config.load(_KEYS | addresses, config.shipped("demo"))


def _desk(provider: str | None) -> str:
    """Return how the desk is opened on the evening; provider: its address, where it is still there to ask."""
    told = {"RECON_DATABASE_URL": f"sqlite:///{DATABASE}"}
    if provider is not None:
        told |= {"RECON_STRIPE_BASE_URL": provider, "STRIPE_API_KEY": _KEYS["STRIPE_API_KEY"]}
    return " ".join((*(f"{name}={value}" for name, value in told.items()), _command("dashboard")))


def _command(*words: str) -> str:
    """Return how the person who started this starts another command of ours."""
    name, *options = words
    if os.environ.get("MAKELEVEL"):
        told = f' ARGS="{" ".join(options)}"' if options else ""
        return f"make {name}{told}"
    return " ".join((_program(), *words))


def _program() -> str:
    """Return how a shell in this folder finds the recon command."""
    program = Path(sys.argv[0]).absolute()
    if shutil.which(program.name) == str(program):
        return program.name
    return str(program.relative_to(Path.cwd())) if program.is_relative_to(Path.cwd()) else str(program)


def _wait() -> None:
    """Wait for Ctrl-C, which here is the end that was asked for."""
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        return
