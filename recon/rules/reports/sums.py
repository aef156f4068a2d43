"""That everything which was compared is accounted for once: the parts that add up to each side."""

from recon.model import subjects
from recon.model.records.reports import Report, Side

Parts = tuple[tuple[str, int], ...]


def of_rows(side: Side) -> Parts:
    """Return what the rows of a side are, in words, with how many; the numbers add up to all of them."""
    return (
        ("compared", side.standing),
        ("replaced by another version of the same row", side.superseded),
        ("equal to another row", side.duplicates),
        ("left out: a map's filters, records of other tables, charges with nothing refunded", side.left_out),
        ("rejected: they cannot be judged", side.rejected),
    )


def of_intents(report: Report) -> Parts:
    """Return what the intents are, in words, with how many; the numbers add up to all of them."""
    result = report.result
    disagreeing = {(each.account, each.subject) for each in result.mismatches}
    healable = sum(
        (heal.account, subjects.of_intent(heal.intent_key)) not in disagreeing for heal in result.healable
    )
    return (
        ("in agreement", result.counts.matched),
        ("mismatches", _about(report, subjects.OF_INTENTS)),
        ("healable: a run finishes them by itself", healable),
        ("in flight: too young to judge", _waiting(report, subjects.OF_INTENTS)),
        ("withheld: not judged", _withheld(report, subjects.OF_INTENTS)),
    )


def of_refunds(report: Report) -> Parts:
    """Return what the refunds are, in words, with how many; the numbers add up to all of them."""
    return (
        ("belong to an intent", report.linked),
        ("mismatches: no intent asked for them", _about(report, subjects.OF_REFUNDS)),
        ("in flight: too young to judge", _waiting(report, subjects.OF_REFUNDS)),
        ("made by the provider itself", report.result.counts.system),
        ("failed or canceled, of no intent: no money moved", report.came_to_nothing),
        ("withheld: not judged", _withheld(report, subjects.OF_REFUNDS)),
    )


def _about(report: Report, prefix: str) -> int:
    return sum(each.subject.startswith(prefix) for each in report.result.mismatches)


def _waiting(report: Report, prefix: str) -> int:
    return sum(each.subject.startswith(prefix) for each in report.result.in_flight)


def _withheld(report: Report, prefix: str) -> int:
    return sum(subject.startswith(prefix) for _, subject in report.result.withheld)
