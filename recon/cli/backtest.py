"""`recon backtest`: what hourly runs with other graces would have reported of two files."""

import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli import exits, progress, sides
from recon.cli.options import Format, Output
from recon.model import policies
from recon.model.errors import ConfigurationError
from recon.model.records.results import Coverage, Policy, Result

if TYPE_CHECKING:
    from recon.model.frames import Intake
    from recon.model.links import Links
    from recon.model.records.trials import Outcome, Rung, Trial
    from recon.rules.trials import Reported

_MOST_HOURS = 24 * 45  # As far back as the hour itself re-lists refunds.

Hours = Annotated[
    int, typer.Option(metavar="N", min=1, max=_MOST_HOURS, help="How many hourly runs, up to --as-of.")
]
Grace = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[=N,N]", help="Only this grace, with values of your own if you like; may be repeated."
    ),
]


def backtest(
    intents: sides.IntentsFile,
    refunds: sides.RefundsFile,
    *,
    as_of: sides.AsOf = None,
    hours: Hours = 24,
    grace: Grace = None,
    format_: Output = Format.TABLE,
    columns: sides.Columns = None,
    more_intents: sides.MoreIntents = None,
    more_refunds: sides.MoreRefunds = None,
    intents_format: sides.IntentsFormat = None,
    refunds_format: sides.RefundsFormat = None,
    incomplete: sides.Incomplete = None,
    refunds_from: sides.RefundsFrom = None,
    intents_from: sides.IntentsFrom = None,
    policy: sides.PolicyFile = None,
) -> None:
    """Replay the hours of two files under other graces: what they would have reported, and what settled.

    One grace is changed at a time; an asterisk marks the value of the policy itself. A row's past is what the
    file tells of it: an intent is taken for pending until it was last updated. With a hundred thousand rows
    an hour takes some ten seconds; fewer --hours, or one --grace, take less.

    Exit 0: the table is there.
    Exit 2: the input or an argument cannot be used.
    Exit 3: the table is there, without rows that were rejected or that a file has not to its end.
    """
    told = sides.told(
        (intents, more_intents, intents_format),
        (refunds, more_refunds, refunds_format),
        columns=columns,
        as_of=as_of,
        incomplete=incomplete,
        refunds_from=refunds_from,
        intents_from=intents_from,
        policy=policy,
    )
    asked = dict(map(_asked, grace or ()))
    with progress.patient() as doing:
        read = sides.read(told, doing)
        whole = _whole(read)
        trial = _trial(read, told, asked, hours, doing)
    _print(trial, told.policy, format_)
    if not whole:
        raise typer.Exit(exits.INCOMPLETE)


def _whole(read: sides.Both) -> bool:
    """Say what the table will be without; return whether that is nothing."""
    both = (read.intents, read.refunds)
    rejects = [each for side in both for each in side.rejects]
    sides.say_rejects(rejects)
    partly = [side.incomplete for side in both if side.incomplete is not None]
    for sentence in partly:
        sides.say(sentence)
    return not rejects and not partly


def _print(trial: "Trial", policy: Policy, format_: Format) -> None:
    from recon.rules.reports import ladders

    if format_ is Format.JSON:
        sys.stdout.write(ladders.json_text(trial, policy))
        return
    from rich.console import Console

    Console(highlight=False).print(ladders.as_table(trial))


def _asked(said: str) -> tuple[str, tuple[timedelta, ...]]:
    """Return the grace that an option names, and the values that it gives.

    Raises:
        ConfigurationError: the name is no grace that has a ladder, or a value is not what it takes.
    """
    from recon.rules.trials import LADDERS

    name, given, told = said.partition("=")
    if name not in LADDERS:
        raise ConfigurationError(
            f"--grace must be one of {', '.join(LADDERS)}, or one with =1,2,3; found {said[:60]!r}."
        )
    try:
        numbers = [float(value) for value in told.split(",")] if given else []
    except ValueError:
        raise ConfigurationError(
            f"--grace {name} must be numbers, such as {name}=15,60; found {told[:40]!r}."
        ) from None
    values = (policies.one(name, number, source="--grace")[1] for number in numbers)
    return name, tuple(value for value in values if isinstance(value, timedelta))


def _trial(
    read: sides.Both,
    told: sides.Told,
    asked: Mapping[str, Sequence[timedelta]],
    number: int,
    doing: progress.Doing,
) -> "Trial":
    """Return what each rung would have reported in each hour, and what of it is left in the end."""
    from recon.model.records.trials import Trial
    from recon.rules import trials

    rungs = trials.rungs(told.policy, asked)
    latest = [at for at in (read.intents.latest, read.refunds.latest, read.as_of) if at is not None]
    created = [side.frame["created_at"].min() for side in (read.intents, read.refunds) if len(side.frame)]
    hours = trials.hours(min(created).to_pydatetime() if created else None, read.as_of, number)
    end = max(latest)
    judge = _Judge(told.coverage)
    tried = list(dict.fromkeys(rung.policy for rung in rungs))
    reported: dict[Policy, Reported] = {policy: {} for policy in tried}
    in_flight: dict[Policy, int] = {}
    for place, at in enumerate(hours):
        known = trials.as_known(read.intents, read.refunds, at)
        for step, policy in enumerate(tried):
            doing(
                f"Judging hour {place + 1} of {len(hours)}",
                done=place * len(tried) + step,
                total=(len(hours) + 1) * len(tried),
            )
            result = judge(known, policy, at)
            trials.heard(reported[policy], result)
            in_flight[policy] = result.counts.in_flight
    doing("Seeing what settled")
    whole = (read.intents, read.refunds)
    left = {policy: trials.subjects(judge(whole, policy, end)) for policy in tried}

    def outcome(rung: "Rung") -> "Outcome":
        policy = rung.policy
        return trials.outcome(rung, reported[policy], left=left[policy], in_flight=in_flight[policy])

    return Trial(hours, end, tuple(map(outcome, rungs)))


class _Judge:
    """The diff of both sides; what the policies link alike is linked once."""

    def __init__(self, coverage: Coverage) -> None:
        self._coverage = coverage
        self._sides: tuple[Intake, Intake] | None = None
        self._links: dict[tuple[timedelta, timedelta], Links] = {}

    def __call__(self, sides: "tuple[Intake, Intake]", policy: Policy, at: datetime) -> Result:
        from recon.rules import linking
        from recon.rules.mismatches import finding

        if self._sides is not sides:
            self._sides, self._links = sides, {}
        linked_by = (policy.inferred_window, policy.clock_skew)
        links = self._links.get(linked_by) or linking.link(sides[0].frame, sides[1].frame, policy)
        self._links[linked_by] = links
        return finding.find(*sides, links, policy=policy, coverage=self._coverage, as_of=at)
