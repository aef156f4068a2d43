"""The wire to Slack: its own client, that asks once, says nothing of a token and goes where it is told.

Never sends anything by itself.
"""

import logging

from slack_sdk import WebClient

from recon.model.errors import ConfigurationError
from recon.model.settings import SlackSettings


def client(settings: SlackSettings) -> WebClient:
    """Return a client; it opens nothing yet.

    Raises:
        ConfigurationError: there is no token.
    """
    if not settings.enabled:
        raise ConfigurationError("SLACK_BOT_TOKEN is not set; expected a bot token that may post messages.")
    # The client's debug lines print whole bodies, and its error lines go to whoever listens.
    quiet = logging.getLogger("recon.slack_sdk")
    quiet.setLevel(logging.CRITICAL)
    made = WebClient(
        settings.bot_token.reveal(),
        base_url=settings.base_url or WebClient.BASE_URL,
        timeout=settings.timeout_seconds,
        retry_handlers=[],
        logger=quiet,
    )
    # Its own reading of the environment's proxies does not know NO_PROXY; without it urllib's does.
    made.proxy = None
    return made
