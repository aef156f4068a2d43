"""When a tool's calls are odd, beside a slow count that says the same in the plainest words."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model import bursts
from recon.model.records.tools import Burst, Effect, Limits, Minute, Repeated, Tool, ToolCall, Twins
from recon.model.records.words import AccountId, IntentKey
from recon.rules import alerts
from tests.builders import NOON, PLATFORM

MINUTE = timedelta(minutes=1)
LIMITS = Limits(window=15 * MINUTE, repeats=3, twins=2, declared_twins=4, spike=6, spike_window=2 * MINUTE)
TOOL = Tool(
    "refund_order",
    Effect.SIDE_EFFECT,
    "refund_order",
    "Refund an order",
    key=("order_id", "reference"),
    fingerprint=("amount_minor", "currency", "payment"),
    repeat="reference",
    limits=LIMITS,
)
LONG_AGO = NOON - timedelta(days=1)


def a_call(minutes: float = 0, *, key: str = "k1", payment: str | None = "pi_1", **asked: object) -> ToolCall:
    """Return a call for 49.00 USD of a payment; its number follows its time."""
    told = {"amount_minor": "4900", "currency": "usd", "payment": payment} | asked
    return ToolCall(
        number=int(minutes * 1000) + 1,
        account=PLATFORM,
        key=IntentKey(key),
        tool="refund_order",
        asked_at=NOON + minutes * MINUTE,
        asked=told,
    )


def found(*calls: ToolCall) -> Burst | None:
    return alerts.burst(calls, TOOL, read_from=LONG_AGO)


def seen(*calls: ToolCall) -> Burst:
    burst = found(*calls)
    assert burst is not None
    return burst


def keys_of(*payments: str) -> list[ToolCall]:
    """One call each minute, each with a key and a payment of its own."""
    return [a_call(at, key=f"k{at}", payment=payment) for at, payment in enumerate(payments)]


QUIET = [
    ("no call", []),
    ("one call", [a_call()]),
    ("a retry", [a_call(), a_call(1)]),
    ("three calls, the last exactly a window after the first", [a_call(), a_call(1), a_call(15)]),
    ("two payments", keys_of("pi_1", "pi_2")),
    ("another amount", [a_call(), a_call(1, key="k2", amount_minor="4901")]),
    ("another currency", [a_call(), a_call(1, key="k2", currency="eur")]),
    ("another account", [a_call(), replace(a_call(1, key="k2"), account=AccountId("acct_1"))]),
    ("a key exactly a window later", [a_call(), a_call(15, key="k2")]),
    ("two lines of one order", [a_call(key=f"k{n}", minutes=n, reference=f"line-{n}") for n in range(3)]),
    ("a line, and the order itself", [a_call(), a_call(1, key="k2", reference="line-1")]),
    ("no payment known", [a_call(payment=None), a_call(1, key="k2", payment=None)]),
    ("an empty payment", [a_call(payment=" "), a_call(1, key="k2", payment="")]),
    ("five intents in two minutes", [a_call(n / 3, key=f"k{n}", payment=f"pi_{n}") for n in range(5)]),
    ("six, slowly", [a_call(n / 2, key=f"k{n}", payment=f"pi_{n}") for n in range(6)]),
    ("answered by the switch", [replace(a_call(n, key=f"k{n}"), answer="disabled") for n in range(9)]),
]


@pytest.mark.parametrize("calls", [calls for _, calls in QUIET], ids=[name for name, _ in QUIET])
def test_ordinary_calls_are_no_burst(calls: list[ToolCall]) -> None:
    assert found(*calls) is None


def test_a_third_call_for_one_intent_is_odd_and_says_what_drifted() -> None:
    burst = seen(
        a_call(reason="broken"),
        replace(a_call(1, reason="Broken on arrival"), caller="thread 2"),
        a_call(14.9, amount_minor="5900", reason="broken"),
    )

    assert burst.repeated == (Repeated(PLATFORM, IntentKey("k1"), 3, ("amount_minor", "reason", "caller")),)
    assert (burst.twins, burst.spike, burst.calls, burst.doubles) == ((), 0, 3, False)


def test_an_amount_that_is_typed_otherwise_has_not_drifted() -> None:
    typed = ["49.00", "49", "49.0"]

    assert seen(*(a_call(n, amount=text) for n, text in enumerate(typed))).repeated[0].drifted == ()


def test_a_second_key_for_what_looks_like_one_intent_is_odd() -> None:
    burst = seen(a_call(), a_call(0.5, key="k2", currency=" USD"), a_call(9, key="k9", payment="pi_9"))

    same = {"amount_minor": "4900", "currency": "usd", "payment": "pi_1"}
    assert burst.twins == (Twins(PLATFORM, same, (IntentKey("k1"), IntentKey("k2"))),)
    assert (burst.number, burst.began_at, burst.calls) == (501, NOON + 0.5 * MINUTE, 2)
    assert burst.doubles


def test_two_keys_of_one_reference_are_odd_and_so_are_many_of_their_own() -> None:
    one = seen(a_call(reference="line-1"), a_call(1, key="k2", reference="line-1"))
    many = seen(*(a_call(n, key=f"k{n}", reference=f"minted-{n}") for n in range(4)))

    assert [len(each.keys) for each in (*one.twins, *many.twins)] == [2, 4]


MINTED = [a_call(n, key=f"k{n}", reference=f"minted-{n}") for n in range(4)]
TWICE = [a_call(), a_call(1, key="k2")]
AT_ONCE = [a_call(n / 3, key=f"s{n}", payment=f"pi_s{n}", reference="line-1") for n in range(6)]
MADE_UP = "look whether a caller makes references up."


@pytest.mark.parametrize(
    "calls, refunds, promise",
    [
        (TWICE, True, "The next run says what was done twice."),
        (AT_ONCE, True, "The next run says what was done twice."),
        ([a_call(n) for n in range(3)], True, "One key is done once, however often it is asked for."),
        (MINTED, True, f"No run counts these as repeats, because each has its own reference: {MADE_UP}"),
        (
            [*MINTED, a_call(4, key="k9")],
            True,
            f"No run counts these as repeats, because each has its own reference: {MADE_UP}",
        ),
        ([*MINTED, *(replace(each, account=AccountId("acct_1")) for each in TWICE)], True, ""),
        (
            [*MINTED, a_call(4, key="k9", reference="minted-0")],
            True,
            "The next run says what was done twice.",
        ),
        (TWICE, False, "No run compares what this tool does: look in its own books for what was done twice."),
    ],
)
def test_the_alert_promises_of_runs_only_what_they_say(
    calls: list[ToolCall], promise: str, *, refunds: bool
) -> None:
    mixed = "The next run says what was done twice, but keys with a reference each are no repeats to it: "
    prints = TOOL.fingerprint if refunds else ("amount_minor", "currency")
    burst = alerts.burst(calls, replace(TOOL, fingerprint=prints), read_from=LONG_AGO)
    assert burst is not None
    over = bursts.over(burst, quiet_minutes=15, dashboard_url="http://h").text

    assert bursts.promise(burst) == (promise or mixed + MADE_UP)
    assert ("the cases that the next run opens" in over) is ("The next run" in bursts.promise(burst))


def test_many_intents_at_once_are_odd() -> None:
    burst = seen(*(a_call(n / 3, key=f"k{n}", payment=f"pi_{n}") for n in range(8)))

    assert (burst.spike, burst.subjects, burst.calls, burst.twins, burst.repeated) == (6, 6, 8, (), ())
    assert burst.began_at == NOON + 5 / 3 * MINUTE


def test_odd_calls_with_a_pause_of_the_window_are_one_burst_and_with_more_two() -> None:
    pair = [a_call(), a_call(1, key="k2")]
    near = [a_call(15, key="n1", payment="pi_n"), a_call(16, key="n2", payment="pi_n")]
    far = [a_call(15, key="n1", payment="pi_n"), a_call(16.001, key="n2", payment="pi_n")]

    assert (seen(*pair, *near).began_at, len(seen(*pair, *near).twins)) == (NOON + MINUTE, 2)
    assert (seen(*pair, *far).began_at, len(seen(*pair, *far).twins)) == (NOON + 16.001 * MINUTE, 1)


@pytest.mark.parametrize("minutes, goes_on", [(0, True), (15, True), (15.001, False)])
def test_a_burst_goes_on_for_a_window(minutes: float, *, goes_on: bool) -> None:
    burst = seen(a_call(), a_call(1, key="k2"))

    assert alerts.goes_on(burst, TOOL, now=burst.last_at + minutes * MINUTE) is goes_on


@pytest.mark.parametrize("minutes, whole", [(30, True), (29.999, False)])
def test_what_was_read_may_not_reach_back_to_where_a_burst_began(minutes: float, *, whole: bool) -> None:
    calls = [a_call(), a_call(1, key="k2")]
    burst = alerts.burst(calls, TOOL, read_from=NOON + MINUTE - minutes * MINUTE)

    assert burst is not None
    assert burst.whole is whole


def test_a_tool_without_a_fingerprint_has_no_twins() -> None:
    bare = replace(TOOL, fingerprint=())

    assert alerts.burst([a_call(), a_call(1, key="k2")], bare, read_from=LONG_AGO) is None


def test_the_calls_of_each_minute_are_counted_with_those_that_ask_again() -> None:
    told = [a_call(), a_call(0.9), a_call(1, key="k2"), a_call(3), a_call(3.5, key="k3")]

    assert alerts.per_minute(told) == (
        Minute(NOON, 1, 1),
        Minute(NOON + MINUTE, 1, 0),
        Minute(NOON + 3 * MINUTE, 1, 1),
    )
    assert [(each.key, each.calls) for each in alerts.asked_again(told)] == [("k1", 3)]


CALLS = st.lists(
    st.builds(
        lambda seconds, key, payment, reference, switched, note: ToolCall(
            number=0,
            account=PLATFORM,
            key=IntentKey(key),
            tool="refund_order",
            asked_at=NOON + timedelta(seconds=seconds),
            asked={"amount_minor": "1", "currency": "usd", "payment": payment, "reference": reference}
            | {"note": note},
            answer="disabled" if switched else None,
        ),
        st.integers(0, 2400).map(lambda seconds: seconds - seconds % 30),
        st.sampled_from("abcdef"),
        st.sampled_from(["pi_1", "pi_2", None]),
        st.sampled_from([None, None, "x", "y"]),
        st.sampled_from([False, False, False, True]),
        st.sampled_from("no"),
    ),
    max_size=40,
).map(lambda calls: [replace(each, number=number) for number, each in enumerate(calls, 1)])


def slowly(calls: Sequence[ToolCall]) -> tuple[int, int, int, tuple[str, ...], tuple[str, ...], int] | None:
    """The latest burst in the plainest words: every call looks back over all others."""
    told = sorted((c for c in calls if c.answer != "disabled"), key=lambda c: (c.asked_at, c.number))
    odd: list[ToolCall] = []
    why: dict[int, set[str]] = {}
    for at, call in enumerate(told):
        past = [c for c in told[: at + 1] if call.asked_at - c.asked_at < LIMITS.window]
        near = [c for c in past if call.asked_at - c.asked_at < LIMITS.spike_window]
        twins = [c for c in past if call.asked["payment"] and c.asked["payment"] == call.asked["payment"]]
        like = [c for c in twins if c.asked["reference"] == call.asked["reference"]]
        signs = {
            "repeats": sum(c.key == call.key for c in past) >= LIMITS.repeats,
            "twins": len({c.key for c in like}) >= LIMITS.twins
            or len({c.key for c in twins}) >= LIMITS.declared_twins,
            "spike": len({c.key for c in near}) >= LIMITS.spike,
        }
        if any(signs.values()):
            odd.append(call)
            why[call.number] = {name for name, holds in signs.items() if holds}
    if not odd:
        return None
    while any(b.asked_at - a.asked_at > LIMITS.window for a, b in pairwise(odd)):
        odd = odd[1:]
    begin = odd[0].asked_at - LIMITS.window
    end = told.index(odd[-1])
    within = [c for at, c in enumerate(told) if c.asked_at > begin and at <= end]
    again = {c.key for c in odd if "repeats" in why[c.number]}
    doubled = {str(c.asked["payment"]) for c in odd if "twins" in why[c.number]}
    spike = max(
        len({c.key for c in within[: at + 1] if call.asked_at - c.asked_at < LIMITS.spike_window})
        for at, call in enumerate(within)
    )
    spiked = any("spike" in why[c.number] for c in odd)
    mine = [c for c in within if c.key in again or str(c.asked["payment"]) in doubled]
    return (
        odd[0].number,
        odd[-1].number,
        len(within if spiked else mine),
        tuple(sorted(again)),
        tuple(sorted(doubled)),
        spike if spiked else 0,
    )


@given(CALLS)
def test_the_rule_says_what_the_slow_count_says(calls: list[ToolCall]) -> None:
    burst = found(*calls)
    by_time = sorted(calls, key=lambda call: (call.asked_at, call.number))
    last = [call.number for call in by_time if burst is not None and call.asked_at == burst.last_at]

    expected = slowly(calls)
    assert (burst is None) == (expected is None)
    if burst is None or expected is None:
        return
    assert burst.number == expected[0]
    assert expected[1] in last
    assert burst.calls == expected[2]
    assert tuple(sorted(each.key for each in burst.repeated)) == expected[3]
    assert tuple(sorted(each.same["payment"] for each in burst.twins)) == expected[4]
    assert burst.spike == expected[5]


@given(CALLS, st.randoms(use_true_random=False))
def test_the_order_in_which_calls_are_read_changes_nothing(calls: list[ToolCall], chance: object) -> None:
    shuffled = list(calls)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a random.Random

    assert found(*shuffled) == found(*calls)


@given(CALLS)
def test_what_the_switch_answered_changes_nothing(calls: list[ToolCall]) -> None:
    assert found(*calls) == found(*(call for call in calls if call.answer != "disabled"))
