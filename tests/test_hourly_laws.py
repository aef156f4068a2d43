"""The law of touched reading: after any history, a full diff finds nothing that the hour left out."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, update

from recon import hourly
from recon.desk import CaseView, Desk
from recon.doors import intents
from recon.doors.store import cases as book
from recon.doors.store import reading
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Identity, Page, Provider
from recon.model import tables
from recon.model.errors import ProviderUnavailable, Report
from recon.model.records.people import Operator
from recon.model.records.provider import Intent, Refund, RefundEvent
from recon.model.records.words import (
    AccountId,
    Action,
    Actor,
    IntentKey,
    IntentStatus,
    RefundId,
    Resolution,
    Role,
)
from recon.model.settings import ProviderSettings, Secret, Settings
from recon.moving import Click
from recon.rules import stories
from tests.builders import NOON, a_refund, an_intent
from tests.databases import Fresh
from tests.hours import OWNERS

ANA = Operator(Actor("ana"), Role.OPERATOR)
DECISIONS = (
    Action.ACKNOWLEDGED,
    Action.RESOLVED,
    Action.ACCEPTED,
    Action.REOPENED,
    Action.SNOOZED,
)
KEYS = ("a", "b", "c", "d", "e")
NAMES = ("re_1", "re_2", "re_3", "re_4", "re_5", "re_6")
PAYMENTS = ("pi_1", "pi_2", "ch_1")

key, name, payment = st.sampled_from(KEYS), st.sampled_from(NAMES), st.sampled_from(PAYMENTS)
amount = st.sampled_from((4900, 1000))
STEP = st.one_of(
    st.tuples(st.just("wait"), st.sampled_from((1, 5, 15, 60, 60 * 24, 60 * 24 * 8))),
    st.tuples(st.just("intend"), key, payment, amount, st.sampled_from(IntentStatus), st.sampled_from("xy")),
    st.tuples(st.just("begin"), payment, amount, st.sampled_from(IntentStatus), st.sampled_from("xy")),
    st.tuples(st.just("commit"), st.integers(0, 2)),
    st.tuples(st.just("say"), key, st.sampled_from(IntentStatus), st.one_of(st.none(), name)),
    st.tuples(st.just("repay"), key, payment),
    st.tuples(st.just("forget"), key),
    st.tuples(st.just("refund"), name, payment, amount, st.one_of(st.none(), key)),
    st.tuples(st.just("mend"), name, st.sampled_from(("succeeded", "failed", "canceled"))),
    st.tuples(st.just("break"), st.just(0)),
    st.tuples(st.just("decide"), st.integers(0, 3), st.sampled_from(DECISIONS)),
    st.tuples(st.just("claim"), st.integers(0, 3), st.sampled_from(("adopt", "unlink"))),
    st.tuples(st.just("link"), st.integers(0, 3), name, key),
    st.tuples(st.just("run"), st.just(0)),
)


class Memory(Provider):
    """A provider that is a dictionary: what it holds, it shows at once."""

    def __init__(self) -> None:
        super().__init__(ProviderSettings(api_key=Secret("sk_test_memory")))
        self.held: dict[RefundId, Refund] = {}
        self.changed: list[RefundEvent] = []
        self.time = NOON
        self.broken = False

    def account(self, account: AccountId = AccountId("")) -> Identity:
        return Identity("acct_memory", livemode=False)

    def now(self) -> datetime:
        return self.time

    def refunds(self, account: AccountId, created_from: datetime, created_to: datetime) -> Iterator[Page]:
        held = [each for each in self.held.values() if created_from <= each.created_at <= created_to]
        yield Page(tuple(held), (), 1, last=not self.broken)
        if self.broken:
            raise ProviderUnavailable("page 2 broke off")

    def refund_events(
        self, account: AccountId, since: datetime, until: datetime | None = None
    ) -> Iterator[RefundEvent]:
        held = [event for event in self.changed if event.created_at >= since]
        return iter([event for event in held if until is None or event.created_at <= until])

    def retrieve(
        self,
        refund_id: RefundId,
        account: AccountId,
        *,
        until: float | None = None,
    ) -> Refund | None:
        return self.held.get(refund_id)


class History:
    """Applies steps to a database and a provider."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.provider = Memory()
        self.clicks = 0
        self.begun = count()
        self.late: list[ExitStack] = []
        self.desk = Desk(database, Settings(owners=OWNERS), clock=lambda: self.provider.time)

    def run(self, *, full: bool = False, dry_run: bool = False) -> hourly.RunReport:
        """Pass over the books; full: as if the settings had changed in a way that changes no judgement."""
        told = replace(self.provider._settings, metadata_key="other" if full else "intent_key")  # noqa: SLF001
        options = Settings(provider=told, owners=OWNERS)
        return hourly.run(
            self.database, self.provider, options, clock=lambda: self.provider.time, dry_run=dry_run
        )

    def take(self, step: tuple[object, ...]) -> None:
        getattr(self, f"do_{step[0]}")(*step[1:])

    def do_wait(self, minutes: int) -> None:
        self.provider.time += timedelta(minutes=minutes)

    def do_intend(self, key: str, payment: str, minor: int, status: IntentStatus, order: str) -> None:
        self._write(self._intent(key, payment, minor, status, order))

    def do_begin(self, payment: str, minor: int, status: IntentStatus, order: str) -> None:
        """Write an intent in a transaction that commits later; SQLite's one writer is only late."""
        intent = self._intent(f"late {next(self.begun)}", payment, minor, status, order)
        transaction = ExitStack()
        if self.database.dialect == "sqlite":
            transaction.callback(self._write, intent)
        else:
            intents.put(transaction.enter_context(self.database.write()), intent)
        self.late.append(transaction)

    def do_commit(self, place: int) -> None:
        if place < len(self.late):
            self.late.pop(place).close()

    def end(self) -> None:
        """Let every transaction commit."""
        while self.late:
            self.do_commit(0)

    def _write(self, intent: Intent) -> None:
        with self.database.write() as connection:
            intents.put(connection, intent)

    def _intent(self, key: str, payment: str, minor: int, status: IntentStatus, order: str) -> Intent:
        now = self.provider.time
        return an_intent(
            key=IntentKey(key),
            payment=payment,
            amount_minor=minor,
            status=status,
            refund_id=None,
            order_id=order,
            created_at=now,
            updated_at=now,
            first_sent_at=now,
        )

    def _change(self, key: str, **values: object) -> None:
        with self.database.write() as connection:
            connection.execute(update(tables.intents).where(tables.intents.c.key == key).values(values))

    def do_say(self, key: str, status: IntentStatus, refund_id: str | None) -> None:
        self._change(key, status=status, refund_id=refund_id, updated_at=self.provider.time)

    def do_repay(self, key: str, payment: str) -> None:
        self._change(key, payment=payment)

    def do_forget(self, key: str) -> None:
        with self.database.write() as connection:
            connection.execute(delete(tables.intents).where(tables.intents.c.key == key))

    def do_refund(self, name: RefundId, payment: str, minor: int, key: IntentKey | None) -> None:
        if name not in self.provider.held:
            kind = "charge" if payment.startswith("ch_") else "payment_intent"
            made = a_refund(
                id=name,
                amount_minor=minor,
                status="pending",
                intent_key=key,
                created_at=self.provider.time,
                **{"payment_intent": None, "charge": None, kind: payment},
            )
            self.provider.held[name] = made

    def do_mend(self, name: RefundId, status: str) -> None:
        known = self.provider.held.get(name)
        if known is not None and known.status == "pending":
            self.provider.held[name] = replace(known, status=status)
            self.provider.changed.append(RefundEvent(name, None, self.provider.time))

    def do_break(self, _: int) -> None:
        self.provider.broken = True
        self.run()
        self.provider.broken = False

    def _case(self, place: int) -> CaseView | None:
        """Return one of the cases there are, as the desk shows it."""
        known = reading.read(self.database, full=True, mark=0, as_of=self.provider.time).cases
        return self.desk.case(known[place].id, operator=ANA) if place < len(known) else None

    def _click(self, view: CaseView) -> Click:
        self.clicks += 1
        version, action_id = view.case.version, f"click-{self.clicks}"
        return Click(version=version, reason="Because.", operator=ANA, action_id=action_id)

    def do_decide(self, place: int, move: Action) -> None:
        view = self._case(place)
        if view is None or move not in view.moves:
            return
        named, until = view.case.id, self.provider.time + timedelta(hours=30)
        if move is Action.RESOLVED:
            self.desk.resolve(named, code=Resolution.RECOVERED, **self._click(view))
        elif move is Action.ACCEPTED:
            self.desk.accept(named, until=until, **self._click(view))
        elif move is Action.SNOOZED:
            self.desk.snooze(named, until=until, **self._click(view))
        else:
            act = {Action.ACKNOWLEDGED: self.desk.acknowledge, Action.REOPENED: self.desk.reopen}[move]
            act(named, **self._click(view))

    def do_claim(self, place: int, move: str) -> None:
        view = self._case(place)
        if view is None:
            return
        linked = [refund.id for refund in view.refunds if refund.operator_key]
        with suppress(Report):  # The rules refuse what makes no sense.
            if move == "adopt":
                self.desk.adopt(view.case.id, **self._click(view))
            elif linked:
                self.desk.unlink(view.case.id, refund_id=linked[0], **self._click(view))

    def do_link(self, place: int, named: str, key: str) -> None:
        view = self._case(place)
        if view is None:
            return
        side, _, subject = view.case.subject.partition(":")
        refund_id = RefundId(subject if side == "refund" else named)
        intent_key = IntentKey(key if side == "refund" else subject)
        with suppress(Report):
            self.desk.link(view.case.id, refund_id=refund_id, intent_key=intent_key, **self._click(view))

    def do_run(self, _: int) -> None:
        self.run()


@given(steps=st.lists(STEP, min_size=4, max_size=25))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=15)
def test_after_any_history_a_full_diff_changes_nothing(steps: list[tuple[object, ...]], fresh: Fresh) -> None:
    with fresh() as database, ExitStack() as late:
        history = History(database)
        late.callback(history.end)
        for step in steps:
            history.take(step)
        history.end()
        history.run()
        second = history.run()
        full = history.run(full=True, dry_run=True)

        assert full.run.full
        assert (second.changes, second.notices) == ((), ())
        assert full.changes == ()
        assert full.heals == ()
        assert book.verify(database) == ()
        assert [said for each in book.stories(database) if (said := stories.unexplained(*each))] == []


def test_the_memory_is_a_provider_that_a_run_can_read(fresh: Fresh) -> None:
    with fresh() as database:
        history = History(database)
        history.do_refund(RefundId("re_1"), "pi_1", 4900, None)
        history.do_wait(15)

        assert [str(change.case.mismatch.kind) for change in history.run().changes] == ["orphan"]
