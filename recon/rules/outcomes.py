"""What a call of a guarded tool is told: one status, and one short instruction that a model can follow.

Pure. A message never asks for another attempt where something may have been sent, unless it is proved that
nothing came of it. The same state is told in the same words, which hold neither a key nor a request's id: the
log and the books have them.
"""

from collections.abc import Iterable
from dataclasses import replace

from recon.model import money, refusals
from recon.model.records.guarded import Finding, Guarded, Outcome, OutcomeStatus, Unfit, Wanted
from recon.model.records.provider import Intent
from recon.model.records.results import Money
from recon.model.records.words import ON_ITS_WAY, UNSETTLED, IntentKey, IntentStatus

_NO_MORE = "Do not do it again."
_REFUND = "refund"  # What a message calls one begins with it.
_WENT, _OPEN, _NEVER = range(3)  # What went back is told first, then what may have.
_WEIGHTS = {
    OutcomeStatus.DONE: _WENT,
    OutcomeStatus.ALREADY_DONE: _WENT,
    OutcomeStatus.PENDING_UNKNOWN: _OPEN,
}


def done(
    noun: str,
    row: Guarded,
    *,
    state: str | None = None,
    went: Money | None = None,
    again: bool = False,
) -> Outcome:
    """Return that it is done, and where other money went back than was wanted, that a person has to look.

    state: the provider's word. went: the money that it says went back. again: an earlier call did it.
    """
    named = f" ({row.result_id})" if row.result_id else ""
    how = f"is accepted{named} and on its way" if state in ON_ITS_WAY else f"is done{named}"
    already = " An earlier call did it." if again else ""
    status = OutcomeStatus.ALREADY_DONE if again else OutcomeStatus.DONE
    other = None if went is None else _other(row, went, goes="goes" if state in ON_ITS_WAY else "went")
    if other is None:
        said = f"The {noun} {how}.{already}{_for_the_customer(noun)} {_NO_MORE}"
    else:
        said = f"The {noun} {how}, but {other}; hand it over to a person.{already} {_NO_MORE}"
    return Outcome(status, said, row.key, row.result_id, is_refund=_is_refund(noun))


def unknown(noun: str, key: IntentKey | None, *, person: bool = False) -> Outcome:
    """Return that nobody knows yet. person: nothing but a person finds out."""
    whose = " A person has to look into it." if person else ""
    customer = _for_the_customer(noun, " that it is being checked")
    said = (
        f"It is not known yet whether the {noun} is done.{whose} Do not try again now and do not do it in "
        f"any other way.{customer} Ask for its status later, and do what that says."
    )
    return Outcome(OutcomeStatus.PENDING_UNKNOWN, said, key)


def open_still(noun: str, row: Guarded) -> Outcome:
    """Return that nobody knows; where the provider refused all the same, only a person can find out.

    What was looked for and cancelled is as never sent.
    """
    if row.status is IntentStatus.CANCELLED:
        return not_sent(noun, row.key, "the provider did not execute it")
    return unknown(noun, row.key, person=row.refusal is not None)


def absent(noun: str, row: Guarded) -> Outcome:
    """Return that it is proved that nothing came of what was sent: the same call sends it once more."""
    said = f"Nothing came of the {noun} so far. The same call may be made now. Do not do it in any other way."
    return Outcome(OutcomeStatus.PENDING_UNKNOWN, said, row.key)


def told(row: Guarded, noun: str, found: Finding, *, again: bool) -> Outcome:
    """Return what a call is told of a side effect that was sent. found: the latest word on it."""
    if row.status is IntentStatus.DONE:
        return done(noun, row, state=found.state, went=found.money, again=again)
    return failed(noun, row) if row.status is IntentStatus.FAILED else open_still(noun, row)


def failed(noun: str, row: Guarded) -> Outcome:
    """Return that it was refused for good, and why."""
    why = row.refusal or "it was settled as not done"
    reason = _sentence(refusals.spoken(why))
    said = f"The {noun} is not done: {reason} Do not try again; hand it over to a person."
    return Outcome(OutcomeStatus.REJECTED, said, row.key, row.result_id, is_refund=_is_refund(noun))


def dead(noun: str, row: Guarded, state: str | None) -> Outcome:
    """Return that what was done came to nothing, which is for a person and never sent again."""
    said = (
        f"The {noun} was made ({row.result_id}) and then became {state or 'failed'}: the money did not "
        "arrive. Do not try again; hand it over to a person."
    )
    return Outcome(OutcomeStatus.REJECTED, said, row.key, row.result_id)


def disabled(noun: str, key: IntentKey) -> Outcome:
    """Return that the kill switch is thrown and nothing was ever sent."""
    said = (
        f"The {noun} was not sent: this tool is switched off. No call has sent this one. Do not try again; "
        "hand it over to a person."
    )
    return Outcome(OutcomeStatus.DISABLED, said, key)


def kept_back(noun: str, key: IntentKey) -> Outcome:
    """Return that the kill switch kept it back when it was asked for, which a person was told of then."""
    said = (
        f"The {noun} was not sent while the tool was switched off. A person may have done it by hand: ask "
        "them before it is asked for again."
    )
    return Outcome(OutcomeStatus.REJECTED, said, key)


