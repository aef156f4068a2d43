"""The diff: two frames and their links in, one result out. Pure; the same for any order of the rows."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

import numpy as np

from recon.model import arrays
from recon.model.arrays import ABSENT, Bools
from recon.model.frames import Intake
from recon.model.links import Links
from recon.model.records.results import (
    Counts,
    Coverage,
    Due,
    InFlight,
    Mismatch,
    Policy,
    Result,
)
from recon.model.records.words import AccountId, Kind, RefundStatus, Subject, Verdict
from recon.rules.mismatches import coverage as reading
from recon.rules.mismatches import intents as nine
from recon.rules.mismatches import strays
from recon.rules.mismatches.books import Books
from recon.rules.mismatches.intents import MISSING, NONE

KNOWN_STATUSES = tuple(status.value for status in RefundStatus)
REPORT_ORDER = {kind: place for place, kind in enumerate(Kind)}


def find(
    intents: Intake, refunds: Intake, links: Links, *, policy: Policy, coverage: Coverage, as_of: datetime
) -> Result:
    """Return every mismatch, and what of the rest is in flight, healable or withheld.

    Order: mismatches by kind (as Kind lists them), account, subject; in_flight by account, subject; healable
    by account, key; rejects by source, row. An intake that says it is only a part makes its side incomplete.
    """
    coverage = _with_sources(coverage, intents, refunds)
    books = _books(intents, refunds, links, policy=policy, coverage=coverage, as_of=as_of)
    mismatches = sorted(
        (*books.of_intents(), *books.of_refunds()),
        key=lambda mismatch: (REPORT_ORDER[mismatch.kind], mismatch.account, mismatch.subject),
    )
    in_flight, healable = _in_flight(books), books.healable()
    told = (said for said in (intents.incomplete, refunds.incomplete) if said)
    incomplete = (*told, *reading.incomplete(coverage))
    return Result(
        as_of=as_of,
        verdict=_verdict(
            mismatches,
            waiting=bool(in_flight or healable),
            incomplete=bool(incomplete or books.uncovered),
        ),
        counts=_counts(intents, refunds, books, mismatches),
        at_risk=_at_risk(mismatches),
        mismatches=tuple(mismatches),
        in_flight=in_flight,
        healable=healable,
        rejected=tuple(
            sorted((*intents.rejects, *refunds.rejects), key=lambda reject: (reject.source, reject.row))
        ),
        withheld=_pairs(books, books.judged.withheld, books.stray.withheld),
        due=_due(books, in_flight),
        incomplete=incomplete,
        older=_pairs(books, books.judged.older, books.stray.older),
    )


def beside(result: Result, in_flight: Iterable[InFlight]) -> Result:
    """Return the result with what else is in flight, which was judged before and did not change since."""
    more = tuple(in_flight)
    if not more:
        return result
    every = sorted((*result.in_flight, *more), key=lambda flight: (flight.account, flight.subject))
    verdict = result.verdict
    if verdict is Verdict.RECONCILED:
        verdict = Verdict.RECONCILED_WITH_PENDING
    counts = replace(result.counts, in_flight=len(every))
    return replace(result, verdict=verdict, counts=counts, in_flight=tuple(every))


def _books(
    intents: Intake, refunds: Intake, links: Links, *, policy: Policy, coverage: Coverage, as_of: datetime
) -> Books:
    """Return both frames judged."""
    linked = nine.gather(intents.frame, refunds.frame, links)
    at = arrays.time(as_of)
    judged = nine.judge(
        intents.frame,
        refunds.frame,
        links,
        linked,
        policy=policy,
        covered=reading.since_intents(intents.frame, links, coverage, as_of),
        outside=reading.outside_intents(links, coverage, as_of),
        untouchable=reading.touched_intents(intents.frame, links, refunds.rejects),
        as_of=at,
    )
    covered, outside = reading.until_refunds(refunds.frame, links, coverage)
    stray = strays.judge(
        refunds.frame,
        links,
        policy=policy,
        covered=covered,
        outside=outside,
        untouchable=reading.touched_refunds(refunds.frame, links, intents.rejects),
        as_of=at,
    )
    return Books(
        intents,
        refunds,
        links,
        linked=linked,
        judged=judged,
        stray=stray,
        policy=policy,
        as_of=as_of,
    )


def _with_sources(coverage: Coverage, intents: Intake, refunds: Intake) -> Coverage:
    """Return the coverage with the sides incomplete whose own source says that it holds only a part."""
    if refunds.incomplete:
        coverage = replace(
            coverage, refunds={}, default_refunds=replace(coverage.default_refunds, complete=False)
        )
    if intents.incomplete:
        coverage = replace(
            coverage, intents={}, default_intents=replace(coverage.default_intents, complete=False)
        )
    return coverage


def _verdict(mismatches: list[Mismatch], *, waiting: bool, incomplete: bool) -> Verdict:
    if incomplete:
        return Verdict.INCOMPLETE
    if mismatches:
        return Verdict.BREAKS
    return Verdict.RECONCILED_WITH_PENDING if waiting else Verdict.RECONCILED


def _at_risk(mismatches: list[Mismatch]) -> dict[str, int]:
    sums: defaultdict[str, int] = defaultdict(int)
    for mismatch in mismatches:
        sums[mismatch.at_risk.currency] += mismatch.at_risk.amount_minor
    return {currency: amount for currency, amount in sorted(sums.items()) if amount}


def _counts(intents: Intake, refunds: Intake, books: Books, mismatches: list[Mismatch]) -> Counts:
    """Return how many of what."""
    judged, stray = books.judged, books.stray
    by_kind = dict.fromkeys(Kind, 0)
    for mismatch in mismatches:
        by_kind[mismatch.kind] += 1
    known = arrays.isin(books.refund_status, KNOWN_STATUSES)
    return Counts(
        intents=len(intents.frame),
        refunds=len(refunds.frame),
        matched=int(judged.agreeing.sum()),
        matched_inferred=int((judged.agreeing & books.linked.weak).sum()),
        declared_repeats=judged.declared_repeats,
        in_flight=int((judged.young != NONE).sum() + stray.young.sum()),
        healable=int(judged.healable.sum()),
        system=int(refunds.frame["system"].sum()),
        withheld=int(judged.withheld.sum() + stray.withheld.sum()),
        rejected=len(intents.rejects) + len(refunds.rejects),
        superseded=intents.superseded + refunds.superseded,
        unknown_status=int((~known).sum()),
        mismatches=by_kind,
    )


def _in_flight(books: Books) -> tuple[InFlight, ...]:
    flights = []
    for position in np.flatnonzero(books.judged.young != NONE).tolist():
        missing = books.judged.young[position] == MISSING
        began = books.updated_at[position] if missing else int(books.judged.stuck_since[position])
        grace = books.policy.missing_after if missing else books.policy.stuck_after
        flights.append(
            InFlight(
                account=books.intent_account(position),
                subject=books.intent_subject(position),
                becomes=Kind.MISSING if missing else Kind.STUCK,
                breaks_at=arrays.instant(began) + grace,
            )
        )
    for place in np.flatnonzero(books.stray.young):
        position = books.stray.refund[place]
        flights.append(
            InFlight(
                account=books.refund_account(position),
                subject=books.refund_subject(position),
                becomes=Kind.ORPHAN if books.stray.twin[place] == ABSENT else Kind.DUPLICATE,
                breaks_at=arrays.instant(books.refund_created_at[position]) + books.policy.orphan_after,
            )
        )
    return tuple(sorted(flights, key=lambda flight: (flight.account, flight.subject)))


def _pairs(books: Books, intents: Bools, strays: Bools) -> tuple[tuple[AccountId, Subject], ...]:
    """Return the subjects of these intents and of these strays, by account and subject."""
    pairs = [
        (books.intent_account(position), books.intent_subject(position))
        for position in np.flatnonzero(intents).tolist()
    ]
    pairs += [
        (books.refund_account(position), books.refund_subject(position))
        for position in books.stray.refund[strays]
    ]
    return tuple(sorted(pairs))


def _due(books: Books, in_flight: tuple[InFlight, ...]) -> tuple[Due, ...]:
    """Return when each subject that time alone can change must be judged again, by account and subject."""
    due = {(flight.account, flight.subject): flight.breaks_at for flight in in_flight}
    becomes = {(flight.account, flight.subject): flight.becomes for flight in in_flight}
    for refund in nine.pending(books.refund_status, books.linked):
        position = int(books.links.intent[refund])
        if books.judged.rule[position] == nine.OVERDUE:
            continue
        subject = (books.intent_account(position), books.intent_subject(position))
        at = arrays.instant(books.refund_created_at[refund]) + books.policy.provider_pending_after
        due[subject] = min(at, due.get(subject, at))
    return tuple(Due(*subject, at, becomes.get(subject)) for subject, at in sorted(due.items()))
