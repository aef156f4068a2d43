import time

import pytest

from recon.doors.stripe import permissions
from recon.doors.stripe.asking import Asking
from recon.model.settings import ProviderSettings, Secret
from tests.sandboxes import STRIPE_KEY, Street
from tests.wires import Act, answers, closes, wire

FORBIDDEN = '{"error": {"type": "invalid_request_error", "message": "The provided key does not have ..."}}'
MISSING = '{"error": {"type": "invalid_request_error", "code": "resource_missing", "message": "No such ..."}}'
NO_PATH = '{"error": {"type": "invalid_request_error", "message": "Unrecognized request URL"}}'


def asking(url: str) -> Asking:
    settings = ProviderSettings(api_key=Secret(STRIPE_KEY), base_url=url)
    return Asking(settings, sleep=lambda _: None, clock=time.monotonic)


@pytest.mark.parametrize(
    "act, expected",
    [
        (answers("403 Forbidden", FORBIDDEN), False),
        (answers("404 Not Found", MISSING), True),
        (answers("404 Not Found", NO_PATH), None),
        (answers("401 Unauthorized", NO_PATH), None),
        (answers("500 Oops", "{}"), None),
        (answers("200 OK", "<h1>hello</h1>"), None),
        (closes, None),
    ],
)
def test_what_an_answer_says_of_the_key(act: Act, *, expected: bool | None) -> None:
    with wire(act, act, act) as served:
        found = permissions.writable(asking(served.url))

    assert found == dict.fromkeys(("refunds", "payouts", "transfers"), expected)


@pytest.mark.parametrize(
    "act, expected",
    [
        (answers("200 OK", '{"object": "list", "data": [], "has_more": false}'), True),
        (answers("403 Forbidden", FORBIDDEN), False),
        (answers("404 Not Found", NO_PATH), None),
    ],
)
def test_whether_the_ledger_is_seen(act: Act, *, expected: bool | None) -> None:
    with wire(act) as served:
        assert permissions.sees_ledger(asking(served.url)) is expected


def test_nothing_that_is_sent_could_make_anything(sandbox: Street) -> None:
    permissions.writable(asking(sandbox.url))

    sent = [each for each in sandbox.requests() if each["method"] != "GET"]
    assert {each["path"] for each in sent} == {
        f"/v1/{name}/{prefix}_recon_asks_and_changes_nothing"
        for name, prefix in (("refunds", "re"), ("payouts", "po"), ("transfers", "tr"))
    }
    assert all(each["form"] == {} and each["answer"]["status"] == 404 for each in sent)
