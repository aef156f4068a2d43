"""What people cannot tell apart in a name: characters without width or form, and spaces of several kinds.

Never changes what anybody sees.
"""

import re
import unicodedata

# What has no width and no form wherever it stands, beside what Python calls white space.
# Source: Default_Ignorable_Code_Point of
# https://www.unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN = re.compile(f"[{_UNSEEN}]")


def seen(text: str) -> str:
    """Return a text without what nobody sees around it, and with plain spaces for those of other kinds."""
    first, last = 0, len(text)
    while first < last and _is_unseen(text[first]):
        first += 1
    while first < last and _is_unseen(text[last - 1]):
        last -= 1
    return "".join(" " if unicodedata.category(each) == "Zs" else each for each in text[first:last])


def hides(text: str) -> bool:
    """Return whether a text holds what has no width and no form, so that it looks like another text."""
    return _HIDDEN.search(text) is not None


def _is_unseen(character: str) -> bool:
    return character.isspace() or _HIDDEN.match(character) is not None
