"""What a report's page says of everything that is no mismatch and no agreement, and why it is not."""

from collections.abc import Iterable, Sequence

from recon.model import phrases, subjects, wording
from recon.model.records.reports import Report
from recon.rules.reports import findings, markup
from recon.rules.reports.markup import Html

SHOWN = 100  # Rows of one sort; the other formats have them all.


def section(report: Report) -> Html:
    """Return each sort that there is any of; one sentence where there is none."""
    parts = [
        *_rejected(report),
        *_withheld(report),
        *_in_flight(report),
        *_healable(report),
        *_counted(report),
    ]
    return markup.joined(parts) if parts else markup.paragraph("Nothing: every row was judged.")


def _sort(
    title: str, why: str, columns: Sequence[str], rows: Iterable[Sequence[Html]], *, number: int, named: str
) -> list[Html]:
    """Return one sort with its heading, its reason, its rows, and where the others are."""
    parts = [markup.tag("h3", markup.text(f"{title}: {number:,}")), markup.paragraph(why)]
    parts.append(markup.table(title, columns, rows, kind="small"))
    if number > SHOWN:
        parts.append(markup.paragraph(f"And {number - SHOWN:,} more: {named} lists them all."))
    return parts


def _rejected(report: Report) -> list[Html]:
    rejected = report.result.rejected
    if not rejected:
        return []
    rows = (
        (
            markup.foreign(each.source),
            markup.text(f"{each.row:,}"),
            markup.foreign(each.id),
            markup.foreign(each.reason),
        )
        for each in rejected[:SHOWN]
    )
    why = "These rows cannot be read for what they are, so nothing is said of them. Mend them, compare again."
    columns = ("File", ">Row", "Id", "Why")
    return _sort("Rejected rows", why, columns, rows, number=len(rejected), named="--format json")


def _withheld(report: Report) -> list[Html]:
    withheld = report.result.withheld
    if not withheld:
        return []
    rows = (
        (*_subject(*pair), markup.text(phrases.opening(report.why_withheld.get(pair, ""))))
        for pair in withheld[:SHOWN]
    )
    why = (
        "Not judged: to say that something is missing or that nobody asked for it, everything must have been"
        " read that could show the contrary, and the rows that it rests on must be readable."
    )
    columns = ("Subject", "Account", "Because")
    return _sort("Withheld", why, columns, rows, number=len(withheld), named="--format xlsx")


def _in_flight(report: Report) -> list[Html]:
    flights = report.result.in_flight
    if not flights:
        return []
    rows = (
        (
            *_subject(each.account, each.subject),
            markup.text(wording.named(each.becomes)),
            markup.text(findings.at(report, each.breaks_at)),
        )
        for each in flights[:SHOWN]
    )
    why = "Nothing is wrong with these yet: they are younger than their grace."
    columns = ("Subject", "Account", "Becomes, if nothing changes", f"From ({report.zone_name})")
    return _sort("In flight", why, columns, rows, number=len(flights), named="--format json")


def _healable(report: Report) -> list[Html]:
    heals = report.result.healable
    if not heals:
        return []
    rows = (
        (
            *_subject(each.account, subjects.of_intent(each.intent_key)),
            markup.foreign(each.refund_id),
            markup.text(wording.plain(each.basis)),
        )
        for each in heals[:SHOWN]
    )
    why = "The provider's books prove what happened to these, though our records do not say it yet."
    columns = ("Subject", "Account", "Proved by refund", "Through")
    return _sort("Healable", why, columns, rows, number=len(heals), named="--format json")


def _counted(report: Report) -> list[Html]:
    """Return what is only counted, with what it means."""
    counts = report.result.counts
    told = (
        (counts.superseded, "row", "replaced by a later version of the same refund or intent"),
        (
            counts.system,
            "refund",
            "made by the provider itself, such as for a payment never captured: no intent is expected",
        ),
        (counts.unknown_status, "refund", "of a status that we do not know, taken as money that went out"),
        (
            counts.matched_inferred,
            "intent",
            "in agreement by inference alone: the same payment, amount and time, but no key",
        ),
        (
            counts.declared_repeats,
            "intent",
            "like another on the same payment, but said to be a repeat of its own by its reference",
        ),
    )
    said = (f"{phrases.several(number, noun)} {words}." for number, noun, words in told if number)
    items = [markup.tag("li", markup.text(each)) for each in said]
    if not items:
        return []
    return [markup.tag("h3", markup.text("Counted, and not listed")), markup.tag("ul", *items)]


def _subject(account: str, subject: str) -> tuple[Html, Html]:
    return markup.foreign(subject), markup.foreign(phrases.account(account))
