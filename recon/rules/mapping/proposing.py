"""A file's first rows in, a proposed map out: what it recognised, what it doubts, what a person must say.

Never reads a file, and never decides what a person should.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from recon.model import layout
from recon.model.dtypes import INTENTS, KEYS, OURS, REFUNDS, TIME
from recon.model.layout import Layout
from recon.model.mapping import NOTHING, Column, Filter, Side
from recon.model.records.maps import Line, Preset, Proposal, Question, Stated, Sureness
from recon.model.samples import Sample
from recon.rules.mapping import choosing, fields, placeholders, sides, totals, worded
from recon.rules.mapping.choosing import Found, cells_of
from recon.rules.mapping.fields import Drawn
from recon.rules.mapping.names import BEGINNINGS, normal

_HANDLED = frozenset({"amount", "amount_minor", "currency", "status"})
_PLAIN = frozenset({"system", "operator_key"})  # Read by our own names alone.
_WHOSE = "Is it what you meant to refund (--side intents) or what the provider did (--side refunds)?"
# What says which refund belongs to which intent.
_TIES = {
    INTENTS: frozenset({"payment", "refund_id"}),
    REFUNDS: frozenset({"payment_intent", "charge", "intent_key", "request_key"}),
}
_UNTIED = {
    INTENTS: (
        "Nothing here says which refund of the provider's belongs to a row: no payment (pi_, ch_) and no"
        " refund_id (re_). Export one of them, or every row is missing unless the provider's refunds name its"
        " key in their metadata."
    ),
    REFUNDS: (
        "Nothing here says to which intent a row belongs: no payment_intent (pi_), charge (ch_) or metadata."
        " Export one of them, or every row has no intent unless your own records note its id as refund_id."
    ),
}


def propose(
    sample: Sample,
    *,
    side: str | None = None,
    stated: Stated | None = None,
    preset: Preset | None = None,
) -> Proposal:
    """Return what a map of a file could say.

    side: as the person says; None is what it looks like. preset: one that knows the file, if any does.
    """
    sample = _without(sample, totals.headers(sample))  # Each is rejected as one, whatever a map says.
    closing = () if sample.objects else totals.filters(sample)
    sample = _kept(sample, closing)
    guess = sides.guess(sample, preset=preset)
    taken = side or guess.side
    known = layout.of(sample.headers, taken, NOTHING)
    like = preset.told.side(taken) if preset is not None else NOTHING
    filters = (*layout.of(sample.headers, taken, like).side.filters, *closing)
    drawn = Drawn(_kept(sample, filters), taken, stated or Stated())
    drawn.doubts += [
        f"Rows whose {each.column} says {each.words[0]} are left out as totals." for each in closing
    ]
    if side is None and not guess.sure:
        drawn.questions.append(Question("side", _WHOSE))
    settled = {} if preset is None else _of_preset(drawn, like, preset)
    _draw(drawn, settled, known)
    heads = {ours: column.sources[0] for ours, column in known.side.columns.items() if column.sources}
    fields.plain(drawn, heads)
    untied = preset is None and _untied(drawn)
    if untied:
        drawn.doubts.append(_UNTIED[taken])
    if sample.objects:
        _keep_to_keys(drawn)
    return Proposal(
        side=taken,
        side_why="as you said" if side is not None else guess.why,
        lines=_ordered(drawn.lines, taken),
        questions=tuple(drawn.questions),
        made_by=known.tool,
        preset=None if preset is None else preset.name,
        filters=filters,
        empty=tuple(dict.fromkeys((*like.empty, *placeholders.find(drawn)))),
        zone=drawn.zone or like.zone,
        words=drawn.words,
        doubts=tuple(drawn.doubts),
        untied=untied and not sample.objects,
    )


def recognised(sample: Sample, presets: Iterable[Preset], side: str | None) -> Preset | None:
    """Return the preset of a side all of whose marks a file's headers have, of several the one with most."""
    there = set(sample.headers)
    fitting = [each for each in presets if side in {None, each.side} and each.known_by <= there]
    return max(fitting, key=lambda each: len(each.known_by), default=None)


def _of_preset(drawn: Drawn, like: Side, preset: Preset) -> dict[str, Column]:
    """Draw what a preset says of the columns that a file has; return them."""
    why = f"as the preset {preset.name} says"
    held = layout.of(drawn.sample.headers, drawn.side, like).side.columns
    settled: dict[str, Column] = {}
    for ours, column in like.columns.items():
        there = held.get(ours)
        if there is None or not set(there.needs) <= set(column.needs):  # Or read by a name of our own.
            drawn.doubts.append(
                f"{ours}: the preset {preset.name} reads {' or '.join(column.needs)}, which this file lacks;"
                f" get it {preset.get}"
            )
            continue
        if ours == "status" and there.sources:
            worded.told(drawn, there, Found(there.sources, why))
        else:
            drawn.lines.append(Line(ours, there, why, Sureness.SURE))
        settled[ours] = there
    return settled


def _kept(sample: Sample, filters: Iterable[Filter]) -> Sample:
    """Return the rows that filters let through, so that only those are looked at."""
    size = len(next(iter(sample.columns.values()), ()))
    held = [(each, sample.columns.get(each.column, [None] * size)) for each in filters]
    return _without(
        sample,
        {place for place in range(size) if not all(layout.lets(each, cells[place]) for each, cells in held)},
    )


