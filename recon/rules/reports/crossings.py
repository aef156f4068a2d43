"""The bridge of a report's page: a table per currency, and whether it adds up."""

from collections.abc import Iterator, Sequence

from recon.model import phrases
from recon.model.records.reports import Report, Step, StepRole
from recon.rules.reports import bridges, markup
from recon.rules.reports.markup import Html

_SAID = (
    "From the money that our records call done to the money that went back, each currency by itself. Every"
    " intent, and every refund of no intent, stands on one line. A plus went back and is not done in our"
    " records; a minus is done in our records and did not go back."
)


def section(report: Report) -> Html:
    """Return a table for each currency; nothing where no bridge was made."""
    if not report.bridge:
        return markup.NOTHING
    tables = (_table(currency, steps) for currency, steps in bridges.by_currency(report.bridge).items())
    beside = (markup.paragraph(said) for said in bridges.outside(report))
    return markup.joined([markup.paragraph(_SAID), *tables, *beside])


def _table(currency: str, steps: Sequence[Step]) -> Html:
    columns = ("Why", ">How many", ">Amount")
    return markup.table(
        f"{currency.upper()}: from done to went back, line by line", columns, _rows(steps), kind="small"
    )


def _rows(steps: Sequence[Step]) -> Iterator[Sequence[Html]]:
    agrees = bridges.adds_up(steps)
    for each in steps:
        cells = [
            markup.text(phrases.opening(each.name)),
            markup.text(phrases.several(each.number, each.of)),
            markup.text(bridges.amount(each)),
        ]
        if each.role is not StepRole.DIFFERS:
            cells = [markup.tag("strong", cell) for cell in cells]
        if each.role is StepRole.ENDS:
            mark = "the lines above add up to it" if agrees else "but the lines above do not add up to it"
            sign = markup.tag("span", markup.text(mark), class_="ok" if agrees else "bad")
            cells[0] = markup.lines([cells[0], sign])
        yield cells
