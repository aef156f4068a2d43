"""Whether an order was refunded once, and if not, how that came about and what to do.

Pure: requests and refunds in, sentences out. Counts live refunds only, as the diff does: one that failed has
moved no money.
"""

from collections.abc import Iterable, Sequence

from recon.model import money
from recon.model.phrases import listed, several
from recon.model.records.provider import Refund
from recon.model.records.results import Money
from recon.model.records.sendings import Sent
from recon.model.records.words import DEAD

_KEYED = "make the key of the order, the same for every attempt, or let recon.guard.RefundTool do it"


def live(sent: Sequence[Sent], refunds: Iterable[Refund]) -> tuple[Refund, ...]:
    """Return the refunds that count, in the order in which they were asked for, as far as answers tell."""
    # The provider's times have whole seconds.
    first = {each.refund_id: number for number, each in reversed(list(enumerate(sent)))}
    counted = (each for each in refunds if each.status not in DEAD and not each.system)
    return tuple(sorted(counted, key=lambda each: (first.get(each.id, -1), each.created_at, each.id)))


def judged(sent: Sequence[Sent], refunds: Iterable[Refund], *, expected: int = 1) -> str | None:
    """Return None where exactly the expected number of refunds is live; else what is so and what to do."""
    made = live(sent, refunds)
    if len(made) == expected:
        return None
    wanted = several(expected, "refund") if expected else "no refund"
    if not made:
        return f"Expected {wanted}, found none: {_why_none(sent)}"
    shown = listed([f"{each.id} of {money.told(Money(each.amount_minor, each.currency))}" for each in made])
    return f"Expected {wanted}, found {len(made)}: {shown}.{_why_many(sent, made)}"


def story(sent: Iterable[Sent]) -> tuple[str, ...]:
    """Return one line a request, in the order they came: its key, what was answered, what that met."""
    return tuple(f"request {number}: {_line(each)}" for number, each in enumerate(sent, start=1))


def _line(sent: Sent) -> str:
    key = f"key {sent.key}" if sent.key else "no key"
    met = f"; it met the fault {sent.fault}" if sent.fault else ""
    return f"{key}, {_answer(sent)}{met}"


def _answer(sent: Sent) -> str:
    if sent.status is None:
        return "never answered by the provider"
    if sent.refund_id is not None:
        return f"told of {sent.refund_id} again" if sent.replayed else f"made {sent.refund_id}"
    return f"answered {sent.status}" + (f": {sent.said.rstrip('.')}" if sent.said else "")


def _why_none(sent: Sequence[Sent]) -> str:
    if not sent:
        return "no request for one reached the provider. Look at what the tool answered, and where it sends."
    return f"the last of {several(len(sent), 'request')} {_answer(sent[-1])}. Look at that answer first."


def _why_many(sent: Sequence[Sent], made: Sequence[Refund]) -> str:
    """Return how several refunds of one order came about, and what to do."""
    if len(made) < 2:  # noqa: PLR2004 - one refund where none was expected
        return " Nothing may be sent here."
    ids = {each.id for each in made}
    makers = [each for each in sent if each.refund_id in ids and not each.replayed]
    keys = {each.key for each in makers}
    if None in keys:
        return f" A request had no idempotency key: {_KEYED}."
    if len(makers) == len(made) and len(keys) == 1:
        return " The provider had forgotten their key meanwhile: look for a refund before sending again."
    return (
        f" Each attempt had a key of its own: {_KEYED}. (The provider's library makes a key up where none is "
        "given.)"
    )
