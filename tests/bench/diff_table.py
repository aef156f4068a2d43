"""What was measured of the diff and of its competitors, as a table with a goal per row. Pure.

A sample is what one process told of itself: seconds, cpu_seconds, megabytes, found, versions. Several samples
of one subject are taken together by their medians, because one that was disturbed must not decide.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Sample = Mapping[str, Any]
Samples = Mapping[str, Sequence[Sample]]

OURS, FILES, LARGE = "recon", "recon diff", "recon, 5 times the rows"
TIMES = 5
MEMORY_GOAL = 3.0


@dataclass(frozen=True, slots=True)
class Goal:
    """One row: what is measured beside what, the greatest ratio, and what the other does not do."""

    name: str
    work: str
    subject: str
    beside: str
    most: float
    left_out: str


GOALS = (
    Goal(
        "merge", "the whole diff in memory", OURS, "pandas merge", 0.5,
        "joins on the key and classifies nothing",
    ),
    Goal(
        "datacompy", "the whole diff in memory", OURS, "datacompy", 0.25,
        "sets equal column names side by side; no ids, no time, no inference, no money",
    ),
    Goal(
        "fastrecon", "the whole diff in memory", OURS, "fastrecon", 0.15,
        "counts missing, repeated and changed keys, 100 samples; no ids, no time, no inference, no money",
    ),
    Goal(
        "duckdb", "the whole diff in memory", OURS, "duckdb", 2.0,
        "strong links and counts only; no evidence, no inference, no repeats, no twins",
    ),
    Goal(
        "process", "recon diff, parquet to JSON", FILES, "pandas read and merge", 0.8,
        "checks no row, writes nothing",
    ),
    Goal("scale", "time per row, 5 times the rows", LARGE, OURS, 1.5, ""),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A goal and what came of it. ratio, cpu_ratio: of medians, None where one could not be measured."""

    goal: Goal
    seconds: float | None
    beside_seconds: float | None
    ratio: float | None
    cpu_ratio: float | None
    why: str = ""

    @property
    def outcome(self) -> str:
        """Return met, missed, or why nobody can say."""
        if self.ratio is None:
            return self.why
        return "met" if self.ratio <= self.goal.most else "MISSED"


def rows(samples: Samples, missing: Mapping[str, str], names: Sequence[str]) -> list[Row]:
    """Return a row per named goal. missing: by subject, why it could not be measured here."""
    return [_row(goal, samples, missing) for goal in GOALS if goal.name in names]


def _row(goal: Goal, samples: Samples, missing: Mapping[str, str]) -> Row:
    if goal.beside in missing:
        return Row(goal, None, None, None, None, f"not installable here: {missing[goal.beside]}")
    ours, theirs = samples[goal.subject], samples[goal.beside]
    per = TIMES if goal.name == "scale" else 1
    seconds, beside = median(ours, "seconds"), median(theirs, "seconds")
    cpu = median(ours, "cpu_seconds") / median(theirs, "cpu_seconds")
    return Row(goal, seconds, beside, seconds / beside / per, cpu / per)


def median(samples: Sequence[Sample], figure: str) -> float:
    """Return the median of a figure."""
    return statistics.median(float(sample[figure]) for sample in samples)


def memory(samples: Sequence[Sample]) -> float:
    """Return the greatest peak memory of the diff's process, as a multiple of its two frames."""
    return max(float(sample["megabytes"] / sample["frame_megabytes"]) for sample in samples)


def unfair(samples: Samples) -> list[str]:
    """Return a sentence for each answer that does not fit ours: then the two did not see the same data."""
    if OURS not in samples:
        return []
    ours = samples[OURS][0]["found"]
    linked, kinds, inferred = ours["linked"], ours["kinds"], ours["inferred"]
    unnamed = ours["intents"] - ours["named"]
    strong = (
        "duplicate",
        "currency_mismatch",
        "amount_mismatch",
        "status_mismatch",
        "refund_failed",
        "stuck",
    )
    confirmed = {kind: ours["confirmed"][kind] for kind in (*strong, "overdue")}
    expected: dict[str, dict[str, object]] = {
        "pandas merge": {"both": linked["intent_key"]},
        "datacompy": {"both": ours["named"], "only_intents": unnamed},
        "fastrecon": {"only_intents": unnamed},
        "duckdb": {
            "linked": _some({**linked, "none": linked["none"] + linked["inferred"], "inferred": 0}),
            # What it does not infer looks missing to it.
            "kinds": _some(
                {**confirmed, "missing": kinds["missing"] + inferred, "healable": ours["healable"]}
            ),
        },
    }
    return [
        f"{subject} says {figure} {found.get(figure)}, where {value} fits what recon found."
        for subject, figures in expected.items()
        for found in [sample["found"] for sample in samples.get(subject, ())[:1]]
        for figure, value in figures.items()
        if found.get(figure) != value
    ]


def _some(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts that are not zero."""
    return {name: count for name, count in counts.items() if count}


def text(measured: Sequence[Row], samples: Samples) -> str:
    """Return the table as people read it."""
    lines = [f"{'work':32} {'beside':24} {'ours':>8} {'theirs':>8} {'ratio':>6} {'cpu':>6} {'goal':>6}"]
    for row in measured:
        told = " ".join(
            f"{'' if value is None else format(value, '.2f'):>{width}}"
            for value, width in (
                (row.seconds, 8), (row.beside_seconds, 8), (row.ratio, 6), (row.cpu_ratio, 6),
            )
        )  # fmt: skip
        lines.append(f"{row.goal.work:32} {row.goal.beside:24} {told} {row.goal.most:>6} {row.outcome}")
    for subject in (OURS, LARGE):
        if subject in samples and "frame_megabytes" in samples[subject][0]:
            many = memory(samples[subject])
            outcome = "met" if many <= MEMORY_GOAL else "MISSED"
            lines.append(
                f"{'peak memory / the two frames':32} {subject:24} {many:24.2f} {'':6} {3.0:>6} {outcome}"
            )
    lines.append("\nseconds are medians; cpu is the ratio of processor time, all threads together")
    lines += [f"{row.goal.beside}: {row.goal.left_out}" for row in measured if row.goal.left_out]
    return "\n".join(lines)
