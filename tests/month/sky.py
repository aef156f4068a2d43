"""Lets the weather blow: over the provider, and over Slack."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from recon.doors.stripe.provider import Page, Provider
from recon.model.records.words import AccountId
from recon.model.settings import ProviderSettings
from recon.sandbox.faults import Kind
from tests.month.street import Street
from tests.month.weather import Sky, Slack

LISTS = ("GET /v1/refunds", "GET /v1/events")
EVERYTHING = ("GET /v1/account", *LISTS, "GET /v1/refunds/{id}")
POSTS = ("POST /api/chat.postMessage", "POST /api/chat.update")
HANGS_S = 5.0  # Of real time; whoever waits for it has gone long before.

FAULTS: dict[Sky, tuple[tuple[str, Kind], ...]] = {
    Sky.AWAY: tuple((place, Kind.DROP_BEFORE) for place in EVERYTHING),
    Sky.REFUSING: tuple((place, Kind.ERROR_BEFORE) for place in EVERYTHING),
    Sky.LIMITING: tuple((place, Kind.RATE_LIMIT) for place in EVERYTHING),
    Sky.NO_LISTS: (("GET /v1/refunds", Kind.DROP_BEFORE),),
    Sky.SECOND_PAGE: (("GET /v1/refunds", Kind.DROP_PAGE),),
    Sky.NO_EVENTS: (("GET /v1/events", Kind.ERROR_BEFORE),),
    Sky.NO_LOOKS: (("GET /v1/refunds/{id}", Kind.ERROR_BEFORE),),
    Sky.CUT: tuple((place, Kind.CUT_BODY_AFTER) for place in LISTS),
    Sky.HTML: tuple((place, Kind.HTML_AFTER) for place in LISTS),
    Sky.HANGING: (("GET /v1/refunds", Kind.HANG_BEFORE),),
    Sky.DRIPPING: (("GET /v1/refunds", Kind.DRIP),),
}


class SecondAccountAway(Provider):
    """A provider whose lists break off from the first connected account on."""

    def __init__(self, settings: ProviderSettings, street: Street, **more: Any) -> None:  # noqa: ANN401 - what a provider takes
        super().__init__(settings, **more)
        self._street = street

    def refunds(self, account: AccountId, created_from: datetime, created_to: datetime) -> Iterator[Page]:
        if account:
            self._street.blow("GET /v1/refunds", Kind.DROP_BEFORE)
        return super().refunds(account, created_from, created_to)


def over_provider(street: Street, sky: Sky, *, hides: float) -> None:
    """Let this be the provider's weather until it is calmed."""
    for place, fault in FAULTS.get(sky, ()):
        after_s = HANGS_S if fault is Kind.HANG_BEFORE else 1.0
        street.blow(place, fault, after_s=after_s)
    if hides:
        for place in LISTS:
            street.blow(place, Kind.INVISIBLE, after_s=hides)


def over_slack(street: Street, slack: Slack) -> None:
    """Let this be Slack's weather until it is calmed."""
    always = {
        Slack.AWAY: Kind.DROP_BEFORE,
        Slack.REFUSING: Kind.ERROR_BEFORE,
        Slack.LIMITING: Kind.RATE_LIMIT,
    }
    for place in POSTS:
        if slack in always:
            street.blow(place, always[slack])
    if slack is Slack.LOSING:
        street.blow("POST /api/chat.postMessage", Kind.DROP_AFTER, times=3)
    if slack is Slack.FATAL:
        street.blow("POST /api/chat.postMessage", Kind.FATAL_BEFORE, times=1)
        street.blow("POST /api/chat.postMessage", Kind.FATAL_AFTER, times=1)
