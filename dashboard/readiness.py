"""What the first visitor would wait for: loaded while nobody has come yet, and left alone from then on."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

import dashboard
from dashboard import nagle

# The pages themselves, which Streamlit runs for each visitor, and the module that asks for this.
RUN: Final = frozenset({"app", "served", "views"})


@asynccontextmanager
async def ready(_: object) -> AsyncIterator[None]:
    """Load beside the server what its pages import: it answers at once, also while it still loads."""
    nagle.switch_off()
    loading = asyncio.create_task(asyncio.to_thread(_load))
    yield
    await loading


def _load() -> None:
    """Load the pages' parts, pandas among them, and take them out of what garbage is looked for in."""
    for found in iter_modules(dashboard.__path__):
        if found.name not in RUN:
            import_module(f"dashboard.{found.name}")
    gc.collect()
    gc.freeze()
