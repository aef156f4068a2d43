from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.model import mapping_toml, samples
from recon.model.mapping import Sign
from recon.model.records.maps import Proposal, Stated
from recon.model.samples import Sample
from recon.rules.mapping import proposing, writing

Row = Mapping[str, object]
OWN: Row = {
    "key": "k1",
    "payment": "pi_1",
    "amount_minor": "4900",
    "currency": "usd",
    "status": "done",
    "created_at": "2026-03-06T17:00:00Z",
}
SHOP: Row = {
    "idempotency_key": "k1",
    "total": "49.00",
    "currency": "EUR",
    "state": "Refunded",
    "date": "2026-03-06 17:00:00",
}


def sample(*rows: Row) -> Sample:
    return samples.of("shop.csv", rows)


def lines(proposal: Proposal) -> dict[str, str]:
    return {line.ours: mapping_toml.written_column(line.ours, line.told) for line in proposal.lines}


def asked(proposal: Proposal) -> list[str]:
    return [question.about for question in proposal.questions]


def test_our_own_headers_need_no_line() -> None:
    proposal = proposing.propose(sample(OWN))

    assert proposal.side == "intents"
    assert proposal.questions == ()
    assert all(line.plain for line in proposal.lines)
    assert set(lines(proposal)) == set(OWN)


@pytest.mark.parametrize(
    "change, line",
    [
        ({}, 'amount = "total"'),
        ({"total": "-49.00"}, 'amount = { column = "total", sign = "negative" }'),
        ({"total": "1.049,00"}, 'amount = { column = "total", decimal = ",", thousands = "." }'),
    ],
)
def test_amounts_with_decimals_are_major_and_written_as_they_are(change: Row, line: str) -> None:
    assert lines(proposing.propose(sample({**SHOP, **change})))["amount"] == line


def test_amounts_without_decimals_are_a_question_whatever_they_are_called() -> None:
    for name in ("total", "amount"):
        row = {**{key: value for key, value in SHOP.items() if key != "total"}, name: "4900"}
        proposal = proposing.propose(sample(row))

        assert "amount" in asked(proposal)
        assert not {"amount", "amount_minor"} & set(lines(proposal))


@pytest.mark.parametrize(
    "header", ["Erstattungsbetrag (brutto)", "Betrag (EUR)", "Rückerstattung", "Erstattungsbetrag"]
)
def test_amounts_are_known_by_their_german_names(header: str) -> None:
    row = {key: value for key, value in SHOP.items() if key != "total"}
    proposal = proposing.propose(sample({**row, header: "1.049,00"}))

    assert lines(proposal)["amount"] == (
        f'amount = {{ column = "{header}", decimal = ",", thousands = "." }}'
    )


@pytest.mark.parametrize(
    "header", ["Bestellung", "Bestellnummer", "Bestell-Nr.", "Auftragsnummer", "Order number"]
)
def test_an_order_is_known_by_its_german_names_too(header: str) -> None:
    assert lines(proposing.propose(sample({**SHOP, header: "B880000"})))["order_id"].startswith("order_id = ")


@pytest.mark.parametrize(
    "cell, unit, answers",
    [
        ("1.049,00", None, ['amount = { column = "Geld", decimal = ",", thousands = "." }']),
        ("4900", None, ['amount_minor = "Geld"', 'amount = "Geld"']),
        ("4900", "major", ['amount = "Geld"']),
        ("4900", "minor", ['amount_minor = "Geld"']),
        (
            "1.049",
            "major",
            ['amount = "Geld"', 'amount = { column = "Geld", decimal = ",", thousands = "." }'],
        ),
    ],
)
def test_a_column_that_could_be_the_amount_is_offered_as_it_is_written_and_in_the_unit_that_is_said(
    cell: str, unit: str | None, answers: list[str]
) -> None:
    row = {key: value for key, value in SHOP.items() if key != "total"}
    proposal = proposing.propose(sample({**row, "Geld": cell}), stated=Stated(unit=unit))
    (question,) = (each for each in proposal.questions if each.about == "amount")

    assert [writing.answer(choice) for choice in question.choices] == answers


def test_a_name_says_the_unit_unless_the_cells_speak_against_it() -> None:
    row = {key: value for key, value in SHOP.items() if key != "total"}
    by_name = proposing.propose(sample({**row, "refundAmountCents": "4900"}))
    against = proposing.propose(sample({**row, "refundAmountCents": "49.50"}))

    assert lines(by_name)["amount_minor"] == 'amount_minor = "refundAmountCents"'
    assert "amount" in asked(against)


