"""Which extra a command needs, said in one sentence where it is not installed."""

from collections.abc import Iterator
from contextlib import contextmanager

from recon.model.errors import ConfigurationError


@contextmanager
def needed(what: str, extra: str) -> Iterator[None]:
    """Import within this what only the extra brings; what is the part of the product that needs it.

    Raises:
        ConfigurationError: a package of somebody else's is not installed. One of ours is a bug, and passes.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "recon").partition(".")[0] == "recon":
            raise
        raise ConfigurationError(
            f"{what} needs {missing.name}, which is not installed: pip install 'refund-recon[{extra}]'."
        ) from missing
