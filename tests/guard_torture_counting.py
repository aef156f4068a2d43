"""After the guard's torture: what the provider has, the books say, callers were told, and a run sees.

Compares, and never mends. Used by tests/guard_torture_long.py.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from recon import hourly
from recon.doors.store.engines import Database
from recon.doors.stripe.provider import Provider
from recon.guard import RefundTool
from recon.hourly import RunReport
from recon.model.guarded import calls
from recon.model.holds import guarded
from recon.model.records.provider import Refund
from recon.model.records.words import DEAD, AccountId, IntentStatus, Kind
from recon.model.settings import GuardSettings
from recon.model.tables import intents
from tests.guard_torture import ACCOUNTS, Order, provider, refund, settings
from tests.sandboxes import Street

Key = tuple[str, str]  # Account and key.
Live = Mapping[Key, Sequence[Refund]]
# Faults in which nothing was executed.
IDLE = {"drop_before", "hang_before", "500_before", "429_lock", "409", "403", "429"}
CERTAIN = {"rejected", "disabled"}
_ROUNDS = 6
# Nothing hangs any more: what takes long then is the machine.
CALM = GuardSettings()


@dataclass(slots=True)
class After:
    """A calm world after the storm: nothing goes wrong any more, and time passes by hand.

    ahead: how far both its clocks are, ours and the provider's.
    """

    database: Database
    street: Street
    orders: Sequence[Order]
    ahead: timedelta = timedelta()
    wrong: list[str] = field(default_factory=list)

    def clear(self) -> None:
        """Take back every fault."""
        self.street.running.state.faults.take_back()

    def now(self) -> datetime:
        """Return the time."""
        return datetime.now(UTC) + self.ahead

    def pass_time(self, **span: float) -> None:
        """Let time pass, here and at the provider."""
        self.ahead += timedelta(**span)
        self.street.advance(timedelta(**span).total_seconds())

    def run(self) -> RunReport:
        """Let the hour pass over the books, and note what it may never see."""
        told = settings(self.street.url)
        report = hourly.run(self.database, patient(self.street.url), told, clock=self.now)
        if not report.complete:
            self.wrong.append("a run in calm weather is incomplete")
        return report

    def tool(self) -> RefundTool:
        """Return the tool as one more process has it."""
        return RefundTool(self.database, patient(self.street.url), self.now, settings=CALM)


def conclude(after: After) -> dict[str, Any]:
    """Let a run see it, settle what can be, ask for all once more; return figures, and note what is wrong."""
    after.clear()
    after.pass_time(hours=2)  # Whatever is unsettled for an hour is stuck.
    seen = [summary(after.run())]
    tool = after.tool()
    for _ in range(_ROUNDS):
        while tool.settle().looked:
            pass
        after.pass_time(minutes=45)
    statuses, made = books(after), live(after)
    _compare(after, statuses, made)
    report = after.run()
    seen.append(summary(report))
    _judge(after, report, statuses)
    _claims(after, made)
    _ask_again(after, tool)
    ends = books(after)
    _compare(after, ends, live(after))
    last = after.run()
    seen.append(summary(last))
    _judge(after, last, ends)
    tool._threads.shutdown()  # noqa: SLF001 -- the database is closed elsewhere
    return {
        "statuses": dict(Counter(map(str, statuses.values()))),
        "ends": dict(Counter(map(str, ends.values()))),
        "runs": seen,
    }


def patient(street: str) -> Provider:
    """Return the provider as one asks it who waits for a machine that has much to do."""
    return provider(street, read_timeout_seconds=CALM.send_timeout_seconds)


def summary(report: RunReport) -> dict[str, int]:
    """Return how many of each kind a run found, and what it healed."""
    found = Counter(str(each.kind) for each in report.result.mismatches)
    return dict(found) | {"healed": len(report.heals)}


def books(after: After) -> Mapping[Key, IntentStatus]:
    """Return what each intent that was ever asked for says."""
    with after.database.read() as connection:
        rows = connection.execute(select(intents.c.account, intents.c.key, intents.c.status)).all()
    return {(row.account, row.key): IntentStatus(row.status) for row in rows}


def live(after: After) -> Live:
    """Return the live refunds at the provider, by the key that they carry."""
    asked, made = patient(after.street.url), defaultdict(list)
    for account in ACCOUNTS:
        since = after.now() - timedelta(days=2)
        for page in asked.refunds(AccountId(account), since, after.now() + timedelta(minutes=1)):
            for each in page.refunds:
                if each.status not in DEAD:
                    made[account, str(each.intent_key)].append(each)
    return made


def doubles(made: Live) -> int:
    """Return how many intents were refunded more than once."""
    return sum(len(each) > 1 for each in made.values())


def figures(after: After) -> dict[str, Any]:
    """Return what was asked, sent and met, and what callers were told."""
    requests = [each.shown() for each in after.street.running.state.requests]
    posts = [each for each in requests if each["method"] == "POST" and each["path"] == "/v1/refunds"]
    lists = sum(each["method"] == "GET" and each["path"] == "/v1/refunds" for each in requests)
    with after.database.read() as connection:
        told = Counter(connection.scalars(select(calls.c.answer)))
        again = list(connection.scalars(select(guarded.c.sends)))
    return {
        "calls": sum(told.values()),
        "told": {str(name or "nobody"): count for name, count in told.items()},
        "sends": len(posts),
        "replayed": sum(bool(each["answer"] and each["answer"]["replayed"]) for each in posts),
        "sent_again": sum(each > 1 for each in again),
        "lookups": lists,
        "retrievals": len(requests) - len(posts) - lists,
        "faults": dict(Counter(_place(each) for each in requests if each["fault"])),
    }


def _place(request: Mapping[str, Any]) -> str:
    return f"{request['method']} {request['fault']}"


def _compare(after: After, statuses: Mapping[Key, IntentStatus], made: Live) -> None:
    """Note each intent that is refunded twice, or that says what the provider's books refute."""
    for key, refunds in made.items():
        if len(refunds) > 1:
            after.wrong.append(f"{key} was refunded {len(refunds)} times")
        if key not in statuses:
            after.wrong.append(f"{key} was refunded, and nobody decided on it")
    for key, status in statuses.items():
        if (status is IntentStatus.DONE) is not bool(made.get(key)):
            after.wrong.append(f"{key} says {status}, and {len(made.get(key, ()))} refunds are live")


