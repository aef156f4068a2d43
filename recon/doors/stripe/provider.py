"""The provider's refunds: listed page by page, retrieved and made one by one; records out, never SDK objects.

How often it is asked, and how often again, is in asking.py. No call with an effect is tried twice, no error
carries the key, and no list is taken for whole because nothing went wrong: its last page must have come.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import quote

from stripe import StripeResponse

from recon.doors.stripe.asking import Asking, options
from recon.doors.stripe.wire import Forbidden, Missing, Senseless, answered, within
from recon.model import payloads, phrases
from recon.model.errors import ConfigurationError, ProviderRefused, ProviderUnavailable
from recon.model.payloads import LATEST_SECONDS
from recon.model.records.guarded import Heard
from recon.model.records.provider import Intent, Refund, RefundEvent
from recon.model.records.results import Reject
from recon.model.records.runs import Account
from recon.model.records.words import AccountId, RefundId
from recon.model.settings import ProviderSettings

# What the provider's ledger says of a refund. A partial capture's reversal is known by nothing else.
_TRANSACTION = "balance_transaction"
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

    def __init__(
        self,
        settings: ProviderSettings,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open nothing yet.

        Raises:
            ConfigurationError: there is no key.
        """
        if not settings.api_key:
            raise ConfigurationError("STRIPE_API_KEY is not set; expected a key that may read refunds.")
        self._settings = settings
        self._asking = Asking(settings, sleep=sleep, clock=clock)
        self._plain: set[AccountId] = set()  # Where the key may not see balance transactions.

    def livemode(self) -> bool | None:
        """Return whether the key moves real money, as its prefix says; None when it does not say."""
        prefix = re.match(r"[sr]k_(live|test)_", self._settings.api_key.reveal())
        return prefix[1] == "live" if prefix else None

    def check_mode(self, accounts: Iterable[Account]) -> None:
        """Return if the key is of the mode in which each account's refunds were read, where both are known.

        Raises:
            ConfigurationError: it moves real money and the database's refunds do not, or the other way round.
        """
        livemode = self.livemode()
        for account in accounts:
            if None not in {livemode, account.livemode} and account.livemode is not livemode:
                theirs, ours = ("live", "test") if account.livemode else ("test", "live")
                raise ConfigurationError(
                    f"This database holds {theirs} refunds, and STRIPE_API_KEY is a {ours} key: "
                    "use the key of the other mode, or another database (RECON_DATABASE_URL)."
                )

    def now(self) -> datetime | None:
        """Return the provider's time at its latest answer, to the second; None before the first one."""
        return self._asking.now

    def check_time(self, told: datetime, *, within: timedelta) -> None:
        """Return if its latest answer is from after a time that an earlier one told, or from not long before.

        Raises:
            ProviderUnavailable: one of its clocks is wrong, and nobody knows which.
        """
        now = self.now()
        if now is not None and now + within < told:
            raise ProviderUnavailable(
                f"The provider's clock cannot be trusted: it said {told:%Y-%m-%d %H:%M:%S} UTC, and later "
                f"{now:%Y-%m-%d %H:%M:%S}."
            )

    def begin(self, account: AccountId) -> None:
        """Be patient with an account anew: a run begins to read it."""
        self._asking.begin(account)

    def account(self, account: AccountId = AccountId("")) -> Identity:
        """Return whose key this is.

        Raises:
            ProviderRefused: the key or the account is wrong.
            ProviderUnavailable: no usable answer.
        """
        found = self._asking.read(phrases.in_full(account), "/v1/account", account)
        return Identity(str(found.get("id", "")), self.livemode())

    def refunds(self, account: AccountId, created_from: datetime, created_to: datetime) -> Iterator[Page]:
        """Yield the pages of all refunds created from created_from to created_to, newest first, as they come.

        The window was read whole only when the page that says it is the last has come.

        Raises:
            ProviderUnavailable: a page broke off: the window was not read whole; the pages before it stand.
            ProviderRefused: the key or the account is wrong.
        """
        window = int(created_from.timestamp()), int(created_to.timestamp())
        params = {"created": {"gte": window[0], "lte": window[1]}}
        for number, rows, last in self._pages("refunds", account, params, f"data.{_TRANSACTION}"):
            _check_inside(rows, window, f"page {number} of the refunds of {phrases.account(account)}")
            read = [self._refund(row, account, place) for place, row in enumerate(rows, start=1)]
            yield Page(
                refunds=tuple(item for item in read if isinstance(item, Refund)),
                rejects=tuple(item for item in read if isinstance(item, Reject)),
                number=number,
                last=last,
            )

    def refund_events(
        self, account: AccountId, since: datetime, until: datetime | None = None
    ) -> Iterator[RefundEvent]:
        """Yield what happened to refunds from since to until, newest first; None is up to now.

        The provider keeps events for 30 days.

        Raises:
            ProviderUnavailable: a page broke off; those yielded before it stand.
            ProviderRefused: the key or the account is wrong.
        """
        created = {"gte": int(since.timestamp())}
        if until is not None:
            created["lte"] = int(until.timestamp())
        params = {"created": created, "types": list(_EVENT_TYPES)}
        for _, rows, _ in self._pages("events", account, params):
            yield from (event for row in rows if (event := payloads.refund_event(row)) is not None)

    def retrieve(
        self, refund_id: RefundId, account: AccountId, *, until: float | None = None
    ) -> Refund | Reject | None:
        """Return the refund as it is now; None where the account has no such refund, or does not show it yet.

        until: when an answer must have come, on time.monotonic(). A refund that cannot be read is the reject
        that says why.

        Raises:
            ProviderUnavailable: no usable answer.
            ProviderRefused: the key or the account is wrong.
        """
        what = f"refund {refund_id} of {phrases.account(account)}"
        path = f"/v1/refunds/{quote(refund_id, safe='')}"
        try:
            with within(until):
                found = self._ask(what, path, account, {}, expand=_TRANSACTION)
        except Missing:  # The id is not in this account's books.
            return None
        except (
            Senseless
        ) as refused:  # It has told of the id itself, and will not show it: the others may be read.
            return Reject(f"provider, {what}", 1, refund_id, str(refused), account)
        if found.get("id", refund_id) != refund_id:  # Whoever stands between mixed up two answers.
            raise ProviderUnavailable(f"{what} broke off: it shows another refund.")
        return self._refund(found, account, 1)

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
        if not intent.payment:
            raise ProviderRefused(f"The refund of intent {intent.key} was not sent: it names no payment.")
        params = self.body(intent, intent.payment, metadata=metadata, reason=reason)
        what = f"the refund of intent {intent.key} at {phrases.account(intent.account)}"
        answer = answered(self._asking.once(what, self._making(params, key, intent.account)))
        return self._readable(answer, intent.account, what)

    def body(
        self,
        intent: Intent,
        payment: str,
        *,
        metadata: Mapping[str, str] | None = None,
        reason: str | None = None,
    ) -> dict[str, Any]:
        """Return what is sent to make the refund of an intent: JSON, which says the same when it is stored.

        metadata: None puts the intent's key where runs look for it.
        """
        params: dict[str, Any] = {
            _parameter(payment): payment,
            "amount": intent.amount_minor,
            "metadata": dict(metadata if metadata is not None else {self._settings.metadata_key: intent.key}),
        }
        return params if reason is None else params | {"reason": reason}

    def send(
        self, body: Mapping[str, object], key: str, account: AccountId, *, until: float | None = None
    ) -> Heard:
        """Send a body to make one refund, exactly once, and return what came back, whatever it is.

        key: the idempotency key. until: when an answer must have come, on time.monotonic(); nothing is sent
        after that.

        Raises:
            ProviderRefused: nothing was sent, because the key would have been lost.
        """
        what = f"the refund with the key {key} at {phrases.account(account)}"
        making = self._making(body, key, account)
        with within(until):
            answer, came = self._asking.hear(what, making)
        if answer is None:
            return came
        refund = self._refund(answer, account, 1)
        if isinstance(refund, Reject):
            return replace(came, said=f"{what} cannot be read: {refund.reason}")
        return replace(came, refund=refund)

    def find(self, payment: str, account: AccountId, *, until: float | None = None) -> tuple[Refund, ...]:
        """Return every refund of a payment, newest first.

        until: when the last answer must have come, on time.monotonic().

        Raises:
            ProviderUnavailable: not every page was read, or not every refund can be: nothing is proved.
            ProviderRefused: the key or the account is wrong.
        """
        name = _parameter(payment)
        found: list[Refund] = []
        with within(until):
            for number, rows, _ in self._pages("refunds", account, {name: payment}):
                place = f"page {number} of the refunds of {payment} of {phrases.account(account)}"
                read = [self._readable(row, account, place) for row in rows]
                if any(getattr(each, name) != payment for each in read):
                    raise ProviderUnavailable(f"{place} broke off: it shows refunds of another payment.")
                found += read
        return tuple(found)

    def _making(
        self, body: Mapping[str, object], key: str, account: AccountId
    ) -> Callable[[], StripeResponse]:
        """Return the one request that makes a refund; called twice, it would be sent twice."""
        # The SDK puts a random key in the place of an empty one, and one inside the body out of the header.
        if not key.strip() or len(key) > _KEY_CHARACTERS:
            raise ProviderRefused(
                f"The refund with the key {key!r} was not sent: its idempotency key must have 1 to "
                f"{_KEY_CHARACTERS} characters, found {len(key.strip())}."
            )
        told: Any = {**options(account), "idempotency_key": key, "max_network_retries": 0}
        create: Callable[..., Any] = partial(self._asking.client.v1.refunds.create, options=told)
        return lambda: create(params=dict(body)).last_response

    def _pages(
        self, what: str, account: AccountId, params: Mapping[str, Any], expand: str | None = None
    ) -> Iterator[tuple[int, list[Any], bool]]:
        """Yield number, rows and whether it is the last, of pages that prove to follow each other."""
        cursors: list[str] = []
        for number in range(1, self._settings.page_limit + 1):
            asked = {**params, "limit": self._settings.page_size}
            if cursors:
                asked["starting_after"] = cursors[-1]
            place = f"page {number} of the {what} of {phrases.account(account)}"
            found = self._ask(place, f"/v1/{what}", account, asked, expand=expand)
            rows, more = found.get("data"), found.get("has_more")
            if (
                found.get("object", "list") != "list"
                or not isinstance(rows, list)
                or not isinstance(more, bool)
            ):
                raise ProviderUnavailable(f"{place} broke off: expected a list, found something else.")
            latest = rows[-1].get("id") if rows and isinstance(rows[-1], dict) else None
            if more and not isinstance(latest, str):
                raise ProviderUnavailable(f"{place} broke off: more is said to follow, but not after what.")
            if latest in cursors:  # Whoever stands between answered with a page that he had kept.
                raise ProviderUnavailable(f"{place} broke off: it ends as an earlier page did.")
            yield number, rows, not more
            if not more:
                return
            cursors.append(str(latest))
        raise ProviderUnavailable(
            f"The {what} of {phrases.account(account)} broke off: more than {self._settings.page_limit} "
            "pages (provider.page_limit)."
        )

    def _ask(
        self, what: str, path: str, account: AccountId, params: Mapping[str, Any], *, expand: str | None
    ) -> Mapping[str, Any]:
        """Return an answer with what is expanded in it, or without where the key may not see that."""
        if expand is not None and account not in self._plain:
            try:
                return self._asking.read(what, path, account, {**params, "expand": [expand]})
            except Forbidden:  # A restricted key that may read refunds and no more; or not even that.
                self._plain.add(account)
        return self._asking.read(what, path, account, params)

    def _readable(self, found: object, account: AccountId, what: str) -> Refund:
        refund = self._refund(found, account, 1)
        if isinstance(refund, Reject):
            raise ProviderUnavailable(f"{what} cannot be read: {refund.reason}")
        return refund

    def _refund(self, row: object, account: AccountId, place: int) -> Refund | Reject:
        return payloads.refund(row, account=account, place=place, metadata_key=self._settings.metadata_key)


def _parameter(payment: str) -> str:
    """Return what the provider's requests call a payment of this form."""
    return "charge" if payment.startswith(("ch_", "py_")) else "payment_intent"


def _check_inside(rows: Iterable[object], window: tuple[int, int], place: str) -> None:
    """Raise where a page shows what was not asked for: it answers another question."""
    for row in rows:
        created = row.get("created") if isinstance(row, dict) else None
        if isinstance(created, int) and not window[0] <= created <= window[1] and created <= LATEST_SECONDS:
            raise ProviderUnavailable(f"{place} broke off: it shows refunds of another time.")
