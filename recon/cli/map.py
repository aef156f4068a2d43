"""`recon map`: somebody's file in, out a map of it for recon diff --columns, with what it doubts."""

import json
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recon.cli import exits, map_screen, sides
from recon.doors.files import formats
from recon.model.errors import ConfigurationError, UnusableInput
from recon.model.records.maps import Preset, Proposal, Question, Stated

if TYPE_CHECKING:
    from recon.doors.files.samples import Excerpt
    from recon.model.samples import Sample
    from recon.rules.mapping.trying import Pair


_MAPS = "maps"  # Where the presets are, in the shipped configuration.


class Format(StrEnum):
    """How the answer is written."""

    TABLE = "table"
    JSON = "json"
    TOML = "toml"


class Unit(StrEnum):
    """What amounts are counted in."""

    MINOR = "minor"
    MAJOR = "major"


File = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE", help="An export of refunds, yours or the provider's; - is standard input."
    ),
]
WhichSide = Annotated[
    sides.Side | None,
    typer.Option("--side", help="Whose records they are: yours (intents) or the provider's (refunds)."),
]
Output = Annotated[
    Path | None,
    typer.Option(metavar="MAP.toml", help="Write the map there, or add this side to one that is there."),
]
PresetName = Annotated[
    str | None, typer.Option("--preset", metavar="NAME", help="Take it for a table of this shop or tool.")
]
Presets = Annotated[
    bool, typer.Option("--presets", metavar="", help="List the presets, and how to export for each.")
]
AmountsIn = Annotated[
    Unit | None, typer.Option("--unit", help="Say what amounts are in: minor (4900) or major (49.00).")
]
Currency = Annotated[
    str | None, typer.Option(metavar="CODE", help="Say the currency of every row, such as usd.")
]
Zone = Annotated[
    str, typer.Option(metavar="ZONE", help="Say the zone of times without one, such as Europe/Berlin.")
]
FileFormat = Annotated[
    formats.FileFormat | None, typer.Option(help="What FILE holds, where its name does not say.")
]
HowWritten = Annotated[
    Format, typer.Option("--format", help="Table for people, JSON for programs, TOML for the map alone.")
]


