"""What `recon smoke` shows: a line a scenario, what happened where one failed, and the verdict."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recon.cli.smoking.scenarios import Trial, Verdict
from recon.model.phrases import several
from recon.model.records.results import Result
from recon.rules import once

_STYLES = {Verdict.OK: "green", Verdict.FAIL: "bold red", Verdict.SKIPPED: "yellow"}
_WORD = max(map(len, Verdict))
_SAYS = 54  # Columns of the longest scenario.
_INDENT = _WORD + 2
_UNHEARD = (
    "No request for a refund was seen at all. Your function must know how an order such as smoke_1 was paid: "
    "RECON_SMOKE_PAYMENT says it at each call. And its client of the provider must go where "
    "RECON_STRIPE_BASE_URL says, with the key in STRIPE_API_KEY."
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line. indent: columns to its left, also of what a terminal folds."""

    text: str
    style: str = ""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Smoked:
    """Everything that was tried. where: against what. result: the diff of all orders together."""

    tool: str
    where: str
    trials: tuple[Trial, ...]
    result: Result
    seconds: float

    @property
    def ok(self) -> bool:
        """Return whether nothing is wrong."""
        return not self.result.mismatches and self.count(Verdict.FAIL) == 0

    @property
    def unheard(self) -> bool:
        """Return whether no scenario saw a request for a refund."""
        return not any(each.sent for each in self.trials)

    def count(self, verdict: Verdict) -> int:
        """Return how many scenarios came to that."""
        return sum(each.verdict is verdict for each in self.trials)


def lines(trial: Trial, *, again: bool = False) -> Iterator[Line]:
    """Yield the lines of a scenario; one that failed tells its whole story.

    again: no request of this one nor of those before it was seen, and that was told.
    """
    yield _line(trial.verdict, f"{trial.scenario.says:<{_SAYS}} {trial.seconds:5.1f} s")
    if again:
        return
    if trial.why:
        yield Line(trial.why, indent=_INDENT)
    for each in trial.unread:
        yield Line(each, "yellow", _INDENT)
    if trial.verdict is Verdict.FAIL:
        for told in (*once.story(trial.sent), *_calls(trial)):
            yield Line(told, "dim", _INDENT)


def ending(smoked: Smoked) -> Iterator[Line]:
    """Yield the diff and the verdict."""
    found, counts = smoked.result.mismatches, smoked.result.counts
    compared = f"recon diff of {several(counts.intents, 'intent')} and {several(counts.refunds, 'refund')}"
    told = several(len(found), "mismatch", "mismatches") if found else "no mismatch"
    yield _line(Verdict.FAIL if found else Verdict.OK, f"{compared}: {told}")
    for each in found:
        yield Line(f"{each.kind}: {each.why}", indent=_INDENT)
    if questions := sum(each.questions for each in smoked.trials):
        yield _line(Verdict.OK, f"asked {questions} times whether it went through, which sends nothing")
    if smoked.unheard:
        yield Line(_UNHEARD, "yellow")
    yield Line("")
    yield _verdict(smoked)


def _line(verdict: Verdict, says: str) -> Line:
    return Line(f"{verdict:<{_WORD}}  {says}", _STYLES[verdict])


def _verdict(smoked: Smoked) -> Line:
    failed, tried = smoked.count(Verdict.FAIL), len(smoked.trials) - smoked.count(Verdict.SKIPPED)
    said = f"{smoked.tool} against {smoked.where}, in {smoked.seconds:.1f} s"
    if failed:
        return Line(f"{failed} of {several(tried, 'scenario')} failed: {said}.", "bold red")
    if smoked.result.mismatches:
        return Line(f"Each order has one refund, and the books disagree: {said}.", "bold red")
    return Line(f"Each of {several(tried, 'order')} was refunded once: {said}.", "bold green")


def as_json(smoked: Smoked) -> dict[str, Any]:
    """Return everything as plain values, every key always present."""
    return {
        "ok": smoked.ok,
        "tool": smoked.tool,
        "against": smoked.where,
        "seconds": round(smoked.seconds, 3),
        "counts": {str(each): smoked.count(each) for each in Verdict},
        "scenarios": [_scenario(each) for each in smoked.trials],
        "diff": {
            "verdict": str(smoked.result.verdict),
            "mismatches": [{"kind": str(each.kind), "why": each.why} for each in smoked.result.mismatches],
        },
    }


def _scenario(trial: Trial) -> dict[str, Any]:
    return {
        "name": trial.scenario.name,
        "says": trial.scenario.says,
        "verdict": str(trial.verdict),
        "why": trial.why or None,
        "unread": list(trial.unread),
        "seconds": round(trial.seconds, 3),
        "order": None if trial.order is None else trial.order.id,
        "refunds": [each.id for each in once.live(trial.sent, trial.refunds)],
        "requests": list(once.story(trial.sent)),
        "calls": list(_calls(trial)),
    }


def _calls(trial: Trial) -> Iterator[str]:
    for number, told in enumerate(trial.calls, start=1):
        yield f"call {number}: {told}"
