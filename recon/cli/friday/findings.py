"""What the hour left behind, read back: from the database, the run's report and the sandbox's Slack.

Never shows it; story.py does.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from html import unescape

from recon.cli.friday.street import Street
from recon.doors.store import evidence, history, outbox, queue, runs, switches
from recon.doors.store.engines import Database
from recon.hourly import RunReport
from recon.model.records.cases import Case
from recon.model.records.histories import NoticeFilters
from recon.model.records.provider import Refund
from recon.model.records.queues import QueueFilters, QueueSummary
from recon.model.records.runs import Run
from recon.model.records.tools import SwitchEntry
from recon.model.records.words import Basis, Certainty, Kind
from recon.rules.alerts import ALERTS

_CASES = 500  # Of an evening that has some twenty.


@dataclass(frozen=True, slots=True)
class Double:
    """One customer refunded twice: the case, and its two refunds in time order."""

    case: Case
    first: Refund
    second: Refund


@dataclass(frozen=True, slots=True)
class Owned:
    """What one owner has to answer."""

    name: str
    target: str
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """One Slack message that begins a thread, as it stands, and how many replies it has."""

    channel: str
    text: str
    replies: int


@dataclass(frozen=True, slots=True)
class Watched:
    """What the watch on the calls did: when it told the operators, and how the switch was moved since.

    told_in: the channel. already: customers who were refunded twice by then. moves: oldest first.
    """

    tool: str
    told_at: datetime
    told_in: str
    already: int
    moves: tuple[SwitchEntry, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything the demo shows.

    unanswered: how many requests for a refund the sandbox left without an answer. doubles: by the time of
    the first refund. others: the other cases, in report order. healed: intents finished by the run, by what
    proved it. undelivered: notices that did not go out.
    """

    run: Run
    unanswered: int
    doubles: tuple[Double, ...]
    others: tuple[Case, ...]
    summary: QueueSummary
    owners: tuple[Owned, ...]
    healed: Mapping[Basis, int]
    said: tuple[Said, ...]
    undelivered: int
    watched: Watched

    @property
    def twice_between(self) -> tuple[datetime, datetime]:
        """Return when the first of the double refunds was made, and the last; there must be some."""
        times = [refund.created_at for each in self.doubles for refund in (each.first, each.second)]
        return min(times), max(times)


def read(database: Database, street: Street, report: RunReport) -> Findings:
    """Return what is to be shown.

    Raises:
        DatabaseUnavailable: the database cannot be read.
        ProviderUnavailable: the sandbox is gone.
    """
    run = runs.last_saved(database)
    assert run is not None, "the hour has saved its run"
    cases = queue.page(database, QueueFilters(), limit=_CASES).cases
    twice = [case for case in cases if _is_double(case)]
    doubles = sorted((_double(database, case) for case in twice), key=lambda each: each.first.created_at)
    order = list(Kind)
    others = sorted(
        (case for case in cases if not _is_double(case)),
        key=lambda case: (order.index(case.mismatch.kind), case.mismatch.since),
    )
    requests = street.ask("requests")
    return Findings(
        run=run,
        unanswered=sum(each["path"] == "/v1/refunds" and each["fault"] is not None for each in requests),
        doubles=tuple(doubles),
        others=tuple(others),
        summary=queue.summary(database),
        owners=_owners(cases),
        healed=Counter(heal.basis for heal in report.heals),
        said=_said(street),
        undelivered=sum(outbox.undelivered(database).values()),
        watched=_watched(database, doubles),
    )


def _watched(database: Database, doubles: Iterable[Double]) -> Watched:
    (thread,) = outbox.threads_from(database, ALERTS).values()
    first = history.told(database, NoticeFilters(targets=(thread.target,), verbs=("root",)), limit=_CASES)
    (alert,) = (each for each in first.notices if each.thread_key == thread.key)
    tool = thread.key.removeprefix(ALERTS).partition("|")[0]
    return Watched(
        tool=tool,
        told_at=alert.created_at,
        told_in=thread.target,
        already=sum(each.second.created_at <= alert.created_at for each in doubles),
        moves=tuple(reversed(switches.history(database, tool))),
    )


def _is_double(case: Case) -> bool:
    """Return whether an intent was carried out again under another key."""
    mismatch = case.mismatch
    return (
        mismatch.kind is Kind.DUPLICATE
        and mismatch.certainty is Certainty.PROBABLE
        and len(mismatch.refund_ids) == 2  # noqa: PLR2004 -- two are a double
    )


def _double(database: Database, case: Case) -> Double:
    _, refunds = evidence.rows(database, case)
    by_id = {refund.id: refund for refund in refunds}
    first, second = (by_id[each] for each in case.mismatch.refund_ids)
    return Double(case, first, second)


def _owners(cases: Iterable[Case]) -> tuple[Owned, ...]:
    """Return who owns what, whoever has the most first."""
    owned: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        name, target = (case.owner.name, case.owner.target) if case.owner else ("nobody", "")
        owned.setdefault((name, target), []).append(case)
    ordered = sorted(owned.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(Owned(name, target, tuple(theirs)) for (name, target), theirs in ordered)


def _said(street: Street) -> tuple[Said, ...]:
    """Return the threads as Slack has them, by channel and time."""
    messages = street.ask("messages")
    replies = Counter((each["channel"], each["thread_ts"]) for each in messages if each["thread_ts"])
    roots = [each for each in messages if not each["thread_ts"]]
    return tuple(
        Said(
            each["channel_name"],
            unescape(each["text"]),
            replies[each["channel"], each["ts"]],
        )
        for each in sorted(roots, key=lambda each: (each["channel_name"], float(each["ts"])))
    )