def _without(sample: Sample, gone: Collection[int]) -> Sample:
    """Return a sample without the rows at some places."""
    if not gone:
        return sample
    size = len(next(iter(sample.columns.values()), ()))
    places = [place for place in range(size) if place not in gone]
    columns = {name: [cells[place] for place in places] for name, cells in sample.columns.items()}
    return replace(sample, columns=columns, rows=len(places))


def _draw(drawn: Drawn, settled: Mapping[str, Column], known: Layout) -> None:
    """Draw everything that a preset does not settle."""
    taken = {ours: column.needs for ours, column in settled.items()}
    if {"amount", "amount_minor"} & set(taken):
        taken.setdefault("amount", ())
    found = _known_first(drawn, choosing.choose(drawn.sample, drawn.side, taken), known, taken)
    drawn.claimed = frozenset(source for one in found.values() for source in one.sources)
    if "amount" not in taken:
        fields.amount(drawn, found.get("amount"), _counts_minor(known, found.get("amount")))
    if "currency" not in taken:
        fields.currency(drawn, found.get("currency"), found["amount"].sources[0] if "amount" in found else "")
    if "status" not in taken:
        worded.status(drawn, found.get("status"))
    fields.zone(drawn, _times(drawn, found, taken, known))
    if KEYS[drawn.side] not in {*found, *taken}:
        fields.key(drawn, KEYS[drawn.side])
    for ours in OURS[drawn.side]:
        is_time = OURS[drawn.side][ours] == TIME
        if ours in found and ours not in taken and ours not in _HANDLED | _PLAIN and not is_time:
            _other(drawn, ours, found[ours])
    if not settled:
        _leave_out(drawn)


def _untied(drawn: Drawn) -> bool:
    """Return whether nothing says which refund belongs to which intent."""
    sent = any(
        line.ours == KEYS[INTENTS] and {normal(source) for source in line.told.sources} & sides.OWN_KEYS
        for line in drawn.lines
    )
    return not (sent or {line.ours for line in drawn.lines} & _TIES[drawn.side])


def _leave_out(drawn: Drawn) -> None:
    """Say of columns that are named as payments why they are none."""
    if {line.ours for line in drawn.lines} & set(choosing.PAYMENTS):
        return
    used = {source for line in drawn.lines for source in line.told.needs}
    for header in choosing.unlike(drawn.sample, drawn.side, used):
        drawn.doubts.append(
            f"{header} is left out: its cells are no payments of the provider's (pi_, ch_), by which alone"
            " a refund is found that names no key."
        )


def _counts_minor(known: Layout, found: Found | None) -> str | None:
    """Return the tool that counts in minor units where it made the table of this amount; else None."""
    minor = known.side.columns.get("amount_minor")
    return known.tool if minor is not None and found is not None and found.sources == minor.sources else None


def _known_first(
    drawn: Drawn, found: dict[str, Found], known: Layout, taken: Mapping[str, object]
) -> dict[str, Found]:
    """Return what was found, with what is read so without a map in its place."""
    for ours, column in known.side.columns.items():
        name = "amount" if ours == "amount_minor" else ours
        if name in taken or not column.sources:
            continue
        if column.sources[0] not in drawn.sample.columns:
            continue
        found[name] = Found(column.sources[:1], "its name is known", by_cells=ours != "amount")
    return found


def _times(drawn: Drawn, found: Mapping[str, Found], taken: Mapping[str, object], known: Layout) -> list[str]:
    """Draw the times; return the columns whose times lack a zone."""
    lacking = []
    for ours, kind in OURS[drawn.side].items():
        if kind == TIME and ours not in taken:
            one = found.get(ours)
            if fields.time(drawn, ours, one, utc=known.side.zone == "UTC") and one is not None:
                lacking.append(one.sources[0])
    return lacking


def _other(drawn: Drawn, ours: str, found: Found) -> None:
    """Draw a column that is read as it is."""
    doubts = []
    if ours == KEYS[drawn.side]:
        rows = drawn.sample.rows
        cells = [str(cell) for cell in cells_of(drawn.sample, found.sources[0])]
        again = len(cells) - len(set(cells))
        if again:
            doubts.append(f"{again} of {len(cells)} repeat, so it does not tell rows apart.")
        if len(cells) < rows:
            doubts.append(f"{rows - len(cells)} of {rows} rows have none.")
        found = replace(found, why=f"{found.why}; {len(set(cells))} different in {len(cells)} rows")
    if ours == "account" and not _are_accounts(drawn, found):
        doubts.append(
            'Its cells are no accounts of the provider (acct_): account = { constant = "" } says that all are'
            " the platform's own."
        )
    drawn.line(ours, Column(found.sources), found, *doubts)


def _are_accounts(drawn: Drawn, found: Found) -> bool:
    """Return whether a column holds accounts of the provider's, or nothing."""
    begins = BEGINNINGS[drawn.side]["account"]
    return all(str(cell).startswith(begins) for cell in cells_of(drawn.sample, found.sources[0]))


def _keep_to_keys(drawn: Drawn) -> None:
    """Keep of the provider's own objects only where the intent's key may be: the rest is read as it is."""
    drawn.lines = [line for line in drawn.lines if line.ours == "intent_key" and not line.plain]
    drawn.questions.clear()
    drawn.doubts.clear()


def _ordered(lines: Iterable[Line], side: str) -> tuple[Line, ...]:
    """Return lines in the order of our columns."""
    order = list(OURS[side])
    return tuple(sorted(lines, key=lambda line: order.index(line.ours)))
