"""What several commands can be told in the same words. Never does anything with it."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer

from recon.model import moments
from recon.model.errors import ConfigurationError


class Format(StrEnum):
    """How a report is written."""

    TABLE = "table"
    JSON = "json"


Output = Annotated[Format, typer.Option("--format", help="Table for people, JSON for programs.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", metavar="", help="Say what a run would do; write nothing but the mirror.")
]
FailOnMismatch = Annotated[
    bool, typer.Option("--fail-on-mismatch", metavar="", help="Exit 1 if there are mismatches.")
]
Wait = Annotated[
    int,
    typer.Option(
        metavar="SECONDS", min=0, max=86400, help="Wait that long at most while another run is at it."
    ),
]


def time(option: str, text: str) -> datetime:
    """Return an option's time.

    Raises:
        ConfigurationError: it is not ISO 8601, or carries no zone. Nothing was read.
    """
    moment = moments.read(text)
    if moment is None:
        raise ConfigurationError(
            f"{option} must be an ISO 8601 time with its zone, such as 2026-03-06T19:00:00Z; "
            f"found {text[:40]!r}."
        )
    return moment
