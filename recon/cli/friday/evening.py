"""What happens on the Friday evening, as data: who calls which tool when, and what goes wrong.

A refund that is called twice is a part of what was paid: what is more than that, the provider refuses by
itself. Never does any of it; careless.py does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import cycle
from random import Random

from recon.model.records.words import IntentStatus

FRIDAY = 4  # As datetime.weekday counts.
BEGINS = timedelta(hours=17)
JUDGED = timedelta(hours=19)  # When the hour looks back on the evening.
PATIENCE_SECONDS = 10  # How long a tool waits for the provider, in the evening's time.

SLOW = "hang_after"  # The refund is made; the answer does not come while anybody waits for it.
LOST = "drop_before"  # The connection breaks before anything has happened.


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a refund tool.

    key: what the tool takes for its key. amount_minor, currency: what was decided. paid_minor: what the
    payment was of; None when an earlier call was on it. fault: what the request meets. without_answer: what
    the tool writes down then. sent_minor: what it sends, where that is not what was decided. charged: the
    payment's currency, where that is another. tagged: whether it puts the key into the refund's metadata.
    begins_as: the refund's first status.
    """

    at: datetime
    order: str
    key: str
    amount_minor: int
    currency: str
    tool: str = "refund_order"
    team: str = "support"
    reference: str | None = None
    paid_minor: int | None = None
    fault: str | None = None
    without_answer: IntentStatus = IntentStatus.PENDING_UNKNOWN
    sent_minor: int | None = None
    charged: str | None = None
    tagged: bool = True
    begins_as: str = "succeeded"

    @property
    def payment(self) -> str:
        """Return the PaymentIntent of the order."""
        return named("pi_3", self.order, 23)

    @property
    def customer(self) -> str:
        """Return whose order it is."""
        return named("cus_", self.order, 14)


@dataclass(frozen=True, slots=True)
class Click:
    """A refund made by hand in the provider's own dashboard."""

    at: datetime
    order: str
    paid_minor: int
    amount_minor: int
    currency: str

    @property
    def payment(self) -> str:
        """Return the PaymentIntent of the order."""
        return named("pi_3", self.order, 23)


@dataclass(frozen=True, slots=True)
class Return:
    """A bank sends the money of an order's refund back."""

    at: datetime
    order: str
    reason: str

    @property
    def payment(self) -> str:
        """Return the PaymentIntent of the order."""
        return named("pi_3", self.order, 23)


Step = Call | Click | Return

# Order, seconds after 17:00, what was paid, what goes back, currency, and seconds until somebody calls again.
_TWICE = (
    ("8812", 64, 12_000, 4_900, "usd", 31),
    ("8790", 151, 8_600, 3_150, "usd", 44),
    ("8834", 192, 24_900, 8_900, "usd", 29),
    ("8801", 287, 6_400, 1_999, "eur", 38),
    ("8856", 362, 15_000, 4_900, "usd", 52),
    ("8779", 458, 32_000, 12_550, "usd", 33),
    ("8847", 555, 9_900, 2_475, "eur", 47),
    ("8821", 681, 5_400, 1_800, "usd", 35),
    ("8863", 820, 18_000, 6_725, "usd", 49),
)
# The same, for all that was paid: the provider refuses the second by itself.
_WHOLE_TWICE = (("8795", 233, 2_900, "usd", 41), ("8829", 604, 5_500, "eur", 36))

_ORDINARY = 120
_FIRST_ORDINARY = 8600  # Its order number; the others follow.
_ORDINARY_SECONDS = 6_300  # From 17:00 to 18:45.
# Currency, the smallest and largest amount, and its step: the provider's smallest for a kwd is ten.
_PRICES = (
    ("usd", 600, 14_000, 1),
    ("eur", 500, 11_000, 1),
    ("usd", 1_500, 9_000, 1),
    ("jpy", 900, 24_000, 1),
    ("usd", 600, 6_000, 1),
    ("kwd", 1_800, 39_000, 10),
)
_TOOLS = (("refund_order", "support"), ("returns_desk", "logistics"), ("billing_portal", "billing"))


def latest_friday(now: datetime) -> datetime:
    """Return midnight of the latest Friday, in UTC, whose evening is over at this time.

    The latest, and no fixed date: the desk that is opened on it shows ages of days and not of years.
    """
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    friday = midnight - timedelta(days=(midnight.weekday() - FRIDAY) % 7)
    return friday if now >= friday + JUDGED else friday - timedelta(days=7)


def steps(friday: datetime) -> tuple[Step, ...]:
    """Return everything that happens, in the order of time."""
    happening: list[Step] = [*_ordinary(friday), *_twice(friday), *_whole_twice(friday), *_others(friday)]
    return tuple(sorted(happening, key=lambda step: (step.at, step.order)))


def named(prefix: str, order: str, length: int) -> str:
    """Return an id for an order that looks like the provider's and is the same each time."""
    return prefix + sha256(f"{prefix}{order}".encode()).hexdigest()[:length].upper()


