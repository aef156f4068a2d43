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
from stripe import RequestsClient, StripeClient

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
_SECRET = re.compile(r"\b[sr]k_\w+")


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
            http_client=_Client(settings),
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
        except _Missing:  # The id is not in this account's books.
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
        answer = _answered(self._once(what, lambda: create(params=params, options=options)))
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
            if not isinstance(answer, _Later):
                break
            if attempt < READ_ATTEMPTS:
                self._sleep(min(max(pause, answer.seconds or 0.0), _LONGEST_PAUSE_SECONDS))
                pause *= 2
        return _answered(answer)

    def _once(self, what: str, call: Callable[[], Any]) -> "Mapping[str, Any] | _Later | ReconError":
        """Return the answer or what its absence means; raised outside, it drags no SDK error behind it."""
        try:
            response = call().last_response
        except stripe.StripeError as error:  # Everything from a refused connection to a refusal in JSON.
            self._note_time(error.headers)
            return _meaning(error, what)
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


class _Client(RequestsClient):
    """Requests, with a limit on the whole of an answer: a byte a second would never meet a read timeout."""

    def __init__(self, settings: ProviderSettings) -> None:
        # An address of our own is on this machine: a proxy for the world outside must not get the key.
        direct = RequestsClient._Proxy(http="", https="") if settings.base_url else None  # noqa: SLF001 - no other name
        timeouts = (settings.connect_timeout_seconds, settings.read_timeout_seconds)
        super().__init__(timeout=timeouts, proxy=direct)
        self._whole_seconds = settings.connect_timeout_seconds + 2 * settings.read_timeout_seconds

    def request(  # type: ignore[override]  # as RequestsClient has it
        self, method: str, url: str, headers: Mapping[str, str] | None, post_data: object = None
    ) -> tuple[bytes, int, Mapping[str, str]]:
        """Return body, status and headers, or raise APIConnectionError when the whole takes too long."""
        deadline = time.monotonic() + self._whole_seconds
        raw, status, received = self.request_stream(method, url, headers, post_data)
        parts: list[bytes] = []
        try:
            while time.monotonic() < deadline:
                part = raw.read1(65_536, decode_content=True)
                if not part:
                    return b"".join(parts), status, received
                parts.append(part)
        except Exception as error:  # noqa: BLE001 - whatever it is, the body broke off
            raise _broken(f"the answer broke off ({type(error).__name__})") from None
        finally:
            raw.close()
        raise _broken(f"timed out: no whole answer within {self._whole_seconds:g} s")


def _broken(said: str) -> stripe.StripeError:
    return stripe.APIConnectionError(said)  # type: ignore[no-untyped-call]  # the SDK left it without types


class _Missing(ProviderRefused):
    """The provider knows no such object in this account."""


@dataclass(frozen=True, slots=True)
class _Later:
    """The provider said to come back. seconds: when, None when it did not say."""

    error: ProviderUnavailable
    seconds: float | None = None


def _meaning(error: stripe.StripeError, what: str) -> _Later | ReconError:
    status = error.http_status
    request = f", request {error.request_id}" if error.request_id else ""
    if isinstance(error, stripe.APIConnectionError) or status is None:
        return ProviderUnavailable(f"{what} broke off: the provider did not answer ({_cause(error)}).")
    if status in {408, 409, 429} or status >= 500:  # noqa: PLR2004 - HTTP's own numbers
        later = ProviderUnavailable(f"{what} broke off: the provider answered {status}{request}.")
        return _Later(later, _seconds(error.headers))
    if status < 400 or error.error is None:  # noqa: PLR2004 - as above
        return ProviderUnavailable(f"{what} broke off: the answer ({status}{request}) is not the provider's.")
    said = _SECRET.sub("***", str(error.user_message or "no reason given"))[:200]
    kind = _Missing if status == 404 else ProviderRefused  # noqa: PLR2004 - as above
    code = f" {error.code or getattr(error.error, 'code', None) or ''}".rstrip()
    return kind(f"{what} was refused with {status}{code}{request}: {said}")


def _cause(error: stripe.StripeError) -> str:
    said = str(error.user_message or "")
    for word in ("timed out", "refused", "resolve", "SSL", "broke off", "reset", "aborted"):
        if word.lower() in said.lower():
            return "its host name was not found" if word == "resolve" else word
    return "no connection"


def _seconds(headers: Mapping[str, str] | None) -> float | None:
    try:
        return float((headers or {}).get("Retry-After", ""))
    except ValueError:  # Absent, or a date: then our own pause is as good.
        return None


def _answered(answer: "Mapping[str, Any] | _Later | ReconError") -> Mapping[str, Any]:
    if isinstance(answer, _Later):
        raise answer.error
    if isinstance(answer, ReconError):
        raise answer
    return answer


def _for(account: AccountId) -> Any:  # noqa: ANN401 - the SDK's own type for it is private
    return {"stripe_account": account} if account else {}


def _named(account: AccountId) -> str:
    return account or "the platform"
