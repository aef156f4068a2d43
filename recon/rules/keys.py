"""One business intent in, its key and its fingerprint out: every call of one decision gets the same.

Pure. A key is made of business fields only; call ids, threads, clocks and a model's words have no way in.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256

from recon.model import money, spellings, stored
from recon.model.records.guarded import Unfit
from recon.model.records.words import AccountId, IntentKey

# What the hash begins with: another way to make keys needs another word, or two ways could meet.
_SCHEME = "recon key 1"
_DIGEST = 32  # Half a SHA-256: 128 bits, beyond any accident.
_SHOWN = 40  # Of an order's name in its key, for people; the digest tells orders apart.
_UNSHOWN = re.compile(r"[^A-Za-z0-9_.]+")
_AMOUNT = re.compile(r"[0-9]{1,40}(?:\.[0-9]{1,40})?")
# Names of ours end up in tables, an HTTP header and the provider's metadata, whose values hold 500.
LONGEST = 255
_NO_ORDER = "order_id must say which order is refunded; found none"
_BITS = 64  # Of a number: what any column of ours holds, and what Python writes out at once.
_OPERATION = re.compile(r"[a-z][a-z0-9_]{0,63}")
# Fields that code gives: a model that asks for a refund has no other value for them.
_BY_CODE = {"reference", "account", "customer_id"}
# Letters that a header can hold; what the provider calls its payments has no others.
_PAYMENT = re.compile(r"[A-Za-z0-9_]{1,255}")


@dataclass(frozen=True, slots=True)
class Business:
    """A refund that was decided on, in its normal form.

    fields: what makes its key, by name. fingerprint: what the key must always come with.
    """

    account: AccountId
    order_id: str
    reference: str | None
    payment: str
    amount_minor: int
    currency: str
    customer_id: str | None

    @property
    def fields(self) -> dict[str, str]:
        """Return order and reference, the latter only where there is one."""
        told = {"order_id": self.order_id, "reference": self.reference}
        return {name: value for name, value in told.items() if value is not None}

    @property
    def fingerprint(self) -> dict[str, str]:
        """Return amount, currency and payment as texts."""
        return {"amount_minor": str(self.amount_minor), "currency": self.currency, "payment": self.payment}


def make(operation: str, account: AccountId, fields: Mapping[str, str]) -> IntentKey:
    """Return the key of a decision: the operation, one field for people, and a digest of everything.

    fields: in any order; a field that is absent is another key than one that is empty.
    """
    assert _OPERATION.fullmatch(operation), f"expected a tool's name in lower case, found {operation!r}"
    assert fields, "expected a field that tells one decision from another"
    said = stored.canonical([_SCHEME, operation, account, dict(fields)])
    digest = sha256(said.encode()).hexdigest()[:_DIGEST]
    name = _UNSHOWN.sub("-", fields[min(fields)]).strip("-")[:_SHOWN]
    return IntentKey(":".join(part for part in (operation, name, digest) if part))


def normal(fields: Mapping[str, object]) -> dict[str, str] | Unfit:
    """Return the fields that are there, each in its one spelling, or why one of them cannot be."""
    found = {name: _name(value) for name, value in fields.items()}
    for name, value in found.items():
        if isinstance(value, Unfit):
            return Unfit(f"{name} {value.reason}", for_person=value.for_person or name in _BY_CODE)
    return {name: value for name, value in found.items() if isinstance(value, str)}


def decision(fields: Mapping[str, object], account: object) -> tuple[AccountId, dict[str, str]] | Unfit:
    """Return a decision's account and what makes it, each in its one spelling; or why it is none."""
    named, owner = normal(fields), normal({"account": account})
    if isinstance(named, Unfit):
        return named
    if isinstance(owner, Unfit):
        return owner
    if not named:
        return Unfit("expected a field that tells one decision from another; found none")
    return AccountId(owner.get("account", "")), named


def order(order_id: object, account: object) -> tuple[str, AccountId] | Unfit:
    """Return an order and its account in the spelling that its refund has, or why they cannot be."""
    names = normal({"order_id": order_id, "account": account})
    if isinstance(names, Unfit):
        return names
    if "order_id" not in names:
        return Unfit(_NO_ORDER)
    return names["order_id"], AccountId(names.get("account", ""))


