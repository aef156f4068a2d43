"""The provider's refunds: listed page by page, retrieved and made one by one; records out, never SDK objects.

Reads are tried again a few times when the provider says "later"; a broken connection ends a listing at once,
because the next run reads that window again. No call with an effect is tried twice. No error carries the key.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any

import stripe
from stripe import StripeClient

from recon.doors.stripe.wire import Client, Later, Missing, answered, meaning
from recon.model import payloads
from recon.model.errors import ConfigurationError, ProviderRefused, ProviderUnavailable, ReconError
from recon.model.records.provider import Intent, Refund, RefundEvent
from recon.model.records.results import Reject
from recon.model.records.words import AccountId, RefundId
from recon.model.settings import ProviderSettings

API_VERSION = (
    "2026-10-28.endive"  # What stripe-python 16.1 speaks; pinned, so that an upgrade there is a decision.
)
READ_ATTEMPTS = 4  # With the pauses below about four seconds: a rate limit passes, an outage does not.
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0  # Whatever Retry-After says: the lease must not wait longer.
_KEY_CHARACTERS = 255  # Source: https://docs.stripe.com/api/idempotent_requests
_EVENT_TYPES = ("refund.created", "refund.updated", "refund.failed")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing, newest refund first.

    refunds: those that could be read. rejects: those that could not, with their place on the page.
    number: from 1. last: nothing comes after it, so that the window was read whole.
    """

    refunds: tuple[Refund, ...]
    rejects: tuple[Reject, ...]
    number: int
    last: bool


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose key it is. livemode: None when the key does not show it."""

    id: str
    livemode: bool | None


class Provider:
    """The provider as one key sees it, and its connected accounts."""

    def __init__(self, settings: ProviderSettings, *, sleep: Callable[[float], None] = time.sleep) -> None:
        """Open nothing yet.

        Raises:
            ConfigurationError: there is no key.
        """
        if not settings.api_key:
            raise ConfigurationError("STRIPE_API_KEY is not set; expected a key that may read refunds.")
        self._settings = settings
        self._sleep = sleep
        self._now: datetime | None = None
        self._client = StripeClient(
            settings.api_key.reveal(),
            stripe_version=API_VERSION,
            max_network_retries=0,
            base_addresses={"api": settings.base_url} if settings.base_url else None,
            http_client=Client(settings),
        )

    def livemode(self) -> bool | None:
        """Return whether the key moves real money, as its prefix says; None when it does not say."""
        prefix = re.match(r"[sr]k_(live|test)_", self._settings.api_key.reveal())
        return prefix[1] == "live" if prefix else None

    def now(self) -> datetime | None:
        """Return the provider's time at its latest answer, to the second; None before the first one."""
        return self._now

    def account(self, account: AccountId = AccountId("")) -> Identity:
        """Return whose key this is.

        Raises:
            ProviderRefused: the key or the account is wrong.
            ProviderUnavailable: no usable answer.
        """
        what = f"account {account}" if account else "the platform's own account"
        found = self._read(what, lambda: self._client.v1.accounts.retrieve_current(options=_for(account)))
        return Identity(str(found.get("id", "")), self.livemode())

    def refunds(self, account: AccountId, created_from: datetime, created_to: datetime) -> Iterator[Page]:
        """Yield the pages of all refunds created from created_from to created_to, newest first, as they come.

        Raises:
            ProviderUnavailable: a page broke off: the window was not read whole; the pages before it stand.
            ProviderRefused: the key or the account is wrong.
        """
        window = {"gte": int(created_from.timestamp()), "lte": int(created_to.timestamp())}
        listing = self._pages("refunds", account, self._client.v1.refunds.list, {"created": window})
        for number, rows, last in listing:
            read = [self._refund(row, account, place) for place, row in enumerate(rows, start=1)]
            yield Page(
                refunds=tuple(item for item in read if isinstance(item, Refund)),
                rejects=tuple(item for item in read if isinstance(item, Reject)),
                number=number,
                last=last,
            )

    def refund_events(self, account: AccountId, since: datetime) -> Iterator[RefundEvent]:
        """Yield what happened to refunds since then, newest first; the provider keeps events for 30 days.

        Raises:
            ProviderUnavailable: a page broke off; those yielded before it stand.
            ProviderRefused: the key or the account is wrong.
        """
        params = {"created": {"gte": int(since.timestamp())}, "types": list(_EVENT_TYPES)}
        for _, rows, _ in self._pages("events", account, self._client.v1.events.list, params):
            yield from (event for row in rows if (event := payloads.refund_event(row)) is not None)

    def retrieve(self, refund_id: RefundId, account: AccountId) -> Refund | None:
        """Return the refund as it is now; None where the account has no such refund, or does not show it yet.

        Raises:
            ProviderUnavailable: no usable answer.
            ProviderRefused: the key or the account is wrong.
        """
        what = f"refund {refund_id} of {_named(account)}"
        try:
            found = self._read(
                what, lambda: self._client.v1.refunds.retrieve(refund_id, options=_for(account))
            )
        except Missing:  # The id is not in this account's books.
            return None
        return self._readable(found, account, what)

    def create(
        self,
        intent: Intent,
        key: str,
        *,
        metadata: Mapping[str, str] | None = None,
        reason: str | None = None,
    ) -> Refund:
        """Make one refund of the intent's payment, sent exactly once, and return what the provider answered.

        key: the idempotency key. metadata: None puts the intent's key where runs look for it.

        Raises:
            ProviderUnavailable: no usable answer: the refund may have been made or not.
            ProviderRefused: this call made nothing; without a key or a payment nothing was sent.
        """
        if not key.strip() or len(key) > _KEY_CHARACTERS:
            raise ProviderRefused(
                f"The refund of intent {intent.key} was not sent: its idempotency key must have 1 to "
                f"{_KEY_CHARACTERS} characters, found {len(key.strip())}."
            )
        if not intent.payment:
            raise ProviderRefused(f"The refund of intent {intent.key} was not sent: it names no payment.")
        params: dict[str, Any] = {
            "charge" if intent.payment.startswith(("ch_", "py_")) else "payment_intent": intent.payment,
            "amount": intent.amount_minor,
            "metadata": dict(metadata if metadata is not None else {self._settings.metadata_key: intent.key}),
        }
        if reason is not None:
            params["reason"] = reason
        what = f"the refund of intent {intent.key} at {_named(intent.account)}"
        options: Any = {**_for(intent.account), "idempotency_key": key, "max_network_retries": 0}
        create: Callable[..., Any] = self._client.v1.refunds.create
        answer = answered(self._once(what, lambda: create(params=params, options=options)))
        return self._readable(answer, intent.account, what)

    def _pages(
        self, what: str, account: AccountId, listing: Callable[..., Any], params: Mapping[str, Any]
    ) -> Iterator[tuple[int, list[Any], bool]]:
        cursor: str | None = None
        for number in range(1, self._settings.page_limit + 1):
            asked = {**params, "limit": self._settings.page_size}
            if cursor is not None:
                asked["starting_after"] = cursor
            place = f"page {number} of the {what} of {_named(account)}"
            found = self._read(place, partial(listing, params=asked, options=_for(account)))
            rows, more = found.get("data"), found.get("has_more", False)
            if not isinstance(rows, list) or not isinstance(more, bool):
                raise ProviderUnavailable(f"{place} broke off: expected a list, found something else.")
            yield number, rows, not more
            if not more:
                return
            latest = rows[-1].get("id") if rows and isinstance(rows[-1], dict) else None
            if not isinstance(latest, str) or latest == cursor:
                raise ProviderUnavailable(f"{place} broke off: more is said to follow, but not after what.")
            cursor = latest
        raise ProviderUnavailable(
            f"The {what} of {_named(account)} broke off: more than {self._settings.page_limit} pages "
            "(provider.page_limit)."
        )

    def _read(self, what: str, call: Callable[[], Any]) -> Mapping[str, Any]:
        pause = _FIRST_PAUSE_SECONDS
        for attempt in range(1, READ_ATTEMPTS + 1):
            answer = self._once(what, call)
            if not isinstance(answer, Later):
                break
            if attempt < READ_ATTEMPTS:
                self._sleep(min(max(pause, answer.seconds or 0.0), _LONGEST_PAUSE_SECONDS))
                pause *= 2
        return answered(answer)

    def _once(self, what: str, call: Callable[[], Any]) -> Mapping[str, Any] | Later | ReconError:
        """Return the answer or what its absence means; raised outside, it drags no SDK error behind it."""
        try:
            response = call().last_response
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

    def _note_time(self, headers: Mapping[str, str] | None) -> None:
        sent = (headers or {}).get("Date") or (headers or {}).get("date")
        try:
            told = parsedate_to_datetime(sent) if sent else None
        except ValueError:  # A proxy's idea of a date.
            return
        if told is not None:
            self._now = told.astimezone(UTC) if told.tzinfo else told.replace(tzinfo=UTC)

    def _readable(self, found: object, account: AccountId, what: str) -> Refund:
        refund = self._refund(found, account, 1)
        if isinstance(refund, Reject):
            raise ProviderUnavailable(f"{what} cannot be read: {refund.reason}")
        return refund

    def _refund(self, row: object, account: AccountId, place: int) -> Refund | Reject:
        return payloads.refund(row, account=account, place=place, metadata_key=self._settings.metadata_key)


def _for(account: AccountId) -> Any:  # noqa: ANN401 - the SDK's own type for it is private
    return {"stripe_account": account} if account else {}


def _named(account: AccountId) -> str:
    return account or "the platform"
