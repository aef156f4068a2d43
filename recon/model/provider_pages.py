"""Where the provider's own dashboard shows a refund or a payment. Never asks for one."""

from dataclasses import dataclass
from urllib.parse import quote

from recon.model.records.words import AccountId


@dataclass(frozen=True, slots=True)
class ProviderPages:
    """The pages of one account. base_url: without a slash at its end. livemode: the money is real.

    Source: the addresses that the provider's dashboard has while one looks at an account of its own, or at a
    connected one, in test mode or not.
    """

    base_url: str
    account: AccountId
    livemode: bool

    def refund(self, refund_id: str) -> str:
        """Return the address of a refund's page."""
        return self._page("refunds", refund_id)

    def payment(self, payment: str) -> str:
        """Return the address of the page of a PaymentIntent or a charge."""
        return self._page("payments", payment)

    def _page(self, sort: str, name: str) -> str:
        # Ids come from files and other people's tables: none of them leads elsewhere.
        parts = [self.account, "" if self.livemode else "test", sort, name]
        return "/".join([self.base_url, *(quote(part, safe="") for part in parts if part)])
