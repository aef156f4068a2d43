"""A result as a spreadsheet: numbers that are numbers, times that are times, and texts that stay texts.

Pure: the file is made in memory, and the same report gives the same bytes. No cell is a formula: text is
typed as text and marked as quoted, so that it stays text when somebody edits it.
"""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, Literal

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from recon.model import characters, money, phrases, policies, wording
from recon.model.records.comparisons import Compared, Seen
from recon.model.records.reports import Report, Side, Total
from recon.model.records.results import Mismatch, Money
from recon.model.records.words import Kind
from recon.rules.reports import bridges, documents, sums, verdicts

ROWS: Final = 1_048_575  # Of a sheet, without its header. Source: Excel's specifications and limits.
_CHARACTERS: Final = 32_767  # Of a cell, from the same source.
_DIGITS: Final = 15  # That a spreadsheet's numbers hold; what has more is written as text, whole.
_FIRST_YEAR: Final = 1900  # Before it a spreadsheet has no times: they are written as text.
_WIDTHS: Final = {
    "why": 90,
    "reason": 60,
    "because": 60,
    "subject": 34,
    "intent_key": 34,
    "refund_ids": 30,
    "source": 24,
    "line": 60,
}
_WIDTH: Final = 18

_ORDER: Final = {kind: place for place, kind in enumerate(Kind)}

Cell = str | int | datetime | Money | None
Sort = Literal["text", "whole", "time", "amount"]
Column = tuple[str, Sort]
_AMOUNT: Final[tuple[Column, ...]] = (("at_risk", "amount"), ("currency", "text"), ("at_risk_minor", "whole"))


@dataclass(frozen=True, slots=True)
class _Sheet:
    """One sheet. rows: a cell for each column; of an amount the money itself, in its own decimals."""

    name: str
    columns: tuple[Column, ...]
    rows: Iterable[Sequence[Cell]]


def as_xlsx(report: Report) -> bytes:
    """Return the workbook's content: Summary, Mismatches, In flight, Healable, Rejected, Counts.

    Totals, Bridge, Withheld and Compared where there is anything of it. A list longer than a sheet is cut to
    ROWS; the counts are of all of it.
    """
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    # Else the file would say when it was written, and two of one report would differ.
    made = report.result.as_of.replace(tzinfo=None)
    book.set_properties({"title": "Refund reconciliation", "created": made})
    formats = _Formats(book.add_format)
    for sheet in _sheets(report):
        _write(book.add_worksheet(sheet.name), sheet, formats)
    book.close()
    return file.getvalue()


class _Formats:
    """The formats of the cells; of amounts one for each number of decimals."""

    def __init__(self, add: Callable[[dict[str, object]], Format]) -> None:
        top: dict[str, object] = {"valign": "top"}
        self.header = add(top | {"bold": True, "bottom": 1, "bg_color": "#F2F5F8", "text_wrap": True})
        self.text = add(top | {"quote_prefix": True})
        self.wrapped = add(top | {"quote_prefix": True, "text_wrap": True})
        self.whole = add(top | {"num_format": "#,##0"})
        self.time = add(top | {"num_format": "yyyy-mm-dd hh:mm:ss"})
        decimals = sorted(set(money.EXPONENTS.values()))
        self.amounts = {
            places: add(top | {"num_format": "#,##0" + ("." + "0" * places if places else "")})
            for places in decimals
        }


def _write(page: Worksheet, sheet: _Sheet, formats: _Formats) -> None:
    """Write a sheet with its header, which stays where it is when the rows are scrolled, and its filters.

    A column that no row has anything in is left out.
    """
    sheet = _without_empty(sheet)
    for place, (name, sort) in enumerate(sheet.columns):
        label = wording.plain(name).capitalize() + (" (UTC)" if sort == "time" else "")
        page.write_string(0, place, label, formats.header)
        page.set_column(place, place, _WIDTHS.get(name, _WIDTH))
    last = 0
    for last, row in enumerate(sheet.rows, start=1):
        if last > ROWS:
            last = ROWS  # noqa: PLW2901 - what does not fit is in the JSON
            break
        for place, (cell, (name, _)) in enumerate(zip(row, sheet.columns, strict=True)):
            _put(page, last, place, cell, formats, wraps=name in {"why", "reason"})
    page.freeze_panes(1, 0)
    page.autofilter(0, 0, last, len(sheet.columns) - 1)
    page.set_landscape()
    page.fit_to_pages(1, 0)
    page.repeat_rows(0)


