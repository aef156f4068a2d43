"""What has come of one account while its refunds are read. Counts and notes, and never reads or saves."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from recon.model.records.progress import Pulling
from recon.model.records.provider import RefundEvent
from recon.model.records.results import Reject
from recon.model.records.runs import Account, AccountReading, Cursors
from recon.model.records.words import RefundId


@dataclass(frozen=True, slots=True)
class Pulled:
    """What was read of one account.

    account: what is known of it now. rejects: rows of the provider's that cannot be judged.
    """

    account: Account
    reading: AccountReading
    rejects: tuple[Reject, ...] = ()


@dataclass(slots=True)
class Tally:
    """What has come of one account so far.

    rejects: on pages; unread: among what hints named. hints: what events said of a refund, by id. listed:
    those that the provider told of now. seen: those that need not be looked at any more. whole: the window
    was read to its end. sliced: parts of it are written down.
    """

    account: Account
    cursors: Cursors
    progress: Pulling
    pages: int = 0
    refunds: int = 0
    changed: int = 0
    whole: bool = False
    sliced: bool = False
    rejects: list[Reject] = field(default_factory=list)
    unread: list[Reject] = field(default_factory=list)
    hints: dict[RefundId, RefundEvent] = field(default_factory=dict)
    listed: set[RefundId] = field(default_factory=set)
    seen: set[RefundId] = field(default_factory=set)

    def note(self, events: Iterable[RefundEvent]) -> None:
        """Keep the latest time that is told of each refund, and the key that only its creation tells."""
        for event in events:
            known = self.hints.get(event.refund_id, event)
            self.hints[event.refund_id] = RefundEvent(
                event.refund_id,
                event.request_key or known.request_key,
                max(event.created_at, known.created_at),
            )

    def turn(self, pages: int, slices_read: int) -> None:
        """Count pages that were saved, and slices that they ended."""
        self.pages += pages
        done = self.progress.slices_read + slices_read
        self.progress = replace(self.progress, pages=self.pages, refunds=self.refunds, slices_read=done)

    def pulled(self, from_at: datetime, to_at: datetime, error: str | None) -> Pulled:
        """Return what came of reading a window; error: what broke off."""
        reading = AccountReading(
            self.account.account,
            from_at,
            to_at,
            complete=error is None,
            pages=self.pages,
            refunds=self.refunds,
            changed=self.changed,
            error=error,
        )
        return Pulled(self.account, reading, (*self.rejects, *self.unread))


def nothing(account: Account, from_at: datetime, to_at: datetime, error: str) -> Pulled:
    """Return that nothing was read of an account; error: why."""
    return Tally(account, Cursors(), Pulling(account.account, 1, 1)).pulled(from_at, to_at, error)
