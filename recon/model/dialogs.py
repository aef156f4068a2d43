"""The dialogs that a click in Slack opens: what each shows and asks, and what somebody filled in.

What is shown was read from the database; of what comes back only choices, a date and a reason are taken.
Never says whether the move is allowed: the desk does.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import Any, Final

from recon.model import money, wording
from recon.model.blocks import VALUE_LIMIT, clean, code, context, section
from recon.model.buttons import Button, Verb
from recon.model.characters import is_blank
from recon.model.phrases import duration, minute
from recon.model.records.cases import Case
from recon.model.records.clicks import Place
from recon.model.records.notices import Block
from recon.model.records.words import Kind, Resolution

CALLBACK = "recon_dialog"  # By which a dialog that comes back is known to be ours.
REASON_LIMIT = 2_000  # Characters, as a move's reason may have; Slack's own limit is 3,000.
SNOOZE_LIMIT = timedelta(days=31)  # As for the move itself: whoever needs longer accepts the case.
MORNING = time(9, tzinfo=UTC)
NO_REASON = "Say in a sentence why."

_KEPT = 4  # A button's value, and three things about the place.
_CODE, _NAP, _DATE, _REASON = "code", "nap", "date", "reason"  # Ids of blocks and of what is in them.

# Only a second refund can be a repeat; only money that went out, and should not have, can be written off.
_NEVER_LOST = frozenset({Kind.REFUND_FAILED, Kind.MISSING, Kind.OVERDUE})


class Nap(StrEnum):
    """Until when a case is to be left alone."""

    HOUR = "hour"  # From now.
    FOUR_HOURS = "four_hours"  # From now.
    TOMORROW = "tomorrow"  # In the morning, UTC.
    WEEK = "week"  # From now.
    CHOSEN = "chosen"  # A time that somebody chose.


_NAPS: Final = {
    Nap.HOUR: "1 hour",
    Nap.FOUR_HOURS: "4 hours",
    Nap.TOMORROW: f"Tomorrow, {MORNING:%H:%M} UTC",
    Nap.WEEK: "A week",
    Nap.CHOSEN: "The time below",
}
_SPANS: Final = {
    Nap.HOUR: timedelta(hours=1),
    Nap.FOUR_HOURS: timedelta(hours=4),
    Nap.WEEK: timedelta(days=7),
}


@dataclass(frozen=True, slots=True)
class Filled:
    """What somebody filled in; what a dialog did not ask for, or they left empty, is None or empty.

    flaws: what is wrong with it, one sentence for each block, as Slack shows it beside the block.
    """

    reason: str
    code: Resolution | None
    until: datetime | None
    flaws: Mapping[str, str]


def fitting(kind: Kind) -> tuple[Resolution, ...]:
    """Return the ways in which a case of this kind can have been settled."""
    unfit = {Resolution.WRITTEN_OFF} if kind in _NEVER_LOST else set()
    unfit |= {Resolution.LEGITIMATE_REPEAT} if kind is not Kind.DUPLICATE else set()
    return tuple(each for each in Resolution if each not in unfit)


def resolving(case: Case, place: Place, *, now: datetime) -> Block:
    """Return the dialog that asks how a case was settled, and why."""
    options = {each.value: wording.RESOLUTIONS[each] for each in fitting(case.mismatch.kind)}
    note = "A run that finds other evidence, or still finds it, opens the case again."
    asked = [_select(_CODE, "How was it settled?", options), _asked_reason("What was done, and by whom")]
    return _dialog(Verb.RESOLVE, case, place, asked, title="Resolve the case", note=note, now=now)


def snoozing(case: Case, place: Place, *, now: datetime) -> Block:
    """Return the dialog that asks until when a case is to be left alone, and why."""
    note = "It stays with its owner, and comes back on that day or with other evidence."
    options = {each.value: words for each, words in _NAPS.items()}
    date: Block = {
        "type": "input",
        "block_id": _DATE,
        "optional": True,
        "label": _plain("A time of your own"),
        "hint": _plain(f"In your own zone; at most {SNOOZE_LIMIT.days} days from now."),
        "element": {"type": "datetimepicker", "action_id": _DATE},
    }
    asked = [_select(_NAP, "Until when?", options), date, _asked_reason("Whom or what it waits for")]
    return _dialog(Verb.SNOOZE, case, place, asked, title="Snooze the case", note=note, now=now)


def filled(verb: Verb, values: object, *, now: datetime) -> Filled:
    """Return what somebody filled in; values: of the dialog's state, as Slack gives them."""
    reason = _value(values, _REASON, "value").strip()
    flaws = {_REASON: NO_REASON} if is_blank(reason) else {}
    if len(reason) > REASON_LIMIT:
        flaws[_REASON] = f"At most {REASON_LIMIT} characters are kept; these are {len(reason)}."
    if verb is Verb.RESOLVE:
        chosen = _value(values, _CODE, "selected_option", "value")
        code = Resolution(chosen) if chosen in set(Resolution) else None
        return Filled(reason, code, None, flaws | ({} if code else {_CODE: "Say how it was settled."}))
    until, wrong = _until(values, now)
    return Filled(reason, None, until, {**flaws, **wrong})


def kept(button: Button, place: Place) -> str:
    """Return what a dialog keeps while it is open: its button, and where the answer goes. Nothing else."""
    return json.dumps([button.value, place.channel, place.thread_ts, place.response_url])


