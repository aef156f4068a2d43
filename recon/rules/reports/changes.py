"""What a report's page says of an earlier report: what is new, still there, of another kind, and gone."""

from recon.model import money, wording
from recon.model.records.comparisons import OF_EARLIER, OF_LATER, Compared, Comparison, NowIs, Seen, Standing
from recon.model.records.reports import Report
from recon.model.records.results import Money
from recon.rules.reports import findings, markup
from recon.rules.reports.markup import Html

SHOWN = 100  # Subjects of one standing; the other formats have them all.
MEANINGS = {
    Standing.NEW: "Only this report has them.",
    Standing.PERSISTING: "Both reports have them, as the same kind.",
    Standing.RECLASSIFIED: "Both reports have them, as another kind.",
    Standing.RESOLVED: "Only the earlier report has them.",
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
    gone = comparison.of(Standing.RESOLVED)
    unsure = sum(each.now_is is not NowIs.NO_MISMATCH for each in gone)
    judged = f", judged as of {findings.at(report, earlier.as_of)}: {wording.VERDICTS[earlier.verdict]}."
    return markup.joined(
        [
            markup.tag(
                "p",
                markup.text("Compared with "),
                markup.foreign(earlier.source),
                markup.text(judged),
            ),
            *(
                [
                    markup.paragraph(
                        f"Of those resolved, {unsure:,} are not settled: each says what it is now."
                    )
                ]
                if unsure
                else []
            ),
        ]
    )


def _totals(comparison: Comparison) -> Html:
    """Return how many there are of each standing, with money per currency, and that they add up."""
    sides = comparison.at_risk(*Standing)
    currencies = sorted({*sides[0], *sides[1]})
    columns = [f">{side} {currency.upper()}" for currency in currencies for side in ("Before", "Now")]

    def row(name: str, *standings: Standing, of: tuple[bool, bool] = (True, True)) -> tuple[Html, ...]:
        sums = comparison.at_risk(*standings)
        cells = [
            money.written(Money(side[currency], currency)) if shown and currency in side else ""
            for currency in currencies
            for side, shown in zip(sums, of, strict=True)
        ]
        number = f"{len(comparison.of(*standings)):,}"
        return markup.text(name), markup.text(number), *map(markup.text, cells)

    rows = [row(standing.capitalize(), standing) for standing in Standing]
    rows += [
        row("In the earlier report: persisting, reclassified, resolved", *OF_EARLIER, of=(True, False)),
        row("In this report: new, persisting, reclassified", *OF_LATER, of=(False, True)),
    ]
    return markup.table(
        "What is at risk, before and now", ("What became of it", ">Mismatches", *columns), rows
    )


def _listed(standing: Standing, found: tuple[Compared, ...]) -> Html:
    rows = (
        (markup.foreign(each.subject), markup.foreign(each.account), _seen(each.before), _now(each))
        for each in found[:SHOWN]
    )
    title = f"{standing.capitalize()}: {len(found):,}"
    parts = [
        markup.tag("summary", markup.text(title)),
        markup.paragraph(MEANINGS[standing]),
        markup.table(title, ("Subject", "Account", "Before", "Now"), rows),
    ]
    if len(found) > SHOWN:
        parts.append(markup.paragraph(f"And {len(found) - SHOWN:,} more: --format json lists them all."))
    return markup.tag("details", *parts)


def _seen(seen: Seen | None) -> Html:
    if seen is None:
        return markup.NOTHING
    return markup.text(f"{wording.KINDS[seen.kind]}, {money.written(seen.at_risk)}")


def _now(each: Compared) -> Html:
    if each.now_is is not None:
        return markup.text(each.now_is.capitalize())
    changed = markup.tag("span", markup.text(" other amount"), class_="probable")
    return markup.joined([_seen(each.now), changed]) if each.changed_amount else _seen(each.now)
