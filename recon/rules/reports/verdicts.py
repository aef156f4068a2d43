"""What a result comes to, in sentences for people who were not there."""

from collections.abc import Mapping, Sequence

from recon.model import money, phrases
from recon.model.records.comparisons import Comparison, NowIs, Standing
from recon.model.records.results import Counts, Mismatch, Money, Result
from recon.model.records.words import Certainty, Verdict

# What each grace is about, by its name in recon.toml.
GRACES: Mapping[str, str] = {
    "stuck_after_minutes": "How long an intent may stay without a known outcome",
    "missing_after_minutes": "How long a refund that we call done may stay invisible at the provider",
    "orphan_after_minutes": "How long a refund may wait for the intent that asked for it",
    "duplicate_window_hours": "How near two equal refunds on one payment are taken for one meant",
    "repeat_window_days": "How near two equal intents on one payment are taken for one under two keys",
    "inferred_window_hours": "How long after its intent a refund without any key may still be its own",
    "clock_skew_seconds": "How far our clock may be ahead of the provider's",
    "provider_pending_after_days": "How long the provider may leave a refund pending",
    "healing": "Whether a run finishes an intent that the provider proves",
}


def sentence(result: Result) -> str:
    """Return the verdict for a person, in one sentence; in two where not everything was read."""
    found = sum(result.counts.mismatches.values())
    if found:
        disagree = (
            f"{phrases.several(found, 'mismatch', 'mismatches')} between what was meant and what was done"
        )
        risk = amounts(result.at_risk)
        said = f"{disagree}, with {risk} at risk" if risk else f"{disagree}, with no money at risk"
    else:
        said = "Of what was judged, nothing disagrees"
    if result.verdict is Verdict.INCOMPLETE:
        return f"{said}. Not everything was read or could be judged: more may be wrong than is said here."
    if result.verdict is Verdict.RECONCILED:
        return "Every refund that was meant was made once and as it was meant, and no other was made."
    if result.verdict is Verdict.RECONCILED_WITH_PENDING:
        return f"Nothing disagrees; {waiting(result.counts)}."
    return f"{said}."


def amounts(at_risk: Mapping[str, int]) -> str:
    """Return money in each currency, never added: 49.00 USD and 500 JPY."""
    return phrases.listed([money.written(Money(amount, name)) for name, amount in sorted(at_risk.items())])


def numbered(found: Sequence[Mismatch]) -> str:
    """Return how many mismatches there are, and how many of them are probable: 4, 1 of them probable."""
    probable = sum(each.certainty is Certainty.PROBABLE for each in found)
    if not probable:
        return f"{len(found):,}"
    if probable < len(found):
        return f"{len(found):,}, {probable:,} of them probable"
    return "1, probable" if probable == 1 else f"{probable:,}, all probable"


def waiting(counts: Counts) -> str:
    """Return what is no mismatch and no agreement yet."""
    parts = []
    if counts.in_flight:
        parts.append(f"{counts.in_flight:,} too young to judge")
    if counts.healable:
        parts.append(f"{counts.healable:,} that a run finishes by itself")
    return phrases.listed(parts)


def unseen(comparison: Comparison) -> tuple[str, ...]:
    """Return what to say of earlier mismatches that nobody could see this time, if there are any."""
    absent = sum(each.now_is is NowIs.NOT_READ for each in comparison.of(Standing.NOT_JUDGED))
    withheld = len(comparison.of(Standing.NOT_JUDGED)) - absent
    said = []
    if absent:
        verb, they = ("rests", "it") if absent == 1 else ("rest", "they")
        said.append(
            f"{phrases.several(absent, 'earlier mismatch', 'earlier mismatches')} {verb} on rows that are not"
            f" in these files: nobody looked, so {they} may still be there."
        )
    if withheld:
        said.append(
            f"{phrases.several(withheld, 'earlier mismatch', 'earlier mismatches')}"
            f" {'was' if withheld == 1 else 'were'} read and not judged: withheld, or of a rejected row."
        )
    return tuple(said)
