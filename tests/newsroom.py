"""A company whose cases are told: what goes wrong there, what people do about it, and what its Slack hears.

Its mismatches are a dictionary, which each run plans and saves as the hour does.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any, ClassVar, cast

from sqlalchemy import select

from recon import assigning, delivery, reminding
from recon.desk import Desk
from recon.doors.store import leases, outbox
from recon.doors.store.engines import Database
from recon.doors.store.reading import Snapshot
from recon.doors.store.rows import case_record
from recon.model import tables
from recon.model.errors import Report
from recon.model.frames import Intake
from recon.model.records.cases import Case
from recon.model.records.people import Operator
from recon.model.records.results import Mismatch, Money
from recon.model.records.runs import HOUR, AccountReading, Lease, Run
from recon.model.records.words import (
    AccountId,
    Action,
    Actor,
    Kind,
    Resolution,
    Role,
    RunId,
    Subject,
    Verdict,
)
from recon.model.settings import Secret, Settings, SlackSettings
from recon.planning import Office, Plan, Quiet, Settled
from recon.rules import moves, ownership
from tests.builders import NOON, PLATFORM, a_mismatch, a_result
from tests.wall import Death, Wall

NOTHING = cast("Intake", None)  # Only old news that is read back on purpose asks for the rows.
OTHER = AccountId("acct_b")
ACCOUNTS = (PLATFORM, OTHER)
ANA = Operator(Actor("Ana"), Role.OPERATOR, slack_id="U0ANA")
EVERYTHING = {"name": "everything", "owner": "Payments", "target": "#payments"}
NIGHT = {"zone": "Europe/Berlin", "quiet_hours": "22:00-07:00"}
# Rules as somebody may change them from one day to the next.
RULES: tuple[dict[str, Any], ...] = (
    {"rules": [EVERYTHING]},
    {
        "rules": [
            EVERYTHING,
            {"name": "doubles", "kind": "duplicate", "owner": "Doubles"},
            {"name": "other", "account": OTHER, "owner": "Mona", "target": "mona@company.example"},
        ],
        "owners": {
            "Doubles": {
                "target": "#doubles",
                **NIGHT,
                "escalation": [{"after_minutes": 60, "owner": "Payments"}],
            }
        },
    },
    {
        "rules": [
            {"name": "everything", "owner": "Group", "target": "S0123"},
            {"name": "strays", "kind": "orphan", "unowned": "The bank settles them."},
        ],
        "severities": [{"level": "medium"}, {"level": "critical", "older_than_minutes": 1440}],
    },
    {
        "rules": [
            EVERYTHING,
            {"name": "old", "older_than_minutes": 600, "owner": "Boss", "target": "nobody@company.invalid"},
        ],
        "severities": [{"level": "low"}, {"level": "high", "kind": ["duplicate", "missing"]}],
        "owners": {"Boss": {"target": "nobody@company.invalid", **NIGHT}},
    },
)


@dataclass
class Newsroom:
    """Applies steps to a database, a provider and a Slack."""

    database: Database
    now: datetime = NOON
    rules: dict[str, Any] = field(default_factory=lambda: RULES[0])
    surge_limit: int = 20
    clicks: Iterator[int] = field(default_factory=lambda: count(1))
    wrong: dict[tuple[AccountId, Subject], Mismatch] = field(default_factory=dict)
    meanwhile: list[tuple[object, ...]] = field(default_factory=list)
    MOVES: ClassVar = (
        Action.ACKNOWLEDGED,
        Action.RESOLVED,
        Action.ACCEPTED,
        Action.REOPENED,
        Action.SNOOZED,
        Action.ASSIGNED,
        Action.COMMENTED,
    )

    def __post_init__(self) -> None:
        self.slack = Wall()

    @property
    def settings(self) -> Settings:
        return Settings(
            slack=SlackSettings(bot_token=Secret("xoxb-wall"), operators_channel="#operators"),
            owners=self.rules,
            surge_limit=self.surge_limit,
        )

    def clock(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def take(self, step: tuple[object, ...]) -> None:
        getattr(self, f"do_{step[0]}")(*step[1:])

    def do_wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    def do_break(self, account: AccountId, number: int, kind: Kind, minor: int) -> None:
        """Let something be wrong, or wrong in another way."""
        subject = Subject(f"intent:{number}")
        known = self.wrong.get((account, subject))
        self.wrong[account, subject] = a_mismatch(
            account=account,
            subject=subject,
            kind=kind,
            at_risk=Money(minor, "usd"),
            since=known.since if known is not None else self.now,
            why="Which is wrong.",
            order_id=f"order_{number}",
        )

    def do_mend(self, account: AccountId, number: int) -> None:
        """Let something agree again."""
        self.wrong.pop((account, Subject(f"intent:{number}")), None)

    def do_run(self, broken: tuple[AccountId, ...] = ()) -> Settled:
        """Judge everything, having read what is not broken, and save it."""
        office, lease = self._office()
        as_of, complete = self.now, frozenset(ACCOUNTS) - set(broken)
        known = self.cases()
        result = a_result(
            *self.wrong.values(),
            as_of=as_of,
            incomplete=tuple(f"{each or 'platform'} was not read." for each in broken),
        )
        run = Run(
            id=RunId(f"run_{lease.fence}"),
            fence=lease.fence,
            started_at=self.now,
            finished_at=self.now,
            as_of=as_of,
            verdict=Verdict.INCOMPLETE if broken else result.verdict,
            mark=0,
            policy_digest="",
            full=True,
            counts={},
            at_risk=result.at_risk,
            opened=0,
            cleared=0,
            healed=0,
            accounts=tuple(self._reading(each, complete=each in complete) for each in ACCOUNTS),
        )
        pairs = frozenset({(case.account, case.subject) for case in known} | set(self.wrong))
        snapshot = Snapshot(NOTHING, NOTHING, known, pairs, frozenset(), (), 0, full=True)
        settled = Plan(office, run, snapshot, result, backwards=False, quiet=Quiet({}), said=()).carry_out()
        leases.release(self.database, lease)
        self.now += timedelta(seconds=1)
        return settled

    def do_rules(self, which: int) -> None:
        self.rules = RULES[which]

    def do_apply(self) -> None:
        assigning.apply(self.database, self.settings, clock=self.clock)

    def do_remind(self) -> None:
        reminding.remind(self.database, self.settings, clock=self.clock)

    def do_delete(self, place: int) -> None:
        self.slack.forget(place)

    def do_deliver(self, weather: tuple[str, ...] = ()) -> None:
        self.slack.weather = list(weather)
        with suppress(Death):
            delivery.deliver_all(
                self.database,
                self.slack,
                self.settings,
                clock=self.clock,
                budget=timedelta(minutes=3),
                sleep=self.sleep,
            )
        self.slack.weather = []
        self.now += timedelta(seconds=1)

    def do_move(self, place: int, move: Action, choice: int = 0) -> None:
        known = self.cases()
        if place >= len(known):
            return
        desk, case = Desk(self.database, self.settings, clock=self.clock), known[place]
        if move not in moves.offered(case, ()):
            return
        owners = desk.owners()
        until = self.now + timedelta(hours=(2, 30)[choice % 2])
        act: dict[Action, tuple[Any, dict[str, object]]] = {
            Action.ACKNOWLEDGED: (desk.acknowledge, {}),
            Action.RESOLVED: (desk.resolve, {"code": Resolution.RECOVERED}),
            Action.ACCEPTED: (desk.accept, {"until": until}),
            Action.REOPENED: (desk.reopen, {}),
            Action.SNOOZED: (desk.snooze, {"until": until}),
            Action.ASSIGNED: (desk.assign, {"owner": owners[choice % len(owners)]}),
            Action.COMMENTED: (desk.comment, {}),
        }
        does, more = act[move]
        click = {"version": case.version, "operator": ANA, "action_id": f"click-{next(self.clicks)}"}
        with suppress(Report):  # The same owner once more.
            does(case.id, reason="The customer Smith called.", **click, **more)

    def cases(self) -> tuple[Case, ...]:
        """Return every case, by account and subject."""
        columns = tables.cases.c
        query = select(tables.cases).order_by(columns.account, columns.subject)
        with self.database.read() as connection:
            return tuple(map(case_record, connection.execute(query).mappings()))

    def settle(self) -> None:
        """Let everything be told: two days pass until it is noon, and the provider and Slack are well."""
        ends = self.now + timedelta(hours=48)
        while self.now.hour != 12 or self.now < ends:
            self.now = (self.now + timedelta(hours=12)).replace(minute=0)
            self.now = self.now.replace(hour=0 if self.now.hour < 12 else 12)
            self.do_run()
            for _ in range(100):
                self.do_deliver()
                if not outbox.late(self.database, now=self.now):
                    break

    def _office(self) -> tuple[Office, Lease]:
        name = f"run-{next(self.clicks)}"
        lease = leases.take(self.database, HOUR, name, now=self.now, duration=timedelta(minutes=5))
        office = Office(
            self.database,
            self.settings,
            ownership.parse(self.rules),
            lease=lambda: lease,
            clock=self.clock,
            enter=self.entering,
            livemode=False,
            dry=False,
        )
        return office, lease

    def entering(self, step: str) -> None:
        """Let a person be faster than the run, where one is to be."""
        if step == "save":
            while self.meanwhile:
                self.take(self.meanwhile.pop(0))

    def do_meanwhile(self, place: int, move: Action, choice: int = 0) -> None:
        """Let a person move a case while the next run saves."""
        self.meanwhile.append(("move", place, move, choice))

    def _reading(self, account: AccountId, *, complete: bool) -> AccountReading:
        return AccountReading(
            account=account,
            from_at=self.now - timedelta(hours=1),
            to_at=self.now,
            complete=complete,
            pages=1,
            refunds=1,
            changed=0,
            error=None if complete else "page 3 of the list broke off",
        )
