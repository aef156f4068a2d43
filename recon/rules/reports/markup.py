"""HTML that cannot become anything else: whatever a file says is text, on one line, in its own direction."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NewType

from recon.model.characters import harmless

Html = NewType("Html", str)

NOTHING = Html("")


def text(said: str) -> Html:
    """Return a text as HTML: nothing in it is obeyed."""
    return Html(escape(harmless(said)))


def foreign(said: str | None) -> Html:
    """Return text of a file as HTML: as `text` does, and it turns no other text around."""
    return Html(f"<bdi>{text(said)}</bdi>") if said else NOTHING


def joined(parts: Iterable[Html], between: str = "") -> Html:
    """Return parts one after the other."""
    return Html(between.join(parts))


def lines(parts: Iterable[Html]) -> Html:
    """Return parts below each other, without those that are nothing."""
    return joined([part for part in parts if part], "<br>")


def tag(name: str, *content: Html, **attributes: str | None) -> Html:
    """Return an element; an attribute that is None is left out, class_ is class, and _ in a name is -."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{told}>{''.join(content)}</{name}>")


def paragraph(said: str, kind: str | None = None) -> Html:
    """Return a paragraph of ours."""
    return tag("p", text(said), class_=kind)


def table(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[Html]], *, kind: str | None = None
) -> Html:
    """Return a table whose first cell of a row names the row.

    columns: headings; one that begins with > is of numbers, which stand at the right. It can be scrolled by
    keyboard where it is wider than the page.
    """
    right = [name.startswith(">") for name in columns]
    names = [name.removeprefix(">") for name in columns]
    head = joined(
        tag("th", text(name), scope="col", class_="n" if at_right else None)
        for name, at_right in zip(names, right, strict=True)
    )
    body = joined(tag("tr", joined(_cells(row, right))) for row in rows)
    whole = tag(
        "table",
        tag("caption", text(caption)),
        tag("thead", tag("tr", head)),
        tag("tbody", body),
        class_=kind,
    )
    return tag("div", whole, class_="scroll", role="region", tabindex="0", aria_label=caption)


def _cells(row: Sequence[Html], right: Sequence[bool]) -> Iterable[Html]:
    for place, (cell, at_right) in enumerate(zip(row, right, strict=True)):
        name, scope = ("td", None) if place else ("th", "row")
        yield tag(name, cell, scope=scope, class_="n" if at_right else None)
