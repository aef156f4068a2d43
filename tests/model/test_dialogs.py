from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model import changes, dialogs
from recon.model.buttons import Button, Verb
from recon.model.characters import is_blank
from recon.model.dialogs import MORNING, SNOOZE_LIMIT, Nap
from recon.model.records.cases import Case
from recon.model.records.clicks import Place
from recon.model.records.results import Money
from recon.model.records.words import CaseState, Kind, RefundId, Resolution
from recon.rules import moves
from recon.sandbox import views
from tests.builders import NOON, a_case, a_mismatch, an_owner

PLACE = Place(
    "U0ANA", "C0PAYMENTS", thread_ts="1700000000.000100", response_url="https://hooks.slack.com/a/b"
)
DAY = timedelta(days=1)


def state(**told: object) -> dict[str, Any]:
    """What Slack gives of a dialog's blocks: each block has one element of its own name."""
    shapes: dict[str, Callable[[object], dict[str, object]]] = {
        "code": lambda found: {"selected_option": {"value": found}},
        "nap": lambda found: {"selected_option": {"value": found}},
        "date": lambda found: {"selected_date_time": found},
        "reason": lambda found: {"value": found},
    }
    return {name: {name: shapes[name](found)} for name, found in told.items()}


def texts(part: object) -> str:
    """Everything that a dialog says."""
    if isinstance(part, dict):
        return " ".join(texts(inner) for inner in part.values())
    return " ".join(map(texts, part)) if isinstance(part, list) else str(part)


def dialog(case: Case, verb: Verb = Verb.RESOLVE) -> dict[str, Any]:
    make = dialogs.resolving if verb is Verb.RESOLVE else dialogs.snoozing
    return make(case, PLACE, now=NOON)


@pytest.mark.parametrize("verb", [Verb.RESOLVE, Verb.SNOOZE])
@pytest.mark.parametrize("kind", Kind)
def test_slack_takes_each_dialog(verb: Verb, kind: Kind) -> None:
    long = a_mismatch(
        kind=kind, order_id="<!channel>" * 40, intent_key="&" * 300, refund_ids=("r" * 300,) * 9
    )
    case = a_case(long, owner=an_owner(name="*" * 500))

    assert views.faults(dialog(case, verb)) == []
    assert "<!channel>" not in texts(dialog(case, verb)["blocks"])


def test_a_dialog_shows_kind_money_and_ids_and_gives_back_no_amount() -> None:
    mismatch = a_mismatch(at_risk=Money(123450, "eur"), refund_ids=(RefundId("re_1"), RefundId("re_2")))
    shown = dialog(a_case(mismatch, version=4))

    for part in ("Refunded twice", "1,234.50 EUR", "re_1", "re_2", str(mismatch.order_id)):
        assert part in texts(shown["blocks"])
    assert "1234" not in shown["private_metadata"]
    assert dialogs.found(shown["private_metadata"], "U0ANA") == (
        Button.of(Verb.RESOLVE, a_case(mismatch, version=4)),
        PLACE,
    )


@pytest.mark.parametrize(
    "kind,expected",
    [
        (Kind.DUPLICATE, set(Resolution)),
        (Kind.ORPHAN, set(Resolution) - {Resolution.LEGITIMATE_REPEAT}),
        (Kind.AMOUNT_MISMATCH, set(Resolution) - {Resolution.LEGITIMATE_REPEAT}),
        (Kind.MISSING, {Resolution.RECOVERED, Resolution.FIXED_AT_PROVIDER, Resolution.FALSE_ALARM}),
        (Kind.OVERDUE, {Resolution.RECOVERED, Resolution.FIXED_AT_PROVIDER, Resolution.FALSE_ALARM}),
        (Kind.REFUND_FAILED, {Resolution.RECOVERED, Resolution.FIXED_AT_PROVIDER, Resolution.FALSE_ALARM}),
    ],
)
def test_only_what_can_have_settled_a_kind_is_offered(kind: Kind, expected: set[Resolution]) -> None:
    shown = dialog(a_case(a_mismatch(kind=kind)))
    (asked,) = [block for block in shown["blocks"] if block.get("block_id") == "code"]

    assert {each["value"] for each in asked["element"]["options"]} == expected


def test_a_resolution_is_read_with_its_reason() -> None:
    told = dialogs.filled(Verb.RESOLVE, state(code="recovered", reason="  The bank has it. "), now=NOON)

    assert (told.code, told.until, told.reason, told.flaws) == (
        Resolution.RECOVERED,
        None,
        "The bank has it.",
        {},
    )


@pytest.mark.parametrize(
    "nap,expected",
    [
        (Nap.HOUR, NOON + timedelta(hours=1)),
        (Nap.FOUR_HOURS, NOON + timedelta(hours=4)),
        (Nap.TOMORROW, datetime.combine(NOON.date() + DAY, MORNING)),
        (Nap.WEEK, NOON + 7 * DAY),
    ],
)
def test_a_nap_ends_at_its_time(nap: Nap, expected: datetime) -> None:
    told = dialogs.filled(Verb.SNOOZE, state(nap=nap.value, reason="Waits."), now=NOON)

    assert (told.until, told.flaws) == (expected, {})


