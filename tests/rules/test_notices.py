import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model import wording
from recon.model.records.cases import JOB, Case, Change, Entry
from recon.model.records.notices import Known, Manner, Notice, Topic
from recon.model.records.owners import Profile
from recon.model.records.results import Money
from recon.model.records.words import (
    AccountId,
    Action,
    Actor,
    CaseState,
    Certainty,
    Kind,
    RefundId,
    RunId,
    Severity,
    Subject,
)
from recon.rules import notices
from tests.builders import NOON, PLATFORM, a_case, a_mismatch, an_owner

AS_OF = NOON + timedelta(hours=2)
RUN = RunId("run-2")
MANNER = Manner(
    run_id=RUN,
    as_of=AS_OF,
    now=AS_OF + timedelta(minutes=1),
    livemode=True,
    dashboard_url="https://desk.example",
    operators_channel="#operators",
    surge_limit=25,
)
KEY = "#payments|duplicate|high||live"


def a_change(
    case: Case, action: Action = Action.OPENED, *, run_id: RunId | None = RUN, before: int = 0
) -> Change:
    entry = Entry(
        case.id,
        action,
        JOB,
        AS_OF,
        case.mismatch.why,
        None,
        case.state,
        case.version,
        f"run-2:{case.id}",
        run_id,
    )
    return Change(case, entry, before)


def a_move(case: Case, action: Action) -> Change:
    """Return what a person did, in words that are nobody else's business."""
    by = a_change(case, action, run_id=None)
    return replace(by, entry=replace(by.entry, actor=Actor("ana"), reason="She told us on the phone."))


def numbered(number: int, **changes: object) -> Case:
    mismatch = a_mismatch(
        subject=Subject(f"intent:refund_order:{number}"),
        order_id=f"order_{number}",
        at_risk=Money(100 * number, "usd"),
    )
    return a_case(replace(mismatch, **changes))  # type: ignore[arg-type]  # any field of the mismatch


def said(
    changes: Iterable[Change],
    *,
    known: Iterable[str] = (),
    resting: Iterable[str] = (),
    told: Iterable[Case] | None = None,
    before: Iterable[Case] = (),
    manner: Manner = MANNER,
    held: Iterable[Case] = (),
    unread: Iterable[AccountId] = (),
) -> tuple[Notice, ...]:
    """Compose. known: threads in which something waits. resting: those in which nothing does."""
    changes, known, before = tuple(changes), frozenset(known), tuple(before)
    heard = [change.case for change in changes] if told is None and (known or resting) else told or ()
    return notices.compose(
        changes,
        Known(begun=known | frozenset(resting), expected=known, told=frozenset(case.id for case in heard)),
        before={case.id: case for case in before},
        manner=manner,
        held=held,
        unread=frozenset(unread),
    )


def outline(sent: Iterable[Notice]) -> list[str]:
    return [f"{notice.verb} {notice.thread_key}" for notice in sent]


def blocks_of(notice: Notice) -> str:
    return json.dumps(notice.message.blocks, ensure_ascii=False)


def texts_of(notice: Notice) -> list[str]:
    found: list[str] = []
    for block in notice.message.blocks:
        found += [block["text"]["text"]] if "text" in block else []
        found += [element["text"] for element in block.get("elements", ())]
    return found


def test_nothing_new_nothing_said() -> None:
    assert said([], known=[KEY]) == ()


def test_a_new_case_makes_a_root_and_a_reply_with_everything_a_person_needs() -> None:
    case = a_case()
    root, reply = said([a_change(case)])

    assert outline([root, reply]) == [f"root {KEY}", f"reply {KEY}"]
    assert (root.target, reply.target) == ("#payments", "#payments")
    todo = "What to do: Check whether a second refund was meant; if not, recover it or write it off. "
    link = "https://desk.example/?kind=duplicate&amp;severity=high"
    assert root.message.text == (
        "HIGH: 1 refunded twice (duplicate), 49.00 USD at risk, oldest 1 h 59 min. Owner: Payments on call. "
        f"{todo}{link}"
    )
    assert reply.message.text == (
        "HIGH, Refunded twice (duplicate): 1 opened, 49.00 USD at risk. Owner: Payments on call. "
        f"{todo}{link} {case.id} 49.00 USD, order order_8812, customer cus_8812."
    )
    for told in (case.id, "49.00 USD", "order_8812", "cus_8812", "case?case=C-"):
        assert told in blocks_of(root)
        assert told in blocks_of(reply)


