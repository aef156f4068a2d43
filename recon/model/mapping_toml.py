"""The TOML of a map: what `mapping` documents, read and written; what was written reads back as it was.

Never opens a file, and never takes a word that it does not know.
"""

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from recon.model import documents, mapping, mapping_lines, mapping_values
from recon.model.dtypes import KEYS, OURS, REFUNDS, TIME
from recon.model.errors import UnusableInput
from recon.model.mapping import Case, Column, Filter, Map, Side, Sign, Unanswered

_AMOUNTS = ("amount", "amount_minor")
_OF_TEXTS = ("column", "constant", "missing", "case", "words")
_OF_AMOUNTS = ("column", "constant", "sum", "sign", "decimal", "thousands")
_OF_MAJOR = (*_OF_AMOUNTS, "currency_sign")  # Nobody writes a sign beside cents.
_OF_TIMES = ("column", "constant", "format", "zone")
# What a side's table may hold that is no column of ours; recon.toml's [intents] takes these as well.
SECTIONS = ("columns", "constants", "statuses", "amount_unit", "where", "empty", "zone")
_UNITS = ("minor", "major")
Wrong = Callable[..., Exception]
_Value = TypeVar("_Value")


def read(text: str, *, file: str) -> Map:
    """Return what a map's text says.

    Raises:
        UnusableInput: it is no TOML or no map; the text names file, line, table and key.
    """
    try:
        document = documents.read(text, file=file)
    except tomllib.TOMLDecodeError as error:
        raise UnusableInput(f"{file} {mapping_lines.unread(text, str(error))}.") from None
    sides: dict[str, Side] = {}
    for name, table in document.items():
        if name not in OURS or not isinstance(table, Mapping):
            raise UnusableInput(
                f"{file} must hold the tables [intents] and [refunds]; found {name!r:.60} as well."
            )
        sections = (table.get(section) for section in ("columns", "constants"))
        there = {*table, *(ours for one in sections if isinstance(one, Mapping) for ours in one)}
        asked = mapping_lines.unanswered(text, name, there)
        open_ = tuple(Unanswered(file, each.line, tuple(each.names)) for each in asked)
        sides[name] = replace(side(name, table, _wrong_in(document, name)), unanswered=open_)
    if not sides:
        raise UnusableInput(f"{file} must hold the tables [intents] and [refunds]; found neither.")
    return Map(**sides)


def _wrong_in(document: documents.Document, name: str) -> Wrong:
    """Return what makes the errors of one side: each with its file, line, table and key."""

    def wrong(reason: object, *keys: str) -> UnusableInput:
        named = f"{reason}" if not keys else f"{'.'.join(keys)} {reason}"
        return UnusableInput(str(documents.error(document, f"{named}.", name, *keys, title=f"[{name}]")))

    return wrong


def side(name: str, table: Mapping[str, object], wrong: Wrong) -> Side:
    """Return one side of a map, from its table.

    name: "intents" or "refunds". wrong: makes the error that is raised, of a reason and the keys that it is
    about; the reason goes after the keys.
    """
    told = _told(name, table, wrong)
    columns: dict[str, Column] = {}
    for ours, (value, keys) in told.items():
        try:
            columns[ours] = column(name, ours, value)
        except ValueError as error:
            raise wrong(error, *keys) from None
    columns |= _statuses(name, table, columns, wrong)
    if "amount_unit" in table:
        columns = _in_unit(columns, table["amount_unit"], wrong)
    for ours, each in columns.items():
        told_by = mapping.directives(each.format)
        if told_by and "z" not in told_by and not (each.zone or table.get("zone")):
            reason = "must have a zone, or %z in its format: nobody knows when else that is"
            raise wrong(reason, *told[ours][1])
    if set(_AMOUNTS) <= set(columns) and set(columns["amount"].needs) & set(columns["amount_minor"].needs):
        reason = "must not name the column that amount_minor names: the units differ"
        raise wrong(reason, *told["amount"][1])
    return Side(
        columns,
        _read(filters, "where", table.get("where", []), wrong),
        _read(empties, "empty", table.get("empty", []), wrong),
        _read(zone, "zone", table.get("zone", ""), wrong),
    )


