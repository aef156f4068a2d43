"""Two results beside each other: what is new, what persists, what became another kind, and what is gone.

Of the earlier mismatches each is persisting, reclassified, resolved or not judged; of the later ones each is
persisting, reclassified or new. Resolved is only what was looked at again: a subject without a row in the
later files, or with one that could not be judged, may be as wrong as it was.
"""

from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from recon.model import subjects
from recon.model.frames import Intake
from recon.model.records.comparisons import Compared, Comparison, Earlier, NowIs, Pair, Rows, Seen, Standing
from recon.model.records.results import Result
from recon.model.records.words import AccountId, Subject

_ORDER = {standing: place for place, standing in enumerate(Standing)}


def rows(earlier: Earlier, intents: Intake, refunds: Intake) -> Rows:
    """Return what the two sides hold of the earlier result's subjects, and of the refunds in them."""
    wanted = {part for pair, seen in earlier.seen.items() for part in _parts(pair, seen)}
    sides = ((subjects.of_intent, "key", intents), (subjects.of_refund, "id", refunds))
    return Rows(
        frozenset(part for of, column, side in sides for part in _standing(wanted, of, column, side.frame)),
        frozenset(wanted).intersection(
            (each.account, of(each.id))
            for of, _, side in sides
            for each in side.rejects
            if each.id is not None
        ),
    )


def compare(earlier: Earlier, result: Result, rows: Rows) -> Comparison:
    """Return every subject that either result has a mismatch of, by standing, account and subject.

    rows: what the later result's files hold of the earlier one's subjects.
    """
    now = {(each.account, each.subject): Seen(each.kind, each.at_risk) for each in result.mismatches}
    told = _told(result)
    subjects = [
        _compared(pair, earlier.seen.get(pair), now.get(pair), told, rows) for pair in {**earlier.seen, **now}
    ]
    subjects.sort(key=lambda each: (_ORDER[each.standing], each.account, each.subject))
    return Comparison(earlier, tuple(subjects))


def _parts(pair: Pair, seen: Seen) -> Iterator[Pair]:
    """Yield what must have been read before anybody can say that a mismatch is gone.

    That is its subject, and of an intent the refunds too: who does not see the second of two cannot say that
    there is but one. A refund is judged by itself, whatever became of its twin.
    """
    account, subject = pair
    yield pair
    if subjects.is_intent(subject):
        yield from ((account, subjects.of_refund(each)) for each in seen.refund_ids)


def _standing(
    wanted: set[Pair], of: Callable[[str], Subject], column: str, frame: pd.DataFrame
) -> Iterator[Pair]:
    """Yield those of the wanted that have a row in the frame of their side. of: makes subjects there."""
    names = {subjects.parted(subject)[1] for _, subject in wanted}
    found = frame.loc[frame[column].isin(names), ["account", column]]
    pairs = ((AccountId(account), of(name)) for account, name in found.itertuples(index=False, name=None))
    return (pair for pair in pairs if pair in wanted)


def _told(result: Result) -> Mapping[Pair, NowIs]:
    """Return what the later result says of subjects that are no mismatch of it, where it says anything."""
    told = dict.fromkeys(result.withheld, NowIs.NOT_JUDGED)
    told |= {(heal.account, subjects.of_intent(heal.intent_key)): NowIs.HEALABLE for heal in result.healable}
    return told | {(flight.account, flight.subject): NowIs.IN_FLIGHT for flight in result.in_flight}


def _compared(
    pair: Pair, before: Seen | None, now: Seen | None, told: Mapping[Pair, NowIs], rows: Rows
) -> Compared:
    if before is None:
        return Compared(Standing.NEW, *pair, None, now)
    if now is not None:
        standing = Standing.PERSISTING if before.kind is now.kind else Standing.RECLASSIFIED
        return Compared(standing, *pair, before, now)
    now_is = _now_is(pair, before, told, rows)
    unseen = now_is in {NowIs.NOT_JUDGED, NowIs.NOT_READ}
    return Compared(Standing.NOT_JUDGED if unseen else Standing.RESOLVED, *pair, before, None, now_is)


def _now_is(pair: Pair, before: Seen, told: Mapping[Pair, NowIs], rows: Rows) -> NowIs:
    """Return what a subject is now that is no mismatch any more."""
    absent = [part for part in _parts(pair, before) if part not in rows.standing]
    if told.get(pair) is NowIs.NOT_JUDGED or any(part in rows.rejected for part in absent):
        return NowIs.NOT_JUDGED
    return NowIs.NOT_READ if absent else told.get(pair, NowIs.NO_MISMATCH)
