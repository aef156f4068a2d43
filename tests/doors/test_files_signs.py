import json
from pathlib import Path

import pytest

from recon.doors.files import reading
from recon.model.frames import Intake
from recon.model.mapping import Column, Map, Side, Sign

HEAD = "id,Sum,currency,status,created_at\n"
SAYS = "if that is meant so, a map for --columns says it by"


def read(folder: Path, *rows: tuple[str, str], how: Column | None = None) -> Intake:
    path = folder / "bank.csv"
    lines = (
        f'r{number},"{amount}",{code},succeeded,1772816401' for number, (amount, code) in enumerate(rows)
    )
    path.write_text(HEAD + "\n".join(lines))
    return reading.read_refunds(path, Map(refunds=Side({"amount": how or Column(("Sum",))})))


def signed(**settings: str) -> Column:
    return Column(("Sum",), currency_sign=True, **settings)  # type: ignore[arg-type]


def test_an_amount_with_its_currency_beside_it_is_read_where_the_map_says_so(tmp_path: Path) -> None:
    rows = [("1.049,90 €", "eur"), ("EUR 5,00", "EUR"), ("7,00", "eur"), ("$ 1,50", "cad"), ("¥ 300", "jpy")]
    intake = read(tmp_path, *rows, how=signed(decimal=",", thousands="."))

    assert intake.rejects == ()
    assert intake.frame["amount_minor"].tolist() == [104990, 500, 700, 150, 300]


def test_an_amount_with_another_currency_beside_it_is_rejected_with_both(tmp_path: Path) -> None:
    rows = [("49.90 €", "usd"), ("49.90 €", "eur"), ("$5 EUR", "eur"), ("49.90 items", "eur")]
    intake = read(tmp_path, *rows, how=signed())

    assert intake.frame["id"].tolist() == ["r1"]
    assert [reject.reason.partition("found ")[2] for reject in intake.rejects] == [
        "one with '€' beside it where the currency is usd (line 2)",
        "one with '$' beside it where the currency is eur (line 4)",
        "a text that is no plain number (line 5)",
    ]
    assert "with no other currency than its row's beside it as the map says" in intake.rejects[0].reason


def test_an_amount_with_a_currency_beside_it_is_rejected_with_the_setting_that_reads_it(
    tmp_path: Path,
) -> None:
    intake = read(tmp_path, ("49.90 €", "eur"), ("1.00", "eur"), ("2.00 EUR", "eur"))

    assert intake.frame["id"].tolist() == ["r1"]
    assert [reject.reason.partition("found ")[2] for reject in intake.rejects] == [
        "a number with a currency beside it (line 2)",
        "a number with a currency beside it (line 4)",
    ]
    (note,) = intake.notes
    assert note == (
        "bank.csv: 2 rows rejected for a number with a currency beside it, the first in row 1 (line 2);"
        f" {SAYS} currency_sign = true."
    )


@pytest.mark.parametrize(
    "amount, sign, minor",
    [("-49,90 €", Sign.NEGATIVE, 4990), ("€ -49,90", Sign.EITHER, 4990), ("(49,90 €)", Sign.EITHER, 4990)],
)
def test_a_minus_is_kept_where_a_currency_is_taken_off(
    tmp_path: Path, amount: str, sign: Sign, minor: int
) -> None:
    intake = read(tmp_path, (amount, "eur"), how=signed(decimal=",", sign=sign))

    assert intake.frame["amount_minor"].tolist() == [minor]


def test_numbers_of_a_json_are_read_beside_texts_with_a_currency(tmp_path: Path) -> None:
    row = {"id": "r1", "currency": "eur", "status": "succeeded", "created_at": 1772816401}
    path = tmp_path / "bank.json"
    path.write_text(json.dumps([row | {"Sum": "49.90 €"}, row | {"id": "r2", "Sum": 5.25}]))
    intake = reading.read_refunds(path, Map(refunds=Side({"amount": signed()})))

    assert intake.frame["amount_minor"].tolist() == [4990, 525]


@pytest.mark.parametrize("amount", ["-49,90", "-1.049,90", "(49,90)", "49,90-"])
def test_an_amount_that_only_its_minus_keeps_from_being_one_is_a_negative_number(
    tmp_path: Path, amount: str
) -> None:
    intake = read(tmp_path, (amount, "eur"), how=Column(("Sum",), decimal=",", thousands="."))

    assert intake.rejects[0].reason.endswith("found a negative number (line 2)")
    assert 'sign = "negative"' in intake.notes[0]
