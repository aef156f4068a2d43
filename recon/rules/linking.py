"""Linking: which intent of its account each refund belongs to, by the first basis that answers.

A person's word, the key in the metadata, the recorded id and the key of the creating request are strong. What
is left is inferred from payment, amount, currency and time, which keeps a finished intent quiet but proves
nothing.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recon.model import arrays
from recon.model.arrays import ABSENT, Bools, Ints
from recon.model.links import WEAK, Links
from recon.model.records.results import Policy
from recon.model.records.words import DEAD, IntentStatus

# Which intents an inferred link may finish or keep quiet, in the order in which they are taken.
INFERABLE = (IntentStatus.DONE.value, IntentStatus.PENDING_UNKNOWN.value, IntentStatus.PENDING.value)


def link(intents: pd.DataFrame, refunds: pd.DataFrame, policy: Policy) -> Links:
    """Return the links of these frames; the same for any order of their rows.

    Shapes: intents and refunds as model/frames.py says, keys and ids unique per account. System refunds are
    never linked.
    """
    (intent_account, refund_account), accounts = arrays.encode(
        arrays.strings(intents["account"]), arrays.strings(refunds["account"])
    )
    live = ~arrays.isin(arrays.strings(refunds["status"]), DEAD)
    intent, basis, claimed_by = _strong(intents, refunds, intent_account, refund_account)
    payments, refund_payment, intent_payment = _payments(intents, refunds, intent_account, refund_account)
    links = Links(
        intent=intent,
        basis=basis,
        claimed_by=claimed_by,
        live=live,
        accounts=accounts,
        intent_account=intent_account,
        refund_account=refund_account,
        payments=payments,
        refund_payment=refund_payment,
        intent_payment=intent_payment,
    )
    _infer(intents, refunds, links, policy)
    return links


def _strong(
    intents: pd.DataFrame, refunds: pd.DataFrame, intent_account: Ints, refund_account: Ints
) -> tuple[Ints, np.ndarray, Ints]:
    keys = arrays.strings(intents["key"])
    taking_part = ~refunds["system"].to_numpy()
    named = arrays.find_within(arrays.strings(refunds["intent_key"]), refund_account, keys, intent_account)
    claimed, claimant = _claims(intents, refunds, intent_account, refund_account, named)

    intent = np.full(len(refunds), ABSENT, np.int64)
    basis = np.full(len(refunds), ABSENT, np.int8)
    for number, column in enumerate(("operator_key", "intent_key", "refund_id", "request_key")):
        if column == "intent_key":
            found = named
        elif column == "refund_id":
            found = claimant
        else:
            names = arrays.strings(refunds[column])
            found = arrays.find_within(names, refund_account, keys, intent_account)
        answers = (intent == ABSENT) & (found != ABSENT) & taking_part
        intent[answers] = found[answers]
        basis[answers] = number

    holder = np.where(claimed == ABSENT, ABSENT, intent[claimed] if len(intent) else ABSENT)
    lost = (holder != ABSENT) & (holder != np.arange(len(intents)))
    return intent, basis, np.where(lost, holder, ABSENT)


def _claims(
    intents: pd.DataFrame, refunds: pd.DataFrame, intent_account: Ints, refund_account: Ints, named: Ints
) -> tuple[Ints, Ints]:
    """Return per intent the refund that it recorded, and per refund the earliest intent that recorded it.

    named: per refund, the intent of its account that it names.
    """
    recorded, ids = arrays.strings(intents["refund_id"]), arrays.strings(refunds["id"])
    claimed = np.full(len(intents), ABSENT, np.int64)
    # Most refunds are recorded by the intent that they name: comparing the two is quicker than a search.
    naming = np.flatnonzero(named != ABSENT)
    same = pc.equal(recorded.take(pa.array(named[naming])), ids.take(pa.array(naming)))
    agreed = naming[np.asarray(pc.fill_null(same, fill_value=False))]
    claimed[named[agreed]] = agreed
    rest = np.flatnonzero((claimed == ABSENT) & arrays.present(recorded))
    claimed[rest] = arrays.find_within(
        recorded.take(pa.array(rest)), intent_account[rest], ids, refund_account
    )
    claimant = np.full(len(refunds), ABSENT, np.int64)
    claiming = np.flatnonzero(claimed != ABSENT)
    contested = np.bincount(claimed[claiming], minlength=len(refunds))[claimed[claiming]] > 1
    single, several = claiming[~contested], claiming[contested]
    claimant[claimed[single]] = single
    # The latest is written first, so that the earliest stands.
    for position in reversed(_in_time_order(intents, several, "key")):
        claimant[claimed[position]] = position
    return claimed, claimant


def _in_time_order(frame: pd.DataFrame, positions: Ints, name: str) -> list[int]:
    """Return the positions by (created_at, name), name being the frame's unique text column."""
    rows = frame.iloc[positions]
    ordered = pd.DataFrame(
        {"at": arrays.times(rows["created_at"]), "name": rows[name].to_numpy(object), "position": positions}
    ).sort_values(["at", "name"], kind="stable")
    return [int(position) for position in ordered["position"]]


