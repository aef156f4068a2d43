"""A result as one page that a finance person reads and prints: HTML that needs nothing but itself.

No request, no script: its policy forbids both. Whatever a file says is text. Times are in one zone, which is
said. Long lists are cut, the largest amounts first, and say how many more there are and where.
"""

from collections import Counter
from datetime import datetime

from recon.model import money, phrases, policies, wording
from recon.model.records.reports import Report, Side, Total
from recon.model.records.results import Money, Policy
from recon.model.records.words import Certainty, Kind
from recon.rules.reports import (
    changes,
    charts,
    crossings,
    findings,
    hours,
    markup,
    remainders,
    sums,
    verdicts,
)
from recon.rules.reports.markup import Html
from recon.rules.reports.style import STYLE

# What a hostile text could still do after it was escaped: nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_TITLE = "Refund reconciliation"


def as_html(report: Report) -> str:
    """Return the whole page."""
    head = markup.joined(
        [
            Html('<meta charset="utf-8">'),
            Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Html('<meta name="color-scheme" content="light dark">'),
            markup.tag("title", markup.text(f"{_TITLE}, {findings.at(report, report.result.as_of)}")),
            markup.tag("style", Html(STYLE)),
        ]
    )
    sections = [
        ("money", "Money at risk", _money(report)),
        ("changes", "Since the earlier report", changes.section(report)),
        ("mismatches", "Mismatches", findings.section(report)),
        ("out", "Left out, and why", remainders.section(report)),
        ("hours", "When it happened", _charts(report)),
        ("totals", "Control totals", _totals(report)),
        ("bridge", "From our records to what went back", crossings.section(report)),
        ("sums", "Do the numbers add up?", _sums(report)),
        ("compared", "What was compared", _compared(report)),
        ("judged", "How it was judged", _judged(report)),
    ]
    shown = [each for each in sections if each[2]]
    body = markup.joined(
        [
            markup.tag("header", _verdict(report), _facts(report), _contents(shown)),
            markup.tag(
                "main",
                *(
                    markup.tag(
                        "section",
                        markup.tag("h2", markup.text(title), id=name),
                        content,
                        aria_labelledby=name,
                    )
                    for name, title, content in shown
                ),
            ),
            markup.tag("footer", _footer(report)),
        ]
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def _verdict(report: Report) -> Html:
    result = report.result
    return markup.joined(
        [
            markup.tag("h1", markup.text(_TITLE)),
            markup.tag("p", markup.text(verdicts.sentence(result)), class_=f"verdict {result.verdict}"),
            markup.paragraph(
                f"As of {findings.at(report, result.as_of)}. All times are {report.zone_name}."
                " Currencies are never added to each other.",
                "soft",
            ),
            *(markup.tag("p", markup.foreign(said)) for said in (*report.hints, *result.incomplete)),
        ]
    )


def _facts(report: Report) -> Html:
    counts = report.result.counts
    named = {
        "Intents": counts.intents,
        "Refunds": counts.refunds,
        "In agreement": counts.matched,
        "Mismatches": sum(counts.mismatches.values()),
        "In flight": counts.in_flight,
        "Rejected rows": counts.rejected,
    }
    pairs = (
        markup.tag("div", markup.tag("dt", markup.text(name)), markup.tag("dd", markup.text(f"{n:,}")))
        for name, n in named.items()
    )
    return markup.tag("dl", *pairs, class_="facts")


def _contents(sections: list[tuple[str, str, Html]]) -> Html:
    links = (
        markup.tag("li", markup.tag("a", markup.text(title), href=f"#{name}")) for name, title, _ in sections
    )
    return markup.tag("nav", markup.tag("ul", *links), aria_label="Contents")


def _money(report: Report) -> Html:
    """Return money at risk per currency, by certainty; and by kind."""
    totals: Counter[tuple[str, Kind | Certainty | None]] = Counter()
    number: Counter[str] = Counter()
    for each in report.result.mismatches:
        currency = each.at_risk.currency
        number[currency] += 1
        for of in (None, each.kind, each.certainty):
            totals[currency, of] += each.at_risk.amount_minor
    currencies = sorted(number)
    if not currencies:
        return markup.paragraph("None: there are no mismatches.")

    def cell(currency: str, of: Kind | Certainty | None) -> Html:
        there = (currency, of) in totals
        return markup.text(money.written(Money(totals[currency, of], currency)) if there else "")

    by_currency = (
        (
            markup.text(currency.upper()),
            markup.tag("strong", cell(currency, None)),
            cell(currency, Certainty.CONFIRMED),
            cell(currency, Certainty.PROBABLE),
            markup.text(f"{number[currency]:,}"),
        )
        for currency in currencies
    )
    by_kind = (
        (
            findings.kind_link(kind),
            markup.text(f"{n:,}"),
            markup.lines(cell(currency, kind) for currency in currencies),
        )
        for kind, n in report.result.counts.mismatches.items()
        if n
    )
    columns = ("Currency", ">At risk", ">Confirmed", ">Probable", ">Mismatches")
    return markup.joined(
        [
            markup.table("At risk per currency", columns, by_currency),
            markup.table("At risk per kind", ("Kind", ">Mismatches", ">At risk"), by_kind),
        ]
    )


def _charts(report: Report) -> Html:
    series = {
        "refunds": report.made,
        "mismatches": [(each.since, 1) for each in report.result.mismatches],
    }
    bars = hours.bars(series, report.zone)
    drawn = [
        charts.over_time("Refunds made", "refunds", bars, report.zone_name),
        charts.over_time("Mismatches began", "mismatches", bars, report.zone_name, kind="wrong"),
    ]
    if bars.width != "hour":
        drawn += [
            charts.over_day("Refunds made", hours.of_day(series["refunds"], report.zone), report.zone_name),
            charts.over_day(
                "Mismatches began",
                hours.of_day(series["mismatches"], report.zone),
                report.zone_name,
                kind="wrong",
            ),
        ]
    return markup.joined(drawn)


def _totals(report: Report) -> Html:
    """Return the money of each side, per currency and status; nothing where none was gathered."""
    if not report.totals:
        return markup.NOTHING

    def row(each: Total) -> tuple[Html, Html, Html]:
        cells = (
            markup.text(phrases.opening(wording.plain(each.status))),
            markup.text(f"{each.number:,}"),
            markup.text(money.written(each.amount)),
        )
        name, number, amount = (markup.tag("strong", cell) if each.is_sum else cell for cell in cells)
        return name, number, amount

    tables = (
        markup.table(
            f"{side.name.capitalize()} that were compared, per currency",
            ("Status", ">How many", ">Amount"),
            (row(each) for each in report.totals if each.side == side.name),
            kind="small",
        )
        for side in (report.intents, report.refunds)
    )
    said = (
        "What each side comes to, to be tied to a sum made of the same file. Of the rows that were compared"
        " alone: not of rejected ones, of those that another replaces or equals, or of what a map leaves out."
    )
    return markup.joined([markup.paragraph(said), markup.tag("div", *tables, class_="pairs")])


def _sums(report: Report) -> Html:
    counts = report.result.counts
    return markup.tag(
        "div",
        _sum("Rows of intents", sums.of_rows(report.intents), report.intents.read, "read"),
        _sum("Rows of refunds", sums.of_rows(report.refunds), report.refunds.read, "read"),
        _sum("Intents", sums.of_intents(report), counts.intents, "compared"),
        _sum("Refunds", sums.of_refunds(report), counts.refunds, "compared"),
        class_="pairs",
    )


def _sum(title: str, parts: sums.Parts, whole: int, done: str) -> Html:
    """Return parts and their sum, and whether it is what it should be."""
    total = sum(n for _, n in parts)
    agrees = total == whole
    rows = [(markup.text(phrases.opening(name)), markup.text(f"{n:,}")) for name, n in parts]
    verdict = f"as many as were {done}" if agrees else f"but {whole:,} were {done}"
    mark = markup.tag("span", markup.text(f"Together, {verdict}"), class_="ok" if agrees else "bad")
    rows.append((mark, markup.tag("strong", markup.text(f"{total:,}"))))
    return markup.table(f"{title}, each counted once", (title, ">How many"), rows, kind="small")


def _compared(report: Report) -> Html:
    def row(name: str, ours: str, theirs: str) -> tuple[Html, Html, Html]:
        return markup.text(name), markup.foreign(ours), markup.foreign(theirs)

    sides = (report.intents, report.refunds)
    rows = [
        row("Files", *(", ".join(side.sources) for side in sides)),
        row("Earliest created", *(_moment(report, side.first_at) for side in sides)),
        row("Latest created", *(_moment(report, side.last_at) for side in sides)),
        row("What the file holds", *(_coverage(report, side) for side in sides)),
    ]
    notes = [note for side in sides for note in side.notes]
    listed = markup.tag("ul", *(markup.tag("li", markup.foreign(note)) for note in notes))
    table = markup.table(
        "The two sides", ("What was read", "Intents: what was meant", "Refunds: what the provider did"), rows
    )
    return markup.joined([table, listed if notes else markup.NOTHING])


def _moment(report: Report, at: datetime | None) -> str:
    return "none" if at is None else findings.at(report, at)


def _coverage(report: Report, side: Side) -> str:
    if not side.reading.complete:
        return "only a part: absence proves nothing"
    if side.reading.from_at is not None:
        return f"everything created since {findings.at(report, side.reading.from_at)}, nothing before"
    return "taken as everything there is"


def _judged(report: Report) -> Html:
    usual = policies.told(Policy())
    rows = [
        (
            markup.text(verdicts.GRACES[name]),
            markup.text(policies.in_words(name, getattr(report.policy, policies.KEYS[name][0]))),
            markup.text("" if value == usual[name] else f"not {usual[name]}, as usual"),
            markup.text(name),
        )
        for name, value in policies.told(report.policy).items()
    ]
    said = (
        "A disagreement counts once it is as old as its grace. The graces are those of"
        f" {report.policy_from}; in a policy file each has the name that stands last."
    )
    return markup.joined(
        [
            markup.paragraph(said),
            markup.table("Graces", ("Grace", "Value", "Changed", "Name in a file"), rows),
        ]
    )


def _footer(report: Report) -> Html:
    as_of = phrases.iso(report.result.as_of)
    return markup.paragraph(
        f"Written by recon diff. The same files, judged as of {as_of} by the same graces, give the same page."
    )
