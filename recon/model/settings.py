"""Everything that can be configured: a mapping in, one frozen Settings out.

Never reads a file or the environment (doors/config.py does), and never holds a default that config/recon.toml
does not explain.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any

from recon.model import documents, mapping_toml, readers
from recon.model.dtypes import INTENTS
from recon.model.errors import ConfigurationError
from recon.model.mapping import Side
from recon.model.records.results import Policy
from recon.model.records.words import AccountId, Role
from recon.model.sections import SECTIONS


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A value that never shows: its repr and str are stars. reveal() is called only where it is used."""

    _value: str

    def reveal(self) -> str:
        """Return the secret itself."""
        return self._value

    def __bool__(self) -> bool:
        """Return whether there is one."""
        return bool(self._value)

    def __repr__(self) -> str:
        """Return stars."""
        return "Secret(***)"

    __str__ = __repr__


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """How the provider is reached.

    base_url: None is the provider's own. dashboard_url: where people look at its side. accounts: connected
    accounts beside the platform's own "". metadata_key: the metadata field that carries the intent key.
    requests_per_second: to one endpoint. retry_limit, retry_seconds: how often one account is asked again in
    one run, and waited for in all.
    """

    api_key: Secret = Secret("")
    base_url: str | None = None
    dashboard_url: str = "https://dashboard.stripe.com"
    accounts: tuple[AccountId, ...] = ()
    metadata_key: str = "intent_key"
    connect_timeout_seconds: float = 5.0
    read_timeout_seconds: float = 30.0
    page_size: int = 100
    page_limit: int = 10_000
    requests_per_second: float = 20.0
    retry_limit: int = 40
    retry_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class PullSettings:
    """Which refunds each run reads, and which of them an intent is asked for.

    first_window: how far back the very first run reads. overlap: re-read before the watermark, because lists
    show items late. relist: how far back refunds are re-listed for late failures, one slice each run.
    intents_from: refunds made before it need no intent; None is decided at each account's first reading.
    """

    first_window: timedelta = timedelta(days=45)
    overlap: timedelta = timedelta(minutes=10)
    relist: timedelta = timedelta(days=45)
    relist_slices: int = 24
    intents_from: datetime | None = None


@dataclass(frozen=True, slots=True)
class LeaseSettings:
    """How long a run may write without renewing."""

    duration: timedelta = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class SlackSettings:
    """How Slack is reached. enabled is whether a token is there; without one, notices wait in the outbox."""

    bot_token: Secret = Secret("")
    app_token: Secret = Secret("")
    signing_secret: Secret = Secret("")
    base_url: str | None = None
    operators_channel: str = "#refund-operators"
    timeout_seconds: int = 10
    look_up_after: timedelta = timedelta(seconds=70)
    attempt_limit: int = 8
    claim: timedelta = timedelta(seconds=60)
    retry_after_limit: timedelta = timedelta(minutes=5)
    messages_per_minute: int = 200

    @property
    def enabled(self) -> bool:
        """Return whether messages can be sent at all."""
        return bool(self.bot_token)

    @property
    def answers(self) -> bool:
        """Return whether clicks in Slack reach us, by Socket Mode or by HTTP."""
        return bool(self.app_token or self.signing_secret)


@dataclass(frozen=True, slots=True)
class DashboardSettings:
    """Where the dashboard is, for links and for listening.

    mode: "local" refuses to listen beyond loopback, "oidc" signs people in at an OpenID provider, "proxy"
    believes a proxy that knows a secret.
    """

    url: str = "http://127.0.0.1:8501"
    address: str = "127.0.0.1"
    port: int = 8501
    mode: str = "local"
    operator: str = "local operator"
    queue_page: int = 50