def column(side: str, name: str, value: object) -> Column:
    """Return how one of our columns is read, from the value that a map gives it.

    Raises:
        ValueError: it is none; the text goes after the column's name.
    """
    if name not in OURS[side]:
        raise ValueError(f"is none of our columns: {', '.join(OURS[side])}")
    table = value if isinstance(value, Mapping) else {"column": value}
    allowed = _settings(side, name)
    strange = sorted(set(table) - set(allowed))
    if strange:
        raise ValueError(f"has no setting {strange[0]!r:.60}; its settings are {', '.join(allowed)}")
    origins = [word for word in ("column", "constant", "sum") if word in allowed]
    told = [word for word in origins if word in table]
    if len(told) != 1:
        raise ValueError(f"must have one of {', '.join(origins)}")
    if "constant" in table and len(table) > 1:
        raise ValueError("must have nothing beside its constant")
    if "missing" in table and name in KEYS.values():
        raise ValueError("must not say what stands for a missing one: it tells rows apart")
    decimal, thousands = mapping_values.marks(table)
    return Column(
        sources=mapping_values.names(table["column"], "column") if "column" in table else (),
        missing=mapping_values.standing(side, name, table.get("constant", table.get("missing"))),
        sums=mapping_values.names(table["sum"], "sum") if "sum" in table else (),
        sign=mapping_values.one_of(Sign, "sign", table.get("sign", Sign.POSITIVE)),
        decimal=decimal,
        thousands=thousands,
        currency_sign=mapping_values.flag("currency_sign", table.get("currency_sign", False)),
        case=mapping_values.one_of(Case, "case", table.get("case", Case.KEPT)),
        words=words(side, name, table.get("words", {})),
        format=mapping_values.time_format(table.get("format", mapping.ISO)),
        zone=zone(table.get("zone", "")),
    )


def words(side: str, name: str, value: object) -> Mapping[str, str]:
    """Return their words to ours.

    Raises:
        ValueError: ours are none of our words; the text goes after the column's name.
    """
    if not isinstance(value, Mapping) or not all(isinstance(ours, str) for ours in value.values()):
        raise ValueError("must map each of their words to one of ours, both texts")
    if len(value) > mapping_values.LIMIT:
        raise ValueError(f"must map {mapping_values.LIMIT} words at most")
    for ours in value.values():
        mapping_values.check_word(side, name, ours)
    return dict(value)


def filters(value: object) -> tuple[Filter, ...]:
    """Return which rows are read.

    Raises:
        ValueError: the value is no list of filters; the text goes after the key's name.
    """
    example = 'must be a list of tables such as { column = "type", is = "refund" }, with is or is_not'
    if not isinstance(value, list) or len(value) > mapping_values.LIMIT:
        raise ValueError(example)
    found = []
    for each in value:
        if not isinstance(each, Mapping) or set(each) not in ({"column", "is"}, {"column", "is_not"}):
            raise ValueError(example)
        told = each.get("is", each.get("is_not"))
        listed = (told,) if isinstance(told, str) else told
        names = mapping_values.names(each["column"], "column")
        if (
            len(names) != 1
            or not isinstance(listed, list | tuple)
            or not listed
            or not mapping_values.all_texts(listed)
        ):
            raise ValueError(example)
        found.append(Filter(names[0], tuple(listed), keep="is" in each))
    return tuple(found)


def empties(value: object) -> tuple[str, ...]:
    """Return the cells that hold nothing.

    Raises:
        ValueError: the value is no list of texts; the text goes after the key's name.
    """
    if isinstance(value, list) and mapping_values.all_texts(value) and len(value) <= mapping_values.LIMIT:
        return tuple(value)
    raise ValueError('must be a list of texts such as ["NULL", "-"]')


def zone(value: object) -> str:
    """Return the name of a zone; "" is none.

    Raises:
        ValueError: there is no such zone; the text goes after the key's name.
    """
    if value == "":
        return ""
    if isinstance(value, str):
        mapping.zone_of(value)
        return value
    raise ValueError("must be a zone such as UTC, Europe/Paris or +05:30")


def _told(name: str, table: Mapping[str, object], wrong: Wrong) -> dict[str, tuple[object, tuple[str, ...]]]:
    """Return what is said of each of our columns, and under which keys, in either form."""
    found: dict[str, tuple[object, tuple[str, ...]]] = {
        ours: (value, (ours,)) for ours, value in table.items() if ours not in SECTIONS
    }
    if name == REFUNDS and "payment" in found and "payment_intent" not in found:
        found["payment_intent"] = found.pop("payment")  # What intents call it.
    for section in ("columns", "constants"):
        inner = table.get(section, {})
        if not isinstance(inner, Mapping):
            raise wrong("must be a table, one entry for each of our columns", section)
        for ours, value in inner.items():
            if ours in found:
                raise wrong("is said twice", section, ours)
            if section == "constants" and not isinstance(value, str):
                raise wrong("must be the text that stands in every row", section, ours)
            found[ours] = (value if section == "columns" else {"constant": value}, (section, ours))
    return found


