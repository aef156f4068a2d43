"""The whole diff of two frames in memory, timed once: links, mismatches with their evidence, the result.

python -m tests.bench.ours INTENTS REFUNDS AS_OF prints a line of JSON as the competitors do. Reading the
files is not timed, nor is a report.
"""

import sys
from collections import Counter
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np

from recon.doors.files import reading
from recon.model.frames import Intake
from recon.model.links import BASES, Links
from recon.model.records.results import Coverage, Policy, Result
from recon.model.records.words import Basis, Certainty, Kind
from recon.rules import linking
from recon.rules.mismatches import finding
from tests.bench.competitors import stopwatch


def main() -> None:
    """Read both files; link, judge, and say what was found."""
    intents, refunds = read(Path(sys.argv[1]), Path(sys.argv[2]))
    both = (intents.frame, refunds.frame)
    size = sum(int(frame.memory_usage(index=False, deep=True).sum()) for frame in both)
    stopwatch.tell(
        partial(diff, intents, refunds, sys.argv[3]),
        said,
        *("pandas", "pyarrow", "numpy"),
        frame_megabytes=size / stopwatch.KILO**2,
    )


def read(intents: Path, refunds: Path) -> tuple[Intake, Intake]:
    """Return both sides as the door reads them."""
    return reading.read_intents(intents), reading.read_refunds(refunds)


def diff(intents: Intake, refunds: Intake, as_of: str) -> tuple[Links, Result]:
    """Return links and result, as `recon diff` has them before it writes its report."""
    links = linking.link(intents.frame, refunds.frame, Policy())
    moment = datetime.fromisoformat(as_of)
    result = finding.find(intents, refunds, links, policy=Policy(), coverage=Coverage(), as_of=moment)
    return links, result


def said(made: tuple[Links, Result]) -> dict[str, object]:
    """Return of a result what the competitors' answers can be held against.

    named: intents that some refund's key names. confirmed: mismatches by kind that are proved.
    """
    links, result = made
    by_key = links.intent[links.basis == BASES.index(Basis.INTENT_KEY)]
    sizes = np.bincount(links.basis + 1, minlength=len(BASES) + 1).tolist()
    confirmed = Counter(each.kind for each in result.mismatches if each.certainty is not Certainty.PROBABLE)
    return {
        "intents": result.counts.intents,
        "refunds": result.counts.refunds,
        "linked": dict(zip(("none", *BASES), sizes, strict=True)),
        "named": len(np.unique(by_key)),
        "kinds": result.counts.mismatches,
        "confirmed": {kind: confirmed[kind] for kind in Kind},
        "healable": result.counts.healable,
        "inferred": result.counts.matched_inferred,
    }


if __name__ == "__main__":
    main()
