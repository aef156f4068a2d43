"""A world in which runs of the hourly job die, beside one of the same company where nothing ever happens.

Both have the same provider; each has its own database and its own Slack. Used by tests/test_kills.py and,
for hundreds of deaths, by tests/kills_long.py. A seed makes the same worlds, weathers and deaths again; only
a death by time may come a few instructions earlier or later.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from sqlalchemy import select, update

from recon.doors.store.engines import Database
from recon.model import rights, tables
from recon.model.records.provider import Intent
from recon.model.records.words import AccountId, IntentStatus, RefundId
from recon.model.stored import EPOCH
from recon.sandbox.faults import Faults
from recon.sandbox.server import Sandbox
from tests import aftermath
from tests.hours import Town, a_town
from tests.nursery import End, Fate, Nursery
from tests.sandboxes import SLACK_TOKEN, STRIPE_KEY, Street

KILLED, UNDELIVERED, INCOMPLETE, HELD = -9, 4, 3, 75
ENDS = {KILLED, UNDELIVERED, INCOMPLETE, 0}
LISTS = ("GET /v1/refunds", "GET /v1/events")
POSTS = ("POST /api/chat.postMessage", "POST /api/chat.update")
CONNECTED = "acct_north"
# The rate at which a page drips, in seconds a byte: slow, and slower than the job will wait for.
SLOW, TOO_SLOW = 0.0001, 0.01
# (where, fault, seconds). What only costs time, and what breaks a reading off, or hides an answer.
Fault = tuple[str, str, float]
STALLS: list[Fault] = [(place, "latency", seconds) for place in LISTS for seconds in (0.02, 0.2)]
BREAKS: list[Fault] = [
    *STALLS,
    *((place, "drip", SLOW) for place in LISTS),
    *(
        (place, fault, 0.02)
        for place in LISTS
        for fault in ("drop_before", "cut_body_after", "html_200_after")
    ),
    *((place, fault, 0.02) for place in LISTS for fault in ("429", "500_before")),
    *((place, "hang_before", 1.0) for place in LISTS),
    *((place, "drip", TOO_SLOW) for place in LISTS),
    ("GET /v1/refunds", "drop_page", 0.02),
    *((place, fault, 0.5) for place in POSTS for fault in ("drop_before", "drop_after", "500_after", "429")),
]
SETTINGS = """
[provider]
page_size = 3
accounts = ["acct_north"]
connect_timeout_seconds = 0.5
read_timeout_seconds = 0.5
[slack]
operators_channel = "#operators"
timeout_seconds = 1
"""
OWNERS = '[[rules]]\nname = "everything"\nowner = "Payments on call"\ntarget = "#payments"\n'


@dataclass
class World:
    """Two databases of one company and one provider: one where things happen to the hour, and a calm one.

    wounded, unhurt: where the runs of each are born; rival: where a second run at the wounded company's is.
    deaths: what was done to the hour, to be read when a comparison fails.
    """

    town: Town
    calm: Town
    calm_street: Street
    wounded: Nursery
    rival: Nursery
    unhurt: Nursery
    random: Random
    sabotage: str = ""
    crowd: int = 1
    hours: int = 0
    fails: list[RefundId] = field(default_factory=list)
    goes: list[Intent] = field(default_factory=list)
    comes: list[Intent] = field(default_factory=list)
    deaths: list[str] = field(default_factory=list)
    ends: Counter[int | None] = field(default_factory=Counter)

    def happen(self) -> None:
        """Let two hours pass in which everything happens that an hour can find, and some things in order."""
        self.hours += 1
        # The runs' long pauses have moved the sandbox's time on; back it must never go.
        self.town.now = datetime.fromtimestamp(self.town.street.running.state.clock.now(), UTC)
        for refund in self.fails:
            self.town.mend(refund)
        for intent in self.goes:
            self.town.forget(intent)
            self.calm.forget(intent)
        for intent in self.comes:
            self.town.pay(intent)
        self.fails, self.goes, self.comes = [], [], []
        kinds = [kind for kind in KINDS for _ in range(self.random.randint(1, self.crowd))]
        self.random.shuffle(kinds)
        for number, kind in enumerate(kinds):
            account = AccountId(self.random.choice(["", "", CONNECTED]))
            KINDS[kind](self, f"{kind}_{self.hours}_{number}", account)
            self.town.pass_time(minutes=self.random.choice([0, 0, 1, 3]))
        self.town.pass_time(hours=2)
        self.share()

    def late(self, name: str) -> None:
        """Let an intent be written down that is two hours old and that no refund answers."""
        long_ago = self.town.now - timedelta(hours=2)
        self.town.intend(name, created_at=long_ago, updated_at=long_ago, first_sent_at=long_ago)
        self.share()

    def differences(self) -> list[str]:
        """Return how the books and messages differ from the calm company's."""
        return aftermath.differences(
            self.town.database, self.calm.database, self.town.street, self.calm_street
        )

    def share(self) -> None:
        """Write down at the calm company's what the company itself has written down since."""
        known = aftermath.found(self.calm.database, "intents", "account", "key")
        with self.town.database.read() as reading, self.calm.database.write() as writing:
            rows = reading.execute(select(tables.intents)).mappings().all()
            fresh = [dict(row) for row in rows if (row["account"], row["key"]) not in known]
            if fresh:
                writing.execute(tables.intents.insert(), fresh)


