"""What the provider refuses, in its own words and codes.

Source: the provider's error reference and recorded answers of API version 2026-08-26 and later.
"""

from __future__ import annotations

from typing import Any

from recon.model.money import EXPONENTS

_SYMBOLS = {"usd": "$", "eur": "€", "gbp": "£", "jpy": "¥", "cad": "CA$", "aud": "A$"}
# The provider's own currency comes first where it lists them.
CURRENCIES = ("usd", *sorted(set(EXPONENTS) - {"usd"}))
# Source: https://docs.stripe.com/metadata.
METADATA_KEYS_LIMIT = 50
# A shorter key is not shown at all: its ends would be most of it.
_SHOWN_FROM = 16


class ProviderError(Exception):
    """An answer that is a refusal; `executed` says whether it is kept under the idempotency key.

    retry: what it tells clients about sending it again; None leaves that to the status.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
        executed: bool = False,
        retry: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.retry = retry
        self.status = status
        self.kind = kind
        self.code = code
        self.param = param
        self.executed = executed

    def body(self) -> dict[str, Any]:
        """The provider's error envelope; absent parts are left out, as it does."""
        error: dict[str, Any] = {}
        if self.code is not None:
            error["code"] = self.code
            error["doc_url"] = f"https://stripe.com/docs/error-codes/{self.code.replace('_', '-')}"
        error["message"] = str(self)
        if self.param is not None:
            error["param"] = self.param
        error["type"] = self.kind
        return {"error": error}


def no_key() -> ProviderError:
    """No API key came with the request."""
    return ProviderError(
        "You did not provide an API key. You need to provide your API key in the Authorization header, using "
        "Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
        status=401,
    )


def wrong_key(key: str) -> ProviderError:
    """The API key is none of ours; the message shows no more of it than the provider does."""
    return ProviderError(f"Invalid API Key provided: {_starred(key)}", status=401)


def forbidden(key: str, account: str) -> ProviderError:
    """The API key is one of ours, and may not do this; the provider sends no code with this one."""
    return ProviderError(
        f"The provided key '{_starred(key)}' does not have the required permissions for this endpoint on "
        f"account '{account}'.",
        status=403,
    )


def no_account(key: str, account: str) -> ProviderError:
    """The account header names nothing that is an account."""
    return ProviderError(
        f"The provided key '{_starred(key)}' does not have access to account '{account}' (or that account "
        "does not exist). Application access may have been revoked.",
        status=403,
        code="account_invalid",
    )


def _starred(key: str) -> str:
    return f"{key[:7]}{'*' * (len(key) - 11)}{key[-4:]}" if len(key) >= _SHOWN_FROM else "*" * 8


def unknown_url(method: str, path: str) -> ProviderError:
    """No such path, or not with this method."""
    slash = (
        "If you are trying to list objects, remove the trailing slash. If you are trying to retrieve an "
        "object, make sure you passed a valid (non-empty) identifier in your code. "
    )
    return ProviderError(
        f"Unrecognized request URL ({method}: {path}). {slash if path.endswith('/') else ''}"
        "Please see https://stripe.com/docs or we can help at https://support.stripe.com/.",
        status=404,
    )


def missing(kind: str, found: str, *, param: str, status: int = 404, executed: bool = True) -> ProviderError:
    """The id names nothing in this account."""
    return ProviderError(
        f"No such {kind}: '{found}'", status=status, code="resource_missing", param=param, executed=executed
    )


def unknown_parameter(name: str) -> ProviderError:
    """A parameter that the path does not know."""
    return ProviderError(f"Received unknown parameter: {name}", code="parameter_unknown", param=name)


def empty_parameter(name: str) -> ProviderError:
    """A parameter that came as an empty text and cannot be unset."""
    return ProviderError(
        f"You passed an empty string for '{name}'. We assume empty values are an attempt to unset a "
        f"parameter; however '{name}' cannot be unset. You should remove '{name}' from your request or "
        "supply a non-empty value.",
        code="parameter_invalid_empty",
        param=name,
    )


