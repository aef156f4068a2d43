"""The people at the desk: they take cases on, settle them rightly or wrongly, and write things down.

Everything goes through recon.desk. What was settled rightly was put right in the world first.
"""

from datetime import timedelta
from functools import partial
from itertools import count

from recon.desk import Desk
from recon.model.errors import CaseMoved, Report
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.provider import Intent
from recon.model.records.queues import QueueFilters
from recon.model.records.words import Actor, IntentStatus, Kind, RefundId, Resolution, Role
from recon.model.settings import Settings
from tests.month.company import Company, Episode

ANA = Operator(Actor("ana"), Role.OPERATOR)


class Operators:
    """Whoever sits at the desk."""

    def __init__(self, company: Company, settings: Settings) -> None:
        self._company = company
        self._desk = Desk(company.database, settings, clock=company.local)
        self._clicks = count(1)
        self._mends = {
            Kind.MISSING: self._pay_again,
            Kind.REFUND_FAILED: self._pay_again,
            Kind.STUCK: self._give_up,
            Kind.STATUS_MISMATCH: self._own_up,
            Kind.OVERDUE: self._ask_the_bank,
            Kind.AMOUNT_MISMATCH: self._pay_the_rest,
            Kind.DUPLICATE: self._call_back,
        }

    def act(self, *, busy: bool = False) -> None:
        """Look at the queue, and do something about one case of it, or nothing."""
        chance = self._company.chance
        if not busy and chance.random() > 0.12:
            return
        waiting = self._desk.queue(QueueFilters()).cases
        if not waiting:
            return
        case = chance.choice(waiting)
        dice = chance.random()
        if dice < 0.15:
            self._press(self._desk.acknowledge, case)
        elif dice < 0.2:
            self._press(self._desk.comment, case)
        elif dice < 0.3:
            self._press(partial(self._desk.assign, owner=chance.choice(self._desk.owners())), case)
        elif dice < 0.4:
            until = self._company.local() + timedelta(hours=chance.choice((2, 30)))
            self._press(partial(self._desk.snooze, until=until), case)
        elif dice < 0.45:
            until = self._company.local() + timedelta(hours=chance.choice((5, 40)))
            self._press(partial(self._desk.accept, until=until), case)
        elif dice < 0.6:  # Rightly or wrongly: nothing is done about it.
            self._resolve(case, chance.choice(list(Resolution)))
        else:
            self._put_right(case)
            self._resolve(case, Resolution.RECOVERED)

    def _resolve(self, case: Case, code: Resolution) -> None:
        self._press(partial(self._desk.resolve, code=code), case)

    def _press(self, move: object, case: Case) -> None:
        assert callable(move)
        action_id = f"click-{next(self._clicks)}"
        try:
            move(case.id, version=case.version, reason="looked into it", operator=ANA, action_id=action_id)
        except (CaseMoved, Report):  # A run was faster, or the case does not allow it any more.
            return

    def _put_right(self, case: Case) -> None:
        """Do something in the world about what the case says."""
        episode = self._company.of_subject(case.account, case.subject)
        assert episode is not None
        if case.subject.startswith("refund:"):
            self._stray(case, episode)
            return
        intent = self._company.named(case.account, case.subject.partition(":")[2])
        mend = self._mends.get(case.mismatch.kind)
        if intent is not None and mend is not None:
            mend(case, episode, intent)

    def _stray(self, case: Case, episode: Episode) -> None:
        refund = episode.refund(case.subject.partition(":")[2])
        if case.mismatch.kind is Kind.ORPHAN:
            self._company.adopted(episode, refund)
        else:
            self._company.mend(episode, refund, "failed")

    def _pay_again(self, case: Case, episode: Episode, intent: Intent) -> None:
        if intent.payment is not None and not intent.payment.endswith("_other"):
            self._company.send(episode, intent)

    def _give_up(self, case: Case, episode: Episode, intent: Intent) -> None:
        self._company.record(intent, status=IntentStatus.CANCELLED)

    def _own_up(self, case: Case, episode: Episode, intent: Intent) -> None:
        refund = RefundId(case.mismatch.refund_ids[0])
        self._company.record(intent, status=IntentStatus.DONE, refund_id=refund)

    def _ask_the_bank(self, case: Case, episode: Episode, intent: Intent) -> None:
        self._company.mend(episode, episode.refund(case.mismatch.refund_ids[0]), "succeeded")

    def _pay_the_rest(self, case: Case, episode: Episode, intent: Intent) -> None:
        if case.mismatch.direction == "under":
            self._company.send(episode, intent, minor=case.mismatch.at_risk.amount_minor)

    def _call_back(self, case: Case, episode: Episode, intent: Intent) -> None:
        self._company.mend(episode, episode.refund(case.mismatch.extra_refund_ids[0]), "failed")
