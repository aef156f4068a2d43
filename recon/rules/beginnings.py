"""Where the books begin: from when an account's intents count, and what is older than all that was read.

A first reading finds weeks of refunds, and an intents table may be days old: nobody could have written an
intent for what came before, and thousands of orphans would hide the one that is. What is older than either
side is withheld, and said. Never reads anything.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from recon.model import subjects
from recon.model.phrases import minute, of_account, several
from recon.model.records.results import Result
from recon.model.records.runs import Account, Beginning, Older, Run
from recon.model.records.words import AccountId

# What a run's counts call them.
OLDER = "older"
COVERED = "covered_from"


def intents_from(begins: Beginning, *, read_to: datetime, limit: int) -> datetime | None:
    """Return from when the intents of an account count; None where they count from ever.

    read_to: how far its refunds are read. limit: with so many refunds before its first intent, or fewer, they
    are ordinary orphans.
    """
    if begins.older <= limit:
        return None
    return begins.earliest if begins.earliest is not None else read_to


def moved_back(decided: datetime, earliest: datetime | None) -> datetime:
    """Return from when intents count once earlier ones are known: never later than was decided."""
    return decided if earliest is None else min(decided, earliest)


def told(begins: Beginning, since: datetime) -> str:
    """Return the sentence that says what was decided."""
    whose = of_account(begins.account)
    first = (
        f"The first intent{whose} is of {minute(since)}"
        if begins.earliest is not None
        else f"No intent{whose} is known yet"
    )
    return (
        f"{first}: {several(begins.older, 'refund')} made before {minute(since)} will not be taken for "
        "orphans or duplicates. Where intents are known from another time on, say so: intents_from under "
        "[pull]."
    )


def older(
    result: Result,
    accounts: Iterable[Account],
    since: Mapping[AccountId, datetime],
    earliest: Mapping[AccountId, datetime],
) -> tuple[Older, ...]:
    """Return what of each account is older than what is judged, by account; none where nothing is.

    since: from when an account's intents count, where not from ever. earliest: when the first intent read of
    each account was created.
    """
    numbers: dict[AccountId, Counter[bool]] = defaultdict(Counter)
    for account, subject in result.older:
        numbers[account][subjects.is_intent(subject)] += 1
    return tuple(
        Older(
            account=each.account,
            intents=numbers[each.account][True],
            refunds=numbers[each.account][False],
            covered_from=each.covered_from,
            intents_from=since.get(each.account),
            earliest=earliest.get(each.account, each.covered_from),
        )
        for each in sorted(accounts, key=lambda account: account.account)
        if each.account in numbers and each.covered_from is not None
    )


def kept(new: Iterable[Older], before: Iterable[Older]) -> tuple[Older, ...]:
    """Return what a run that read only what was touched says of all: what the last full one counted, or more.

    Both are of the same coverage: a run under another one is a full one.
    """
    found = {each.account: each for each in before}
    for each in new:
        was = found.get(each.account, each)
        found[each.account] = Older(
            account=each.account,
            intents=max(each.intents, was.intents),
            refunds=max(each.refunds, was.refunds),
            covered_from=each.covered_from,
            intents_from=each.intents_from,
            earliest=min(each.earliest, was.earliest),
        )
    return tuple(found[account] for account in sorted(found))


def fresh(accounts: Iterable[Account], last: Run | None) -> tuple[Account, ...]:
    """Return the accounts of which more of the past is read than any run has judged.

    A run of an earlier version has written down nothing about that: what it knew of was judged.
    """
    before = {} if last is None else last.counts.get(COVERED)
    if before is None:
        return ()
    assert isinstance(before, Mapping)
    return tuple(
        each
        for each in accounts
        if each.account not in before
        or (
            each.covered_from is not None and each.covered_from < datetime.fromisoformat(before[each.account])
        )
    )


def judged(accounts: Iterable[Account], last: Run | None) -> dict[str, str]:
    """Return from when each account is judged now, for a run's counts; these were read to the end."""
    before = last.counts.get(COVERED) if last is not None else None
    known = {str(name): str(at) for name, at in before.items()} if isinstance(before, Mapping) else {}
    return known | {
        each.account: each.covered_from.isoformat() for each in accounts if each.covered_from is not None
    }


def as_counts(found: Iterable[Older]) -> list[dict[str, object]]:
    """Return what is older as a run's counts keep it; times in ISO 8601."""
    return [
        {
            "account": each.account,
            "intents": each.intents,
            "refunds": each.refunds,
            "covered_from": each.covered_from.isoformat(),
            "intents_from": each.intents_from.isoformat() if each.intents_from else None,
            "earliest": each.earliest.isoformat(),
        }
        for each in found
    ]


def of_counts(counts: Mapping[str, object]) -> tuple[Older, ...]:
    """Return what a run's counts tell of what is older; nothing where an earlier version counted."""
    kept_there = counts.get(OLDER, [])
    assert isinstance(kept_there, list)
    return tuple(
        Older(
            account=AccountId(each["account"]),
            intents=each["intents"],
            refunds=each["refunds"],
            covered_from=datetime.fromisoformat(each["covered_from"]),
            intents_from=datetime.fromisoformat(each["intents_from"]) if each["intents_from"] else None,
            earliest=datetime.fromisoformat(each["earliest"]),
        )
        for each in kept_there
    )


def sentences(found: Iterable[Older]) -> tuple[str, ...]:
    """Return what is said of what is older: how many, than what, and how to have it judged."""
    told = []
    for each in found:
        whose = of_account(each.account)
        back = f"recon backfill --from {each.earliest:%Y-%m-%d} --to {each.covered_from:%Y-%m-%d}"
        if each.account:
            back += f" --account {each.account}"
        if each.intents:
            told.append(
                f"{several(each.intents, 'intent')}{whose} {_are(each.intents)} older than "
                f"{each.covered_from:%Y-%m-%d}, the first refund read, and {_are(each.intents)} not judged: "
                f"{back} reads further back."
            )
        if each.refunds:
            before = max(each.covered_from, each.intents_from or each.covered_from)
            side = "intents are known" if before is each.intents_from else "every refund was read"
            told.append(
                f"{several(each.refunds, 'refund')}{whose} {_are(each.refunds)} older than "
                f"{minute(before)}, from when {side}, and {_are(each.refunds)} not judged."
            )
    return tuple(told)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