def _without_empty(sheet: _Sheet) -> _Sheet:
    """Return the sheet without columns in which every cell is empty; all of them where there are no rows."""
    rows = list(sheet.rows)
    kept = [place for place in range(len(sheet.columns)) if any(row[place] not in {None, ""} for row in rows)]
    if not rows or len(kept) == len(sheet.columns):
        return replace(sheet, rows=rows)
    columns = tuple(sheet.columns[place] for place in kept)
    return replace(sheet, columns=columns, rows=[[row[place] for place in kept] for row in rows])


def _put(page: Worksheet, row: int, place: int, cell: Cell, formats: _Formats, *, wraps: bool) -> None:
    """Write one cell as what it is."""
    match cell:
        case None | "":
            return
        case Money():
            major = money.major(cell.amount_minor, cell.currency)
            if len(str(abs(cell.amount_minor))) > _DIGITS:
                page.write_string(row, place, major, formats.text)
            else:
                number = Decimal(major)  # Never a float: the library writes its digits out.
                page.write_number(row, place, number, formats.amounts[money.EXPONENTS[cell.currency]])
        case int() if len(str(abs(cell))) <= _DIGITS:
            page.write_number(row, place, cell, formats.whole)
        case datetime() if cell.year >= _FIRST_YEAR:
            page.write_datetime(row, place, cell.astimezone(UTC).replace(tzinfo=None), formats.time)
        case datetime():
            page.write_string(row, place, phrases.iso(cell), formats.text)
        case _:
            kept = characters.keepable(str(cell))[:_CHARACTERS]
            page.write_string(row, place, kept, formats.wrapped if wraps else formats.text)


def _sheets(report: Report) -> Iterable[_Sheet]:
    result = report.result
    yield _Sheet("Summary", (("what", "text"), ("value", "text"), ("", "text")), _summary(report))
    yield _mismatches(report)
    yield _Sheet(
        "In flight",
        (("account", "text"), ("subject", "text"), ("becomes", "text"), ("breaks_at", "time")),
        ((each.account, each.subject, each.becomes, each.breaks_at) for each in result.in_flight),
    )
    yield _Sheet(
        "Healable",
        (("account", "text"), ("intent_key", "text"), ("refund_id", "text"), ("basis", "text")),
        ((each.account, each.intent_key, each.refund_id, each.basis) for each in result.healable),
    )
    yield _Sheet(
        "Rejected",
        (("source", "text"), ("row", "whole"), ("id", "text"), ("reason", "text")),
        ((each.source, each.row, each.id, each.reason) for each in result.rejected),
    )
    yield _Sheet("Counts", (("side", "text"), ("what", "text"), ("how_many", "whole")), _counts(report))
    if report.totals:
        yield _Sheet("Totals", _TOTALS, map(_total, report.totals))
    if report.bridge:
        yield _Sheet("Bridge", _BRIDGE, _bridge(report))
    if result.withheld:
        why = report.why_withheld
        columns: tuple[Column, ...] = (("account", "text"), ("subject", "text"), ("because", "text"))
        yield _Sheet("Withheld", columns, ((*pair, why.get(pair)) for pair in result.withheld))
    if report.comparison is not None:
        yield _Sheet("Compared", _COMPARED, map(_compared, report.comparison.subjects))


def _mismatches(report: Report) -> _Sheet:
    """Return the mismatches: the JSON's columns, but for the amount, which has three."""
    names = [name for name in documents.MISMATCH if name not in {"amount_at_risk", "currency", "since"}]
    columns: tuple[Column, ...] = (
        ("kind", "text"),
        ("certainty", "text"),
        *_AMOUNT,
        ("since", "time"),
        *((name, "text") for name in names[2:]),
    )

    def rows() -> Iterable[Sequence[Cell]]:
        for found in sorted(report.result.mismatches, key=_largest_first):
            told = documents.mismatch(found)
            risk = found.at_risk
            yield (
                str(found.kind),
                str(found.certainty),
                risk,
                risk.currency.upper(),
                risk.amount_minor,
                found.since,
                *(_plain(told[name]) for name in names[2:]),
            )

    return _Sheet("Mismatches", columns, rows())


