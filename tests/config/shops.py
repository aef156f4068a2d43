"""Refunds as the tables of well-known shops hold them: names are the shops', values the tests' own.

Each shop refunded 49.00 of order A-1, which the provider has as re_1 on pi_1, and 5.00 of order A-2, of which
the provider knows nothing.
"""

import json
from collections.abc import Mapping, Sequence

Rows = Sequence[Mapping[str, object]]

FIRST, SECOND = "2026-03-06 17:00:00", "2026-03-06 18:00:00"

MEDUSA: Rows = [
    {
        "id": f"ref_{number}",
        "amount": amount,
        "raw_amount": json.dumps({"value": amount, "precision": 20}),
        "payment_id": f"pay_{number}",
        "refund_reason_id": None,
        "note": "late",
        "created_by": "user_1",
        "metadata": None,
        "created_at": f"{made}.120+00",
        "updated_at": f"{made}.120+00",
        "deleted_at": gone,
        "currency_code": "usd",
        "payment_intent": payment,
        "order_id": f"A-{number}",
    }
    for number, amount, made, payment, gone in (
        (1, "49", FIRST, "pi_1", None),
        (2, "5", SECOND, "pi_2", None),
        (3, "7", SECOND, "pi_3", "2026-03-06 19:00:00+00"),
    )
]

SALEOR: Rows = [
    {
        "id": number,
        "created_at": f"{made}+00:00",
        "status": None,
        "psp_reference": reference,
        "message": "",
        "transaction_id": payment[-1],
        "currency": "USD",
        "type": sort,
        "amount_value": amount,
        "include_in_calculations": "t",
        "idempotency_key": None,
        "payment_reference": payment,
        "order_id": f"A-{payment[-1]}",
    }
    for number, sort, reference, amount, made, payment in (
        (1, "refund_request", "re_1", "49.000", FIRST, "pi_1"),
        (2, "refund_success", "re_1", "49.000", "2026-03-06 17:00:02", "pi_1"),
        (3, "refund_success", "re_2", "5.000", SECOND, "pi_2"),
        (4, "charge_success", "ch_1", "49.000", FIRST, "pi_1"),
    )
]

SPREE: Rows = [
    {
        "id": number,
        "payment_id": number,
        "amount": amount,
        "transaction_id": refund,
        "created_at": f"{made}.5",
        "updated_at": f"{made}.5",
        "refund_reason_id": 1,
        "reimbursement_id": None,
        "payment_code": payment,
        "order_number": f"A-{number}",
        "currency": "USD",
        "status": "done",
    }
    for number, amount, refund, made, payment in (
        (1, "49.00", "re_1", FIRST, "pi_1"),
        (2, "5.00", "re_2", SECOND, "pi_2"),
    )
]

VENDURE: Rows = [
    {
        "createdAt": f"{made}.5",
        "updatedAt": f"{made}.5",
        "items": 0,
        "shipping": 0,
        "adjustment": 0,
        "total": total,
        "method": "stripe",
        "reason": "",
        "state": "Settled",
        "transactionId": payment,
        "metadata": "{}",
        "id": number,
        "paymentId": number,
        "paymentTransactionId": payment,
        "orderCode": f"A-{number}",
        "currencyCode": "USD",
    }
    for number, total, made, payment in ((1, 4900, FIRST, "pi_1"), (2, 500, SECOND, "pi_2"))
]

WOOCOMMERCE: Rows = [
    {
        "id": 700 + number,
        "parent_id": number,
        "date_created": made.replace(" 1", "T2"),
        "date_created_gmt": made.replace(" ", "T"),
        "amount": amount,
        "reason": "",
        "refunded_by": 1,
        "refunded_payment": True,
        "meta_data": [
            {"id": 1, "key": "_wcpay_refund_transaction_id", "value": "txn_1"},
            {"id": 2, "key": "_wcpay_refund_id", "value": f"re_{number}"},
        ],
        "line_items": [],
    }
    for number, amount, made in ((1, "49.00", FIRST), (2, "5.00", SECOND))
]

PRETIX: Rows = [
    {
        "id": 30 + number,
        "local_id": 1,
        "state": "done",
        "source": "admin",
        "amount": amount,
        "created": f"{made}+00",
        "execution_date": f"{made}+00",
        "provider": "stripe",
        "comment": "",
        "info": json.dumps({"id": f"re_{number}", "object": "refund", "payment_intent": f"pi_{number}"}),
        "order_id": 10 + number,
        "payment_id": number,
        "full_id": f"A-{number}-R-1",
        "order_code": f"A-{number}",
        "currency": "USD",
    }
    for number, amount, made in ((1, "49.00", FIRST), (2, "5.00", SECOND))
]

LAGO: Rows = [
    {
        "id": f"0a0{number}",
        "amount_cents": cents,
        "amount_currency": "USD",
        "status": "succeeded",
        "created_at": f"{made}.5",
        "updated_at": f"{made}.5",
        "credit_note_id": f"note-{number}",
        "organization_id": "o1",
        "payment_id": f"p{number}",
        "payment_provider_id": "pp1",
        "provider_refund_id": f"re_{number}",
        "provider_payment_id": f"pi_{number}",
    }
    for number, cents, made in ((1, 4900, FIRST), (2, 500, SECOND))
]

POLAR: Rows = [
    {
        "created_at": f"{made}.5+00",
        "modified_at": None,
        "deleted_at": None,
        "id": f"0b0{number}",
        "status": "succeeded",
        "reason": "customer_request",
        "amount": amount,
        "tax_amount": tax,
        "currency": "usd",
        "comment": None,
        "payment_id": f"p{number}",
        "order_id": f"A-{number}",
        "customer_id": "c1",
        "revoke_benefits": "f",
        "processor": "stripe",
        "processor_id": f"re_{number}",
        "processor_reason": "requested_by_customer",
        "payment_processor_id": f"ch_{number}",
    }
    for number, amount, tax, made in ((1, 4000, 900, FIRST), (2, 400, 100, SECOND))
]

SHOPS: Mapping[str, Rows] = {
    "lago": LAGO,
    "medusa": MEDUSA,
    "polar": POLAR,
    "pretix": PRETIX,
    "saleor": SALEOR,
    "spree": SPREE,
    "vendure": VENDURE,
    "woocommerce": WOOCOMMERCE,
}

REFUNDS: Rows = [
    {
        "id": "re_1",
        "object": "refund",
        "amount": 4900,
        "charge": "ch_1",
        "payment_intent": "pi_1",
        "created": 1772816402,
        "currency": "usd",
        "status": "succeeded",
        "metadata": {"lago_credit_note_id": "note-1"},
    },
    {
        "id": "re_9",
        "object": "refund",
        "amount": 900,
        "charge": "ch_9",
        "payment_intent": "pi_9",
        "created": 1772816402,
        "currency": "usd",
        "status": "succeeded",
        "metadata": {},
    },
]
