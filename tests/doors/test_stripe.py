import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recon.doors.stripe.provider import Identity, Page, Provider
from recon.model.errors import ConfigurationError, ProviderRefused, ProviderUnavailable
from recon.model.records.provider import Refund
from recon.model.records.words import AccountId, RefundId
from recon.model.settings import ProviderSettings, Secret
from tests.builders import an_intent
from tests.sandboxes import STRIPE_KEY, Street
from tests.wires import Act, answers, closes, wire

KEY = "sk_test_hidden1234"
PLATFORM = AccountId("")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
FAR_OFF = datetime(2100, 1, 1, tzinfo=UTC)
EMPTY = json.dumps({"object": "list", "data": [], "has_more": False})


class Time:
    """A clock that moves only while somebody sleeps."""

    def __init__(self, pauses: list[float]) -> None:
        self.pauses = pauses
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.pauses.append(round(seconds, 6))
        self.now += seconds


def provider(url: str, *, key: str = KEY, pauses: list[float] | None = None, **settings: Any) -> Provider:  # noqa: ANN401 - any field of ProviderSettings
    fast = {"requests_per_second": 1000.0} | settings
    time = Time(pauses if pauses is not None else [])
    taken = ProviderSettings(api_key=Secret(key), base_url=url, **fast)
    return Provider(taken, sleep=time.sleep, clock=lambda: time.now)


def all_refunds(pages: list[Page]) -> list[Refund]:
    return [refund for page in pages for refund in page.refunds]


def error_of(url: str, *, key: str = KEY, pauses: list[float] | None = None, **settings: Any) -> Exception:  # noqa: ANN401 - as above
    with pytest.raises((ProviderUnavailable, ProviderRefused)) as caught:
        list(provider(url, key=key, pauses=pauses, **settings).refunds(PLATFORM, LONG_AGO, FAR_OFF))
    return caught.value


def stock(sandbox: Street, number: int) -> list[str]:
    sandbox.payment("pi_1", 100_000)
    made = [
        sandbox.control("refunds", payment="pi_1", amount=n, metadata={"intent_key": f"k{n}"})["id"]
        for n in range(1, number + 1)
    ]
    return made[::-1]


def test_pages_come_newest_first_until_the_last(sandbox: Street) -> None:
    made = stock(sandbox, 5)

    pages = list(provider(sandbox.url, page_size=2).refunds(PLATFORM, LONG_AGO, FAR_OFF))

    assert [refund.id for refund in all_refunds(pages)] == made
    assert [(len(page.refunds), page.number, page.last) for page in pages] == [
        (2, 1, False),
        (2, 2, False),
        (1, 3, True),
    ]


def test_a_page_comes_before_the_next_is_asked_for(sandbox: Street) -> None:
    stock(sandbox, 5)
    pages = provider(sandbox.url, page_size=2).refunds(PLATFORM, LONG_AGO, FAR_OFF)

    next(pages)

    assert len(sandbox.requests("GET", "/v1/refunds")) == 1


def test_a_refund_is_read_with_everything_that_is_said(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000, "eur")
    made = sandbox.control(
        "refunds", payment="pi_1", amount=4900, metadata={"intent_key": "k1", "other": "x"}
    )
    sandbox.control(f"refunds/{made['id']}", status="failed", failure_reason="expired_or_canceled_card")

    (page,) = provider(sandbox.url).refunds(PLATFORM, LONG_AGO, FAR_OFF)

    assert page.refunds == (
        Refund(
            id=RefundId(made["id"]),
            account=PLATFORM,
            amount_minor=4900,
            currency="eur",
            status="failed",
            created_at=datetime.fromtimestamp(made["created"], UTC),
            payment_intent="pi_1",
            charge=made["charge"],
            intent_key="k1",  # type: ignore[arg-type]  # a plain text here
            reason=made["reason"],
            failure_reason="expired_or_canceled_card",
        ),
    )


def test_the_metadata_field_is_configurable(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000)
    sandbox.control("refunds", payment="pi_1", amount=1, metadata={"ours": "k1", "intent_key": "not this"})

    (page,) = provider(sandbox.url, metadata_key="ours").refunds(PLATFORM, LONG_AGO, FAR_OFF)

    assert [refund.intent_key for refund in page.refunds] == ["k1"]


def test_only_the_window_is_read_with_both_its_ends(sandbox: Street) -> None:
    sandbox.set_time("2026-03-06T12:00:00Z")
    made = []
    for n in range(1, 4):
        sandbox.payment(f"pi_{n}", 500)
        made.append(sandbox.control("refunds", payment=f"pi_{n}", amount=500)["id"])
        sandbox.advance(60)
    start = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)
    minute = timedelta(minutes=1)

    def read(from_at: datetime, to_at: datetime) -> list[str]:
        return [r.id for r in all_refunds(list(provider(sandbox.url).refunds(PLATFORM, from_at, to_at)))]

    assert read(start + minute, start + minute) == [made[1]]
    assert read(start, start + 2 * minute) == made[::-1]
    assert read(start + timedelta(seconds=1), start + timedelta(seconds=59)) == []


