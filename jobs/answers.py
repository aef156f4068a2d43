"""What a click in Slack leads to: a move at the desk, or a dialog, and a private answer in plain words.

Whoever clicks is asked of the database each time, the channel is no authority; the action id is made of the
click itself, so that the same click is the same move however often and to whomever it comes.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol
from uuid import UUID, uuid5

import structlog

from recon.desk import CaseView, Desk
from recon.model import dialogs, wishes, wording
from recon.model.blocks import clean, escaped
from recon.model.buttons import Verb
from recon.model.errors import NotPermitted, ReconError, Reload, Wait
from recon.model.phrases import minute
from recon.model.records.cases import JOB
from recon.model.records.clicks import Heard, Place, Pressed, Sent
from recon.model.records.notices import Block
from recon.model.records.people import Operator
from recon.model.records.proposals import Proposal
from recon.model.records.words import Action, Role
from recon.moving import Click
from recon.rules import moves, permissions, proposals

log = structlog.get_logger("recon")

# Of our action ids: any would do, but another would let an old click move a case once more.
_SPACE: Final = UUID("6b1d6f5e-3c0f-5f0c-9d56-4f1a3f6c2b77")
_DIALOGS: Final = {Verb.RESOLVE: Action.RESOLVED, Verb.SNOOZE: Action.SNOOZED}
# The reason of a click that asks for none.
_REASONS: Final = {Verb.ACKNOWLEDGE: "Acknowledged in Slack.", Verb.TAKE: "Taken on in Slack."}


class Outcome(StrEnum):
    """What became of a click."""

    DONE = "done"  # The case has moved.
    PROPOSED = "proposed"  # It waits for another person, who must approve it at the desk.
    ASKED = "asked"  # A dialog is open.
    ALREADY = "already done"  # This very click has moved the case before.
    STALE = "stale"  # Somebody moved the case after the message was written.
    NOT_PERMITTED = "not permitted"  # They are unknown here, or may only read.
    NOT_POSSIBLE = "not possible"  # The case does not allow it.
    AWAY = "away"  # The database or Slack did not answer.
    NOTHING = "nothing"  # A link: nothing was asked for.
    BUG = "bug"  # Ours.


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a click, in plain words; text is empty where there is nothing to say."""

    outcome: Outcome
    text: str = ""


class Mouth(Protocol):
    """Answers one person; each returns why that was not possible, or None."""

    def say(self, place: Place, text: str) -> str | None:
        """Say something that only they see."""

    def open(self, trigger_id: str, view: Block) -> str | None:
        """Open a dialog."""

    def home(self) -> frozenset[str] | None:
        """Return the ids of our workspace and of what holds it; None where Slack does not answer."""


