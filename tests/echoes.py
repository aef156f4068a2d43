"""What is wrong with what people have heard in a newsroom, a sentence each; nothing where all is well."""

import json
import re
from collections import Counter, defaultdict

from sqlalchemy import select

from recon.doors.store import cases as book
from recon.doors.store import outbox
from recon.model import tables
from recon.model.particulars import largest
from recon.model.records.notices import Topic
from recon.model.records.queues import WAITING
from recon.model.records.words import Action, CaseId, CaseState, NoticeState
from tests.newsroom import Newsroom
from tests.wall import Post

CASE = re.compile(r"C-[A-Z2-7]{10}")
UNTOLD = {Action.HEALED, Action.COMMENTED, Action.UNLINKED}
# What an owner must hear of, whatever else is said.
MUST = {
    Action.OPENED,
    Action.REOPENED,
    Action.REGRESSED,
    Action.RECLASSIFIED,
    Action.CHANGED,
    Action.ASSIGNED,
}


def faults(room: Newsroom, steps: list[tuple[object, ...]], deleting: int | None) -> list[str]:
    """Return what is wrong after a history, once all is settled."""
    for step in steps:
        room.take(step)
    if deleting is not None:
        room.do_delete(deleting)
    room.settle()
    second = room.do_run()
    wrong = ["the same run again says something"] * bool(second.notices or second.changes)
    wrong += unsent(room) + twice(room) + unheard(room) + in_order(room)
    wrong += stale_roots(room) if deleting is None else []
    return wrong + quiet(room)


def quiet(room: Newsroom) -> list[str]:
    """Return what is said though nothing happens; a digest a day is no news."""
    before = len(room.slack.said)
    room.do_remind()
    room.do_deliver()
    room.do_wait(1)
    room.do_run()
    room.do_remind()
    room.do_deliver()
    fresh = [each.message.text for each in room.slack.said[before:]]
    notices = {each.delivery_id: each for each in outbox.recent(room.database, 999)}
    allowed = ("digest|", "snooze|", "acceptance|", "escalation|")
    some = room.slack.said[before:]
    return [
        f"said though nothing happened: {text[:100]}"
        for text, each in zip(fresh, some, strict=True)
        if not notices[each.delivery_id].thread_key.startswith(allowed)
    ]


def unsent(room: Newsroom) -> list[str]:
    return [
        f"{each.verb} {each.thread_key} is {each.state}: {each.error}"
        for each in outbox.recent(room.database, 999)
        if each.state is not NoticeState.SENT
    ]


def twice(room: Newsroom) -> list[str]:
    """Return what was told more often than there was anything to tell."""
    posts = Counter(each.delivery_id for each in room.slack.posts.values())  # What people deleted aside.
    wrong = [f"{each} is there {times} times" for each, times in posts.items() if times > 1]
    with room.database.read() as connection:
        written = connection.execute(select(tables.entries.c.topic, tables.entries.c.action)).all()
    worth = Counter(topic for topic, action in written if action not in UNTOLD)
    told: Counter[tuple[str, str]] = Counter()
    for notice in outbox.recent(room.database, 999):
        if notice.verb in {"reply", "call"}:
            told.update((case_id, notice.thread_key) for case_id in set(notice.case_ids))
    wrong += [
        f"{case} was told {times} times in {thread}, of {worth[case]} news"
        for (case, thread), times in told.items()
        if times > worth[case]
    ]
    return wrong


def unheard(room: Newsroom) -> list[str]:
    """Return the waiting cases whose owner has not heard the latest news of them."""
    notices = [each for each in outbox.recent(room.database, 999) if each.verb != "edit"]
    seen = {each.delivery_id: each for each in room.slack.said}
    wrong = []
    for case in room.cases():
        topic = Topic.of(case, livemode=False)
        if case.state not in WAITING or topic is None:
            continue
        entries = [stored.entry for stored in book.entries(room.database, case.id)]
        news = [each for each in entries if each.action in MUST]
        heard = [
            each
            for each in notices
            if case.id in each.case_ids
            and (each.target == topic.target or each.thread_key.startswith("surge|"))
            and each.delivery_id in seen
        ]
        ever = any(case.id in each.case_ids for each in notices)
        if not ever and case.state is CaseState.ACKNOWLEDGED:
            continue  # Taken on before anybody was told.
        if not any(each.created_at >= news[-1].at for each in heard):
            wrong.append(f"{case.id} {case.subject} of {topic.target}: nobody heard {news[-1].action}")
        surged = any(each.thread_key.startswith("surge|") for each in heard)
        if not surged and not any(case.id in _text(seen[each.delivery_id]) for each in heard):
            wrong.append(f"{case.id} is named by no message that its owner reads")
    return wrong


def stale_roots(room: Newsroom) -> list[str]:
    """Return the roots that do not show what is so: every root there is, not only the latest of a thread."""
    notices = {each.delivery_id: each for each in outbox.recent(room.database, 999)}
    every = room.cases()
    told = {case_id for each in notices.values() for case_id in each.case_ids}
    threads = outbox.threads(room.database, {each.thread_key for each in notices.values()})
    wrong = []
    for post in room.slack.posts.values():
        topic = Topic.read(notices[post.delivery_id].thread_key)
        if topic is None or notices[post.delivery_id].verb not in {"root", "edit"}:
            continue
        latest = threads[topic.key].root_ts == post.ts
        waiting = [
            case
            for case in every
            if case.state in WAITING and case.id in told and Topic.of(case, livemode=False) == topic
        ]
        waiting = waiting if latest else []
        shown = _standing(post)
        expected = (len(waiting), {case.id for case in largest(waiting)})
        if shown != expected:
            wrong.append(
                f"{'root' if latest else 'former root'} of {topic.key} shows {shown}, so is {expected}"
            )
    return wrong


def in_order(room: Newsroom) -> list[str]:
    """Return the messages of a thread that came out of order."""
    notices = {each.delivery_id: each for each in outbox.recent(room.database, 999)}
    order: dict[str, list[int]] = defaultdict(list)
    for post in room.slack.said:
        notice = notices[post.delivery_id]
        assert notice.id is not None
        if notice.verb != "edit":
            order[notice.thread_key].append(notice.id)
    return [f"out of order in {key}: {ids}" for key, ids in order.items() if ids != sorted(ids)]


def _standing(post: Post) -> tuple[int, set[CaseId]]:
    """Return how many cases a root says wait, and which of them it shows."""
    title = re.search(r"(?:LOW|MEDIUM|HIGH|CRITICAL): ([0-9,]+) ", post.message.text)
    lines = json.dumps(post.message.blocks, ensure_ascii=False).split("•")[1:]
    ids = {CaseId(found[0]) for line in lines if "~<" not in line[:4] and (found := CASE.findall(line))}
    return (int(title[1].replace(",", "")) if title else 0, ids)


def _text(post: Post) -> str:
    return post.message.text + json.dumps(post.message.blocks)
