"""What a company's books and messages say after runs have died, beside what they say where none did.

Never looks at how many runs it took. A difference is a sentence.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from recon.doors.store import cases
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.records.words import Action, CaseState, Verdict
from tests.sandboxes import Street

REPLIES = ("reply", "call")  # What is said in a thread.


def differences(ours: Database, calm: Database, street: Street, calm_street: Street) -> list[str]:
    """Return how the wounded company's books, messages and chains differ from the calm one's.

    What is found in two runs instead of one is said in two messages, and an incomplete run says that it was:
    then the news of each case are compared, and not the messages.
    """
    expected = books(calm)
    wrong = _unlike(_as_if_read(books(ours), expected, opened_unread(ours)), expected)
    wrong += _unlike(shown(street), shown(calm_street))
    if steps(ours) == steps(calm):
        wrong += _unlike(messages(ours), messages(calm))
    return [*wrong, *shown_wrong(ours, street), *cases.verify(ours)]


def found(database: Database, table: str, *columns: str) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return every row of a table by its first two columns."""
    of = tables.metadata.tables[table].c
    with database.read() as connection:
        rows = connection.execute(select(*(of[name] for name in columns))).all()
    named = {tuple(row[:2]): tuple(row[2:]) for row in rows}
    assert len(named) == len(rows), f"{table} has a row twice"
    return named


def books(database: Database) -> dict[str, dict[Any, Any]]:
    """Return what the books say, and how they came to say so, whatever number of runs it took."""
    return {
        "cases": found(database, "cases", "id", "subject", "account", "state", "kind", "mismatch"),
        "intents": found(database, "intents", "account", "key", "status", "refund_id"),
        "refunds": found(database, "refunds", "account", "id", "status", "amount_minor", "request_key"),
        "due": found(database, "due", "account", "subject", "at"),
        "rejects": found(database, "rejects", "account", "id"),
        "entries": found(database, "entries", "topic", "version", "action", "to_state"),
        "news": {(case, "told"): times for case, times in news(database).items()},
    }


def news(database: Database) -> Counter[str]:
    """Return how often each case was news, in however many messages: each piece is one reply in a thread."""
    notices = found(database, "notices", "dedupe_key", "verb", "case_ids")
    return Counter(case for (_, verb), (ids,) in notices.items() if verb in REPLIES for case in ids)


def messages(database: Database) -> dict[str, dict[Any, Any]]:
    """Return each message once, with the cases it speaks of."""
    return {
        "threads": found(database, "threads", "key", "target"),
        "notices": found(database, "notices", "dedupe_key", "verb", "target", "case_ids", "state"),
    }


def shown(street: Street) -> dict[str, dict[str, int]]:
    """Return what people see of each thread about cases, but for the age of the oldest."""
    texts = [message["text"] for message in street.messages() if message["thread_ts"] is None]
    about_cases = [re.sub(r"oldest [^.]*", "", text) for text in texts if "at risk" in text]
    return {"shown": Counter(about_cases)}


def _unlike(ours: dict[str, dict[Any, Any]], calm: dict[str, dict[Any, Any]]) -> list[str]:
    return [
        f"{table} {name}: expected {calm[table].get(name)}, found {row.get(name)}"
        for table, row in ours.items()
        for name in sorted({*row, *calm[table]}, key=str)
        if row.get(name) != calm[table].get(name)
    ]


def _as_if_read(
    ours: dict[str, dict[Any, Any]], calm: dict[str, dict[Any, Any]], unread: Mapping[str, str]
) -> dict[str, dict[Any, Any]]:
    """Return the books as they would be if the incomplete runs had read everything.

    To such a run an intent that was sent and whose refund it did not get to see is stuck, it does not know
    how. The next complete one says how, or clears it; what is cleared no calm run ever opened.
    """
    known = {name for name, _ in calm["cases"]}
    healed = {case for case, state in unread.items() if case not in known and state == CaseState.CLEARED}
    mine = {
        table: {name: row for name, row in rows.items() if name[0] not in healed}
        for table, rows in ours.items()
    }
    stories: dict[str, list[Any]] = {}
    for (topic, _), entry in sorted(mine["entries"].items()):
        if not (topic in unread and entry == (Action.CHANGED, CaseState.OPEN)):
            stories.setdefault(topic, []).append(entry)
    told_again = {
        (topic, version): entry
        for topic, story in stories.items()
        for version, entry in enumerate(story, start=1)
    }
    return mine | {"entries": told_again}


def opened_unread(database: Database) -> dict[str, str]:
    """Return the cases, with their states, that were opened by a run which had not read everything."""
    entries, runs, known = tables.entries.c, tables.runs.c, tables.cases.c
    query = (
        select(known.id, known.state)
        .join(tables.entries, entries.topic == known.id)
        .join(tables.runs, entries.run_id == runs.id)
        .where(entries.version == 1, runs.verdict == Verdict.INCOMPLETE)
    )
    with database.read() as connection:
        return {row.id: row.state for row in connection.execute(query)}


def steps(database: Database) -> set[frozenset[Any]]:
    """Return which moves of which cases were made together, run by run; an incomplete run is a step."""
    entries, runs = tables.entries.c, tables.runs.c
    incomplete = select(runs.id).where(runs.verdict == Verdict.INCOMPLETE)
    with database.read() as connection:
        moves = connection.execute(select(entries.run_id, entries.topic, entries.version)).all()
        unread = {frozenset([name]) for name in connection.scalars(incomplete)}
    together: dict[str, set[tuple[str, int]]] = {}
    for run, topic, version in moves:
        together.setdefault(run, set()).add((topic, version))
    return {frozenset(each) for each in together.values()} | unread


def shown_wrong(database: Database, street: Street) -> list[str]:
    """Return what is wrong with the messages that people see: lost, or there twice."""
    named = [message["metadata"]["event_payload"]["delivery_id"] for message in street.messages()]
    replies = select(tables.notices.c.delivery_id).where(tables.notices.c.verb.in_(REPLIES))
    with database.read() as connection:
        lost = set(connection.scalars(replies)) - set(named)
    twice = [name for name, times in Counter(named).items() if times > 1]
    return [f"message {name} is there twice" for name in twice] + [f"message {name} is lost" for name in lost]