def _judge(after: After, report: RunReport, statuses: Mapping[Key, IntentStatus]) -> None:
    """Note what a run finds beside what is stuck, and what is stuck beside what nobody can know."""
    stuck = set()
    for each in report.result.mismatches:
        if each.kind is Kind.STUCK:
            stuck.add((str(each.account), str(each.subject).partition(":")[2]))
        else:
            after.wrong.append(f"a run sees {each.kind} of {each.account} {each.subject}")
    unknown = {key for key, status in statuses.items() if status is IntentStatus.PENDING_UNKNOWN}
    if stuck != unknown:
        after.wrong.append(f"a run sees {sorted(stuck - unknown)} stuck, and {sorted(unknown - stuck)} not")


def _claims(after: After, made: Live) -> None:
    """Note each call that was told what is not so."""
    requests = [each.shown() for each in after.street.running.state.requests]
    executed = _executed(each for each in requests if each["method"] == "POST")
    with after.database.read() as connection:
        rows = connection.execute(select(calls).where(calls.c.answer.is_not(None))).all()
    for row in rows:
        key = (row.account, row.intent_key)
        if row.answer in {"done", "already_done"} and key not in made:
            after.wrong.append(f"call {row.number} of {key} was told {row.answer}, and nothing is there")
        if row.answer in CERTAIN and key in executed and executed[key] < row.answered_at:
            after.wrong.append(
                f"call {row.number} of {key} was told {row.answer}, and it was executed before"
            )


def _executed(posts: Iterable[Mapping[str, Any]]) -> Mapping[Key, datetime]:
    """Return when the request came that made each refund."""
    found: dict[Key, datetime] = {}
    for each in posts:
        refused = each["answer"] is None or each["answer"]["status"] in {400, 402, 404, 409, 429}
        if each["fault"] not in IDLE and not refused:
            at = datetime.fromisoformat(each["at"])
            found.setdefault((each["account"], each["key"]), at)
    return found


def _ask_again(after: After, tool: RefundTool) -> None:
    """Ask for everything until nothing changes; note what the payment holds and nobody is said to have."""
    left = list(after.orders)
    for _ in range(_ROUNDS):
        left = [each for each in left if refund(tool, each) not in {"done", "already_done"}]
        after.pass_time(seconds=70)
    shared = Counter(each.payment for each in after.orders)
    for each in left:
        if shared[each.payment] == 1 or each.minor * shared[each.payment] <= 10_000:
            after.wrong.append(f"{each.name} does not come to an end in calm weather")
