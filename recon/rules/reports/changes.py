"""What a report's page says of an earlier report: what is new, still there, of another kind, and gone."""

from collections.abc import Mapping

from recon.model import money, wording
from recon.model.records.comparisons import OF_EARLIER, OF_LATER, Compared, Comparison, NowIs, Seen, Standing
from recon.model.records.reports import Report
from recon.model.records.results import Money
from recon.rules.reports import findings, markup, verdicts
from recon.rules.reports.markup import Html

SHOWN = 100  # Subjects of one standing; the other formats have them all.
MEANINGS = {
    Standing.NEW: "Only this report has them: they are new, or the earlier one had no row of them.",
    Standing.PERSISTING: "Both reports have them, as the same kind.",
    Standing.RECLASSIFIED: "Both reports have them, as another kind.",
    Standing.RESOLVED: "Only the earlier report has them, and this one looked.",
    Standing.NOT_JUDGED: "Only the earlier report has them, and nobody could see them this time.",
}


def section(report: Report) -> Html:
    """Return the comparison; nothing where none was asked for."""
    comparison = report.comparison
    if comparison is None:
        return markup.NOTHING
    parts = [_said(report, comparison), _totals(comparison)]
    for standing in Standing:
        found = comparison.of(standing)
        if found:
            parts.append(_listed(standing, found))
    return markup.joined(parts)


def _said(report: Report, comparison: Comparison) -> Html:
    earlier = comparison.earlier
    judged = f", judged as of {findings.at(report, earlier.as_of)}: {wording.VERDICTS[earlier.verdict]}."
    said = [
        markup.tag("p", markup.text("Compared with "), markup.foreign(earlier.source), markup.text(judged))
    ]
    unsure = sum(each.now_is is not NowIs.NO_MISMATCH for each in comparison.of(Standing.RESOLVED))
    if unsure:
        are = "is" if unsure == 1 else "are"
        said.append(
            markup.paragraph(f"Of those resolved, {unsure:,} {are} not settled: each says what it is now.")
        )
    said += [markup.paragraph(each) for each in verdicts.unseen(comparison)]
    return markup.joined(said)


def _totals(comparison: Comparison) -> Html:
    """Return how many there are of each standing, with money per currency, and that they add up."""

    def row(name: str, *standings: Standing, of: tuple[bool, bool] = (True, True)) -> tuple[Html, ...]:
        sides = zip(comparison.at_risk(*standings), of, strict=True)
        cells = (_amounts(side) if shown else markup.NOTHING for side, shown in sides)
        return markup.text(name), markup.text(f"{len(comparison.of(*standings)):,}"), *cells

    rows = [row(wording.plain(standing).capitalize(), standing) for standing in Standing]
    rows += [
        row(
            "In the earlier report: persisting, reclassified, resolved, not judged",
            *OF_EARLIER,
            of=(True, False),
        ),
        row("In this report: new, persisting, reclassified", *OF_LATER, of=(False, True)),
    ]
    columns = ("What became of it", ">Mismatches", ">At risk before", ">At risk now")
    return markup.table("At risk before and now", columns, rows)


def _amounts(at_risk: Mapping[str, int]) -> Html:
    amounts = (Money(amount, currency) for currency, amount in at_risk.items() if amount)
    return markup.lines(markup.text(money.written(each)) for each in amounts)


def _listed(standing: Standing, found: tuple[Compared, ...]) -> Html:
    rows = (
        (markup.foreign(each.subject), markup.foreign(each.account), _seen(each.before), _now(each))
        for each in found[:SHOWN]
    )
    title = f"{wording.plain(standing).capitalize()}: {len(found):,}"
    parts = [
        markup.tag("summary", markup.text(title)),
        markup.paragraph(MEANINGS[standing]),
        markup.table(title, ("Subject", "Account", "Before", "Now"), rows),
    ]
    if len(found) > SHOWN:
        parts.append(markup.paragraph(f"And {len(found) - SHOWN:,} more: --format json lists them all."))
    # On paper those that persist stand among the mismatches, and need not stand here as well.
    return markup.tag("details", *parts, class_="numbers" if standing is Standing.PERSISTING else None)


def _seen(seen: Seen | None) -> Html:
    if seen is None:
        return markup.NOTHING
    return markup.text(f"{wording.KINDS[seen.kind]}, {money.written(seen.at_risk)}")


def _now(each: Compared) -> Html:
    if each.now_is is not None:
        return markup.text(each.now_is.capitalize())
    changed = markup.tag("span", markup.text(" other amount"), class_="probable")
    return markup.joined([_seen(each.now), changed]) if each.changed_amount else _seen(each.now)
