"""Keys of refunds: each that differs on every attempt beside a twin that does not."""

import pytest

from recon.rules.lint import finding
from tests.rules.lint.reading import rules_of

IMPORTS = """
import hashlib, itertools, os, random, secrets, stripe, threading, time, uuid
from datetime import date, datetime, timezone
from uuid import uuid4 as fresh
counter = itertools.count()
"""


def given(key: str, before: str = "pass") -> str:
    """A refund whose key is an expression, after a statement."""
    return (
        f"{IMPORTS}def refund(order_id, reference, charge, context, attempt, tool_call_id):\n"
        f"    {before}\n    stripe.Refund.create(charge=charge, idempotency_key={key})\n"
    )


# The rule, a key that breaks it, and one that looks like it and does not.
EXPRESSIONS = [
    ("key-from-random", "str(uuid.uuid4())", "str(uuid.uuid5(uuid.NAMESPACE_URL, order_id))"),
    ("key-from-random", "uuid.uuid4().hex", "uuid.uuid3(uuid.NAMESPACE_URL, order_id).hex"),
    ("key-from-random", "fresh().hex[:12]", "order_id[:12]"),
    ("key-from-random", "f'refund-{order_id}-{uuid.uuid4()}'", "f'refund-{order_id}-{reference}'"),
    ("key-from-random", "'refund-' + secrets.token_hex(16)", "'refund-' + reference"),
    ("key-from-random", "'%s-%s' % (order_id, random.randint(1, 9))", "'%s-%s' % (order_id, reference)"),
    ("key-from-random", "'{}-{}'.format(order_id, uuid.uuid1())", "'{}-{}'.format(order_id, reference)"),
    ("key-from-random", "'-'.join([order_id, secrets.token_urlsafe()])", "'-'.join([order_id, reference])"),
    ("key-from-random", "os.urandom(8).hex()", "order_id.encode().hex()"),
    (
        "key-from-random",
        "hashlib.sha256(f'{order_id}{uuid.uuid4()}'.encode()).hexdigest()",
        "hashlib.sha256(f'{order_id}{reference}'.encode()).hexdigest()",
    ),
    ("key-from-random", "context.key or str(uuid.uuid4())", "context.key or f'refund:{order_id}'"),
    (
        "key-from-random",
        "fresh() if context is None else context.key",
        "context.key if context else order_id",
    ),
    ("key-from-random", "ulid.new().str", "context.intent.key"),
    ("key-from-random", "nanoid.generate()", "context.intent['idempotency_key']"),
    ("key-from-clock", "f'{order_id}-{time.time()}'", "f'{order_id}-{context.order.created_at}'"),
    ("key-from-clock", "str(int(time.time()))", "str(int(context.line))"),
    ("key-from-clock", "str(time.monotonic_ns())", "str(context.intent.id)"),
    ("key-from-clock", "datetime.now(timezone.utc).isoformat()", "context.returned_at.isoformat()"),
    ("key-from-clock", "f'{order_id}:{datetime.utcnow():%Y%m%d%H%M}'", "f'{order_id}:{context.day:%Y%m%d}'"),
    ("key-from-clock", "f'payout-{date.today()}'", "f'payout-{context.business_day}'"),
    ("key-from-attempt", "f'{order_id}-{attempt}'", "f'{order_id}-{context.line_number}'"),
    ("key-from-attempt", "order_id + str(context.retry_count)", "order_id + str(context.item_count)"),
    ("key-from-attempt", "f'{order_id}:{threading.get_ident()}'", "f'{order_id}:{context.account}'"),
    ("key-from-attempt", "f'{os.getpid()}-{order_id}'", "f'{os.environ}-{order_id}'"),
    ("key-from-attempt", "threading.current_thread().name", "context.customer.name"),
    ("key-from-attempt", "f'{order_id}-{next(counter)}'", "f'{order_id}-{next(iter(context.lines))}'"),
    ("key-from-attempt", "str(id(context))", "str(context.id)"),
    ("key-from-call-id", "tool_call_id", "order_id"),
    ("key-from-call-id", "f'refund-{tool_call_id}'", "f'refund-{context.return_request_id}'"),
    ("key-from-call-id", "context.tool_call.id", "context.order.id"),
    ("key-from-call-id", "context['tool_call_id']", "context['order_id']"),
    ("key-from-call-id", "context.get('call_id')", "context.get('return_id')"),
    ("key-from-call-id", "context.headers['X-Request-ID']", "context.headers['X-Order-ID']"),
    ("key-from-call-id", "getattr(context, 'request_id')", "getattr(context, 'refund_request_id')"),
    ("key-from-call-id", "context.config['configurable']['thread_id']", "context.config['order']['id']"),
    (
        "key-from-call-id",
        "str(uuid.uuid5(uuid.NAMESPACE_URL, tool_call_id))",
        "make_key(order_id, reference)",
    ),
    ("key-from-call-id", "make_key(tool_call_id)", "make_key(order_id)"),
    ("key-from-call-id", "request_id_var.get()", "order_var.get()"),
]
# The rule, what stands before the refund with `key`, and its twin.
BEFORE = [
    ("key-from-random", "key = str(uuid.uuid4())", "key = f'refund:{order_id}'"),
    (
        "key-from-random",
        "salt = fresh(); key = f'{order_id}-{salt}'",
        "salt = reference; key = f'{order_id}-{salt}'",
    ),
    (
        "key-from-random",
        "key = f'refund:{order_id}'; key = str(uuid.uuid4())",
        "key = str(uuid.uuid4()); key = f'refund:{order_id}'",
    ),
    ("key-from-random", "key, other = fresh().hex, order_id", "other, key = fresh().hex, order_id"),
    ("key-from-random", "key: str = str(fresh())", "key: str = str(order_id)"),
    ("key-from-clock", "key = order_id; key += str(time.time())", "key = order_id; key += reference"),
    ("key-from-call-id", "key = context.run_id", "key = context.workflow_id"),
    (
        "key-from-call-id",
        "request_id = context.request_id; key = request_id",
        "request_id = order_id; key = request_id",
    ),
]
# Ways to hand a random key over; the twin hands a stored one.
HANDED = [
    "client.v1.refunds.create(params, options={{'idempotency_key': {}}})",
    "client.refunds.create(params, {{'idempotency_key': {}}})",
    "stripe.Refund.create(charge='ch_1', idempotency_key={})",
    "stripe.PaymentIntent.create(**params, idempotency_key={})",
    "asyncio.to_thread(stripe.Refund.create, charge='ch_1', idempotency_key={})",
    "functools.partial(stripe.Refund.create, idempotency_key={})",
    "requests.post('https://api.stripe.com/v1/refunds', headers={{'Idempotency-Key': {}}})",
    "httpx.post(url, headers={{**common, 'X-Idempotency-Key': {}}})",
    "session.post(url, headers=[('Idempotency-Key', {})])",
    "client.refunds.refund_payment(body={{'payment_id': 'p', 'idempotency_key': {}}})",
    "paypal.captures.refund('c', headers={{'PayPal-Request-Id': {}}})",
    "request.add_header('Idempotency-Key', {})",
    "headers.setdefault('Idempotency-Key', {})",
    "headers['Idempotency-Key'] = {}",
    "options['idempotency_key'] = {}",
    "yookassa.Refund.create(params, {})",
    "RequestOptions(idempotency_key={})",
]


