"""Senders that die before, during and after what they ask of Slack, and what people see in the end.

Each sender is a process that takes one turn at one outbox, against the sandbox's Slack; between two of them
time is moved on instead of being waited for. Used by tests/test_slack_kills.py and, for hundreds of deaths,
by tests/slack_kills_long.py. A seed gives the same notices, weather and deaths again; only a death by time
may come a little earlier or later.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model.records.notices import Notice
from recon.model.records.words import NoticeState
from recon.sandbox.faults import Faults
from tests.kills import KILLED, OWNERS, SETTINGS
from tests.nursery import End, Fate, Nursery
from tests.sandboxes import SLACK_TOKEN, STRIPE_KEY, Street
from tests.town import a_notice

POSTS = "POST /api/chat.postMessage"
READS = (
    "POST /api/conversations.history",
    "POST /api/conversations.replies",
    "POST /api/users.conversations",
)
AFTER = ("drop_after", "cut_body_after", "html_200_after", "500_after", "fatal_error_after", "hang_after")
BEFORE = ("drop_before", "500_before", "429", "fatal_error_before")
# (where, fault): what happens to a post, to an edit, to a look.
WEATHER = [
    *((POSTS, fault) for fault in AFTER * 2 + BEFORE),
    *(("POST /api/chat.update", fault) for fault in ("drop_before", "drop_after", "500_after", "429")),
    *((place, fault) for place in READS for fault in ("drop_before", "500_before", "429")),
]
LEFT = 1  # How a turn ends that could not tell everything.
HANG_SECONDS = 1.2  # A little more than a sender waits.
# Where a sender dies, and how often. By statement or time is anywhere.
DEATHS = {
    "before post": 4,
    "after post": 6,
    "before find": 2,
    "after find": 3,
    "before edit": 1,
    "after edit": 1,
    "by statement": 4,
    "by time": 4,
}
STATEMENTS = 60  # What a turn with a few notices comes to.
SECONDS = 0.25  # As above.
# Seconds between two turns: within the claim of a dead sender, around the look-ups, and beyond.
PAUSES = (1, 15, 61, 75, 130, 200)
CHANNELS = ("#north", "#south", "#closed", "ann@shop.example", "gone@shop.invalid")
SPEAK = ("root", "reply", "reply", "call")
ENOUGH = 400  # Turns after the last death; a few dozen do.
DONE = {0, LEFT, KILLED}


@dataclass
class World:
    """One outbox, one Slack, and two places where senders are born."""

    database: Database
    street: Street
    first: Nursery
    second: Nursery
    random: Random
    folder: Path
    sabotage: str = ""
    said: list[Notice] = field(default_factory=list)
    deaths: list[str] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    together: int = 0

    def tell(self, notice: Notice) -> None:
        """Put a notice into the outbox."""
        self.said.append(notice)
        with self.database.write() as connection:
            outbox.add(connection, [notice])

    def say(self) -> None:
        """Put a few notices into the outbox, new threads and old ones."""
        for _ in range(self.random.randint(1, 4)):
            begun = sorted({notice.thread_key for notice in self.said})
            fresh = not begun or self.random.random() < 0.3
            thread = f"t{len(begun)}" if fresh else self.random.choice(begun)
            verb = "root" if fresh else self.random.choice([*SPEAK, "edit"])
            target = CHANNELS[int(thread[1:]) % len(CHANNELS)]
            name = f"{verb} {len(self.said)}"
            now = self.now()
            self.tell(a_notice(name, verb, thread, target=target, created_at=now, next_at=now))

    def now(self) -> datetime:
        """Return the sandbox's time."""
        return datetime.fromtimestamp(self.street.running.state.clock.now(), UTC)

    def weather(self) -> list[tuple[str, str]]:
        """Let one or two things go wrong, or none."""
        faults = self.random.sample(WEATHER, self.random.choice([0, 1, 1, 2]))
        for place, fault in faults:
            self.street.fault(place, fault, after_s=HANG_SECONDS)
        return faults

    def meet(self, death: str) -> None:
        """Let a sender take a turn and die, sometimes beside another that goes on; then let time pass."""
        weather, fate = self.weather(), self._fate(death)
        beside = self.random.random() < 0.3
        if beside:
            self.second.begin(Fate(job="turn", sabotage=self.sabotage))
        ends = [self.first.run(fate)]
        if beside:
            ends.append(self.second.ended())
            self.together += 1
        self.kills[death] += ends[0].code == KILLED
        self.pass_time(weather, fate, ends)

    def pass_time(self, faults: list[tuple[str, str]], fate: Fate, ends: list[End]) -> None:
        """Write down what was done to whom, and move time on."""
        pause = self.random.choice(PAUSES)
        self.deaths.append(f"{fate} in {faults}: {ends}, then {pause} s")
        assert {end.code for end in ends} <= DONE, self.deaths[-1]
        self.street.advance(pause)

    def settle(self) -> None:
        """Let senders go on in good weather until nothing is on its way."""
        self.street.running.state.faults = Faults()
        for _ in range(ENOUGH):
            code = self.first.run(Fate(job="turn", sabotage=self.sabotage)).code
            assert code in DONE, code
            if outbox.next_due(self.database) is None:
                return
            self.street.advance(65)
        raise AssertionError(f"something is still on its way: {outbox.undelivered(self.database)}")

    def wrong(self) -> list[str]:
        """Return what people do not see exactly once, or not in order, or elsewhere than is written down."""
        messages = self.street.messages()
        seen = [(each, ids) for each in messages for ids in [_ids(each)]]
        wrong = []
        places: dict[str, list[str]] = {}
        rows = {notice.delivery_id: notice for notice in outbox.recent(self.database, len(self.said))}
        for notice in self.said:
            row = rows[notice.delivery_id]
            there = [each["ts"] for each, ids in seen if notice.delivery_id in ids]
            if row.state is not NoticeState.SENT:
                wrong.append(f"{row.dedupe_key} is {row.state}: {row.error}")
            if notice.verb == "edit":  # Which shows nothing where a later one was sooner.
                wrong += [f"{row.dedupe_key} is seen {len(there)} times"] if len(there) > 1 else []
                continue
            if len(there) != 1 or there != [row.ts]:
                wrong.append(f"{row.dedupe_key}, sent at {row.ts}, is seen at {there}")
            places.setdefault(notice.thread_key, []).extend(there)
        wrong += [f"thread {key} is out of order" for key, found in places.items() if found != sorted(found)]
        strangers = set().union(*(ids for _, ids in seen)) - set(rows) if seen else set()
        logs = [(self.folder / f"{name}.log").read_text() for name in ("first", "second")]
        wrong += [f"nobody said {found}" for found in strangers]
        return wrong + [log[-2000:] for log in logs if "Traceback" in log]

    def _fate(self, death: str) -> Fate:
        when = self.random.choice([1, 1, 2, 3])
        number, part = self.random.randint(1, STATEMENTS), self.random.random()
        if death == "by statement":
            return Fate(job="turn", sabotage=self.sabotage, kill_at=number)
        if death == "by time":
            return Fate(job="turn", sabotage=self.sabotage, kill_after=max(0.001, SECONDS * part))
        return Fate(job="turn", sabotage=self.sabotage, dies=death, dies_at=when)


