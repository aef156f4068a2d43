"""The one request that moves money, and the look-up that proves what became of it."""

import json
import socket
import time
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from recon.doors.stripe.provider import Provider
from recon.model.errors import ProviderRefused, ProviderUnavailable
from recon.model.records.guarded import Heard
from recon.model.records.words import AccountId
from tests.builders import an_intent
from tests.doors.test_stripe import PLATFORM, provider
from tests.sandboxes import Street
from tests.wires import Act, answers, closes, drips, drips_headers, hangs, wire

KEY = "refund_order:8812:abc"
INTENT = an_intent(key=KEY, payment="pi_1", amount_minor=500)
ROW: dict[str, Any] = {"id": "re_1", "amount": 5, "currency": "usd", "created": 5, "payment_intent": "pi_1"}


def body(reached: Provider, payment: str = "pi_1", **more: Any) -> dict[str, Any]:  # noqa: ANN401  # of body
    return reached.body(INTENT, payment, **more)


def send(url: str, *, key: str = KEY, account: str = "", **more: Any) -> Heard:  # noqa: ANN401  # of send
    reached = provider(url, read_timeout_seconds=3.0)
    return reached.send(body(reached), key, AccountId(account), **more)


def test_a_refund_is_sent_once_with_its_key_in_header_and_metadata(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000)

    heard = send(sandbox.url)

    (sent,) = sandbox.requests("POST", "/v1/refunds")
    assert (sent["key"], sent["account"]) == (KEY, "")
    assert sent["form"] == {"payment_intent": "pi_1", "amount": "500", "metadata[intent_key]": KEY}
    assert heard.refund is not None
    assert (heard.status, heard.refund.intent_key, heard.refund.amount_minor) == (200, KEY, 500)
    assert (heard.replayed, heard.unsent) == (False, False)


def test_a_connected_account_is_named_in_the_header(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000, account="acct_1")

    assert send(sandbox.url, account="acct_1").refund is not None
    assert sandbox.requests("POST", "/v1/refunds")[0]["account"] == "acct_1"


def test_a_charge_is_sent_as_a_charge_and_a_reason_as_it_is() -> None:
    reached = provider("http://127.0.0.1:1")

    assert body(reached, "ch_1", reason="duplicate") == {
        "charge": "ch_1",
        "amount": 500,
        "metadata": {"intent_key": KEY},
        "reason": "duplicate",
    }


def test_a_replayed_answer_says_so(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000)
    first = send(sandbox.url)
    second = send(sandbox.url)

    assert first.refund == second.refund
    assert second.replayed
    assert len(sandbox.requests("POST", "/v1/refunds")) == 2


@pytest.mark.parametrize("key", ["", "  ", "k" * 256])
def test_a_key_that_would_be_lost_is_not_sent(sandbox: Street, key: str) -> None:
    with pytest.raises(ProviderRefused, match="was not sent: its idempotency key must have 1 to 255"):
        send(sandbox.url, key=key)

    assert sandbox.requests() == []


@pytest.mark.parametrize("fault", ["drop_before", "drop_after", "cut_body_after"])
def test_a_broken_connection_is_no_answer_and_is_not_tried_again(sandbox: Street, fault: str) -> None:
    sandbox.payment("pi_1", 5000)
    sandbox.fault("POST /v1/refunds", fault)

    heard = send(sandbox.url)

    assert (heard.status, heard.refund, heard.refused, heard.unsent) == (None, None, False, False)
    assert "broke off" in heard.said
    assert len(sandbox.requests("POST", "/v1/refunds")) == 1


