import io
from dataclasses import replace

from rich.console import Console

from recon.model.records.reports import Total
from recon.model.records.results import Healable, InFlight, Money, Reject, Result
from recon.model.records.words import (
    AccountId,
    Basis,
    IntentKey,
    Kind,
    RefundId,
    Subject,
    Verdict,
)
from recon.rules.reports import screens
from tests.rules.reports.results import AT, BRIDGE, MISMATCH, a_report, a_result


def drawn(result: Result, width: int = 80, **fields: object) -> str:
    console = Console(width=width, file=io.StringIO(), highlight=False)
    with console.capture() as capture:
        console.print(screens.as_table(a_report(result, **fields)))
    return capture.get()


def test_the_table_says_rejects_first_then_verdict_money_and_why() -> None:
    text = drawn(
        a_result(
            at_risk={"jpy": 500, "usd": 4900},
            rejected=(Reject("r.csv", 7, "re_7", "currency is missing"),),
            incomplete=("not every refund was read",),
            verdict=Verdict.INCOMPLETE,
        )
    )

    positions = [
        text.index(part)
        for part in (
            "Rejected rows: 1, not judged",
            "r.csv row 7 (re_7): currency is missing",
            "incomplete as of 2026-03-06T17:00:00Z",
            "not every refund was read",
            "2 intents, 3 refunds, 1 matched, 1 mismatch",
            "500 JPY",
            "49.00 USD",
            "duplicate: 1, probable",
            "intent:k1  49.00 USD  probable",
            "49.00 USD went back twice.",
        )
    ]
    assert positions == sorted(positions)


def test_the_table_fits_eighty_columns_and_carries_no_escape_codes_when_piped() -> None:
    long = replace(MISMATCH, subject=Subject("intent:" + "k" * 90), why="why " * 60)

    lines = drawn(a_result(mismatches=(long,))).splitlines()

    assert max(map(len, lines)) <= 80
    assert "\x1b" not in "".join(lines)


def test_text_of_a_file_cannot_speak_to_the_terminal() -> None:
    sly = replace(MISMATCH, order_id="[red]o\x1b[2J", why="\x1b]0;title\x07 bell")

    text = drawn(a_result(mismatches=(sly,)))

    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[red]o" in text


def test_a_trade_word_is_followed_by_what_it_means() -> None:
    assert "breaks: mismatches found, as of 2026-03-06T17:00:00Z" in drawn(a_result())


def test_a_long_list_is_cut_in_the_table_and_says_so() -> None:
    many = tuple(replace(MISMATCH, subject=Subject(f"intent:k{n:03}")) for n in range(50))

    text = drawn(a_result(mismatches=many))

    assert text.count("intent:k") == screens.SHOWN
    assert "and 30 more" in text


def test_many_rejects_of_one_cause_are_one_line_and_hide_no_other() -> None:
    rejected = [Reject("r.csv", row, None, "currency is missing") for row in range(1, 302)]
    rejected += [Reject("r.csv", row, None, f"cause {row}") for row in range(302, 325)]

    text = drawn(a_result(rejected=tuple(rejected)))

    assert "Rejected rows: 324, not judged\n  r.csv rows 1, 2, 3 and 298 more: currency is missing\n" in text
    assert text.count("cause ") == screens.SHOWN - 1
    assert "and 4 more; --format json lists all" in text


def test_the_table_in_a_file_is_plain() -> None:
    text = screens.table_text(
        a_report(
            a_result(
                in_flight=(InFlight(AccountId(""), Subject("intent:k2"), Kind.REFUND_FAILED, AT),),
                healable=(Healable(AccountId(""), IntentKey("k3"), RefundId("re_3"), Basis.INTENT_KEY),),
            )
        )
    )

    assert "\x1b" not in text
    assert "intent:k3  re_3  by intent_key" in text
    assert "intent:k2  refund failed from 2026-03-06T17:00:00Z" in text


def test_what_is_withheld_is_counted_by_why_with_the_first_few() -> None:
    pairs = tuple((AccountId(""), Subject(f"intent:{n}")) for n in range(7))
    stray = (AccountId("acct_1"), Subject("refund:\x1bre"))
    why = dict.fromkeys(pairs, "not all refunds were read") | {stray: "a row was rejected"}

    text = drawn(a_result(withheld=(*pairs, stray)), why_withheld=why)

    assert "withheld: 8, not judged\n" in text
    assert "\n  1: a row was rejected\n    refund:\ufffdre  account acct_1\n" in text
    assert "\n  7: not all refunds were read\n    intent:0\n" in text
    assert "intent:4\n  and 2 more; --format xlsx lists all\n" in text
    assert "\x1b" not in text


def test_the_money_of_each_side_is_told_per_currency_and_status() -> None:
    totals = (
        Total("intents", "pending_unknown", 1_200, Money(123_400, "usd")),
        Total("intents", "together", 1_200, Money(123_400, "usd"), is_sum=True),
        Total("refunds", "together", 2, Money(7, "jpy"), is_sum=True),
    )

    told = [line.split("  ") for line in drawn(a_result(), totals=totals).splitlines()[-4:]]

    assert [[part.strip() for part in line if part] for line in told] == [
        ["Control totals: the rows that were compared"],
        ["intents pending unknown", "1,200", "1,234.00 USD"],
        ["intents together", "1,200", "1,234.00 USD"],
        ["refunds together", "2", "7 JPY"],
    ]


def test_the_bridge_is_told_line_by_line_with_a_gap_between_currencies() -> None:
    yen = replace(BRIDGE[0], amount=Money(0, "jpy"))
    result = a_result(rejected=(Reject("r.csv", 1, None, "odd"),))

    told = [line.split("  ") for line in drawn(result, bridge=(*BRIDGE, yen)).splitlines()[-8:]]

    assert [[part.strip() for part in line if part.strip()] for line in told] == [
        ["From our records to what went back"],
        ["marked done", "2 intents", "70.00 USD"],
        ["refunded twice", "1 intent", "+49.00 USD"],
        ["refund missing", "1 intent", "-21.00 USD"],
        ["live refunds", "2 refunds", "98.00 USD"],
        [],
        ["marked done", "2 intents", "0 JPY"],
        ["1 rejected row is in none of these sums: what cannot be read has no amount."],
    ]


def test_what_is_matched_by_inference_is_said_with_what_that_is() -> None:
    counts = replace(a_result().counts, matched_inferred=91)

    text = " ".join(drawn(a_result(counts=counts)).split())

    assert ("91 matched by inference only (same payment and amount, close in time, but no key or id)") in text
    assert "inference" not in drawn(a_result(counts=replace(counts, matched_inferred=0)))