def _ids(message: dict[str, object]) -> set[str]:
    """Return every delivery id that a message bore, as it is and as it was before its edits."""
    edits = message["edits"]
    assert isinstance(edits, list)
    found = [each["metadata"] for each in (message, *edits)]
    return {each["event_payload"]["delivery_id"] for each in found if each}


@contextmanager
def a_world(url: str, street: Street, folder: Path, seed: int, *, sabotage: str = "") -> Iterator[World]:
    """Yield a world of that seed. url: of a migrated, empty database."""
    (folder / "recon.toml").write_text(SETTINGS)
    (folder / "owners.toml").write_text(OWNERS)
    street.control("slack", channels=[{"name": "closed", "archived": True}])
    environ = {
        "RECON_CONFIG": str(folder),
        "RECON_DATABASE_URL": url,
        "STRIPE_API_KEY": STRIPE_KEY,
        "RECON_STRIPE_BASE_URL": street.url,
        "SLACK_BOT_TOKEN": SLACK_TOKEN,
        "RECON_SLACK_BASE_URL": street.slack_url,
    }

    def time() -> str:
        return datetime.fromtimestamp(street.running.state.clock.now(), UTC).isoformat()

    with (
        Database.open(url) as database,
        Nursery(environ, folder / "first.log", time=time) as first,
        Nursery(environ, folder / "second.log", time=time) as second,
    ):
        yield World(database, street, first, second, Random(seed), folder, sabotage)


def live(world: World, kills: int) -> list[str]:
    """Let senders die that many times, then go on; return what is wrong in the end."""
    while world.kills.total() < kills:
        world.say()
        (death,) = world.random.choices(list(DEATHS), list(DEATHS.values()))
        world.meet(death)
    world.settle()
    return world.wrong()
