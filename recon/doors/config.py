"""The configuration files and the environment in, one Settings out.

Later wins: the shipped defaults, the files that RECON_CONFIG names (else ./config), the environment. Secrets
come from the environment only, or from files it names. Never says what a key means: model/settings.py does.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource
from pydantic_settings.sources.utils import parse_env_vars

from recon.model import documents, policies
from recon.model import settings as model
from recon.model.addresses import loopback
from recon.model.documents import Document
from recon.model.errors import ConfigurationError
from recon.model.records.results import Policy
from recon.model.settings import Secret, Settings

_FILES = ("recon.toml", "owners.toml", "tools.toml")  # In the order in which they are read.
_SECRET_FILE_BYTES = 65_536  # A key fits a thousand times; a mistaken path to something big does not hang us.
# Where a shell keeps the pipes of <(command), into which somebody writes; any other may hang us for ever.
_SHELL_PIPES = (Path("/dev/fd"), Path("/proc/self/fd"))
_LONG = 32  # Characters of a secret that signs or admits: 128 bits even in hexadecimal.
_CONFIG_BYTES = 1_000_000  # As above: an owners.toml of ten thousand rules fits.


def load(environ: Mapping[str, str] | None = None, path: Path | None = None) -> Settings:
    """Return what this process was told.

    environ: None is the process's own. path: a folder with recon.toml, owners.toml and tools.toml, or a
    recon.toml; None is what RECON_CONFIG names, else ./config where it exists. An owners.toml without
    [[severities]] has the shipped ones; a tools.toml adds to the shipped tools.

    Raises:
        ConfigurationError: a file or variable cannot be read, or does not say what it should.
    """
    environ = os.environ if environ is None else environ
    shipped = _shipped()
    settings = model.build(_document(shipped / "recon.toml"), source="the shipped recon.toml")
    owners = _document(shipped / "owners.toml")
    tools = [_document(shipped / "tools.toml")]
    for file in _chosen(environ, path):
        if file.name == "owners.toml":
            owners = _rated(_document(file), like=owners)
        elif file.name == "tools.toml":
            tools.append(_document(file))
        else:
            settings = model.build(_document(file), base=settings, source=str(file))
    told = replace(settings, owners=owners, tools=tuple(tools))
    return _with_environment(told, _environment(environ))


def policy(path: Path) -> Policy:
    """Return the default graces with those that a file names, at its top or in a table [policy].

    Raises:
        ConfigurationError: the file cannot be read, or names what is no grace.
    """
    return policies.read(_document(path), source=str(path))


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable that is read. file: the one that holds its value; None where it is in the variable."""

    name: str
    told: bool
    file: Path | None


def sources(environ: Mapping[str, str], path: Path | None = None) -> tuple[Path, ...]:
    """Return the files that are read after the shipped defaults, in that order.

    Raises:
        ConfigurationError: there is nothing where the environment or the path says.
    """
    return tuple(_chosen(environ, path))


def variables(environ: Mapping[str, str]) -> tuple[Variable, ...]:
    """Return every variable that is read, and whether it is set; never what it holds."""
    found = []
    for name in ("RECON_CONFIG", *_variables()):
        file = environ.get(f"{name}_FILE", "").strip() if name in _variables() else ""
        told = bool(file or environ.get(name, "").strip())
        found.append(Variable(name, told, Path(file).expanduser() if file else None))
    return tuple(found)


