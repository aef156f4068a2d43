"""The mismatches of a report's page, by kind: what the kind means, its rows, and why each is one."""

from collections import Counter
from datetime import datetime

from recon.model import money, wording
from recon.model.records.reports import Report
from recon.model.records.results import Mismatch
from recon.model.records.words import Certainty, Kind
from recon.rules.reports import hours, markup, verdicts
from recon.rules.reports.markup import Html

SHOWN = 100  # Rows of one kind on a page: some seven printed sheets.
OPEN = 20  # Rows of one kind that are seen at once; the rest are unfolded.
_UNBROKEN = 40  # Characters of an id that stays on one line: the provider's have some 30.
_REFUNDS = 6  # Refund ids in one row; the CSV has them all.


def section(report: Report) -> Html:
    """Return every kind that has mismatches, in report order."""
    by_kind: dict[Kind, list[Mismatch]] = {}
    for each in report.result.mismatches:
        by_kind.setdefault(each.kind, []).append(each)
    return markup.joined(_kind(report, kind, by_kind[kind]) for kind in Kind if kind in by_kind)


def kind_link(kind: Kind) -> Html:
    """Return the kind's name as a link to its rows."""
    return markup.tag("a", markup.text(wording.named(kind)), href=f"#{kind}")


def at(report: Report, moment: datetime) -> str:
    """Return a time as the page says it everywhere, in the report's zone, to the minute."""
    return f"{hours.local(moment, report.zone):%Y-%m-%d %H:%M}"


def largest(found: list[Mismatch]) -> list[Mismatch]:
    """Return the SHOWN largest, of every currency alike, by currency and amount.

    Amounts of two currencies are not compared: the largest of each come before the second of any.
    """
    ordered = sorted(found, key=lambda each: (-each.at_risk.amount_minor, each.account, each.subject))
    place: Counter[str] = Counter()
    ranked = []
    for each in ordered:
        place[each.at_risk.currency] += 1
        ranked.append((place[each.at_risk.currency], each.at_risk.currency, each))
    ranked.sort(key=lambda rank: rank[:2])
    kept = sorted(ranked[:SHOWN], key=lambda rank: (rank[1], rank[0]))
    return [each for _, _, each in kept]


def _kind(report: Report, kind: Kind, found: list[Mismatch]) -> Html:
    shown = largest(found)
    parts = [
        markup.tag("h3", markup.text(f"{wording.named(kind)}: {verdicts.numbered(found)}"), id=kind),
        markup.paragraph(wording.MEANINGS[kind]),
        markup.paragraph(f"What to do: {wording.NEXT_STEPS[kind]}", "soft"),
        _table(report, kind, shown[:OPEN], "largest first" if len(found) > 1 else ""),
    ]
    rest = shown[OPEN:]
    if rest:
        parts.append(
            markup.tag(
                "details",
                markup.tag("summary", markup.text(f"{len(rest):,} more of this kind")),
                _table(report, kind, rest, "the rest"),
            )
        )
    if len(found) > len(shown):
        left = len(found) - len(shown)
        parts.append(markup.paragraph(f"And {left:,} more, of smaller amounts: --format csv lists them all."))
    return markup.joined(parts)


def _table(report: Report, kind: Kind, found: list[Mismatch], order: str) -> Html:
    caption = wording.KINDS[kind] + (f", per currency, {order}" if order else "")
    columns = ("What, and why", ">At risk", f"Since ({report.zone_name})", "Refunds")
    return markup.table(caption, columns, (_row(report, each) for each in found), kind="found")


def _row(report: Report, found: Mismatch) -> tuple[Html, ...]:
    amount = markup.tag("strong", markup.text(money.written(found.at_risk)))
    if found.certainty is Certainty.PROBABLE:
        probable = markup.tag("span", markup.text("probable"), class_="probable")
        amount = markup.lines([amount, probable])
    since = markup.tag("span", markup.text(at(report, found.since)), class_="when")
    return _about(found), amount, since, _refunds(found)


def _about(found: Mismatch) -> Html:
    """Return the subject, why it is one, and what else names it."""
    sort, _, name = found.subject.partition(":")
    told = {
        "order": found.order_id,
        "customer": found.customer_id,
        "payment": found.payment,
        "account": found.account,
    }
    lines = [
        markup.joined([markup.text(f"{sort} "), markup.tag("strong", markup.foreign(name))]),
        markup.foreign(found.why),
    ]
    named = [
        markup.joined([markup.text(f"{label} "), markup.foreign(said)])
        for label, said in told.items()
        if said
    ]
    if named:
        lines.append(markup.tag("span", markup.joined(named, ", "), class_="soft"))
    return markup.lines(lines)


def _refunds(found: Mismatch) -> Html:
    extra = set(found.extra_refund_ids)
    lines = []
    for each in found.refund_ids[:_REFUNDS]:
        said = markup.tag("span", markup.foreign(each), class_="id" if len(each) <= _UNBROKEN else None)
        if each in extra:
            said = markup.joined([said, markup.tag("span", markup.text(" extra"), class_="extra")])
        lines.append(said)
    if len(found.refund_ids) > _REFUNDS:
        lines.append(markup.text(f"and {len(found.refund_ids) - _REFUNDS:,} more"))
    return markup.lines(lines) if lines else markup.text("none")
