"""What a map of somebody's file could say: lines, and questions that only a person can answer.

Never holds a row; a proposal is made by rules/mapping and read by a person.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from recon.model.dtypes import INTENTS, REFUNDS
from recon.model.mapping import Column, Filter, Map, Side


class Sureness(StrEnum):
    """How well founded a line is."""

    SURE = "sure"  # The file, a preset or its cells leave no other reading.
    LIKELY = "likely"  # A name says so, and nothing in the cells speaks against it.


@dataclass(frozen=True, slots=True)
class Line:
    """What is proposed for one of our columns.

    why: what speaks for it. plain: it is read so without a map. doubts: sentences.
    """

    ours: str
    told: Column
    why: str
    sureness: Sureness = Sureness.LIKELY
    plain: bool = False
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to a question.

    columns: what it says of our columns. zone: what it says of times without one; "" for nothing. means: in
    words.
    """

    means: str
    columns: Mapping[str, Column] = field(default_factory=dict)
    zone: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What only a person can say.

    about: a column of ours, zone or side. text: the question, with what was found. choices: the answers, the
    likeliest first; it is what a preview assumes.
    """

    about: str
    text: str
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a status. count: in how many rows looked at. ours: what it seems to mean; None is unknown."""

    theirs: str
    count: int
    ours: str | None


@dataclass(frozen=True, slots=True)
class Stated:
    """What the person said beforehand; None and "" are nothing."""

    unit: str | None = None
    currency: str | None = None
    zone: str = ""


@dataclass(frozen=True, slots=True)
class Preset:
    """A map that is shipped for a well-known table.

    title, get, source: what it is of, how its rows are got, and where its words come from. known_by: headers
    that such a table has. text: the file.
    """

    name: str
    title: str
    get: str
    source: str
    known_by: frozenset[str]
    told: Map
    text: str

    @property
    def side(self) -> str:
        """Return the side that its table is of."""
        return INTENTS if self.told.intents.columns else REFUNDS


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a map of a file could say.

    side_why: what speaks for the side. made_by: what wrote the file, as its headers say; None where they do
    not. preset: the name of the one that was taken. doubts: sentences about the whole. untied:
    nothing in it says which refund belongs to which row of the other side; a doubt says more.
    """

    side: str
    side_why: str
    lines: tuple[Line, ...]
    questions: tuple[Question, ...] = ()
    made_by: str | None = None
    preset: str | None = None
    filters: tuple[Filter, ...] = ()
    empty: tuple[str, ...] = ()
    zone: str = ""
    words: tuple[Word, ...] = ()
    doubts: tuple[str, ...] = ()
    untied: bool = False

    def assumed(self) -> Map:
        """Return the map with the likeliest answer to every question."""
        columns = {line.ours: line.told for line in self.lines if not line.plain}
        zone = self.zone
        for question in self.questions:
            if question.choices:
                columns |= question.choices[0].columns
                zone = question.choices[0].zone or zone
        side = Side(columns, self.filters, self.empty, zone)
        return Map(**{self.side: side})
