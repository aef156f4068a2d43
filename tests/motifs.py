"""Small groups of rows, drawn into random worlds, that chance alone would seldom bring together.

Each is one place where the rules must choose: between two twins, two free intents, two parts, two versions.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from tests.drawer import SECOND, Drawer, Row

Rows = tuple[list[Row], list[Row]]


def motif(drawer: Drawer) -> Rows:
    """Intents and refunds of one motif; their keys and ids are their own, their payments are everybody's."""
    return drawer.random.choice(MOTIFS)(drawer)


def an_intent(drawer: Drawer, key: str, at: datetime, **fields: object) -> Row:
    """An intent of 100 usd on the first payment."""
    made_at = drawer.spelled(at)
    money: Row = {"key": key, "amount_minor": 100, "currency": "usd", "account": "", "payment": "pi_1"}
    return {**money, "status": "done", "created_at": made_at, **fields}


def a_refund(drawer: Drawer, name: str, at: datetime, **fields: object) -> Row:
    """A refund of 100 usd on the first payment that names nobody."""
    money: Row = {"id": name, "amount_minor": 100, "currency": "usd", "account": "", "status": "succeeded"}
    made_at = drawer.spelled(at)
    return {**money, "payment_intent": "pi_1", "charge": None, "created_at": made_at, **fields}


def late_parts(drawer: Drawer) -> Rows:
    """One intent in two or three parts, each settled or not, each late or not."""
    random = drawer.random
    amounts = random.choice(((60, 40), (40, 60), (30, 30, 40), (60, 30), (50, 60)))
    parts = []
    for place, amount in enumerate(amounts):
        status = random.choice(("pending", "pending", "requires_action", "succeeded", "on_hold"))
        at = drawer.before("provider_pending_after", "provider_pending_after", "orphan_after")
        named = {"amount_minor": amount, "status": status, "intent_key": "m1"}
        parts.append(a_refund(drawer, f"re_m{place}", at, **named))
    status = random.choice(("done", "done", "pending", "pending_unknown"))
    return [an_intent(drawer, "m1", drawer.near(), status=status)], parts


def twins(drawer: Drawer) -> Rows:
    """A refund of nobody's between two or three equal ones, as near or as far, linked or not."""
    random = drawer.random
    middle = drawer.before("orphan_after", "stuck_after", "duplicate_window")
    apart = random.choice((timedelta(0), 2 * SECOND, drawer.graces["duplicate_window"]))
    intents: list[Row] = []
    refunds = [a_refund(drawer, "re_m5", middle, intent_key="nobody")]
    for name in random.sample(("re_m1", "re_m4", "re_m6", "re_m9"), random.choice((1, 2, 2, 3))):
        step = apart * random.choice((1, -1)) + (drawer.edge() if drawer.chance(0.3) else timedelta(0))
        key = f"k_{name}" if drawer.chance(0.7) else "nobody"
        if key != "nobody":
            intents.append(an_intent(drawer, key, middle, payment=None, reference=name))
        refunds.append(a_refund(drawer, name, drawer.kept(middle + step), intent_key=key))
    return intents, refunds


def free_intents(drawer: Drawer) -> Rows:
    """Like intents and fewer or more like refunds without an intent_key, at the edges of the window."""
    random = drawer.random
    asked_at = drawer.before("stuck_after", "inferred_window", "duplicate_window")
    statuses = ("done", "pending", "pending_unknown", "done", "failed")
    payment = random.choice(("pi_1", "pi_1", "pi_1", None))
    intents = [
        an_intent(drawer, f"m{n}", asked_at + drawer.edge(), status=random.choice(statuses), payment=payment)
        for n in random.sample(range(1, 5), random.choice((1, 2, 3)))
    ]
    after = (SECOND, SECOND, timedelta(0), -drawer.graces["clock_skew"], drawer.graces["inferred_window"])
    refunds = []
    for place in range(random.choice((1, 1, 2))):
        at = drawer.kept(asked_at + random.choice(after) + drawer.edge())
        name: Row = {random.choice(("operator_key", "request_key", "reason")): "nobody"}
        refunds.append(a_refund(drawer, f"re_m{place}", at, payment_intent=payment, **name))
    return intents, refunds


def repeats(drawer: Drawer) -> Rows:
    """Two or three intents for one thing, their first refunds at once or a repeat_window apart."""
    random = drawer.random
    at = drawer.before("missing_after", "repeat_window", "duplicate_window")
    by_order = drawer.chance(0.4)
    references = random.choice(((None,), (None,), ("r1", "r2"), ("r1", None)))
    intents, refunds = [], []
    for place in random.sample(range(1, 5), random.choice((2, 2, 3))):
        status = random.choice(("done", "done", "done", "pending", "failed"))
        about: Row = {"status": status, "reference": random.choice(references), "amount_minor": 100}
        about["order_id"] = random.choice(("pi_1", "o1")) if by_order else random.choice((None, "o1"))
        intents.append(an_intent(drawer, f"m{place}", at - SECOND, **about))
        paid: Row = {"intent_key": f"m{place}"}
        if by_order and drawer.chance(0.7):
            paid["payment_intent"] = None
        refunds.append(a_refund(drawer, f"re_m{place}", at, **paid))
        if drawer.chance(0.7):
            at = drawer.kept(at - drawer.graces["repeat_window"] + drawer.edge())
    return intents, refunds


def versions(drawer: Drawer) -> Rows:
    """One refund in two versions of equal rank that name different intents, one of them fuller."""
    random = drawer.random
    at = drawer.before("missing_after", "stuck_after")
    status = random.choice(("succeeded", "failed", "pending"))
    intents = [an_intent(drawer, f"m{n}", at, reference=f"r{n}") for n in (1, 2)]
    fuller: Row = {random.choice(("pending_reason", "charge")): random.choice((None, "ch_1"))}
    keys = random.sample(("m1", "m2", "nobody"), 2)
    refunds = [a_refund(drawer, "re_m1", at, status=status, intent_key=key) for key in keys]
    refunds[0].update(fuller)
    if drawer.chance(0.5):
        refunds.append(a_refund(drawer, "re_m1", at, status="pending", request_key="m1", operator_key="m2"))
    return intents, refunds


MOTIFS: tuple[Callable[[Drawer], Rows], ...] = (late_parts, twins, free_intents, repeats, versions)
