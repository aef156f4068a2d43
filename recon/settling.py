"""How a stuck intent is settled by a person: a live look at the provider, then done or not refunded.

Only reads the provider, and never for longer than a person waits. What it shows is not put into the mirror,
which belongs to the hour: the next run sees it as well. Who may act, and that nothing is overwritten, is in
recon/moving.py.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final, Self, TypeVar, Unpack

from recon.doors import config
from recon.doors.clock import Clock, utc_now
from recon.doors.store import mirror, revisions, settlements
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.model import phrases, subjects, wording
from recon.model.changes import Illegal
from recon.model.characters import keepable
from recon.model.errors import ProviderUnavailable
from recon.model.records.cases import Case
from recon.model.records.claims import Settlement
from recon.model.records.people import Operator
from recon.model.records.proposals import Proposal, ProposalId
from recon.model.records.provider import Refund
from recon.model.records.settlements import Books, Look, Retry, Seen
from recon.model.records.words import Action, CaseId, IntentKey, RefundId
from recon.model.settings import ProviderSettings, Settings
from recon.moving import By, Click, Move, Mover, Planned
from recon.rules import moves, settling

LOOK_SECONDS: Final = 10.0  # As long as somebody watches a page that says that it is asking.
GRACE_SECONDS: Final = 2.0  # More for what no timeout covers, such as finding the provider's address.
RETRY_SECONDS: Final = 3.0  # Of these for asking again: a rate limit passes, and the answer must still fit.

Opened = Callable[[ProviderSettings], Provider]
Rule = Callable[..., Planned]
Told = TypeVar("Told")


class Settling:
    """What a person may do about a stuck intent; keeps nothing of anybody's, so that all tabs share it."""

    def __init__(
        self, database: Database, settings: Settings, provider: Opened = Provider, clock: Clock = utc_now
    ) -> None:
        """provider: opens one; asked for at each look, because the key may come later than the desk."""
        self._database = database
        self._settings = settings
        self._provider = provider
        self._clock = clock
        self._mover = Mover(database, settings, clock)

    @classmethod
    def open(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Return the same over the database and the provider that the settings name.

        Raises:
            ConfigurationError: the settings or the database cannot be used as they are; the text says what
                to run.
            DatabaseUnavailable: it cannot be reached now.
        """
        settings = config.load(environ)
        return cls(revisions.ready(settings.database_url.reveal()), settings)

    def look(self, case_id: CaseId, *, version: int, operator: Operator, action_id: str) -> Seen | None:
        """Return what the provider shows now of the case's intent, in words too.

        The words become an entry of the case, also where the look-up broke off. None where this very action
        was made before: its entry tells.

        Raises:
            CaseMoved: somebody moved the case after this version; the text says who. Nothing was written.
            NotPermitted: the operator may only read. Nothing was asked or written.
            ProviderRefused: the provider refuses our key or the account. Nothing was written.
            Report: the case does not allow it, or there is no key. Nothing was written.
        """
        seen: list[Seen] = []

        def rule(case: Case, **by: Unpack[By]) -> Planned:
            books = self._books(case, Action.LOOKED)
            if isinstance(books, Illegal):
                return books
            if not books.intent.payment:
                return Illegal(
                    f"Intent {books.intent.key} names no payment, so that the provider cannot be asked for "
                    "its refunds: find it there, then confirm the intent by its id."
                )
            found, skew = self._look(books), self._settings.policy.clock_skew
            said = settling.shown(books.intent, found, skew=skew)
            seen.append(Seen(found, said, settling.likely(books.intent, found, skew=skew)))
            return moves.look(case, **(by | {"reason": said}))

        click = Click(version=version, reason="", operator=operator, action_id=action_id)
        self._mover.move(case_id, click, rule)
        return seen[-1] if seen else None

    def confirm(self, case_id: CaseId, *, refund_id: RefundId, **click: Unpack[Click]) -> Proposal | None:
        """Settle the intent as done by a refund, which is looked up at the provider first.

        Returns the proposal that was saved in the move's place, where another person must approve it; None
        where the move was made.

        Raises:
            CaseMoved: somebody moved the case or its rows meanwhile. Nothing was written.
            NotPermitted: the operator may only read. Nothing was written.
            ProviderUnavailable: no usable answer within `LOOK_SECONDS`. Nothing was written.
            Report: the refund does not prove it, or the case does not allow it, or the reason is missing or
                too long, or the provider refuses us. Nothing was written.
        """
        return self._mover.move(case_id, click, self.confirming(refund_id), {"refund_id": refund_id})

    def refute(self, case_id: CaseId, **click: Unpack[Click]) -> Proposal | None:
        """Settle the intent as not refunded, after a complete look at its payment; as `confirm`."""
        return self._mover.move(case_id, click, self.refuting())

    def approve(self, case_id: CaseId, *, proposal_id: ProposalId, **click: Unpack[Click]) -> None:
        """Settle the intent as another person proposed, after a look of one's own; raises as `confirm`."""
        carried: Mapping[Action, Move] = {Action.CONFIRMED: self.confirm, Action.REFUTED: self.refute}
        self._mover.carry_out(case_id, click, proposal_id, carried)

    def confirming(self, refund_id: RefundId) -> Rule:
        """Return the rule that settles a case's intent as done by a refund, as a Mover takes it."""
        named = RefundId(keepable(refund_id).strip())

        def rule(case: Case, **by: Unpack[By]) -> Planned:
            books = self._books(case, Action.CONFIRMED)
            if isinstance(books, Illegal):
                return books
            account, policy = books.intent.account, self._settings.policy
            told = self._ask(lambda provider, until: provider.retrieve(named, account, until=until))
            found = settlements.sightings(self._database, [told])[0] if isinstance(told, Refund) else told
            wrong = settling.unconfirmed(
                books, found, named, now=by["now"], guard=self._settings.guard, skew=policy.clock_skew
            )
            if wrong is not None:
                return Illegal(wrong)
            assert isinstance(told, Refund), "nothing else confirms an intent"
            said = f"The provider shows {settling.stands(told)}: intent {books.intent.key} is done by it. "
            return moves.settle(case, Settlement(books, told, by["now"]), said=said, **by)

        return rule

    def refuting(self) -> Rule:
        """Return the rule that settles a case's intent as not refunded, as a Mover takes it."""

        def rule(case: Case, **by: Unpack[By]) -> Planned:
            books = self._books(case, Action.REFUTED)
            if isinstance(books, Illegal):
                return books
            found = self._look(books)
            now, guard = by["now"], self._settings.guard
            wrong = settling.unrefuted(
                books, found, now=now, guard=guard, skew=self._settings.policy.clock_skew
            )
            if wrong is not None:
                return Illegal(wrong)
            verdict = settling.retry(books, found.sightings, now=now, within=guard.resend_within)
            said = settling.refuted(books, found, _advice(verdict))
            return moves.settle(case, Settlement(books, None, now), said=said, **by)

        return rule

    def retry(self, case: Case) -> Retry | None:
        """Return whether a request of the case's intent could be sent again, had it not been refunded.

        By our books alone; None where the case has no intent.
        """
        books = self._intent_of(case)
        if books is None:
            return None
        return settling.retry(books, now=self._clock(), within=self._settings.guard.resend_within)

    def _books(self, case: Case, action: Action) -> Books | Illegal:
        """Return what is known of the case's intent, or why a move is none, before anybody is asked."""
        if (refused := moves.refusal(case, action)) is not None:
            return refused
        books = self._intent_of(case)
        return Illegal(f"Case {case.id} speaks of an intent that is gone.") if books is None else books

    def _intent_of(self, case: Case) -> Books | None:
        side, key = subjects.parted(case.subject)
        if side != subjects.INTENT:
            return None
        return settlements.read(self._database, case.account, IntentKey(key))

    def _look(self, books: Books) -> Look:
        """Look an intent's payment up; an answer that does not come is part of what was found.

        Raises:
            ProviderRefused: the key or the account is wrong.
            ConfigurationError: there is no key, or it is of another mode than the refunds in the database.
        """
        at, intent = self._clock(), books.intent
        payment = intent.payment
        if not payment:
            return Look(at, failed="the intent names no payment.")
        try:
            shown = self._ask(lambda provider, until: provider.find(payment, intent.account, until=until))
        except ProviderUnavailable as away:
            return Look(at, failed=str(away))
        return Look(at, settlements.sightings(self._database, shown))

    def _ask(self, question: Callable[[Provider, float], Told]) -> Told:
        """Return what the provider answers, or give up when nobody would wait any longer.

        Raises:
            ProviderUnavailable: no usable answer in time.
            ProviderRefused: the key or the account is wrong.
            ConfigurationError: there is no key, or it is of another mode than the refunds in the database.
        """
        provider = self._provider(replace(self._settings.provider, retry_seconds=RETRY_SECONDS))
        provider.check_mode(mirror.accounts(self._database))  # What is absent in test mode may be live.
        until = time.monotonic() + LOOK_SECONDS
        answers: SimpleQueue[Told | Exception] = SimpleQueue()

        def asked() -> None:
            try:
                answers.put(question(provider, until))
            except Exception as error:  # noqa: BLE001 -- raised where somebody waits for it
                answers.put(error)

        # A thread of its own, because finding an address takes as long as it takes.
        Thread(target=asked, daemon=True, name="look-up").start()
        try:
            answer = answers.get(timeout=LOOK_SECONDS + GRACE_SECONDS)
        except Empty:
            raise ProviderUnavailable(
                f"The provider did not answer within {LOOK_SECONDS:g} seconds: nothing is known, try again."
            ) from None
        if isinstance(answer, Exception):
            raise answer
        return answer


def _advice(verdict: Retry) -> str:
    until = "" if verdict.until is None else phrases.minute(verdict.until)
    return wording.retry(verdict, until)
