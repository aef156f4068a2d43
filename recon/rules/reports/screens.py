"""A result as a terminal shows it. Text of a file cannot become escape codes of a terminal."""

import io

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recon.model import money, phrases, subjects, wording
from recon.model.characters import harmless
from recon.model.records.comparisons import OF_EARLIER, OF_LATER, Compared, Comparison, Standing
from recon.model.records.reports import Report, StepRole
from recon.model.records.results import Counts, Mismatch, Money, Reject, Result
from recon.model.records.words import Certainty, Kind, Verdict
from recon.rules.reports import bridges, causes, verdicts

SHOWN = 20  # Mismatches, rejects and the like that a table shows of each sort; JSON and CSV have them all.
_FEW = 5  # Withheld subjects of one reason.
_WIDTH = 100  # Columns of a table that is written to a file.
_STYLES = {
    Verdict.RECONCILED: "bold green",
    Verdict.RECONCILED_WITH_PENDING: "bold green",
    Verdict.BREAKS: "bold red",
    Verdict.INCOMPLETE: "bold yellow",
}


def as_table(report: Report) -> RenderableType:
    """Return the report for a terminal: rejects first, then the verdict, the money, and each mismatch."""
    result, comparison = report.result, report.comparison
    parts: list[RenderableType] = [*_rejected(result.rejected), _verdict(result), _numbers(result.counts)]
    if result.at_risk:
        parts += [Text(), _heading("Money at risk"), _money(result)]
    if comparison is not None:
        parts += [Text(), *_compared(comparison)]
    for kind in Kind:
        found = [mismatch for mismatch in result.mismatches if mismatch.kind == kind]
        if found:
            parts += [Text(), *_kind(kind, found)]
    parts += [*_pending(result), *_withheld(report), *_totals(report), *_bridge(report)]
    return Group(*parts)


def table_text(report: Report) -> str:
    """Return the table as plain text, for a file."""
    console = Console(width=_WIDTH, file=io.StringIO(), no_color=True, highlight=False, force_terminal=False)
    with console.capture() as capture:
        console.print(as_table(report))
    return capture.get()


def _heading(text: str) -> Text:
    """Return a heading."""
    return Text(text, style="bold")


def _indented(text: Text, by: int) -> Padding:
    """Return text that keeps its indentation where it wraps."""
    return Padding(text, (0, 0, 0, by), expand=False)


def _more(count: int, shown: int = SHOWN, *, named: str = "json") -> list[RenderableType]:
    """Return a line that says how many are not shown, if any are not; named: the format that lists all."""
    if count <= shown:
        return []
    return [_indented(Text(f"and {count - shown} more; --format {named} lists all", style="dim"), 2)]


def _rejected(rejects: tuple[Reject, ...]) -> list[RenderableType]:
    """Return the rows that could not be judged."""
    if not rejects:
        return []
    lines: list[RenderableType] = [_heading(f"Rejected rows: {len(rejects)}, not judged")]
    told = causes.lines(rejects, ids=True)
    lines += [_indented(Text(harmless(line.text)), 2) for line in told[:SHOWN]]
    left = sum(line.number for line in told[SHOWN:])
    return [*lines, *_more(left + SHOWN if left else 0), Text()]


def _verdict(result: Result) -> Text:
    """Return the verdict in one line, and what was not read."""
    line = Text(wording.plain(result.verdict), style=_STYLES[result.verdict])
    if result.verdict is Verdict.BREAKS:  # The trade's word for a mismatch, which is not everybody's.
        line.append(f": {wording.VERDICTS[result.verdict]},")
    line.append(f" as of {phrases.iso(result.as_of)}", style="not bold")
    for sentence in result.incomplete:
        line.append(f"\n  {harmless(sentence)}", style="not bold")
    return line


def _numbers(counts: Counts) -> Text:
    """Return the counts that are not zero, in words."""
    broken = sum(counts.mismatches.values())
    words = [
        phrases.several(counts.intents, "intent"),
        phrases.several(counts.refunds, "refund"),
        f"{counts.matched:,} matched",
        phrases.several(broken, "mismatch", "mismatches"),
    ]
    rest = {
        "in flight": counts.in_flight,
        "healable": counts.healable,
        "withheld": counts.withheld,
        "rejected": counts.rejected,
        "superseded": counts.superseded,
        "matched by inference only (same payment and amount, close in time, but no key or id)": (
            counts.matched_inferred
        ),
        "declared repeats": counts.declared_repeats,
        "made by the provider itself": counts.system,
        "of a status we do not know": counts.unknown_status,
    }
    return Text(", ".join([*words, *(f"{count:,} {name}" for name, count in rest.items() if count)]))


def _money(result: Result) -> Table:
    """Return money at risk, one line per currency."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 0, 0, 2))
    table.add_column(justify="right")
    for currency, amount in sorted(result.at_risk.items()):
        table.add_row(money.written(Money(amount, currency)))
    return table


def _compared(comparison: Comparison) -> list[RenderableType]:
    """Return what became of an earlier report's mismatches, and that the numbers add up."""
    earlier = comparison.earlier
    lines: list[RenderableType] = [
        _heading(f"Since {harmless(earlier.source)}, as of {phrases.iso(earlier.as_of)}"),
        _standings(comparison),
        *(_indented(Text(said), 2) for said in verdicts.unseen(comparison)),
    ]
    for standing in (Standing.NEW, Standing.RECLASSIFIED, Standing.RESOLVED, Standing.NOT_JUDGED):
        found = comparison.of(standing)
        lines += [_indented(Text(_change(each)), 2) for each in found[:SHOWN]]
        lines += _more(len(found))
    return lines


