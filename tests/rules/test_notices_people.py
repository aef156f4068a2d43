"""What people's moves say in Slack, when owners rest, and what can be clicked."""

from dataclasses import replace
from datetime import time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model.records.notices import Notice, Topic
from recon.model.records.owners import Profile
from recon.model.records.words import AccountId, Action, CaseState, Kind, Resolution, Severity
from tests.builders import NOON, a_case, an_owner
from tests.rules.test_notices import (
    KEY,
    MANNER,
    a_change,
    a_move,
    blocks_of,
    numbered,
    outline,
    said,
    texts_of,
)

RINGS = {Action.REOPENED, Action.PROPOSED}  # What of a person's moves somebody else must act on.


@pytest.mark.parametrize(
    "action, changes, told",
    [
        (Action.ACKNOWLEDGED, {"state": CaseState.ACKNOWLEDGED}, "Acknowledged by ana"),
        (
            Action.RESOLVED,
            {"state": CaseState.RESOLVED, "resolution": Resolution.WRITTEN_OFF},
            "As written off.",
        ),
        (
            Action.ACCEPTED,
            {"state": CaseState.ACCEPTED, "accepted_until": NOON},
            "Until 2026-03-06 12:00 UTC.",
        ),
        (Action.SNOOZED, {"snoozed_until": NOON}, "Until 2026-03-06 12:00 UTC."),
        (Action.REOPENED, {}, "1 reopened by ana"),
        (Action.ADOPTED, {"state": CaseState.ACKNOWLEDGED}, "1 refund adopted by ana"),
        (Action.PROPOSED, {}, "Another person must approve it at the desk."),
        (Action.DECLINED, {}, "1 proposal declined by ana"),
    ],
)
def test_a_person_s_move_is_told_in_the_thread_without_the_person_s_words(
    action: Action, changes: dict[str, Any], told: str
) -> None:
    after = replace(a_case(version=2), **changes)
    edit, reply = said([a_move(after, action)], known=[KEY], before=[a_case()])

    assert (edit.verb, reply.verb) == ("edit", "call" if action in RINGS else "reply")
    assert told.casefold() in f"{reply.message.text} {texts_of(reply)}".casefold()
    assert "told us on the phone" not in f"{reply.message.text} {blocks_of(reply)} {blocks_of(edit)}"


def test_what_is_to_be_done_about_a_proposal_is_to_answer_it() -> None:
    _, reply = said([a_move(a_case(version=2), Action.PROPOSED)], known=[KEY], before=[a_case()])

    step = "What to do: Approve or decline it at the desk, if you are not who proposed it. https://desk"
    assert step in reply.message.text


def test_a_comment_only_brings_the_root_up_to_date() -> None:
    moved = [a_move(a_case(version=2), Action.COMMENTED)]

    assert outline(said(moved, known=[KEY], before=[a_case()])) == [f"edit {KEY}"]


@pytest.mark.parametrize("action", list(Action))
def test_a_move_on_a_case_that_nobody_was_told_of_is_told_only_where_somebody_is_to_act(
    action: Action,
) -> None:
    sent = said([a_move(a_case(version=2), action)], before=[a_case()])

    assert bool(sent) is (action in {Action.ASSIGNED, *RINGS})


def test_whom_a_person_gives_a_case_hears_of_it_aloud_and_the_former_owner_that_it_left() -> None:
    after = a_case(version=2, owner=an_owner(name="Ana", target="U0ANA"))
    there = "U0ANA|duplicate|high||live"
    move = [a_move(after, Action.ASSIGNED)]

    assert outline(said(move, known=[KEY], before=[a_case()])) == [
        f"edit {KEY}",
        f"reply {KEY}",
        f"root {there}",
        f"reply {there}",
    ]
    busy = said(move, known=[KEY, there], before=[a_case()])
    assert outline(busy)[2:] == [f"edit {there}", f"call {there}"]


def test_whom_a_case_is_given_to_hears_of_it_aloud_also_where_the_former_owner_reads() -> None:
    leads = Profile("Support leads", "#payments", group="S0LEADS")
    manner = replace(MANNER, profiles={leads.name: leads})
    after = a_case(version=2, owner=an_owner(name=leads.name))
    sent = said([a_move(after, Action.ASSIGNED)], known=[KEY], before=[a_case()], manner=manner)

    assert outline(sent) == [f"edit {KEY}", f"call {KEY}"]
    assert "<!subteam^S0LEADS>" in blocks_of(sent[1])