def test_amounts_of_both_signs_are_a_doubt_and_no_sign_is_proposed() -> None:
    proposal = proposing.propose(sample(SHOP, {**SHOP, "idempotency_key": "k2", "total": "-5.00"}))

    (line,) = (line for line in proposal.lines if line.ours == "amount")
    assert line.told.sign is Sign.POSITIVE
    assert line.doubts[0].startswith("1 of 2 are below zero")


@pytest.mark.parametrize(
    "change, stated, zone, questions",
    [
        ({}, Stated(), "", ["zone"]),
        ({}, Stated(zone="Europe/Paris"), "Europe/Paris", []),
        ({"date": "2026-03-06 17:00:00Z"}, Stated(), "", []),
        ({"date": "2026-03-06 17:00:00Z"}, Stated(zone="Europe/Paris"), "Europe/Paris", []),
    ],
)
def test_times_without_a_zone_are_a_question_unless_one_is_stated(
    change: Row, stated: Stated, zone: str, questions: list[str]
) -> None:
    proposal = proposing.propose(sample({**SHOP, **change}), stated=stated)

    assert (proposal.zone, asked(proposal)) == (zone, questions)


def test_a_name_that_says_utc_is_a_zone() -> None:
    row = {key: value for key, value in SHOP.items() if key != "date"}
    proposal = proposing.propose(sample({**row, "Created (UTC)": "2026-03-06 17:00"}))

    assert lines(proposal)["created_at"] == 'created_at = { column = "Created (UTC)", zone = "UTC" }'
    assert asked(proposal) == []


def test_times_by_a_pattern_stand_in_no_line_before_their_zone_is_said() -> None:
    proposal = proposing.propose(sample({**SHOP, "date": "31.03.2026 17:00"}))

    (question,) = proposal.questions
    assert "created_at" not in lines(proposal)
    assert "created_at" not in writing.text(proposal, sample(SHOP)).partition("Nothing was found for")[2]
    assert (
        writing.answer(question.choices[0])
        == 'created_at = { column = "date", format = "%d.%m.%Y %H:%M", zone = "UTC" }'
    )


def test_a_currency_that_no_column_holds_is_a_question_unless_a_name_or_the_person_says_it() -> None:
    row = {key: value for key, value in SHOP.items() if key not in {"currency", "total"}}

    assert "currency" in asked(proposing.propose(sample({**row, "total": "1.50"})))
    assert lines(proposing.propose(sample({**row, "total_usd": "1.50"})))["currency"] == (
        'currency = { constant = "usd" }'
    )
    stated = proposing.propose(sample({**row, "total": "1.50"}), stated=Stated(currency="eur"))
    assert lines(stated)["currency"] == 'currency = { constant = "eur" }'


def test_no_status_is_a_question_and_never_taken_as_done() -> None:
    proposal = proposing.propose(sample({key: value for key, value in SHOP.items() if key != "state"}))

    assert "status" in asked(proposal)
    assert "status" not in lines(proposal)


def test_words_that_are_open_are_one_line_to_edit_with_a_guess_for_those_that_are_known() -> None:
    rows = [
        {**SHOP, "idempotency_key": word, "state": word} for word in ("Erstattet", "Kulanz", "done", "Offen")
    ]
    (question,) = (each for each in proposing.propose(sample(*rows)).questions if each.about == "status")

    (choice,) = question.choices
    assert writing.answer(choice) == (
        'status = { column = "state", words = { "Erstattet" = "done", "Offen" = "pending",'
        ' "Kulanz" = "pending_unknown" } }'
    )
    assert "'Kulanz' (1)?" in question.text
    assert "pending: decided, not known to be sent; pending_unknown: sent, nobody knows" in question.text


def test_a_key_that_repeats_stands_behind_one_that_does_not() -> None:
    rows = [{**SHOP, "refund_key": "same", "id": number} for number in (1, 2)]
    keyless = [{key: value for key, value in row.items() if key != "idempotency_key"} for row in rows]

    assert lines(proposing.propose(sample(*keyless)))["key"] == 'key = "id"'


@pytest.mark.parametrize(
    "rows, side, sure",
    [
        ([{"id": "re_1", "amount": "1.00"}], "refunds", True),
        ([{"id": "7", "stripe_refund": "re_1"}], "intents", True),
        ([{"refund": "re_1"}, {"refund": None, "order": "1"}], "intents", True),
        ([{"idempotency_key": "k1"}], "intents", True),
        ([{"id": "re_1", "_fivetran_synced": "x"}], "refunds", True),
        ([{"id": "7", "amount": "1.00"}], "intents", False),
        ([{"id": "7", "agent": "Ann"}], "intents", False),
    ],
)
def test_the_side_is_guessed_by_whose_ids_are_where(rows: list[Row], side: str, *, sure: bool) -> None:
    proposal = proposing.propose(sample(*rows))

    assert proposal.side == side
    assert ("side" not in asked(proposal)) is sure