def _largest_first(found: Mismatch) -> tuple[int, str, int, str, str]:
    """Return where a mismatch stands: by kind in report order, then the largest of each currency first."""
    risk = found.at_risk
    return _ORDER[found.kind], risk.currency, -risk.amount_minor, found.account, found.subject


def _plain(value: object) -> Cell:
    return " ".join(value) if isinstance(value, list) else None if value is None else str(value)


def _summary(report: Report) -> Iterable[Sequence[Cell]]:
    """Yield what the first lines of a report say, and how it was judged."""
    result = report.result
    yield "verdict", wording.VERDICTS[result.verdict], None
    yield "in words", verdicts.sentence(result), None
    yield "as of (UTC)", result.as_of, None
    for said in report.hints:
        yield "what may be wrong with the files", said, None
    for said in result.incomplete:
        yield "not read completely", said, None
    for said in () if report.comparison is None else verdicts.unseen(report.comparison):
        yield "since the earlier report", said, None
    for currency, amount in sorted(result.at_risk.items()):
        yield "at risk", Money(amount, currency), currency.upper()
    for side in (report.intents, report.refunds):
        yield from _side(side)
    yield "graces from", report.policy_from, None
    for name, value in policies.told(report.policy).items():
        yield name, value, None


def _side(side: Side) -> Iterable[Sequence[Cell]]:
    yield f"{side.name}: files", ", ".join(side.sources), None
    yield f"{side.name}: rows read", side.read, None
    yield f"{side.name}: earliest created (UTC)", side.first_at, None
    yield f"{side.name}: latest created (UTC)", side.last_at, None
    yield f"{side.name}: only a part", "no" if side.reading.complete else "yes", None
    if side.reading.from_at is not None:
        yield f"{side.name}: holds what was created since (UTC)", side.reading.from_at, None


def _counts(report: Report) -> Iterable[Sequence[Cell]]:
    """Yield the parts of each side, which add up to its last row; then every count of the result."""
    for name, parts in (
        ("rows of intents", sums.of_rows(report.intents)),
        ("rows of refunds", sums.of_rows(report.refunds)),
        ("intents", sums.of_intents(report)),
        ("refunds", sums.of_refunds(report)),
    ):
        for words, number in parts:
            yield name, words, number
        yield name, "together", sum(number for _, number in parts)
    for name, value in documents.counts(report.result.counts).items():
        if isinstance(value, int):
            yield "counts", name, value
    for kind, number in report.result.counts.mismatches.items():
        yield "mismatches", str(kind), number


_TOTALS: Final[tuple[Column, ...]] = (
    ("side", "text"),
    ("status", "text"),
    ("how_many", "whole"),
    ("amount", "amount"),
    ("currency", "text"),
)


_BRIDGE: Final[tuple[Column, ...]] = (
    ("line", "text"),
    ("of", "text"),
    ("how_many", "whole"),
    ("amount", "amount"),
    ("currency", "text"),
)


def _bridge(report: Report) -> Iterable[Sequence[Cell]]:
    """Yield the lines of each currency, then what stands on none."""
    for each in report.bridge:
        yield each.name, f"{each.of}s", each.number, each.amount, each.amount.currency.upper()
    for said in bridges.outside(report):
        yield said, None, None, None, None


def _total(each: Total) -> Sequence[Cell]:
    return each.side, wording.plain(each.status), each.number, each.amount, each.amount.currency.upper()


_COMPARED: Final[tuple[Column, ...]] = (
    ("standing", "text"),
    ("account", "text"),
    ("subject", "text"),
    ("earlier_kind", "text"),
    ("earlier_at_risk", "amount"),
    ("earlier_currency", "text"),
    ("kind", "text"),
    *_AMOUNT,
    ("now_is", "text"),
)


def _compared(each: Compared) -> Sequence[Cell]:
    before, now = _seen(each.before), _seen(each.now)
    minor = None if each.now is None else each.now.at_risk.amount_minor
    gone = None if each.now_is is None else str(each.now_is)
    return (str(each.standing), each.account, each.subject, *before, *now, minor, gone)


def _seen(seen: Seen | None) -> tuple[Cell, Cell, Cell]:
    return (
        (None, None, None) if seen is None else (str(seen.kind), seen.at_risk, seen.at_risk.currency.upper())
    )
