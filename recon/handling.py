"""What acts in the world for the guard: the provider's refunds, or any function; a step of recon/guard.py.

Never decides whether to act, and never raises for what the world does.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from recon.doors.stripe.provider import Provider
from recon.doors.stripe.wire import Missing, Senseless
from recon.model import characters, refusals
from recon.model.errors import ProviderRefused, ProviderUnavailable
from recon.model.records.guarded import Answer, AnswerKind, Finding, FindingKind, Guarded
from recon.model.records.provider import Refund
from recon.model.records.words import RefundId
from recon.model.settings import Settings
from recon.rules import answers

Body = Mapping[str, object]
# Sends a body under a key, and returns the id of what it made; None where that has none. It needs a limit of
# its own, shorter than the lease: nothing stops it, and a second call may look for what it did after that.
Sender = Callable[[str, Body], str | None]
# Returns the id of what a key made, None where everything was looked through and nothing is there.
Finder = Callable[[str, Body], str | None]


def reached(settings: Settings) -> Provider:
    """Return the provider as a call with a deadline asks it: no read is tried again.

    Raises:
        ConfigurationError: there is no key.
    """
    asked = replace(
        settings.provider,
        read_timeout_seconds=settings.guard.send_timeout_seconds,
        retry_limit=0,
    )
    return Provider(asked)


class Refunds:
    """Refunds at the provider."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def send(self, row: Guarded, *, until: float) -> Answer:
        """Send the stored body once with the row's key."""
        return answers.answer(self._provider.send(row.body, row.key, row.account, until=until), row)

    def find(self, row: Guarded, *, until: float) -> Finding:
        """Return what all refunds of the payment say of the row's key."""
        if row.payment is None:
            return Finding(FindingKind.UNPROVED, said="it names no payment to look at")
        try:
            return answers.finding(self._provider.find(row.payment, row.account, until=until), row.key)
        except (Missing, Senseless) as error:  # It answers, and knows of no such payment.
            return Finding(FindingKind.UNPROVED, said=str(error))
        except (ProviderUnavailable, ProviderRefused) as error:  # A broken list, or a key that may not read.
            return Finding(FindingKind.UNREADABLE, said=str(error))

    def check(self, row: Guarded, *, until: float) -> Finding:
        """Return how the refund that the row names stands now."""
        assert row.result_id is not None, f"nothing was made of {row.key}"
        try:
            found = self._provider.retrieve(RefundId(row.result_id), row.account, until=until)
        except (ProviderUnavailable, ProviderRefused) as error:  # As above.
            return Finding(FindingKind.UNREADABLE, said=str(error))
        if isinstance(found, Refund):
            return answers.standing(found)
        said = "it is not shown" if found is None else found.reason
        return Finding(FindingKind.UNREADABLE, said=said)

    def now(self) -> datetime | None:
        """Return the provider's time at its latest answer."""
        return self._provider.now()


class Functions:
    """Any side effect that a function has, and the function that finds it, where the world allows one."""

    def __init__(self, send: Sender, find: Finder | None = None, *, keyed: bool = False) -> None:
        """keyed: whether the world does one key once, so that what is not found may be sent again."""
        self._send = send
        self._find = find
        self._keyed = keyed

    def send(self, row: Guarded, *, until: float) -> Answer:  # noqa: ARG002 -- the function has its own limit
        """Call the function once; ProviderRefused is its way to say that nothing was done."""
        try:
            made: object = self._send(row.key, row.body)
        except ProviderRefused as refused:  # The one answer that says so clearly.
            return Answer(AnswerKind.REFUSED, refusals.masked(str(refused)))
        except Exception as error:  # noqa: BLE001 - whatever it is, it may have been done before that
            return Answer(AnswerKind.UNKNOWN, type(error).__name__)
        name = named(made)
        if made is not None and name is None:
            return Answer(AnswerKind.UNKNOWN, f"it returned no id but {type(made).__name__}")
        return Answer(AnswerKind.DONE, id=name)

    def find(self, row: Guarded, *, until: float) -> Finding:  # noqa: ARG002 -- as above
        """Return what the function finds; without one nothing is ever proved."""
        if self._find is None:
            return Finding(FindingKind.UNPROVED, said="nothing can look for it")
        try:
            found: object = self._find(row.key, row.body)
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing is proved
            return Finding(FindingKind.UNREADABLE, said=type(error).__name__)
        if found is None and self._keyed:
            return Finding(FindingKind.ABSENT)
        if found is None:  # The one that was sent may still be under way, and a second would be another.
            return Finding(FindingKind.UNPROVED, said="it is not there, or not there yet")
        name = named(found)
        if name is None:
            return Finding(FindingKind.UNPROVED, said=f"it returned no id but {type(found).__name__}")
        return Finding(FindingKind.LIVE, name)

    def check(self, row: Guarded, *, until: float) -> Finding:  # noqa: ARG002 -- as above
        """Return that what was made is made: a function's result has no later life."""
        return Finding(FindingKind.LIVE, row.result_id)

    def now(self) -> datetime | None:
        """Return None: a function tells no time."""
        return None


def named(made: object) -> str | None:
    """Return an id as the text that any database keeps; None for what is none, such as a bare yes or no."""
    known = isinstance(made, str | int | UUID) and not isinstance(made, bool)
    return (characters.keepable(str(made)) or None) if known else None
