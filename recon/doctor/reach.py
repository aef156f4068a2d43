"""Whether notices reach whom they are for: channels, people and groups as Slack has them. Posts nothing."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from recon.doctor.patients import Patient, Pen
from recon.doors.slack.workspace import Bot, Channel, Workspace
from recon.model.errors import ConfigurationError
from recon.model.records.deliveries import Unreadable
from recon.model.records.owners import is_group
from recon.model.records.remarks import Remark, Section
from recon.model.settings import SlackSettings
from recon.rules import ownership

SLACK = Pen(Section.SLACK)
PUBLIC, PRIVATE = "channels:read", "groups:read"
# What else may stand in a bot token's place. Source: https://docs.slack.dev/authentication/tokens
_WRONG_TOKENS = {
    "xoxp-": "a person's token: messages would be that person's",
    "xapp-": "the app's own token, which belongs into SLACK_APP_TOKEN",
    "xoxe-": "a token that only renews others",
    "xoxe.xoxp-": "a person's token, and one that ends by itself",
}

COPY_ANEW = "Copy the Bot User OAuth Token (xoxb-) from OAuth & Permissions of the Slack app."


@dataclass(frozen=True, slots=True)
class Targets:
    """Whom notices go to. places: channels, people, addresses. groups: to mention. Each with who says so."""

    places: Mapping[str, str]
    groups: Mapping[str, str]


def targets(patient: Patient) -> Targets:
    """Return everybody that owners.toml and recon.toml name; the first who names them."""
    assert patient.settings is not None, "only asked with a token"
    named = [(patient.settings.slack.operators_channel, "slack.operators_channel")]
    groups: list[tuple[str | None, str]] = []
    try:
        found = ownership.parse(patient.settings.owners)
    except ConfigurationError:  # It is said of the owners.
        return sorted_out(named, groups)
    for rule in found.rules:
        named.append((rule.owner.target, f"rule {rule.owner.rule!r}"))
        groups.append((rule.mention, f"rule {rule.owner.rule!r}"))
    for owner in found.owners.values():  # Those who are only asked when nobody answers, too.
        named.append((owner.target, f"owner {owner.name!r}"))
        groups.append((owner.group, f"owner {owner.name!r}"))
    return sorted_out(named, groups)


def sorted_out(named: Iterable[tuple[str, str]], groups: Iterable[tuple[str | None, str]]) -> Targets:
    """Return these targets, each with the first who names it; a user group reads nowhere of its own."""
    places: dict[str, str] = {}
    mentioned: dict[str, str] = {}
    for target, who in named:
        if target:
            (mentioned if is_group(target) else places).setdefault(target, who)
    for group, who in groups:
        if group:
            mentioned.setdefault(group, who)
    return Targets(places, mentioned)


def opened(patient: Patient) -> Workspace | None:
    """Return the workspace to ask; None where it must not or cannot be asked."""
    if patient.offline or patient.settings is None or not patient.settings.slack.enabled:
        return None
    return None if wrong(patient.settings.slack) else Workspace(patient.settings.slack)


def wrong(slack: SlackSettings) -> str | None:
    """Return what stands in the place of the bot's token; None where nothing shows against it."""
    token = slack.bot_token.reveal()
    return next((what for prefix, what in _WRONG_TOKENS.items() if token.startswith(prefix)), None)


def reached(workspace: Workspace, bot: Bot, places: Mapping[str, str]) -> Iterator[Remark]:
    """Yield of each place, with who names it, whether a notice arrives there and can be looked for."""
    named = {target: who for target, who in places.items() if not is_person(target)}
    if named:
        yield from _channels(workspace, bot, named)
    known = []
    for target, who in places.items():
        if target in named:
            continue
        if "@" not in target and bot.scopes is not None and "users:read" not in bot.scopes:
            yield _unknown([target], "users:read")
            continue
        why = workspace.person(target)
        if why is None:
            known.append(target)
        else:
            yield SLACK.failure(f"{target} ({who}) cannot be reached: {why.reason}.", remedy(why))
    if known:
        yield SLACK.ok(f"Found: {', '.join(known)}.")


