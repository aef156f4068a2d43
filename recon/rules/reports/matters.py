"""What a report for people says beside the result, gathered from the two frames and their links."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

import numpy as np
import pandas as pd

from recon.model import arrays
from recon.model.arrays import ABSENT
from recon.model.frames import Intake
from recon.model.links import Links
from recon.model.records.reports import Report, Side
from recon.model.records.results import Coverage, Policy, Reading, Result
from recon.rules.reports import bridges, totals, withholding

# Offsets of zones are whole quarters of an hour: from these counts every zone's hours can be made.
_QUARTER_US = 15 * 60 * 1_000_000


def gather(
    result: Result,
    intents: Intake,
    refunds: Intake,
    links: Links,
    *,
    sources: tuple[Sequence[str], Sequence[str]],
    policy: Policy,
    policy_from: str,
    coverage: Coverage,
    zone: tuple[str, tzinfo],
) -> Report:
    """Return the report of a result of these frames, without a comparison.

    sources: the names of the intents' files and of the refunds'. zone: its name and itself.
    """
    unlinked = links.intent == ABSENT
    system = refunds.frame["system"].to_numpy()
    return Report(
        result=result,
        policy=policy,
        policy_from=policy_from,
        intents=_side("intents", intents, sources[0], coverage.default_intents),
        refunds=_side("refunds", refunds, sources[1], coverage.default_refunds),
        linked=int((~unlinked).sum()),
        came_to_nothing=int((unlinked & ~system & ~links.live).sum()),
        made=_by_quarter(refunds.frame),
        zone_name=zone[0],
        zone=zone[1],
    )


def for_people(report: Report, intents: Intake, refunds: Intake, links: Links) -> Report:
    """Return the report with what only its forms for people say: the sums, and why something is withheld."""
    return replace(
        report,
        totals=totals.of(intents, refunds),
        bridge=bridges.of(report.result, intents.frame, refunds.frame, links),
        why_withheld=withholding.reasons(report, intents, refunds),
    )


def _side(name: str, intake: Intake, sources: Sequence[str], reading: Reading) -> Side:
    created = arrays.times(intake.frame["created_at"])
    return Side(
        name=name,
        sources=tuple(sources),
        read=intake.read,
        standing=len(intake.frame),
        superseded=intake.superseded,
        duplicates=intake.duplicates,
        left_out=intake.left_out,
        rejected=len(intake.rejects),
        first_at=arrays.instant(created.min()) if len(created) else None,
        last_at=arrays.instant(created.max()) if len(created) else None,
        reading=replace(reading, complete=reading.complete and intake.incomplete is None),
        notes=intake.notes,
    )


def _by_quarter(refunds: pd.DataFrame) -> tuple[tuple[datetime, int], ...]:
    quarters, counts = np.unique(arrays.times(refunds["created_at"]) // _QUARTER_US, return_counts=True)
    return tuple(
        (arrays.instant(quarter * _QUARTER_US), count)
        for quarter, count in zip(quarters.tolist(), counts.tolist(), strict=True)
    )
