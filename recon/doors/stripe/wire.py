"""The wire to the provider: an HTTP client with a limit on whole answers, and what an answer means.

Never sends anything by itself, and no error that leaves here carries the key.
"""

import math
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Timer
from typing import Any

import requests
import stripe
from requests.adapters import HTTPAdapter
from stripe import RequestsClient
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.response import HTTPResponse

from recon.model import forks, refusals
from recon.model.errors import ProviderRefused, ProviderUnavailable, ReconError
from recon.model.records.guarded import Heard
from recon.model.settings import ProviderSettings

# What the provider calls its errors; gateways call theirs otherwise, or nothing. The last two are of old
# API versions. Source: https://docs.stripe.com/api/errors
_KINDS = {
    "api_error",
    "card_error",
    "idempotency_error",
    "invalid_request_error",
    "authentication_error",
    "rate_limit_error",
}
# A page of a hundred refunds with all the metadata they may have is a fifth of it.
LARGEST_BYTES = 32 * 1024 * 1024


class _Line(threading.local):
    """What this thread has on the wire.

    until: when it must have ended, on the monotonic clock. begun: something of the request has been sent,
    or may have been. patience: seconds in which the head of an answer must come. plug: where it comes.
    """

    until: float = math.inf
    patience: float = 0.0
    begun: bool = False
    plug: socket.socket | None = None


_line = _Line()


@contextmanager
def within(until: float | None) -> Iterator[None]:
    """Let each request of this thread end by then; one that would begin later is not sent.

    until: on time.monotonic(); None is no other limit than the settings'.
    """
    before = _line.until
    _line.until = before if until is None else min(before, until)
    try:
        yield
    finally:
        _line.until = before


class _Timed(HTTPConnection):
    """A connection on which an answer must begin, headers and all, within two read timeouts.

    The read timeout is for each part that comes: headers of a byte at a time would never meet it.
    """

    def send(self, data: Any) -> None:  # noqa: ANN401 - as HTTPConnection has it
        """Send a part of a request, unless its time is over: finding the host may have taken any time."""
        if self.sock is None:
            self.connect()
        if time.monotonic() >= _line.until:
            raise TimeoutError("timed out")
        if not _line.begun:
            self._limit()
        _line.begun = True
        super().send(data)

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as urllib3 has it
        """Return the answer, whose body is still to be read; hang up when its headers take too long."""
        assert self.sock is not None
        _line.plug = self.sock
        try:
            found = super().getresponse()
        finally:
            self._let()
        if self._late.is_set():  # What had come by then passes for a whole head.
            raise TimeoutError("timed out")
        return found

    def close(self) -> None:
        """Close it; nobody has to hang up any more."""
        self._let()
        super().close()

    def _limit(self) -> None:
        """Begin to wait for an answer: before anything leaves, because there may be no thread for it.

        Raises:
            TimeoutError: there is none, and nothing was sent.
        """
        self._let()
        self._late = Event()
        patience = min(_line.patience, max(_line.until - time.monotonic(), 0.0))
        limit = Timer(patience, _hang_up, (self, self._late))
        limit.daemon = True
        try:
            limit.start()
        except RuntimeError:  # The process may have no more threads.
            raise TimeoutError("timed out") from None
        self._timer = limit

    def _let(self) -> None:
        timer = getattr(self, "_timer", None)
        if timer is not None:
            timer.cancel()


class _TimedSecure(_Timed, HTTPSConnection):
    """The same, encrypted."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Timed


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _TimedSecure


class _Adapter(HTTPAdapter):
    """What opens such connections, through a proxy as well."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - as HTTPAdapter has it
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as HTTPAdapter has it
        manager = super().proxy_manager_for(*args, **options)
        manager.pool_classes_by_scheme = _POOLS
        return manager


_POOLS = {"http": _Pool, "https": _SecurePool}


def _hang_up(connection: HTTPConnection, late: Event) -> None:
    late.set()
    line = connection.sock  # By now: through a proxy it is another than the one that was opened.
    with suppress(OSError):  # The other side was quicker.
        if line is not None:
            line.shutdown(socket.SHUT_RDWR)


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


class _Direct(requests.Session):
    """A session that stays where it was sent: whoever answers elsewhere is not the provider."""

    def __init__(self) -> None:
        super().__init__()
        self.auth = _as_it_is  # Else a ~/.netrc of the host's puts its own in the place of our key.
        for scheme in _POOLS:
            self.mount(f"{scheme}://", _Adapter())

    def get_redirect_target(self, resp: requests.Response) -> str | None:  # noqa: ARG002 - as Session has it
        """Return that there is none, so that the redirect itself is the answer."""
        return None