def found(memo: object, slack_id: str) -> tuple[Button, Place] | None:
    """Return what a dialog has kept, for whoever sent it; None where that is not ours."""
    try:
        parts = json.loads(memo) if isinstance(memo, str) else None
    except (ValueError, RecursionError):  # Nobody but Slack and we can write it: a dialog of another app.
        return None
    if not isinstance(parts, list) or len(parts) != _KEPT:
        return None
    value, *where = parts
    texts = [each if isinstance(each, str) else None for each in where]
    button = Button.read(value) if isinstance(value, str) else None
    if button is None or texts[0] is None:
        return None
    return button, Place(slack_id, texts[0], thread_ts=texts[1], response_url=texts[2])


def about(case: Case) -> str:
    """Return a case in one line of plain words: id, kind, money and the ids that name it."""
    mismatch = case.mismatch
    named = [("order", mismatch.order_id), ("customer", mismatch.customer_id)]
    named += [("refund", each) for each in mismatch.extra_refund_ids[:1] or mismatch.refund_ids[:1]]
    ids = "".join(f", {word} {clean(value, limit=VALUE_LIMIT)}" for word, value in named if value)
    return f"{case.id}: {wording.named(mismatch.kind)}, {money.written(mismatch.at_risk)}{ids}"


def standing(case: Case, *, now: datetime) -> str:
    """Return where a case stands, as one sentence."""
    how = f" ({wording.plain(case.resolution)})" if case.resolution is not None else ""
    if case.accepted_until is not None:
        how += f" until {minute(case.accepted_until)}"
    elif case.snoozed_until is not None and case.snoozed_until > now:
        how += f", snoozed until {minute(case.snoozed_until)}"
    owner = f"owner {clean(case.owner.name)}" if case.owner is not None else "owned by nobody"
    return f"It is {case.state}{how}; {owner}."


def _dialog(
    verb: Verb, case: Case, place: Place, asked: list[Block], *, title: str, note: str, now: datetime
) -> Block:
    mismatch = case.mismatch
    ids = [("order", mismatch.order_id), ("customer", mismatch.customer_id), ("intent", mismatch.intent_key)]
    ids += [("refund", each) for each in mismatch.refund_ids[:4]]
    line = " · ".join(f"{word} {code(value)}" for word, value in ids if value)
    facts = f"*{wording.named(mismatch.kind)}: {money.written(mismatch.at_risk)}*, {case.id}, "
    facts += f"for {duration(now - mismatch.since)}\n{line}"
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "private_metadata": kept(Button.of(verb, case), place),
        "title": _plain(title),
        "submit": _plain(title.partition(" ")[0]),
        "close": _plain("Cancel"),
        "blocks": [section(facts), context(f"{standing(case, now=now)} {note}"), *asked],
    }


def _select(name: str, label: str, options: Mapping[str, str]) -> Block:
    listed = [{"text": _plain(words), "value": value} for value, words in options.items()]
    element = {"type": "static_select", "action_id": name, "options": listed}
    return {"type": "input", "block_id": name, "label": _plain(label), "element": element}


def _asked_reason(placeholder: str) -> Block:
    element = {
        "type": "plain_text_input",
        "action_id": _REASON,
        "multiline": True,
        "max_length": REASON_LIMIT,
        "placeholder": _plain(placeholder),
    }
    hint = _plain("Kept with your name in the case's story.")
    return {"type": "input", "block_id": _REASON, "label": _plain("Reason"), "hint": hint, "element": element}


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text}


def _until(values: object, now: datetime) -> tuple[datetime | None, Mapping[str, str]]:
    """Return the time that was chosen, or what is wrong with it, by block."""
    chosen = _value(values, _NAP, "selected_option", "value")
    if chosen not in set(Nap):
        return None, {_NAP: "Say until when."}
    at = _moment(_at(values, _DATE, "selected_date_time"))
    nap = Nap(chosen)
    if nap is not Nap.CHOSEN:
        ambiguous = {_DATE: f"Choose {_NAPS[Nap.CHOSEN].lower()!r} above, or leave this empty."}
        return _ends(nap, now), ambiguous if at is not None else {}
    if at is None:
        return None, {_DATE: "Choose a time."}
    if at <= now:
        return None, {_DATE: f"Choose a time to come; {minute(at)} has passed."}
    if at > now + SNOOZE_LIMIT:
        return None, {_DATE: f"At most {SNOOZE_LIMIT.days} days: until {minute(now + SNOOZE_LIMIT)}."}
    return at, {}


def _ends(nap: Nap, now: datetime) -> datetime:
    if nap is Nap.TOMORROW:
        return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), MORNING)
    return now + _SPANS[nap]


def _moment(seconds: object) -> datetime | None:
    if not isinstance(seconds, int) or isinstance(seconds, bool):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):  # No time of any calendar.
        return None


def _value(values: object, name: str, *path: str) -> str:
    """Return a text of the dialog's state; empty where there is none."""
    found = _at(values, name, *path)
    return found if isinstance(found, str) else ""


def _at(values: object, name: str, *path: str) -> Any:  # noqa: ANN401 - whatever Slack put there
    for step in (name, name, *path):
        values = values.get(step) if isinstance(values, Mapping) else None
    return values