def _channels(workspace: Workspace, bot: Bot, named: Mapping[str, str]) -> Iterator[Remark]:
    """Yield whether the bot is in channels, by name or id, and can read what it has posted there."""
    public, private = (bot.scopes is None or scope in bot.scopes for scope in (PUBLIC, PRIVATE))
    joined: tuple[Channel, ...] | Unreadable = ()
    if public or private:
        joined = workspace.channels(public=public, private=private)
    else:
        yield SLACK.warning(
            f"Whether {', '.join(named)} can be reached is not known.",
            f"With the scopes {PUBLIC} and {PRIVATE} this can be seen.",
        )
    if isinstance(joined, Unreadable):
        yield SLACK.warning(f"Which channels the bot is in is not known: {joined.reason}.", remedy(joined))
    blind = isinstance(joined, Unreadable) or not (public or private)
    of_name: dict[str, list[Channel]] = defaultdict(list)
    for channel in () if isinstance(joined, Unreadable) else joined:
        of_name[f"#{channel.name}"].append(channel)
        of_name[channel.id].append(channel)
    there = []
    for target, who in named.items():
        by_name, channels = target.startswith("#"), of_name.get(target, [])
        if by_name and not channels:
            if not blind:
                yield _outside(bot, target, who, private=private)
            continue
        if channels and all(channel.archived for channel in channels):
            yield SLACK.failure(
                f"{target} ({who}) is archived: nothing can be posted there.",
                "Unarchive it, or name another channel.",
            )
            continue
        why = workspace.history(channels[0].id if channels else target)
        if why is None:
            there.append(target)
        else:
            yield _unread(target, who, why, found=bool(channels))
    if there:
        yield SLACK.ok(f"The bot is in {', '.join(there)}, and can look for its messages there.")


def _unread(target: str, who: str, why: Unreadable, *, found: bool) -> Remark:
    """Return what it means that a channel's history cannot be read. found: the bot is in it."""
    if found:
        return SLACK.failure(
            f"{target} ({who}) cannot be read, to look for a notice after an unclear send: {why.reason}.",
            remedy(why),
        )
    return SLACK.failure(f"{target} ({who}) cannot be reached: {why.reason}.", remedy(why))


def _outside(bot: Bot, target: str, who: str, *, private: bool) -> Remark:
    todo = f"Open {target} in Slack and say /invite @{bot.name}; make the channel first where there is none."
    if bot.scopes is not None and "chat:write.public" in bot.scopes:
        return SLACK.warning(
            f"The bot is not in {target} ({who}): it can post there if that is a public channel, and cannot "
            "look for a notice after an unclear send.",
            todo,
        )
    if not private:
        return SLACK.warning(
            f"The bot is in no public channel {target} ({who}); whether it is in a private one is not known.",
            f"{todo} With the scope {PRIVATE} this can be seen.",
        )
    return SLACK.failure(f"The bot is not in {target} ({who}), or there is no such channel.", todo)


def mentioned(workspace: Workspace, wanted: Mapping[str, str]) -> Iterator[Remark]:
    """Yield whether user groups exist, each with who names it."""
    if not wanted:
        return
    known = workspace.groups()
    if isinstance(known, Unreadable):
        yield SLACK.warning(
            f"Whether the user groups {', '.join(wanted)} exist is not known: {known.reason}.",
            "With the scope usergroups:read this can be seen.",
        )
        return
    for group, who in wanted.items():
        if group not in known:
            yield SLACK.warning(
                f"There is no user group {group} ({who}): nobody is mentioned.",
                "Copy the group's id from its page in Slack, S and letters, into owners.toml.",
            )
    if set(wanted) <= known:
        yield SLACK.ok(f"Found the user groups {', '.join(wanted)}.")


def _unknown(names: Iterable[str], scope: str) -> Remark:
    return SLACK.warning(
        f"Whether {', '.join(names)} can be reached is not known.",
        f"With the scope {scope} this can be seen; deliveries do not need it.",
    )


def is_person(target: str) -> bool:
    """Return whether a target is one person, by address or id."""
    return "@" in target or target.startswith(("U", "W"))


def remedy(why: Unreadable) -> str:
    """Return what to do about what Slack answered."""
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
