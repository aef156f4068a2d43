"""A database in which strangers wrote every text that can be a stranger's, and the settings that go with it.

Written through the store's own functions, as tests/seeds.py.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from recon.doors.store import cases, leases
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.changes import Illegal
from recon.model.records.cases import Case, Change, Owner
from recon.model.records.notices import Message
from recon.model.records.results import Mismatch, Reject
from recon.model.records.words import (
    AccountId,
    Actor,
    IntentKey,
    Kind,
    NoticeState,
    RefundId,
    Resolution,
    RunId,
    Subject,
    Verdict,
)
from recon.rules import moves
from tests import seeds
from tests.doors.store.books import a_lease, a_notice, a_run

# What a page could take for more than letters: a formula, markdown, HTML, Streamlit's own marks, addresses
# that become links by themselves, letters that turn a line around or take no room, and a second line.
MARKUP: Final = (
    "=HYPERLINK(1) ![x](http://outside.example/x.png) [x](http://outside.example/) **bold-hostile** "
    '<b data-hostile>x</b><img src="http://outside.example/y.png" onerror="alert(1)"> '
    "<script>alert(1)</script> "
    ":red[hostile] :material/delete: $x^2$ http://outside.example/ www.outside.example me@outside.example "
    "`code` # h\u202eesrever\u200b \x1b[31m\nsecond line"
)
LONG: Final = "+" + "W" * 9_999  # Without a blank to break it at.
# As a setting takes it: one line of what can be seen, and not too long.
LINE: Final = (
    "=1 ![x](http://outside.example/x.png) **bold-hostile** <b data-hostile>x</b> :red[hostile] $x^2$ `code`"
)
KINDS: Final = (Kind.DUPLICATE, Kind.ORPHAN)


def world(database: Database, *, now: datetime) -> tuple[Case, ...]:
    """Write it all, and return the cases, the first with everything that people can do to one."""
    found = [_mismatch(text, kind, at=now - timedelta(hours=2)) for text in (MARKUP, LONG) for kind in KINDS]
    for each in found:
        _sides(database, each, now=now)
    written = seeds.run(database, found, now=now - timedelta(minutes=20))
    _people(database, written[0], now=now - timedelta(minutes=10))
    _told(database, written, now=now - timedelta(minutes=2))
    return written


def settings(folder: Path) -> dict[str, str]:
    """Write the configuration into a folder, and return the environment that names it."""
    name, long = json.dumps(LINE), json.dumps("W" * 200)
    (folder / "recon.toml").write_text(f"[dashboard]\noperator = {name}\n", encoding="utf-8")
    (folder / "owners.toml").write_text(
        f"[owners.{name}]\ntarget = '#payments'\n\n"
        f"[[rules]]\nname = {name}\nowner = {name}\n\n"
        f"[[rules]]\nname = {long}\nteam = {name}\nowner = {name}\n\n"
        '[[severities]]\nlevel = "high"\n',
        encoding="utf-8",
    )
    return {"RECON_CONFIG": str(folder)}


def _mismatch(text: str, kind: Kind, *, at: datetime) -> Mismatch:
    named = f"{text} {kind}"
    refunds = (RefundId(f"{named} 1"), RefundId(f"{named} 2"))[: 2 if kind is Kind.DUPLICATE else 1]
    subject = f"refund:{refunds[0]}" if kind is Kind.ORPHAN else f"intent:{named}"
    return replace(
        seeds.duplicate(1, at=at),
        kind=kind,
        account=AccountId(text),
        subject=Subject(subject),
        intent_key=IntentKey(named),
        order_id=text,
        customer_id=named,
        payment=text,
        tool=text,
        team=text,
        reason=text,
        diagnosis=text,
        why=text,
        refund_ids=refunds,
        extra_refund_ids=refunds[1:],
    )


def _sides(database: Database, mismatch: Mismatch, *, now: datetime) -> None:
    text = mismatch.why
    intent, refunds = seeds.sides(replace(mismatch, subject=Subject(f"intent:{mismatch.intent_key}")), at=now)
    intent = replace(intent, account=mismatch.account, reference=text, tool=text, team=text)
    ours = [intent] if mismatch.kind is Kind.DUPLICATE else []
    theirs = [
        replace(
            each,
            account=mismatch.account,
            charge=text,
            request_key=text,
            reason=text,
            failure_reason=text,
            pending_reason=text,
        )
        for each in refunds
    ]
    seeds.rows(database, ours, theirs, now=now)


def _people(database: Database, case: Case, *, now: datetime) -> None:
    """Let people whose names are hostile do this and that, for hostile reasons."""
    who, why = Actor(MARKUP), MARKUP
    owner = Owner(MARKUP, "#payments", MARKUP)
    steps: tuple[Callable[[Case], Change | Illegal], ...] = (
        lambda at: moves.acknowledge(at, actor=who, reason=why, now=now, action_id="hostile-1"),
        lambda at: moves.assign(at, owner, actor=who, reason=LONG[:2000], now=now, action_id="hostile-2"),
        lambda at: moves.comment(at, actor=who, reason=why, now=now, action_id="hostile-3"),
        lambda at: moves.resolve(
            at, code=Resolution.WRITTEN_OFF, fence=0, actor=who, reason=why, now=now, action_id="hostile-4"
        ),
        lambda at: moves.reopen(at, actor=who, reason=why, now=now, action_id="hostile-5"),
    )
    for step in steps:
        moved = step(case)
        assert isinstance(moved, Change), moved
        cases.move(database, moved)
        case = moved.case


def _told(database: Database, written: tuple[Case, ...], *, now: datetime) -> None:
    """Save a run that could not read everything, and what it had to say."""
    lease = a_lease(database, now=now)
    run = replace(
        a_run(started_at=now, finished_at=now, as_of=now, fence=lease.fence), verdict=Verdict.INCOMPLETE
    )
    run = replace(
        run,
        id=RunId("run_hostile"),
        accounts=tuple(
            replace(each, account=AccountId(MARKUP), complete=False, error=MARKUP) for each in run.accounts
        ),
    )
    notices = [
        replace(
            a_notice(),
            dedupe_key=f"hostile_{state}_{number}",
            delivery_id=f"hostile_{state}_{number}",
            thread_key=text[:200],
            target=text[:200],
            message=Message(text),
            case_ids=tuple(case.id for case in written),
            state=state,
            created_at=now,
            next_at=now,
            error=text,
        )
        for number, text in enumerate((MARKUP, LONG))
        for state in NoticeState
    ]
    rejects = tuple(Reject(text, 4, text, text, AccountId(text)) for text in (MARKUP, LONG))
    cases.save_run(database, lease, Saving(run, notices=tuple(notices), rejects=rejects))
    leases.release(database, lease)