class Client(RequestsClient):
    """Requests, with limits on the whole of an answer, and from one place only.

    A byte a second would never meet a read timeout, and what is packed small may be large.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        # An address of our own is on this machine: a proxy for the world outside must not get the key.
        direct = RequestsClient._Proxy(http="", https="") if settings.base_url else None  # noqa: SLF001 - no other name
        timeouts = (settings.connect_timeout_seconds, settings.read_timeout_seconds)
        super().__init__(timeout=timeouts, proxy=direct)
        self._read_seconds = settings.read_timeout_seconds
        self._whole_seconds = settings.connect_timeout_seconds + 2 * settings.read_timeout_seconds
        forks.follow(self)

    def renew(self) -> None:
        """Forget every line: on the parent's this process would get the parent's answers."""
        self._thread_local = threading.local()

    def request(  # type: ignore[override]  # as RequestsClient has it
        self, method: str, url: str, headers: Mapping[str, str] | None, post_data: object = None
    ) -> tuple[bytes, int, Mapping[str, str]]:
        """Return body, status and headers, or raise APIConnectionError when the whole takes too long."""
        deadline = min(time.monotonic() + self._whole_seconds, _line.until)
        _line.begun, _line.patience = False, 2 * self._read_seconds
        if getattr(self._thread_local, "session", None) is None:  # One for each thread, as the SDK has it.
            self._thread_local.session = _Direct()
        raw, status, received = self.request_stream(method, url, headers, post_data)
        body = bytearray()
        try:
            while (left := deadline - time.monotonic()) > 0:
                self._wait_at_most(left)
                part = raw.read1(65_536, decode_content=True)
                body += part
                if not part or len(body) > LARGEST_BYTES:
                    return _text(body), status, received
        except Exception as error:  # noqa: BLE001 - whatever it is, the body broke off
            if time.monotonic() < deadline:
                raise _broken(f"the answer broke off ({type(error).__name__})") from None
        finally:
            self._wait_at_most(self._read_seconds)  # The connection may serve another request.
            raw.close()
        raise _broken("timed out: no whole answer in time")

    def _wait_at_most(self, seconds: float) -> None:
        with suppress(OSError):  # It is closed by now.
            if _line.plug is not None:
                _line.plug.settimeout(min(seconds, self._read_seconds))


def _text(body: bytearray) -> bytes:
    """Return a body, or nothing where it cannot be the provider's: the SDK fails at what is no text."""
    if len(body) > LARGEST_BYTES:
        return b""
    try:
        body.decode()
    except UnicodeDecodeError:  # A page of some proxy's.
        return b""
    return bytes(body)


def _broken(said: str) -> stripe.StripeError:
    return stripe.APIConnectionError(said)  # type: ignore[no-untyped-call]  # the SDK left it without types


class Missing(ProviderRefused):
    """The provider knows no such object in this account."""


class Senseless(ProviderRefused):
    """The provider makes no sense of what was asked; the next thing may be in order."""


class Forbidden(ProviderRefused):
    """The key may not do that."""


@dataclass(frozen=True, slots=True)
class Later:
    """No answer now, maybe later. seconds: when, None when nobody said.

    broken: the connection broke. limited: we asked too often.
    """

    error: ProviderUnavailable
    seconds: float | None = None
    broken: bool = False
    limited: bool = False


def meaning(error: stripe.StripeError, what: str) -> Later | ReconError:
    """Return what the absence of an answer means: come back later, or an error that says it."""
    status = error.http_status
    request = error.request_id
    if isinstance(error, stripe.APIConnectionError) or status is None:
        away = ProviderUnavailable(f"{what} broke off: the provider did not answer ({_cause(error)}).")
        return Later(away, broken=True)
    if status in {408, 409, 429} or status >= 500:  # noqa: PLR2004 - HTTP's own numbers
        later = ProviderUnavailable(refusals.answered(what, status=status, request=request))
        return Later(later, _seconds(error.headers), limited=status == 429)  # noqa: PLR2004 - as above
    if status < 400 or error.error is None:  # noqa: PLR2004 - as above
        named = f"{status}, request {request}" if request else f"{status}"
        return ProviderUnavailable(f"{what} broke off: the answer ({named}) is not the provider's.")
    said = refusals.masked(str(error.user_message or "no reason given"))[:200]
    kind = {400: Senseless, 403: Forbidden, 404: Missing}.get(status, ProviderRefused)
    code = error.code or getattr(error.error, "code", None)
    return kind(refusals.refused(what, status=status, code=code, request=request, said=said))


def heard(error: stripe.StripeError, what: str) -> Heard:
    """Return the same for a request that moves money: who said what, and nothing of what it means."""
    told = meaning(error, what)
    said = str(told.error if isinstance(told, Later) else told)
    if isinstance(error, stripe.APIConnectionError):
        return Heard(said=said, unsent=not _line.begun)  # It was too late, or nobody was there.
    kind = _word(error, "type")
    return Heard(
        status=error.http_status,
        # Whoever stands between answers with an error as well, and before it may have passed the request on.
        refused=kind in _KINDS and bool(error.request_id),
        code=_word(error, "code"),
        kind=kind,
        param=_word(error, "param"),
        said=said,
        replayed=replayed(error.headers),
        retry_after_seconds=_seconds(error.headers),
    )


def replayed(headers: Mapping[str, str] | None) -> bool:
    """Return whether the answer is a kept one, which says how things stood then."""
    return str((headers or {}).get("Idempotent-Replayed", "")).lower() == "true"


def _word(error: stripe.StripeError, name: str) -> str | None:
    body = error.json_body if isinstance(error.json_body, Mapping) else {}
    found = body.get("error")
    word = found.get(name) if isinstance(found, Mapping) else None
    return word if isinstance(word, str) and word else None


def _cause(error: stripe.StripeError) -> str:
    said = str(error.user_message or "")
    for word in ("timed out", "refused", "resolve", "SSL", "broke off", "reset", "aborted"):
        if word.lower() in said.lower():
            return "its host name was not found" if word == "resolve" else word
    return "no connection"


def _seconds(headers: Mapping[str, str] | None) -> float | None:
    try:
        found = float((headers or {}).get("Retry-After", ""))
    except ValueError:  # Absent, or a date: then our own pause is as good.
        return None
    return found if 0 <= found < math.inf else None  # Others nobody can wait for.


def answered(answer: Mapping[str, Any] | Later | ReconError) -> Mapping[str, Any]:
    """Return the answer.

    Raises:
        ProviderUnavailable: there is none.
        ProviderRefused: it is a refusal.
    """
    if isinstance(answer, Later):
        raise answer.error
    if isinstance(answer, ReconError):
        raise answer
    return answer
