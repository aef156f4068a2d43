"""What a company has behind it before its first hour, and a provider that breaks off on demand."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from recon.doors.stripe.provider import Page, Provider
from recon.model.errors import ProviderRefused, ProviderUnavailable
from recon.model.records.provider import Intent, Refund
from recon.model.records.results import Reject
from recon.model.records.words import AccountId
from recon.model.settings import ProviderSettings
from tests.hours import FRIDAY, Town

LONG_AGO = FRIDAY - timedelta(days=60)


def long_ago(town: Town, name: str, *, at: datetime = LONG_AGO, **changes: Any) -> Intent:  # noqa: ANN401  # any field
    """Write down an intent of long ago, with nothing at the provider."""
    times = {"created_at": at, "updated_at": at, "first_sent_at": at}
    return town.intend(name, **{"paid": False} | times | changes)


def strangers(town: Town, number: int, *, at: datetime) -> None:
    """Make that many refunds of which no intent tells, at that time."""
    town.street.set_time(at.isoformat())
    for each in range(number):
        town.street.payment(f"pi_s{at:%m%d}_{each}", 5000)
        town.street.control("refunds", payment=f"pi_s{at:%m%d}_{each}", amount=100 + each)
    town.street.set_time(town.now.isoformat())


class Weather(Provider):
    """A provider that breaks off: at once, from some time on or at the very end; or cuts an account off.

    flawed: a refund that it tells of without its amount.
    """

    breaks = ""
    flawed: str | None = None

    def __init__(self, settings: ProviderSettings) -> None:
        super().__init__(settings, sleep=lambda _: None)
        self.asked: list[datetime] = []

    def _refund(self, row: object, account: AccountId, place: int) -> Refund | Reject:
        if isinstance(row, dict) and row.get("id") == self.flawed:
            row = {**row, "amount": None}
        return super()._refund(row, account, place)

    def refunds(self, account: AccountId, created_from: datetime, created_to: datetime) -> Iterator[Page]:
        self.asked.append(created_from)
        broken = {"refunds": True, "late": created_from > LONG_AGO + timedelta(days=15)}.get(
            self.breaks, False
        )
        if broken:
            raise ProviderUnavailable("it broke off")
        if self.breaks == "refused" and account and created_to < FRIDAY:
            raise ProviderRefused("cut off")
        yield from super().refunds(account, created_from, created_to)
        if self.breaks == "end" and created_to > FRIDAY:
            raise ProviderUnavailable("it broke off")


def under(town: Town, *, page_size: int = 100) -> Weather:
    """Put a town under a weather of its own. page_size: what fits one page is not cut into slices."""
    town.provider = weather = Weather(replace(town.settings.provider, page_size=page_size))
    return weather
