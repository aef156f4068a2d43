"""A refund tool with books of its own on this machine, and what the environment of one says; gone afterwards.

For `recon smoke` and for the pytest plugin: neither may touch books that somebody keeps.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from recon.doors.store import triggers
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.guard import RefundTool
from recon.model import guarded, holds, rights, tables
from recon.model.settings import GuardSettings, ProviderSettings, Secret

KEY = "sk_test_sandbox"  # Opens no door anywhere: the sandbox takes any key of this shape.
_HERE = "127.0.0.1,localhost"
_UNPACED = 1000.0  # Requests a second at an address of our own.
_SHARE = 3  # A call has a third of its time for sending, and the rest to look what came of it.
# Their tables are part of the schema once they are loaded.
_SCHEMA = (tables, guarded, holds, rights)


@contextmanager
def books(path: Path) -> Iterator[Database]:
    """Yield a new SQLite database with every table; it needs no alembic, which an agent's process lacks."""
    with Database.open(f"sqlite:///{path}") as database:
        with database.write() as connection:
            for each in _SCHEMA:
                each.metadata.create_all(connection)
            triggers.install(connection)
        yield database


def provider(url: str | None, key: str, *, patience_seconds: float) -> Provider:
    """Return the provider at an address as a call with a deadline asks it; None is the provider's own."""
    told = ProviderSettings(
        api_key=Secret(key), base_url=url, read_timeout_seconds=patience_seconds / _SHARE, retry_limit=0
    )
    return Provider(told if url is None else replace(told, requests_per_second=_UNPACED))


@contextmanager
def tool(
    database: Database, url: str, key: str = KEY, *, patience_seconds: float = 3.0
) -> Iterator[RefundTool]:
    """Yield the guarded tool on these books, at the provider of that address.

    patience_seconds: of one whole call, look-up included.
    """
    settings = GuardSettings(
        deadline_seconds=patience_seconds, send_timeout_seconds=patience_seconds / _SHARE
    )
    made = RefundTool(database, provider(url, key, patience_seconds=patience_seconds), settings=settings)
    try:
        yield made
    finally:
        made.close()


def environment(url: str, path: Path, key: str = KEY, *, proxies: str = "") -> Mapping[str, str]:
    """Return the variables under which somebody's own tool finds that provider and those books.

    proxies: what NO_PROXY says already; this machine is never reached through a proxy.
    """
    direct = ",".join(filter(None, (proxies, _HERE)))
    return {
        "STRIPE_API_KEY": key,
        "RECON_STRIPE_BASE_URL": url,
        "RECON_DATABASE_URL": f"sqlite:///{path}",
        "NO_PROXY": direct,
        "no_proxy": direct,
    }
