"""The provider's memory of idempotency keys (v1): the first answer of a request whose execution began.

Source: https://docs.stripe.com/api/idempotent_requests. Keys are per account and mode; a refused
validation, a rate limit or a conflict leaves none.
"""

from __future__ import annotations

from dataclasses import dataclass

from recon.sandbox import errors

# The provider prunes keys after at least 24 hours; the sandbox does so at 24 exactly.
KEPT_S = 24 * 3600
KEY_LIMIT = 255


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a key is unique."""

    account: str
    live: bool
    key: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asked for: its path and its decoded parameters, sorted."""

    path: str
    params: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored answer, and the id of the request that got it first."""

    status: int
    body: bytes
    request: str


@dataclass(slots=True)
class _Entry:
    asked: Asked
    at: float
    kept: Kept | None = None


class Keys:
    """Every key seen within the time they are kept."""

    def __init__(self) -> None:
        self._entries: dict[Scope, _Entry] = {}

    def begin(self, scope: Scope, asked: Asked, *, now: float) -> Kept | None:
        """The stored answer to replay, or None when the request now runs under its key.

        Raises:
            ProviderError: the key is too long, is running, or was used for something else. Nothing was kept.
        """
        if len(scope.key) > KEY_LIMIT:
            raise errors.key_too_long()
        entry = self._entries.get(scope)
        if entry is not None and entry.kept is not None and now - entry.at >= KEPT_S:
            entry = None
        if entry is None:
            self._entries[scope] = _Entry(asked, now)
            return None
        if entry.asked.path != asked.path:
            raise errors.other_endpoint(scope.key, entry.asked.path)
        if entry.asked.params != asked.params:
            raise errors.other_parameters(scope.key)
        if entry.kept is None:
            raise errors.key_in_use(scope.key)
        return entry.kept

    def keep(self, scope: Scope, kept: Kept) -> None:
        """Store the first answer of the request that runs under this key."""
        self._entries[scope].kept = kept

    def forget(self, scope: Scope) -> None:
        """Leave nothing under the key of a request that was not executed."""
        self._entries.pop(scope, None)
