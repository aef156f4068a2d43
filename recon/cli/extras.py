"""Which extra a command needs, said in one sentence where it is not installed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from recon.cli import exits
from recon.model.errors import ConfigurationError

_OURS = {"recon", "jobs"}


@contextmanager
def needed(what: str, extra: str) -> Iterator[None]:
    """Import within this what only the extra brings; what is the part of the product that needs it.

    Raises:
        ConfigurationError: a package of somebody else's is not installed. One of ours is a bug, and passes.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        package = (missing.name or "recon").partition(".")[0]
        if package in _OURS:
            raise
        raise ConfigurationError(
            f"{what} needs {package}, which is not installed: pip install 'refund-recon[{extra}]' "
            f"(in the folder of a clone: pip install '.[{extra}]')."
        ) from missing


@contextmanager
def required(what: str, extra: str) -> Iterator[None]:
    """Import within this what a program cannot begin without.

    Raises:
        SystemExit: a package of somebody else's is not installed; stderr says which.
    """
    try:
        with needed(what, extra):
            yield
    except ConfigurationError as lacking:
        print(f"recon: {lacking}", file=sys.stderr)
        sys.exit(exits.CONFIGURATION)
