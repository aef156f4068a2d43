"""Every rule with its reason, what breaks it, and what to write instead.

Never finds anything; the examples are also tests.
"""

from recon.model.records.flaws import Explained, Rule

RULES = (
    Explained(
        Rule.KEY_FROM_RANDOM,
        "A random key is a new request to the provider: whoever calls again, refunds again.",
        'client.v1.refunds.create(params, options={"idempotency_key": str(uuid.uuid4())})',
        'client.v1.refunds.create(params, options={"idempotency_key": f"refund:{order_id}:{reference}"})',
    ),
    Explained(
        Rule.KEY_FROM_CLOCK,
        "The time of the attempt is part of the key, so that the next attempt has another.",
        'stripe.Refund.create(charge=charge, idempotency_key=f"{order_id}-{int(time.time())}")',
        'stripe.Refund.create(charge=charge, idempotency_key=f"refund:{order_id}:{return_id}")',
    ),
    Explained(
        Rule.KEY_FROM_ATTEMPT,
        "A count of attempts, a thread or a process is part of the key, and a retry has another.",
        'stripe.Refund.create(charge=charge, idempotency_key=f"{order_id}-{attempt}")',
        "stripe.Refund.create(charge=charge, idempotency_key=intent.key)",
    ),
    Explained(
        Rule.KEY_FROM_CALL_ID,
        "A tool call, a request or a conversation is not the refund: asked again, it has another id.",
        "stripe.Refund.create(charge=charge, idempotency_key=tool_call.id)",
        'stripe.Refund.create(charge=charge, idempotency_key=f"refund:{order_id}:{reference}")',
    ),
    Explained(
        Rule.MISPLACED_KEY,
        "The client reads the key in its options alone; elsewhere it is lost, and a random one is sent.",
        'client.v1.refunds.create(params={"charge": charge, "idempotency_key": intent.key})',
        'client.v1.refunds.create(params={"charge": charge}, options={"idempotency_key": intent.key})',
    ),
    Explained(
        Rule.MISSING_KEY,
        "Without a key each call is a new refund, and the SDK makes a random key for each.",
        "stripe.Refund.create(charge=charge, amount=4900)",
        "stripe.Refund.create(charge=charge, amount=4900, idempotency_key=intent.key)",
    ),
    Explained(
        Rule.RETRY_NEW_KEY,
        "The key is made inside what is repeated, so that the provider cannot tell a retry from a refund.",
        "@tenacity.retry\ndef refund(charge):\n"
        "    stripe.Refund.create(charge=charge, idempotency_key=str(uuid.uuid4()))",
        "@tenacity.retry\ndef refund(charge, intent):\n"
        "    stripe.Refund.create(charge=charge, idempotency_key=intent.key)",
    ),
    Explained(
        Rule.RETRY_WITHOUT_KEY,
        "What is repeated has no key, and an answer that was lost had moved the money.",
        "@tenacity.retry\ndef refund(charge):\n    stripe.Refund.create(charge=charge)",
        "@tenacity.retry\ndef find(charge):\n    return stripe.Refund.list(charge=charge)",
    ),
    Explained(
        Rule.ERROR_AS_FAILED,
        "A timeout after the money moved looks like one before it: an error is unknown until somebody looks.",
        "try:\n    stripe.Refund.create(charge=charge, idempotency_key=intent.key)\nexcept Exception:\n"
        '    outcome.status = "failed"',
        "try:\n    stripe.Refund.create(charge=charge, idempotency_key=intent.key)\nexcept Exception:\n"
        '    outcome.status = "pending_unknown"',
    ),
    Explained(
        Rule.PROMPT_RETRY,
        "A model that is told to try again does, up to eighteen calls for one refund.",
        'PROMPT = "If the refund fails, try again."',
        'PROMPT = "If the refund fails, call check_refund_status, and tell the customer what it says."',
    ),
    Explained(
        Rule.BAD_ALLOW,
        "A place that may break a rule says why, so that the next reader can judge it.",
        "stripe.Refund.create(charge=charge)  # recon: allow[missing-key]",
        "stripe.Refund.create(charge=charge)  # recon: allow[missing-key] a test account's own sandbox",
    ),
)
