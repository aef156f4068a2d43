"""A proposal as the TOML of a map, with what speaks for each line and what is to be decided.

Never writes a line that somebody has to decide: it stands there as a comment, with each of its answers.
"""

from collections.abc import Iterator

from recon.model import mapping_lines, mapping_toml
from recon.model.characters import harmless
from recon.model.dtypes import INTENTS, OURS
from recon.model.mapping import Column, Map, Side
from recon.model.records.maps import Choice, Proposal, Question
from recon.model.samples import Sample

# What nobody misses in a file of either side.
_RARE = frozenset(
    {"system", "operator_key", "pending_reason", "amount_minor", "first_sent_at", "tool", "team"}
)


def text(proposal: Proposal, sample: Sample) -> str:
    """Return the TOML; `mapping_toml.read` takes it as it is, and after each decision."""
    return "".join(f"{line}\n" for line in _lines(proposal, sample))


def answer(choice: Choice) -> str:
    """Return the lines of TOML that an answer is."""
    told = [mapping_toml.written_column(ours, column) for ours, column in choice.columns.items()]
    return "\n".join([*told, *([f"zone = {mapping_toml.text(choice.zone)}"] if choice.zone else [])])


def _lines(proposal: Proposal, sample: Sample) -> Iterator[str]:
    """Yield the lines of one side."""
    looked = f"all {sample.rows}" if sample.whole else f"the first {sample.rows:,}"
    yield _said(f"{sample.name} as {proposal.side}, proposed by recon map from {looked} rows.")
    if proposal.preset is not None:
        yield _said(f"Beside what the preset {proposal.preset} says.")
    yield from _head(proposal)
    for question in proposal.questions:
        yield from _asked(question)
    for line in proposal.lines:
        if not line.plain:
            yield from map(_said, line.doubts)
            yield f"{mapping_toml.written_column(line.ours, line.told)}  {_said(line.why)}"
    plain = [_named(line.ours, line.told) for line in proposal.lines if line.plain]
    if plain:
        yield _said(f"Read by their own names: {', '.join(plain)}.")
    yield from map(_said, proposal.doubts)
    lacking = [name for name in OURS[proposal.side] if name not in _there(proposal) | _RARE]
    if lacking and not sample.objects:
        yield _said(f"Nothing was found for {', '.join(lacking)}.")


def _head(proposal: Proposal) -> Iterator[str]:
    """Yield the table's name and what is said of all its columns."""
    side = Side({}, proposal.filters, proposal.empty, proposal.zone)
    written = mapping_toml.written(Map(**{proposal.side: side})).strip()
    yield from (written or f"[{proposal.side}]").split("\n")


def _asked(question: Question) -> Iterator[str]:
    """Yield a question, and each answer as a comment to be made a line."""
    yield _said(f"{mapping_lines.DECIDE}{question.text}")
    for choice in question.choices:
        for line in answer(choice).split("\n"):
            yield f"# {line}  {_said(choice.means)}"


def _named(ours: str, told: Column) -> str:
    """Return one of our columns with the source's name for it, where that is another."""
    source = told.sources[0]
    return ours if source == ours else f"{ours} from {source}"


def _there(proposal: Proposal) -> set[str]:
    """Return our columns of which something is said or asked."""
    said = {line.ours for line in proposal.lines} | {question.about for question in proposal.questions}
    said |= {ours for question in proposal.questions for each in question.choices for ours in each.columns}
    if said & {"amount", "amount_minor"}:
        said |= {"amount"}
    if proposal.side == INTENTS and "created_at" in said:
        said |= {"updated_at"}  # Where a source has none, it is created_at.
    return said


def _said(sentence: str) -> str:
    """Return a sentence as a comment of one line."""
    return f"# {harmless(sentence)}"
