"""The slow, obvious folding of rows into books: what stands, what is superseded, what a reject touches.

Written from the text of the contract and apart from the product: nothing here may import the product.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from tests.reference_rows import (
    Intent,
    MalformedError,
    Refund,
    Row,
    intent_of,
    names_of_refund,
    refund_of,
    text,
)

# How far a refund has come. Failed and canceled are equally far; an unknown word has come nowhere.
RANKS = {"pending": 1, "requires_action": 2, "succeeded": 3, "failed": 4, "canceled": 4}

T = TypeVar("T", Intent, Refund)


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that cannot be judged, and all the names it mentions."""

    source: str
    row: int
    id: str | None
    reason: str
    account: str
    names: frozenset[str]


@dataclass(slots=True)
class Books:
    """Both sides as they stand."""

    intents: list[Intent]
    refunds: list[Refund]
    rejects: list[Reject]
    superseded: int
    cut: bool  # A page says that there is more.
    touched_intents: set[tuple[str, str]]
    touched_refunds: set[tuple[str, str]]


def read(intents: Sequence[Row], refunds: Sequence[Row]) -> Books:
    """Both sides as they stand: malformed rows out, equal rows one, versions folded, charges mapped."""
    flat, cut = unpack(refunds)
    rejects: list[Reject] = []
    read_refunds = readable(flat, "refunds", refund_of, rejects)
    read_intents = readable(intents, "intents", intent_of, rejects)
    payment_of = payments_of_charges(read_refunds)
    mapped_refunds = [replace(r, payment=payment_of(r.account, r.own_payment)) for r in read_refunds]
    standing_refunds, older_refunds = fold_refunds(mapped_refunds, rejects)
    out = {(reject.account, reject.id, reject.row) for reject in rejects if reject.source == "refunds"}
    payment_of = payments_of_charges(r for r in read_refunds if (*r.me, r.row) not in out)
    standing_refunds = [replace(r, payment=payment_of(r.account, r.own_payment)) for r in standing_refunds]
    mapped_intents = [replace(i, payment=payment_of(i.account, i.payment)) for i in read_intents]
    standing_intents, older_intents = fold_intents(mapped_intents, rejects)
    return Books(
        intents=standing_intents,
        refunds=standing_refunds,
        rejects=rejects,
        superseded=older_refunds + older_intents,
        cut=cut,
        touched_intents=touched_intents(standing_intents, rejects),
        touched_refunds=touched_refunds(standing_refunds, rejects),
    )


def unpack(rows: Sequence[Row]) -> tuple[list[Row], bool]:
    """The rows with every list page opened, and whether a page says that there is more."""
    flat: list[Row] = []
    cut = False
    for row in rows:
        inside = row.get("data")
        if row.get("object") == "list" and isinstance(inside, list):
            flat.extend(inside)
            cut = cut or row.get("has_more") is True
        else:
            flat.append(row)
    return flat, cut


def readable(
    rows: Iterable[Row], source: str, reader: Callable[[int, Row], T], rejects: list[Reject]
) -> list[T]:
    """Each row that can be read, equal ones once; the others become rejects."""
    good: dict[T, None] = {}
    for number, row in enumerate(rows, start=1):
        try:
            good.setdefault(reader(number, row))
        except MalformedError as error:
            rejects.append(reject_of(number, row, source, str(error)))
    return list(good)


def reject_of(number: int, row: Row, source: str, reason: str) -> Reject:
    """A malformed row, with the names that can still be read from it."""
    mentions = names_of_refund(row) if source == "refunds" else (text(row, "refund_id"),)
    names = frozenset(name for name in mentions if name is not None)
    own = text(row, "id" if source == "refunds" else "key")
    return Reject(source, number, own, reason, text(row, "account") or "", names)


