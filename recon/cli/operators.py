"""`recon operators`: who may act on cases, and who they are in Slack."""

import re
from typing import Annotated

import typer

from recon.cli import books
from recon.model.characters import harmless
from recon.model.errors import ConfigurationError, Report
from recon.model.records.cases import JOB
from recon.model.records.people import NAME_LIMIT, Operator, named
from recon.model.records.words import Actor, Role

_SLACK_ID = re.compile(r"[UW][A-Z0-9]{2,20}")

app = typer.Typer(
    name="operators",
    help="Say who may act on cases, at the desk and in Slack: list, add, remove, sign out.",
    no_args_is_help=True,
)
Name = Annotated[str, typer.Argument(help="As the story of a case names them.")]


@app.command("list")
def show() -> None:
    """Print every operator: name, role and Slack id; those who may no longer act are marked."""
    from recon.doors import config
    from recon.doors.store import operators

    with books.opened(config.load()) as database:
        found = operators.every(database)
    if not found:
        print("Nobody was put down yet: recon operators add NAME --slack ID.")
        return
    width = max(len(harmless(each.name)) for each in found)
    for each in found:
        standing = each.role if each.active else "removed"
        print(f"{harmless(each.name):{width}}  {standing:8}  {each.slack_id or 'not in Slack'}")


@app.command()
def add(
    name: Name,
    role: Annotated[
        Role | None,
        typer.Option(
            help="viewer reads, operator acts, approver also approves, admin also manages operators. New "
            "ones: operator. Where people sign in, it only takes away from what their sign-in gives."
        ),
    ] = None,
    slack: Annotated[
        str | None,
        typer.Option(metavar="ID", help='Their member ID in Slack, such as U012AB3CD; "" takes it away.'),
    ] = None,
) -> None:
    """Put an operator down, or change one; what is not said stays as it was.

    A member ID is found in Slack in the person's profile, under the three dots.
    """
    from recon.doors import config
    from recon.doors.store import operators

    who = actor(name)
    if slack and not _SLACK_ID.fullmatch(slack):
        raise ConfigurationError(
            f"--slack must be a member ID, which begins with U or W, such as U012AB3CD; found {slack[:40]!r}."
        )
    with books.opened(config.load()) as database:
        known = operators.get(database, who)
        before = known.slack_id if known is not None else None
        kept = known.role if known is not None else Role.OPERATOR
        put = Operator(who, role or kept, slack_id=before if slack is None else slack or None)
        operators.put(database, put)
    where = f"is {put.slack_id} in Slack" if put.slack_id else "does not answer in Slack"
    print(f"{who} has the role {put.role} and {where}.")


@app.command()
def remove(name: Name) -> None:
    """Let an operator do nothing from now on; the name stays in the books, the Slack id becomes free.

    Somebody who signs in need not have been put down before: the e-mail
    address is enough, and an open tab shows the door at its next click.
    """
    from dataclasses import replace

    from recon.doors import config
    from recon.doors.store import operators

    who = actor(name)
    with books.opened(config.load()) as database:
        known = operators.get(database, who)
        if known is None and "@" not in who:
            raise Report(f"Expected an operator, found none of the name {who!r}: see recon operators list.")
        gone = replace(known or Operator(who, Role.VIEWER), active=False, slack_id=None)
        operators.put(database, gone)
    new = "" if known is not None else " Nobody had put them down before: look whether the address is right."
    print(f"{who} may no longer act on cases.{new}")


@app.command("sign-out")
def sign_out(name: Name) -> None:
    """End every sign-in of somebody's at the desk: they must sign in again, and may.

    It reaches open tabs at their next click. To keep somebody out, remove
    them. Behind a proxy, end their session there too.
    """
    from datetime import UTC, datetime

    from recon.doors import config
    from recon.doors.store import sign_outs
    from recon.model.phrases import clock

    who, now = actor(name), datetime.now(UTC)
    with books.opened(config.load()) as database:
        sign_outs.put(database, who, now)
    print(f"{who} is signed out: sign-ins from before {clock(now)} no longer count.")


def actor(name: str) -> Actor:
    """Return a name that a story can tell; an address as a sign-in gives it, whatever its case.

    Raises:
        ConfigurationError: it is none.
    """
    told = name.strip()
    who = named(told)
    if who is None:
        raise ConfigurationError(
            f"NAME must be a text of one line, 1 to {NAME_LIMIT} characters; found {len(told)} characters."
        )
    if who == JOB:
        raise ConfigurationError(
            f"{JOB} is the job's own name: nobody acts by it. Give the operator another."
        )
    return who
