import json
import time
import tracemalloc
from gzip import compress
from typing import Any

import pytest

from recon.doors.stripe.asking import BROKEN_ATTEMPTS, READ_ATTEMPTS
from recon.doors.stripe.wire import LARGEST_BYTES
from recon.model.errors import ProviderUnavailable
from tests.builders import an_intent
from tests.doors.test_stripe import (
    EMPTY,
    FAR_OFF,
    LONG_AGO,
    PLATFORM,
    all_refunds,
    error_of,
    provider,
    stock,
)
from tests.sandboxes import Street
from tests.wires import Act, answers, closes, cuts, drips, drips_headers, hangs, resets, sends, wire


def test_a_read_is_tried_again_after_a_rate_limit_and_after_a_500(sandbox: Street) -> None:
    stock(sandbox, 1)
    sandbox.fault("GET /v1/refunds", "429")
    sandbox.fault("GET /v1/refunds", "500_before")
    pauses: list[float] = []

    pages = list(provider(sandbox.url, pauses=pauses).refunds(PLATFORM, LONG_AGO, FAR_OFF))

    assert len(all_refunds(pages)) == 1
    assert pauses == [0.5, 1.0]


def test_the_pause_is_what_the_provider_asks_for_within_a_limit() -> None:
    pauses: list[float] = []
    limited = [
        answers("429 Slow", '{"error": {}}', f"Retry-After: {after}") for after in ("7", "9999", "soon")
    ]
    with wire(*limited, answers("200 OK", EMPTY)) as served:
        list(provider(served.url, pauses=pauses).refunds(PLATFORM, LONG_AGO, FAR_OFF))

    assert pauses == [7.0, 30.0, 2.0]


def test_the_budget_of_tries_is_small(sandbox: Street) -> None:
    sandbox.fault("GET /v1/refunds", "500_before", times=99)
    pauses: list[float] = []

    with pytest.raises(
        ProviderUnavailable, match=r"page 1 .* broke off: the provider answered 500, request req_"
    ):
        list(provider(sandbox.url, pauses=pauses).refunds(PLATFORM, LONG_AGO, FAR_OFF))

    assert len(sandbox.requests("GET", "/v1/refunds")) == READ_ATTEMPTS
    assert pauses == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    "act,said",
    [
        (answers("200 OK", "<h1>hello</h1>"), "the answer (200) is not the provider's"),
        (answers("200 OK", "[1]"), "expected an object"),
        (answers("200 OK", '"x"'), "expected an object"),
        (answers("200 OK", "{}"), "expected a list"),
        (answers("200 OK", '{"data": {}, "has_more": false}'), "expected a list"),
        (answers("200 OK", '{"data": []}'), "expected a list"),
        (answers("200 OK", '{"data": [], "has_more": 0}'), "expected a list"),
        (answers("200 OK", '{"object": "refund", "data": [], "has_more": false}'), "expected a list"),
        (answers("200 OK", '{"data": [{"id": "re_1", "created": 5}], "has_more": false}'), "of another time"),
        (answers("200 OK", '{"data": [], "has_more": true}'), "but not after what"),
        (answers("200 OK", '{"data": [{"id": 7}], "has_more": true}'), "but not after what"),
        (answers("200 OK", '{"data": [{"id": "re_1"}], "has_more": true}'), "it ends as an earlier page did"),
        (answers("403 Forbidden", "<h1>proxy</h1>"), "the answer (403) is not the provider's"),
        (answers("302 Found", "{}"), "is not the provider's"),
    ],
)
def test_what_is_no_answer_breaks_the_listing_off_at_once(act: Act, said: str) -> None:
    pauses: list[float] = []
    with wire(act) as served:
        error = error_of(served.url, pauses=pauses)

    assert isinstance(error, ProviderUnavailable)
    assert said in str(error)
    assert pauses == []


@pytest.mark.parametrize(
    "act,said",
    [
        (closes, "did not answer"),
        (resets, "did not answer"),
        (hangs, "did not answer"),
        (cuts('{"data": ['), "did not answer (broke off)"),
        (drips(EMPTY, pause_seconds=0.05), "did not answer (timed out)"),
    ],
)
def test_a_broken_connection_is_tried_once_more_then_the_listing_breaks_off(act: Act, said: str) -> None:
    pauses: list[float] = []
    short: Any = {"read_timeout_seconds": 0.3, "connect_timeout_seconds": 0.3}
    with wire(act) as served:
        error = error_of(served.url, pauses=pauses, **short)
        asked = len(served.requests)
    with wire(act, answers("200 OK", EMPTY)) as served:
        (page,) = provider(served.url, **short).refunds(PLATFORM, LONG_AGO, FAR_OFF)

    assert isinstance(error, ProviderUnavailable)
    assert said in str(error)
    assert (asked, pauses) == (BROKEN_ATTEMPTS, [0.5])
    assert page.last


