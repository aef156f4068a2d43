"""Slack: the token, what it may do, whether owners are reached and their answers arrive. Posts nothing."""

from collections.abc import Iterator, Mapping
from datetime import timedelta

from recon.doctor import answers, reach
from recon.doctor.patients import Check, Patient
from recon.doctor.reach import PRIVATE, PUBLIC, SLACK, Targets
from recon.model.records.deliveries import Unreadable
from recon.model.records.remarks import Remark

# What config/slack-manifest.yaml asks for, and says why; a token needs no more.
SCOPES = frozenset(
    {
        "chat:write",
        "channels:history",
        "groups:history",
        "im:history",
        PUBLIC,
        PRIVATE,
        "im:write",
        "users:read",
        "users:read.email",
        "usergroups:read",
    }
)
_INSTALL = "under OAuth & Permissions of the Slack app, and install the app again."
_ROTATES = "xoxe.xoxb-"
# Slack's Date has whole seconds, and the way there and back takes its part.
_BLUR = timedelta(seconds=2)
# A look-up begins five minutes before the send by our clock, and a click over HTTP may be as old.
_FAR_OFF = timedelta(minutes=5)


def _token(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None:
        return
    slack = patient.settings.slack
    if not slack.enabled:
        yield SLACK.warning(
            "SLACK_BOT_TOKEN is not set: notices wait in the database, and nobody is told of a case.",
            "Make a Slack app (recon slack manifest) and set its bot token; the dashboard works without.",
        )
        return
    wrong = reach.wrong(slack)
    if wrong is not None:
        yield SLACK.failure(f"SLACK_BOT_TOKEN holds {wrong}.", reach.COPY_ANEW)
    elif slack.bot_token.reveal().startswith(_ROTATES):
        yield SLACK.failure(
            "The bot's token is a rotating one: it ends twelve hours after it was made.",
            "Make the app anew without token rotation (recon slack manifest): it cannot be switched off.",
        )
    if slack.base_url:
        yield SLACK.warning(
            f"Slack is spoken to at {slack.base_url}, which is the sandbox or a stand-in.",
            "For real messages leave RECON_SLACK_BASE_URL unset.",
        )
    if patient.offline:
        yield SLACK.warning("Slack was not asked (--offline).", "Leave --offline away to know.")


def _scopes(patient: Patient) -> Iterator[Remark]:
    workspace = reach.opened(patient)
    if workspace is None:
        return
    bot = workspace.bot()
    if isinstance(bot, Unreadable):
        yield SLACK.failure(f"The bot cannot sign in: {bot.reason}.", reach.remedy(bot))
        return
    yield SLACK.ok(f"The bot is {bot.name} in {bot.team}.")
    if bot.said_at is not None:
        yield _beside(patient.clock() - bot.said_at)
    if bot.scopes is None:
        yield SLACK.warning(
            "Slack did not say what the token may do.", "Compare its scopes with recon slack manifest."
        )
        return
    missing = {scope: why for scope, why in needed(reach.targets(patient)).items() if scope not in bot.scopes}
    for scope, why in missing.items():
        yield SLACK.failure(f"The token lacks the scope {scope}: {why}.", f"Add it {_INSTALL}")
    if not missing:
        yield SLACK.ok("The token has every scope that deliveries need.")
    surplus = sorted(bot.scopes - SCOPES)
    if surplus:
        yield SLACK.warning(
            f"The token may do more than recon ever does: {', '.join(surplus)}.", f"Take that out {_INSTALL}"
        )


def _beside(ahead: timedelta) -> Remark:
    """Return what it means that our clock is that far ahead of Slack's."""
    off = abs(ahead)
    if off <= _BLUR:
        return SLACK.ok("Our clock and Slack's agree.")
    way = "ahead of" if ahead > timedelta() else "behind"
    told = f"Our clock is {off.total_seconds():,.0f} s {way} Slack's."
    todo = "Put this machine's clock right (NTP): a message is looked for by the time of its send."
    return SLACK.failure(told, todo) if off >= _FAR_OFF else SLACK.warning(told, todo)


def needed(found: Targets) -> Mapping[str, str]:
    """Return the scopes that deliveries to these targets need, each with what fails without it."""
    scopes = {"chat:write": "nothing can be posted"}
    look = "after an unclear send a notice cannot be looked for"
    if any(target.startswith("#") for target in found.places):
        by_name = "a channel is not found by its name: by its id alone can a notice be looked for there"
        scopes |= {PUBLIC: by_name, PRIVATE: by_name}
    if any(target.startswith(("#", "C")) for target in found.places):
        scopes["channels:history"] = f"{look} in a public channel, and waits for a person"
    if any(target.startswith(("#", "C", "G")) for target in found.places):
        scopes["groups:history"] = f"{look} in a private channel, and waits for a person"
    people = [target for target in found.places if reach.is_person(target)]
    if people:
        scopes["im:history"] = f"{look} in a direct message, and waits for a person"
        scopes["im:write"] = f"{look} in a direct message, whose id is not told without it"
    if any("@" in target for target in people):
        scopes["users:read.email"] = "people cannot be found by their e-mail address"
    return scopes


def _places(patient: Patient) -> Iterator[Remark]:
    workspace = reach.opened(patient)
    if workspace is None:
        return
    bot = workspace.bot()
    if not isinstance(bot, Unreadable):  # Otherwise it is said already, and nothing can be asked.
        yield from reach.reached(workspace, bot, reach.targets(patient).places)


def _groups(patient: Patient) -> Iterator[Remark]:
    workspace = reach.opened(patient)
    if workspace is not None:
        yield from reach.mentioned(workspace, reach.targets(patient).groups)


CHECKS = (
    Check("whether there is a token", _token),
    Check("what the token may do", _scopes),
    Check("whether owners can be reached", _places),
    Check("whether user groups are there", _groups),
    *answers.CHECKS,
)
