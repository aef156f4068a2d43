"""Two results beside each other: what is new, what persists, what became another kind, and what is gone.

Of the earlier mismatches each is persisting, reclassified or resolved; of the later ones each is persisting,
reclassified or new.
"""

from collections.abc import Mapping

from recon.model.records.comparisons import Compared, Comparison, Earlier, NowIs, Seen, Standing
from recon.model.records.results import Result
from recon.model.records.words import AccountId, Subject

_ORDER = {standing: place for place, standing in enumerate(Standing)}


def compare(earlier: Earlier, result: Result) -> Comparison:
    """Return every subject that either result has a mismatch of, by standing, account and subject."""
    now = {(each.account, each.subject): Seen(each.kind, each.at_risk) for each in result.mismatches}
    gone = _gone(result)
    subjects = [
        _compared(pair, earlier.seen.get(pair), now.get(pair), gone) for pair in {**earlier.seen, **now}
    ]
    subjects.sort(key=lambda each: (_ORDER[each.standing], each.account, each.subject))
    return Comparison(earlier, tuple(subjects))


def _gone(result: Result) -> Mapping[tuple[AccountId, Subject], NowIs]:
    """Return what the later result says of subjects that are no mismatch of it, where it says anything."""
    told = dict.fromkeys(result.withheld, NowIs.NOT_JUDGED)
    told |= {(heal.account, Subject(f"intent:{heal.intent_key}")): NowIs.HEALABLE for heal in result.healable}
    return told | {(flight.account, flight.subject): NowIs.IN_FLIGHT for flight in result.in_flight}


def _compared(
    pair: tuple[AccountId, Subject],
    before: Seen | None,
    now: Seen | None,
    gone: Mapping[tuple[AccountId, Subject], NowIs],
) -> Compared:
    if before is None:
        return Compared(Standing.NEW, *pair, None, now)
    if now is None:
        return Compared(Standing.RESOLVED, *pair, before, None, gone.get(pair, NowIs.NO_MISMATCH))
    standing = Standing.PERSISTING if before.kind is now.kind else Standing.RECLASSIFIED
    return Compared(standing, *pair, before, now)