def _payments(
    intents: pd.DataFrame, refunds: pd.DataFrame, intent_account: Ints, refund_account: Ints
) -> tuple[pa.Array, Ints, pa.Array]:
    """Return the payments' names, each refund's code among them, and each intent's payment by name."""
    payment_intent, charge = arrays.strings(refunds["payment_intent"]), arrays.strings(refunds["charge"])
    told = arrays.present(payment_intent) & arrays.present(charge)
    shown = _Charges(charge.filter(told), refund_account[told], payment_intent.filter(told))
    only_charge = np.flatnonzero(~arrays.present(payment_intent) & arrays.present(charge))
    if len(only_charge):
        mapped = shown.payments(charge.take(only_charge), refund_account[only_charge])
        payment_intent = pc.replace_with_mask(payment_intent, _mask(only_charge, len(refunds)), mapped)
    codes = arrays.first_places(payment_intent)
    return payment_intent, codes, shown.payments(arrays.strings(intents["payment"]), intent_account)


def _mask(positions: Ints, length: int) -> pa.Array:
    mask = np.zeros(length, bool)
    mask[positions] = True
    return pa.array(mask)


class _Charges:
    """Which PaymentIntent each charge belongs to, as refunds that name both show it."""

    def __init__(self, charges: pa.Array, accounts: Ints, payments: pa.Array) -> None:
        self._charges, self._accounts, self._payments = charges, accounts, payments

    def payments(self, names: pa.Array, accounts: Ints) -> pa.Array:
        """Return each name's PaymentIntent where it is a charge that some refund shows, else the name."""
        if not arrays.may_share(self._charges, names):
            return names
        asked = arrays.find(self._charges, names) != ABSENT
        if not asked.any():
            return names
        table = pd.DataFrame(
            {
                "charge": self._charges.filter(asked).to_pylist(),
                "account": self._accounts[asked],
                "payment": self._payments.filter(asked).to_pylist(),
            }
        )
        # Of several PaymentIntents that one charge is shown with, the least, so that the order of rows is no
        # matter.
        table = table.sort_values("payment").drop_duplicates(["charge", "account"])
        charges = pa.array(table["charge"].to_list(), pa.large_string())
        found = arrays.find_within(names, accounts, charges, table["account"].to_numpy())
        shown = pa.array(table["payment"].to_list(), pa.large_string())
        taken = shown.take(pa.array(found, mask=found == ABSENT))
        return pc.coalesce(taken, names)


