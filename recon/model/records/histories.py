"""What a look back is asked and what it answers: runs with what each changed, and what was told to whom.

Never says how it is shown.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass

from recon.model.records.notices import Notice
from recon.model.records.queues import WAITING
from recon.model.records.results import Reject
from recon.model.records.runs import Run
from recon.model.records.words import Action, CaseState, Kind, NoticeState


@dataclass(frozen=True, slots=True)
class Move:
    """How many cases of a kind were moved in one way.

    kind: that the cases have now. by_job: a run moved them, or rules that were applied; else people did.
    before: None of a case that is new.
    """

    kind: Kind
    action: Action
    by_job: bool
    before: CaseState | None
    after: CaseState
    cases: int

    @property
    def effect(self) -> int:
        """Return how many cases more wait after it; fewer where it is negative."""
        return self.cases * ((self.after in WAITING) - (self.before in WAITING))


@dataclass(frozen=True, slots=True)
class Line:
    """What became of the waiting cases of one kind from one run to the next.

    opened, back, cleared: by the run: new ones, those that wait again, those that wait no longer. people: how
    many people made it more between the two; fewer where it is negative.
    """

    kind: Kind
    before: int
    opened: int
    back: int
    cleared: int
    people: int
    now: int


@dataclass(frozen=True, slots=True)
class Passed:
    """One run and what came of it.

    number: of the run among those that saved. moves: what was saved since the run before, and by this one.
    waiting: cases that waited once it had saved, by the kind that they have now.
    """

    number: int
    run: Run
    moves: tuple[Move, ...]
    waiting: Mapping[Kind, int]

    @property
    def lines(self) -> tuple[Line, ...]:
        """Return how the waiting cases of each kind came about, in the order of kinds.

        Of each line, what was before and what was done is what is now. Kinds of which nothing waited and
        nothing was done have none.
        """
        lines = [_line(kind, self.moves, self.waiting.get(kind, 0)) for kind in Kind]
        return tuple(line for line in lines if any(astuple(line)[1:]))

    @property
    def beside(self) -> Mapping[Action, int]:
        """Return how many cases were moved otherwise, so that as many waited as before, by what was done."""
        counted = Counter[Action]()
        for move in self.moves:
            if not move.effect:
                counted[move.action] += move.cases
        return {action: counted[action] for action in Action if action in counted}


@dataclass(frozen=True, slots=True)
class RunCursor:
    """A place among the runs, newest first: below one. waiting: cases once the run that follows had saved."""

    number: int
    waiting: Mapping[Kind, int]


@dataclass(frozen=True, slots=True)
class RunsPage:
    """Some runs, newest first. next: where the following page begins; None on the last."""

    passes: tuple[Passed, ...]
    next: RunCursor | None


@dataclass(frozen=True, slots=True)
class Rejects:
    """The rows that cannot be judged as things stand. first: some of them. reasons: how many have each."""

    rows: int
    first: tuple[Reject, ...]
    reasons: tuple[tuple[str, str, int], ...]  # Source, reason and rows: the commonest first.


@dataclass(frozen=True, slots=True)
class NoticeFilters:
    """Which notices to show; an empty tuple filters nothing."""

    states: tuple[NoticeState, ...] = ()
    targets: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoticesPage:
    """Some notices, newest first. next: the id below which the following page begins; None on the last."""

    notices: tuple[Notice, ...]
    next: int | None


def earlier(waiting: Mapping[Kind, int], moves: Iterable[Move]) -> Mapping[Kind, int]:
    """Return how many cases of each kind waited before these moves."""
    moves = tuple(moves)
    return {
        kind: waiting.get(kind, 0) - sum(move.effect for move in moves if move.kind is kind) for kind in Kind
    }


def _line(kind: Kind, moves: Iterable[Move], now: int) -> Line:
    mine = [move for move in moves if move.kind is kind]
    by_run = [move for move in mine if move.by_job]
    opened = sum(move.effect for move in by_run if move.action is Action.OPENED)
    back = sum(move.effect for move in by_run if move.action is not Action.OPENED and move.effect > 0)
    cleared = -sum(move.effect for move in by_run if move.effect < 0)
    people = sum(move.effect for move in mine if not move.by_job)
    return Line(
        kind=kind,
        before=earlier({kind: now}, mine)[kind],
        opened=opened,
        back=back,
        cleared=cleared,
        people=people,
        now=now,
    )