def test_an_account_is_read_by_its_own_name(sandbox: Street) -> None:
    sandbox.payment("pi_1", 500, account="acct_1")
    with_refund = provider(sandbox.url)
    with_refund.create(an_intent(payment="pi_1", account="acct_1", amount_minor=500), "k1")

    pages = list(with_refund.refunds(AccountId("acct_1"), LONG_AGO, FAR_OFF))

    assert [refund.account for refund in all_refunds(pages)] == ["acct_1"]
    assert all_refunds(list(with_refund.refunds(PLATFORM, LONG_AGO, FAR_OFF))) == []


def test_a_page_that_breaks_off_says_which_of_which_account_and_keeps_those_before(sandbox: Street) -> None:
    stock(sandbox, 5)
    sandbox.fault("GET /v1/refunds", "drop_page", times=2, page=3)
    pages = provider(sandbox.url, page_size=2).refunds(PLATFORM, LONG_AGO, FAR_OFF)
    kept = [next(pages), next(pages)]

    with pytest.raises(ProviderUnavailable, match="page 3 of the refunds of the platform broke off"):
        next(pages)

    assert len(all_refunds(kept)) == 4


def test_a_malformed_object_is_a_reject_beside_the_good_ones() -> None:
    good = {"id": "re_1", "amount": 1, "currency": "usd", "created": 1772816401, "new_field": {"x": [1]}}
    bad = [
        {**good, "id": None},
        {**good, "amount": 1.0},
        {**good, "amount": True},
        {**good, "amount": -1},
        {**good, "amount": 2**63},
        {**good, "currency": "xyz"},
        {**good, "created": "soon"},
        {**good, "created": 10**15},
        {**good, "amount": None, "metadata": {"intent_key": "k9"}},
        "re_text",
    ]
    listed = json.dumps({"data": [good, *bad], "has_more": False})
    with wire(answers("200 OK", listed)) as served:
        (page,) = provider(served.url).refunds(AccountId("acct_1"), LONG_AGO, FAR_OFF)

    assert [(refund.id, refund.status, refund.payment_intent) for refund in page.refunds] == [
        ("re_1", "", None)
    ]
    assert [reject.row for reject in page.rejects] == list(range(2, 12))
    assert {reject.account for reject in page.rejects} == {"acct_1"}
    assert page.rejects[0].reason == "It has no id."
    assert page.rejects[8].names == ("k9",)
    assert page.rejects[8].id == "re_1"


@pytest.mark.parametrize(
    "fields,system",
    [
        ({"reason": "expired_uncaptured_charge"}, True),
        ({"reason": "requested_by_customer"}, False),
        ({"reason": None}, False),
        ({"balance_transaction": {"id": "txn_1", "reporting_category": "partial_capture_reversal"}}, True),
        ({"balance_transaction": {"id": "txn_1", "reporting_category": "refund"}}, False),
        ({"balance_transaction": "txn_1"}, False),
    ],
)
def test_what_the_provider_made_by_itself_is_system(fields: dict[str, object], system: bool) -> None:  # noqa: FBT001
    row = {"id": "re_1", "amount": 1, "currency": "USD", "charge": {"id": "ch_1"}, **fields}
    row["created"] = int(LONG_AGO.timestamp())
    with wire(answers("200 OK", json.dumps({"data": [row], "has_more": False}))) as served:
        (page,) = provider(served.url).refunds(PLATFORM, LONG_AGO, FAR_OFF)

    (refund,) = page.refunds
    assert (refund.system, refund.charge, refund.currency) == (system, "ch_1", "usd")


def test_a_partial_capture_s_reversal_is_known_by_its_entry_in_the_ledger(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000)
    sandbox.control("refunds", payment="pi_1", amount=1000)
    reversal = sandbox.control("refunds", payment="pi_1", amount=500, category="partial_capture_reversal")
    asked = provider(sandbox.url)

    (page,) = asked.refunds(PLATFORM, LONG_AGO, FAR_OFF)
    alone = asked.retrieve(reversal["id"], PLATFORM)

    assert [(refund.amount_minor, refund.system) for refund in page.refunds] == [(500, True), (1000, False)]
    assert isinstance(alone, Refund)
    assert alone.system


def test_a_key_that_may_not_see_the_ledger_reads_refunds_without_it() -> None:
    forbidden = answers("403 Forbidden", json.dumps({"error": {"message": "rak_balance_transaction_read"}}))
    with wire(forbidden, answers("200 OK", EMPTY)) as served:
        asked = provider(served.url)
        pages = [page for _ in range(2) for page in asked.refunds(PLATFORM, LONG_AGO, FAR_OFF)]
        sent = [b"expand" in request for request in served.requests]

    assert [page.last for page in pages] == [True, True]
    assert sent == [True, False, False]


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "404 Not Found", "400 Bad Request"])
@pytest.mark.parametrize("secret", [KEY, "rk_live_canary", "whsec_canary"])
def test_a_refusal_is_told_without_a_secret(status: str, secret: str) -> None:
    refusal = json.dumps({"error": {"type": "x", "code": "some_code", "message": f"No {secret} here."}})
    with wire(answers(status, refusal, "Request-Id: req_1")) as served:
        error = error_of(served.url)

    assert isinstance(error, ProviderRefused)
    assert f"refused with {status[:3]} some_code, request req_1: No *** here." in str(error)


