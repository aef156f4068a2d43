"""What the provider's key may change, asked in a way that changes nothing.

The provider takes what a request needs from its path and method, and refuses with 403 a key that lacks it. An
update of an object that does not exist, without a single parameter, has no effect whoever sends it: it is
refused with 403, or it is allowed and finds nothing. Never sends a request that creates anything.
"""

from collections.abc import Mapping

import stripe
from stripe import RequestsClient, StripeClient

from recon.model.errors import ConfigurationError
from recon.model.settings import ProviderSettings

# What a key that leaks could do harm with, and where an update of one is asked for: metadata is all it takes.
# Source: https://docs.stripe.com/api/refunds/update, /payouts/update, /transfers/update
_UPDATES = {
    "refunds": "/v1/refunds/re_recon_asks_and_changes_nothing",
    "payouts": "/v1/payouts/po_recon_asks_and_changes_nothing",
    "transfers": "/v1/transfers/tr_recon_asks_and_changes_nothing",
}
_FORBIDDEN = 403
_NOT_FOUND = 404


def writable(settings: ProviderSettings, *, version: str) -> Mapping[str, bool | None]:
    """Return of refunds, payouts and transfers whether the key may write them; None where it did not show.

    version: the provider's API version to speak.

    Raises:
        ConfigurationError: there is no key.
    """
    if not settings.api_key:
        raise ConfigurationError("STRIPE_API_KEY is not set; expected a key that may read refunds.")
    # An address of our own is on this machine: a proxy for the world outside must not get the key.
    direct = RequestsClient._Proxy(http="", https="") if settings.base_url else None  # noqa: SLF001 - no other name
    timeouts = (settings.connect_timeout_seconds, settings.read_timeout_seconds)
    client = StripeClient(
        settings.api_key.reveal(),
        stripe_version=version,
        max_network_retries=0,
        base_addresses={"api": settings.base_url} if settings.base_url else None,
        http_client=RequestsClient(timeout=timeouts, proxy=direct),
    )
    return {name: _allowed(client, path) for name, path in _UPDATES.items()}


def _allowed(client: StripeClient, path: str) -> bool | None:
    try:
        client.raw_request("post", path)
    except stripe.PermissionError:  # What we hope for: a key that reads.
        return False
    except stripe.StripeError as error:  # No such object, no such path, or no usable answer.
        missing = error.http_status == _NOT_FOUND and error.code == "resource_missing"
        return True if missing else None
    return True