def _ordinary(friday: datetime) -> Iterator[Call]:
    """Yield refunds in which nothing goes wrong."""
    chance = Random("friday")  # noqa: S311 -- the same evening each time; nothing is secret
    prices = cycle(_PRICES)
    for number in range(_ORDINARY):
        order = str(_FIRST_ORDINARY + number)
        currency, low, high, step = next(prices)
        amount_minor = chance.randrange(low, high, step)
        tool, team = chance.choice(_TOOLS)
        yield Call(
            at=friday + BEGINS + timedelta(seconds=chance.randint(0, _ORDINARY_SECONDS)),
            order=order,
            key=f"{tool}:order_{order}",
            amount_minor=amount_minor,
            currency=currency,
            tool=tool,
            team=team,
            paid_minor=amount_minor if chance.random() < 1 / 2 else amount_minor * 2,
            tagged=tool != "billing_portal",  # An older tool: its refunds are known by their ids.
        )


def _twice(friday: datetime) -> Iterator[Call]:
    """Yield nine customers' refunds: a call, no answer, and the same call with another id for its key."""
    for order, seconds, paid_minor, amount_minor, currency, pause in _TWICE:
        at = friday + BEGINS + timedelta(seconds=seconds)
        yield Call(at, order, _call_key(order, 1), amount_minor, currency, paid_minor=paid_minor, fault=SLOW)
        yield Call(at + timedelta(seconds=pause), order, _call_key(order, 2), amount_minor, currency)


def _whole_twice(friday: datetime) -> Iterator[Call]:
    """Yield two more such customers, whose second refund the provider refuses."""
    for order, seconds, amount_minor, currency, pause in _WHOLE_TWICE:
        at = friday + BEGINS + timedelta(seconds=seconds)
        yield Call(
            at, order, _call_key(order, 1), amount_minor, currency, paid_minor=amount_minor, fault=SLOW
        )
        yield Call(at + timedelta(seconds=pause), order, _call_key(order, 2), amount_minor, currency)


def _call_key(order: str, number: int) -> str:
    """Return what the careless tool takes for a key: the id of the call, which is another at each attempt."""
    return f"refund_order:{named('call_', f'{order}/{number}', 8).lower()}"


def _others(friday: datetime) -> Iterator[Step]:
    """Yield what else goes wrong: at least one of every other kind, and what looks wrong and is not."""
    yield from _before_friday(friday)
    evening = friday + BEGINS

    def call(minutes: int, order: str, amount_minor: int, currency: str, **more: object) -> Call:
        tool = str(more.get("tool", "refund_order"))
        at = evening + timedelta(minutes=minutes)
        asked = {"key": f"{tool}:order_{order}", "paid_minor": amount_minor * 2} | more
        return Call(at, order, amount_minor=amount_minor, currency=currency, **asked)  # type: ignore[arg-type]

    returns = {"tool": "returns_desk", "team": "logistics"}
    billing = {"tool": "billing_portal", "team": "billing"}
    # Meant in euros, on a payment in dollars: the provider refunds in the payment's currency.
    yield call(19, "8907", 3_400, "eur", charged="usd", **billing)
    # Yen have no minor unit; somebody multiplied by 100.
    yield call(26, "8911", 4_200, "jpy", sent_minor=420_000, paid_minor=500_000, **billing)
    # A float, cut instead of rounded.
    yield call(35, "8915", 2_995, "usd", sent_minor=2_994, **returns)
    # This tool takes a timeout for a failure.
    yield call(22, "8918", 5_900, "usd", fault=SLOW, without_answer=IntentStatus.FAILED, **returns)
    # This one takes any exception for a success.
    yield call(29, "8921", 7_400, "eur", fault=LOST, without_answer=IntentStatus.DONE, **billing)
    # Nobody knows, and nobody asked again: it never arrived.
    yield call(24, "8924", 6_150, "usd", fault=LOST)
    # Nobody knows, and it did arrive.
    yield call(40, "8927", 4_650, "usd", fault=SLOW, tagged=False, **returns)
    # Just now: too young to be anything.
    yield call(112, "8930", 3_800, "usd", fault=LOST)
    # Two lines of one order at the same price: meant twice, and it says so.
    for line, paid_minor in (("line-1", 6_000), ("line-2", None)):
        more = {"key": f"returns_desk:order_8933:{line}", "reference": line, "paid_minor": paid_minor}
        yield call(48 if paid_minor else 49, "8933", 1_500, "usd", **returns | more)
    yield Click(evening + timedelta(minutes=72), "8936", 9_900, 4_500, "usd")
    # The key of Thursday, once more after the provider has forgotten it: keys live for a day.
    yield call(31, "8588", 5_250, "usd", paid_minor=None, **returns)


def _before_friday(friday: datetime) -> Iterator[Step]:
    """Yield what was begun earlier and shows on Friday."""
    # With the provider for nine days.
    yield Call(
        friday - timedelta(days=9) + timedelta(hours=11),
        "8402",
        "returns_desk:order_8402",
        13_900,
        "eur",
        tool="returns_desk",
        team="logistics",
        paid_minor=27_800,
        begins_as="pending",
    )
    # Accepted on Tuesday; the bank sends it back on Friday.
    yield Call(
        friday - timedelta(days=3) + timedelta(hours=10, minutes=12),
        "8551",
        "refund_order:order_8551",
        8_800,
        "usd",
        paid_minor=17_600,
    )
    yield Return(friday + timedelta(hours=16, minutes=20), "8551", "expired_or_canceled_card")
    yield Call(
        friday - timedelta(days=1) + timedelta(hours=16, minutes=10),
        "8588",
        "returns_desk:order_8588",
        5_250,
        "usd",
        tool="returns_desk",
        team="logistics",
        paid_minor=14_000,
    )
