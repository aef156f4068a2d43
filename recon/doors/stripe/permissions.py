"""What the provider's key may do, asked in a way that changes nothing.

The provider takes what a request needs from its path and method, and refuses with 403 a key that lacks it. An
update of an object that does not exist, without a single parameter, has no effect whoever sends it: it is
refused with 403, or it is allowed and finds nothing. Never sends a request that creates anything.
"""

from collections.abc import Mapping
from functools import partial

from recon.doors.stripe.asking import Asking
from recon.doors.stripe.wire import Forbidden, Missing

# What a key that leaks could do harm with, and where an update of one is asked for: metadata is all it takes.
# Source: https://docs.stripe.com/api/refunds/update, /payouts/update, /transfers/update
_UPDATES = {
    "refunds": "/v1/refunds/re_recon_asks_and_changes_nothing",
    "payouts": "/v1/payouts/po_recon_asks_and_changes_nothing",
    "transfers": "/v1/transfers/tr_recon_asks_and_changes_nothing",
}
_LEDGER = "/v1/balance_transactions"


def writable(asking: Asking) -> Mapping[str, bool | None]:
    """Return of refunds, payouts and transfers whether the key may write them; None where it did not show."""
    return {name: _allowed(asking, "post", path) for name, path in _UPDATES.items()}


def sees_ledger(asking: Asking) -> bool | None:
    """Return whether the key may read balance transactions; None where it did not show.

    They alone tell the reversal of a partial capture from a refund.
    """
    return _allowed(asking, "get", _LEDGER, limit="1")


def _allowed(asking: Asking, method: str, path: str, **params: str) -> bool | None:
    answer = asking.once(path, partial(asking.client.raw_request, method, path, **params))
    if isinstance(answer, Forbidden):
        return False
    if isinstance(answer, Missing):
        # A path that nobody serves is missing as well, and says nothing of the key.
        return True if " resource_missing" in str(answer) else None
    return True if isinstance(answer, Mapping) else None
