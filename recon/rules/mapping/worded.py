"""The status of a file: the column that holds it, by its name or by its words, and what its words mean.

Never says that a row went through because no column says otherwise: that is a question.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from recon.model import meanings
from recon.model.dtypes import INTENTS, REFUNDS
from recon.model.mapping import Column
from recon.model.records.maps import Choice, Question, Word
from recon.model.records.words import IntentStatus, RefundStatus
from recon.model.samples import Sample
from recon.rules.mapping import choosing, statuses
from recon.rules.mapping.choosing import Found, cells_of
from recon.rules.mapping.fields import Drawn, used

_SHOWN = 6  # Words that a question lists.
_COLUMNS = 3  # That a question names because they hold few words.
_EACH = 3  # Words of each that it shows.
# What a row without a known status most safely counts as, until somebody says more.
_UNSAID = {INTENTS: str(IntentStatus.PENDING_UNKNOWN), REFUNDS: str(RefundStatus.PENDING)}
_WENT = {INTENTS: str(IntentStatus.DONE), REFUNDS: str(RefundStatus.SUCCEEDED)}


def status(drawn: Drawn, found: Found | None) -> None:
    """Say what the words of the status mean, or ask for its column."""
    if found is not None:
        told(drawn, Column(found.sources), found)
        return
    there = choosing.worded(drawn.sample, drawn.side, used(drawn))
    if len(there) == 1 and len(set(_meanings(drawn, there[0]))) > 1:
        told(drawn, Column(there), Found(there, "its cells are the words of a status"))
    else:
        drawn.questions.append(_which(drawn, there))


def told(drawn: Drawn, column: Column, found: Found) -> None:
    """Say what words mean beside those that a column maps already; ask about the others."""
    meant, column = _meant(drawn, column)
    drawn.words = meant
    strange = [word for word in meant if word.ours is None]
    if not strange:
        known = any(word.ours != word.theirs for word in meant)
        drawn.line("status", column, found, sure=bool(column.words) or not known)
        return
    unsaid = _UNSAID[drawn.side]
    means = f"edit it: what is open stands as {unsaid}, until you say more"
    choice = Choice(means, {"status": _with_open(column, strange, unsaid)})
    text = (
        f"What does the status in {column.sources[0]} say by {_listed(strange, _SHOWN)}?"
        f" Ours are {statuses.MEANINGS[drawn.side]}."
    )
    drawn.questions.append(Question("status", text, (choice,)))


def _which(drawn: Drawn, there: Iterable[str]) -> Question:
    """Ask for the column; there: those whose cells are words of a status, which are answers."""
    choices = []
    for source in there:
        meant, column = _meant(drawn, Column((source,)))
        strange = [word for word in meant if word.ours is None]
        means = f"{source} says it: {_listed(meant, _EACH)}"
        choices.append(Choice(means, {"status": _with_open(column, strange, _UNSAID[drawn.side])}))
    went = Choice("every row went through", {"status": Column(missing=_WENT[drawn.side])})
    few = [*_few(drawn.sample, {*used(drawn), *there})][:_COLUMNS]
    if choices:
        text = "Which column holds the status? No name says so."
    elif few:
        words = 'status = { column = ..., words = { "theirs" = "ours" } }'
        text = (
            f"Does one of these columns hold the status: {', '.join(few)}? Then say {words};"
            " say that every row went through only if that is so."
        )
    else:
        text = "No column holds a status: say that every row went through only if that is so."
    return Question("status", text, (*choices, went))


def _few(sample: Sample, gone: Iterable[str]) -> Iterator[str]:
    """Yield the columns of few words, each with some of these."""
    for source in choosing.few(sample, gone):
        yield f"{source} ({_listed(statuses.words(cells_of(sample, source), INTENTS), _EACH, spelled=False)})"


def _meant(drawn: Drawn, column: Column) -> tuple[tuple[Word, ...], Column]:
    """Return the words of a column with what each means, and the column with those that are not ours."""
    seen = statuses.words(cells_of(drawn.sample, column.sources[0]), drawn.side)
    meant = tuple(replace(word, ours=_mapped(column, drawn.side, word)) for word in seen)
    known = {word.theirs: word.ours for word in meant if word.ours is not None and word.ours != word.theirs}
    return meant, replace(column, words={**known, **column.words})


def _meanings(drawn: Drawn, source: str) -> Iterator[str]:
    """Yield what the known words of a column mean."""
    meant, _ = _meant(drawn, Column((source,)))
    yield from (word.ours for word in meant if word.ours is not None)


def _with_open(column: Column, strange: Iterable[Word], unsaid: str) -> Column:
    """Return a column in which the words that are open stand as what is safest."""
    return replace(column, words={**column.words, **dict.fromkeys((one.theirs for one in strange), unsaid)})


def _mapped(column: Column, side: str, word: Word) -> str | None:
    """Return what a word means: as the column says, or as it is one of ours, or as it seems."""
    said = column.words.get(word.theirs)
    return said or (word.theirs if word.theirs in meanings.OURS[side] else word.ours)


def _listed(words: Iterable[Word], most: int, *, spelled: bool = True) -> str:
    """Return some words with their counts."""
    listed = list(words)
    shown = [f"{one.theirs!r:.40} ({one.count})" if spelled else f"{one.theirs:.40}" for one in listed[:most]]
    more = len(listed) - most
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