def test_a_case_is_one_short_line_in_the_root_and_two_in_the_reply() -> None:
    case = a_case()
    line = "<https://desk.example/case?case={0}|{0}>  *49.00 USD* · order `order_8812` · customer `cus_8812`"
    root, reply = said([a_change(case)])

    assert f"• {line.format(case.id)}" in texts_of(root)
    assert texts_of(reply)[:3] == ["*1 opened*", f"• {line.format(case.id)}", case.mismatch.why]


def test_a_known_thread_has_its_root_edited_and_is_told_what_is_new() -> None:
    assert outline(said([a_change(numbered(2))], known=[KEY])) == [f"edit {KEY}", f"call {KEY}"]


def test_cases_are_told_apart_by_owner_kind_severity_account_and_mode() -> None:
    first = numbered(1)
    others = [
        replace(numbered(2), owner=an_owner(target="#others")),
        numbered(3, kind=Kind.ORPHAN),
        replace(numbered(4), severity=Severity.CRITICAL),
        replace(numbered(5), account=AccountId("acct_2")),
    ]
    topics = notices.topics([first, *others], livemode=True) + notices.topics([first], livemode=False)

    assert len({topic.key for topic in topics}) == 6
    assert [Topic.read(topic.key) for topic in topics] == list(topics)


def test_the_root_shows_the_largest_five_and_counts_per_currency() -> None:
    cases = [numbered(number) for number in range(1, 8)]
    cases.append(numbered(9, at_risk=Money(650, "jpy"), certainty=Certainty.PROBABLE))
    root = said(map(a_change, cases))[0]
    shown = [case for case in cases if case.id in blocks_of(root)]

    assert "8 refunded twice (duplicate), 650 JPY and 28.00 USD at risk" in root.message.text
    assert "1 only probable" in root.message.text
    assert [case.mismatch.at_risk.amount_minor for case in shown] == [400, 500, 600, 700, 650]
    queue = "https://desk.example/?kind=duplicate&amp;severity=high"
    assert f"and 3 more: <{queue}|all 8 in the queue>" in "".join(texts_of(root))


@pytest.mark.parametrize("kind", list(Kind))
def test_a_root_says_what_kind_it_is_in_words_and_what_to_do(kind: Kind) -> None:
    root = said([a_change(numbered(1, kind=kind))])[0]

    assert texts_of(root)[0].startswith(f"HIGH: {wording.counted(kind, 1)}")
    for told in (wording.NEXT_STEPS[kind], "Payments on call", f"?kind={kind}&amp;"):
        assert told in root.message.text
        assert told in "".join(texts_of(root))
    assert "_" not in root.message.text.partition("http")[0]


@pytest.mark.parametrize("extra, named", [((), "re_8812"), ((RefundId("re_8812_2"),), "re_8812_2")])
def test_what_has_neither_order_nor_customer_is_named_by_the_refund_in_question(
    extra: tuple[RefundId, ...], named: str
) -> None:
    nobodys = numbered(1, kind=Kind.ORPHAN, order_id=None, customer_id=None, extra_refund_ids=extra)
    root, reply = said([a_change(nobodys)])

    assert all(f"refund `{named}`" in "".join(texts_of(each)) for each in (root, reply))
    assert f"refund {named}." in reply.message.text


@pytest.mark.parametrize(
    "action, told",
    [
        (Action.REOPENED, "1 reopened"),
        (Action.REGRESSED, "1 regressed"),
        (Action.CHANGED, "1 with other evidence"),
        (Action.RECLASSIFIED, "1 reclassified"),
        (Action.CLEARED, "1 cleared"),
    ],
)
def test_what_became_of_a_case_is_said_in_words(action: Action, told: str) -> None:
    state = CaseState.CLEARED if action is Action.CLEARED else CaseState.OPEN
    case = a_case(state=state, version=2)
    reply = said([a_change(case, action)], known=[KEY], before=[a_case()])[-1]

    assert f"(duplicate): {told}" in reply.message.text
    assert texts_of(reply)[0] == f"*{told}*"
    assert ("~" in blocks_of(reply)) is (action is Action.CLEARED)
    assert ("What to do: nothing." in reply.message.text) is (action is Action.CLEARED)


