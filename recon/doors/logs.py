"""Logs as JSON lines on standard error, of which no secret ever becomes a part.

Never decides what is logged: whoever works does.
"""

import logging
import re
import sys
from collections.abc import Iterable, MutableMapping
from typing import Any, TextIO

import structlog

from recon.model.settings import Settings

_STARS = "***"
# What a secret looks like, whoever said it: the provider's keys, Slack's tokens, passwords in addresses.
_LOOKS = re.compile(
    r"\b(?:[sr]k_(?:live|test)_\w+|xox[a-z]-[\w-]+|xapp-[\w-]+|whsec_\w+)|(?<=://)[^/\s@]*:[^/\s@]+(?=@)"
)
_SHORTEST = 6  # A shorter secret protects nothing, and its letters would be starred out of ordinary words.


def configure(settings: Settings | None = None, *, stream: TextIO | None = None) -> None:
    """Log JSON lines from here on, those of libraries too; settings name the secrets to keep out."""
    secrets = _secrets(settings) if settings is not None else ()
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        Redaction(secrets),
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer(sort_keys=True)],
        logger_factory=structlog.WriteLoggerFactory(file=stream or sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(sort_keys=True),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


class Redaction:
    """A step of logging that puts stars in the place of secrets, in every text however deep."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = tuple(secret for secret in secrets if len(secret) >= _SHORTEST)

    def __call__(
        self, _logger: object, _method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        """Return the event without secrets."""
        return {name: self._clean(value) for name, value in event.items()}

    def _clean(self, value: object) -> object:
        if isinstance(value, str):
            for secret in self._secrets:
                value = value.replace(secret, _STARS)
            return _LOOKS.sub(_STARS, value)
        if isinstance(value, dict):
            return {name: self._clean(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._clean(inner) for inner in value]
        return value if value is None or isinstance(value, bool | int | float) else self._clean(str(value))


def _secrets(settings: Settings) -> tuple[str, ...]:
    told = (
        settings.database_url,
        settings.intents.url if settings.intents is not None else None,
        settings.provider.api_key,
        settings.slack.bot_token,
        settings.slack.app_token,
        settings.slack.signing_secret,
        settings.heartbeat_url,
    )
    return tuple(secret.reveal() for secret in told if secret)
