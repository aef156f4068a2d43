"""The provider's key: whose, in which mode, what it may read, and whether it may do more; and the clocks.

Asks only what has no effect. Never shows the key.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from recon.doctor.patients import Check, Patient, Pen
from recon.doors.store import checkup, mirror, revisions
from recon.doors.stripe import permissions
from recon.doors.stripe.asking import API_VERSION, Asking
from recon.doors.stripe.provider import Provider
from recon.doors.stripe.wire import Forbidden
from recon.model import phrases
from recon.model.errors import ProviderRefused, ReconError
from recon.model.records.remarks import Remark, Section
from recon.model.records.words import AccountId
from recon.model.settings import ProviderSettings

_PROVIDER, _CLOCK = Pen(Section.PROVIDER), Pen(Section.CLOCK)
_PLATFORM = AccountId("")
_READ_SECONDS = 10.0  # The provider answers such questions in under one.
_PAUSE_SECONDS = 1.0  # Between two tries: a person waits.
_NEEDS = (
    "a restricted key (rk_...) that may read the account, charges and refunds, events, balance transactions"
)
# The provider's Date has whole seconds, and the way there and back takes its part.
_BLUR = timedelta(seconds=1)
# A third of the shortest graces: further off, what is young is taken for old or the other way round.
_FAR_OFF = timedelta(minutes=5)


def _key(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None:
        return
    settings = patient.settings.provider
    key = settings.api_key.reveal()
    if not key:
        yield _PROVIDER.failure("STRIPE_API_KEY is not set.", f"Set it, or STRIPE_API_KEY_FILE, to {_NEEDS}.")
        return
    live = Provider(settings).livemode()
    mode = "a mode it does not show" if live is None else "live mode" if live else "test mode"
    if key.startswith("rk_"):
        yield _PROVIDER.ok(f"The key is a restricted one, of {mode}.")
    elif key.startswith("sk_"):
        yield _PROVIDER.warning(
            f"The key is a full secret key, of {mode}: it can move money, and the job only reads.",
            f"Give the job {_NEEDS}.",
        )
    elif key.startswith("pk_"):
        yield _PROVIDER.failure("The key is a publishable one, which reads nothing.", f"Use {_NEEDS}.")
    else:
        yield _PROVIDER.warning("The key does not say which sort it is.", f"Expected {_NEEDS}.")
    if settings.base_url:
        yield _PROVIDER.warning(
            f"The provider is spoken to at {settings.base_url}, which is the sandbox or a stand-in.",
            "For real refunds leave RECON_STRIPE_BASE_URL unset.",
        )
    yield _PROVIDER.ok(f"The version of its API is pinned: {API_VERSION}.")


def _mode(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None or not patient.settings.provider.api_key or patient.database is None:
        return
    if revisions.current(patient.database) != revisions.head():
        return
    ours = Provider(patient.settings.provider).livemode()
    held = {each.livemode for each in mirror.accounts(patient.database)} - {None}
    words = {True: "live", False: "test"}
    if ours is not None and held - {ours}:
        yield _PROVIDER.failure(
            f"The database holds {words[not ours]} refunds, and the key is a {words[ours]} key: every run is "
            "refused.",
            "Use the key of the other mode, or another database (RECON_DATABASE_URL).",
        )
    elif ours is not None and held:
        yield _PROVIDER.ok(f"The database holds {words[ours]} refunds, as the key does.")


def _reading(patient: Patient) -> Iterator[Remark]:
    provider = _opened(patient)
    if provider is None or patient.settings is None:
        yield from _unasked(patient, _PROVIDER)
        return
    try:
        yield _PROVIDER.ok(f"It answers: the key is account {provider.account().id}'s.")
    except ReconError as error:
        yield _PROVIDER.failure(_said(error), _remedy(error, "the account"))
        # Nobody answers, or knows the key: asking on costs time and says nothing new.
        if provider.now() is None or " 401" in str(error):
            return
    accounts = list(dict.fromkeys((_PLATFORM, *patient.settings.provider.accounts)))
    readable = 0
    for account in accounts:
        flaws = list(_unreadable(provider, account, patient.clock()))
        readable += not flaws
        yield from flaws
    if permissions.sees_ledger(_asking(patient.settings.provider)) is False:
        yield _PROVIDER.warning(
            "The key may not read balance transactions.",
            "Give it that permission: without it a partial capture's reversal is taken for a refund.",
        )
    if readable:
        of = "" if len(accounts) == 1 else f" of {readable} of {len(accounts)} accounts"
        yield _PROVIDER.ok(f"Refunds and events{of} can be read.")


def _unreadable(provider: Provider, account: AccountId, now: datetime) -> Iterator[Remark]:
    """Yield what of an account cannot be read, asking as a run does, for one second of its books."""
    looks: dict[str, Callable[[], object]] = {
        "refunds": lambda: next(iter(provider.refunds(account, now - _BLUR, now)), None),
        "events": lambda: next(iter(provider.refund_events(account, now - _BLUR)), None),
    }
    for what, look in looks.items():
        try:
            look()
        except ReconError as error:
            yield _PROVIDER.failure(_said(error), _remedy(error, what))


def _writing(patient: Patient) -> Iterator[Remark]:
    if _opened(patient) is None or patient.settings is None:
        return
    settings = patient.settings.provider
    if not settings.api_key.reveal().startswith("rk_"):
        return  # A full key may do all, which is said.
    told = permissions.writable(_asking(settings))
    able = [name for name, may in told.items() if may]
    unable = [name for name, may in told.items() if may is False]
    dark = [name for name, may in told.items() if may is None]
    if able:
        yield _PROVIDER.warning(
            f"The key may write {' and '.join(able)}, and the job only reads.",
            "Take those permissions from it; the guarded tool has a key of its own, which writes refunds.",
        )
    if unable:
        yield _PROVIDER.ok(f"The key may not write {' or '.join(unable)}.")
    if dark:
        unseen = f"Whether the key may write {' or '.join(dark)} did not show"
        yield _PROVIDER.ok(f"{unseen}; its page at Stripe says it.")


def _theirs(patient: Patient) -> Iterator[Remark]:
    provider = _opened(patient)
    if provider is None or patient.settings is None:
        yield from _unasked(patient, _CLOCK)
        return
    with suppress(ReconError):  # A refusal has its time as well; what it refuses is said elsewhere.
        provider.account()
    told, ours = provider.now(), patient.clock()
    if told is None:
        yield _CLOCK.warning("The provider did not tell its time.", "It has to answer first; see there.")
        return
    yield _beside("the provider's", ours - told, patient.settings.policy.clock_skew)


def _database(patient: Patient) -> Iterator[Remark]:
    if patient.database is None or patient.settings is None:
        return
    told = checkup.server(patient.database).now
    if told is not None:
        yield _beside("the database's", patient.clock() - told, patient.settings.policy.clock_skew)


def _beside(whose: str, ahead: timedelta, skew: timedelta) -> Remark:
    """Return what it means that our clock is that far ahead."""
    off = abs(ahead)
    way = "ahead of" if ahead > timedelta() else "behind"
    if off <= skew + _BLUR:
        return _CLOCK.ok(f"Our clock and {whose} agree, to {off.total_seconds():.0f} s.")
    told = f"Our clock is {off.total_seconds():,.0f} s {way} {whose}."
    todo = "Put this machine's clock right (NTP): graces, leases and links by time rest on it."
    return _CLOCK.failure(told, todo) if off >= _FAR_OFF else _CLOCK.warning(told, todo)


def _opened(patient: Patient) -> Provider | None:
    """Return the provider to ask; None where it must not or cannot be asked."""
    if patient.offline or patient.settings is None or not patient.settings.provider.api_key:
        return None
    settings = replace(_brisk(patient.settings.provider), page_size=1)
    return Provider(settings, sleep=_nap)


def _asking(settings: ProviderSettings) -> Asking:
    return Asking(_brisk(settings), sleep=_nap, clock=time.monotonic)


def _nap(seconds: float) -> None:
    time.sleep(min(seconds, _PAUSE_SECONDS))


def _brisk(settings: ProviderSettings) -> ProviderSettings:
    """Return the settings with a person's patience."""
    return replace(settings, read_timeout_seconds=min(settings.read_timeout_seconds, _READ_SECONDS))


def _unasked(patient: Patient, pen: Pen) -> Iterator[Remark]:
    if patient.offline:
        yield pen.warning("The provider was not asked (--offline).", "Leave --offline away to know.")
    elif patient.settings is not None and pen is _CLOCK:
        yield pen.warning("The provider's time is not known: there is no key.", "See the provider.")


def _said(error: ReconError) -> str:
    """Return what went wrong as a sentence: in errors it begins with what was asked for."""
    return phrases.opening(str(error))


def _remedy(error: ReconError, what: str) -> str:
    if isinstance(error, ProviderRefused):
        if " 401" in str(error):
            return "The key is revoked, expired or mistyped: make a new one, and set STRIPE_API_KEY."
        if isinstance(error, Forbidden):
            return f"Give the key permission to read {what}, on its page at Stripe; a run needs it."
        return "Look at the key, its mode and the account: a run will be refused as well."
    return "Look whether this machine reaches the provider: proxy, firewall, its status page. Then again."


CHECKS = (
    Check("which key it is", _key),
    Check("whether the database holds the key's mode", _mode),
    Check("what the key may read", _reading),
    Check("what the key may write", _writing),
)
CLOCKS = (
    Check("what time it is at the provider", _theirs),
    Check("what time it is in the database", _database),
)
