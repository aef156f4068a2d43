"""The demo, once in this process and once more as a person starts it, in the same folder."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from recon.cli import demo
from recon.cli.friday import evening
from recon.cli.friday.evening import Call
from recon.cli.friday.findings import Findings
from recon.doors import intents
from recon.doors.store import cases, queue, revisions, runs
from recon.doors.store.engines import Database
from recon.model import tables, wording
from recon.model.records.cases import Case
from recon.model.records.words import Basis, Certainty, IntentKey, IntentStatus, Kind, Verdict
from recon.sandbox.server import Sandbox

FRIDAY = datetime(2026, 3, 6, tzinfo=UTC)
# The command as it is installed: `python -m` ends by the signal itself, and not with 130, where Ctrl-C falls
# into an exec of text (CPython remembers it as unhandled, whoever catches it), as importing a dataclass does.
RECON = [str(Path(sys.executable).with_name("recon"))]


@dataclass(frozen=True)
class Evening:
    """A demo that is over: what it found, what it left, and what the provider has."""

    findings: Findings
    folder: Path
    provider_refunds: tuple[dict[str, Any], ...]
    messages: tuple[dict[str, Any], ...]

    @property
    def database(self) -> str:
        return f"sqlite:///{self.folder / demo.DATABASE}"

    def waiting(self) -> tuple[Case, ...]:
        with Database.open(self.database) as database:
            return queue.page(database, limit=500).cases


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evening]:
    folder = tmp_path_factory.mktemp("demo")
    with Sandbox.start() as sandbox:
        found = demo.replay(sandbox.url, FRIDAY, folder / demo.DATABASE)
        yield Evening(
            found, folder, tuple(_listed(sandbox.url)), tuple(_asked(f"{sandbox.url}/_sandbox/messages"))
        )


def _listed(url: str) -> Iterator[dict[str, Any]]:
    """Every refund of the provider, page by page."""
    cursor, more = "", True
    while more:
        page = _asked(f"{url}/v1/refunds?limit=100{cursor}")
        yield from page["data"]
        more, cursor = page["has_more"], f"&starting_after={page['data'][-1]['id']}"


def _asked(url: str) -> Any:  # noqa: ANN401  a list or an object
    request = urllib.request.Request(url, headers={"Authorization": "Bearer sk_test_x"})  # noqa: S310  loopback
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310  loopback
        return json.load(answer)


def test_nine_customers_are_refunded_twice_within_fourteen_minutes(replayed: Evening) -> None:
    doubles = replayed.findings.doubles
    refunds = [refund for each in doubles for refund in (each.first, each.second)]
    begun, ended = replayed.findings.twice_between

    assert len(doubles) == len({each.case.mismatch.customer_id for each in doubles}) == 9
    assert len({refund.id for refund in refunds}) == 18
    assert ended - begun <= timedelta(minutes=14)
    assert FRIDAY + timedelta(hours=17, minutes=1) <= begun
    assert all(each.first.intent_key != each.second.intent_key for each in doubles)
    assert all(each.first.amount_minor == each.second.amount_minor for each in doubles)


def test_the_nine_are_all_the_probable_duplicates_there_are(replayed: Evening) -> None:
    probable = [
        case
        for case in replayed.waiting()
        if case.mismatch.kind is Kind.DUPLICATE and case.mismatch.certainty is Certainty.PROBABLE
    ]

    assert {case.id for case in probable} == {each.case.id for each in replayed.findings.doubles}


def test_every_kind_of_mismatch_is_there(replayed: Evening) -> None:
    kinds = Counter(case.mismatch.kind for case in replayed.waiting())

    assert set(kinds) == set(Kind)
    assert kinds[Kind.DUPLICATE] == 10  # One of them is confirmed: a key that outlived a day.
    assert len(replayed.findings.others) == kinds.total() - 9


def test_the_verdict_is_of_books_that_were_read_whole(replayed: Evening) -> None:
    with Database.open(replayed.database) as database:
        run = runs.last_complete(database)

    assert run == replayed.findings.run
    assert run is not None
    assert run.verdict is Verdict.BREAKS
    assert run.as_of.replace(second=0) == FRIDAY + evening.JUDGED
    assert run.counts["declared_repeats"] == 1
    assert run.counts["in_flight"] == 1
    assert run.counts["rejected"] == run.counts["withheld"] == 0


def test_the_mirror_holds_what_the_provider_has(replayed: Evening) -> None:
    with Database.open(replayed.database) as database, database.read() as connection:
        columns = tables.refunds.c
        mirror = connection.execute(
            select(columns.id, columns.amount_minor, columns.currency, columns.status, columns.created_at)
        ).all()

    assert {
        (each["id"], each["amount"], each["currency"], each["status"], each["created"])
        for each in replayed.provider_refunds
    } == {(row[0], row[1], row[2], row[3], int(row[4].timestamp())) for row in mirror}
    assert len(mirror) == len(replayed.provider_refunds) == replayed.findings.run.counts["refunds"]


def test_what_nobody_had_an_answer_for_and_landed_is_finished(replayed: Evening) -> None:
    landed = [
        step
        for step in evening.steps(FRIDAY)
        if isinstance(step, Call)
        and step.fault == evening.SLOW
        and step.without_answer is IntentStatus.PENDING_UNKNOWN
    ]
    with Database.open(replayed.database) as database, database.read() as connection:
        now = [
            intents.get(connection, replayed.findings.doubles[0].case.account, IntentKey(each.key))
            for each in landed
        ]

    assert {intent.status for intent in now if intent} == {IntentStatus.DONE}
    assert all(intent is not None and intent.refund_id for intent in now)
    assert replayed.findings.run.healed == len(landed) == 12
    assert replayed.findings.healed == {Basis.INTENT_KEY: 11, Basis.REQUEST_KEY: 1}


def test_slack_has_a_thread_for_every_owner_and_nothing_waits(replayed: Evening) -> None:
    owners = {case.owner.target for case in replayed.waiting() if case.owner}

    assert {f"#{each['channel_name']}" for each in replayed.messages} == owners
    assert len(owners) == 4
    assert len(replayed.findings.said) + sum(each.replies for each in replayed.findings.said) == len(
        replayed.messages
    )
    assert replayed.findings.undelivered == 0


def test_the_watch_on_the_calls_spoke_up_with_the_first_double(replayed: Evening) -> None:
    watched = replayed.findings.watched
    evening_at = FRIDAY.replace(hour=17)

    assert (watched.tool, watched.told_in, watched.already) == ("refund_order", "#refund-operators", 1)
    assert watched.told_at == evening_at + timedelta(minutes=2)
    assert [(each.move, each.actor, each.at - evening_at) for each in watched.moves] == [
        ("thrown", "Ana", timedelta(minutes=19)),
        ("lifted", "Bo", timedelta(minutes=23)),
    ]


def test_nobody_calls_the_tool_while_it_is_off(replayed: Evening) -> None:
    off, on = (each.at for each in replayed.findings.watched.moves)

    assert [
        step
        for step in evening.steps(FRIDAY)
        if isinstance(step, Call) and step.tool == "refund_order" and off <= step.at < on
    ] == []


def test_money_is_summed_per_currency(replayed: Evening) -> None:
    sums: Counter[str] = Counter()
    for case in replayed.waiting():
        sums[case.mismatch.at_risk.currency] += case.mismatch.at_risk.amount_minor

    assert replayed.findings.summary.at_risk == sums
    assert len(sums) == 3


def test_the_database_is_one_the_desk_takes(replayed: Evening) -> None:
    with Database.open(replayed.database) as database:
        revisions.check(database)

        assert cases.verify(database) == ()


def test_a_person_gets_the_same_once_more_under_an_open_desk(replayed: Evening, tmp_path: Path) -> None:
    # In a copy: whichever test comes next, it looks at the evening that was replayed.
    shutil.copytree(replayed.folder, tmp_path, dirs_exist_ok=True)
    again = replace(replayed, folder=tmp_path)
    with Database.open(again.database) as desk, desk.read() as connection:
        before = connection.execute(select(tables.refunds.c.id)).scalars().all()
        ran = _start(again.folder)
        out, err = ran.communicate(timeout=100)
        during = connection.execute(select(tables.refunds.c.id)).scalars().all()
    with Database.open(again.database) as desk, desk.read() as connection:
        after = connection.execute(select(tables.refunds.c.id)).scalars().all()

    assert (ran.returncode, err) == (0, "")
    assert during == before
    assert len(after) == len(before)
    assert not set(after) & set(before)
    assert "\x1b" not in out
    _shows(out, replayed.findings, ids=after)


def _start(folder: Path) -> subprocess.Popen[str]:
    environ = {name: value for name, value in os.environ.items() if name != "MAKELEVEL"}
    return subprocess.Popen(
        [*RECON, "demo"],
        cwd=folder,
        env=environ | {"PYTHONPATH": str(Path.cwd())},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _shows(out: str, found: Findings, *, ids: Sequence[str]) -> None:
    """Check that the words say what another replay of the same evening found."""
    counts = found.run.counts
    assert "breaks: mismatches found as of 19:00, everything was read" in out
    assert f"{counts['intents']} intents against {counts['refunds']} refunds: {counts['matched']} in" in out
    assert "9 customers refunded twice, within 13 min" in out
    for line in (
        "17:02  duplicate-call alert in #refund-operators: 1 customer refunded twice by then",
        "17:19  Ana switches off refund_order: Customers refunded twice since 17:01.",
        "17:23  Bo switches on refund_order: Its key is the order now, and not the call.",
        "19:00  the hour confirms all 9",
    ):
        assert line in out
    table = out.partition("9 customers")[2].partition("And 10 others")[0]
    named = re.findall(r"re_\w+", table)
    assert len(named) == len(set(named)) == 18
    assert set(named) <= set(ids)
    for each in found.doubles:
        assert f"{each.case.mismatch.customer_id}  {each.case.mismatch.order_id}" in table
    for case in found.others:
        assert wording.named(case.mismatch.kind) in out
    for owned in found.owners:
        assert owned.name in out
        assert owned.target in out
    for said in found.said:
        assert said.text.partition(",")[0] in out
    assert "RECON_DATABASE_URL=sqlite:///var/demo/recon.db " in out


def test_an_interrupt_ends_it_at_once_and_leaves_the_database(replayed: Evening, tmp_path: Path) -> None:
    target = tmp_path / demo.DATABASE
    target.parent.mkdir(parents=True)
    target.write_text("as it was")
    with _start(tmp_path) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        while "At 19:00" not in running.stdout.readline():
            assert running.poll() is None
        running.send_signal(signal.SIGINT)

        assert running.wait(timeout=60) == 130
        assert "Traceback" not in running.stderr.read()
    assert target.read_text() == "as it was"


def test_the_channels_can_be_looked_at_afterwards_and_the_desk_can_ask_the_provider(
    replayed: Evening, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served = []

    def look() -> None:
        out = capsys.readouterr().out
        address = re.search(r"(http://127\.0\.0\.1:\d+)/slack\n", out)
        assert address
        with urllib.request.urlopen(address[0].strip(), timeout=10) as answer:  # noqa: S310  loopback
            served.append(answer.status)
        assert f" RECON_STRIPE_BASE_URL={address[1]} STRIPE_API_KEY=sk_test_sandbox " in out

    monkeypatch.setattr(demo, "replay", lambda *_: replayed.findings)
    monkeypatch.setattr(demo, "_wait", look)
    demo.demo(keep=True)

    assert served == [200]


@pytest.mark.parametrize(
    "now, friday",
    [
        ("2026-03-06T18:59:59Z", "2026-02-27T00:00:00Z"),
        ("2026-03-06T19:00:00Z", "2026-03-06T00:00:00Z"),
        ("2026-03-12T23:59:59Z", "2026-03-06T00:00:00Z"),
        ("2026-03-07T09:00:00+13:00", "2026-03-06T00:00:00Z"),
        ("2026-03-07T07:00:00+13:00", "2026-02-27T00:00:00Z"),
    ],
)
def test_the_evening_is_the_latest_friday_that_is_over(now: str, friday: str) -> None:
    assert evening.latest_friday(datetime.fromisoformat(now)) == datetime.fromisoformat(friday)


def test_the_evening_is_the_same_each_time_and_about_a_hundred_refunds_are_ordinary() -> None:
    steps = evening.steps(FRIDAY)
    calls = [step for step in steps if isinstance(step, Call)]

    assert steps == evening.steps(FRIDAY)
    assert list(steps) == sorted(steps, key=lambda step: step.at)
    assert {call.currency for call in calls} == {"usd", "eur", "jpy", "kwd"}
    assert sum(call.fault is None and call.paid_minor is not None for call in calls) > 100
    assert all(call.amount_minor % 10 == 0 for call in calls if call.currency == "kwd")
