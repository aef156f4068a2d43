"""What a stranger's text may hold to be kept or printed: what no database or terminal takes is replaced.

Never shortens or judges a text.
"""

import re
import unicodedata

# PostgreSQL keeps no NUL; half a surrogate pair, which JSON can spell, has no UTF-8.
_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")

# Letters and marks by their category, and nothing to the eye: fillers, joiners, variation selectors. Source:
# https://www.unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt, Default_Ignorable_Code_Point;
# and the Braille pattern without a dot.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


def keepable(text: str) -> str:
    """Return the text with a replacement character for each one that cannot be kept."""
    return _UNKEEPABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def is_blank(text: str) -> bool:
    """Return whether nobody sees anything of a text: nothing but spaces, and what has no width or form."""
    return not seen(text)


def seen(text: str) -> str:
    """Return what somebody sees of a text: without spaces, and what has no width or form."""
    return "".join(each for each in _UNSEEN.sub("", text) if unicodedata.category(each)[0] not in "CZ")


def harmless(text: str) -> str:
    """Return one line of text without what a terminal would obey."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
