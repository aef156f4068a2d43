from datetime import UTC

from hypothesis import given, settings

from recon.model import frames
from recon.model.records.reports import Report
from recon.model.records.results import Coverage, Policy, Reading
from recon.rules import linking
from recon.rules.mismatches import finding
from recon.rules.reports import matters, sums
from tests.product import INTENT_COLUMNS, REFUND_COLUMNS, table
from tests.worlds import World, worlds


def reported(world: World, *, for_people: bool = False) -> Report:
    """A world's result with what a report says beside it; one for people says more."""
    intents = frames.intents(table(world.intents, INTENT_COLUMNS), source="intents")
    rows = [row for row in world.refunds if "object" not in row]
    refunds = frames.refunds(table(rows, REFUND_COLUMNS), source="refunds")
    coverage = Coverage(
        default_refunds=Reading(world.refunds_from, complete="refunds" not in world.incomplete),
        default_intents=Reading(world.intents_from, complete="intents" not in world.incomplete),
        older_is_outside=world.older_is_outside,
    )
    policy = Policy(**world.policy)  # type: ignore[arg-type]  # durations by their own names
    links = linking.link(intents.frame, refunds.frame, policy)
    result = finding.find(intents, refunds, links, policy=policy, coverage=coverage, as_of=world.as_of)
    report = matters.gather(
        result,
        intents,
        refunds,
        links,
        sources=(["intents.csv"], ["refunds.csv"]),
        policy=policy,
        policy_from="the defaults",
        coverage=coverage,
        zone=("UTC", UTC),
    )
    return matters.for_people(report, intents, refunds, links) if for_people else report


@settings(max_examples=40, deadline=None)
@given(worlds())
def test_the_parts_of_each_side_add_up_to_it(world: World) -> None:
    report = reported(world)

    counts = report.result.counts
    assert sum(number for _, number in sums.of_intents(report)) == counts.intents == report.intents.standing
    assert sum(number for _, number in sums.of_refunds(report)) == counts.refunds == report.refunds.standing
    assert sum(number for _, number in report.made) == counts.refunds
    for side in (report.intents, report.refunds):
        assert sum(number for _, number in sums.of_rows(side)) == side.read
