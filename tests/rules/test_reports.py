import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from rich.console import Console

from recon.model.records.results import Counts, Healable, InFlight, Mismatch, Money, Reject, Result
from recon.model.records.words import (
    AccountId,
    Basis,
    Certainty,
    Direction,
    Finding,
    IntentKey,
    Kind,
    RefundId,
    Subject,
    Verdict,
)
from recon.rules import reports

AT = datetime(2026, 3, 6, 17, tzinfo=UTC)
MISMATCH = Mismatch(
    kind=Kind.DUPLICATE,
    certainty=Certainty.PROBABLE,
    account=AccountId(""),
    subject=Subject("intent:k1"),
    at_risk=Money(4900, "usd"),
    since=AT,
    why="49.00 USD went back twice.",
)
COUNTS = Counts(
    intents=2,
    refunds=3,
    matched=1,
    matched_inferred=0,
    declared_repeats=0,
    in_flight=0,
    healable=0,
    system=0,
    withheld=0,
    rejected=0,
    superseded=0,
    unknown_status=0,
    mismatches={Kind.DUPLICATE: 1},
)


def a_result(**fields: Any) -> Result:  # noqa: ANN401 - any field of the record
    ordinary = Result(
        as_of=AT,
        verdict=Verdict.BREAKS,
        counts=COUNTS,
        at_risk={"usd": 4900},
        mismatches=(MISMATCH,),
        in_flight=(),
        healable=(),
        rejected=(),
        withheld=(),
        due=(),
    )
    return replace(ordinary, **fields)


def drawn(result: Result, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO(), highlight=False)
    with console.capture() as capture:
        console.print(reports.as_table(result))
    return capture.get()


def test_every_key_is_there_in_the_contracts_order() -> None:
    document: dict[str, Any] = reports.as_json(a_result())

    assert list(document) == [
        "as_of",
        "verdict",
        "counts",
        "at_risk",
        "mismatches",
        "in_flight",
        "healable",
        "rejected",
    ]
    assert list(document["counts"]) == [
        "intents",
        "refunds",
        "matched",
        "matched_inferred",
        "declared_repeats",
        "in_flight",
        "healable",
        "system",
        "withheld",
        "rejected",
        "superseded",
        "unknown_status",
        "mismatches",
    ]
    assert document["counts"]["mismatches"] == {
        "duplicate": 1,
        "currency_mismatch": 0,
        "amount_mismatch": 0,
        "status_mismatch": 0,
        "refund_failed": 0,
        "missing": 0,
        "stuck": 0,
        "overdue": 0,
        "orphan": 0,
    }


def test_a_mismatch_has_every_field_in_the_contracts_order() -> None:
    document: dict[str, Any] = reports.as_json(a_result())

    assert list(document["mismatches"][0].items()) == list(
        {
            "kind": "duplicate",
            "certainty": "probable",
            "finding": None,
            "subject": "intent:k1",
            "account": "",
            "intent_key": None,
            "order_id": None,
            "customer_id": None,
            "tool": None,
            "team": None,
            "payment": None,
            "refund_ids": [],
            "extra_refund_ids": [],
            "amount_at_risk": 4900,
            "currency": "usd",
            "since": "2026-03-06T17:00:00Z",
            "direction": None,
            "diagnosis": None,
            "why": "49.00 USD went back twice.",
        }.items()
    )


def test_the_other_lists_say_what_the_contract_says() -> None:
    document = reports.as_json(
        a_result(
            in_flight=(InFlight(AccountId("a"), Subject("intent:k2"), Kind.MISSING, AT),),
            healable=(Healable(AccountId("a"), IntentKey("k3"), RefundId("re_3"), Basis.INTENT_KEY),),
            rejected=(Reject("r.csv", 7, None, "id is missing", AccountId("a"), ("k9",)),),
        )
    )

    assert document["in_flight"] == [
        {"subject": "intent:k2", "account": "a", "becomes": "missing", "breaks_at": "2026-03-06T17:00:00Z"}
    ]
    assert document["healable"] == [
        {"account": "a", "intent_key": "k3", "refund_id": "re_3", "basis": "intent_key"}
    ]
    assert document["rejected"] == [{"source": "r.csv", "row": 7, "id": None, "reason": "id is missing"}]


@pytest.mark.parametrize(
    "time, expected",
    [
        (AT, "2026-03-06T17:00:00Z"),
        (AT + timedelta(microseconds=5), "2026-03-06T17:00:00.000005Z"),
        (AT.astimezone(timezone(timedelta(hours=1))), "2026-03-06T17:00:00Z"),
    ],
)
def test_a_time_ends_in_z_and_has_microseconds_only_if_there_are_some(time: datetime, expected: str) -> None:
    assert reports.as_json(a_result(as_of=time))["as_of"] == expected


@pytest.mark.parametrize("mismatches", [(), (MISMATCH,), (MISMATCH, MISMATCH)])
def test_the_json_text_is_the_document(mismatches: tuple[Mismatch, ...]) -> None:
    result = a_result(mismatches=tuple(replace(one, why='"Zoë"\n') for one in mismatches))

    text = reports.json_text(result)

    assert json.loads(text) == reports.as_json(result)
    assert text.endswith("}\n")
    assert text.count("\n") == 10 + (len(mismatches) and len(mismatches) + 1)


def test_the_csv_has_the_jsons_columns_and_quotes_what_it_must() -> None:
    found = replace(
        MISMATCH,
        kind=Kind.AMOUNT_MISMATCH,
        finding=Finding.LANDED,
        direction=Direction.OVER,
        refund_ids=(RefundId("re_1"), RefundId("re_2")),
        why='He said "twice", and\nmeant it.',
    )

    rows = list(csv.DictReader(io.StringIO(reports.as_csv(a_result(mismatches=(found,))))))
    document: dict[str, Any] = reports.as_json(a_result(mismatches=(found,)))
    listed = document["mismatches"][0]

    assert list(rows[0]) == list(listed)
    assert rows[0]["refund_ids"] == "re_1 re_2"
    assert rows[0]["amount_at_risk"] == "4900"
    assert rows[0]["payment"] == ""
    assert rows[0]["why"] == found.why


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_the_csv_is_a_formula(start: str) -> None:
    found = replace(MISMATCH, order_id=f"{start}cmd|' /C calc'!A0")

    (row,) = csv.DictReader(io.StringIO(reports.as_csv(a_result(mismatches=(found,))), newline=""))

    assert row["order_id"] == f"'{start}cmd|' /C calc'!A0"


def test_the_csv_of_nothing_is_its_header() -> None:
    assert reports.as_csv(a_result(mismatches=())).count("\n") == 1


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


def test_a_long_list_is_cut_in_the_table_and_says_so() -> None:
    many = tuple(replace(MISMATCH, subject=Subject(f"intent:k{n:03}")) for n in range(50))

    text = drawn(a_result(mismatches=many))

    assert text.count("intent:k") == reports.SHOWN
    assert "and 30 more" in text


def test_the_table_in_a_file_is_plain() -> None:
    text = reports.table_text(
        a_result(
            in_flight=(InFlight(AccountId(""), Subject("intent:k2"), Kind.REFUND_FAILED, AT),),
            healable=(Healable(AccountId(""), IntentKey("k3"), RefundId("re_3"), Basis.INTENT_KEY),),
        )
    )

    assert "\x1b" not in text
    assert "intent:k3  re_3  by intent_key" in text
    assert "intent:k2  refund failed from 2026-03-06T17:00:00Z" in text