class Answers:
    """Answers clicks; keeps nothing of any, so that several processes may do it at once."""

    def __init__(
        self,
        desk: Desk,
        mouth: Mouth,
        *,
        dashboard_url: str,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._desk = desk
        self._mouth = mouth
        self._dashboard_url = dashboard_url
        self._timer = timer

    def __call__(self, heard: Heard) -> Answer:
        """Do what one click asks for, say so to whoever clicked, and log it; return what was said."""
        begun, button = self._timer(), heard.button
        told = log.bind(
            verb=button.verb,
            case_id=button.case_id,
            version=button.version,
            slack_id=heard.place.slack_id,
            action_id=action_id(heard),
            step="dialog sent" if isinstance(heard, Sent) else "pressed",
        )
        try:
            answer = self._answer(heard)
        except Exception:  # noqa: BLE001 - a bug: the next click must find somebody to answer it
            told.exception("bug")
            text = f"Something went wrong here; see first what was done. {self._link(heard)}"
            answer = Answer(Outcome.BUG, text)
        silent = self._mouth.say(heard.place, answer.text) if answer.text else None
        told.info("click", outcome=answer.outcome, seconds=round(self._timer() - begun, 3))
        if silent is not None:  # Nobody but the log hears what became of it.
            told.warning("unanswered", outcome=answer.outcome, reason=silent)
        return answer

    def _answer(self, heard: Heard) -> Answer:
        if heard.button.verb is Verb.OPEN:
            return Answer(Outcome.NOTHING)
        try:
            return self._move(heard)
        except NotPermitted as refused:
            return Answer(Outcome.NOT_PERMITTED, self._not_done(heard, str(refused)))
        except Wait as away:
            # It may have broken off while it committed; the same click once more is the same move.
            text = f"{away} Click again in a minute: one click is never done twice."
            return Answer(Outcome.AWAY, self._not_done(heard, text, known="Perhaps nothing was done."))
        except ReconError as refused:  # The case does not allow it, or it is not there.
            return Answer(Outcome.NOT_POSSIBLE, self._not_done(heard, str(refused)))

    def _move(self, heard: Heard) -> Answer:
        """Open the dialog of a click, or make its move.

        Raises:
            ReconError: as the desk's moves. Nothing was written.
        """
        operator = self._operator(heard.place)
        view = self._desk.case(heard.button.case_id, operator=operator)
        if view is None:
            text = f"There is no case {heard.button.case_id} in these books."
            return Answer(Outcome.NOT_POSSIBLE, self._not_done(heard, text))
        done = action_id(heard)
        for entry in view.entries:
            if entry.action_id == done:
                what = "proposed" if entry.action is Action.PROPOSED else "done"
                text = f"Already {what}: {dialogs.about(view.case)}. {self._standing(view)}"
                return Answer(Outcome.ALREADY, text)
        if isinstance(heard, Pressed) and heard.button.verb in _DIALOGS:
            return self._ask(heard, view, operator)
        reason = heard.reason if isinstance(heard, Sent) else _REASONS[heard.button.verb]
        click = Click(version=heard.button.version, reason=reason, operator=operator, action_id=done)
        try:
            return self._made(heard, view, click)
        except Reload:  # Somebody was faster, between the message and the click, or just now.
            return self._stale(heard, self._desk.case(view.case.id, operator=operator) or view, operator)

    def _made(self, heard: Heard, view: CaseView, click: Click) -> Answer:
        """Make the move of a click."""
        if isinstance(heard, Sent):
            return self._settle(heard, view, click)
        if heard.button.verb is Verb.TAKE:
            self._desk.take(view.case.id, **click)
            return self._done(view, "it is yours now")
        self._desk.acknowledge(view.case.id, **click)
        return self._done(view, "you have acknowledged it")

    def _settle(self, sent: Sent, view: CaseView, click: Click) -> Answer:
        """Make the move of a dialog."""
        if sent.until is not None:
            self._desk.snooze(view.case.id, until=sent.until, **click)
            return self._done(view, f"snoozed until {minute(sent.until)}, or until its evidence changes")
        assert sent.code is not None, "a dialog that is no snooze asks for a code"
        if sent.code not in dialogs.fitting(view.case.mismatch.kind):  # Its kind has changed since.
            text = f"{wording.RESOLUTIONS[sent.code]}: that does not fit {dialogs.about(view.case)}."
            return Answer(Outcome.NOT_POSSIBLE, self._not_done(sent, text, raw=False))
        proposed = self._desk.resolve(view.case.id, code=sent.code, **click)
        if proposed is not None:
            return self._proposed(sent, view, proposed)
        how = f"resolved as {wording.plain(sent.code)}"
        return self._done(view, f"{how}. A run that finds other evidence, or still finds it, opens it again")

    def _ask(self, pressed: Pressed, view: CaseView, operator: Operator) -> Answer:
        """Open the dialog of a verb, if the case and the operator would let it be sent."""
        case, action = view.case, _DIALOGS[pressed.button.verb]
        if case.version != pressed.button.version:
            return self._stale(pressed, view, operator)
        if view.proposal is not None and action in view.seconded:
            return Answer(Outcome.NOT_POSSIBLE, self._not_done(pressed, proposals.waits(view.proposal)))
        if action not in view.moves:
            refused = permissions.refusal(operator, Role.OPERATOR)
            if refused is not None:
                return Answer(Outcome.NOT_PERMITTED, self._not_done(pressed, refused))
            text = f"Case {case.id} is {case.state}; {moves.FROM[action][1]}."
            return Answer(Outcome.NOT_POSSIBLE, self._not_done(pressed, text))
        make = dialogs.resolving if action is Action.RESOLVED else dialogs.snoozing
        dialog = make(case, pressed.place, now=self._desk.now())
        trigger = pressed.trigger_id
        failed = self._mouth.open(trigger, dialog) if trigger else "Slack named no trigger."
        if failed is None:
            return Answer(Outcome.ASKED)
        text = f"Slack did not open the dialog in time. Click again, or decide at the desk. ({failed})"
        return Answer(Outcome.AWAY, self._not_done(pressed, text))

    def _operator(self, place: Place) -> Operator:
        """Return who clicked.

        Raises:
            NotPermitted: they are of another workspace, nobody put them down, or they may no longer act.
            Wait: Slack does not say which workspace is ours.
        """
        home = self._mouth.home()
        if home is None:
            raise Wait("Slack does not say which workspace is ours, by which people's ids are told apart.")
        if place.team_id not in home:  # A channel can be shared with another company.
            raise NotPermitted("Only people of the workspace that this app belongs to may act on a case.")
        operator = self._desk.operator_in_slack(place.slack_id)
        if operator is not None and operator.active:
            return operator
        known = f"{operator.name} may no longer act" if operator else "You are no operator of recon yet"
        raise NotPermitted(
            f"{known}. Whoever looks after recon can change that: "
            f"recon operators add NAME --slack {place.slack_id}"
        )

    def _stale(self, heard: Heard, seen: CaseView, operator: Operator) -> Answer:
        """Return who moved the case, when, and where it stands now."""
        latest = seen.entries[-1]
        others = "A run" if latest.actor == JOB else clean(latest.actor)
        who = "You" if latest.actor == operator.name else others
        text = f"{who} {wording.DEEDS[latest.action]} this case at {minute(latest.at)}, after the message "
        text += f"that you clicked on was written. {dialogs.about(seen.case)}. {self._standing(seen)}"
        text += " The thread's first message shows that within a minute: go on there, or in the dashboard."
        return Answer(Outcome.STALE, self._not_done(heard, text, raw=False))

    def _proposed(self, heard: Heard, view: CaseView, proposal: Proposal) -> Answer:
        """Return that another person must approve, and who could."""
        known = [clean(name) for name in self._desk.approvers(proposal)]
        others = "another person who may approve" if not known else known[0]
        others += " or another approver" if len(known) > 1 else ""
        text = f"Proposed; {others} must approve at the desk: {self._link(heard)}\n"
        return Answer(Outcome.PROPOSED, f"{text}{dialogs.about(view.case)}: {clean(wishes.of(proposal))}.")

    def _done(self, view: CaseView, what: str) -> Answer:
        return Answer(Outcome.DONE, f"Done: {dialogs.about(view.case)}: {what}.")

    def _not_done(self, heard: Heard, why: str, *, raw: bool = True, known: str = "Nothing was done.") -> str:
        """Return what is known, why, where to go on, and the reason that somebody typed in vain.

        raw: whether why holds what a stranger wrote as they wrote it.
        """
        typed = f"\nYou wrote: {clean(heard.reason, limit=1_000)}" if isinstance(heard, Sent) else ""
        told = clean(why, limit=1_000) if raw else why
        return f"{known} {told}\n{self._link(heard)}{typed}"

    def _standing(self, view: CaseView) -> str:
        return dialogs.standing(view.case, now=self._desk.now())

    def _link(self, heard: Heard) -> str:
        return f"<{escaped(self._dashboard_url)}/case?case={heard.button.case_id}|Open it in the dashboard>"


def action_id(heard: Heard) -> str:
    """Return the id of what a click asks for: the same for the same click, however often it comes."""
    button, parts = heard.button, [heard.button.value, heard.place.slack_id]
    parts += [heard.view_id] if isinstance(heard, Sent) else []
    return f"slack:{button.verb}:{uuid5(_SPACE, chr(0).join(parts))}"
