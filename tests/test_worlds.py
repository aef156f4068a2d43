"""Random worlds are rich: everything the diff can say occurs in them again and again."""

from collections import Counter
from random import Random

from tests.agreement import by_reference, seen
from tests.worlds import draw

OFTEN = 15
EXPECTED = {
    "duplicate confirmed intent",
    "duplicate probable intent",
    "duplicate probable refund",
    "currency_mismatch confirmed intent",
    "amount_mismatch confirmed intent",
    "status_mismatch confirmed intent",
    "refund_failed confirmed intent",
    "missing confirmed intent",
    "stuck confirmed intent",
    "stuck probable intent",
    "overdue confirmed intent",
    "orphan confirmed refund",
    "finding landed",
    "finding probable",
    "finding failed",
    "finding absent",
    "finding unknown",
    "direction over",
    "direction under",
    "diagnosis of amount_mismatch",
    "diagnosis of missing",
    "becomes missing",
    "becomes stuck",
    "becomes duplicate",
    "becomes orphan",
    "healable by operator",
    "healable by intent_key",
    "healable by refund_id",
    "healable by request_key",
    "matched",
    "matched_inferred",
    "declared_repeats",
    "in_flight",
    "healable",
    "system",
    "withheld",
    "rejected",
    "superseded",
    "unknown_status",
    "verdict incomplete",
    "verdict breaks",
    "verdict reconciled_with_pending",
    "verdict reconciled",
}


def test_every_kind_finding_and_count_occurs_often() -> None:
    counts: Counter[str] = Counter()
    for seed in range(2000):
        counts.update(seen(by_reference(draw(Random(seed)))))

    assert {name: counts[name] for name in EXPECTED if counts[name] < OFTEN} == {}


def test_a_seed_draws_the_same_world() -> None:
    assert draw(Random(7)) == draw(Random(7))