def test_several_things_at_once_are_told_in_groups_with_a_heading_each() -> None:
    changes = [
        a_change(replace(numbered(1), state=CaseState.CLEARED), Action.CLEARED),
        a_change(numbered(2), Action.REOPENED),
        a_change(numbered(3)),
        a_change(numbered(4)),
    ]
    reply = said(changes, known=[KEY])[-1]
    told = texts_of(reply)

    assert told[0] == "*2 opened, 1 reopened, 1 cleared*"
    headings = [told.index(f"*{verb}*") for verb in ("Opened", "Reopened", "Cleared")]
    lines = [at for at, text in enumerate(told) if text.startswith("• ")]
    assert headings == [1, 6, 9]
    assert lines == [2, 4, 7, 10]
    assert "*4.00 USD*" in told[2]  # The most money first.
    assert told[10].startswith("• ~<")


def test_the_last_case_leaves_a_root_that_says_so() -> None:
    cleared = a_case(state=CaseState.CLEARED, version=2)
    edit, reply = said([a_change(cleared, Action.CLEARED)], known=[KEY], before=[a_case()])

    assert edit.verb == "edit"
    assert edit.message.text.startswith("Nothing waits: Refunded twice (duplicate), high. 1 cleared.")
    assert f"~<https://desk.example/case?case={cleared.id}|{cleared.id}> 49.00 USD~" in blocks_of(edit)
    assert reply.case_ids == (cleared.id,)


def test_a_thread_that_empties_twice_is_edited_twice() -> None:
    cleared = [a_case(state=CaseState.CLEARED, version=version) for version in (2, 4)]
    edits = [said([a_change(case, Action.CLEARED)], known=[KEY])[0].dedupe_key for case in cleared]

    assert len(set(edits)) == 2


def test_what_cleared_before_it_was_ever_told_is_not_told() -> None:
    cleared = a_case(state=CaseState.CLEARED, version=2)

    assert said([a_change(cleared, Action.CLEARED)], before=[a_case()]) == ()


def test_a_case_that_changes_threads_is_told_in_both() -> None:
    before = a_case()
    after = replace(before, owner=an_owner(name="finance", target="#finance"), version=2)
    there = "#finance|duplicate|high||live"
    manner = replace(MANNER, profiles={"Payments on call": Profile("Payments on call", "#payments")})
    sent = said([a_change(after, Action.ASSIGNED)], known=[KEY], before=[before], manner=manner)

    assert outline(sent) == [f"root {there}", f"reply {there}", f"edit {KEY}", f"reply {KEY}"]
    assert "1 assigned" in sent[1].message.text
    assert "1 moved to finance. Owner: Payments on call." in sent[2].message.text
    assert "1 moved to finance. Owner: Payments on call." in sent[3].message.text
    assert "~" in blocks_of(sent[3])


def test_a_case_that_was_settled_did_not_move_when_it_comes_back_elsewhere() -> None:
    settled = a_case(state=CaseState.RESOLVED)
    after = a_case(severity=Severity.CRITICAL, version=2)
    sent = said([a_change(after, Action.REOPENED)], known=[KEY], before=[settled])

    assert {notice.thread_key for notice in sent} == {"#payments|duplicate|critical||live"}


def test_nobody_on_purpose_is_told_nothing() -> None:
    nobody = a_case(owner=an_owner(target=""))

    assert said([a_change(nobody), a_change(replace(numbered(2), owner=None))]) == ()


def test_a_group_is_mentioned_where_something_opens_and_not_where_something_clears() -> None:
    owner = Profile("Payments on call", "#payments", group="S0123")
    manner = replace(MANNER, profiles={"Payments on call": owner})
    cleared = a_case(state=CaseState.CLEARED, version=2)
    first = said([a_change(a_case())], manner=manner)
    later = said([a_change(a_case())], manner=manner, known=[KEY])
    quiet = said([a_change(cleared, Action.CLEARED)], manner=manner, known=[KEY])

    pings = [["<!subteam^S0123>" in blocks_of(each) for each in sent] for sent in (first, later, quiet)]
    assert pings == [[True, False], [False, True], [False, False]]
    there = "#payments|duplicate|critical||live"
    worse = a_case(severity=Severity.CRITICAL, version=2)
    back = said([a_change(worse, Action.REOPENED)], manner=manner, known=[KEY, there], before=[a_case()])
    assert [notice.thread_key for notice in back if "<!subteam" in blocks_of(notice)] == [there]