def test_a_payment_of_somebody_s_own_is_left_out_with_a_reason() -> None:
    proposal = proposing.propose(sample({**SHOP, "payment_id": "17"}))

    assert "payment" not in lines(proposal)
    assert proposal.doubts[0].startswith("payment_id is left out")


@pytest.mark.parametrize("account, doubts", [("Ann's", 1), ("acct_1", 0), (None, 0)])
def test_an_account_that_is_none_of_the_provider_s_is_a_doubt(account: str | None, doubts: int) -> None:
    proposal = proposing.propose(sample({**OWN, "account": account, "order_id": "8812"}))

    assert sum(len(line.doubts) for line in proposal.lines if line.ours == "account") == doubts


def test_a_payment_and_a_charge_are_two_candidates_for_one_column() -> None:
    rows = [{**SHOP, "charge": "ch_1", "intent": "pi_1"}]

    assert lines(proposing.propose(sample(*rows)))["payment"] == 'payment = ["intent", "charge"]'


@pytest.mark.parametrize(
    "row, untied",
    [
        ({"refund_no": "1", "total": "49.00"}, True),
        ({"refund_no": "1", "total": "49.00", "paid": "pi_1"}, False),
        ({"refund_no": "1", "total": "49.00", "sent": "re_1"}, False),
        ({"idempotency_key": "1", "total": "49.00"}, False),
        ({"id": "re_1", "amount": "49.00"}, True),
        ({"id": "re_1", "amount": "49.00", "charge": "ch_1"}, False),
        ({"id": "re_1", "amount": "49.00", "metadata": '{"refund_key": "k1"}'}, False),
    ],
)
def test_a_side_that_nothing_ties_to_the_other_is_a_doubt(row: Row, *, untied: bool) -> None:
    proposal = proposing.propose(sample(row))

    assert proposal.untied is untied
    assert any(doubt.startswith("Nothing here says") for doubt in proposal.doubts) is untied


def test_what_stands_where_there_is_nothing_is_said_once_for_all_columns() -> None:
    rows = [{**SHOP, "order_id": "NULL"}, {**SHOP, "idempotency_key": "k2", "order_id": "8812"}]
    proposal = proposing.propose(sample(*rows))

    assert proposal.empty == ("NULL",)


@pytest.mark.parametrize(
    "closing, where",
    [
        (
            {"idempotency_key": "Summe", "total": "98.00"},
            'where = [{ column = "idempotency_key", is_not = "Summe" }]',
        ),
        (
            {"idempotency_key": "Grand total:"},
            'where = [{ column = "idempotency_key", is_not = "Grand total:" }]',
        ),
        ({**SHOP, "idempotency_key": "Summe"}, ""),
        ({"idempotency_key": "k2", "total": "98.00"}, ""),
    ],
)
def test_a_closing_line_with_the_total_is_left_out_by_a_filter_and_said(closing: Row, where: str) -> None:
    found = sample(SHOP, {**dict.fromkeys(SHOP, ""), **closing})
    proposal = proposing.propose(found)

    assert where in writing.text(proposal, found)
    assert bool(proposal.filters) is bool(where)
    assert any("left out as totals" in doubt for doubt in proposal.doubts) is bool(where)


NAMES = st.one_of(
    st.sampled_from(["id", "key", "amount", "total", "status", "date", "currency", "metadata", "a.b"]),
    st.text(max_size=12),
)
CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=12),
    st.sampled_from(
        ["re_1", "pi_1", "49.00", "1,234", "03/04/2026", "2026-03-06 17:00", "usd", '{"x.y": "re_1"}']
    ),
)


@given(
    st.lists(st.dictionaries(NAMES, CELLS, max_size=8), max_size=4),
    st.sampled_from([None, "intents", "refunds"]),
)
def test_whatever_a_file_holds_its_map_can_be_read_as_it_is_written(
    rows: list[dict[str, object]], side: str | None
) -> None:
    found = samples.of("x\n[refunds]\nkey = 1", rows)
    proposal = proposing.propose(found, side=side)
    told = mapping_toml.read(writing.text(proposal, found), file="map.toml").side(proposal.side)

    assert dict(told.columns) == {line.ours: line.told for line in proposal.lines if not line.plain}
    assert (told.zone, told.empty) == (proposal.zone, proposal.empty)