def test_headers_that_come_a_byte_at_a_time_hold_nobody_up() -> None:
    began = time.monotonic()
    with wire(drips_headers(pause_seconds=0.05)) as served:
        error = error_of(served.url, read_timeout_seconds=0.3)
        took = time.monotonic() - began
        asked = len(served.requests)

    assert "did not answer (timed out)" in str(error)
    assert asked == BROKEN_ATTEMPTS
    assert took < 8  # Of the 20 seconds that the two drips last.


def test_a_list_that_goes_in_circles_breaks_off() -> None:
    pages = [
        answers("200 OK", json.dumps({"data": [{"id": each}], "has_more": True}))
        for each in ("re_3", "re_2", "re_3")
    ]
    with wire(*pages) as served:
        error = error_of(served.url)

    assert "page 3 of the refunds of the platform broke off: it ends as an earlier page did" in str(error)


def test_all_requests_of_one_account_and_run_share_its_patience(sandbox: Street) -> None:
    pauses: list[float] = []
    asked = provider(sandbox.url, pauses=pauses, retry_limit=4)
    sandbox.fault("GET /v1/refunds", "500_before", times=99)
    for said in ("answered 500, request req_", r"provider.retry_limit", r"provider.retry_limit"):
        with pytest.raises(ProviderUnavailable, match=said):
            list(asked.refunds(PLATFORM, LONG_AGO, FAR_OFF))
    asked.begin(PLATFORM)
    with pytest.raises(ProviderUnavailable):
        list(asked.refunds(PLATFORM, LONG_AGO, FAR_OFF))

    assert pauses == [0.5, 1.0, 2.0, 0.5, 0.5, 1.0, 2.0]


def test_patience_has_an_end_in_seconds_too() -> None:
    pauses: list[float] = []
    slow = answers("503 Busy", '{"error": {}}', "Retry-After: 20")
    with wire(slow) as served:
        error = error_of(served.url, pauses=pauses, retry_seconds=50)

    assert "waited for as long as it may be" in str(error)
    assert pauses == [20.0, 20.0]


def test_nobody_there_is_unavailable() -> None:
    error = error_of("http://127.0.0.1:9")

    assert isinstance(error, ProviderUnavailable)
    assert "did not answer (refused)" in str(error)


def test_more_pages_than_the_limit_are_incomplete(sandbox: Street) -> None:
    stock(sandbox, 3)

    error = error_of(sandbox.url, page_size=1, page_limit=2)

    assert "more than 2 pages (provider.page_limit)" in str(error)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Again", "308 Moved"])
def test_an_answer_from_elsewhere_is_not_the_providers(status: str) -> None:
    with (
        wire(answers("200 OK", EMPTY)) as elsewhere,
        wire(answers(status, "{}", f"Location: {elsewhere.url}/v1/refunds")) as served,
    ):
        listed = error_of(served.url)
        with pytest.raises(ProviderUnavailable, match="is not the provider's"):
            provider(served.url).create(an_intent(payment="pi_1"), "key_1")

    assert "is not the provider's" in str(listed)
    assert elsewhere.requests == []


@pytest.mark.parametrize(
    "status,said",
    [("200 OK", "the answer (200) is not the provider's"), ("503 Busy", "the provider answered 503")],
)
def test_bytes_that_are_no_text_are_no_answer(status: str, said: str) -> None:
    with wire(sends(status, b'{"data": [{"id": "re_\xff"}], "has_more": false}')) as served:
        assert said in str(error_of(served.url))


def test_an_answer_that_unpacks_without_end_is_given_up() -> None:
    packed = compress(b" " * (10 * LARGEST_BYTES), compresslevel=1)
    with wire(sends("200 OK", packed, "Content-Encoding: gzip")) as served:
        tracemalloc.start()
        error = error_of(served.url)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert "the answer (200) is not the provider's" in str(error)
    assert most < 3 * LARGEST_BYTES


@pytest.mark.parametrize(
    "date",
    [
        "Thu, 01 Jan 99999999999999999999 00:00:00 GMT",
        "Fri, 31 Dec 9999 23:59:59 -2300",
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "soon",
    ],
)
def test_a_date_that_cannot_be_is_none(date: str) -> None:
    with wire(answers("200 OK", '{"id": "acct_1"}', f"Date: {date}")) as served:
        asked = provider(served.url)
        asked.account()

    assert asked.now() is None
