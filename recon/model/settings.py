"""Everything that can be configured: a mapping in, one frozen Settings out.

Never reads a file or the environment (doors/config.py does), and never holds a default that config/recon.toml does not
explain.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from recon.model.records.results import Policy
from recon.model.records.words import AccountId


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

    base_url: None is the provider's own. accounts: connected accounts beside the platform's own "".
    metadata_key: the metadata field that carries the intent key.
    """

    api_key: Secret = Secret("")
    base_url: str | None = None
    accounts: tuple[AccountId, ...] = ()
    metadata_key: str = "intent_key"
    connect_timeout_seconds: float = 5.0
    read_timeout_seconds: float = 30.0
    page_size: int = 100
    page_limit: int = 10_000


@dataclass(frozen=True, slots=True)
class PullSettings:
    """Which refunds each run reads.

    first_window: how far back the very first run reads. overlap: re-read before the watermark, because lists show
    items late. relist: how far back refunds are re-listed for late failures, one slice each run.
    """

    first_window: timedelta = timedelta(days=45)
    overlap: timedelta = timedelta(minutes=10)
    relist: timedelta = timedelta(days=45)
    relist_slices: int = 24


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

    @property
    def enabled(self) -> bool:
        """Return whether messages can be sent at all."""
        return bool(self.bot_token)


@dataclass(frozen=True, slots=True)
class DashboardSettings:
    """Where the dashboard is, for links and for listening. mode: "local" refuses to listen beyond loopback."""

    url: str = "http://127.0.0.1:8501"
    address: str = "127.0.0.1"
    port: int = 8501
    mode: str = "local"
    operator: str = "local operator"
    queue_page: int = 50


@dataclass(frozen=True, slots=True)
class IntentsMapping:
    """Somebody else's intents table: which of its columns are ours. Such a table is only read, never healed.

    columns: our name to theirs. statuses: their word to ours. url: None is recon's own database.
    amount_unit: "minor" or "major", stated and never guessed.
    """

    table: str
    columns: Mapping[str, str]
    statuses: Mapping[str, str] = field(default_factory=dict)
    url: Secret | None = None
    amount_unit: str = "minor"
    constants: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything one process was told.

    database_url: holds a password, so it is a Secret. surge_limit: new missing, orphan and stuck cases above this in
    one run are announced as one. stale_after: no complete run younger than this raises the alarm.
    """

    database_url: Secret = Secret("sqlite:///var/recon.db")
    policy: Policy = field(default_factory=Policy)
    provider: ProviderSettings = field(default_factory=ProviderSettings)
    pull: PullSettings = field(default_factory=PullSettings)
    lease: LeaseSettings = field(default_factory=LeaseSettings)
    slack: SlackSettings = field(default_factory=SlackSettings)
    dashboard: DashboardSettings = field(default_factory=DashboardSettings)
    intents: IntentsMapping | None = None
    surge_limit: int = 25
    stale_after: timedelta = timedelta(hours=2)
    heartbeat_url: Secret = Secret("")
    heartbeat_timeout_seconds: float = 5.0
    metrics_textfile: str | None = None
    owners: Mapping[str, object] = field(default_factory=dict)
