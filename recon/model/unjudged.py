"""Rejected rows by the payment that they are on.

Such a row withholds nothing by its payment, because a payment may have several refunds; but whoever reads
that something is missing on that payment must know of it. Only for sentences: no rule rests on it.
"""

from collections import defaultdict
from collections.abc import Iterable

import pandas as pd

from recon.model.records.results import Reject
from recon.model.records.words import AccountId


class Unjudged:
    """The rejected rows of one side.

    rejects: in their order. refunds: the refunds' frame, which shows the PaymentIntents of charges.
    """

    def __init__(self, rejects: Iterable[Reject], refunds: pd.DataFrame) -> None:
        told = [each for each in rejects if each.payments]
        shown = _shown({name for each in told for name in each.payments}, refunds)
        self._on: defaultdict[tuple[AccountId, str], list[Reject]] = defaultdict(list)
        for each in told:
            others = (shown.get((each.account, name), name) for name in each.payments)
            for payment in dict.fromkeys((*each.payments, *others)):
                self._on[each.account, payment].append(each)

    def on(self, account: AccountId, payment: str | None) -> tuple[Reject, ...]:
        """Return the rows on a payment of an account."""
        return () if payment is None else tuple(self._on.get((account, payment), ()))


def _shown(names: set[str], refunds: pd.DataFrame) -> dict[tuple[AccountId, str], str]:
    """Return the PaymentIntent of each name that is a charge of which a refund shows it."""
    if not names:
        return {}
    showing = refunds["charge"].isin(names) & refunds["payment_intent"].notna()
    rows = refunds.loc[showing, ["account", "charge", "payment_intent"]].sort_values(
        "payment_intent", ascending=False
    )  # Of several the least is written last, as where payments are mapped.
    return {
        (AccountId(account), charge): payment
        for account, charge, payment in rows.itertuples(index=False, name=None)
    }
