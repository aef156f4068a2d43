"""One small result of the diff, for tests of how it is written."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from recon.model.records.reports import Report, Side, Step, StepRole
from recon.model.records.results import Mismatch, Money, Policy, Reading, Result
from recon.model.records.words import AccountId, Certainty, Kind, Subject, Verdict
from tests import builders

AT = datetime(2026, 3, 6, 17, tzinfo=UTC)
MISMATCH = Mismatch(
    kind=Kind.DUPLICATE,
    certainty=Certainty.PROBABLE,
    account=AccountId(""),
    subject=Subject("intent:k1"),
    at_risk=Money(4900, "usd"),
    since=AT,
    why="49.00 USD went back twice.",
)
COUNTS = replace(builders.a_result().counts, intents=2, refunds=3, matched=1, mismatches={Kind.DUPLICATE: 1})

BRIDGE = (
    Step("marked done", StepRole.BEGINS, 2, "intent", Money(7_000, "usd")),
    Step("refunded twice", StepRole.DIFFERS, 1, "intent", Money(4_900, "usd")),
    Step("refund missing", StepRole.DIFFERS, 1, "intent", Money(-2_100, "usd")),
    Step("live refunds", StepRole.ENDS, 2, "refund", Money(9_800, "usd")),
)


def a_result(**fields: Any) -> Result:  # noqa: ANN401 - any field of the record
    ordinary = Result(
        as_of=AT,
        verdict=Verdict.BREAKS,
        counts=COUNTS,
        at_risk={"usd": 4900},
        mismatches=(MISMATCH,),
        in_flight=(),
        healable=(),
        rejected=(),
        withheld=(),
        due=(),
    )
    return replace(ordinary, **fields)


def a_side(name: str, **fields: Any) -> Side:  # noqa: ANN401 - any field of the record
    ordinary = Side(
        name=name,
        sources=(f"{name}.csv",),
        standing=2 if name == "intents" else 3,
        read=2 if name == "intents" else 3,
        superseded=0,
        duplicates=0,
        left_out=0,
        rejected=0,
        first_at=AT,
        last_at=AT,
        reading=Reading(),
    )
    return replace(ordinary, **fields)


def a_report(result: Result | None = None, **fields: Any) -> Report:  # noqa: ANN401 - any field of the record
    """The page's matter around a result: two intents, one of them refunded twice."""
    ordinary = Report(
        result=result or a_result(),
        policy=Policy(),
        policy_from="the defaults",
        intents=a_side("intents"),
        refunds=a_side("refunds"),
        linked=3,
        came_to_nothing=0,
        made=((AT, 3),),
        zone=UTC,
        zone_name="UTC",
    )
    return replace(ordinary, **fields)
