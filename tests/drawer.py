"""Draws the rows of a random small world, with times on the edges of every grace.

Never decides what is right about a row: that is for the two readings of the diff.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from random import Random

Row = dict[str, object]

AS_OF = datetime(2026, 3, 6, 19, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)
GRACES: Mapping[str, timedelta] = {
    "stuck_after": timedelta(minutes=60),
    "missing_after": timedelta(minutes=15),
    "orphan_after": timedelta(minutes=15),
    "duplicate_window": timedelta(hours=24),
    "repeat_window": timedelta(days=30),
    "inferred_window": timedelta(hours=24),
    "clock_skew": timedelta(seconds=5),
    "provider_pending_after": timedelta(days=7),
}
BERLIN = timezone(timedelta(hours=1))
ACCOUNTS = ("", "", "", "", None, "acct_1")
KEYS = ("k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8")
IDS = ("re_1", "re_2", "re_3", "re_4", "re_5", "re_6", "re_7", "re_8")
SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8)
AMOUNTS = (100, 100, 100, 100, 100, 100, 50, 99, 101, 1, 10_000, 100_000, 0)
CURRENCIES = ("usd", "usd", "usd", "usd", "usd", "usd", "eur", "jpy", "kwd")
DECIMALS = {"usd": 2, "eur": 2, "jpy": 0, "kwd": 3}
INTENT_STATUSES = (*["done"] * 9, *["pending_unknown"] * 4, *["pending"] * 3, *["failed"] * 2, "cancelled")
REFUND_STATUSES = (*["succeeded"] * 12, *["pending"] * 3, "requires_action", *["failed"] * 3, "canceled")
UNKNOWN_STATUSES = ("on_hold", None, "")
BAD_AMOUNTS = (-1, "-100", "12.5", "abc", None, "", 0.5)
BAD_TIMES = ("2026-03-06T17:00:00", "yesterday", "2026-03-06")


class Drawer:
    """Draws rows that know of each other: their times come from one pool, their names from small alphabets.

    In a calm world most rows are about the same money and payment, and each refund names its own intent.
    """

    def __init__(self, random: Random, graces: Mapping[str, timedelta], *, whole_seconds: bool) -> None:
        self.random = random
        self.graces = graces
        self.whole_seconds = whole_seconds
        self.pool = [AS_OF]
        self.calm = self.chance(0.5)

    def chance(self, share: float) -> bool:
        """True that often."""
        return self.random.random() < share

    def edge(self) -> timedelta:
        """Mostly nothing, else a microsecond or a second to either side."""
        steps = (SECOND,) if self.whole_seconds else (SECOND, MICROSECOND)
        return timedelta(0) if self.chance(0.5) else self.random.choice(steps) * self.random.choice((1, -1))

    def kept(self, moment: datetime) -> datetime:
        """The moment, mirrored into the past where it is long after as_of; remembered for others."""
        if moment - AS_OF > timedelta(hours=1):
            moment = AS_OF - (moment - AS_OF)
        self.pool.append(moment)
        return moment

    def before(self, *names: str) -> datetime:
        """A grace before as_of, give or take nothing, a microsecond or a second."""
        return self.kept(AS_OF - self.graces[self.random.choice(names)] + self.edge())

    def near(self) -> datetime:
        """A grace or a little away from as_of or from a time that another row has."""
        names = ("duplicate_window", "repeat_window", "inferred_window", "clock_skew")
        steps = (timedelta(0), SECOND, timedelta(minutes=2), *(self.graces[name] for name in names))
        step = self.random.choice(steps) * self.random.choice((1, -1))
        return self.kept(self.random.choice(self.pool) + step + self.edge())

    def limit(self) -> datetime:
        """From when a side was read: about when one of the rows was made."""
        return self.random.choice(self.pool) + self.edge()

    def moment(self, *names: str) -> datetime:
        """A time on the edge of one of these graces, near another row's, or some hours ago."""
        if self.chance(0.4):
            return self.before(*names)
        if self.chance(0.4):
            return self.near()
        return self.kept(AS_OF - timedelta(hours=self.random.randint(1, 4)))

    def spelled(self, moment: datetime) -> str:
        """A time in one of the ways a file writes it."""
        if self.chance(0.05):
            return moment.astimezone(BERLIN).isoformat()
        return moment.isoformat() if self.chance(0.2) else moment.isoformat().replace("+00:00", "Z")

    def amount(self) -> tuple[int, str]:
        """Some money."""
        if self.calm and self.chance(0.9):
            return 100, "usd"
        return self.random.choice(AMOUNTS), self.random.choice(CURRENCIES)

    def payment(self) -> int | None:
        """One of three payments, by number. Of the third nobody knows a PaymentIntent."""
        if self.calm and self.chance(0.8):
            return 1
        return self.random.choice((1, 1, 1, 2, 2, 3, None))

    def minor(self, amount: int) -> object:
        """Minor units in one of the ways a file writes them."""
        return amount if self.chance(0.8) else self.random.choice((str(amount), f"{amount}.0", float(amount)))

    def price(self, amount: int, currency: str) -> Row:
        """An intent's amount in minor units, in major ones, or in both."""
        major: Row = {"amount": str(Decimal(amount).scaleb(-DECIMALS[currency]))}
        said: Row = major if self.chance(0.15) else {"amount_minor": self.minor(amount)}
        if self.chance(0.04):
            said = {**said, **major}
        return {**said, "currency": currency.upper() if self.chance(0.05) else currency}

    def intent(self, key: str) -> Row:
        """An intent's row."""
        random = self.random
        created_at = self.moment("stuck_after", "missing_after")
        row: Row = {"key": key, "status": random.choice(INTENT_STATUSES), **self.price(*self.amount())}
        row["created_at"] = self.spelled(created_at)
        if self.chance(0.8):
            sent_at = self.kept(created_at + SECOND) if self.chance(0.5) else self.moment("stuck_after")
            row["first_sent_at"] = self.spelled(sent_at)
        if self.chance(0.8):
            answered_at = created_at + 2 * SECOND if self.chance(0.4) else self.moment("missing_after")
            row["updated_at"] = self.spelled(answered_at)
        row["account"] = random.choice(ACCOUNTS)
        number = self.payment()
        row["payment"] = None if number is None else self.shown(number)[1 if self.chance(0.25) else 0]
        row["order_id"] = random.choice(("o1", "o1", "o2", "pi_1", None))
        row["reference"] = random.choice((None, None, None, None, "r1", "r2", ""))
        if self.chance(0.3):
            row["refund_id"] = random.choice(IDS)
        for name in ("tool", "team", "customer_id"):
            if self.chance(0.2):
                row[name] = f"{name}_1"
        return {name: value for name, value in row.items() if value is not None or self.chance(0.5)}

    def shown(self, number: int) -> tuple[str, str]:
        """A payment's names: PaymentIntent and charge, where it has both."""
        return (f"pi_{number}", f"ch_{number}") if number < 3 else ("ch_3", "ch_3")

    def payment_of(self, number: int | None) -> Row:
        """How a refund names its payment: by both, by PaymentIntent, by charge, or not at all."""
        if number is None:
            return {"payment_intent": None, "charge": None}
        intent, charge = self.shown(number)
        if number == 3 or self.chance(0.3):
            return {"payment_intent": None, "charge": charge}
        return {"payment_intent": intent, "charge": charge if self.chance(0.6) else None}

    def refund(self, name: str, intent: Row | None) -> Row:
        """A refund's row, mostly like that intent."""
        random = self.random
        row: Row = {"id": name, "status": random.choice(REFUND_STATUSES)}
        if self.chance(0.07):
            row["status"] = random.choice(UNKNOWN_STATUSES)
        like = intent is not None and self.chance(0.95 if self.calm else 0.8)
        row.update(self.like(intent) if like and intent is not None else self.unlike())
        row.update(self.names(intent if like else None))
        if row["status"] in {"pending", "requires_action"} and self.chance(0.5):
            row["created_at"] = self.spelled(self.before("provider_pending_after"))
        if self.chance(0.04):
            row["reason"] = "expired_uncaptured_charge"
        elif self.chance(0.1):
            row["reason"] = "requested_by_customer"
        if self.chance(0.04) and not self.whole_seconds:
            row["system"] = random.choice((True, True, False))
        if row["status"] == "failed" and self.chance(0.5):
            row["failure_reason"] = "declined"
        return row

    def like(self, intent: Row) -> Row:
        """Money, payment and account as the intent has them, each now and then not; made when it was sent."""
        amount, currency = self.random.choice(AMOUNTS), self.random.choice(CURRENCIES)
        if self.chance(0.85 if self.calm else 0.75):
            amount = amount_in(intent)
        if self.chance(0.92):
            currency = str(intent["currency"]).lower()
        name = intent.get("payment")
        number = int(str(name)[-1]) if name is not None and self.chance(0.95) else self.payment()
        account = intent.get("account") if self.chance(0.95) else self.random.choice(ACCOUNTS)
        sent_at = datetime.fromisoformat(str(intent.get("first_sent_at") or intent["created_at"])).astimezone(
            UTC
        )
        after = (
            SECOND,
            timedelta(0),
            -self.graces["clock_skew"] + self.edge(),
            self.graces["inferred_window"] + self.edge(),
        )
        made_at = sent_at + self.random.choice(after) if self.chance(0.65) else self.made_at()
        money = {"amount_minor": self.minor(amount), "currency": currency, "account": self.own(account)}
        return {**money, "created_at": self.spelled(self.kept(made_at)), **self.payment_of(number)}

    def unlike(self) -> Row:
        """Money, payment, account and time of their own."""
        amount, currency = self.amount()
        account = self.own(self.random.choice(ACCOUNTS))
        money = {"amount_minor": self.minor(amount), "currency": currency, "account": account}
        return {**money, "created_at": self.spelled(self.made_at()), **self.payment_of(self.payment())}

    def own(self, account: object) -> object:
        """The account; the provider's objects do not name one."""
        return "" if self.whole_seconds else account

    def made_at(self) -> datetime:
        """When some refund was made."""
        return self.moment("orphan_after", "orphan_after", "provider_pending_after")

    def names(self, intent: Row | None) -> Row:
        """The keys a refund carries: that intent's, another's, or nobody's."""
        names: Row = {}
        for name, share in (("intent_key", 0.4), ("request_key", 0.22), ("operator_key", 0.08)):
            if self.chance(0.75 if self.calm and name == "intent_key" else share):
                own = intent is not None and self.chance(0.95 if self.calm else 0.8)
                names[name] = (
                    intent["key"] if own and intent is not None else self.random.choice((*KEYS, "k9"))
                )
        if self.whole_seconds:
            names = {name: key for name, key in names.items() if name == "intent_key"}
        return names

    def spoil(self, row: Row, version: Callable[[Row], Row], bad: Callable[[Row], Row]) -> list[Row]:
        """The row as it is, or as a file may have it: twice, in versions, or unreadable."""
        rows = [row]
        while self.chance(0.06):
            rows.append(version(row))
        if self.chance(0.05):
            rows.append(dict(self.random.choice(rows)))
        if self.chance(0.04):
            rows[self.random.randrange(len(rows))] = bad(row)
        return rows

    def intent_version(self, row: Row) -> Row:
        """The intent as another version of the table had it."""
        other = dict(row)
        updated_at = datetime.fromisoformat(str(row.get("updated_at") or row["created_at"]))
        if self.chance(0.8):
            other["updated_at"] = self.spelled(
                updated_at.astimezone(UTC) + self.random.choice((1, -1)) * SECOND
            )
        what = self.random.choice(("status", "refund_id", "price", "reference"))
        if what == "price":
            for name in ("amount", "amount_minor"):
                other.pop(name, None)
            other.update(self.price(*self.amount()))
        else:
            values = {"status": INTENT_STATUSES, "refund_id": (*IDS, None), "reference": ("r1", "r2", None)}
            other[what] = self.random.choice(values[what])
        return other

    def refund_version(self, row: Row) -> Row:
        """The refund as another reading of the provider had it."""
        other = dict(row)
        if row["status"] in REFUND_STATUSES and self.chance(0.7):
            other["status"] = self.random.choice(REFUND_STATUSES)
        what = self.random.choice(("reason", "key", "key", "payment", "money"))
        if what == "key" and {row["status"], other["status"]} != {"failed", "canceled"}:
            names = ("intent_key",) if self.whole_seconds else ("intent_key", "request_key", "operator_key")
            other[self.random.choice(names)] = self.random.choice((*KEYS, None, None))
        elif what == "reason":
            other["failure_reason"] = None if row.get("failure_reason") else "lost_or_stolen_card"
        elif what == "payment" and self.chance(0.7):
            name = row["payment_intent"] or row["charge"]
            other.update(self.payment_of(None if name is None else int(str(name)[-1])))
        elif what == "payment":
            other.update(self.payment_of(self.payment()))
        elif what == "money" and self.chance(0.3):
            amount, other["currency"] = self.amount()
            other["amount_minor"] = self.minor(amount)
        return other

    def bad_intent(self, row: Row) -> Row:
        """The intent's row with something in it that cannot be read."""
        random = self.random
        bad: list[Row] = [
            {"key": random.choice((None, ""))},
            {"amount_minor": random.choice(BAD_AMOUNTS), "amount": None},
            {"amount_minor": 100, "amount": "1.01"},
            {"amount_minor": None, "amount": "0.0001"},
            {"currency": random.choice(("xxx", None, ""))},
            {"status": random.choice(("refunded", None, ""))},
            {random.choice(("created_at", "updated_at", "first_sent_at")): random.choice(BAD_TIMES)},
            {"created_at": None},
        ]
        return {**row, **random.choice(bad)}

    def bad_refund(self, row: Row) -> Row:
        """The refund's row with something in it that cannot be read."""
        random = self.random
        bad: list[Row] = [
            {"id": random.choice((None, ""))},
            {"amount_minor": random.choice(BAD_AMOUNTS)},
            {"currency": random.choice(("xxx", None, ""))},
            {"created_at": None if self.whole_seconds else random.choice((*BAD_TIMES, None))},
        ]
        return {**row, **random.choice(bad)}

    def pages(self, objects: list[Row]) -> list[Row]:
        """The provider's objects bare, or in list pages of a few each."""
        if self.chance(0.4):
            return objects
        size = self.random.randint(1, 4)
        return [
            {
                "object": "list",
                "url": "/v1/refunds",
                "has_more": self.chance(0.05),
                "data": objects[start : start + size],
            }
            for start in range(0, len(objects), size)
        ]

    def as_object(self, row: Row) -> Row:
        """A flat row as the provider gives it: Unix seconds, metadata, now and then an expanded charge."""
        created_at = row.get("created_at")
        charge = row["charge"]
        return {
            "id": row["id"],
            "object": "refund",
            "amount": row["amount_minor"],
            "currency": row["currency"],
            "created": None
            if created_at is None
            else int(datetime.fromisoformat(str(created_at)).timestamp()),
            "status": row["status"],
            "payment_intent": row["payment_intent"],
            "charge": {"id": charge, "object": "charge"} if charge and self.chance(0.3) else charge,
            "metadata": {"intent_key": row["intent_key"]} if row.get("intent_key") else {},
            "reason": row.get("reason"),
            **({"failure_reason": row["failure_reason"]} if row.get("failure_reason") else {}),
        }


def amount_in(intent: Row) -> int:
    """An intent's minor units, whichever way its row gives them."""
    if intent.get("amount_minor") is not None:
        return int(Decimal(str(intent["amount_minor"])))
    return int(Decimal(str(intent["amount"])).scaleb(DECIMALS[str(intent["currency"]).lower()]))
