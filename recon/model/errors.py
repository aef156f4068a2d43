"""What can go wrong at a door, as a tree that says what the caller must do.

    ReconError
      Wait        the world may recover by itself: try later, tell nobody yet
        ProviderUnavailable, DatabaseUnavailable
      Report      a person must put something right: say what, exit 2
        ConfigurationError, UnusableInput, ProviderRefused, NotPermitted
      Reload      what was decided on has moved: read again and decide again
        CaseMoved, SwitchMoved
      Stop        this process must write nothing more
        LeaseHeld, LeaseLost

Bad data is not an error but a value (see Reject); a bug is an assert. Messages say what was expected, what
was found and which id; never a secret, card data or a database URL.
"""


class ReconError(Exception):
    """Anything that a door reports; its text is one sentence for a person."""


class Wait(ReconError):
    """The world may recover by itself."""


class ProviderUnavailable(Wait):
    """The provider did not answer usably; for a call with side effects that means unknown, not failed."""


class DatabaseUnavailable(Wait):
    """The database could not be reached or is locked."""


class Report(ReconError):
    """A person must put something right."""


class ConfigurationError(Report):
    """A setting is missing, wrong, or does not fit what it is used on."""


class UnusableInput(Report):
    """A file or table cannot be read as what it is said to be."""


class ProviderRefused(Report):
    """The provider refused the key, the account or the request."""


class NotPermitted(Report):
    """The operator's role does not allow this."""


class Reload(ReconError):
    """What was decided on has moved."""


class CaseMoved(Reload):
    """Somebody moved the case after it was read; nothing was written."""


class SwitchMoved(Reload):
    """Somebody moved the kill switch after it was read; nothing was written."""


class Stop(ReconError):
    """This process must write nothing more."""


class LeaseHeld(Stop):
    """Another run holds the lease; nothing was written."""


class LeaseLost(Stop):
    """Another run has taken the lease since; nothing was written."""
