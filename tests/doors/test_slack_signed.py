from datetime import timedelta

import pytest

from recon.doors.slack import signed
from recon.doors.store import signatures
from recon.model.settings import Secret
from tests.builders import NOON
from tests.clicks import SECRET, form, press_payload
from tests.clicks import signed as signature_of

BODY = form(press_payload("acknowledge/C-AAAAAAAAAA/1"))
GOOD = signature_of(BODY, NOON)


def test_slacks_own_request_is_genuine() -> None:
    assert signed.genuine(BODY, GOOD, Secret(SECRET), now=NOON) == GOOD["x-slack-signature"]


@pytest.mark.parametrize("seconds,taken", [(-301, False), (-300, True), (0, True), (300, True), (301, False)])
def test_a_request_is_new_for_five_minutes(seconds: int, taken: bool) -> None:  # noqa: FBT001
    found = signed.genuine(BODY, GOOD, Secret(SECRET), now=NOON + timedelta(seconds=seconds))

    assert (found is not None) == taken


@pytest.mark.parametrize("ahead", [-300, 0, 300])
def test_what_is_no_longer_remembered_is_no_longer_new(ahead: int) -> None:
    headers = signature_of(BODY, NOON + timedelta(seconds=ahead))
    forgotten = NOON + signatures.KEPT + timedelta(seconds=1)

    assert signed.genuine(BODY, headers, Secret(SECRET), now=NOON) is not None
    assert signed.genuine(BODY, headers, Secret(SECRET), now=forgotten) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"x-slack-signature": ""},
        {"x-slack-signature": "v0="},
        {"x-slack-signature": "v0=" + "0" * 64},
        {"x-slack-signature": GOOD["x-slack-signature"].upper()},
        {"x-slack-signature": GOOD["x-slack-signature"] + "\n"},
        {"x-slack-signature": "v0=\xe9" + "0" * 63},
        {"x-slack-request-timestamp": ""},
        {"x-slack-request-timestamp": "now"},
        {"x-slack-request-timestamp": "-1"},
        {"x-slack-request-timestamp": "1e10"},
        {"x-slack-request-timestamp": "9" * 400},
        {"x-slack-request-timestamp": "١٧٧٢٧٩٨٤٠٠"},
        {"x-slack-request-timestamp": str(int(NOON.timestamp()) + 1)},
    ],
)
def test_anything_else_in_the_headers_is_not_genuine_and_no_error(changes: dict[str, str]) -> None:
    assert signed.genuine(BODY, GOOD | changes, Secret(SECRET), now=NOON) is None


def test_no_headers_another_body_or_another_secret_is_not_genuine() -> None:
    found = [
        signed.genuine(BODY, {}, Secret(SECRET), now=NOON),
        signed.genuine(BODY + b"&", GOOD, Secret(SECRET), now=NOON),
        signed.genuine(BODY, GOOD, Secret("another"), now=NOON),
        signed.genuine(b"\xff\xfe", signature_of(b"\xff\xfe", NOON), Secret(SECRET), now=NOON),
    ]

    assert found == [None] * 4
