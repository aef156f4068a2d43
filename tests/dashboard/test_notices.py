from dataclasses import replace
from datetime import timedelta

import pytest

from recon.doors.store import cases, leases
from recon.doors.store.cases import Saving
from recon.doors.store.engines import Database
from recon.model.records.notices import Message, Notice
from recon.model.records.words import CaseId, NoticeState
from recon.overview import NOTICES
from tests.dashboard.conftest import Visit, now, words
from tests.doors.store.books import a_lease, a_notice, a_run

CASE = CaseId("C-ABCDEFGH23")
HOSTILE = "![](http://127.0.0.1:9/x.png) <!channel>\u202e"


@pytest.fixture(autouse=True)
def slack(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token, so that something can be sent at all."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-never-used")


def told(number: int, state: NoticeState = NoticeState.SENT, **changes: object) -> Notice:
    at = now() - timedelta(hours=2)
    notice = replace(
        a_notice(),
        dedupe_key=f"key_{number}",
        delivery_id=f"delivery_{number}",
        thread_key=f"thread_{number}",
        message=Message(f"CRITICAL: message {number} &lt;of&gt; ours."),
        case_ids=(CASE,),
        state=state,
        created_at=at,
        next_at=at,
        attempts=1,
        sent_at=at if state is NoticeState.SENT else None,
    )
    return replace(notice, **changes)  # type: ignore[arg-type]  # any field of the record


def tell(database: Database, *found: Notice) -> None:
    lease = a_lease(database, now=now())
    run = a_run(started_at=now(), finished_at=now(), as_of=now(), fence=lease.fence)
    cases.save_run(database, lease, Saving(run, notices=found))
    leases.release(database, lease)


def test_before_anything_was_told_the_page_says_so(database: Database, visit: Visit) -> None:
    said = words(visit("notices"))

    assert "Everything that was to be told is delivered." in said
    assert "Nothing was told yet" in said


def test_without_a_token_the_page_says_that_nothing_is_sent(
    database: Database, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLACK_BOT_TOKEN")

    assert "SLACK_BOT_TOKEN" in visit("notices").warning[0].value


def test_a_notice_is_shown_as_it_was_read_out_with_its_cases(database: Database, visit: Visit) -> None:
    tell(database, told(1, target="#payments"))

    page = visit("notices")
    said = words(page)

    assert not page.exception
    assert "CRITICAL: message 1 <of> ours." in said
    assert "#payments" in said
    assert "Sent " in said
    assert [link.label for link in page.page_link if link.label.startswith("C-")] == [CASE]


FATES = [
    (told(1, NoticeState.WAITING, next_at=now() + timedelta(days=1)), "Waits until "),
    (told(1, NoticeState.WAITING, attempts=2, error="rate limited"), "2 attempts so far: rate limited"),
    (told(1, NoticeState.SENDING, claimed_until=now() + timedelta(days=1)), "Being sent now"),
    (told(1, NoticeState.SENDING, claimed_until=now() - timedelta(days=1)), "Its sender went silent"),
    (told(1, NoticeState.UNKNOWN, error="it hung up"), "Nobody knows whether Slack has it: it is looked for"),
    (
        told(1, NoticeState.UNDELIVERABLE, error="channel_not_found"),
        "Given up after 1 attempt: channel_not_f",
    ),
]


@pytest.mark.parametrize("notice, said", FATES)
def test_how_the_delivery_stands_is_said_in_words(
    database: Database, visit: Visit, notice: Notice, said: str
) -> None:
    tell(database, notice)

    page = visit("notices")

    assert said in words(page)
    assert page.header[0].value == "Not delivered"
    assert not page.success


def test_what_is_not_delivered_is_counted_and_comes_first(database: Database, visit: Visit) -> None:
    given_up = told(3, NoticeState.UNDELIVERABLE, error="channel_not_found")
    tell(database, told(1, NoticeState.WAITING), told(2, NoticeState.UNKNOWN), given_up, told(4))

    page = visit("notices")
    said = words(page)

    assert [(each.label, each.value) for each in page.metric] == [
        ("On their way", "2"),
        ("Late", "2"),
        ("Oldest waits", "2 h"),
        ("Given up", "1"),
    ]
    assert [each.value for each in page.header] == ["Not delivered", "Told"]
    assert said.index("message 1") < said.index("message 4")


@pytest.mark.parametrize(
    "address, numbers",
    [
        ({"state": "undeliverable"}, [2]),
        ({"kind": "reply"}, [3]),
        ({"to": "#support"}, [2]),
        ({"state": "nonsense", "kind": "neither"}, [2, 3, 1]),
        ({"to": "#nobody"}, []),
    ],
)
def test_filters_come_from_the_address(
    database: Database, visit: Visit, address: dict[str, str], numbers: list[int]
) -> None:
    lost = told(2, NoticeState.UNDELIVERABLE, target="#support")
    tell(database, told(1), lost, told(3, verb="reply"))

    said = words(visit("notices", **address))

    places = {number: said.find(f"message {number} ") for number in (1, 2, 3)}
    found = sorted((number for number, place in places.items() if place >= 0), key=places.__getitem__)
    assert found == numbers
    assert all(said.count(f"message {number} ") == 1 for number in numbers)
    assert ("No notice fits these filters." in said) is (not numbers)


def test_what_a_stranger_wrote_is_text(database: Database, visit: Visit) -> None:
    named = (CaseId("![x](y)"),)
    tell(database, told(1, message=Message(HOSTILE), target=HOSTILE, case_ids=named, error=HOSTILE))

    page = visit("notices")

    assert "![](http://127.0.0.1:9/x.png) <!channel>[U+202E]" in words(page)
    assert all("![" not in each.value for each in (*page.markdown, *page.caption))
    assert all("![" not in link.label for link in page.page_link)


def test_a_notice_of_many_cases_names_the_first(database: Database, visit: Visit) -> None:
    many = tuple(CaseId(f"C-ABCDEFGH{one}{other}") for one in "23" for other in "ABCDEFGH")
    tell(database, told(1, case_ids=many))

    page = visit("notices")

    assert len([link for link in page.page_link if link.label.startswith("C-")]) == 10
    assert "and 6 more cases" in words(page)


def test_older_notices_are_a_page_further_and_newer_ones_back(database: Database, visit: Visit) -> None:
    tell(database, *(told(number) for number in range(NOTICES + 2)))
    page = visit("notices")

    assert "message 2 " in words(page)
    assert "message 1 " not in words(page)
    page.button(key="older").click().run()
    assert "message 1 " in words(page)
    assert "message 2 " not in words(page)
    page.button(key="newer").click().run()

    assert "message 2 " in words(page)
