"""One decision about several cases: each is a move of its own, and each has a result of its own.

Works through any desk and shows nothing. The same bulk id once more does nothing again, because each case's
action id comes from it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid5

from recon.desk import Desk
from recon.model.errors import ReconError, Wait
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.proposals import Proposal
from recon.model.records.words import Action

LIMIT: Final = 500  # Cases in one decision: the largest page, and more than anybody can have looked at.
MOVES: Final[Mapping[Action, Callable[..., Proposal | None]]] = {
    Action.ACKNOWLEDGED: Desk.acknowledge,
    Action.RESOLVED: Desk.resolve,
    Action.ASSIGNED: Desk.assign,
    Action.SNOOZED: Desk.snooze,
}


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one case.

    why: it was not moved, in a sentence; None where it was, or was proposed. proposed: another person must
    approve it first.
    """

    case: Case
    why: str | None = None
    proposed: bool = False


def decide(
    desk: Desk,
    cases: Sequence[Case],
    move: Action,
    *,
    bulk_id: UUID,
    reason: str,
    operator: Operator,
    asked: Mapping[str, object],
) -> Iterator[Result]:
    """Move one case after the other, as they were looked at, and yield what became of each, in their order.

    bulk_id: of this decision; asked again under it, what was done stays done, and the rest is done.
    asked: what the move takes beside a reason. When the database goes away, the rest is not tried.
    """
    away: str | None = None
    for case in cases[:LIMIT]:
        if away is not None:
            yield Result(case, f"Not tried: {away}")
            continue
        try:
            proposed = MOVES[move](
                desk,
                case.id,
                version=case.version,
                reason=reason,
                operator=operator,
                action_id=f"desk:{uuid5(bulk_id, case.id)}",
                **asked,
            )
        except Wait as error:
            away = str(error)
            yield Result(case, away)
        except ReconError as error:  # Moved meanwhile, not allowed, or not possible as it stands.
            yield Result(case, str(error))
        else:
            yield Result(case, proposed=proposed is not None)
    for case in cases[LIMIT:]:
        yield Result(case, f"Not tried: at most {LIMIT} cases are decided at once.")