@dataclass(frozen=True, slots=True)
class SignInSettings:
    """Who may come in beyond local mode, and as what.

    metadata_url: the OpenID provider's own description of itself. session: how long somebody stays signed in.
    user_header, groups_header: what the proxy says of a person; secret_header: what proves that it is the
    proxy. scopes: what the provider is asked for. groups_claim: where it says the groups. groups: of the
    provider or the proxy, and the role of each, the first that fits; people: verified e-mail addresses,
    before any group. Whom neither names has no access.
    """

    metadata_url: str = ""
    client_id: str = ""
    scopes: str = "openid email profile"
    groups_claim: str = "groups"
    client_secret: Secret = Secret("")
    cookie_secret: Secret = Secret("")
    session: timedelta = timedelta(hours=8)
    user_header: str = "X-Forwarded-Email"
    groups_header: str = "X-Forwarded-Groups"
    secret_header: str = "X-Recon-Proxy-Secret"  # noqa: S105 -- a header's name
    proxy_secret: Secret = Secret("")
    groups: tuple[tuple[str, Role], ...] = ()
    people: tuple[tuple[str, Role], ...] = ()


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """How long the guarded tool waits, and when it may send again.

    deadline: of one call, look-up included; shorter than the lease, in which one caller alone may send.
    absent_after: between two complete look-ups that found nothing. resend_within: since the first send; the
    provider forgets a key after 24 hours. settle_limit: intents that one sweep looks up.
    """

    deadline_seconds: float = 20.0
    send_timeout_seconds: float = 10.0
    lease: timedelta = timedelta(seconds=45)
    absent_after: timedelta = timedelta(seconds=60)
    resend_within: timedelta = timedelta(hours=23)
    settle_limit: int = 200


