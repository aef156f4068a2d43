"""How each column that was found is to be read, and what only a person can say of it.

Never guesses a unit, a zone, a currency or the meaning of a word: those are questions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from recon.model import amounts as sorts
from recon.model import mapping, money
from recon.model.mapping import Column, Sign
from recon.model.records.maps import Choice, Line, Question, Stated, Sureness, Word
from recon.model.samples import Sample
from recon.rules.mapping import amounts, times, zones
from recon.rules.mapping.choosing import Found, cells_of, counted, telling, timed
from recon.rules.mapping.names import MAJOR, MINOR, NAMES, closeness, normal, words

_DEEP = 3  # Digits behind the mark, beyond which no currency goes.
_CURRENCIES = {"usd": "US dollars", "eur": "euros"}


@dataclass(slots=True)
class Drawn:
    """A file that is looked at, and what has been found so far."""

    sample: Sample
    side: str
    stated: Stated
    lines: list[Line] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    words: tuple[Word, ...] = ()
    zone: str = ""
    claimed: frozenset[str] = frozenset()
    """Columns that were found to be ours, drawn or not yet."""
    waiting: dict[str, Column] = field(default_factory=dict)
    """Times by a pattern, which mean nothing before somebody says their zone."""

    def line(self, ours: str, told: Column, found: Found, *doubts: str, sure: bool = False) -> None:
        """Add a line."""
        sureness = Sureness.SURE if sure or found.by_cells else Sureness.LIKELY
        self.lines.append(Line(ours, told, found.why, sureness, doubts=doubts))


def amount(drawn: Drawn, found: Found | None, tool: str | None) -> None:
    """Say how amounts are read, or ask for their unit; tool: what made them and counts in minor units."""
    if found is None:
        drawn.questions.append(_which_amount(drawn))
        return
    source = found.sources[0]
    cells = cells_of(drawn.sample, source)
    seen = amounts.look(cells)
    told = _as_written(source, seen)
    doubts = _amount_doubts(drawn.sample, source, seen, cells)
    unit, why = _unit(source, seen, drawn.stated, tool)
    if seen.either is not None and drawn.stated.unit is None:
        drawn.questions.append(_which_marks(source, told, seen))
        drawn.doubts += [f"{source}: {doubt}" for doubt in doubts]
    elif unit is None:
        drawn.questions.append(_which_unit(source, told, seen))
        drawn.doubts += [f"{source}: {doubt}" for doubt in doubts]
    else:
        name, told = _in_unit(told, unit)
        drawn.line(name, told, replace(found, why=why), *doubts, sure=True)


def currency(drawn: Drawn, found: Found | None, source_of_amount: str) -> None:
    """Say where the currency is, or ask for it."""
    if drawn.stated.currency:
        told = Column(missing=drawn.stated.currency)
        drawn.line("currency", told, Found((), "as you said"), sure=True)
    elif found is not None:
        drawn.line("currency", Column(found.sources), found, sure=True)
    elif (code := next(iter(words(source_of_amount) & set(money.EXPONENTS)), None)) is not None:
        drawn.line("currency", Column(missing=code), Found((), f"the name {source_of_amount} says so"))
    else:
        _currency_beside(drawn, amounts.look(cells_of(drawn.sample, source_of_amount)))


def _currency_beside(drawn: Drawn, seen: amounts.Written) -> None:
    """Say which currency stands beside each amount, or ask for it, that of some amounts first."""
    beside = " and ".join(seen.beside)
    if len(seen.currencies) == 1 and seen.signed == seen.count:
        (code,) = seen.currencies
        drawn.line("currency", Column(missing=code), Found((), f"{beside} stands beside each amount"))
        return
    likely = [*sorted(seen.currencies), *_CURRENCIES][: max(len(seen.currencies), len(_CURRENCIES))]
    choices = tuple(
        Choice(f"every row is in {_CURRENCIES.get(code, code.upper())}", {"currency": Column(missing=code)})
        for code in dict.fromkeys(likely)
    )
    text = "No column holds a currency: which one is it (or say --currency)?"
    if len(seen.beside) > 1 and not seen.currencies:
        text = (
            f"No column holds a currency, and beside amounts stand {beside}: export a column of currencies."
        )
    drawn.questions.append(Question("currency", text, choices))


def time(drawn: Drawn, ours: str, found: Found | None, *, utc: bool) -> bool:
    """Say how times are written; return whether they lack a zone that somebody has to say.

    utc: times without a zone are UTC anyway.
    """
    if found is None:
        if ours == "created_at":
            choices = tuple(
                Choice(f"rows were made at {source}", {ours: Column((source,))})
                for source in timed(drawn.sample, used(drawn))
            )
            text = "Which column holds the time at which a row was made? No name says so."
            drawn.questions.append(Question(ours, text, choices))
        return False
    source = found.sources[0]
    seen = times.look(cells_of(drawn.sample, source))
    if seen is None:
        drawn.line(ours, Column(found.sources), found)
        return False
    column = Column(found.sources, format=mapping.ISO if seen.format == "unix" else seen.format)
    zoneless = bool(seen.zoneless) and not utc
    if zoneless and (named := zones.named(source)) is not None:
        column, zoneless = replace(column, zone=named), False
    if seen.others and ours != "created_at":
        drawn.doubts.append(f"{source} is left out: its times can be read as {seen.format} and otherwise.")
        return False
    if seen.others:
        choices = tuple(
            Choice(f"read as {each}", {ours: replace(column, format=each)})
            for each in (seen.format, *seen.others)
        )
        text = f"The times in {source} can be read in {len(choices)} ways: which number is the month?"
        drawn.questions.append(Question(ours, text, choices))
        return zoneless
    if zoneless and column.format != mapping.ISO and not drawn.stated.zone:
        drawn.waiting[ours] = column
        drawn.doubts += [f"{source}: {doubt}" for doubt in _time_doubts(seen)]
    else:
        drawn.line(ours, column, found, *_time_doubts(seen), sure=seen.fits == seen.count)
    return zoneless


def zone(drawn: Drawn, sources: list[str]) -> None:
    """Say, or ask, which zone times without one are in; sources: where they are."""
    if drawn.stated.zone:
        drawn.zone = drawn.stated.zone
    elif sources:
        formats = [column.format for column in drawn.waiting.values()]
        choices = tuple(
            Choice(
                f"they are in {each}",
                {ours: replace(column, zone=each) for ours, column in drawn.waiting.items()},
                zone=each if len(sources) > len(drawn.waiting) else "",
            )
            for each in zones.likely(sources, drawn.sample.headers, filter(None, formats))
        )
        text = f"Times in {' and '.join(sources)} say no zone: which one are they in (or say --zone)?"
        drawn.questions.append(Question("zone", text, choices))


def plain(drawn: Drawn, known: Mapping[str, str]) -> None:
    """Mark the lines that say only what is read so without a map."""
    drawn.lines = [
        replace(line, plain=True)
        if known.get(line.ours) and line.told == Column((known[line.ours],))
        else line
        for line in drawn.lines
    ]


def used(drawn: Drawn) -> set[str]:
    """Return the columns that are read already."""
    return {source for line in drawn.lines for source in line.told.needs} | drawn.claimed


def _which_amount(drawn: Drawn) -> Question:
    """Ask which column holds the amount; each that could is an answer."""
    choices = tuple(
        choice
        for source in counted(drawn.sample, used(drawn))
        for choice in _as_amount(source, amounts.look(cells_of(drawn.sample, source)), drawn.stated)
    )
    named = [header for header in drawn.sample.headers if closeness(header, NAMES[drawn.side]["amount"])]
    cells = [cell for header in named for cell in cells_of(drawn.sample, header)]
    odd = f" {named[0]} holds {sorts.sort(cells[0])}: export it as plain numbers." if cells else ""
    return Question("amount", f"Which column holds the amount? No name and cells say so.{odd}", choices)


def _as_amount(source: str, seen: amounts.Written, stated: Stated) -> Iterator[Choice]:
    """Yield how a column could be the amount: in each style and unit that its cells and the person leave."""
    styles = [(seen.decimal, seen.thousands), *([seen.either] if seen.either is not None else [])]
    unit, _ = _unit(source, seen, stated, None)
    for decimal, thousands in styles:
        column = replace(_as_written(source, seen), decimal=decimal, thousands=thousands)
        how = f", 1{seen.decimal}234 read with {decimal!r} before its fraction" if len(styles) > 1 else ""
        for each in ("minor", "major") if unit is None else (unit,):
            name, told = _in_unit(column, each)
            yield Choice(f"it is {source}, in {each} units{how}", {name: told})


def key(drawn: Drawn, ours: str) -> None:
    """Ask which column tells rows apart."""
    choices = tuple(
        Choice(f"{source} is different in every row", {ours: Column((source,))})
        for source in telling(drawn.sample, used(drawn))
    )
    drawn.questions.append(Question(ours, "Which column tells rows apart? No name says so.", choices))


def _as_written(source: str, seen: amounts.Written) -> Column:
    """Return a column of amounts in the style and with the sign that all have."""
    sign = Sign.NEGATIVE if seen.negative and seen.negative == seen.read else Sign.POSITIVE
    return Column(
        (source,),
        decimal=seen.decimal,
        thousands=seen.thousands,
        sign=sign,
        currency_sign=bool(seen.signed),
    )


def _unit(source: str, seen: amounts.Written, stated: Stated, tool: str | None) -> tuple[str | None, str]:
    """Return the unit of amounts and what says so; None where nothing does."""
    if stated.unit is not None:
        return stated.unit, f"{stated.unit} units, as you said"
    if tool is not None:
        return "minor", f"minor units, as in every table of {tool}"
    said = words(source)
    by_name = "minor" if said & set(MINOR) or normal(source).endswith("_in_cents") else None
    by_name = "major" if by_name is None and said & set(MAJOR) else by_name
    below = ", all below zero" if seen.negative and seen.negative == seen.read else ""
    told = f"{seen.decimals} of {seen.count} have decimals{below}"
    if seen.decimals and by_name != "minor":
        return "major", f"{told}: major units"
    if by_name is None and 0 < seen.signed == seen.count:
        return "major", "a currency stands beside each: major units"
    if by_name is not None and not (by_name == "minor" and seen.decimals):
        return by_name, f"its name says {by_name} units, and {told}"
    return None, ""


def _in_unit(column: Column, unit: str) -> tuple[str, Column]:
    """Return the name by which an amount says its unit, and its column; beside cents stands no sign."""
    return ("amount", column) if unit == "major" else ("amount_minor", replace(column, currency_sign=False))


def _which_unit(source: str, column: Column, seen: amounts.Written) -> Question:
    """Ask for the unit."""
    whole = seen.count - seen.decimals
    choices = (
        Choice("4900 is 49.00: minor units", dict([_in_unit(column, "minor")])),
        Choice("4900 is 4900.00: major units", {"amount": column}),
    )
    text = (
        f"Are the amounts in {source} in minor or in major units? {whole} of {seen.count} have no decimals,"
        " so they could be either (or say --unit)."
    )
    return Question("amount", text, choices)


def _which_marks(source: str, column: Column, seen: amounts.Written) -> Question:
    """Ask what the mark in an amount is."""
    assert seen.either is not None
    decimal, thousands = seen.either
    other = replace(column, decimal=decimal, thousands=thousands)
    choices = (
        Choice(f"1{thousands}234 is one thousand", {"amount": other}),
        Choice(f"1{seen.decimal}234 is one and a fraction", {"amount": column}),
    )
    text = f"Each {seen.decimal!r} in {source} stands before three digits: thousands or a fraction?"
    return Question("amount", text, choices)


def _amount_doubts(
    sample: Sample, source: str, seen: amounts.Written, cells: list[object]
) -> tuple[str, ...]:
    """Return what is odd about amounts."""
    found = []
    unread = seen.count - seen.read
    if unread:
        odd = next(cell for cell in cells if not amounts.reads(seen, cell))
        found.append(f"{unread} of {seen.count} are written otherwise, such as {sorts.sort(odd)}.")
    if seen.beside:
        found.append(
            f"{seen.signed} of {seen.count} have a currency beside them"
            f" ({', '.join(seen.beside)}): each is read where it is its row's, and rejected where not."
        )
    if 0 < seen.negative < seen.read:
        found.append(
            f'{seen.negative} of {seen.count} are below zero: sign = "either" takes them as refunds, a where'
            " keeps them out."
        )
    if seen.longest > _DEEP:
        found.append(
            f"Some have {seen.longest} digits behind the {seen.decimal!r}, more than any currency has."
        )
    taxes = [name for name in sample.headers if {"tax"} & words(name) and "amount" in words(name)]
    if taxes and "amount" in words(source):
        found.append(f"If {taxes[0]} comes on top of it, say sum = [...] instead of column.")
    return tuple(found)


def _time_doubts(seen: times.Written) -> tuple[str, ...]:
    """Return what is odd about times."""
    found = []
    if seen.dates:
        found.append(f"{seen.dates} of {seen.count} say no time of day and count as midnight.")
    if seen.fits < seen.count:
        found.append(f"{seen.count - seen.fits} of {seen.count} are written otherwise.")
    return tuple(found)
