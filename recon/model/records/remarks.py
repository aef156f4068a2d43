"""What an examination of an installation has to say: one remark for each thing that was looked at.

Never holds a secret: whoever makes a remark names a variable, not what it holds.
"""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a remark matters."""

    OK = "ok"  # As it should be.
    WARNING = "warning"  # The job works tonight, with less than it could have; or this could not be known.
    FAILURE = "failure"  # The job will not do all of its work before somebody acts.


class Section(StrEnum):
    """What a remark is about, in the order in which people read them."""

    CONFIGURATION = "configuration"  # Files, keys, values and the environment.
    PACKAGES = "packages"  # What is installed.
    OWNERS = "owners"  # owners.toml.
    DATABASE = "database"  # recon's own.
    INTENTS = "intents"  # What was meant, here or in a table of somebody else's.
    PROVIDER = "provider"  # The key, and what it may do.
    CLOCK = "clock"  # Ours beside the provider's and the database's.
    SLACK = "slack"  # The token, and whom it reaches.
    DASHBOARD = "dashboard"  # Who gets in, and how.
    SCHEDULE = "schedule"  # Whether the job runs, and who would notice if not.


@dataclass(frozen=True, slots=True)
class Remark:
    """One line of an examination.

    found: one sentence. todo: what to do about it, as one sentence; "" where there is nothing to do.
    """

    section: Section
    level: Level
    found: str
    todo: str = ""
