"""Text that other people wrote, made fit to be looked at.

Order ids, keys, reasons and names come from files, providers and people. They are shown with st.text or in
the cells of a grid, never as markdown or HTML, and only after they went through here.
"""

import re
import unicodedata
from typing import Final

from recon.model import formulas

ABSENT: Final = "—"  # Shown where a record has no value.
CELL_LIMIT: Final = 200  # Characters: a longer id is noise on a page, and its end is cut with an ellipsis.
TEXT_LIMIT: Final = 2_000  # Characters: the longest reason that the desk takes.

JOINER: Final = "\N{WORD JOINER}"
# Whatever means something in markdown or to Streamlit, which has colors, icons and formulas of its own.
MARKDOWN: Final = re.compile(r"([!-/:-@\[-`{-~])")


def _visible(character: str) -> str:
    if character == "\n" or unicodedata.category(character) not in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}:
        return character
    return f"[U+{ord(character):04X}]"


def text(value: object, *, limit: int = TEXT_LIMIT) -> str:
    """Return the value with control, direction and invisible characters spelled out, cut at the limit."""
    if value is None or value == "":
        return ABSENT
    raw = str(value)
    shown = "".join(map(_visible, raw[:limit]))
    return shown + "…" if len(raw) > limit else shown


def line(value: object, *, limit: int = CELL_LIMIT) -> str:
    """Return the value as `text`, on one line and short."""
    return text(None if value is None else str(value).replace("\n", " "), limit=limit)


def plain(value: object, *, limit: int = CELL_LIMIT) -> str:
    """Return the value as `line` for a label or a table's cell, where markdown works, so that it is none.

    An address would be made a link whatever is escaped in it: a sign without width takes it apart.
    """
    shown = line(value, limit=limit)
    for part in ("//", ".", "@"):
        shown = shown.replace(part, f"{JOINER}{part}")
    return MARKDOWN.sub(r"\\\1", shown)


def cell(value: object) -> str:
    """Return the value as `line`, and so that a spreadsheet that opens an exported grid sees text."""
    return formulas.defused(line(value))