def unknown_currency(found: str) -> ProviderError:
    """A currency that the provider does not have; it sends no code with this one."""
    return ProviderError(
        f"Invalid currency: {found}. Stripe currently supports these currencies: {', '.join(CURRENCIES)}",
        param="currency",
    )


def too_much_metadata() -> ProviderError:
    """More names than metadata holds."""
    return ProviderError(f"Metadata can have at most {METADATA_KEYS_LIMIT} keys.", param="metadata")


def not_an_integer(name: str, found: str) -> ProviderError:
    """A parameter that should have been a whole number."""
    return ProviderError(f"Invalid integer: {found}", code="parameter_invalid_integer", param=name)


def out_of_range(name: str, message: str) -> ProviderError:
    """A whole number outside what is allowed."""
    return ProviderError(message, code="parameter_invalid_integer", param=name)


def already_refunded(charge: str) -> ProviderError:
    """Nothing of the charge is left."""
    return ProviderError(
        f"Charge {charge} has already been refunded.", code="charge_already_refunded", executed=True
    )


def disputed(charge: str) -> ProviderError:
    """The customer's bank already took the money back."""
    return ProviderError(
        f"Charge {charge} has been charged back; cannot issue a refund.",
        code="charge_disputed",
        executed=True,
    )


def too_much(asked_minor: int, left_minor: int, currency: str) -> ProviderError:
    """More than is left of the charge; the provider sends no code with this one."""
    return ProviderError(
        f"Refund amount ({money(asked_minor, currency)}) is greater than unrefunded amount on charge "
        f"({money(left_minor, currency)})",
        param="amount",
        executed=True,
    )


def money(amount_minor: int, currency: str) -> str:
    """An amount as the provider writes it in messages: $20.00, ¥500, 12.345 KWD."""
    digits = EXPONENTS.get(currency, 2)
    whole, rest = divmod(amount_minor, 10**digits)
    number = f"{whole:,}.{rest:0{digits}d}" if digits else f"{whole:,}"
    symbol = _SYMBOLS.get(currency)
    return f"{symbol}{number}" if symbol else f"{number} {currency.upper()}"


def other_parameters(key: str) -> ProviderError:
    """The key was first used with other parameters."""
    return ProviderError(
        "Keys for idempotent requests can only be used with the same parameters they were first used with. "
        f"Try using a key other than '{key}' if you meant to execute a different request.",
        kind="idempotency_error",
    )


def other_endpoint(key: str, first: str) -> ProviderError:
    """The key was first used on another path."""
    return ProviderError(
        "Keys for idempotent requests can only be used for the same endpoint they were first used for "
        f"('{first}'). Try using a key other than '{key}' if you meant to execute a different request.",
        kind="idempotency_error",
    )


def key_in_use(key: str | None) -> ProviderError:
    """Another request with this key is still running."""
    return ProviderError(
        "There is currently another in-progress request using this Idempotent Key (that probably means you "
        f"submitted twice, and the other request is still going through): {key}. Please try again later.",
        status=409,
        kind="idempotency_error",
        code="idempotency_key_in_use",
    )


def key_too_long() -> ProviderError:
    """An idempotency key beyond the provider's 255 characters."""
    return ProviderError("Idempotency keys must be at most 255 characters long.", kind="idempotency_error")


def rate_limited() -> ProviderError:
    """Too many requests; nothing was executed."""
    return ProviderError(
        "Request rate limit exceeded. Learn more about rate limits at https://stripe.com/docs/rate-limits.",
        status=429,
        code="rate_limit",
    )


def locked() -> ProviderError:
    """The object is busy with another request; nothing was executed."""
    return ProviderError(
        "This object cannot be accessed right now because another API request or Stripe process is currently "
        "accessing it. If you see this error intermittently, retry the request.",
        status=429,
        code="lock_timeout",
        retry=True,
    )


def broken(*, retry: bool | None = None) -> ProviderError:
    """The provider itself failed; what it did before that is not said."""
    return ProviderError(
        "An unknown error occurred. If this persists, please contact support@stripe.com.",
        status=500,
        kind="api_error",
        executed=True,
        retry=retry,
    )
