"""A company during a month: its intents, its payments, what its tool does, and when everything happens.

Each episode has payments, orders and keys of its own, so that the truth about it needs no look at any
other. Everything that happens is a step at a moment; the same seed takes the same steps.
"""

import heapq
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from random import Random
from typing import Any

from sqlalchemy import delete, select, update

from recon.doors import intents
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.provider import Intent
from recon.model.records.words import AccountId, IntentKey, IntentStatus, RefundId
from recon.sandbox.provider import Origin, Payment, Refund, Wish
from tests.month.street import Street

Row = Mapping[Any, Any]
Step = Callable[[], object]
EDGES = 3  # Runs that the re-list may need beside its slices, until it has met everything once.


@dataclass(slots=True)
class Episode:
    """One thing that happens in this company, with all that belongs to it.

    blind: complete runs that may still not see all of it, because the provider shows or tells something late
    or because it happened in the middle of a run. moved_at: when the provider last did something of it.
    """

    name: str
    account: AccountId
    keys: set[str] = field(default_factory=set)
    refunds: list[Refund] = field(default_factory=list)
    request_keys: dict[str, str | None] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    blind: int = 0
    moved_at: float = 0.0

    def hide(self, runs: int) -> None:
        """Let the next so many complete runs not see all of it."""
        self.blind = max(self.blind, runs)

    def refund(self, name: str) -> Refund:
        """Return its refund of this id."""
        return next(each for each in self.refunds if each.id == name)