def _fine(world: World, name: str, account: AccountId) -> None:
    for each in range(2 * world.crowd):
        world.town.refund(f"{name}_{each}", account=account)


def _twice(world: World, name: str, account: AccountId) -> None:
    intent, _ = world.town.refund(name, account=account)
    world.town.pay(intent)


def _lost(world: World, name: str, account: AccountId) -> None:
    world.town.intend(name, account=account)


def _heals(world: World, name: str, account: AccountId) -> None:
    status = world.random.choice([IntentStatus.PENDING, IntentStatus.PENDING_UNKNOWN])
    world.town.pay(world.town.intend(name, account=account, status=status))


def _stuck(world: World, name: str, account: AccountId) -> None:
    world.town.intend(name, account=account, status=IntentStatus.PENDING)


def _fails(world: World, name: str, account: AccountId) -> None:
    world.fails.append(world.town.refund(name, account=account)[1].id)


def _goes(world: World, name: str, account: AccountId) -> None:
    world.goes.append(world.town.intend(name, account=account))


def _comes(world: World, name: str, account: AccountId) -> None:
    world.comes.append(world.town.intend(name, account=account))


def _stray(world: World, name: str, account: AccountId) -> None:
    world.town.street.payment(f"pi_{name}", 5000, account=account)
    named = {"account": account} if account else {}
    world.town.street.control("refunds", payment=f"pi_{name}", amount=700, **named)


# fails: at the bank, in the next hour. goes: its row is deleted then. comes: its refund appears then.
KINDS = {
    "fine": _fine,
    "twice": _twice,
    "lost": _lost,
    "heals": _heals,
    "stuck": _stuck,
    "fails": _fails,
    "goes": _goes,
    "comes": _comes,
    "stray": _stray,
}


@contextmanager
def a_world(urls: Mapping[str, str], street: Street, folder: Path, seed: int) -> Iterator[World]:
    """Yield a world of that seed. urls: of the two databases, migrated and empty, "wounded" and "unhurt"."""
    (folder / "recon.toml").write_text(SETTINGS)
    (folder / "owners.toml").write_text(OWNERS)
    with (
        Sandbox.start() as second,
        Database.open(urls["wounded"]) as database,
        Database.open(urls["unhurt"]) as calm,
    ):
        calm_street = Street(second)
        for each in (street, calm_street):
            each.control("slack", rate_limit=False)
        town, calm_town = a_town(database, street), a_town(calm, street)

        def environ(name: str) -> dict[str, str]:
            slack = street if name == "wounded" else calm_street
            return {
                "RECON_CONFIG": str(folder),
                "RECON_DATABASE_URL": urls[name],
                "STRIPE_API_KEY": STRIPE_KEY,
                "RECON_STRIPE_BASE_URL": street.url,
                "SLACK_BOT_TOKEN": SLACK_TOKEN,
                "RECON_SLACK_BASE_URL": slack.slack_url,
            }

        def time() -> str:
            now = datetime.fromtimestamp(street.running.state.clock.now(), UTC).isoformat()
            calm_street.set_time(now)
            return now

        with (
            Nursery(environ("wounded"), folder / "wounded.log", time=time) as wounded,
            Nursery(environ("wounded"), folder / "rival.log", time=time) as rival,
            Nursery(environ("unhurt"), folder / "unhurt.log", time=time) as unhurt,
        ):
            yield World(town, calm_town, calm_street, wounded, rival, unhurt, Random(seed))