def not_sent(noun: str, key: IntentKey | None, why: str) -> Outcome:
    """Return that nothing was done, and why: a later call may do it."""
    reason = _sentence(refusals.spoken(why))
    said = f"The {noun} was not sent: {reason} Nothing was done. The same call may be made later."
    return Outcome(OutcomeStatus.REJECTED, said, key)


def no_books(noun: str, key: IntentKey) -> Outcome:
    """Return that this call sent nothing, because nothing can be written down; of others nobody knows."""
    return not_by_this(noun, key, "the database in which it is written down does not answer")


def not_by_this(noun: str, key: IntentKey | None, why: str) -> Outcome:
    """Return that this call sent nothing, and why; of others nobody knows."""
    said = (
        f"The {noun} was not sent by this call: {_sentence(why)} What earlier calls did is not known now. Do "
        "not do it in any other way. The same call may be made later."
    )
    return Outcome(OutcomeStatus.REJECTED, said, key)


def drifted(wanted: Wanted, names: tuple[str, ...], row: Guarded) -> Outcome:
    """Return that the same decision was asked for with something else before, and what came of that."""
    listed = " and ".join(name.removesuffix("_minor") for name in names)
    said = (
        f"The {wanted.noun} was not sent: it was asked for before with another {listed}. "
        f"{_stands(wanted, row)} Do not try again; hand it over to a person."
    )
    return Outcome(OutcomeStatus.REJECTED, said, wanted.key)


def known(noun: str, key: IntentKey) -> Outcome:
    """Return that the same decision was asked for under another key: by another tool, or by hand."""
    said = (
        f"The {noun} was not sent: it was already asked for in another way. {_NO_MORE} Ask for its status "
        "(check_refund_status). A second one on purpose needs a reference of its own from a person."
    )
    return Outcome(OutcomeStatus.REJECTED, said, key)


def made_otherwise(noun: str, key: IntentKey, refund_id: str) -> Outcome:
    """Return that a refund like it is there which nobody asked the guard for: by hand, say."""
    said = (
        f"The {noun} was not sent: a refund of the same amount of its payment was made in another way "
        f"({refund_id}), perhaps for this. Do not try again; hand it over to a person."
    )
    return Outcome(OutcomeStatus.REJECTED, said, key)


def never_asked(noun: str) -> Outcome:
    """Return that nobody ever asked for it."""
    said = f"No {noun} was ever asked for. Nothing was sent."
    return Outcome(OutcomeStatus.REJECTED, said)


def together(stand: Iterable[Outcome]) -> Outcome:
    """Return the outcome that matters most, with the others: what went back, else what nobody knows.

    stand: the newest first, at least one; of equal weight the newest leads.
    """
    first, *others = sorted(stand, key=lambda each: _WEIGHTS.get(each.status, _NEVER))
    return replace(first, others=tuple(others))


def weight(intent: Intent) -> int:
    """Return where an intent comes among those of its order: first what is done, last what never will be."""
    if intent.status is IntentStatus.DONE:
        return _WENT
    unsettled = intent.status in UNSETTLED
    return _OPEN if unsettled else _NEVER


def refused(why: str | Unfit) -> Outcome:
    """Return that what was asked for cannot be, and whether whoever asked can correct it."""
    found = why if isinstance(why, Unfit) else Unfit(why)
    step = (
        "Do not try again; hand it over to a person." if found.for_person else "Correct it, then ask again."
    )
    return Outcome(OutcomeStatus.REJECTED, f"Nothing was sent: {_sentence(found.reason)} {step}")


def _is_refund(noun: str) -> bool:
    """Return whether something is called a refund; what else is done may be no business of a customer's."""
    return noun.startswith(_REFUND)


def _for_the_customer(noun: str, said: str = "") -> str:
    return f" Tell the customer{said}." if _is_refund(noun) else ""


def _other(row: Guarded, went: Money, *, goes: str) -> str | None:
    """Return what goes or went back instead of what was asked for; None where that is the same."""
    amount, currency = row.fingerprint.get("amount_minor"), row.fingerprint.get("currency")
    if amount is None or currency is None:
        return None
    wanted = Money(int(amount), currency)
    return None if went == wanted else f"{money.told(went)} {goes} back, not {money.told(wanted)}"


def _stands(wanted: Wanted, row: Guarded) -> str:
    """Return what came of what was asked for before, which is all that the books know: not what went back."""
    what = "What was asked for then"
    if wanted.intent is not None:
        amount = Money(int(row.fingerprint["amount_minor"]), row.fingerprint["currency"])
        what += f", {money.told(amount)},"
    if row.status is IntentStatus.DONE:
        return f"{what} is done{f' ({row.result_id})' if row.result_id else ''}."
    if row.status is IntentStatus.FAILED or row.first_sent_at is None:
        return f"{what} is not done."
    return f"Whether w{what[1:]} is done is not known yet."


def _sentence(text: str) -> str:
    """Return a text, which goes on from a colon, with the one full stop that ends the sentence."""
    return f"{text.strip().rstrip('.')}."
