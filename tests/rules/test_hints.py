"""What is said where the files, not the money, are the likely cause."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from recon.model import frames
from recon.model.records.results import Coverage, Policy
from recon.rules import hints, linking
from recon.rules.mismatches import finding
from tests.builders import NOON
from tests.product import INTENT_COLUMNS, REFUND_COLUMNS, Row, table

DAY, HOUR, MINUTE, SECOND = (timedelta(**{unit: 1}) for unit in ("days", "hours", "minutes", "seconds"))
SKEW = "clock_skew_seconds in a file for --policy is the grace that decides it, now 5."
WINDOW = "inferred_window_hours in a file for --policy is the grace that decides it, now"
SOURCES = (("shop.csv",), ("stripe.csv",))


def intent(number: int, **changes: Any) -> Row:  # noqa: ANN401  # any column
    at = (NOON + number * HOUR).isoformat()
    ordinary = {"key": f"k{number}", "payment": f"pi_{number}", "amount_minor": 500, "currency": "eur"}
    return {**ordinary, "account": "", "status": "done", "created_at": at, **changes}


def refund(number: int, later: timedelta = SECOND, **changes: Any) -> Row:  # noqa: ANN401  # any column
    at = (NOON + number * HOUR + later).isoformat()
    ordinary = {"id": f"re_{number}", "payment_intent": f"pi_{number}", "amount_minor": 500}
    return {
        **ordinary,
        "account": "",
        "currency": "eur",
        "status": "succeeded",
        "created_at": at,
        **changes,
    }


def said(intents: Sequence[Row], refunds: Sequence[Row], policy: Policy | None = None) -> tuple[str, ...]:
    policy = policy or Policy()
    ours = frames.intents(table(intents, INTENT_COLUMNS), source="intents")
    theirs = frames.refunds(table(refunds, REFUND_COLUMNS), source="refunds")
    links = linking.link(ours.frame, theirs.frame, policy)
    as_of = NOON + 90 * DAY
    result = finding.find(ours, theirs, links, policy=policy, coverage=Coverage(), as_of=as_of)
    return hints.find(result, ours, theirs, sources=SOURCES, policy=policy)


def shifted(later: timedelta) -> tuple[list[Row], list[Row]]:
    """Thirty intents whose refunds are so much later; four agree, so that both files span the same time."""
    agreeing = (-40, -39, 60, 61)
    return (
        [intent(number) for number in (*agreeing, *range(30))],
        [refund(number) for number in agreeing] + [refund(number, later) for number in range(30)],
    )


@pytest.mark.parametrize(
    "later, expected",
    [
        (-2 * HOUR + 3 * SECOND, "2 h 0 min apart (the refunds are earlier): is the zone of one file right?"),
        (-15 * MINUTE, "15 min apart (the refunds are earlier): is the zone of one file right?"),
        (
            -15 * MINUTE + SECOND,
            f"14 min 59 s apart (the refunds are earlier): {SKEW}",
        ),
        (
            -6 * SECOND,
            f"6 s apart (the refunds are earlier): {SKEW}",
        ),
        (
            2 * DAY,
            f"2 d 0 h apart (the refunds are later): {WINDOW} 24.",
        ),
    ],
)
def test_times_that_are_apart_alike_are_told_with_what_decides_it(later: timedelta, expected: str) -> None:
    opening = "30 of 30 missing intents have an orphan refund of the same payment and amount, mostly "

    assert said(*shifted(later)) == (opening + expected,)


def test_refunds_later_than_a_short_window_may_be_of_another_zone_or_the_window_too_short() -> None:
    (hint,) = said(*shifted(2 * HOUR), policy=Policy(inferred_window=HOUR))

    assert hint.endswith(
        f"mostly 2 h 0 min apart (the refunds are later): is the zone of one file right? Else {WINDOW} 1."
    )


def test_one_pair_is_told_as_one() -> None:
    others = [intent(-9), intent(9)], [refund(-9), refund(9)]

    (hint,) = said([intent(1), *others[0]], [refund(1, -2 * HOUR), *others[1]])

    assert hint == (
        "1 of 1 missing intent has an orphan refund of the same payment and amount, 2 h 0 min apart (the"
        " refund is earlier): is the zone of one file right?"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"amount_minor": 501},
        {"currency": "usd"},
        {"payment_intent": "pi_other"},
        {"account": "acct_1"},
    ],
)
def test_a_refund_of_something_else_is_no_sign_of_wrong_times(changes: dict[str, Any]) -> None:
    ours, theirs = shifted(-2 * HOUR)

    assert said(ours, [*theirs[:4], *({**each, **changes, "id": each["id"]} for each in theirs[4:])]) == ()


def test_the_smaller_part_of_the_missing_is_no_sign_of_wrong_times() -> None:
    ours, theirs = shifted(-2 * HOUR)

    assert "15 of 30" in said(ours, theirs[:19])[0]
    assert said(ours, theirs[:18]) == ()


def test_a_refund_that_names_another_intent_is_no_sign_of_wrong_times() -> None:
    ours, theirs = shifted(SECOND)

    assert said(ours, [*theirs[:4], *({**each, "intent_key": "other"} for each in theirs[4:])]) == ()


def test_a_missing_intent_whose_refund_is_anothers_is_none_of_the_missing() -> None:
    ours = [intent(-9), intent(9), intent(1, refund_id="re_9", payment="pi_1")]
    theirs = [refund(-9), refund(9, intent_key="k9"), refund(1, -2 * HOUR)]

    assert said(ours, theirs) == ()


def test_the_time_of_an_intent_is_when_it_was_sent_first() -> None:
    ours, theirs = shifted(-6 * SECOND)
    ours = [{**each, "first_sent_at": each["created_at"], "created_at": NOON.isoformat()} for each in ours]

    assert "mostly 6 s apart" in said(ours, theirs)[0]


def test_what_the_times_explain_is_not_told_of_the_ends_as_well() -> None:
    ours, theirs = shifted(-10 * HOUR)

    (hint,) = said(ours[4:], theirs[4:])

    assert "mostly 10 h 0 min apart" in hint


@pytest.mark.parametrize("later", [SECOND, -5 * SECOND, DAY])
def test_what_agrees_gives_no_hint(later: timedelta) -> None:
    assert said(*shifted(later)) == ()


SPANS = {  # Which side begins earlier, or ends later, by how many hours; the first or last that both have.
    "intents before": (range(20), range(5, 20)),
    "refunds before": (range(5, 20), range(20)),
    "intents after": (range(20), range(15)),
    "refunds after": (range(15), range(20)),
}


@pytest.mark.parametrize(
    "which, what, option",
    [
        (
            "intents before",
            "5 missing intents are older than the first refund (2026-03-06 17:00 UTC):",
            "--refunds-from 2026-03-06T17:00:01Z leaves them out.",
        ),
        (
            "refunds before",
            "5 orphans are older than the first intent (2026-03-06 17:00 UTC):",
            "--intents-from 2026-03-06T17:00:00Z leaves them out.",
        ),
        (
            "intents after",
            "5 missing intents are younger than the last refund (2026-03-07 02:00 UTC):",
            "--as-of 2026-03-07T02:00:01Z judges what was known then.",
        ),
        (
            "refunds after",
            "5 orphans are younger than the last intent (2026-03-07 02:00 UTC):",
            "--as-of 2026-03-07T02:00:00Z judges what was known then.",
        ),
    ],
)
def test_what_the_other_file_does_not_span_is_told_with_the_option(
    which: str, what: str, option: str
) -> None:
    ours, theirs = SPANS[which]

    assert said([*map(intent, ours)], [*map(refund, theirs)]) == (f"{what} {option}",)


def test_two_after_an_end_are_what_they_look_like() -> None:
    assert said([*map(intent, range(20))], [*map(refund, range(18))]) == ()
    assert said([*map(intent, range(18))], [*map(refund, range(20))]) == ()


@pytest.mark.parametrize(
    "ours, theirs, what, does",
    [
        (
            range(20),
            range(1, 20),
            "1 missing intent is older than the first refund (2026-03-06 13:00 UTC): --refunds-from",
            "2026-03-06T13:00:01Z leaves it out if what belongs to it is in an earlier file.",
        ),
        (
            range(2, 20),
            range(20),
            "2 orphans are older than the first intent (2026-03-06 14:00 UTC): --intents-from",
            "2026-03-06T14:00:00Z leaves them out if what belongs to them is in an earlier file.",
        ),
    ],
)
def test_one_before_the_other_file_begins_is_told(ours: range, theirs: range, what: str, does: str) -> None:
    assert said([*map(intent, ours)], [*map(refund, theirs)]) == (f"{what} {does}",)


MANY = range(20)
BAD: dict[str, Any] = {"amount_minor": "14.90 EUR"}


def test_missing_intents_on_the_payments_of_rows_that_could_not_be_judged_come_first() -> None:
    theirs = [refund(number, **(BAD if number in {3, 4, 5} else {})) for number in MANY if number != 9]

    (hint,) = said([*map(intent, MANY)], theirs)

    assert hint == (
        "3 of 4 missing intents are on payments of rows of refunds that could not be judged:"
        " mend these rows first."
    )


def test_orphans_on_the_payments_of_intents_that_could_not_be_judged_are_told() -> None:
    ours = [intent(number, **(BAD if number == 3 else {})) for number in MANY]

    assert said(ours, [*map(refund, MANY)]) == (
        "1 of 1 orphan is on the payment of a row of intents that could not be judged: mend it first.",
    )


def test_what_such_rows_explain_is_not_laid_to_the_times_as_well() -> None:
    ours = [intent(number, **(BAD if number < 5 else {})) for number in MANY]

    (hint,) = said(ours, [*map(refund, MANY)])

    assert hint.startswith("5 of 5 orphans are on payments of rows of intents")


@pytest.mark.parametrize("changes", [{"payment_intent": "pi_other"}, {"account": "acct_1"}])
def test_a_bad_row_on_another_payment_explains_nothing(changes: dict[str, Any]) -> None:
    theirs = [refund(number, **(BAD | changes if number == 3 else {})) for number in MANY]

    assert said([*map(intent, MANY)], theirs) == ()


def test_a_side_without_a_readable_row_is_told_with_the_command_that_maps_it() -> None:
    unreadable: list[Row] = [{**intent(number), "currency": "doubloon"} for number in range(1, 302)]

    (hint,) = said(unreadable, [])

    assert hint == (
        "None of the 301 rows of shop.csv could be judged, so nothing was compared: recon map shop.csv"
        " proposes a map."
    )
    assert said([intent(1)], []) == said([], [refund(1)]) == said([], []) == ()
    assert said([*unreadable, intent(1)], [refund(1)]) == ()


def test_what_follows_from_an_unreadable_side_alone_is_not_called_nothing() -> None:
    unreadable = [intent(number, **BAD) for number in (1, 2)]

    (orphans,) = said(unreadable, [refund(1), refund(9)])
    (missing,) = said([intent(1)], [refund(1, **BAD)])

    assert orphans == (
        "None of the 2 rows of shop.csv could be judged, so the other side was compared with nothing,"
        " and its 2 orphans say no more than that: recon map shop.csv proposes a map."
    )
    assert missing == (
        "The only row of stripe.csv could not be judged, so the other side was compared with nothing,"
        " and its 1 missing intent says no more than that: recon map stripe.csv proposes a map."
    )
