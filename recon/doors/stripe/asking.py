"""One read of the provider after another: within the allowance, tried again where that helps, timed.

A GET has no effect, so that it may be repeated: a few times when the provider says "later", once when the
connection broke, which happens once in some thousand pages and is no outage. What answers with something
else than the provider's words is not asked again: whoever stands between will say the same. All within an
account's patience for one run. No call with an effect goes through here twice.
"""

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any

import stripe
from stripe import StripeClient, StripeResponse

from recon.doors.stripe.allowance import Allowance, Patience
from recon.doors.stripe.wire import Client, Later, answered, heard, meaning, replayed
from recon.model import forks
from recon.model.errors import ProviderUnavailable, ReconError
from recon.model.records.guarded import Heard
from recon.model.records.words import AccountId
from recon.model.settings import ProviderSettings

API_VERSION = (
    "2026-10-28.endive"  # What stripe-python 16.1 speaks; pinned, so that an upgrade there is a decision.
)
READ_ATTEMPTS = 4  # With the pauses below about four seconds: a rate limit passes, an outage does not.
BROKEN_ATTEMPTS = 2  # A cut line is cut by chance; a second one at the same page is an outage.
_FIRST_PAUSE_SECONDS = 0.5
# Since the provider exists, and far enough from the end of all dates to count on from there.
_YEARS = range(2010, 3000)
_LONGEST_PAUSE_SECONDS = 30.0  # Whatever Retry-After says: the lease must not wait longer.


class Asking:
    """The provider as one key may ask it; shared by threads."""

    def __init__(
        self, settings: ProviderSettings, *, sleep: Callable[[float], None], clock: Callable[[], float]
    ) -> None:
        """Open nothing yet."""
        self._settings = settings
        self._sleep = sleep
        self._allowing = partial(Allowance, settings.requests_per_second, clock=clock, sleep=sleep)
        self.renew()
        forks.follow(self)
        self.now: datetime | None = None
        self.client = StripeClient(
            settings.api_key.reveal(),
            stripe_version=API_VERSION,
            max_network_retries=0,
            base_addresses={"api": settings.base_url} if settings.base_url else None,
            http_client=Client(settings),
        )

    def renew(self) -> None:
        """Forget who was asked how often: a thread of the parent may be counting just then."""
        self._lock = threading.Lock()
        self._allowances: dict[str, Allowance] = {}
        self._patience: dict[AccountId, Patience] = {}

    def begin(self, account: AccountId) -> None:
        """Be patient with an account anew: another run reads it."""
        settings = self._settings
        self._patience[account] = Patience(settings.retry_limit, settings.retry_seconds)

    def read(
        self, what: str, path: str, account: AccountId, params: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Return what the provider answers to a GET.

        Raises:
            ProviderUnavailable: no usable answer.
            ProviderRefused: the key or the account is wrong.
        """
        call = partial(self.client.raw_request, "get", path, **options(account), **(params or {}))
        allowance, patience = self._shared(path, account)
        pause = _FIRST_PAUSE_SECONDS
        for attempt in range(1, READ_ATTEMPTS + 1):
            allowance.take()
            answer = self.once(what, call)
            if not isinstance(answer, Later):
                break
            wait = min(max(pause, answer.seconds or 0.0), _LONGEST_PAUSE_SECONDS)
            if attempt == (BROKEN_ATTEMPTS if answer.broken else READ_ATTEMPTS):
                break
            if not patience.spend(wait):
                raise ProviderUnavailable(
                    f"{answer.error} In this run the account was asked again as often and waited for as long "
                    "as it may be (provider.retry_limit, provider.retry_seconds)."
                )
            if answer.limited:  # Nobody else may go on meanwhile, or the limit is met at once again.
                allowance.hold(wait)
            else:
                self._sleep(wait)
            pause *= 2
        return answered(answer)

    def once(self, what: str, call: Callable[[], StripeResponse]) -> Mapping[str, Any] | Later | ReconError:
        """Return the answer or what its absence means; raised outside, it drags no SDK error behind it."""
        try:
            response = call()
        except stripe.StripeError as error:  # Everything from a refused connection to a refusal in JSON.
            self._note_time(error.headers)
            return meaning(error, what)
        except AttributeError:  # JSON that is no object: the SDK hands it on as it is.
            return ProviderUnavailable(f"{what} broke off: expected an object, found something else.")
        self._note_time(response.headers)
        found = response.data
        if isinstance(found, dict):
            return found
        return ProviderUnavailable(f"{what} broke off: expected an object, found something else.")

    def hear(self, what: str, call: Callable[[], StripeResponse]) -> tuple[object, Heard]:
        """Return what a request that moves money was answered with, None without an answer, and how."""
        try:
            response = call()
        except stripe.StripeError as error:  # Everything from a refused connection to a refusal in JSON.
            self._note_time(error.headers)
            return None, heard(error, what)
        except AttributeError:  # JSON that is no object: the SDK hands it on as it is.
            return None, Heard(said=f"{what} broke off: expected an object, found something else.")
        self._note_time(response.headers)
        return response.data, Heard(status=response.code, replayed=replayed(response.headers))

    def _shared(self, path: str, account: AccountId) -> tuple[Allowance, Patience]:
        """Return what all readers of this endpoint share, and all readers of this account."""
        endpoint = path.split("/")[2]
        with self._lock:
            if endpoint not in self._allowances:
                self._allowances[endpoint] = self._allowing()
            if account not in self._patience:
                self.begin(account)
            return self._allowances[endpoint], self._patience[account]

    def _note_time(self, headers: Mapping[str, str] | None) -> None:
        sent = (headers or {}).get("Date") or (headers or {}).get("date")
        try:
            told = parsedate_to_datetime(sent) if sent else None
        except (ValueError, OverflowError):  # A proxy's idea of a date.
            return
        if told is not None and told.year in _YEARS:
            self.now = told.astimezone(UTC) if told.tzinfo else told.replace(tzinfo=UTC)


def options(account: AccountId) -> dict[str, str]:
    """Return the SDK's options for requests in an account's name."""
    return {"stripe_account": account} if account else {}
