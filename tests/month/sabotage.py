"""Safeguards taken out of the hour one by one, to see that a month notices each."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from recon import planning
from recon.doors.store import cases, closure, leases, reading
from recon.doors.stripe.provider import Provider
from recon.model.records.notices import Notice
from recon.model.records.words import NoticeState
from recon.rules import deliveries, windows
from tests.month import life

Sabotage = Callable[[], AbstractContextManager[None]]


@contextmanager
def swapped(place: Any, name: str, other: Any) -> Iterator[None]:  # noqa: ANN401 - any attribute of anything
    """Put something else in the place of an attribute."""
    real = getattr(place, name)
    setattr(place, name, other)
    try:
        yield
    finally:
        setattr(place, name, real)


def mark_at_the_save() -> AbstractContextManager[None]:
    """The mark is what there is when the run saves: what happened since it read is never looked at."""
    real = cases.save_run

    def save_run(database: Any, lease: Any, saving: cases.Saving) -> cases.Saved:  # noqa: ANN401 - as the real one
        with database.read() as connection:
            mark = closure.mark(connection)
        return real(database, lease, replace(saving, run=replace(saving.run, mark=mark)))

    return swapped(cases, "save_run", save_run)


def mark_at_the_read() -> AbstractContextManager[None]:
    """The mark holds from the reading on: what a run has read that was never saved is not read again."""
    real, highest = reading.read, [0]

    def read(database: Any, *, full: bool, mark: int, **more: Any) -> reading.Snapshot:  # noqa: ANN401 - as the real one
        if mark == 0:
            highest[0] = 0  # Another database.
        snapshot = real(database, full=full, mark=max(mark, highest[0]), **more)
        highest[0] = snapshot.mark
        return snapshot

    return swapped(reading, "read", read)


def unread_is_read() -> AbstractContextManager[None]:
    """Every account passes for read completely: absence proves something that it does not."""
    real = windows.coverage

    def coverage(accounts: Any, complete: Any, *more: Any) -> Any:  # noqa: ANN401 - as the real one
        return real(accounts, list(accounts), *more)

    return swapped(windows, "coverage", coverage)


@contextmanager
def incomplete_clears() -> Iterator[None]:
    """A run that did not read everything clears cases all the same."""
    everything = property(lambda plan: frozenset(each.account for each in plan.run.accounts))
    with unread_is_read(), swapped(planning.Plan, "_read", everything):
        yield


def no_re_list() -> AbstractContextManager[None]:
    """What was read once is never listed again."""
    return swapped(windows, "relisted", lambda *_args, **_more: None)


def no_overlap() -> AbstractContextManager[None]:
    """Each run reads from where the last one ended: what shows late is behind it."""
    real = life.settings_for

    def settings_for(street: Any) -> Any:  # noqa: ANN401 - as the real one
        settings = real(street)
        return replace(settings, pull=replace(settings.pull, overlap=timedelta(0)))

    return swapped(life, "settings_for", settings_for)


def said_again() -> AbstractContextManager[None]:
    """A notice's key is another with each run, so that the same news is new each time."""
    real = Notice.new

    def new(dedupe_key: str, *rest: Any, **more: Any) -> Any:  # noqa: ANN401 - as the real one
        return real(f"{dedupe_key}|{more.get('run_id')}", *rest, **more)

    return swapped(Notice, "new", new)


def no_fence() -> AbstractContextManager[None]:
    """Nobody checks whether the lease is still theirs."""
    return swapped(leases, "check", lambda *_: None)


def no_ties() -> AbstractContextManager[None]:
    """Only rows that were touched are read, and nothing that is tied to them."""
    real = closure._step  # noqa: SLF001 - a safeguard is inside

    def step(connection: Any, number: int) -> bool:  # noqa: ANN401 - as the real one
        real(connection, number)
        return False

    return swapped(closure, "_step", step)


def no_due() -> AbstractContextManager[None]:
    """Nothing is judged again because its time has come."""
    return swapped(cases, "_replace_due", lambda *_: None)


def no_events() -> AbstractContextManager[None]:
    """What the provider tells of refunds is not listened to."""
    return swapped(Provider, "refund_events", lambda *_args, **_more: iter(()))


def sent_blindly() -> AbstractContextManager[None]:
    """A message of which nobody knows whether it was sent is sent again without a look."""
    real = deliveries.after

    def after(notice: Any, outcome: Any, **more: Any) -> Any:  # noqa: ANN401 - as the real one
        known = real(notice, outcome, **more)
        return replace(known, state=NoticeState.WAITING) if known.state is NoticeState.UNKNOWN else known

    return swapped(deliveries, "after", after)


SABOTAGES: dict[str, Sabotage] = {
    each.__name__: each
    for each in (
        mark_at_the_save,
        mark_at_the_read,
        unread_is_read,
        incomplete_clears,
        no_re_list,
        no_overlap,
        said_again,
        no_fence,
        no_ties,
        no_due,
        no_events,
        sent_blindly,
    )
}
