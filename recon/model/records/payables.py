"""What a host knows of an order, and a model never says."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Payable:
    """An order that may be refunded. Source: the host's own books.

    order_id: as the books spell it, however it was asked for, because it makes the key. payment: the
    provider's id of what the customer paid. reference: what makes a further refund of the order another one,
    such as a return, and the same whenever this one is looked up; None where an order has one refund.
    account: "" is the platform's own.
    """

    order_id: str | int
    payment: str
    currency: str
    reference: str | int | None = None
    account: str = ""
    customer_id: str | None = None
