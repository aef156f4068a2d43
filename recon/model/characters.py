"""What a stranger's text may hold to be kept or printed: what no database or terminal takes is replaced.

Never shortens or judges a text.
"""

import re
import unicodedata

# PostgreSQL keeps no NUL; half a surrogate pair, which JSON can spell, has no UTF-8.
_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")


def keepable(text: str) -> str:
    """Return the text with a replacement character for each one that cannot be kept."""
    return _UNKEEPABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def is_blank(text: str) -> bool:
    """Return whether nobody sees anything of a text: nothing but spaces, and what has no width or form."""
    return all(unicodedata.category(each)[0] in "CZ" for each in text)


def harmless(text: str) -> str:
    """Return one line of text without what a terminal would obey."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
