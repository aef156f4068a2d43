import pytest

from recon.model.provider_pages import ProviderPages
from recon.model.records.words import AccountId

BASE = "https://dashboard.stripe.com"


@pytest.mark.parametrize(
    "account, livemode, refund, payment",
    [
        ("", True, f"{BASE}/refunds/re_1", f"{BASE}/payments/pi_1"),
        ("", False, f"{BASE}/test/refunds/re_1", f"{BASE}/test/payments/pi_1"),
        ("acct_1", True, f"{BASE}/acct_1/refunds/re_1", f"{BASE}/acct_1/payments/pi_1"),
        ("acct_1", False, f"{BASE}/acct_1/test/refunds/re_1", f"{BASE}/acct_1/test/payments/pi_1"),
    ],
)
def test_the_page_is_of_the_account_and_the_mode(
    account: str, *, livemode: bool, refund: str, payment: str
) -> None:
    pages = ProviderPages(BASE, AccountId(account), livemode=livemode)

    assert (pages.refund("re_1"), pages.payment("pi_1")) == (refund, payment)


@pytest.mark.parametrize(
    "name, shown",
    [
        ("re/../../login?next=//outside.example", "re%2F..%2F..%2Flogin%3Fnext%3D%2F%2Foutside.example"),
        ("re 1#x", "re%201%23x"),
        ("][(javascript:alert(1))", "%5D%5B%28javascript%3Aalert%281%29%29"),
    ],
)
def test_an_id_of_anybodys_leads_nowhere_else(name: str, shown: str) -> None:
    pages = ProviderPages(BASE, AccountId(name), livemode=True)

    assert pages.refund(name) == f"{BASE}/{shown}/refunds/{shown}"
