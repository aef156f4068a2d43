"""`recon owners`: whether the rules of owners.toml hold, why a case is whose it is, and new rules applied."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli import books, exits, extras
from recon.cli.options import Format, Output, Wait
from recon.model.errors import ReconError
from recon.model.records.remarks import Level, Remark

if TYPE_CHECKING:
    from recon.assigning import Survey
    from recon.doors.store.engines import Database
    from recon.model.settings import Settings

app = typer.Typer(
    name="owners", help="Look after who answers for what: check, explain, apply.", no_args_is_help=True
)


@app.command()
def check(
    output: Output = Format.TABLE,
    offline: Annotated[bool, typer.Option("--offline", metavar="", help="Do not ask Slack.")] = False,
) -> None:
    """Look whether the rules of owners.toml can be meant so, and whether their owners can be reached.

    Shows every rule with the open cases that it decides, and what the first
    one caught because no other did. With a Slack token each channel, person
    and group is looked up; nothing is posted, and nothing is written.

    Exit 0: nothing to put right.
    Exit 1: something was found; each has a line that says what to do.
    Exit 2: owners.toml cannot be used; the line is named.
    """
    from recon import assigning
    from recon.cli import owners_table, owners_values
    from recon.doors import config

    settings = config.load()
    notes = []
    database: Database | None = None
    try:
        with books.opened(settings) as database:
            survey = assigning.survey(settings, database)
    except ReconError as error:  # Not made yet, of another version, or away: the rules hold or not anyway.
        if database is not None:
            raise
        survey = assigning.survey(settings, None)
        notes.append(f"Open cases were not counted: {error}")
    why = "--offline" if offline else "" if settings.slack.enabled else "SLACK_BOT_TOKEN is not set"
    asked = () if why else tuple(_asked(settings, survey))
    notes += [f"Whether Slack knows the owners was not asked: {why}."] if why else []
    if output is Format.JSON:
        print(json.dumps(owners_values.of_survey(survey, asked, notes), indent=2, ensure_ascii=False))
    else:
        owners_table.show(owners_table.of_survey(survey, asked, notes))
    if any(remark.level is not Level.OK for remark in (*survey.remarks, *asked)):
        raise typer.Exit(exits.FOUND)


@app.command()
def explain(
    case: Annotated[str, typer.Argument(help="The case's id, as the desk and messages show it: C-...")],
    output: Output = Format.TABLE,
) -> None:
    """Say why a case is whose it is: which rules fit, which do not and why, and which one wins.

    Also its severity in the same way, who gave it to its owner by hand if
    somebody did, where the next message about it goes and when, and who is
    told when nobody answers.

    Exit 0: it was explained.
    Exit 2: there is no such case, or owners.toml cannot be used.
    """
    from recon import assigning
    from recon.cli import owners_table, owners_values
    from recon.doors import config

    settings = config.load()
    with books.opened(settings) as database:
        found = assigning.explain(database, settings, case, now=datetime.now(UTC))
    if output is Format.JSON:
        print(json.dumps(owners_values.of_explanation(found), indent=2, ensure_ascii=False))
    else:
        owners_table.show(owners_table.of_explanation(found))


@app.command()
def apply(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="Say what would move; write nothing.")
    ] = False,
    wait: Wait = 0,
    output: Output = Format.TABLE,
) -> None:
    """Give every open case the owner and the severity that the rules say now, and queue the notices of it.

    For when owners.toml has changed and the next run is not to be waited
    for. Cases that a person gave to somebody stay there. Ages are counted to
    the time of the latest run.

    Exit 0: done, whatever moved.
    Exit 2: owners.toml cannot be used; nothing was written.
    Exit 75: a run is at it, and was so for as long as --wait says.
    """
    from recon import assigning
    from recon.cli import owners_table, owners_values, progress
    from recon.doors import config

    settings = config.load()
    with books.opened(settings) as database, progress.shown() as say:
        applied = assigning.apply(
            database,
            settings,
            clock=lambda: datetime.now(UTC),
            dry_run=dry_run,
            wait=timedelta(seconds=wait),
            tell=say,
        )
    if output is Format.JSON:
        print(json.dumps(owners_values.of_applied(applied), indent=2, ensure_ascii=False))
    else:
        owners_table.show(owners_table.of_applied(applied, slack=settings.slack.enabled))


def _asked(settings: "Settings", survey: "Survey") -> Iterator[Remark]:
    """Yield what Slack says of the owners."""
    with extras.needed("Looking owners up in Slack", "slack"):
        from recon.doctor import reach
        from recon.doors.slack.workspace import Workspace
    from recon.model.records.deliveries import Unreadable

    if (instead := reach.wrong(settings.slack)) is not None:
        yield reach.SLACK.failure(
            f"In SLACK_BOT_TOKEN is {instead}.", "Set the app's bot token, which begins with xoxb-."
        )
        return
    workspace = Workspace(settings.slack)
    bot = workspace.bot()
    if isinstance(bot, Unreadable):
        yield reach.SLACK.failure(f"The bot cannot sign in: {bot.reason}.", reach.remedy(bot))
        return
    named = [(settings.slack.operators_channel, "slack.operators_channel")]
    named += [(each.target, f"owner {each.name!r}") for each in survey.owners]
    found = reach.sorted_out(named, [(each.group, f"owner {each.name!r}") for each in survey.owners])
    yield from reach.reached(workspace, bot, found.places)
    yield from reach.mentioned(workspace, found.groups)
