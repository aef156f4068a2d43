"""Which zone times without one may be in: the one that their header names, else those to be asked about.

Never takes a short name such as CET or CST for a zone: some of them are several, and half a year is another.
"""

import re
from collections.abc import Iterable

from recon.model import mapping
from recon.rules.mapping.names import UTC_NAMES, words

_PLACE = re.compile(r"[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z_-]+){1,2}")
_OFFSET = re.compile(
    r"(?:UTC|GMT) ?(?P<sign>[+\u2212-]) ?(?P<hours>\d{1,2})(?::?(?P<minutes>[0-5]\d))?(?!\d)", re.IGNORECASE
)
_LIKELY = ("UTC", "Europe/Berlin")
_MONTH_FIRST = ("%m/%d/", "%b %d", "%B %d")
# What a short name makes likely, and what words of a language do.
_SHORT = {
    **dict.fromkeys(("cet", "cest", "mez", "mesz"), "Europe/Berlin"),
    "bst": "Europe/London",
    **dict.fromkeys(("est", "edt"), "America/New_York"),
    **dict.fromkeys(("pst", "pdt"), "America/Los_Angeles"),
    "jst": "Asia/Tokyo",
}
_GERMAN = """
    angelegt erstellt erfasst datum zeitpunkt uhrzeit betrag erstattungsbetrag wahrung waehrung bestellung
    bestellnummer bestellnr auftragsnummer vorgangs vorgangsnummer erstattung erstattungs bemerkung kunde
    zahlungsreferenz bearbeitungsstatus sachbearbeiter
"""


def named(header: str) -> str | None:
    """Return the zone that a header says in full: Europe/Berlin, UTC or an offset from it; None for none."""
    offset = _OFFSET.search(header)
    told = [] if offset is None else [_offset(offset)]
    for zone in (*_PLACE.findall(header), *told):
        try:
            mapping.zone_of(zone)
        except ValueError:  # As in Date/Time.
            continue
        return str(zone)
    return "UTC" if not told and words(header) & set(UTC_NAMES) else None


def likely(sources: Iterable[str], headers: Iterable[str], formats: Iterable[str]) -> tuple[str, ...]:
    """Return the zones to ask about, likeliest first.

    sources: headers of the times, headers: of all. formats: of the times; where the month goes before the
    day, somebody in America wrote them.
    """
    short = [_SHORT[word] for source in sources for word in sorted(words(source)) if word in _SHORT]
    german = (
        ["Europe/Berlin"] if any(words(header).intersection(_GERMAN.split()) for header in headers) else []
    )
    american = any(each.startswith(_MONTH_FIRST) for each in formats)
    usual = ("UTC", "America/New_York") if american else _LIKELY
    return tuple(dict.fromkeys((*short, *german, *usual)))


def _offset(found: re.Match[str]) -> str:
    """Return an offset as a map spells it."""
    sign = "+" if found["sign"] == "+" else "-"
    return f"{sign}{int(found['hours']):02}:{found['minutes'] or '00'}"
