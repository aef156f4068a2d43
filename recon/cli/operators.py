"""`recon operators`: who may act on cases, and who they are in Slack."""

import re
from typing import Annotated

import typer

from recon.cli import books
from recon.model.characters import harmless
from recon.model.errors import ConfigurationError, Report
from recon.model.records.cases import JOB
from recon.model.records.words import Actor, Role

NAME_LIMIT = 80  # Characters: Slack's own limit for a name, and it fits a line of the story.
_SLACK_ID = re.compile(r"[UW][A-Z0-9]{2,20}")

app = typer.Typer(
    name="operators",
    help="Say who may act on cases, at the desk and in Slack: list, add, remove.",
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
        typer.Option(help="viewer reads, operator acts, admin also manages operators. New ones: operator."),
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
    from recon.model.records.people import Operator

    named = actor(name)
    if slack and not _SLACK_ID.fullmatch(slack):
        raise ConfigurationError(
            f"--slack must be a member ID, which begins with U or W, such as U012AB3CD; found {slack[:40]!r}."
        )
    with books.opened(config.load()) as database:
        known = operators.get(database, named)
        before = known.slack_id if known is not None else None
        kept = known.role if known is not None else Role.OPERATOR
        put = Operator(named, role or kept, slack_id=before if slack is None else slack or None)
        operators.put(database, put)
    where = f"is {put.slack_id} in Slack" if put.slack_id else "does not answer in Slack"
    print(f"{named} has the role {put.role} and {where}.")


@app.command()
def remove(name: Name) -> None:
    """Let an operator do nothing from now on; the name stays in the books, the Slack id becomes free."""
    from dataclasses import replace

    from recon.doors import config
    from recon.doors.store import operators

    named = actor(name)
    with books.opened(config.load()) as database:
        known = operators.get(database, named)
        if known is None:
            raise Report(f"Expected an operator, found none of the name {named!r}: see recon operators list.")
        operators.put(database, replace(known, active=False, slack_id=None))
    print(f"{named} may no longer act on cases.")


def actor(name: str) -> Actor:
    """Return a name that a story can tell.

    Raises:
        ConfigurationError: it is none.
    """
    named = name.strip()
    if not named or len(named) > NAME_LIMIT or not named.isprintable():
        raise ConfigurationError(
            f"NAME must be a text of one line, 1 to {NAME_LIMIT} characters; found {len(named)} characters."
        )
    if named == JOB:
        raise ConfigurationError(
            f"{JOB} is the job's own name: nobody acts by it. Give the operator another."
        )
    return Actor(named)
