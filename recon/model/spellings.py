"""What people cannot tell apart in a name: characters without width or form, and spaces of several kinds.

Never changes what anybody sees.
"""

import re
import unicodedata

# What looks like ASCII: dashes, Greek and Cyrillic letters, the letters of mathematics, those of full width.
# Source: https://www.unicode.org/Public/security/latest/confusables.txt, those that differ by no stroke.
ALIKE = (
    "\u2010-\u2015\u2212\ufe58\ufe63"
    "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03c1"
    "\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c-\u041e\u0420-\u0423\u0425\u0430\u0435\u043e"
    "\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u04bb\u0501\u051a-\u051d"
    "\U0001d400-\U0001d7ff\uff01-\uff5e"
)
"""Characters, as a pattern lists them, that look like one of ASCII."""

# What has no width and no form wherever it stands, beside what Python calls white space.
# Source: Default_Ignorable_Code_Point of
# https://www.unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt
UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN = re.compile(f"[{UNSEEN}]")
_SEEMS_ASCII = re.compile(f"[ -~{ALIKE}]*")


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


def mimics(text: str) -> bool:
    """Return whether a text looks like another one in ASCII, or as its characters are mostly coded.

    Among letters of another alphabet, such as the rest of a Russian word, nobody takes one for ASCII.
    """
    return unicodedata.normalize("NFKC", text) != text or (
        not text.isascii() and _SEEMS_ASCII.fullmatch(text) is not None
    )


def revealed(text: str) -> str:
    """Return a text in which what nobody sees or takes for ASCII stands by its number: re_<U+200B>1."""
    told = "".join(each if each.isprintable() and not hides(each) else _number(each) for each in text)
    return "".join(map(_number_if_alike, told)) if _SEEMS_ASCII.fullmatch(told) else told


def _number_if_alike(character: str) -> str:
    return character if character.isascii() else _number(character)


def _number(character: str) -> str:
    return f"<U+{ord(character):04X}>"


def _is_unseen(character: str) -> bool:
    return character.isspace() or _HIDDEN.match(character) is not None