def test_the_sandbox_refuses_a_key_of_the_wrong_shape(sandbox: Street) -> None:
    error = error_of(sandbox.url, key="wrong")

    assert isinstance(error, ProviderRefused)
    assert "401" in str(error)


@pytest.mark.parametrize(
    "act",
    [closes, answers("200 OK", f"<p>{KEY}</p>"), answers("401 No", json.dumps({"error": {"message": KEY}}))],
)
def test_no_error_carries_the_key(act: Act) -> None:
    with wire(act) as served:
        error: BaseException | None = error_of(served.url)
        assert KEY.encode() in served.requests[0]  # It was really sent.

    while error is not None:
        assert "hidden1234" not in f"{error} {error!r} {error.args} {vars(error)}"
        error = error.__cause__ or error.__context__


def test_an_empty_key_is_said_before_anything_is_sent() -> None:
    with pytest.raises(ConfigurationError, match="STRIPE_API_KEY is not set"):
        Provider(ProviderSettings())


@pytest.mark.parametrize(
    "key,live", [("sk_live_1", True), ("rk_live_1", True), ("sk_test_1", False), ("sk_org_1", None)]
)
def test_the_mode_is_read_off_the_key(key: str, live: bool | None) -> None:  # noqa: FBT001
    assert provider("http://127.0.0.1:9", key=key).livemode() is live


def test_the_account_of_the_key_is_told(sandbox: Street) -> None:
    found = provider(sandbox.url, key=STRIPE_KEY).account()

    assert isinstance(found, Identity)
    assert found.id.startswith("acct_")
    assert found.livemode is False


def test_the_providers_time_is_that_of_its_latest_answer() -> None:
    first = answers("500 Oops", "{}", "Date: Fri, 06 Mar 2026 12:00:00 GMT")
    second = answers("200 OK", EMPTY, "Date: Fri, 06 Mar 2026 12:00:01 GMT")
    third = answers("200 OK", EMPTY, "Date: whenever")
    with wire(first, second, third) as served:
        asked = provider(served.url)
        assert asked.now() is None

        list(asked.refunds(PLATFORM, LONG_AGO, FAR_OFF))
        assert asked.now() == datetime(2026, 3, 6, 12, 0, 1, tzinfo=UTC)

        list(asked.refunds(PLATFORM, LONG_AGO, FAR_OFF))
        assert asked.now() == datetime(2026, 3, 6, 12, 0, 1, tzinfo=UTC)


def test_events_tell_the_key_of_the_request_that_made_a_refund(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000)
    asked = provider(sandbox.url)
    made = asked.create(an_intent(payment="pi_1", amount_minor=500), "call-7")
    sandbox.control(f"refunds/{made.id}", status="failed", failure_reason="unknown")

    events = list(asked.refund_events(PLATFORM, LONG_AGO))

    assert [(refund_id, key) for refund_id, key, _ in events if key] == [(made.id, "call-7")]
    assert {event.refund_id for event in events} == {made.id}
    assert len(events) >= 2


def test_events_are_told_up_to_a_time_where_there_is_one(sandbox: Street) -> None:
    sandbox.set_time("2026-03-06T12:00:00Z")
    sandbox.payment("pi_1", 5000)
    made = []
    for _ in range(3):
        made.append(sandbox.control("refunds", payment="pi_1", amount=10)["id"])
        sandbox.advance(60)
    noon = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)

    def told(until: datetime | None) -> list[str]:
        return [event.refund_id for event in provider(sandbox.url).refund_events(PLATFORM, noon, until)]

    assert told(noon + timedelta(seconds=60)) == made[1::-1]
    assert told(noon + timedelta(seconds=59)) == made[:1]
    assert told(None) == made[::-1]


def test_an_event_that_says_nothing_is_passed_over() -> None:
    good = {"type": "refund.created", "created": 5, "data": {"object": {"id": "re_1"}}, "request": {}}
    rows = [good, {**good, "data": {}}, {**good, "created": None}, {**good, "request": None}, 7]
    with wire(answers("200 OK", json.dumps({"data": rows, "has_more": False}))) as served:
        events = list(provider(served.url).refund_events(PLATFORM, LONG_AGO))

    assert [(event.refund_id, event.request_key) for event in events] == [("re_1", None), ("re_1", None)]


def test_the_door_loads_no_frames() -> None:
    code = "import sys, recon.doors.stripe.provider; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
