"""What may be wrong with two files rather than with the money: a result and its two sides in, sentences out.

A hint names a likely cause of many mismatches and what to try. It never changes a verdict, and it is quiet
where what it would explain is the smaller part.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from recon.model import phrases, policies
from recon.model.frames import Intake
from recon.model.records.results import Mismatch, Money, Policy, Reject, Result
from recon.model.records.words import AccountId, IntentKey, Kind
from recon.model.unjudged import Unjudged

_MANY = 3  # Fewer beyond the end of a file are as likely to be what they look like.
_BEFORE = 1  # What is older than all of the other file is hardly chance: that file begins too late for it.
_LIKE_ZONES = timedelta(minutes=15)  # Offsets of zones are whole quarters of an hour; clocks differ by less.
_FARTHEST_ZONE = timedelta(
    hours=14
)  # No zone is farther from UTC. Source: the tz database, Pacific/Kiritimati.
_ALIKE = timedelta(minutes=5)  # How far distances of one cause may differ: an agent takes a while to send.


class _Payment(NamedTuple):
    """What a refund and its intent have in common, whatever their times."""

    account: AccountId
    payment: str
    money: Money


@dataclass(frozen=True, slots=True)
class _Missing:
    """A missing intent. at: when it was sent first, else made; the refund is looked for around this time."""

    mismatch: Mismatch
    money: Money
    at: datetime
    created_at: datetime


def find(
    result: Result,
    intents: Intake,
    refunds: Intake,
    *,
    sources: tuple[Sequence[str], Sequence[str]],
    policy: Policy,
) -> tuple[str, ...]:
    """Return the hints, the most likely cause first; none where nothing points to one.

    sources: the names of the intents' files and of the refunds'.
    """
    sides = (
        (intents, sources[0], (Kind.ORPHAN, "orphan")),
        (refunds, sources[1], (Kind.MISSING, "missing intent")),
    )
    unread = [said for intake, names, alone in sides if (said := _unread(intake, names, alone, result))]
    if unread or not (len(intents.frame) and len(refunds.frame)):
        return tuple(unread)
    lost, touched = _beside_unjudged(result, intents, refunds)
    missing = [each for each in _missing(result, intents) if id(each.mismatch) not in touched]
    orphans = [each for each in result.mismatches if each.kind is Kind.ORPHAN and id(each) not in touched]
    pairs = _pairs(missing, orphans)
    paired = {id(each) for pair in pairs for each in (pair[0].mismatch, pair[1])}
    alone = [each for each in missing if id(each.mismatch) not in paired]
    strays = [each for each in orphans if id(each) not in paired]
    return (*lost, *_apart(pairs, len(missing), policy), *_ends(alone, strays, intents, refunds))


def _unread(intake: Intake, names: Sequence[str], alone: tuple[Kind, str], result: Result) -> str:
    """Return what to say of a side of which no row could be judged though it had some; else nothing.

    alone: what every row of the other side is then, whatever it would have been, and what one is called.
    """
    if len(intake.frame) or not intake.rejects:
        return ""
    first = names[0] if names else "FILE"
    number = intake.read or len(intake.rejects)
    rows = "The only row" if number == 1 else f"None of the {number:,} rows"
    so = "so nothing was compared"
    kind, noun = alone
    found = result.counts.mismatches.get(kind, 0)
    if found:
        say = "says" if found == 1 else "say"
        so = (
            f"so the other side was compared with nothing, and its {phrases.several(found, noun)} {say}"
            " no more than that"
        )
    return (
        f"{rows} of {phrases.listed(names)} could {'not ' if number == 1 else ''}be judged,"
        f" {so}: recon map {first} proposes a map."
    )


def _beside_unjudged(result: Result, intents: Intake, refunds: Intake) -> tuple[list[str], set[int]]:
    """Return what to say of mismatches on the payments of rejected rows, and which mismatches these are."""
    said: list[str] = []
    touched: set[int] = set()
    for kind, noun, other in ((Kind.MISSING, "missing intent", refunds), (Kind.ORPHAN, "orphan", intents)):
        every = [each for each in result.mismatches if each.kind is kind]
        if not (every and other.rejects):
            continue
        unjudged = Unjudged(other.rejects, refunds.frame)
        found = [(each, rows) for each in every if (rows := unjudged.on(each.account, each.payment))]
        if found:
            touched.update(id(each) for each, _ in found)
            said.append(_mend_first(len(found), phrases.several(len(every), noun), _rows_of(found)))
    return said, touched


def _rows_of(found: Iterable[tuple[Mismatch, Sequence[Reject]]]) -> set[tuple[str, int]]:
    """Return the rejected rows beside some mismatches, as source and row."""
    return {(row.source, row.row) for _, rows in found for row in rows}


def _mend_first(number: int, among: str, rows: Collection[tuple[str, int]]) -> str:
    """Return what to say of so many of the mismatches that are on the payments of rejected rows."""
    files = phrases.listed(sorted({source for source, _ in rows}))
    on = "is on the payment" if number == 1 else "are on payments"
    which, them = ("a row", "it") if len(rows) == 1 else ("rows", "these rows")
    return f"{number:,} of {among} {on} of {which} of {files} that could not be judged: mend {them} first."


def _missing(result: Result, intents: Intake) -> list[_Missing]:
    """Return the missing intents that no other's claim explains, with their rows' amounts and times."""
    found = {
        (each.account, each.intent_key): each
        for each in result.mismatches
        if each.kind is Kind.MISSING and each.diagnosis is None
    }
    columns = ["account", "key", "amount_minor", "currency", "first_sent_at", "created_at"]
    rows = intents.frame.loc[intents.frame["key"].isin([key for _, key in found]), columns]
    sent = rows["first_sent_at"].fillna(rows["created_at"])
    texts = (rows[name].tolist() for name in ("account", "key", "amount_minor", "currency"))
    times = ([at.to_pydatetime() for at in column] for column in (sent, rows["created_at"]))
    return [
        _Missing(mismatch, Money(amount, currency), at, created_at)
        for account, key, amount, currency, at, created_at in zip(*texts, *times, strict=True)
        if (mismatch := found.get((AccountId(account), IntentKey(key)))) is not None
    ]


def _pairs(
    missing: Iterable[_Missing], orphans: Iterable[Mismatch]
) -> list[tuple[_Missing, Mismatch, timedelta]]:
    """Return missing intents with orphans of the same payment and money, and how much later the refund is.

    Of several on one payment the first goes with the first.
    """
    ours: defaultdict[_Payment, list[_Missing]] = defaultdict(list)
    theirs: defaultdict[_Payment, list[Mismatch]] = defaultdict(list)
    for each in missing:
        if each.mismatch.payment is not None:
            ours[_Payment(each.mismatch.account, each.mismatch.payment, each.money)].append(each)
    for orphan in orphans:
        if orphan.payment is not None:
            theirs[_Payment(orphan.account, orphan.payment, orphan.at_risk)].append(orphan)
    return [
        (mine, orphan, orphan.since - mine.at)
        for payment, here in ours.items()
        for mine, orphan in zip(
            sorted(here, key=lambda each: (each.at, each.mismatch.subject)),
            sorted(theirs[payment], key=lambda each: (each.since, each.subject)),
            strict=False,
        )
    ]


def _apart(
    pairs: Sequence[tuple[_Missing, Mismatch, timedelta]], missing: int, policy: Policy
) -> Iterator[str]:
    """Yield what the distances say where most missing intents have an orphan that could be their refund."""
    outside = [later for _, _, later in pairs if not -policy.clock_skew <= later <= policy.inferred_window]
    if not outside or 2 * len(outside) < missing:
        return
    middle = sorted(outside)[len(outside) // 2]
    mostly = 2 * sum(abs(later - middle) <= _ALIKE for later in outside) > len(outside)
    far = _distance(abs(middle))
    distance = ("" if len(outside) == 1 else "mostly ") + far if mostly else f"around {far}"
    refunds = "the refund is" if len(outside) == 1 else "the refunds are"
    have = "has" if len(outside) == 1 else "have"
    yield (
        f"{len(outside):,} of {phrases.several(missing, 'missing intent')} {have} an orphan refund of the"
        f" same payment and amount, {distance} apart"
        f" ({refunds} {'later' if middle > timedelta() else 'earlier'}): {_cause(middle, policy)}"
    )


def _cause(later: timedelta, policy: Policy) -> str:
    """Return what to ask of refunds that are so much later than their intents, or earlier."""
    name = "inferred_window_hours" if later > timedelta() else "clock_skew_seconds"
    grace = f"{name} in a file for --policy is the grace that decides it, now {policies.told(policy)[name]}."
    if -_LIKE_ZONES < later < timedelta() or later > _FARTHEST_ZONE:
        return grace
    asked = "is the zone of one file right?"
    return asked if later < timedelta() else f"{asked} Else {grace}"


def _distance(length: timedelta) -> str:
    """Return a length to the minute, of short ones to the second."""
    seconds = round(length.total_seconds())
    if seconds < _LIKE_ZONES.total_seconds():
        minutes, seconds = divmod(seconds, 60)
        return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
    return phrases.duration(timedelta(minutes=round(seconds / 60)))


def _span(intake: Intake) -> tuple[datetime, datetime]:
    """Return when the first row of a side that has some was made, and when the last."""
    created = intake.frame["created_at"]
    return created.min().to_pydatetime(), created.max().to_pydatetime()


def _ends(
    missing: Iterable[_Missing], orphans: Iterable[Mismatch], intents: Intake, refunds: Intake
) -> Iterator[str]:
    """Yield what of one side is outside the time that the other's file spans, and how to leave it out."""
    ours, theirs = _span(intents), _span(refunds)
    outside: Counter[str] = Counter()
    for each in missing:
        outside["intents before"] += each.created_at < theirs[0]
        outside["intents after"] += each.mismatch.since > theirs[1]
    for orphan in orphans:
        outside["refunds before"] += orphan.since < ours[0]
        outside["refunds after"] += orphan.since > ours[1]
    said = (
        ("intents before", "missing intent", "older than the first refund", "--refunds-from", theirs[0]),
        ("refunds before", "orphan", "older than the first intent", "--intents-from", ours[0]),
        ("intents after", "missing intent", "younger than the last refund", "--as-of", theirs[1]),
        ("refunds after", "orphan", "younger than the last intent", "--as-of", ours[1]),
    )
    for which, noun, place, option, at in said:
        number = outside[which]
        if number < (_MANY if option == "--as-of" else _BEFORE):
            continue
        does = f"leaves {'it' if number == 1 else 'them'} out"
        if option == "--as-of":
            does = "judges what was known then"
        elif number < _MANY:
            does += f" if what belongs to {'it' if number == 1 else 'them'} is in an earlier file"
        yield (
            f"{phrases.several(number, noun)} {'is' if number == 1 else 'are'} {place}"
            f" ({phrases.minute(at)}): {option} {phrases.iso(at)} {does}."
        )
