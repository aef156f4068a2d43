"""The laws of the diff as properties of the product: nothing lost, nothing twice, order does not matter."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reference_world
from tests.agreement import Document, by_product, comparable
from tests.drawer import MICROSECOND, Row
from tests.reference import world_of
from tests.worlds import World, worlds

MADE_OF_REFUNDS = ("duplicate", "currency_mismatch", "status_mismatch", "overdue", "orphan")

law: Callable[[Callable[..., None]], Callable[..., None]] = settings(
    max_examples=40, deadline=None, derandomize=True
)


def books_of(world: World) -> reference_world.World:
    """The world as the slow reading links it: what stands, and which live refund belongs to nobody."""
    return world_of(
        world.intents,
        world.refunds,
        as_of=world.as_of,
        policy=world.policy,
        incomplete=world.incomplete,
        refunds_from=world.refunds_from,
        intents_from=world.intents_from,
        older_is_outside=world.older_is_outside,
    )


def subjects(document: Document, name: str) -> list[tuple[str, str]]:
    """Whom the rows of one of the document's lists are about."""
    return [(row["account"], row.get("subject") or f"intent:{row['intent_key']}") for row in document[name]]


@law
@given(worlds())
def test_every_intent_and_every_live_refund_is_exactly_one_thing(world: World) -> None:
    document = by_product(world)
    books = books_of(world)
    intents = {(i.account, f"intent:{i.key}") for i in books.books.intents}
    refunds = {(r.account, f"refund:{r.id}") for r in books.unlinked()}
    broken, flying, healing = (set(subjects(document, n)) for n in ("mismatches", "in_flight", "healable"))
    repeated = {
        (m["account"], m["subject"])
        for m in document["mismatches"]
        if (m["kind"], m["certainty"]) == ("duplicate", "probable")
    }

    assert broken | flying | healing <= intents | refunds
    assert not broken & flying
    assert not healing & flying
    assert healing & broken <= repeated
    counts = document["counts"]
    assert len(broken | flying | healing) + counts["matched"] + counts["withheld"] == len(intents) + len(
        refunds
    )
    assert counts["intents"] == len(intents)
    assert counts["refunds"] == len(books.books.refunds)
    assert 0 <= counts["matched_inferred"] <= counts["matched"]


@law
@given(worlds())
def test_a_subject_has_at_most_one_mismatch_and_every_list_is_in_order(world: World) -> None:
    document = by_product(world)
    order = list(document["counts"]["mismatches"])
    broken = [(order.index(m["kind"]), m["account"], m["subject"]) for m in document["mismatches"]]

    assert max(Counter(subjects(document, "mismatches")).values(), default=1) == 1
    assert broken == sorted(broken)
    assert subjects(document, "in_flight") == sorted(subjects(document, "in_flight"))
    healable = [(h["account"], h["intent_key"]) for h in document["healable"]]
    assert healable == sorted(healable)
    rejected = [(r["source"], r["row"]) for r in document["rejected"]]
    assert rejected == sorted(rejected)


@law
@given(worlds())
def test_the_counts_and_the_money_at_risk_are_those_of_the_lists(world: World) -> None:
    document = by_product(world)
    kinds = Counter(m["kind"] for m in document["mismatches"])
    sums: Counter[str] = Counter()
    for mismatch in document["mismatches"]:
        sums[mismatch["currency"]] += mismatch["amount_at_risk"]

    assert document["at_risk"] == {currency: amount for currency, amount in sums.items() if amount}
    assert {kind: number for kind, number in document["counts"]["mismatches"].items() if number} == kinds
    for name in ("in_flight", "healable", "rejected"):
        assert document["counts"][name] == len(document[name])


