"""Bars as SVG, drawn by ourselves: they come with the page, need no script, and are read out as a table."""

from collections.abc import Sequence
from datetime import datetime

from recon.rules.reports import markup
from recon.rules.reports.hours import OF_DAY, Bars
from recon.rules.reports.markup import Html

_HEIGHT = 100  # Of a drawing, in units of its own; it is stretched to the room there is.
_LEAST = 1.5  # Of a bar that is not nothing: one among a thousand is still seen.
_FORMATS = {
    "hour": "%Y-%m-%d %H:00",
    "day": "%Y-%m-%d",
    "month": "%Y-%m",
    "year": "%Y",
    "century": "%Y and on",
}


def over_time(title: str, name: str, bars: Bars, zone: str, *, kind: str | None = None) -> Html:
    """Return one series of bars as a figure: a drawing, its scale, and its numbers as a table to unfold."""
    labels = [_label(start, bars.width) for start in bars.starts]
    return _figure(f"{title} by {bars.width} ({zone})", labels, bars.series[name], of=bars.width, kind=kind)


def over_day(title: str, counts: Sequence[int], zone: str, *, kind: str | None = None) -> Html:
    """Return the day's 24 hours as a figure."""
    labels = [f"{hour:02}:00" for hour in range(OF_DAY)]
    return _figure(f"{title} by hour of the day ({zone})", labels, counts, of="hour", kind=kind)


def _figure(title: str, labels: Sequence[str], counts: Sequence[int], *, of: str, kind: str | None) -> Html:
    most = max(counts, default=0)
    if not most:
        return markup.NOTHING
    busiest = labels[counts.index(most)]
    said = f"{title}: {sum(counts):,} in all, at most {most:,} in one {of}, {busiest}"
    caption = markup.tag("figcaption", markup.tag("strong", markup.text(title)), markup.text(_tail(said)))
    scale = markup.tag("span", markup.text(f"{most:,}"), class_="most", aria_hidden="true")
    ends = [labels[0], labels[len(labels) // 2], labels[-1]] if len(labels) > 2 else list(labels)  # noqa: PLR2004 - a middle needs three
    axis = markup.tag(
        "div",
        markup.joined(markup.tag("span", markup.text(each)) for each in ends),
        class_="axis",
        aria_hidden="true",
    )
    rows = [(markup.text(label), markup.text(f"{n:,}")) for label, n in zip(labels, counts, strict=True) if n]
    numbers = markup.tag(
        "details",
        markup.tag("summary", markup.text("The numbers")),
        markup.table(title, (of.capitalize(), ">How many"), rows, kind="small"),
        class_="numbers",
    )
    return markup.tag(
        "figure", caption, scale, _drawing(said, labels, counts, most), axis, numbers, class_=kind
    )


def _tail(said: str) -> str:
    return said[said.index(": ") :]


def _drawing(said: str, labels: Sequence[str], counts: Sequence[int], most: int) -> Html:
    """Return the bars; each is named by a title, which a browser shows where it is pointed at."""
    drawn = []
    for place, (label, n) in enumerate(zip(labels, counts, strict=True)):
        if n:
            height = max(_HEIGHT * n / most, _LEAST)
            drawn.append(
                f'<rect x="{place + 0.1:.1f}" y="{_HEIGHT - height:.1f}" width="0.8" height="{height:.1f}">'
                f"<title>{markup.text(label)}: {n:,}</title></rect>"
            )
    return Html(
        f'<svg viewBox="0 0 {len(counts)} {_HEIGHT}" preserveAspectRatio="none" role="img"'
        f' aria-label="{markup.text(said)}">{"".join(drawn)}</svg>'
    )


def _label(start: datetime, width: str) -> str:
    return start.strftime(_FORMATS[width])
