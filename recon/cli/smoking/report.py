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
Line = tuple[str, str]


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

    def count(self, verdict: Verdict) -> int:
        """Return how many scenarios came to that."""
        return sum(each.verdict is verdict for each in self.trials)


def lines(trial: Trial) -> Iterator[Line]:
    """Yield the lines of a scenario, each with its style; one that failed tells its whole story."""
    style = _STYLES[trial.verdict]
    yield f"{trial.verdict:<{_WORD}}  {trial.scenario.says:<{_SAYS}} {trial.seconds:5.1f} s", style
    indent = " " * (_WORD + 2)
    if trial.why:
        yield f"{indent}{trial.why}", ""
    if trial.verdict is Verdict.FAIL:
        for told in (*once.story(trial.sent), *_calls(trial)):
            yield f"{indent}{told}", "dim"


def ending(smoked: Smoked) -> Iterator[Line]:
    """Yield the diff and the verdict, each with its style."""
    result, indent = smoked.result, " " * (_WORD + 2)
    counts = f"{several(result.counts.intents, 'intent')} and {several(result.counts.refunds, 'refund')}"
    if result.mismatches:
        found = several(len(result.mismatches), "mismatch", "mismatches")
        yield f"{Verdict.FAIL:<{_WORD}}  recon diff of {counts}: {found}", _STYLES[Verdict.FAIL]
        for each in result.mismatches:
            yield f"{indent}{each.kind}: {each.why}", ""
    else:
        yield f"{Verdict.OK:<{_WORD}}  recon diff of {counts}: no mismatch", _STYLES[Verdict.OK]
    if questions := sum(each.questions for each in smoked.trials):
        yield (
            f"{Verdict.OK:<{_WORD}}  asked {questions} times whether it went through, which sends nothing",
            _STYLES[Verdict.OK],
        )
    failed, tried = smoked.count(Verdict.FAIL), len(smoked.trials) - smoked.count(Verdict.SKIPPED)
    said = f"{smoked.tool} against {smoked.where}, in {smoked.seconds:.1f} s"
    yield "", ""
    if failed:
        yield f"{failed} of {several(tried, 'scenario')} failed: {said}.", "bold red"
    elif result.mismatches:
        yield f"Each order has one refund, and the books disagree: {said}.", "bold red"
    else:
        yield f"Each of {several(tried, 'order')} was refunded once: {said}.", "bold green"


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
        "seconds": round(trial.seconds, 3),
        "order": None if trial.order is None else trial.order.id,
        "refunds": [each.id for each in once.live(trial.sent, trial.refunds)],
        "requests": list(once.story(trial.sent)),
        "calls": list(_calls(trial)),
    }


def _calls(trial: Trial) -> Iterator[str]:
    for number, told in enumerate(trial.calls, start=1):
        yield f"call {number}: {told}"
