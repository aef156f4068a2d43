"""Every command of `recon`, in the order that --help lists them.

A command's module imports only what its options need; what it works with is loaded when it is called, so that
--help answers at once.
"""

import inspect
import re
from importlib.metadata import version as installed
from typing import Annotated

import typer

from recon.cli import (
    backfill,
    backtest,
    dashboard,
    db,
    deliver,
    demo,
    diff,
    doctor,
    guard,
    lint,
    operators,
    owners,
    run,
    sandbox,
    slack,
    smoke,
    status,
    tools,
    verify,
)
from recon.cli import map as mapping

app = typer.Typer(
    name="recon",
    help="Every refund sent once, accounted for, and owned when it is not.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # A bug shows Python's own traceback; anything else is one sentence.
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    """Print the version and end, if it was asked for."""
    if wanted:
        print(f"recon {installed('refund-recon')}")
        raise typer.Exit


@app.callback()
def recon(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, metavar="", help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Every refund sent once, accounted for, and owned when it is not."""
    assert not version, "its callback has ended the process"


def _lint(context: typer.Context) -> None:
    """Find in code and prompts what would refund twice; recon lint --help has its options.

    Exit 0: nothing was found.
    Exit 1: there are findings.
    Exit 2: a file or an option cannot be used.
    """
    raise typer.Exit(lint.main(context.args))


app.command("demo")(demo.demo)
app.command("diff")(diff.diff)
app.command("map")(mapping.map_)
app.command("backtest")(backtest.backtest)
app.command("dashboard")(dashboard.dashboard)
app.add_typer(db.app)
app.command("sandbox")(sandbox.sandbox)
app.command("smoke")(smoke.smoke)
app.command("run")(run.run)
app.command("backfill")(backfill.backfill)
app.command("deliver")(deliver.deliver)
app.command("status")(status.status)
app.command("verify")(verify.verify)
app.command("doctor")(doctor.doctor)
app.command(
    "lint",
    add_help_option=False,  # Its own parser answers, the same with and without typer.
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)(_lint)
app.add_typer(owners.app)
app.add_typer(operators.app)
app.add_typer(tools.app)
app.add_typer(guard.app)
app.add_typer(slack.app)


def _flow(group: typer.Typer) -> None:
    """Let every command's help fill the terminal, whatever its width, not break where the code does."""
    for command in group.registered_commands:
        if command.callback is not None:
            command.help = _unwrapped(inspect.getdoc(command.callback) or "")
    for below in group.registered_groups:
        if below.typer_instance is not None:
            _flow(below.typer_instance)


def _unwrapped(told: str) -> str:
    """Return paragraphs of one line each; each exit code keeps a line of its own."""
    return re.sub(r"(?<!\n)\n(?!\n|Exit \d)", " ", told)


_flow(app)