def test_tomorrow_is_tomorrow_in_utc_also_just_before_midnight() -> None:
    late = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
    told = dialogs.filled(Verb.SNOOZE, state(nap="tomorrow", reason="Waits."), now=late)

    assert told.until == datetime(2027, 1, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "after,taken",
    [
        (timedelta(seconds=-1), False),
        (timedelta(0), False),
        (timedelta(seconds=1), True),
        (SNOOZE_LIMIT, True),
        (SNOOZE_LIMIT + timedelta(seconds=1), False),
    ],
)
def test_a_chosen_time_lies_ahead_and_within_the_limit(after: timedelta, taken: bool) -> None:  # noqa: FBT001
    at = NOON + after
    told = dialogs.filled(
        Verb.SNOOZE, state(nap="chosen", date=int(at.timestamp()), reason="Waits."), now=NOON
    )

    assert (told.until, set(told.flaws)) == ((at, set()) if taken else (None, {"date"}))


@pytest.mark.parametrize(
    "verb,told,flawed",
    [
        (Verb.RESOLVE, {"code": "recovered", "reason": " \n "}, {"reason"}),
        (Verb.RESOLVE, {"code": "recovered", "reason": "\u200b\u202e"}, {"reason"}),
        (Verb.RESOLVE, {"code": "recovered", "reason": "x" * 2001}, {"reason"}),
        (Verb.RESOLVE, {"code": "paid", "reason": "Yes."}, {"code"}),
        (Verb.RESOLVE, {}, {"code", "reason"}),
        (Verb.SNOOZE, {"reason": "Yes."}, {"nap"}),
        (Verb.SNOOZE, {"nap": "chosen", "reason": "Yes."}, {"date"}),
        (Verb.SNOOZE, {"nap": "chosen", "date": True, "reason": "Yes."}, {"date"}),
        (Verb.SNOOZE, {"nap": "chosen", "date": 10**30, "reason": "Yes."}, {"date"}),
        (Verb.SNOOZE, {"nap": "hour", "date": 1_900_000_000, "reason": "Yes."}, {"date"}),
    ],
)
def test_what_cannot_be_taken_is_said_beside_its_block(
    verb: Verb, told: dict[str, object], flawed: set[str]
) -> None:
    found = dialogs.filled(verb, state(**told), now=NOON)

    assert set(found.flaws) == flawed
    assert all(len(sentence) < 100 for sentence in found.flaws.values())


@given(
    values=st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.dictionaries(
            st.sampled_from(
                ["code", "nap", "date", "reason", "value", "selected_option", "selected_date_time"]
            ),
            inner,
        ),
        max_leaves=20,
    )
)
def test_whatever_is_filled_in_is_read_or_said_to_be_wrong(values: object) -> None:
    for verb in (Verb.RESOLVE, Verb.SNOOZE):
        found = dialogs.filled(verb, values, now=NOON)
        whole = not is_blank(found.reason) and (found.code is not None or found.until is not None)

        assert whole or found.flaws


@pytest.mark.parametrize(
    "memo",
    [
        None,
        "",
        "{}",
        "[]",
        '["x/C-AAAAAAAAAA/1", "C", null, null]',
        '["resolve/C-AAAAAAAAAA/1", null, null, null]',
        "[[[[",
    ],
)
def test_what_another_app_kept_is_not_ours(memo: object) -> None:
    assert dialogs.found(memo, "U0ANA") is None


def test_the_limits_are_those_of_the_moves() -> None:
    assert (dialogs.REASON_LIMIT, dialogs.SNOOZE_LIMIT) == (changes.REASON_LIMIT, moves.SNOOZE_LIMIT)


@pytest.mark.parametrize(
    "changes,expected",
    [
        ({}, "It is open; owner Payments on call."),
        ({"owner": None}, "It is open; owned by nobody."),
        (
            {"state": CaseState.RESOLVED, "resolution": Resolution.WRITTEN_OFF},
            "It is resolved (written off); owner Payments on call.",
        ),
        ({"snoozed_until": NOON}, "It is open; owner Payments on call."),
        (
            {"snoozed_until": NOON + DAY},
            "It is open, snoozed until 2026-03-07 12:00 UTC; owner Payments on call.",
        ),
        (
            {"state": CaseState.ACCEPTED, "accepted_until": NOON + DAY, "snoozed_until": NOON + 2 * DAY},
            "It is accepted until 2026-03-07 12:00 UTC; owner Payments on call.",
        ),
    ],
)
def test_a_case_is_said_to_stand_as_it_does(changes: dict[str, Any], expected: str) -> None:
    assert dialogs.standing(a_case(**changes), now=NOON) == expected