def strangers(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables that begin like ours and that nobody reads."""
    ours = {"RECON_CONFIG", *_variables(), *(f"{name}_FILE" for name in _variables())}
    return tuple(sorted(name for name in environ if name.startswith("RECON_") and name not in ours))


def secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return every secret that the environment holds or names a file of, and the passwords inside them."""
    found = []
    for name in _variables():
        for value in (environ.get(name, "").strip(), _peek(environ.get(f"{name}_FILE", "").strip())):
            password = unquote(_password(value) or "")
            found += [part for part in (value, _password(value) or "", password) if part]
    open_names = {environ.get(name, "").strip() for name in ("RECON_STRIPE_BASE_URL", "RECON_SLACK_BASE_URL")}
    return tuple(dict.fromkeys(secret for secret in found if secret not in open_names))


def _peek(file: str) -> str:
    """Return what a secret's file holds; "" where it cannot be read, which load says."""
    path = Path(file).expanduser()
    try:
        if path.is_fifo():  # What was in it has been read.
            return ""
        with path.open("rb") as opened:
            return opened.read(_SECRET_FILE_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError):  # Not there, a folder, or no text.
        return ""


def _password(value: str) -> str | None:
    try:
        return urlsplit(value).password
    except ValueError:  # No address.
        return None


def shipped(name: str) -> Path:
    """Return a folder of settings that is shipped beside the defaults, such as "demo"."""
    return Path(str(_shipped() / name))


def _shipped() -> Traversable:
    package = files("recon")
    wheel = package / "_config"
    return wheel if wheel.is_dir() else package / ".." / "config"


def _chosen(environ: Mapping[str, str], path: Path | None) -> list[Path]:
    named = environ.get("RECON_CONFIG", "").strip()
    if path is None and not named:
        return _inside(Path("config"))
    place = path or Path(named).expanduser()
    told_by = "RECON_CONFIG" if path is None else "the given path"
    if place.is_dir():
        found = _inside(place)
        if not found:
            raise ConfigurationError(f"{told_by} names {place}, which holds none of {', '.join(_FILES)}.")
        return found
    if not place.is_file():
        raise ConfigurationError(f"{told_by} names {place}, which is neither a file nor a folder.")
    others = (place.with_name(name) for name in _FILES[1:])
    return [place, *(other for other in others if other.is_file() and other != place)]


def _inside(folder: Path) -> list[Path]:
    return [file for name in _FILES if (file := folder / name).is_file()]


def _rated(owners: Document, *, like: Document) -> Document:
    """Return an owners.toml with the severities of another where it has none.

    Else every case would be medium, and quiet hours would hold the largest till the morning.
    """
    if "severities" in owners or "severities" not in like:
        return owners
    return replace(owners, content={**owners.content, "severities": like["severities"]})


def _document(file: Traversable) -> Document:
    """Return what a file says, with the lines that it says it on."""
    try:
        content = file.read_bytes()
        if len(content) > _CONFIG_BYTES:
            raise ConfigurationError(
                f"{file} is larger than {_CONFIG_BYTES} bytes; expected settings in TOML."
            )
        return documents.read(content.decode("utf-8-sig"), file=str(file))
    except OSError as error:  # The file is gone, or may not be read.
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        # Not TOML; the reason names line and column.
        reason = error if isinstance(error, tomllib.TOMLDecodeError) else "it is not UTF-8"
        raise ConfigurationError(f"{file} is not TOML: {reason}.") from None


_BLANK = re.compile(r"[\s\x00-\x1f\x7f]")  # urllib drops some of them in silence, and keeps others.


def _base_url(value: str) -> str:
    if not value:
        return value
    parts = urlsplit(value)
    try:
        port = parts.port
    except ValueError:  # No number, or one that no port has.
        port = 0
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0 or _BLANK.search(value):
        raise ValueError("must be a web address that begins with https://")
    if "@" in parts.netloc:
        raise ValueError("must be a web address without a user and a password: they would replace the key")
    if parts.query or parts.fragment:
        raise ValueError("must be a web address without ? and #: paths are put behind it")
    if parts.scheme == "http" and not loopback(parts.hostname):
        raise ValueError("must begin with https:// (http:// is for this machine only: it would show the key)")
    return value.rstrip("/")


def _token(value: SecretStr) -> SecretStr:
    secret = value.get_secret_value()
    if not secret.isascii() or any(
        character.isspace() or not character.isprintable() for character in secret
    ):
        raise ValueError("must be one word of printable ASCII characters")
    return value


def _long(value: SecretStr) -> SecretStr:
    if 0 < len(value.get_secret_value()) < _LONG:
        raise ValueError(f"must have {_LONG} characters or more, which nobody guesses")
    return value


def _address(value: SecretStr) -> SecretStr:
    if value.get_secret_value() and "://" not in value.get_secret_value():
        raise ValueError("must be an address with ://, such as sqlite:///var/recon.db or https://...")
    return value


def _web_address(value: SecretStr) -> SecretStr:
    if value.get_secret_value() and not value.get_secret_value().startswith(("https://", "http://")):
        raise ValueError("must be a web address that begins with https://")
    return value


_Token = Annotated[SecretStr, AfterValidator(_token)]
_Long = Annotated[SecretStr, AfterValidator(_token), AfterValidator(_long)]
_Address = Annotated[SecretStr, AfterValidator(_address)]
_WebAddress = Annotated[SecretStr, AfterValidator(_web_address)]
_BaseUrl = Annotated[str, AfterValidator(_base_url)]


class _Environment(BaseSettings):
    """The variables that are read; an empty one counts as not set."""

    database_url: _Address = Field(SecretStr(""), validation_alias="RECON_DATABASE_URL")
    intents_url: _Address = Field(SecretStr(""), validation_alias="RECON_INTENTS_DATABASE_URL")
    api_key: _Token = Field(SecretStr(""), validation_alias="STRIPE_API_KEY")
    stripe_url: _BaseUrl = Field("", validation_alias="RECON_STRIPE_BASE_URL")
    bot_token: _Token = Field(SecretStr(""), validation_alias="SLACK_BOT_TOKEN")
    app_token: _Token = Field(SecretStr(""), validation_alias="SLACK_APP_TOKEN")
    signing_secret: _Token = Field(SecretStr(""), validation_alias="SLACK_SIGNING_SECRET")
    slack_url: _BaseUrl = Field("", validation_alias="RECON_SLACK_BASE_URL")
    heartbeat_url: _WebAddress = Field(SecretStr(""), validation_alias="RECON_HEARTBEAT_URL")

    client_secret: _Token = Field(SecretStr(""), validation_alias="RECON_OIDC_CLIENT_SECRET")
    cookie_secret: _Long = Field(SecretStr(""), validation_alias="RECON_COOKIE_SECRET")
    proxy_secret: _Long = Field(SecretStr(""), validation_alias="RECON_PROXY_SECRET")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the base class calls with these names
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return only what is handed in: the caller chooses the environment."""
        return (init_settings,)


class _Given(EnvSettingsSource):
    """Reads a given mapping where its base reads the process's environment."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        super().__init__(_Environment, case_sensitive=True, env_ignore_empty=True)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return parse_env_vars(self._environ, self.case_sensitive, self.env_ignore_empty)


def _environment(environ: Mapping[str, str]) -> _Environment:
    told = {name: _value(environ, name) for name in _variables()}
    try:
        return _Environment(**_Given(told)())
    except ValidationError as error:  # Its own text quotes the value, which may be a secret.
        first = error.errors(include_input=False, include_url=False)[0]
        reason = str(first["msg"]).removeprefix("Value error, ")
        raise ConfigurationError(f"{first['loc'][0]} {reason}; found something else.") from None


def _variables() -> tuple[str, ...]:
    aliases = (field.validation_alias for field in _Environment.model_fields.values())
    return tuple(alias for alias in aliases if isinstance(alias, str))


def _value(environ: Mapping[str, str], name: str) -> str:
    direct, file = environ.get(name, "").strip(), environ.get(f"{name}_FILE", "").strip()
    if not file:
        return direct
    if direct:
        raise ConfigurationError(f"{name} and {name}_FILE are both set; expected one of them.")
    path = Path(file).expanduser()
    # Somebody may have put the secret itself in the path's place.
    shown = file if "/" in file and "://" not in file else "something"
    try:
        if path.is_fifo() and path.parent not in _SHELL_PIPES:
            raise ConfigurationError(f"{name}_FILE names {shown}, which is a pipe; expected a file.")
        with path.open("rb") as opened:
            content = opened.read(_SECRET_FILE_BYTES).decode().strip()
    except (
        OSError,
        UnicodeDecodeError,
    ) as error:  # The file is gone, may not be read, or holds something else.
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ConfigurationError(f"{name}_FILE names {shown}, which cannot be read: {reason}.") from None
    if not content:
        raise ConfigurationError(f"{name}_FILE names {shown}, which is empty.")
    return content


def _with_environment(settings: Settings, told: _Environment) -> Settings:
    intents = settings.intents
    if told.intents_url.get_secret_value():
        if intents is None:
            raise ConfigurationError(
                "RECON_INTENTS_DATABASE_URL is set, but no section [intents] in recon.toml says what to read."
            )
        intents = replace(intents, url=_secret(told.intents_url))
    return replace(
        settings,
        database_url=_secret(told.database_url) or settings.database_url,
        intents=intents,
        provider=replace(settings.provider, api_key=_secret(told.api_key), base_url=told.stripe_url or None),
        slack=replace(
            settings.slack,
            bot_token=_secret(told.bot_token),
            app_token=_secret(told.app_token),
            signing_secret=_secret(told.signing_secret),
            base_url=_slack_url(told.slack_url),
        ),
        heartbeat_url=_secret(told.heartbeat_url),
        sign_in=replace(
            settings.sign_in,
            client_secret=_secret(told.client_secret),
            cookie_secret=_secret(told.cookie_secret),
            proxy_secret=_secret(told.proxy_secret),
        ),
    )


def _secret(value: SecretStr) -> Secret:
    return Secret(value.get_secret_value())


def _slack_url(value: str) -> str | None:
    """Return the address that method names are appended to; a bare host has them under /api/, as Slack."""
    if not value:
        return None
    return f"{value}/" if urlsplit(value).path else f"{value}/api/"