@pytest.mark.parametrize("rule, bad, good", EXPRESSIONS)
def test_a_key_that_another_attempt_would_not_have(rule: str, bad: str, good: str) -> None:
    assert (rules_of(given(bad)), rules_of(given(good))) == ([rule], [])


@pytest.mark.parametrize("rule, bad, good", BEFORE)
def test_through_variables(rule: str, bad: str, good: str) -> None:
    assert (rules_of(given("key", bad)), rules_of(given("key", good))) == ([rule], [])


@pytest.mark.parametrize("how", HANDED)
def test_however_it_is_handed_over(how: str) -> None:
    head = "import asyncio, functools, httpx, requests, stripe, uuid, yookassa\n"

    assert rules_of(head + how.format("str(uuid.uuid4())")) == ["key-from-random"]
    assert rules_of(head + how.format("intent.key")) == []


def test_a_module_of_tests_may_make_as_many_intents_as_it_likes() -> None:
    text = "import uuid\ndef make(sdk):\n    sdk.refund(idempotency_key=str(uuid.uuid4()))\n"

    assert rules_of(text, "test_refunds.py") == []
    assert rules_of(text, "contest.py") == ["key-from-random"]


def test_the_sentence_says_where_it_comes_from_and_what_to_write() -> None:
    (flaw,) = finding.find(
        "import stripe, uuid\nkey = str(uuid.uuid4())\nstripe.Refund.create(idempotency_key=key)\n", "a.py"
    ).flaws

    assert (flaw.line, flaw.column) == (3, 38)
    assert flaw.why == (
        "The key of stripe.Refund.create comes from uuid.uuid4() at line 2, which is new on every attempt, "
        "so that a retry is a second one; build it from the order and its reference, or pass the stored "
        "intent's key."
    )


def test_a_column_counts_characters_not_bytes() -> None:
    (flaw,) = finding.find("pay('äöü', idempotency_key=uuid4())\n", "a.py").flaws

    assert flaw.column == 28


def test_one_origin_is_said_once() -> None:
    text = (
        "import uuid\ndef make_idempotency_key():\n    return str(uuid.uuid4())\n"
        "def refund(sdk):\n    sdk.refund(idempotency_key=make_idempotency_key())\n"
    )

    assert rules_of(text) == ["key-from-random"]


def test_a_module_that_nests_without_end_is_read_to_an_end() -> None:
    long_sum = " + ".join(["order"] * 5000)
    names = "\n".join(f"    k{each} = k{each - 1} or k{each - 2}" for each in range(2, 200))

    assert (
        rules_of(f"import stripe\nstripe.Refund.create(idempotency_key={' + '.join(['order'] * 300)})\n")
        == []
    )
    assert finding.find(f"key = {long_sum}\n# refund", "a.py").flaws == ()
    assert rules_of(f"def refund(sdk, k0, k1):\n{names}\n    sdk.refund(idempotency_key=k199)\n") == []