@pytest.mark.parametrize(
    "fault, expected",
    [
        ("500_after", (500, True, None, "api_error")),
        ("429", (429, True, "rate_limit", "invalid_request_error")),
        ("429_lock", (429, True, "lock_timeout", "invalid_request_error")),
        ("409", (409, True, "idempotency_key_in_use", "idempotency_error")),
        ("403", (403, True, None, "invalid_request_error")),
        ("html_200_after", (200, False, None, None)),
    ],
)
def test_an_error_comes_with_the_providers_own_words(
    sandbox: Street, fault: str, expected: tuple[object, ...]
) -> None:
    sandbox.payment("pi_1", 5000)
    sandbox.fault("POST /v1/refunds", fault)

    heard = send(sandbox.url)

    assert (heard.status, heard.refused, heard.code, heard.kind) == expected
    assert heard.refund is None


def test_without_a_thread_to_hang_up_nothing_is_sent(
    sandbox: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_: object) -> None:
        raise RuntimeError("can't start new thread")

    sandbox.payment("pi_1", 5000)
    monkeypatch.setattr(Timer, "start", none)

    heard = send(sandbox.url)

    assert (heard.unsent, heard.refund, sandbox.requests("POST", "/v1/refunds")) == (True, None, [])


def test_a_netrc_of_the_hosts_does_not_take_the_place_of_the_key(
    sandbox: Street, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    sandbox.payment("pi_1", 5000)

    assert send(sandbox.url).status == 200


def test_more_than_is_left_names_the_parameter(sandbox: Street) -> None:
    sandbox.payment("pi_1", 100)

    heard = send(sandbox.url)

    assert (heard.status, heard.refused, heard.code, heard.param) == (400, True, None, "amount")
    assert "is greater than unrefunded amount" in heard.said


@pytest.mark.parametrize(
    "sent",
    ["[1]", '"x"', "7", "{}", '{"id": "re_1"}', '{"error": {}}', '{"error": "no"}', "null"],
)
def test_a_strange_success_is_no_refund(sent: str) -> None:
    with wire(answers("200 OK", sent)) as served:
        heard = send(served.url)

    assert heard.refund is None
    assert heard.said


@pytest.mark.parametrize("sent", ["<h1>proxy</h1>", "[1]", '"x"', '{"error": "no"}', "{}"])
@pytest.mark.parametrize("status", ["400 Bad", "403 No", "404 None", "429 Slow"])
def test_a_strange_refusal_is_not_the_providers(status: str, sent: str) -> None:
    with wire(answers(status, sent)) as served:
        heard = send(served.url)

    assert (heard.refused, heard.refund) == (False, None)


OURS = '{"error": {"message": "no", "type": "invalid_request_error"}}'


@pytest.mark.parametrize(
    "sent, numbered, refused",
    [
        (OURS, True, True),
        (OURS, False, False),  # Whoever copies the provider's words has no number of its.
        ('{"error": {"message": "Bad Request", "code": 400}}', True, False),
        ('{"error": {"status": "NOT_FOUND"}}', True, False),
        ('{"error": {"type": "about:blank"}}', True, False),
        ('{"error": {}}', True, False),
    ],
)
@pytest.mark.parametrize("status", ["400 Bad", "402 Pay", "403 No", "404 None", "429 Slow"])
def test_only_the_providers_word_under_its_requests_number_is_a_refusal(
    status: str, sent: str, *, numbered: bool, refused: bool
) -> None:
    with wire(answers(status, sent, *["Request-Id: req_1"][:numbered])) as served:
        heard = send(served.url)

    assert (heard.refused, heard.refund) == (refused, None)


def test_no_secret_is_in_what_was_said() -> None:
    said = {"message": "Bad key sk_live_abcdef123456", "type": "invalid_request_error"}
    with wire(answers("401 No", json.dumps({"error": said}), "Request-Id: req_1")) as served:
        heard = send(served.url)

    assert heard.refused
    assert "sk_live" not in heard.said


@pytest.mark.parametrize(
    "act", [hangs, drips(json.dumps(ROW), pause_seconds=0.05), drips_headers(pause_seconds=0.05)]
)
def test_all_of_an_answer_must_come_by_the_deadline(act: Act) -> None:
    with wire(act) as served:
        began = time.monotonic()
        heard = send(served.url, until=began + 0.4)
        took = time.monotonic() - began

    assert (heard.status, heard.refund, heard.unsent) == (None, None, False)
    assert 0.3 < took < 2.0


def test_an_answer_that_stops_in_its_middle_is_given_up_at_the_deadline() -> None:
    def stalls(connection: Any) -> None:  # noqa: ANN401  # a socket
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        time.sleep(2.5)  # Longer than the deadline, shorter than the read timeout.

    with wire(stalls) as served:
        began = time.monotonic()
        heard = send(served.url, until=began + 0.4)

        assert time.monotonic() - began < 2.0
    assert heard.refund is None


def test_nothing_is_sent_after_the_deadline(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000)

    heard = send(sandbox.url, until=time.monotonic())

    assert (heard.unsent, sandbox.requests()) == (True, [])


def test_nothing_was_sent_where_nobody_listens() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        heard = send(f"http://127.0.0.1:{silent.getsockname()[1]}")

    assert (heard.unsent, "refused" in heard.said) == (True, True)


def test_a_deadline_is_for_its_own_request_only(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000)
    reached = provider(sandbox.url)
    reached.send(body(reached), KEY, PLATFORM, until=time.monotonic())

    assert reached.send(body(reached), KEY, PLATFORM).refund is not None


def test_every_refund_of_a_payment_is_found_page_by_page(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000, charge="ch_1")
    sandbox.payment("pi_2", 5000)
    made = [sandbox.control("refunds", payment="pi_1", amount=100)["id"] for _ in range(5)]
    sandbox.control("refunds", payment="pi_2", amount=100)

    for payment in ("pi_1", "ch_1"):
        found = provider(sandbox.url, page_size=2).find(payment, PLATFORM)

        assert sorted(each.id for each in found) == sorted(made)
    assert len(sandbox.requests("GET", "/v1/refunds")) == 6


def test_a_list_that_breaks_off_on_its_second_page_proves_nothing(sandbox: Street) -> None:
    sandbox.payment("pi_1", 5000)
    for _ in range(3):
        sandbox.control("refunds", payment="pi_1", amount=100)
    sandbox.fault("GET /v1/refunds", "drop_page", times=9)

    with pytest.raises(ProviderUnavailable, match="page 2 of the refunds of the platform broke off"):
        provider(sandbox.url, page_size=2).find("pi_1", PLATFORM)


@pytest.mark.parametrize(
    "row, said",
    [
        (ROW | {"amount": 1.5}, "Its amount is not a whole number"),
        (ROW | {"payment_intent": "pi_2"}, "refunds of another payment"),
        ({k: v for k, v in ROW.items() if k != "payment_intent"}, "refunds of another payment"),
        (7, "It has no id"),
    ],
)
def test_a_row_that_is_not_the_payments_refund_proves_nothing(row: object, said: str) -> None:
    page = json.dumps({"object": "list", "data": [ROW, row], "has_more": False})
    with wire(answers("200 OK", page)) as served, pytest.raises(ProviderUnavailable, match=said):
        provider(served.url).find("pi_1", PLATFORM)


def test_a_look_up_ends_at_its_deadline() -> None:
    with wire(hangs) as served:
        began = time.monotonic()
        with pytest.raises(ProviderUnavailable):
            provider(served.url, read_timeout_seconds=3.0, retry_limit=0).find(
                "pi_1", PLATFORM, until=began + 0.3
            )

        assert time.monotonic() - began < 2.0


def test_a_retrieval_ends_at_its_deadline() -> None:
    with wire(closes) as served, pytest.raises(ProviderUnavailable):
        provider(served.url, retry_limit=0).retrieve("re_1", PLATFORM, until=time.monotonic())  # type: ignore[arg-type]  # any id
    assert b"".join(served.requests) == b""