def _standings(comparison: Comparison) -> Table:
    """Return how many there are of each standing, and the money of both reports per currency."""
    table = Table(box=None, pad_edge=False, padding=(0, 0, 0, 2), header_style="dim")
    table.add_column()
    for name in ("", "at risk before", "at risk now"):
        table.add_column(name, justify="right")

    def add(name: str, *standings: Standing, of: tuple[bool, bool] = (True, True)) -> None:
        sides = [
            "\n".join(money.written(Money(amount, currency)) for currency, amount in side.items() if amount)
            if shown
            else ""
            for side, shown in zip(comparison.at_risk(*standings), of, strict=True)
        ]
        table.add_row(name, f"{len(comparison.of(*standings)):,}", *sides)

    for standing in Standing:
        add(wording.plain(standing), standing)
    add("earlier report", *OF_EARLIER, of=(True, False))
    add("this report", *OF_LATER, of=(False, True))
    return table


def _change(each: Compared) -> str:
    """Return what one subject was and is."""
    before, now = (
        "" if seen is None else f"{wording.plain(seen.kind)} {money.written(seen.at_risk)}"
        for seen in (each.before, each.now)
    )
    name: str = each.standing
    if each.standing is Standing.NOT_JUDGED and each.now_is is not None:
        name = each.now_is
    elif each.now_is is not None:
        now = each.now_is
    return f"{name}: {harmless(each.subject)}  {'  then '.join(filter(None, (before, now)))}"


def _kind(kind: Kind, found: list[Mismatch]) -> list[RenderableType]:
    """Return the mismatches of one kind, each with its subject, its money and why."""
    lines: list[RenderableType] = [_heading(f"{wording.plain(kind)}: {verdicts.numbered(found)}")]
    for mismatch in found[:SHOWN]:
        lines += _one(mismatch)
    return [*lines, *_more(len(found))]


def _one(mismatch: Mismatch) -> list[RenderableType]:
    """Return one mismatch."""
    head = Text()
    head.append(harmless(mismatch.subject), style="cyan")
    head.append(f"  {money.written(mismatch.at_risk)}", style="bold default")
    if mismatch.certainty == Certainty.PROBABLE:
        head.append("  probable", style="yellow")
    named = {"order": mismatch.order_id, "customer": mismatch.customer_id, "account": mismatch.account}
    for name, value in named.items():
        if value:
            head.append(f"  {name} {harmless(value)}", style="dim")
    return [_indented(head, 2), _indented(Text(harmless(mismatch.why)), 4)]


def _pending(result: Result) -> list[RenderableType]:
    """Return what is not a mismatch yet, and what a run would finish by itself."""
    parts: list[RenderableType] = []
    if result.healable:
        parts += [Text(), _heading(f"healable: {len(result.healable)}, a run finishes these by itself")]
        for heal in result.healable[:SHOWN]:
            named = harmless(subjects.of_intent(heal.intent_key))
            parts.append(_indented(Text(f"{named}  {harmless(heal.refund_id)}  by {heal.basis}"), 2))
        parts += _more(len(result.healable))
    if result.in_flight:
        parts += [Text(), _heading(f"in flight: {len(result.in_flight)}, too young to judge")]
        for flight in result.in_flight[:SHOWN]:
            becomes = wording.plain(flight.becomes)
            text = f"{harmless(flight.subject)}  {becomes} from {phrases.iso(flight.breaks_at)}"
            parts.append(_indented(Text(text), 2))
        parts += _more(len(result.in_flight))
    return parts


def _withheld(report: Report) -> list[RenderableType]:
    """Return what was not judged, by why."""
    withheld = report.result.withheld
    if not withheld:
        return []
    parts: list[RenderableType] = [Text(), _heading(f"withheld: {len(withheld)}, not judged")]
    by_why: dict[str, list[str]] = {}
    for pair in withheld:
        account, subject = pair
        named = f"{subject}  account {account}" if account else subject
        by_why.setdefault(report.why_withheld.get(pair, ""), []).append(named)
    for why, those in sorted(by_why.items()):
        if why:
            parts.append(_indented(Text(f"{len(those):,}: {why}"), 2))
        parts += [_indented(Text(harmless(each)), 4) for each in those[:_FEW]]
        parts += _more(len(those), _FEW, named="xlsx")
    return parts


def _totals(report: Report) -> list[RenderableType]:
    """Return the money of each side, per currency and status."""
    if not report.totals:
        return []
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
    table.add_column()
    for _ in range(2):
        table.add_column(justify="right")
    for each in report.totals:
        words = (f"{each.side} {wording.plain(each.status)}", f"{each.number:,}", money.written(each.amount))
        table.add_row(*words, style="bold" if each.is_sum else None)
    return [Text(), _heading("Control totals: the rows that were compared"), table]


def _bridge(report: Report) -> list[RenderableType]:
    """Return why the two sides are not the same sum, per currency."""
    if not report.bridge:
        return []
    parts: list[RenderableType] = [Text(), _heading("From our records to what went back")]
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
    table.add_column()
    for _ in range(2):
        table.add_column(justify="right", no_wrap=True)
    for each in report.bridge:
        if each.role is StepRole.BEGINS and table.row_count:
            table.add_row()
        number = phrases.several(each.number, each.of)
        style = None if each.role is StepRole.DIFFERS else "bold"
        table.add_row(each.name, number, bridges.amount(each), style=style)
    return [*parts, table, *(_indented(Text(said), 2) for said in bridges.outside(report))]