class Company:
    """What the tool, the customers, the banks and the books of one company do."""

    def __init__(self, street: Street, database: Database, chance: Random, *, slices: int) -> None:
        self.street, self.database, self.chance = street, database, chance
        self.late = slices + EDGES
        self.episodes: dict[str, Episode] = {}
        self.drift = timedelta(0)
        self.opened = ExitStack()
        self._steps: list[tuple[datetime, int, Step]] = []
        self._number = count()

    @property
    def now(self) -> datetime:
        """Return the provider's time."""
        return self.street.now

    def local(self) -> datetime:
        """Return what our own clock shows: the provider's time, and minutes of drift."""
        return self.street.now + self.drift

    def at(self, moment: datetime, step: Step) -> None:
        """Let something happen at a moment."""
        heapq.heappush(self._steps, (moment, next(self._number), step))

    def after(self, span: timedelta, step: Step) -> None:
        """Let something happen some time from now."""
        self.at(self.now + span, step)

    def go_to(self, moment: datetime) -> None:
        """Take every step until this moment, each at its own."""
        while self._steps and self._steps[0][0] <= moment:
            at, _, step = heapq.heappop(self._steps)
            self.street.go_to(at)
            step()
        self.street.go_to(moment)

    def hurry(self, steps: int) -> None:
        """Let the next few things happen now."""
        for _ in range(min(steps, len(self._steps))):
            heapq.heappop(self._steps)[2]()

    def stop(self) -> None:
        """Let nothing more happen; what is still being written is committed."""
        self._steps.clear()
        self.opened.close()

    def episode(self, name: str, account: AccountId) -> Episode:
        """Begin an episode."""
        begun = self.episodes[name] = Episode(name, account)
        return begun

    def of_subject(self, account: str, subject: str) -> Episode | None:
        """Return the episode that a case is about."""
        kind, _, name = subject.partition(":")
        for each in self.episodes.values():
            own = each.keys if kind == "intent" else each.request_keys
            if each.account == account and name in own:
                return each
        return None

    def payment(self, episode: Episode, minor: int, *, currency: str = "usd", **more: Any) -> str:  # noqa: ANN401 - any field
        """Make a captured payment, large enough for some refunds of that amount; return its id."""
        name = f"pi_{episode.name}_{next(self._number)}"
        self.street.world.provider.add_payment(
            Payment(
                intent=name,
                charge=f"ch_{name[3:]}",
                account=episode.account,
                amount_minor=minor * 400,
                currency=currency,
                created=int(self.now.timestamp()),
                **more,
            )
        )
        return name

    def intent(self, episode: Episode, minor: int, payment: str | None, **changes: Any) -> Intent:  # noqa: ANN401 - any field
        """Return a new intent as the tool writes it down before it sends; not yet written."""
        key = f"refund_order:{episode.name}:{next(self._number)}"
        ordinary: dict[str, Any] = {
            "key": IntentKey(key),
            "account": episode.account,
            "amount_minor": minor,
            "currency": "usd",
            "status": IntentStatus.PENDING,
            "created_at": self.now,
            "updated_at": self.now,
            "order_id": f"order_{episode.name}",
            "payment": payment,
            "first_sent_at": self.now,
            "tool": "refund_order",
            "team": "support",
            "customer_id": f"cus_{episode.name}",
        }
        made = Intent(**{**ordinary, **changes})
        episode.keys.add(made.key)
        return made

    def write(self, intent: Intent) -> Intent:
        """Write an intent down."""
        with self.database.write() as connection:
            assert intents.put(connection, intent)
        return intent

    def intend(self, episode: Episode, minor: int, payment: str | None, **changes: Any) -> Intent:  # noqa: ANN401 - any field
        """Write a new intent down, now."""
        return self.write(self.intent(episode, minor, payment, **changes))

    def write_slowly(self, intent: Intent, commit_at: datetime) -> None:
        """Let a transaction that writes an intent commit much later than it began.

        SQLite has one writer, so that nobody can be so slow there: the row is written late.
        """
        if self.database.dialect == "sqlite":
            self.at(commit_at, lambda: self.write(intent))
            return
        transaction = ExitStack()
        connection = transaction.enter_context(self.database.write())
        self.opened.callback(transaction.close)
        assert intents.put(connection, intent)
        self.at(commit_at, transaction.close)

    def record(self, intent: Intent, **values: object) -> None:
        """Change an intent's row."""
        columns = tables.intents.c
        same = (columns.account == intent.account) & (columns.key == intent.key)
        with self.database.write() as connection:
            changed = {"updated_at": self.now, **values}
            connection.execute(update(tables.intents).where(same).values(changed))

    def done(self, intent: Intent, refund: Refund) -> None:
        """Record that an intent's refund was accepted."""
        self.record(intent, status=IntentStatus.DONE, refund_id=refund.id)

    def forget(self, intent: Intent) -> None:
        """Delete an intent's row."""
        columns = tables.intents.c
        same = (columns.account == intent.account) & (columns.key == intent.key)
        with self.database.write() as connection:
            connection.execute(delete(tables.intents).where(same))

    def pay(
        self,
        episode: Episode,
        payment: str,
        minor: int,
        *,
        named: str | None = None,
        request_key: str | None = None,
        status: str | None = None,
        reason: str | None = None,
    ) -> Refund:
        """Make a refund.

        named: the intent's key in its metadata. request_key: the idempotency key of the request; None is the
        provider's own dashboard.
        """
        books = self.street.world.provider
        found = books.payment(episode.account, payment)
        assert found is not None
        wish = Wish(minor, reason, {"intent_key": named} if named else {}, status)
        origin = Origin("req_tool", request_key) if request_key else Origin()
        refund = books.refund(found, wish, origin=origin, now=self.now.timestamp())
        episode.refunds.append(refund)
        episode.moved_at = self.now.timestamp()
        episode.request_keys[refund.id] = request_key
        return refund

    def send(self, episode: Episode, intent: Intent, **changes: Any) -> Refund:  # noqa: ANN401 - what pay takes
        """Make an intent's refund, each time under another key, its intent named in the metadata."""
        assert intent.payment is not None
        key = f"{intent.key}:{next(self._number)}"
        asked: dict[str, Any] = {
            "minor": intent.amount_minor,
            "named": intent.key,
            "request_key": key,
        } | changes
        return self.pay(episode, intent.payment, **asked)

    def mend(
        self, episode: Episode, refund: Refund, status: str, *, told_after: timedelta | None = None
    ) -> None:
        """Let the bank change its mind; told_after: how late the event shows, which then is of now.

        What went out once may fail, and is never on its way again.
        """
        books, before, moment = self.street.world.provider, refund.status, self.now.timestamp()
        if before == status or before in {"failed", "canceled"} or status == "pending":
            return
        episode.moved_at = moment
        if told_after is None:
            books.change(refund, status, None, origin=Origin(), now=moment)
            return
        refund.status = status
        refund.failure_reason = "lost_or_stolen_card" if status == "failed" else None
        refund.pending_reason = None
        episode.hide(self.late)

        def tell() -> None:
            before_it = {"status": before}
            books._tell("refund.updated", refund, Origin(), moment, previous=before_it)  # noqa: SLF001 - late

        self.after(told_after, tell)

    def rows(self) -> dict[tuple[str, str], Row]:
        """Return the intents that are committed now."""
        with self.database.read() as connection:
            found = connection.execute(select(tables.intents)).mappings().all()
        return {(row["account"], row["key"]): row for row in found}

    def named(self, account: str, key: str) -> Intent | None:
        """Return an intent as it stands; None where somebody deleted it."""
        with self.database.read() as connection:
            return intents.get(connection, AccountId(account), IntentKey(key))

    def adopted(self, episode: Episode, refund: Refund) -> None:
        """Write down the intent that a stray refund should have had."""
        payment = refund.payment.intent
        self.intend(
            episode,
            refund.amount_minor,
            payment,
            currency=refund.payment.currency,
            status=IntentStatus.DONE,
            refund_id=RefundId(refund.id),
        )
