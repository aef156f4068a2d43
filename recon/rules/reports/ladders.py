"""A backtest as a terminal shows it, and as programs read it."""

import json
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recon.model import money, phrases, policies, wording
from recon.model.records.results import Money, Policy
from recon.model.records.trials import Outcome, Trial
from recon.model.records.words import Kind
from recon.rules.reports import verdicts


def as_table(trial: Trial) -> RenderableType:
    """Return what the policy's own graces reported, then each other value, and how it differs from that."""
    own = next(each for each in trial.outcomes if each.rung.usual)
    number = phrases.several(len(trial.hours), "hourly run")
    parts: list[RenderableType] = [
        Text(f"What {number} until {phrases.minute(trial.hours[-1])} would have reported", style="bold"),
        Text(f"Each mismatch counts once. Settled: it is none any more at {phrases.minute(trial.end)}."),
        Text(),
        Text(f"By the policy's own graces (*): {_all_of(own)}."),
    ]
    idle = []
    for name, group in groupby(trial.outcomes, key=lambda outcome: outcome.rung.name):
        ladder = list(group)
        if any(_told(each) != _told(own) for each in ladder):
            parts += [Text(), Text(name, style="bold"), Padding(_ladder(ladder, own), (0, 0, 0, 2))]
        else:
            idle.append(f"  {name} {', '.join(map(_value, ladder))}")
    if idle:
        parts += [Text(), Text("Nothing changes by", style="bold"), *map(Text, idle)]
    return Group(*parts)


def json_text(trial: Trial, policy: Policy) -> str:
    """Return the backtest as JSON text: policy, hours and, by the grace's name, what each value came to."""
    document = {
        "policy": policies.told(policy),
        "hours": [phrases.iso(at) for at in trial.hours],
        "end": phrases.iso(trial.end),
        "graces": {
            name: [_outcome(each) for each in outcomes]
            for name, outcomes in groupby(trial.outcomes, key=lambda outcome: outcome.rung.name)
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _ladder(ladder: list[Outcome], own: Outcome) -> Table:
    """Return one row for each value of a grace."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("value", "reported", "settled", "in flight"):
        table.add_column(heading, justify="right", min_width=8)
    table.add_column("differs from the policy's own by")
    for each in ladder:
        table.add_row(_value(each), *_numbers(each), _difference(each, own))
    return table


def _value(each: Outcome) -> str:
    return f"{each.rung.value}{' *' if each.rung.usual else ''}"


def _numbers(each: Outcome) -> tuple[str, str, str]:
    reported, settled = sum(each.reported.values()), sum(each.settled.values())
    return f"{reported:,}", f"{settled:,}", f"{each.in_flight:,}"


def _told(each: Outcome) -> tuple[object, ...]:
    return each.reported, each.settled, each.at_risk, each.in_flight


def _all_of(own: Outcome) -> str:
    kinds = ", ".join(f"{n:,} {wording.plain(kind)}" for kind, n in own.reported.items())
    risk = verdicts.amounts({currency: n for currency, n in own.at_risk.items() if n})
    return f"{kinds}, with {risk} at risk" if risk else kinds or "nothing"


def _difference(each: Outcome, own: Outcome) -> str:
    """Return how many more or fewer there are of each kind, how much money, and what of it settled."""
    if each.rung.usual:
        return ""
    kinds = {kind: each.reported.get(kind, 0) - own.reported.get(kind, 0) for kind in Kind}
    risk = {
        currency: each.at_risk.get(currency, 0) - own.at_risk.get(currency, 0)
        for currency in sorted({*each.at_risk, *own.at_risk})
    }
    parts = [f"{n:+,} {wording.plain(kind)}" for kind, n in kinds.items() if n]
    parts += [money.signed(Money(n, currency)) for currency, n in risk.items() if n]
    return ", ".join(parts) or "nothing"


def _outcome(each: Outcome) -> dict[str, object]:
    return {
        "value": each.rung.value,
        "usual": each.rung.usual,
        "reported": {str(kind): n for kind, n in each.reported.items()},
        "settled": {str(kind): n for kind, n in each.settled.items()},
        "at_risk": dict(each.at_risk),
        "settled_at_risk": dict(each.settled_at_risk),
        "in_flight": each.in_flight,
    }
