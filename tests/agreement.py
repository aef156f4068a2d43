"""Sets the product's diff beside the slow reading of the same rules.

A world on which the two disagree is made as small as it gets before anybody has to look at it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from tests import reference
from tests.drawer import Row
from tests.product import product_diff
from tests.worlds import World

Document = dict[str, Any]


def by_reference(world: World) -> Document:
    """What the slow reading finds in a world."""
    return reference.diff(
        world.intents,
        world.refunds,
        as_of=world.as_of,
        policy=world.policy,
        incomplete=world.incomplete,
        refunds_from=world.refunds_from,
        intents_from=world.intents_from,
        older_is_outside=world.older_is_outside,
    )


def by_product(world: World) -> Document:
    """What the product finds in a world."""
    return product_diff(
        world.intents,
        world.refunds,
        as_of=world.as_of,
        policy=world.policy,
        incomplete=world.incomplete,
        refunds_from=world.refunds_from,
        intents_from=world.intents_from,
        older_is_outside=world.older_is_outside,
    )


def comparable(document: Mapping[str, object]) -> Document:
    """The document without what is free: wording out, a diagnosis only set or not, times as moments.

    "claimed by <key>" is no free wording and stays.
    """
    copied: Document = json.loads(json.dumps(document))
    copied["as_of"] = moment(copied["as_of"])
    for found in rows_of(copied, "mismatches"):
        assert isinstance(found.pop("why"), str), found
        found["since"] = moment(found["since"])
        diagnosis = found["diagnosis"]
        if diagnosis is not None and not str(diagnosis).startswith("claimed by "):
            found["diagnosis"] = "some"
    for young in rows_of(copied, "in_flight"):
        young["breaks_at"] = moment(young["breaks_at"])
    for reject in rows_of(copied, "rejected"):
        assert isinstance(reject.pop("reason"), str), reject
    return copied


def rows_of(document: Mapping[str, object], name: str) -> list[Row]:
    """One of the document's lists."""
    rows = document[name]
    assert isinstance(rows, list)
    return rows


def moment(said: object) -> str:
    """A time as one spelling; the contract wants a Z at its end."""
    assert isinstance(said, str), said
    assert said.endswith("Z"), said
    return datetime.fromisoformat(said).isoformat()


def differences(world: World, find: Callable[[World], Document] = by_product) -> list[str]:
    """What the two say differently, one line each; empty when they agree."""
    expected = comparable(by_reference(world))
    try:
        actual = comparable(find(world))
    except Exception as error:  # noqa: BLE001 - a crash on a world is a finding, and the world must be shown.
        return [f"the product failed: {type(error).__name__}: {error}"]
    return list(unlike("", expected, actual))


def unlike(path: str, expected: object, actual: object) -> Iterator[str]:
    """Where two documents differ, by path."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in sorted({*expected, *actual}):
            yield from unlike(
                f"{path}.{name}", expected.get(name, "no such key"), actual.get(name, "no such key")
            )
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for place, (left, right) in enumerate(zip(expected, actual, strict=True)):
            yield from unlike(f"{path}[{place}]", left, right)
    elif expected != actual or type(expected) is not type(actual):
        yield f"{path}: expected {json.dumps(expected)}, found {json.dumps(actual)}"


def smaller(world: World, wrong: Callable[[World], bool]) -> World:
    """The smallest world that deleting rows, fields and settings one by one leaves wrong."""
    found = True
    while found:
        found = False
        for other in reductions(world):
            if wrong(other):
                world, found = other, True
                break
    return world


def reductions(world: World) -> Iterator[World]:
    """Every world with one thing less."""
    for rows in fewer(world.intents):
        yield replace(world, intents=rows)
    for rows in fewer(world.refunds):
        yield replace(world, refunds=rows)
    yield from simpler(world)
    for rows in thinner(world.intents):
        yield replace(world, intents=rows)
    for rows in thinner(world.refunds):
        yield replace(world, refunds=rows)


def simpler(world: World) -> Iterator[World]:
    """Every world with one setting less."""
    if world.incomplete:
        yield replace(world, incomplete=frozenset())
    if world.refunds_from is not None:
        yield replace(world, refunds_from=None)
    if world.intents_from is not None:
        yield replace(world, intents_from=None)
    if world.older_is_outside:
        yield replace(world, older_is_outside=False)
    for name in world.policy:
        yield replace(world, policy={n: value for n, value in world.policy.items() if n != name})


def fewer(rows: tuple[Row, ...]) -> Iterator[tuple[Row, ...]]:
    """The rows with one less, or with one object less in one of their pages."""
    for place, row in enumerate(rows):
        yield rows[:place] + rows[place + 1 :]
        inside = row.get("data")
        if isinstance(inside, list):
            for index in range(len(inside)):
                page = {**row, "data": inside[:index] + inside[index + 1 :]}
                yield (*rows[:place], page, *rows[place + 1 :])


def thinner(rows: tuple[Row, ...]) -> Iterator[tuple[Row, ...]]:
    """The rows with a field less in one of them."""
    for place, row in enumerate(rows):
        for name in row:
            if name not in {"object", "data"}:
                less = {n: value for n, value in row.items() if n != name}
                yield (*rows[:place], less, *rows[place + 1 :])


def seen(document: Mapping[str, object]) -> Counter[str]:
    """How often each kind, finding and count occurs in a result: whether worlds are rich enough."""
    counts = document["counts"]
    assert isinstance(counts, dict)
    total = Counter({name: number for name, number in counts.items() if isinstance(number, int)})
    total[f"verdict {document['verdict']}"] += 1
    for found in rows_of(document, "mismatches"):
        total[f"{found['kind']} {found['certainty']} {str(found['subject']).split(':', 1)[0]}"] += 1
        for name in ("finding", "direction"):
            if found[name] is not None:
                total[f"{name} {found[name]}"] += 1
        if found["diagnosis"] is not None:
            total[f"diagnosis of {found['kind']}"] += 1
    for young in rows_of(document, "in_flight"):
        total[f"becomes {young['becomes']}"] += 1
    for heal in rows_of(document, "healable"):
        total[f"healable by {heal['basis']}"] += 1
    return total