@dataclass(frozen=True, slots=True)
class IntentsMapping:
    """Somebody else's intents table. Such a table is only read, never healed.

    side: which of its columns are ours, as in a map of files. url: None is recon's own database.
    """

    table: str
    side: Side
    url: Secret | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything one process was told.

    database_url: holds a password, so it is a Secret. surge_limit: new missing, orphan and stuck cases above
    this in one run are announced as one. stale_after: no complete run younger than this raises the alarm.
    four_eyes: from which amount at risk on, in minor units by currency, one person proposes and another
    approves; a currency that is not named needs one person.
    metrics_address, metrics_port: where the scheduler serves its metrics; port 0 serves none.
    tools: what tools.toml says, the shipped one first; registry.parse reads it.
    """

    database_url: Secret = Secret("sqlite:///var/recon.db")
    policy: Policy = field(default_factory=Policy)
    provider: ProviderSettings = field(default_factory=ProviderSettings)
    pull: PullSettings = field(default_factory=PullSettings)
    lease: LeaseSettings = field(default_factory=LeaseSettings)
    slack: SlackSettings = field(default_factory=SlackSettings)
    dashboard: DashboardSettings = field(default_factory=DashboardSettings)
    sign_in: SignInSettings = field(default_factory=SignInSettings)
    guard: GuardSettings = field(default_factory=GuardSettings)
    four_eyes: Mapping[str, int] = field(default_factory=dict)
    intents: IntentsMapping | None = None
    surge_limit: int = 25
    stale_after: timedelta = timedelta(hours=2)
    heartbeat_url: Secret = Secret("")
    heartbeat_timeout_seconds: float = 5.0
    metrics_textfile: str | None = None
    metrics_address: str = "127.0.0.1"
    metrics_port: int = 0
    owners: Mapping[str, object] = field(default_factory=dict)
    tools: tuple[Mapping[str, object], ...] = ()


def build(
    mapping: Mapping[str, object], *, base: Settings | None = None, source: str = "recon.toml"
) -> Settings:
    """Return base (the defaults where it is None) with everything that the mapping says put over it.

    mapping: as recon.toml is read. source: where it came from, for messages. Secrets are never taken from it.

    Raises:
        ConfigurationError: a key is unknown or holds a secret, or its value is not what the key takes.
    """
    built = base or Settings()
    for section, content in mapping.items():
        _refuse_secrets(section, content, source)
        if section not in SECTIONS:
            raise _unknown(section, SECTIONS, source)
        if not isinstance(content, Mapping):
            raise ConfigurationError(f"{source}: {section} must be a section of keys, found {content!r:.80}.")
        told = _told(section, content, source)
        attribute = SECTIONS[section][0]
        if attribute == "intents":
            built = replace(built, intents=_intents(told, mapping, source))
        elif attribute is None:
            built = replace(built, **told)
        else:
            built = replace(built, **{attribute: replace(getattr(built, attribute), **told)})
    _check_together(built, source)
    return built


def _told(section: str, content: Mapping[str, object], source: str) -> dict[str, Any]:
    keys = SECTIONS[section][1]
    told: dict[str, Any] = {}
    for name, value in content.items():
        if name not in keys:
            raise _unknown(f"{section}.{name}", (f"{section}.{key}" for key in keys), source)
        target, read = keys[name]
        try:
            told[target] = read(value)
        except readers.Unknown as unknown:  # A section of somebody's own words has one that means nothing.
            raise ConfigurationError(f"{source}: {section}.{name} {unknown}.") from None
        except ValueError as unfit:  # A reader's own way to say what it would have taken.
            found = f"the text {value!r}" if isinstance(value, str) else f"{value!r}"
            raise ConfigurationError(
                f"{source}: {section}.{name} must be {unfit}; found {found:.80}."
            ) from None
    return told


def _unknown(key: str, known: Iterable[str], source: str) -> ConfigurationError:
    near = get_close_matches(key, list(known), n=1, cutoff=0.0)[0]
    return ConfigurationError(f"{source}: {key} is not a setting; the nearest one is {near}.")


def _intents(told: Mapping[str, Any], mapping: Mapping[str, object], source: str) -> IntentsMapping:
    """Return the section [intents], read as the same side of a map of files is."""

    def wrong(reason: object, *keys: str) -> ConfigurationError:
        at = documents.line(mapping, "intents", *keys)
        where = source if at is None else f"{source}, line {at}"
        return ConfigurationError(f"{where}: {'.'.join(('intents', *keys))} {reason}.")

    for name in ("table", "columns"):
        if name not in told:
            raise wrong("is missing; [intents] needs table and columns", name)
    side = mapping_toml.side(INTENTS, {key: told[key] for key in told if key != "table"}, wrong)
    for name in ("key", "amount_minor", "currency", "status", "created_at"):
        if name not in side.columns and not (name == "amount_minor" and "amount" in side.columns):
            raise wrong(f"must say which of {told['table']}'s columns holds {name}", "columns")
    return IntentsMapping(told["table"], side)


def _check_together(settings: Settings, source: str) -> None:
    slack = settings.slack
    timeout = timedelta(seconds=slack.timeout_seconds)
    if slack.claim <= 2 * timeout:
        raise ConfigurationError(
            f"{source}: slack.claim_seconds must be more than twice slack.timeout_seconds, so that a send "
            f"has ended before its claim does; found {slack.claim.total_seconds():g}."
        )
    if slack.look_up_after < timeout + timedelta(minutes=1):
        raise ConfigurationError(
            f"{source}: slack.look_up_after_seconds must be slack.timeout_seconds and a minute or more, "
            f"because messages can show late; found {slack.look_up_after.total_seconds():g}."
        )
    guard = settings.guard
    if guard.send_timeout_seconds > guard.deadline_seconds:
        raise ConfigurationError(
            f"{source}: guard.send_timeout_seconds must be at most guard.deadline_seconds; found "
            f"{guard.send_timeout_seconds:g} and {guard.deadline_seconds:g}."
        )
    if guard.lease <= timedelta(seconds=guard.deadline_seconds):
        raise ConfigurationError(
            f"{source}: guard.lease_seconds must be more than guard.deadline_seconds, so that a call has "
            f"ended before its lease does; found {guard.lease.total_seconds():g}."
        )


# What a secret is called, and the variable it must come from instead.
_SECRET_KEYS = {
    "api_key": "STRIPE_API_KEY",
    "bot_token": "SLACK_BOT_TOKEN",
    "app_token": "SLACK_APP_TOKEN",
    "signing_secret": "SLACK_SIGNING_SECRET",
    "database_url": "RECON_DATABASE_URL",
    "heartbeat_url": "RECON_HEARTBEAT_URL",
    "client_secret": "RECON_OIDC_CLIENT_SECRET",
    "cookie_secret": "RECON_COOKIE_SECRET",
    "proxy_secret": "RECON_PROXY_SECRET",
    "intents.url": "RECON_INTENTS_DATABASE_URL",
}
# What a secret looks like: the prefixes that Stripe and Slack document, and an address with a password.
_SECRET_LOOK = re.compile(r"\b(?:[sr]k_(?:live|test)_|xox[a-z]-|xapp-|whsec_)|://[^/\s:@]*:[^/\s@]+@")


def _refuse_secrets(key: str, value: object, source: str) -> None:
    variable = _SECRET_KEYS.get(key) or _SECRET_KEYS.get(key.rsplit(".", 1)[-1])
    if variable is not None:
        raise ConfigurationError(
            f"{source}: {key} is a secret and is not read from this file; set {variable}, or set "
            f"{variable}_FILE to the path of a file that holds it."
        )
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _refuse_secrets(f"{key}.{name}", inner, source)
    elif isinstance(value, list):
        for inner in value:
            _refuse_secrets(key, inner, source)
    elif isinstance(value, str) and _SECRET_LOOK.search(value):
        raise ConfigurationError(
            f"{source}: {key} holds what looks like a secret; secrets come from the environment only, and "
            "one that stood in a file should be replaced."
        )