def _statuses(
    side: str, table: Mapping[str, object], columns: Mapping[str, Column], wrong: Wrong
) -> dict[str, Column]:
    """Return the status column with the words that a table of its own gives it; empty where there is none."""
    if "statuses" not in table:
        return {}
    known = columns.get("status", Column(sources=("status",)))
    if known.words or not known.sources:
        raise wrong("must not be there where status has words or a constant", "statuses")
    try:
        return {"status": replace(known, words=words(side, "status", table["statuses"]))}
    except ValueError as error:
        raise wrong(error, "statuses") from None


def _in_unit(columns: Mapping[str, Column], unit: object, wrong: Wrong) -> dict[str, Column]:
    """Return the columns with the amount under the name that says its unit."""
    if unit not in _UNITS:
        raise wrong(f"must be one of {', '.join(_UNITS)}", "amount_unit")
    if "amount_minor" not in columns or "amount" in columns:
        raise wrong("is the unit of amount_minor, which must be mapped, and amount not", "amount_unit")
    if unit == "minor":
        return dict(columns)
    return {"amount" if ours == "amount_minor" else ours: each for ours, each in columns.items()}


def _read(reader: Callable[[object], _Value], key: str, value: object, wrong: Wrong) -> _Value:
    """Return a key of a side as a reader takes it."""
    try:
        return reader(value)
    except ValueError as error:
        raise wrong(error, key) from None


def _settings(side: str, name: str) -> tuple[str, ...]:
    """Return what may be said of a column."""
    if name in _AMOUNTS:
        return _OF_MAJOR if name == "amount" else _OF_AMOUNTS
    if OURS[side][name] == TIME:
        return _OF_TIMES
    return ("column", "case") if name in KEYS.values() else _OF_TEXTS


# Writing.


def written(told: Map) -> str:
    """Return a map as TOML that `read` takes; a side of which nothing is said is left out."""
    parts = []
    for name in OURS:
        lines = _written_side(told.side(name))
        if lines:
            parts.append("\n".join([f"[{name}]", *lines]))
    return "\n\n".join(parts) + "\n" if parts else ""


def written_column(name: str, told: Column) -> str:
    """Return one line of TOML that says how one of our columns is read."""
    settings = _written_settings(told)
    if list(settings) == ["column"]:
        return f"{name} = {settings['column']}"
    return f"{name} = {_table(settings)}"


def text(value: str) -> str:
    """Return a text as TOML writes it."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _written_side(side: Side) -> list[str]:
    """Return the lines of one side."""
    lines = [f"zone = {text(side.zone)}"] if side.zone else []
    if side.empty:
        lines.append(f"empty = {_list(side.empty)}")
    if side.filters:
        each = (
            _table({"column": text(one.column), "is" if one.keep else "is_not": _one_or_list(one.words)})
            for one in side.filters
        )
        lines.append(f"where = [{', '.join(each)}]")
    return [*lines, *(written_column(name, told) for name, told in side.columns.items())]


def _written_settings(told: Column) -> dict[str, str]:
    """Return what differs from what is meant without a word, as TOML."""
    plain = Column()
    found: dict[str, str] = {}
    if told.sources:
        found["column"] = _one_or_list(told.sources)
    if told.sums:
        found["sum"] = _list(told.sums)
    if told.missing is not None:
        found["missing" if told.sources else "constant"] = text(told.missing)
    for name in ("sign", "decimal", "thousands", "case", "format", "zone"):
        value = getattr(told, name)
        if value != getattr(plain, name):
            found[name] = text(str(value))
    if told.currency_sign:
        found["currency_sign"] = "true"
    if told.words:
        found["words"] = _table({text(theirs): text(ours) for theirs, ours in told.words.items()})
    return found


def _one_or_list(values: tuple[str, ...]) -> str:
    return text(values[0]) if len(values) == 1 else _list(values)


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(map(text, values))}]"


def _table(entries: Mapping[str, str]) -> str:
    return f"{{ {', '.join(f'{name} = {value}' for name, value in entries.items())} }}"