def hour(world: World, *, kills: int, weather: list[Fault]) -> list[str]:
    """Let two hours pass, and the runs after it die; return how the books then differ from the calm ones."""
    world.happen()
    calmly = world.unhurt.run()
    assert calmly.code == 0, calmly
    kill_some(world, number=kills, weather=weather, calmly=calmly)
    return settled(world)


def settled(world: World) -> list[str]:
    """Let both companies have an undisturbed hour; return how their books differ then."""
    world.town.street.running.state.faults = Faults()
    for nursery in (world.unhurt, world.wounded):
        last = nursery.run()
        assert last.code in {0, UNDELIVERED}, last
        assert nursery.run(Fate(job="deliver")).code == 0
    return world.differences()


def kill_some(world: World, *, number: int, weather: list[Fault], calmly: End) -> None:
    """Let runs die anywhere in their length, all parts of it alike, every other one in that weather.

    calmly: how long a run is that finds all there is; after one that has saved they are shorter.
    """
    random = world.random
    for each in range(number):
        faults = random.sample(weather, 2) if each % 2 else []
        for place, fault, seconds in faults:
            world.town.street.fault(place, fault, after_s=seconds)
        # Early deaths first: once a run has saved, those after it have little left to die in.
        part = (each + random.random()) / number
        (choose,) = random.choices(list(WAYS), list(WAYS.values()))
        fate = replace(choose(random, part, calmly), sabotage=world.sabotage)
        end = meet(world, fate, f"late_{world.hours}_{each}")
        world.ends[end.code] += 1
        world.deaths.append(f"{fate} in {faults}: {end}")
        assert end.code in ENDS, world.deaths[-1]
        calmly = end if end.code == 0 else calmly


def meet(world: World, fate: Fate, name: str) -> End:
    """Let a run meet its fate; where it stops, something is written before it goes on."""
    end = world.wounded.run(fate)
    if end.code is None:
        world.late(name)
        end = world.wounded.go_on()
    lapse(world.town.database)
    return end


def lapse(database: Database) -> None:
    """Let the minutes pass that a dead run holds its lease, and a dead sender its notice."""
    notices = tables.notices
    with database.write() as connection:
        connection.execute(update(rights.leases).values(expires_at=EPOCH))
        held = update(notices).where(notices.c.claimed_until.is_not(None))
        connection.execute(held.values(claimed_until=EPOCH))


def _by_statement(_: Random, part: float, calmly: End) -> Fate:
    return Fate(kill_at=1 + int(calmly.statements * part))


def _by_time(_: Random, part: float, calmly: End) -> Fate:
    return Fate(kill_after=max(0.001, calmly.seconds * part))


def _after_reading(random: Random, _: float, calmly: End) -> Fate:
    """Return that something is written between a run's reading and its save, and that it dies then."""
    return Fate(stop_when_read=True, kill_at=random.randint(calmly.read_at + 1, calmly.statements))


def _not_at_all(_: Random, __: float, ___: End) -> Fate:
    return Fate(stop_when_read=True)


# How a run ends, and how often.
WAYS = {_by_statement: 5, _by_time: 4, _after_reading: 2, _not_at_all: 1}
