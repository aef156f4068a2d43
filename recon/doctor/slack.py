"""Slack: the token, what it may do, and whether every owner can be reached. Posts nothing."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from recon.doctor.patients import Check, Patient, Pen
from recon.doors.slack.workspace import Bot, Channel, Workspace
from recon.model.errors import ConfigurationError
from recon.model.records.deliveries import Unreadable
from recon.model.records.remarks import Remark, Section
from recon.rules import ownership

_SLACK = Pen(Section.SLACK)
_PUBLIC, _PRIVATE = "channels:read", "groups:read"


@dataclass(frozen=True, slots=True)
class Targets:
    """Whom notices go to. places: channels, people, addresses. groups: to mention. Each with who says so."""

    places: Mapping[str, str]
    groups: Mapping[str, str]


def targets(patient: Patient) -> Targets:
    """Return everybody that owners.toml and recon.toml name; the first who names them."""
    assert patient.settings is not None, "only asked with a token"
    places = {patient.settings.slack.operators_channel: "slack.operators_channel"}
    groups: dict[str, str] = {}
    try:
        rules = ownership.parse(patient.settings.owners).rules
    except ConfigurationError:  # It is said of the owners.
        rules = ()
    for rule in rules:
        if rule.owner.target:
            places.setdefault(rule.owner.target, f"rule {rule.owner.rule!r}")
        if rule.mention is not None:
            groups.setdefault(rule.mention, f"rule {rule.owner.rule!r}")
    return Targets(places, groups)


def _token(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None:
        return
    slack = patient.settings.slack
    if not slack.enabled:
        yield _SLACK.warning(
            "SLACK_BOT_TOKEN is not set: notices wait in the database, and nobody is told of a case.",
            "Make a Slack app with a bot token (xoxb-) and set it; the dashboard works without.",
        )
        return
    if slack.base_url:
        yield _SLACK.warning(
            f"Slack is spoken to at {slack.base_url}, which is the sandbox or a stand-in.",
            "For real messages leave RECON_SLACK_BASE_URL unset.",
        )
    if patient.offline:
        yield _SLACK.warning("Slack was not asked (--offline).", "Leave --offline away to know.")


def _scopes(patient: Patient) -> Iterator[Remark]:
    workspace = _opened(patient)
    if workspace is None:
        return
    bot = workspace.bot()
    if isinstance(bot, Unreadable):
        yield _SLACK.failure(f"The bot cannot sign in: {bot.reason}.", _remedy(bot))
        return
    yield _SLACK.ok(f"The bot is {bot.name} in {bot.team}.")
    if bot.scopes is None:
        yield _SLACK.warning(
            "Slack did not say what the token may do.", "Compare its scopes with example.env."
        )
        return
    missing = {scope: why for scope, why in needed(targets(patient)).items() if scope not in bot.scopes}
    for scope, why in missing.items():
        yield _SLACK.failure(
            f"The token lacks the scope {scope}: {why}.",
            "Add it under OAuth & Permissions of the Slack app, and install the app again.",
        )
    if not missing:
        yield _SLACK.ok("The token has every scope that deliveries need.")


def needed(found: Targets) -> Mapping[str, str]:
    """Return the scopes that deliveries to these targets need, each with what fails without it."""
    scopes = {"chat:write": "nothing can be posted"}
    look = "after an unclear send a notice cannot be looked for"
    if any(target.startswith(("#", "C")) for target in found.places):
        scopes["channels:history"] = f"{look} in a public channel, and waits for a person"
    if any(target.startswith(("#", "C", "G")) for target in found.places):
        scopes["groups:history"] = f"{look} in a private channel, and waits for a person"
    people = [target for target in found.places if _is_person(target)]
    if people:
        scopes["im:history"] = f"{look} in a direct message, and waits for a person"
    if any("@" in target for target in people):
        scopes["users:read.email"] = "people cannot be found by their e-mail address"
    return scopes


def _places(patient: Patient) -> Iterator[Remark]:
    workspace = _opened(patient)
    if workspace is None:
        return
    bot = workspace.bot()
    if isinstance(bot, Unreadable):  # It is said already, and nothing can be asked.
        return
    found = targets(patient).places
    named = {target: who for target, who in found.items() if target.startswith("#")}
    yield from _by_name(workspace, bot, named)
    reached = []
    for target, who in found.items():
        if target in named:
            continue
        if _is_person(target):
            if "@" not in target and bot.scopes is not None and "users:read" not in bot.scopes:
                yield _unknown([target], "users:read")
                continue
            why = workspace.person(target)
        else:
            why = workspace.history(target)
        if why is None:
            reached.append(target)
        else:
            yield _SLACK.failure(f"{target} ({who}) cannot be reached: {why.reason}.", _remedy(why))
    if reached:
        yield _SLACK.ok(f"Found: {', '.join(reached)}.")


def _by_name(workspace: Workspace, bot: Bot, named: Mapping[str, str]) -> Iterator[Remark]:
    public, private = (bot.scopes is None or scope in bot.scopes for scope in (_PUBLIC, _PRIVATE))
    if not public and not private:
        yield _unknown(named, f"{_PUBLIC} and {_PRIVATE}")
        return
    joined = workspace.channels(public=public, private=private)
    if isinstance(joined, Unreadable):
        yield _SLACK.warning(f"Which channels the bot is in is not known: {joined.reason}.", _remedy(joined))
        return
    of_name: dict[str, list[Channel]] = defaultdict(list)
    for channel in joined:
        of_name[channel.name].append(channel)
    there = []
    for target, who in named.items():
        channels = of_name.get(target.removeprefix("#"), [])
        if not channels:
            yield _outside(bot, target, who, private=private)
        elif all(channel.archived for channel in channels):
            yield _SLACK.failure(
                f"{target} ({who}) is archived: nothing can be posted there.",
                "Unarchive it, or name another channel.",
            )
        else:
            there.append(target)
    if there:
        yield _SLACK.ok(f"The bot is in {', '.join(there)}.")


def _outside(bot: Bot, target: str, who: str, *, private: bool) -> Remark:
    todo = f"Open {target} in Slack and say /invite @{bot.name}; make the channel first where there is none."
    if bot.scopes is not None and "chat:write.public" in bot.scopes:
        return _SLACK.warning(
            f"The bot is not in {target} ({who}): it can post there if that is a public channel, and cannot "
            "look for a notice after an unclear send.",
            todo,
        )
    if not private:
        return _SLACK.warning(
            f"The bot is in no public channel {target} ({who}); whether it is in a private one is not known.",
            f"{todo} With the scope {_PRIVATE} this can be seen.",
        )
    return _SLACK.failure(f"The bot is not in {target} ({who}), or there is no such channel.", todo)


def _groups(patient: Patient) -> Iterator[Remark]:
    workspace = _opened(patient)
    wanted = targets(patient).groups if workspace is not None else {}
    if workspace is None or not wanted:
        return
    known = workspace.groups()
    if isinstance(known, Unreadable):
        yield _SLACK.warning(
            f"Whether the user groups {', '.join(wanted)} exist is not known: {known.reason}.",
            "With the scope usergroups:read this can be seen.",
        )
        return
    for group, who in wanted.items():
        if group not in known:
            yield _SLACK.warning(
                f"There is no user group {group} ({who}): nobody is mentioned.",
                "Copy the group's id from its page in Slack, S and letters, into owners.toml.",
            )
    if set(wanted) <= known:
        yield _SLACK.ok(f"Found the user groups {', '.join(wanted)}.")


def _unknown(names: Iterable[str], scope: str) -> Remark:
    return _SLACK.warning(
        f"Whether {', '.join(names)} can be reached is not known.",
        f"With the scope {scope} this can be seen; deliveries do not need it.",
    )


def _is_person(target: str) -> bool:
    return "@" in target or target.startswith(("U", "W"))


def _opened(patient: Patient) -> Workspace | None:
    if patient.offline or patient.settings is None or not patient.settings.slack.enabled:
        return None
    return Workspace(patient.settings.slack)


def _remedy(why: Unreadable) -> str:
    for word, todo in (
        (
            "invalid_auth",
            "The token is revoked or mistyped: copy the app's bot token (xoxb-) once more.",
        ),
        ("token_revoked", "The token was revoked: install the app again, and set the new token."),
        ("account_inactive", "The app was removed from the workspace: install it again."),
        ("missing_scope", "Add the scope under OAuth & Permissions of the Slack app, and install it again."),
        ("ratelimited", "Slack asks to wait: try again in a minute."),
        ("users_not_found", "Look at the address: Slack knows nobody by it."),
        ("user_not_found", "Look at the id: Slack knows nobody by it."),
        ("deactivated", "Name somebody else in owners.toml."),
        ("channel_not_found", "Look at the id, and invite the bot: a private channel is hidden until then."),
        ("not_in_channel", "Invite the bot to the channel."),
        ("no usable answer", "Look whether this machine reaches Slack: proxy, firewall, its status page."),
    ):
        if word in why.reason:
            return todo
    return "Look the word up in Slack's reference of errors, or try again."


CHECKS = (
    Check("whether there is a token", _token),
    Check("what the token may do", _scopes),
    Check("whether owners can be reached", _places),
    Check("whether user groups are there", _groups),
)