def test_test_money_is_marked() -> None:
    root = said([a_change(a_case())], manner=replace(MANNER, livemode=False))[0]

    assert "1 refunded twice (duplicate), test mode" in root.message.text
    assert root.thread_key.endswith("|test")


# What an incomplete reading keeps back, and a surge.

MISSING = {"kind": Kind.MISSING, "refund_ids": (), "extra_refund_ids": ()}


@pytest.mark.parametrize("kind", list(Kind))
def test_only_what_rests_on_absence_is_kept_back(kind: Kind) -> None:
    sent = said([a_change(numbered(1, kind=kind))], unread=[PLATFORM])

    assert bool(sent) is (kind not in {Kind.MISSING, Kind.ORPHAN, Kind.STUCK})


def test_what_another_account_lacks_is_told_all_the_same() -> None:
    change = a_change(numbered(1, **MISSING))

    assert len(said([change], unread=[AccountId("acct_2")])) == 2


def test_what_was_kept_back_is_told_as_opened_when_the_account_was_read() -> None:
    kept = numbered(1, **MISSING)
    other = replace(kept, version=2)
    fell = replace(other, state=CaseState.CLEARED)

    reply = said([], held=[kept])[-1]
    assert "1 opened" in reply.message.text
    assert "1 opened" in said([a_change(other, Action.CHANGED)], held=[kept])[-1].message.text
    assert said([a_change(fell, Action.CLEARED)], held=[kept], before=[kept]) == ()


def test_a_surge_is_one_message_to_the_operators_and_the_rest_is_told_as_ever() -> None:
    lost = [numbered(number, **MISSING) for number in range(1, 27)]
    sent = said([a_change(each) for each in [*lost, a_case()]])

    assert [notice.target for notice in sent] == ["#operators", "#payments", "#payments"]
    assert "26 new cases" in sent[0].message.text
    assert "26 refunds missing" in sent[0].message.text
    assert set(sent[0].case_ids) == {case.id for case in lost}
    assert all("duplicate" in notice.thread_key for notice in sent[1:])


def test_a_surge_still_corrects_the_root_of_a_thread_that_is_there() -> None:
    lost = [numbered(number, **MISSING) for number in range(1, 27)]
    sent = said(map(a_change, lost), told=(), known=["#payments|missing|high||live"])

    assert [notice.verb for notice in sent] == ["root", "edit"]
    assert "26 refunds missing" in sent[1].message.text


def test_exactly_the_limit_is_no_surge_and_duplicates_never_are() -> None:
    lost = [numbered(number, **MISSING) for number in range(1, 26)]
    twice = [numbered(number) for number in range(30, 242)]
    sent = said([a_change(each) for each in [*lost, *twice]])

    assert {notice.target for notice in sent} == {"#payments"}


@given(st.permutations([numbered(number) for number in range(1, 8)]))
def test_replanning_in_any_order_gives_the_same_messages_to_send(order: list[Case]) -> None:
    straight = said(map(a_change, [numbered(number) for number in range(1, 8)]))
    later = replace(MANNER, now=AS_OF + timedelta(hours=1), run_id=RunId("run-3"))
    again = said(map(a_change, order), manner=later)

    assert [(each.dedupe_key, each.delivery_id) for each in again] == [
        (each.dedupe_key, each.delivery_id) for each in straight
    ]
    assert len({each.delivery_id for each in straight}) == len(straight)


def test_the_worst_severity_is_told_first() -> None:
    kinds = [a_mismatch(kind=kind, subject=Subject(f"intent:{kind}")) for kind in Kind]
    cases = [
        a_case(mismatch, severity=severity)
        for mismatch, severity in zip(kinds, [*Severity, *Severity, Severity.LOW], strict=True)
    ]
    roots = [notice for notice in said(map(a_change, reversed(cases))) if notice.verb == "root"]
    severities = [Severity(notice.thread_key.split("|")[2]) for notice in roots]

    assert severities == sorted(severities, key=list(Severity).index)
