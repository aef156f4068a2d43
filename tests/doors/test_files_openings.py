import json
from pathlib import Path

import pytest

from recon.doors.files import reading, samples
from recon.model.errors import UnusableInput
from recon.model.mapping import Column, Map, Side

TITLED = "Refunds of March;;;\n\nNo;Sum;Cur;Day\n1;49,00;EUR;2026-03-06\n"
SAYS = "line 3 seems to be its header: take away the lines above it"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "shop.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(path: Path, told: Map | None = None) -> str:
    with pytest.raises(UnusableInput) as error:
        reading.read_intents(path, told)
    return str(error.value)


def test_a_title_above_the_header_is_said_wherever_its_columns_are_missed(tmp_path: Path) -> None:
    path = written(tmp_path, TITLED)

    assert SAYS in refused(path)
    assert refused(path, Map(intents=Side({"key": Column(("No",))}))).endswith(f"; {SAYS}.")
    with samples.excerpt(str(path)) as excerpt, pytest.raises(UnusableInput, match=SAYS):
        samples.read(excerpt)


def test_a_first_line_in_another_encoding_is_said_with_what_rewrites_it(tmp_path: Path) -> None:
    path = written(tmp_path, "Nr;Währung\n1;EUR\n".encode("cp1252"))

    assert f"iconv -f WINDOWS-1252 -t UTF-8 {path} > utf8.csv" in refused(path)


def test_rows_in_another_encoding_are_said_once_with_what_rewrites_them(tmp_path: Path) -> None:
    head = "key,amount_minor,currency,status,created_at,team\n"
    rows = [
        f"k{number},4900,eur,done,1772816401,{team}" for number, team in enumerate(("Köln", "Bonn", "Wörth"))
    ]
    path = written(tmp_path, (head + "\n".join(rows)).encode("cp1252"))
    intake = reading.read_intents(path)

    assert len(intake.rejects) == 2
    (note,) = (note for note in intake.notes if "iconv" in note)
    assert note.startswith("shop.csv: rows are rejected that are no UTF-8; if a program of Windows wrote it")


def test_the_provider_s_own_objects_need_no_map_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "bank.json"
    path.write_text(
        json.dumps([{"object": "refund", "id": "re_1", "amount": 1, "currency": "usd", "created": 1}])
    )
    told = Map(refunds=Side({"charge": Column(("Charge ID",))}))

    with pytest.raises(UnusableInput, match=r"own objects, which need no \[refunds\]\.$"):
        reading.read_refunds(path, told)
