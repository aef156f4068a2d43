import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recon.cli.main import main
from recon.doors import config
from recon.doors.files import maps, reading
from recon.model.records.maps import Preset
from tests.config.shops import REFUNDS, SHOPS, Rows

Recon = Callable[..., tuple[int, dict[str, Any]]]
FOLDER = config.shipped("maps")
NAMES = [each.name for each in maps.presets(FOLDER)]
# Shops whose tables keep the provider's id of a refund; the others' links are inferred.
STRONG = {"lago", "polar", "pretix", "saleor", "spree", "woocommerce"}


def written(shop: str, rows: Rows) -> str:
    """Write a shop's refunds as it exports them."""
    if shop == "woocommerce":
        Path("shop.json").write_text(json.dumps(rows))
        return "shop.json"
    page = io.StringIO()
    table = csv.DictWriter(page, rows[0])
    table.writeheader()
    table.writerows(rows)
    Path("shop.csv").write_text(page.getvalue())
    return "shop.csv"


@pytest.fixture
def recon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Recon:
    """Run the command in this process, in a folder of its own, and return its code and its document."""
    monkeypatch.chdir(tmp_path)
    Path("refunds.json").write_text(json.dumps(REFUNDS))

    def run(*arguments: str) -> tuple[int, dict[str, Any]]:
        monkeypatch.setattr(sys, "argv", ["recon", *arguments, "--format", "json"])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr().out
        return int(ended.value.code or 0), json.loads(printed) if printed else {}

    return run


@pytest.mark.parametrize("shop", SHOPS)
def test_a_shop_s_table_is_recognised_and_its_map_finds_what_disagrees(recon: Recon, shop: str) -> None:
    file = written(shop, SHOPS[shop])
    said = ("--currency", "usd") if shop == "woocommerce" else ()
    code, proposed = recon("map", file, *said, "--output", "map.toml")
    ended, found = recon(
        "diff", file, "refunds.json", "--columns", "map.toml", "--as-of", "2026-03-07T00:00:00Z"
    )

    assert (code, proposed["preset"], proposed["side"]) == (0, shop, "intents")
    assert ended == 1
    assert [(each["kind"], each["amount_at_risk"], each["currency"]) for each in found["mismatches"]] == [
        ("missing", 500, "usd"),
        ("orphan", 900, "usd"),
    ]
    assert found["counts"]["matched_inferred"] == (shop not in STRONG)
    assert found["counts"]["rejected"] == 0


@pytest.mark.parametrize("shop", sorted(set(SHOPS) - {"woocommerce"}))
def test_a_preset_alone_reads_its_shop_s_table_as_the_proposed_map_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shop: str
) -> None:
    monkeypatch.chdir(tmp_path)
    intake = reading.read_intents(written(shop, SHOPS[shop]), maps.named(FOLDER, shop).told)

    assert intake.frame["amount_minor"].tolist() == [4900, 500]
    assert intake.frame["currency"].tolist() == ["usd", "usd"]
    assert intake.frame["status"].tolist() == ["done", "done"]
    assert intake.frame["payment"].str[:2].isin(["pi", "ch"]).all()
    assert intake.frame["payment"].str[2:].tolist() == ["_1", "_2"]
    assert [str(at)[:16] for at in intake.frame["created_at"]] == ["2026-03-06 17:00", "2026-03-06 18:00"]
    assert (intake.rejects, intake.left_out) == ((), {"medusa": 1, "saleor": 1}.get(shop, 0))


def test_a_credit_note_s_id_in_the_provider_s_metadata_is_the_key_of_a_lago_refund(tmp_path: Path) -> None:
    path = tmp_path / "refunds.json"
    path.write_text(json.dumps(REFUNDS))
    frame = reading.read_refunds(path, maps.named(FOLDER, "lago").told).frame

    assert frame["intent_key"].fillna("").tolist() == ["note-1", ""]


def test_a_report_of_the_balance_is_read_for_the_refunds_in_it(recon: Recon) -> None:
    Path("balance.csv").write_text(
        "balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,charge_id,"
        "payment_intent_id\n"
        "txn_1,2026-03-06 17:00:00,usd,-49.00,0.00,-49.00,refund,re_1,ch_1,pi_1\n"
        "txn_2,2026-03-06 16:00:00,usd,49.00,1.72,47.28,charge,ch_1,ch_1,pi_1\n"
    )
    code, proposed = recon("map", "balance.csv")

    assert (code, proposed["side"], proposed["preset"]) == (0, "refunds", "stripe-balance")
    assert proposed["trial"]["standing"] == 1
    assert proposed["trial"]["rows"][0]["before"]["amount"] == "-49.00"
    assert proposed["trial"]["rows"][0]["after"]["amount_minor"] == "49.00 USD"


def test_what_a_preset_reads_and_a_file_lacks_is_a_doubt_that_says_how_to_get_it(recon: Recon) -> None:
    rows = [{name: cell for name, cell in row.items() if name != "payment_intent"} for row in SHOPS["medusa"]]
    _, proposed = recon("map", written("medusa", rows))

    assert len(proposed["doubts"]) == 1
    assert proposed["doubts"][0].startswith("payment: the preset medusa reads payment_intent")
    assert "recon map --preset medusa" in proposed["doubts"][0]


def test_a_word_that_a_preset_does_not_know_is_a_question(recon: Recon) -> None:
    rows = [dict(row) for row in SHOPS["vendure"]]
    rows[1]["state"] = "Waived"
    code, proposed = recon("map", written("vendure", rows))

    (decision,) = proposed["decisions"]
    assert code == 1
    assert decision["about"] == "status"
    assert "'Waived' (1)" in decision["question"]
    assert decision["answers"][0]["line"].startswith('status = { column = "state"')
    assert '"Waived" = "pending_unknown"' in decision["answers"][0]["line"]
    assert '"Settled" = "done"' in decision["answers"][0]["line"]


@pytest.mark.parametrize("preset", maps.presets(FOLDER), ids=NAMES)
def test_a_preset_says_what_it_is_of_how_to_get_it_and_where_its_words_come_from(preset: Preset) -> None:
    assert len(preset.title) > len(preset.name)
    assert preset.get.endswith(".")
    assert preset.source
    assert len(preset.known_by) > 2
    assert max(map(len, preset.text.split("\n"))) <= 110


def test_every_shop_has_a_preset_and_no_table_is_known_by_two() -> None:
    known = {each.name: each.known_by for each in maps.presets(FOLDER)}
    fitting = {shop: [name for name in known if known[name] <= set(rows[0])] for shop, rows in SHOPS.items()}

    assert set(known) - set(SHOPS) == {"stripe-balance"}
    assert fitting == {shop: [shop] for shop in SHOPS}