def refund(
    *,
    order_id: object,
    amount: object,
    currency: object,
    payment: object,
    reference: object = None,
    account: object = "",
    customer_id: object = None,
) -> Business | Unfit:
    """Return a refund in its normal form, or why it cannot be asked for.

    amount: major units as Decimal, whole number or plain text, positive, and exact in the currency.
    """
    names = normal(
        {"order_id": order_id, "reference": reference, "account": account, "customer_id": customer_id}
    )
    if isinstance(names, Unfit):
        return names
    if "order_id" not in names:
        return Unfit(_NO_ORDER)
    if not isinstance(payment, str) or not _PAYMENT.fullmatch(payment.strip()):
        return Unfit(
            "payment must be the provider's id of the payment, such as pi_123, of at most 255 of A-Z, a-z, "
            f"0-9 and _; found {_shown(payment)}",
            for_person=True,
        )
    code = currency.strip().lower() if isinstance(currency, str) else ""
    if code not in money.EXPONENTS:
        return Unfit(f"currency must be a currency's three letters, such as usd; found {_shown(currency)}")
    minor = _minor(amount, code)
    if isinstance(minor, Unfit):
        return minor
    return Business(
        account=AccountId(names.get("account", "")),
        order_id=names["order_id"],
        reference=names.get("reference"),
        payment=payment.strip(),
        amount_minor=minor,
        currency=code,
        customer_id=names.get("customer_id"),
    )


def drift(kept: Mapping[str, str], asked: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names under which the same key came with something else, in order."""
    return tuple(sorted(name for name in {*kept, *asked} if kept.get(name) != asked.get(name)))


def _name(value: object) -> str | Unfit | None:
    """Return a name without what people cannot see around it; None where it is empty or absent.

    Systems write one name in several codings of Unicode, and ids as numbers.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        return Unfit(f"must be a text or a whole number; found {_shown(value)}")
    if isinstance(value, int) and value.bit_length() > _BITS:
        return Unfit("must be a name; found a number too large to write", for_person=True)
    text = spellings.seen(unicodedata.normalize("NFC", str(value)))
    return _unfit(text) or text or None


def _unfit(name: str) -> Unfit | None:
    if len(name) > LONGEST:
        return Unfit(f"must have at most {LONGEST} characters; found {len(name)}", for_person=True)
    if any(unicodedata.category(each) in {"Cc", "Cs"} for each in name):
        return Unfit("must hold no control characters")
    if spellings.mimics(name):  # They look alike, and would be two decisions.
        plain = unicodedata.normalize("NFKC", name)
        found = f"; found '{spellings.revealed(name)[:80]}'"
        like = found if plain == name else f", as {plain!r:.80} is; found others"
        return Unfit(f"must be in plain characters{like}: type it anew")
    if spellings.hides(name):
        return Unfit("must hold no characters that nobody sees; found some within it: type it anew")
    return None


def _minor(amount: object, currency: str) -> int | Unfit:
    expected = "amount must be a positive number of major units, such as 49.00, as text, Decimal or int"
    if isinstance(amount, bool | float) or not isinstance(amount, str | int | Decimal):
        return Unfit(f"{expected}; found {_shown(amount)} ({type(amount).__name__})")
    value = amount.strip() if isinstance(amount, str) else amount
    if isinstance(value, str) and not _AMOUNT.fullmatch(value):
        return Unfit(f"{expected}; found {value!r:.80}")
    if isinstance(value, int) and value.bit_length() > _BITS:
        return Unfit(f"{expected}; found a number too large to write")
    minor = money.minor(value, currency)
    if minor is None:
        places = money.EXPONENTS[currency]
        return Unfit(f"{expected}, exact in {currency}, which has {places} decimals; found {str(value)[:80]}")
    return minor if minor > 0 else Unfit(f"{expected}; found {str(value)[:80]}")


def _shown(value: object) -> str:
    """Return something of what came: a model may send a number of five thousand digits, which has no text."""
    try:
        return repr(value)[:80]
    except Exception:  # noqa: BLE001 - whatever a stranger's object does when it is asked for its text
        return "something that cannot be written"