@dataclass(frozen=True, slots=True)
class Trial:
    """What came out when the first rows were read with the proposed map.

    refused: a sentence where the file as a whole was; None where it was read. reasons: of rejected rows, with
    their counts, the commonest first. notes: what the reading said.
    """

    standing: int = 0
    rejected: int = 0
    reasons: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    pairs: "tuple[Pair, ...]" = ()
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that is said of a file. toml: the map."""

    label: str
    sample: "Sample"
    proposal: Proposal
    trial: Trial
    toml: str

    @property
    def open(self) -> tuple[Question, ...]:
        """Return what only a person can say."""
        return self.proposal.questions

    @property
    def needed(self) -> bool:
        """Return whether the file cannot be read as it is."""
        proposal = self.proposal
        said = proposal.filters or proposal.empty or proposal.zone or proposal.questions
        return bool(said) or not all(line.plain for line in proposal.lines)

    @property
    def fine(self) -> bool:
        """Return whether the map can be used as it is."""
        trial, proposal = self.trial, self.proposal
        none = self.sample.rows and not trial.standing
        return not (proposal.questions or proposal.untied or trial.rejected or trial.refused or none)


def map_(
    file: File = None,
    *,
    side: WhichSide = None,
    output: Output = None,
    preset: PresetName = None,
    presets: Presets = False,
    unit: AmountsIn = None,
    currency: Currency = None,
    zone: Zone = "",
    file_format: FileFormat = None,
    format_: HowWritten = Format.TABLE,
) -> None:
    """Look at a file and propose a map of its columns for recon diff --columns.

    Exit 0: the map can be used as it is.
    Exit 1: somebody has to decide something, or rows would be rejected, or none would be left.
    Exit 2: the file or an argument cannot be used.
    """
    from recon.doors import config
    from recon.doors.files import maps

    folder = config.shipped(_MAPS)
    if presets:
        map_screen.show_presets(maps.presets(folder), as_json=format_ is Format.JSON)
        return
    chosen = None if preset is None else maps.named(folder, preset)
    if file is None:
        _write_preset(chosen, output)
        return
    stated = _stated(unit, currency, zone)
    answer = _looked(file, file_format, side, chosen, stated)
    if output is not None:
        _deliver(answer, output, guessed=side is None)
    if format_ is Format.JSON:
        print(json.dumps(_document(answer), indent=2, ensure_ascii=False))
    elif format_ is Format.TOML:
        print(answer.toml, end="")
    else:
        map_screen.show(answer, written=output)
    raise typer.Exit(exits.OK if answer.fine else exits.FOUND)


def _stated(unit: Unit | None, currency: str | None, zone: str) -> Stated:
    """Return what the person says beforehand.

    Raises:
        ConfigurationError: there is no such currency or zone. Nothing was read.
    """
    from recon.model import mapping_toml, money

    code = None if currency is None else currency.lower()
    if code is not None and code not in money.EXPONENTS:
        raise ConfigurationError(f"--currency must be a code such as usd or eur; found {currency!r:.40}.")
    try:
        return Stated(None if unit is None else unit.value, code, mapping_toml.zone(zone))
    except ValueError as error:
        raise ConfigurationError(f"--zone {error}.") from None


def _looked(
    file: str,
    format_: formats.FileFormat | None,
    side: sides.Side | None,
    preset: Preset | None,
    stated: Stated,
) -> Answer:
    """Look at a file, propose a map of it, and try the map on its first rows.

    Raises:
        UnusableInput: it cannot be read, or is known as something else than refunds.
    """
    from recon.doors import config
    from recon.doors.files import maps, samples
    from recon.model import columns
    from recon.rules.mapping import proposing, writing

    with samples.excerpt(file, format_) as excerpt:
        sample = samples.read(excerpt)
        chosen = preset or proposing.recognised(sample, maps.presets(config.shipped(_MAPS)), side)
        advice = columns.mistaken(sample.headers, columns.REFUNDS)
        if advice is not None and chosen is None and side is not sides.Side.INTENTS:
            raise UnusableInput(f"{excerpt.label} holds no refunds: {advice}.")
        proposal = proposing.propose(sample, side=side, stated=stated, preset=chosen)
        trial = _tried(excerpt, sample, proposal)
    return Answer(excerpt.label, sample, proposal, trial, writing.text(proposal, sample))


def _tried(excerpt: "Excerpt", sample: "Sample", proposal: Proposal) -> Trial:
    """Read the first rows as the map proposes, with the likeliest answer to each question."""
    from recon.doors.files import reading
    from recon.rules.mapping import trying

    told, asked = proposal.assumed(), {question.about for question in proposal.questions}
    read = reading.read_intents if proposal.side == sides.Side.INTENTS else reading.read_refunds
    try:
        intake = read(excerpt.path, told, format_=excerpt.format)
    except UnusableInput as error:
        return Trial(refused=str(error).replace(str(excerpt.path), excerpt.label))
    reasons = Counter(reject.reason.partition(" (line ")[0] for reject in intake.rejects)
    return Trial(
        standing=len(intake.frame),
        rejected=len(intake.rejects),
        reasons=tuple(reasons.most_common()),
        notes=intake.notes,
        pairs=trying.pairs(sample, proposal.side, told, intake.frame, is_decided="currency" not in asked),
    )


def _write_preset(preset: Preset | None, output: Path | None) -> None:
    """Write a preset as it is shipped.

    Raises:
        ConfigurationError: none is named, nor a file to look at.
        UnusableInput: the output has that side already, or is no map. It is as it was.
    """
    if preset is None:
        raise ConfigurationError("Name a FILE to look at, or --preset NAME; --presets lists them.")
    if output is None:
        print(preset.text, end="")
        return
    from recon.doors import outputs
    from recon.doors.files import maps

    outputs.write(output, maps.joined(output, preset.side, preset.text))
    sides.say(f"The preset {preset.name} is written to {output}.")


def _deliver(answer: Answer, output: Path, *, guessed: bool) -> None:
    """Write the map, or add it as one more side."""
    from recon.doors import outputs
    from recon.doors.files import maps

    outputs.write(output, maps.joined(output, answer.proposal.side, answer.toml, guessed=guessed))


def _document(answer: Answer) -> dict[str, Any]:
    """Return the answer as plain values."""
    from recon.model import mapping_toml
    from recon.rules.mapping import writing

    proposal, trial = answer.proposal, answer.trial
    return {
        "file": answer.label,
        "rows": answer.sample.rows,
        "whole": answer.sample.whole,
        "side": proposal.side,
        "side_why": proposal.side_why,
        "made_by": proposal.made_by,
        "preset": proposal.preset,
        "columns": [
            {
                "ours": line.ours,
                "theirs": list(line.told.needs),
                "line": None if line.plain else mapping_toml.written_column(line.ours, line.told),
                "why": line.why,
                "sureness": str(line.sureness),
                "doubts": list(line.doubts),
            }
            for line in proposal.lines
        ],
        "statuses": [
            {"theirs": word.theirs, "rows": word.count, "ours": word.ours} for word in proposal.words
        ],
        "decisions": [
            {
                "about": question.about,
                "question": question.text,
                "answers": [
                    {"line": writing.answer(choice), "means": choice.means} for choice in question.choices
                ],
            }
            for question in proposal.questions
        ],
        "doubts": list(proposal.doubts),
        "trial": {
            "standing": trial.standing,
            "rejected": trial.rejected,
            "refused": trial.refused,
            "reasons": [{"reason": reason, "rows": rows} for reason, rows in trial.reasons],
            "rows": [{"before": dict(pair.before), "after": dict(pair.after)} for pair in trial.pairs],
        },
        "toml": answer.toml,
    }
