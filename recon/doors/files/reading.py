"""Intents and refunds from files: .csv, .tsv, .json, .jsonl and .parquet, packed or not, or standard input.

A source's walk: its bytes, rows with their numbers, our columns as a map names them, a part of a frame; all
parts of a side then become one frame. Never guesses: cells of a CSV stay text, numbers of a JSON stay exact,
and a file that is not what its suffix says is refused. A line that cannot be read is a reject, with its row.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc

from recon.doors.files import documents, sources, tables
from recon.doors.files.formats import FileFormat
from recon.doors.files.pieces import Piece, Reading
from recon.doors.files.sources import Source
from recon.model import (
    amounts,
    cells,
    clocks,
    columns,
    disguises,
    dtypes,
    frames,
    layout,
    mapping_toml,
    meanings,
)
from recon.model.columns import INTENTS, REFUNDS
from recon.model.disguises import Sort
from recon.model.errors import UnusableInput
from recon.model.frames import Intake
from recon.model.layout import Named
from recon.model.mapping import EMPTY, NOTHING, Column, Map
from recon.model.phrases import several
from recon.model.records.results import Reject
from recon.model.sheets import Part

Sources = str | Path | Sequence[str | Path]  # A path, a pattern, "-" for standard input, or several of them.

_READERS: Mapping[FileFormat, Callable[[Source, Reading], Iterator[Piece]]] = {
    FileFormat.CSV: tables.csv,
    FileFormat.JSON: documents.json,
    FileFormat.JSONL: documents.json_lines,
    FileFormat.PARQUET: tables.parquet,
}
_WORDS_SAID = 20
_HEAD = max(map(len, columns.OTHER_IDS))
# What a map can say of rows that were rejected for the way they are written.
_ADVICE = {
    amounts.NEGATIVE: 'sign = "negative" where all are, sign = "either" where some are',
    amounts.SEPARATED: "decimal and thousands",
    amounts.SIGNED: "currency_sign = true",
    clocks.MILLISECONDS: 'format = "unix_ms"',
}


def read_intents(named: Sources, told: Map | None = None, *, format_: FileFormat | None = None) -> Intake:
    """Return the intents of one file or of several.

    told: what a map says. format_: what the files are, where their names do not say.

    Raises:
        UnusableInput: a file cannot be read as what it is said to be, has none of the columns that intents
            need, or words that the map does not know.
    """
    return _side(named, INTENTS, told or EMPTY, format_)


def read_refunds(named: Sources, told: Map | None = None, *, format_: FileFormat | None = None) -> Intake:
    """Return the refunds of one file or of several, flat rows or the provider's own objects.

    Raises:
        UnusableInput: as for intents; or a file holds no refunds but something else.
    """
    return _side(named, REFUNDS, told or EMPTY, format_)


def read_mapping(path: Path) -> Map:
    """Return what a map's file says; `recon.model.mapping` has its form.

    Raises:
        UnusableInput: no such file, no TOML, or no map.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:  # Missing, a directory, not ours to read.
        raise UnusableInput(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UnusableInput(f"{path} must be a TOML file: it is no UTF-8.") from None
    return mapping_toml.read(text, file=str(path))


def _side(named: Sources, side: str, told: Map, format_: FileFormat | None) -> Intake:
    """Return one side out of all its sources."""
    listed = [named] if isinstance(named, str | Path) else list(named)
    found = sources.resolve(listed, format_)
    parts: list[Part] = []
    refused: list[Reject] = []
    readings: list[tuple[Source, Reading]] = []
    for source in found:
        reading = Reading(side, told.side(side), _known(side, told), Named(source.label))
        readings.append((source, reading))
        begun = len(parts)
        for piece in _READERS[source.format](source, reading):
            reading.rows += len(piece.raw) + len(piece.refusals) + piece.left_out
            reading.filtered += piece.left_out
            parts.append(_part(piece, source, side))
            _look_closely(reading, piece, parts[-1])
            if side == INTENTS and parts[-1].rejects:
                _meet_statuses(reading, piece)
            refused += _refused(piece, source)
        if side == REFUNDS:
            _check_ids(source, parts[begun:])
    if not parts:
        parts.append(_part(Piece(NOTHING, pd.DataFrame()), found[0], side))
    _meet(parts, told, side)
    intake = frames.settled(side, parts)
    rejects = _placed([*intake.rejects, *refused], readings)
    left_out = sum(reading.filtered + reading.left_out.total() for _, reading in readings)
    incomplete = [
        f"{source.name}: {reading.incomplete}" for source, reading in readings if reading.incomplete
    ]
    incomplete += _emptied(side, readings)
    return replace(
        intake,
        rejects=tuple(rejects),
        incomplete="; ".join(incomplete) or None,
        notes=(*_notes(readings), *_advice(rejects), *_without_status(intake, side)),
        left_out=left_out,
        sources=tuple(source.name for source in found),
        read=sum(reading.rows + reading.left_out.total() for _, reading in readings),
    )


def _known(side: str, told: Map) -> frozenset[str]:
    """Return the headers that are likely to be found, in lower case."""
    mapped = (source for column in told.side(side).columns.values() for source in column.needs)
    return frozenset(name.lower() for name in (*dtypes.OURS[side], *columns.LIKELY[side], *mapped))


def _part(piece: Piece, source: Source, side: str) -> Part:
    """Return a piece's rows as a part of the side's frame."""
    read = frames.part_of_intents if side == INTENTS else frames.part_of_refunds
    return read(piece.raw, source=source.name, how=piece.how)


def _look_closely(reading: Reading, piece: Piece, part: Part) -> None:
    """Note which ids of a part are not what they look like."""
    for sort, each in disguises.look(reading.side, part, piece.how.columns).items():
        reading.disguised[sort] = disguises.both(reading.disguised.get(sort), each)


def _meet_statuses(reading: Reading, piece: Piece) -> None:
    """Note which words of a status are none of ours, where no map says what they mean."""
    how = piece.how.columns.get("status", Column())
    if "status" in piece.raw and not how.words:
        reading.words.update(meanings.strangers(piece.raw["status"], how, reading.side))


def _check_ids(source: Source, parts: Iterable[Part]) -> None:
    """Refuse a source whose ids all say that they are another object's of the provider."""
    named = [part.columns["id"] for part in parts if len(part.rows)]
    if not named or not _begins(str(named[0][0])):
        return
    heads = {head for ids in named for head in pc.unique(pc.utf8_slice_codeunits(ids, 0, _HEAD)).to_pylist()}
    found = {_begins(head) for head in heads}
    if len(found) == 1:
        begins = found.pop()
        raise UnusableInput(
            f"{source.label} holds no refunds: all its ids begin with {begins}, as those of"
            f" {columns.OTHER_IDS[begins]} do; export refunds, or refund.* events, instead."
        )


def _begins(text: str) -> str:
    """Return how an id of another object of the provider's begins; "" where it does not begin so."""
    return next((begins for begins in columns.OTHER_IDS if text.startswith(begins)), "")


def _refused(piece: Piece, source: Source) -> Iterable[Reject]:
    """Return what is no row at all as rejects."""
    return (
        Reject(source=source.name, row=row, id=refusal.id, reason=refusal.reason)
        for row, refusal in piece.refusals.items()
    )


def _meet(parts: Iterable[Part], told: Map, side: str) -> None:
    """Refuse words that a map with words of its own does not know."""
    strange: dict[tuple[str, str], Counter[str]] = {}
    for part in parts:
        for column, words in part.strangers.items():
            if words:
                strange.setdefault((part.source, column), Counter()).update(words)
    for (source, column), counted in strange.items():
        listed = ", ".join(
            f"{cells.shown(word)} ({count})" for word, count in counted.most_common(_WORDS_SAID)
        )
        more = f" and {len(counted) - _WORDS_SAID} more" if len(counted) > _WORDS_SAID else ""
        theirs = " or ".join(map(cells.shown, told.side(side).columns[column].needs)) or column
        raise UnusableInput(
            f"{source} has words in {theirs} that the map's {column}.words does not know: {listed}{more}."
            " Add each with the word of ours that it means."
        )


def _placed(rejects: Iterable[Reject], readings: Iterable[tuple[Source, Reading]]) -> list[Reject]:
    """Return rejects by source and row, each with the line that it is on where its source has lines."""
    found: list[Reject] = []
    ordered = sorted(rejects, key=lambda reject: (reject.source, reject.row))
    for source, reading in sorted(readings, key=lambda one: one[0].name):
        mine = [reject for reject in ordered if reject.source == source.name]
        if mine and reading.places is not None:
            lines = reading.places({reject.row for reject in mine})
            mine = [replace(each, reason=f"{each.reason} (line {lines[each.row]})") for each in mine]
        found += mine
    return found


def _notes(readings: Iterable[tuple[Source, Reading]]) -> list[str]:
    """Return what the sources tell people."""
    found = []
    for source, reading in readings:
        found += [f"{source.name}: {note}" for note in reading.notes]
        found += [f"{source.name}: {what} left out." for what in reading.told_left_out()]
        found += [f"{source.name}: {what}." for what in reading.told_filtered()]
        found += [f"{source.name}: {what}" for what in _told_disguised(reading)]
        found += [f"{source.name}: {what}" for what in _told_words(reading)]
    return found


def _emptied(side: str, readings: Sequence[tuple[Source, Reading]]) -> list[str]:
    """Return why a side of which the filters keep nothing is no side that was read; else nothing.

    A wrong word in a filter and an hour in which nothing happened look alike.
    """
    rows = sum(reading.rows for _, reading in readings)
    if not rows or sum(reading.filtered for _, reading in readings) < rows:
        return []
    filters = {each.column: None for _, reading in readings for each in reading.told.filters}
    none = "do not keep the only row" if rows == 1 else f"keep none of the {rows:,} rows"
    by = " and ".join(map(cells.shown, filters))
    return [f"the map's filters by {by} {none} of {side}, so nothing of this side was compared"]


def _told_disguised(reading: Reading) -> list[str]:
    """Return what to say of ids that are not what they look like, each sort with the first one's place."""
    found = [(sort, reading.disguised[sort]) for sort in Sort if sort in reading.disguised]
    rows = {each.row for _, each in found}
    lines = reading.places(rows) if rows and reading.places is not None else {}
    return [disguises.told(sort, each, lines.get(each.row)) for sort, each in found]


def _told_words(reading: Reading) -> list[str]:
    """Return what a map has to say of the words of a status that are none of ours."""
    if not 0 < len(reading.words) <= meanings.FEW:
        return []
    how = layout.of(reading.named.names, reading.side, reading.told).side.columns.get("status", Column())
    said = meanings.worded(how, reading.words, reading.side)
    rows = several(reading.words.total(), "row")
    told = f"{rows} rejected for a status in words that are none of ours; a map for --columns says what each"
    told += f" means: {mapping_toml.written_column('status', said)}. Look at each"
    ours = ", ".join(meanings.OURS[reading.side])
    return [f"{told}, and put one of {ours} where ? is." if "?" in said.words.values() else f"{told}."]


def _without_status(intake: Intake, side: str) -> list[str]:
    """Return what to say of refunds that have no status, as none had before 2015."""
    count = int(intake.frame["status"].isna().sum()) if side == REFUNDS else 0
    if not count:
        return []
    counted = f"{several(count, 'row')} without a status, counted as money that went back"
    advice = 'status = { constant = "succeeded" }, or missing = "succeeded" beside its column'
    return [f"refunds: {counted}; where it is known, a map for --columns says so by {advice}."]


def _advice(rejects: Iterable[Reject]) -> list[str]:
    """Return what a map could say, where many rows are rejected for the way they are written."""
    found: dict[tuple[str, str], list[Reject]] = {}
    for reject in rejects:
        for sort in _ADVICE:
            if sort in reject.reason:
                found.setdefault((reject.source, sort), []).append(reject)
    return [
        f"{source}: {several(len(held), 'row')} rejected for {sort.removeprefix('which looks like ')},"
        f" {_first(held)}; if that is meant so, a map for --columns says it by {_ADVICE[sort]}."
        for (source, sort), held in found.items()
    ]


def _first(held: Sequence[Reject]) -> str:
    """Return where the first of some rejects stands: row 3 (line 4)."""
    _, line, number = held[0].reason.rpartition(" (line ")
    place = f"row {held[0].row}{line}{number if line else ''}"
    return place if len(held) == 1 else f"the first in {place}"
