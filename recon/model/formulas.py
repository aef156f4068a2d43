"""What a spreadsheet takes for the beginning of a formula, and how a cell is kept from being one.

Every CSV and every grid that can be exported asks here: a list of its own would forget a sign.
"""

from typing import Final

# The signs, the blanks that some programs skip before them, and their full-width twins. Sources: OWASP,
# https://owasp.org/www-community/attacks/CSV_Injection, and its ASVS 5, 1.2.10, for the NUL.
STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def defused(text: str) -> str:
    """Return the text, with an apostrophe in front where a spreadsheet would calculate it."""
    return f"'{text}" if text.startswith(STARTS) else text
