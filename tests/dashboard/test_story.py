from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, update

from dashboard import story
from dashboard.words import VERBS
from recon.desk import Desk
from recon.doors.store import outbox
from recon.doors.store.engines import Database
from recon.model.records.cases import Case, Entry
from recon.model.records.notices import Message, Notice
from recon.model.records.runs import Run
from recon.model.records.words import CaseState, NoticeState
from recon.model.settings import Settings
from recon.model.tables import accounts, cases
from tests import seeds
from tests.builders import NOON
from tests.dashboard.conftest import Visit, now, words
from tests.dashboard.test_bulk import ANA


def told(case: Case, name: str, **other: Any) -> Notice:  # noqa: ANN401 -- fields of several types
    """A message about a case, an hour after noon."""
    plain = Notice.new(
        name,
        "root",
        Message(f"{name}: look at it."),
        thread_key=f"thread {name}",
        target="#refunds",
        urgency=1,
        now=NOON + timedelta(hours=1),
        case_ids=(case.id,),
    )
    return replace(plain, **other)


def save(database: Database, *notices: Notice) -> None:
    with database.write() as connection:
        outbox.add(connection, notices)


def test_entries_messages_and_runs_are_one_story_newest_first(database: Database) -> None:
    found = seeds.trouble(database, now=NOON)
    seeds.acknowledged(database, found[0].id, by="Ana", now=NOON + timedelta(hours=2))
    sent = {"state": NoticeState.SENT, "sent_at": NOON + timedelta(hours=3)}
    save(database, told(found[0], "waiting"), told(found[0], "sent", **sent), told(found[1], "of another"))
    view = Desk(database, Settings(), clock=lambda: NOON).case(found[0].id, operator=ANA)
    assert view is not None

    names = [
        getattr(part, "dedupe_key", None) or getattr(part, "actor", None) or "run"
        for part in story.parts(view)
    ]

    assert names == ["sent", "Ana", "waiting", "run", "recon"]


def test_at_one_moment_a_run_ends_after_what_it_told_and_wrote(database: Database) -> None:
    found = seeds.trouble(database, now=NOON)
    view = Desk(database, Settings(), clock=lambda: NOON).case(found[0].id, operator=ANA)
    assert view is not None
    at = view.entries[0].at
    runs = tuple(replace(run, finished_at=at) for run in view.around.runs)
    around = replace(view.around, runs=runs, notices=(told(found[0], "news", created_at=at),))

    whole = story.parts(replace(view, around=around))

    assert [type(part) for part in whole] == [Run, Notice, Entry]


@pytest.mark.parametrize(
    "fate, said",
    [
        ({}, "Waiting|to #refunds|New message; goes out from "),
        (
            {"state": NoticeState.SENT, "sent_at": NOON, "verb": "call"},
            f"Sent|to #refunds|{VERBS['call']}",
        ),
        ({"state": NoticeState.UNKNOWN}, "Unknown|to #refunds|New message; nobody knows whether it arrived"),
        (
            {"state": NoticeState.UNDELIVERABLE, "error": "channel_not_found"},
            "Given up|to #refunds|New message; nobody was told|channel_not_found",
        ),
    ],
)
def test_a_message_says_to_whom_and_whether_it_arrived(
    database: Database, visit: Visit, fate: dict[str, object], said: str
) -> None:
    found = seeds.trouble(database, now=now())
    save(database, told(found[0], "news", **fate))

    page = visit("case", case=found[0].id)

    assert not page.exception
    assert [part for part in (*said.split("|"), "news: look at it.") if part not in words(page)] == []


def test_the_run_that_found_it_stands_in_the_story(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now())

    said = words(visit("case", case=found[0].id))

    assert "a run ended" in said
    assert "everything was read" in said


def test_a_long_story_shows_its_end_until_all_is_asked_for(
    database: Database, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = seeds.trouble(database, now=now())
    save(database, *(told(found[0], f"news {number}") for number in range(60)))
    page = visit("case", case=found[0].id)
    assert words(page).count("look at it.") < 60

    page.toggle(key="every-part").set_value(True).run()

    assert words(page).count("look at it.") == 60


def test_related_cases_are_linked_with_what_they_share(database: Database, visit: Visit) -> None:
    at = now()
    first, second = (seeds.duplicate(number, at=at) for number in (1, 2))
    found = seeds.run(database, [first, replace(second, customer_id="cus_1", payment="pi_1")], now=at)
    with database.write() as connection:
        connection.execute(update(cases).where(cases.c.id == found[1].id).values(state=CaseState.CLEARED))

    page = visit("case", case=found[0].id)

    assert "Refunded twice · 49.00 USD" in [link.label for link in page.page_link]
    assert f"{found[1].id} · same payment, customer · opened" in words(page)
    assert found[0].id not in [word for link in page.page_link for word in link.label.split()]


def test_a_case_without_relatives_says_so(database: Database, visit: Visit) -> None:
    found = seeds.trouble(database, now=now())

    assert "No other case has its payment, order or customer." in words(visit("case", case=found[0].id))


@pytest.mark.parametrize("livemode, middle", [(True, ""), (False, "test/")])
def test_the_providers_pages_are_linked_in_their_mode(
    database: Database, visit: Visit, *, livemode: bool, middle: str
) -> None:
    found = seeds.trouble(database, now=now())
    with database.write() as connection:
        connection.execute(insert(accounts).values(account="", livemode=livemode))

    page = visit("case", case=found[0].id)
    links = [(link.proto.label, link.proto.url) for link in page.get("link_button")]

    base = f"https://dashboard.stripe.com/{middle}"
    assert links == [
        ("Open payment", f"{base}payments/pi_8812"),
        ("Open refund 1", f"{base}refunds/re_8812"),
        ("Open refund 2", f"{base}refunds/re_8812_2"),
    ]
    assert ("(test mode)" in words(page)) is not livemode


def test_of_a_message_its_news_are_shown_and_of_one_that_was_rewritten_only_that(
    database: Database, visit: Visit
) -> None:
    (case,) = seeds.run(database, [seeds.duplicate(1, at=now() - timedelta(hours=2))], now=now())
    words_of = Message("HIGH: 1 refunded twice. What to do: Check it. https://desk.example/")
    save(database, told(case, "root", message=words_of), told(case, "edit", verb="edit"))

    said = words(visit("case", case=case.id))

    assert "HIGH: 1 refunded twice." in said
    assert "Check it." not in said
    assert "Rewritten" in said
    assert "edit: look at it." not in said
