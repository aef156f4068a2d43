"""How the database keeps what it has no type for, the same on SQLite and PostgreSQL.

Times are integer microseconds since 1970 in UTC; what has no columns of its own is JSON text, keys sorted.
"""

import json
from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger, Dialect, Text, TypeDecorator

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """Return an aware time as the integer the database holds."""
    assert at.tzinfo is not None, f"expected an aware time, found the naive {at}"
    return (at - EPOCH) // MICROSECOND


def instant(value: int) -> datetime:
    """Return the aware UTC time that the database's integer stands for."""
    return EPOCH + timedelta(microseconds=value)


class Instant(TypeDecorator[datetime]):
    """An aware time as integer microseconds UTC, because SQLite has no times and drops their offset."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002 -- SQLAlchemy's
        """Return the integer; a naive time is a bug."""
        return None if value is None else microseconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 -- SQLAlchemy's
        """Return the aware UTC time."""
        return None if value is None else instant(value)


class Document(TypeDecorator[object]):
    """JSON as text with sorted keys, so that equal documents are equal texts on both databases."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> str | None:  # noqa: ARG002 -- SQLAlchemy's
        """Return the text."""
        return None if value is None else canonical(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> object:  # noqa: ARG002 -- SQLAlchemy's
        """Return what the text says."""
        return None if value is None else json.loads(value)


def canonical(value: object) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, finite numbers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