def test_what_opens_in_a_thread_at_rest_is_a_new_root_that_people_see() -> None:
    again = a_case(version=3)
    sent = said([a_change(again, Action.REOPENED)], resting=[KEY])
    first = said([a_change(a_case())])

    assert outline(sent) == [f"root {KEY}", f"reply {KEY}"]
    assert sent[0].dedupe_key != first[0].dedupe_key


def test_what_only_ends_in_a_thread_at_rest_makes_no_new_root() -> None:
    cleared = a_case(state=CaseState.CLEARED, version=4)

    assert outline(said([a_change(cleared, Action.CLEARED)], resting=[KEY])) == [
        f"edit {KEY}",
        f"reply {KEY}",
    ]


@pytest.mark.parametrize(
    "severity, edits_at, says_at",
    [(Severity.HIGH, 0, 30), (Severity.CRITICAL, 0, 0)],
)
def test_an_owner_at_rest_hears_of_it_in_the_morning_unless_it_is_critical(
    severity: Severity, edits_at: int, says_at: int
) -> None:
    asleep = Profile("Payments on call", "#payments", rest=(time(13), time(14, 31)))
    manner = replace(MANNER, profiles={"Payments on call": asleep})
    case = a_case(severity=severity)
    key = f"#payments|duplicate|{severity}||live"
    edit, call = said([a_change(case)], known=[key], manner=manner)
    root, reply = said([a_change(case)], manner=manner)

    waits = [(each.next_at - manner.now) // timedelta(minutes=1) for each in (edit, call, root, reply)]
    assert waits == [edits_at, says_at, says_at, says_at]


def test_what_is_worse_is_more_urgent() -> None:
    cases = [a_case(severity=severity) for severity in Severity]

    assert [said([a_change(case)])[0].urgency for case in cases] == [3, 2, 1, 0]


def test_only_where_somebody_listens_can_anything_be_clicked_that_people_see_in_the_channel() -> None:
    case = a_case(version=7)
    values = [f"{verb}/{case.id}/7" for verb in ("acknowledge", "take", "snooze", "resolve", "open")]
    hears = replace(MANNER, answers=True)
    deaf = [*said([a_change(case)]), *said([a_change(case)], known=[KEY])]
    root, reply = said([a_change(case)], manner=hears)
    edit, call = said([a_change(case)], known=[KEY], manner=hears)

    assert not any("accessory" in blocks_of(each) for each in deaf)
    assert [clickable(each) for each in (root, reply, edit, call)] == [values, [], values, values]


def clickable(notice: Notice) -> list[str]:
    """Return what each thing in a message that can be clicked gives back."""
    found = [block["accessory"] for block in notice.message.blocks if "accessory" in block]
    return [option["value"] for menu in found for option in menu["options"]]


def test_where_two_owners_read_in_one_channel_each_is_named_and_only_theirs_are_called() -> None:
    leads = an_owner(name="Support leads")
    groups = {"Payments on call": "S0PAY", "Support leads": "S0LEADS"}
    profiles = {name: Profile(name, "#payments", group=group) for name, group in groups.items()}
    manner = replace(MANNER, profiles=profiles)
    ours, theirs = numbered(1), replace(numbered(2), owner=leads)
    root, reply = said([a_change(ours), a_change(theirs)], manner=manner)
    ended = a_change(replace(ours, state=CaseState.CLEARED, version=2), Action.CLEARED)
    edit, call = said([a_change(theirs), ended], known=[KEY], manner=manner)

    assert [("S0PAY" in blocks_of(each), "S0LEADS" in blocks_of(each)) for each in (root, call)] == [
        (True, True),
        (False, True),
    ]
    assert "Owner: Payments on call, Support leads." in root.message.text
    assert "Owner: Payments on call, Support leads." in reply.message.text
    assert "Owner: Payments on call, Support leads." in call.message.text
    assert "<!subteam" not in blocks_of(edit)


def test_where_one_of_two_owners_is_awake_a_channel_does_not_rest() -> None:
    asleep = Profile("Payments on call", "#payments", rest=(time(13), time(14, 31)))
    manner = replace(MANNER, profiles={"Payments on call": asleep})
    both = [numbered(1), replace(numbered(2), owner=an_owner(name="Support leads"))]
    (alone, _), (shared, _) = (said(map(a_change, those), manner=manner) for those in (both[:1], both))

    assert alone.next_at > manner.now
    assert shared.next_at == manner.now


@given(st.text(), st.text(), st.sampled_from(Kind), st.sampled_from(Severity), st.booleans())
def test_a_thread_s_key_gives_its_topic_back(
    target: str,
    account: str,
    kind: Kind,
    severity: Severity,
    livemode: bool,  # noqa: FBT001
) -> None:
    topic = Topic(target, kind, severity, AccountId(account), livemode)

    assert Topic.read(topic.key) == topic