@law
@given(worlds())
def test_two_currencies_are_never_added(world: World) -> None:
    document = by_product(world)
    refunds = {(r.account, r.id): r for r in books_of(world).books.refunds}
    intents = {(i.account, i.key): i for i in books_of(world).books.intents}
    for mismatch in document["mismatches"]:
        taking_part = [refunds[mismatch["account"], name] for name in mismatch["refund_ids"]]
        same = sum(r.amount for r in taking_part if r.currency == mismatch["currency"])
        if mismatch["kind"] in MADE_OF_REFUNDS:
            assert 0 <= mismatch["amount_at_risk"] <= same
        else:
            assert mismatch["currency"] == intents[mismatch["account"], mismatch["intent_key"]].currency


@law
@given(worlds())
def test_no_number_is_ever_a_float(world: World) -> None:
    def numbers(value: object) -> Iterator[object]:
        if isinstance(value, dict):
            for inner in value.values():
                yield from numbers(inner)
        elif isinstance(value, list | tuple):
            for inner in value:
                yield from numbers(inner)
        elif value is not None and not isinstance(value, str):
            yield value

    assert {type(number) for number in numbers(by_product(world))} <= {int}


@law
@given(worlds(), st.integers(min_value=0, max_value=2**32))
def test_the_order_of_the_rows_changes_nothing(world: World, seed: int) -> None:
    random = Random(seed)
    shuffled = replace(
        world,
        intents=tuple(random.sample(world.intents, len(world.intents))),
        refunds=tuple(random.sample(world.refunds, len(world.refunds))),
    )

    assert without_rows(by_product(world)) == without_rows(by_product(shuffled))


def without_rows(document: Document) -> tuple[Document, Counter[tuple[str, str | None]]]:
    """The document, and its rejects by what they are instead of where they stood."""
    rest = comparable(document)
    rest.pop("rejected")
    return rest, Counter((reject["source"], reject["id"]) for reject in document["rejected"])


@law
@given(worlds())
def test_a_second_run_says_the_same(world: World) -> None:
    assert by_product(world) == by_product(world)


@law
@given(worlds())
def test_an_unrelated_matched_pair_changes_nothing_else(world: World) -> None:
    made_at = world.as_of - timedelta(hours=3)
    intent: Row = {"key": "k99", "payment": "pi_99", "amount_minor": 777, "currency": "usd", "status": "done"}
    intent["created_at"] = made_at.isoformat()
    money: Row = {
        "id": "re_99",
        "currency": "usd",
        "status": "succeeded",
        "payment_intent": "pi_99",
        "charge": None,
    }
    flat: Row = {**money, "amount_minor": 777, "created_at": made_at.isoformat(), "intent_key": "k99"}
    theirs: Row = {**money, "object": "refund", "amount": 777, "created": int(made_at.timestamp())}
    theirs["metadata"] = {"intent_key": "k99"}
    more = replace(
        world, intents=(*world.intents, intent), refunds=(*world.refunds, theirs if world.paged else flat)
    )
    expected = comparable(by_product(world))
    counts = expected["counts"]
    assert isinstance(counts, dict)
    expected["counts"] = {**counts, **{name: counts[name] + 1 for name in ("intents", "refunds", "matched")}}

    assert comparable(by_product(more)) == expected


@law
@given(worlds())
def test_what_is_in_flight_breaks_at_its_time_and_not_before(world: World) -> None:
    whole = replace(world, incomplete=frozenset(), refunds_from=None, intents_from=None)
    document = by_product(whole)
    for young in document["in_flight"]:
        who = (young["account"], young["subject"])
        breaks_at = datetime.fromisoformat(young["breaks_at"])
        assert breaks_at > world.as_of
        then = by_product(replace(whole, as_of=breaks_at))
        before = by_product(replace(whole, as_of=breaks_at - MICROSECOND))
        kinds = {(m["account"], m["subject"]): m["kind"] for m in then["mismatches"]}
        assert who in subjects(before, "in_flight") or kinds_of(before).get(who) == "overdue"
        if then["verdict"] != "incomplete":
            assert kinds[who] == young["becomes"]


def kinds_of(document: Document) -> dict[tuple[str, str], str]:
    """The kind of each subject's mismatch."""
    return {(m["account"], m["subject"]): m["kind"] for m in document["mismatches"]}
