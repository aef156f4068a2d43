"""Which intent each refund belongs to, and on what basis, as arrays beside the two frames.

Made by rules/linking.py. Never judges whether what is linked agrees.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from recon.model.arrays import Bools, Ints
from recon.model.records.words import Basis

BASES = (Basis.OPERATOR, Basis.INTENT_KEY, Basis.REFUND_ID, Basis.REQUEST_KEY, Basis.INFERRED)
WEAK = BASES.index(Basis.INFERRED)


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The links of one pair of frames; positions are row numbers of those frames, -1 is none.

    intent: per refund, its intent. basis: per refund, an index into BASES. claimed_by: per intent, the intent
    to which the refund that this one recorded belongs instead. live: per refund, neither failed nor canceled
    (an unknown word is live). intent_account, refund_account: codes into accounts. refund_payment: per
    refund, a code into payments: its PaymentIntent, else the PaymentIntent of its charge, else its charge.
    intent_payment: per intent, the name of its payment after the same mapping, null where it names none.
    """

    intent: Ints
    basis: npt.NDArray[np.int8]
    claimed_by: Ints
    live: Bools
    accounts: pa.Array
    intent_account: Ints
    refund_account: Ints
    payments: pa.Array
    refund_payment: Ints
    intent_payment: pa.Array