def _infer(intents: pd.DataFrame, refunds: pd.DataFrame, links: Links, policy: Policy) -> None:
    """Write the inferred links into the links' own, still private, arrays."""
    free_refunds = np.flatnonzero(
        links.live
        & (links.intent == ABSENT)
        & ~refunds["system"].to_numpy()
        & refunds["intent_key"].isna().to_numpy()
        & (links.refund_payment != ABSENT)
    )
    linked = np.zeros(len(intents), bool)
    linked[links.intent[links.intent != ABSENT]] = True
    status = arrays.strings(intents["status"])
    free_intents = np.flatnonzero(
        ~linked & arrays.isin(status, INFERABLE) & arrays.present(links.intent_payment)
    )
    if len(free_refunds) == 0 or len(free_intents) == 0:
        return
    here, there = _groups(intents, refunds, links, free_intents, free_refunds)
    window = _Window(intents, refunds, policy)
    size = max(here.max(), there.max()) + 1
    intents_in, refunds_in = np.bincount(here, minlength=size), np.bincount(there, minlength=size)

    pairs = np.flatnonzero((intents_in == 1) & (refunds_in == 1))
    intent = free_intents[_first(here, pairs)]
    refund = free_refunds[_first(there, pairs)]
    fits = window.holds(intent, refund)
    links.intent[refund[fits]] = intent[fits]
    links.basis[refund[fits]] = WEAK

    crowds = np.flatnonzero((intents_in * refunds_in) > 1)
    for some_intents, some_refunds in zip(
        _split(here, crowds, free_intents), _split(there, crowds, free_refunds), strict=True
    ):
        _take(intents, refunds, links, window, here=some_intents, there=some_refunds)


def _groups(
    intents: pd.DataFrame, refunds: pd.DataFrame, links: Links, free_intents: Ints, free_refunds: Ints
) -> tuple[Ints, Ints]:
    """Return a number per free intent and refund: equal where account, payment, amount and currency are."""
    payment = arrays.find(links.intent_payment.take(free_intents), links.payments)
    (intent_currency, refund_currency), _ = arrays.encode(
        arrays.strings(intents["currency"].iloc[free_intents]),
        arrays.strings(refunds["currency"].iloc[free_refunds]),
    )
    numbers = arrays.group(
        np.concatenate([links.intent_account[free_intents], links.refund_account[free_refunds]]),
        np.concatenate([payment, links.refund_payment[free_refunds]]),
        np.concatenate(
            [
                intents["amount_minor"].to_numpy()[free_intents],
                refunds["amount_minor"].to_numpy()[free_refunds],
            ]
        ),
        np.concatenate([intent_currency, refund_currency]),
    )
    return numbers[: len(free_intents)], numbers[len(free_intents) :]


def _first(numbers: Ints, wanted: Ints) -> Ints:
    """Return where each wanted number stands first."""
    order = np.argsort(numbers, kind="stable")
    return order[np.searchsorted(numbers[order], wanted)]


def _split(numbers: Ints, wanted: Ints, positions: Ints) -> list[Ints]:
    """Return for each wanted group number, in order, the positions with it."""
    order = np.argsort(numbers, kind="stable")
    low = np.searchsorted(numbers[order], wanted, "left")
    high = np.searchsorted(numbers[order], wanted, "right")
    return [positions[order[start:end]] for start, end in zip(low, high, strict=True)]


class _Window:
    """When a refund may be an intent's: from clock_skew before to inferred_window after it was sent."""

    def __init__(self, intents: pd.DataFrame, refunds: pd.DataFrame, policy: Policy) -> None:
        sent = intents["first_sent_at"].notna().to_numpy()
        self._sent = np.where(
            sent, arrays.times(intents["first_sent_at"]), arrays.times(intents["created_at"])
        )
        self._created = arrays.times(refunds["created_at"])
        self._before = arrays.microseconds(policy.clock_skew)
        self._after = arrays.microseconds(policy.inferred_window)

    def holds(self, intent: Ints, refund: Ints) -> Bools:
        """Return whether each refund was created within its intent's window, both ends included."""
        age = self._created[refund] - self._sent[intent]
        return (-self._before <= age) & (age <= self._after)


def _take(
    intents: pd.DataFrame, refunds: pd.DataFrame, links: Links, window: _Window, *, here: Ints, there: Ints
) -> None:
    """Let each refund of one group, in time order, take the first free intent that fits."""
    status = intents["status"].iloc[here].to_numpy(object)
    rank = {int(position): INFERABLE.index(word) for position, word in zip(here, status, strict=True)}
    # sorted() is stable: within a rank the time order stands.
    free = np.array(sorted(_in_time_order(intents, here, "key"), key=rank.__getitem__), np.int64)
    for refund in _in_time_order(refunds, there, "id"):
        fitting = np.flatnonzero(window.holds(free, np.full(len(free), refund)))
        if len(fitting):
            links.intent[refund] = free[fitting[0]]
            links.basis[refund] = WEAK
            free = np.delete(free, fitting[0])