def payments_of_charges(refunds: Iterable[Refund]) -> Callable[[str, str | None], str | None]:
    """What a payment's name means in an account: a charge is the PaymentIntent that a row shows for it."""
    shown: dict[tuple[str, str], str] = {}
    for refund in refunds:
        if refund.charge is not None and refund.payment_intent is not None:
            place = (refund.account, refund.charge)
            shown[place] = min(shown.get(place, refund.payment_intent), refund.payment_intent)

    def payment_of(account: str, name: str | None) -> str | None:
        return None if name is None else shown.get((account, name), name)

    return payment_of


def fold_refunds(refunds: Iterable[Refund], rejects: list[Reject]) -> tuple[list[Refund], int]:
    """The standing version of each refund, and how many it supersedes; versions that disagree on money go."""
    standing: list[Refund] = []
    superseded = 0
    for versions in by_name(refunds):
        if len({(r.amount, r.currency, r.payment) for r in versions}) > 1:
            rejects.extend(
                Reject("refunds", r.row, r.id, "versions disagree on money", r.account, keys_in(r))
                for r in versions
            )
            continue
        first, *others = sorted(versions, key=standing_order, reverse=True)
        standing.append(
            replace(
                first,
                intent_key=next((r.intent_key for r in (first, *others) if r.intent_key), None),
                request_key=next((r.request_key for r in (first, *others) if r.request_key), None),
                operator_key=next((r.operator_key for r in (first, *others) if r.operator_key), None),
            )
        )
        superseded += len(others)
    return standing, superseded


def standing_order(refund: Refund) -> tuple[int, int, tuple[str, ...]]:
    """How far it came, then how much it says, then its words."""
    words = tuple("" if value is None else str(value) for value in said_by(refund))
    return (RANKS.get(refund.status or "", 0), sum(word != "" for word in words), words)


def said_by(refund: Refund) -> list[object]:
    """All that a refund's row itself says, in the order of its columns."""
    return [getattr(refund, f.name) for f in fields(refund) if f.compare]


def keys_in(refund: Refund) -> frozenset[str]:
    """Every intent key a refund mentions."""
    return frozenset(key for key in (refund.intent_key, refund.request_key, refund.operator_key) if key)


def fold_intents(intents: Iterable[Intent], rejects: list[Reject]) -> tuple[list[Intent], int]:
    """The latest version of each intent, and how many it supersedes; where two are latest all go out."""
    standing: list[Intent] = []
    superseded = 0
    for versions in by_name(intents):
        latest = max(i.updated_at for i in versions)
        last = [i for i in versions if i.updated_at == latest]
        if len(last) > 1:
            rejects.extend(
                Reject(
                    "intents", i.row, i.key, "two latest versions", i.account, frozenset([i.refund_id or ""])
                )
                for i in versions
            )
            continue
        standing.append(last[0])
        superseded += len(versions) - 1
    return standing, superseded


def by_name(rows: Iterable[T]) -> Iterable[list[T]]:
    """The versions of each intent or refund of an account."""
    groups: dict[tuple[str, str], list[T]] = defaultdict(list)
    for row in rows:
        groups[row.me].append(row)
    return groups.values()


def touched_intents(intents: Iterable[Intent], rejects: Iterable[Reject]) -> set[tuple[str, str]]:
    """The intents that a rejected refund names by any key, or that name a rejected refund."""
    bad = [reject for reject in rejects if reject.source == "refunds"]
    named = {(reject.account, name) for reject in bad for name in reject.names}
    ids = {(reject.account, reject.id) for reject in bad if reject.id is not None}
    return {i.me for i in intents if i.me in named or (i.account, i.refund_id) in ids}


def touched_refunds(refunds: Iterable[Refund], rejects: Iterable[Reject]) -> set[tuple[str, str]]:
    """The refunds that name a rejected intent by any key, or that a rejected intent names."""
    bad = [reject for reject in rejects if reject.source == "intents"]
    named = {(reject.account, name) for reject in bad for name in reject.names}
    keys = {(reject.account, reject.id) for reject in bad if reject.id is not None}
    return {r.me for r in refunds if r.me in named or any((r.account, key) in keys for key in keys_in(r))}
