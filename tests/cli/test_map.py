import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recon.cli.main import main
from recon.doors.files import reading

SHOP = """refund_no,order_no,made,total,curr,state,pi
R-1,8812,2026-03-06 17:00:00,49.00,EUR,Refunded,pi_1
R-2,8813,2026-03-06 18:00:00,5.50,EUR,Queued,pi_2
R-3,8814,2026-03-06 19:00:00,7.00,EUR,Refunded,pi_3
"""


@dataclass(frozen=True)
class Run:
    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.stdout)
        return found


Recon = Callable[..., Run]


@pytest.fixture
def recon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Recon:
    """Run the command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("shop.csv").write_text(SHOP)

    def run(*arguments: str) -> Run:
        monkeypatch.setattr(sys, "argv", ["recon", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        printed = capsys.readouterr()
        return Run(code if isinstance(code, int) else 0, printed.out, printed.err)

    return run


def about(decisions: Sequence[dict[str, Any]]) -> list[str]:
    return [each["about"] for each in decisions]


def test_an_export_is_mapped_but_for_what_only_a_person_can_say(recon: Recon) -> None:
    run = recon("map", "shop.csv", "--format", "json")

    told = {each["ours"]: each["line"] for each in run.document["columns"]}
    assert run.code == 1
    assert about(run.document["decisions"]) == ["side", "zone"]
    assert told["key"] == 'key = "refund_no"'
    assert told["amount"] == 'amount = "total"'
    assert told["currency"] == 'currency = "curr"'
    assert told["payment"] == 'payment = "pi"'
    assert told["order_id"] == 'order_id = "order_no"'
    assert told["status"] == (
        'status = { column = "state", words = { "Refunded" = "done", "Queued" = "pending" } }'
    )
    assert run.document["statuses"][0] == {"theirs": "Refunded", "rows": 2, "ours": "done"}


def test_what_a_person_states_beforehand_leaves_nothing_open_and_the_map_reads_the_file(recon: Recon) -> None:
    run = recon("map", "shop.csv", "--side", "intents", "--zone", "Europe/Berlin", "--output", "map.toml")

    frame = reading.read_intents("shop.csv", reading.read_mapping(Path("map.toml"))).frame
    assert run.code == 0, run.stderr
    assert frame["amount_minor"].tolist() == [4900, 550, 700]
    assert frame["status"].tolist() == ["done", "pending", "done"]
    assert frame["created_at"].iloc[0].isoformat() == "2026-03-06T16:00:00+00:00"


def test_whole_numbers_are_a_question_whose_answers_stand_in_the_map_as_comments(recon: Recon) -> None:
    Path("shop.csv").write_text(SHOP.replace("49.00", "4900").replace("5.50", "550").replace("7.00", "700"))
    run = recon("map", "shop.csv", "--side", "intents", "--zone", "UTC", "--format", "toml")

    assert run.code == 1
    assert '\n# amount_minor = "total"  # 4900 is 49.00: minor units\n' in run.stdout
    assert '\n# amount = "total"  # 4900 is 4900.00: major units\n' in run.stdout
    assert "\namount" not in run.stdout


def test_the_unit_of_whole_numbers_can_be_stated(recon: Recon) -> None:
    Path("shop.csv").write_text(SHOP.replace("49.00", "4900").replace("5.50", "550").replace("7.00", "700"))
    known = ("--side", "intents", "--zone", "UTC")
    minor = recon("map", "shop.csv", *known, "--unit", "minor", "--format", "json")
    major = recon("map", "shop.csv", *known, "--unit", "major", "--format", "json")

    assert (minor.code, major.code) == (0, 0)
    assert minor.document["trial"]["rows"][0]["after"]["amount_minor"] == "49.00 EUR"
    assert minor.document["trial"]["rows"][1]["before"]["amount_minor"] == "550"
    assert minor.document["trial"]["rows"][1]["after"]["amount_minor"] == "5.50 EUR"
    assert major.document["trial"]["rows"][0]["after"]["amount_minor"] == "4,900.00 EUR"


def test_the_first_rows_are_shown_as_they_are_and_as_they_are_read(recon: Recon) -> None:
    run = recon("map", "shop.csv", "--side", "intents", "--zone", "UTC")

    assert "3 fit to be judged, 0 rejected" in run.stdout
    assert "key R-1, amount 49.00 -> 49.00 EUR, status Refunded -> done" in run.stdout


def test_rows_that_would_be_rejected_are_counted_with_the_reason(recon: Recon) -> None:
    Path("shop.csv").write_text(SHOP + "R-4,8815,yesterday,1.00,EUR,Refunded,pi_4\n")
    run = recon("map", "shop.csv", "--side", "intents", "--zone", "UTC", "--format", "json")

    assert run.code == 1
    assert run.document["trial"]["rejected"] == 1
    assert "yesterday" in run.document["trial"]["reasons"][0]["reason"]


def test_a_second_side_is_added_to_a_map_and_none_is_written_over(recon: Recon) -> None:
    Path("theirs.csv").write_text(
        "id,charge,amount,currency,created,status,object\nre_1,ch_1,4900,eur,1772816400,succeeded,refund\n"
    )
    recon("map", "shop.csv", "--side", "intents", "--zone", "UTC", "--output", "map.toml")
    added = recon("map", "theirs.csv", "--output", "map.toml")
    kept = Path("map.toml").read_text()
    again = recon("map", "theirs.csv", "--output", "map.toml")
    said = recon("map", "theirs.csv", "--side", "refunds", "--output", "map.toml")

    assert added.code == 0
    assert kept.startswith("# shop.csv as intents")
    assert "\n[refunds]\n" in kept
    assert again.code == 2
    assert "has [refunds] already" in again.stderr
    assert "take [refunds] out of it first, or say --side" in " ".join(again.stderr.split())
    assert said.code == 2
    assert "--side" not in said.stderr
    assert Path("map.toml").read_text() == kept
    assert reading.read_mapping(Path("map.toml")).intents.columns["key"].sources == ("refund_no",)


def test_the_provider_s_own_objects_need_no_map(recon: Recon) -> None:
    refund = {"id": "re_1", "object": "refund", "amount": 100, "currency": "usd", "created": 1772816400}
    Path("refunds.json").write_text(json.dumps({"object": "list", "data": [refund | {"charge": "ch_1"}]}))
    run = recon("map", "refunds.json")

    assert run.code == 0
    assert "refunds; looked at 1 row" in run.stdout
    assert "No map is needed" in run.stdout


def test_an_export_of_payments_is_refused_with_what_it_is(recon: Recon) -> None:
    Path("payments.csv").write_text("id,Amount,Amount Refunded,PaymentIntent ID\nch_1,1.00,1.00,pi_1\n")
    run = recon("map", "payments.csv")

    assert run.code == 2
    assert "export of payments" in run.stderr


@pytest.mark.parametrize(
    "wrong", [("--currency", "euro"), ("--zone", "Berlin"), ("--preset", "nobody")], ids=lambda one: one[0]
)
def test_what_is_stated_wrongly_is_refused_before_anything_is_read(
    recon: Recon, wrong: tuple[str, str]
) -> None:
    run = recon("map", "missing.csv", *wrong)

    assert run.code == 2
    assert wrong[0] in run.stderr
    assert wrong[1] in run.stderr


def test_a_key_in_the_metadata_of_the_provider_s_objects_is_proposed(recon: Recon) -> None:
    refund = {"id": "re_1", "object": "refund", "amount": 100, "currency": "usd", "created": 1772816400}
    Path("refunds.json").write_text(json.dumps([refund | {"metadata": {"refund_key": "k1"}}]))
    run = recon("map", "refunds.json", "--output", "map.toml")
    frame = reading.read_refunds("refunds.json", reading.read_mapping(Path("map.toml"))).frame

    assert run.code == 0
    assert frame["intent_key"].tolist() == ["k1"]


def test_two_unknown_exports_and_one_map_lead_to_the_answer(recon: Recon) -> None:
    Path("psp.csv").write_text(
        "Refund,Payment Intent,Refunded (UTC),Amount (cents),Currency,State\n"
        "re_1,pi_1,06.03.2026 16:00:02,4900,EUR,COMPLETED\n"
        "re_2,pi_2,06.03.2026 17:00:02,550,EUR,COMPLETED\n"
        "re_3,pi_2,06.03.2026 17:00:04,550,EUR,COMPLETED\n"
    )
    ours = recon("map", "shop.csv", "--side", "intents", "--zone", "Europe/Berlin", "--output", "map.toml")
    theirs = recon("map", "psp.csv", "--output", "map.toml")
    answer = recon(
        "diff", "shop.csv", "psp.csv", "--columns", "map.toml", "--format", "json",
        "--as-of", "2026-03-07T00:00:00Z",
    )  # fmt: skip

    found = {each["subject"]: each["kind"] for each in answer.document["mismatches"]}
    assert (ours.code, theirs.code, answer.code) == (0, 0, 1), theirs.stdout
    assert found == {"intent:R-3": "missing", "refund:re_3": "duplicate", "intent:R-2": "stuck"}
    assert answer.document["counts"]["matched"] == 1


def test_what_a_doubt_about_accounts_proposes_is_understood(recon: Recon) -> None:
    Path("own.csv").write_text(
        "key,account,amount_minor,currency,status,created_at\nk1,Ann's,4900,usd,done,2026-03-06T17:00:00Z\n"
    )
    Path("map.toml").write_text('[intents]\naccount = { constant = "" }\n')
    run = recon("map", "own.csv")

    assert 'account = { constant = "" }' in run.stdout
    assert reading.read_intents("own.csv").frame["account"].tolist() == ["Ann's"]
    told = reading.read_mapping(Path("map.toml"))
    assert reading.read_intents("own.csv", told).frame["account"].tolist() == [""]


def test_a_preset_is_printed_with_its_query_or_written(recon: Recon) -> None:
    printed = recon("map", "--preset", "spree")
    kept = recon("map", "--preset", "spree", "--output", "spree.toml")

    assert (printed.code, kept.code) == (0, 0)
    assert "FROM spree_refunds" in printed.stdout
    assert Path("spree.toml").read_text() == printed.stdout


def test_a_preset_is_added_to_a_person_s_map_and_never_written_over_it(recon: Recon) -> None:
    own = '# Mine.\n[refunds]\nid = "refund"\n'
    Path("map.toml").write_text(own)
    added = recon("map", "--preset", "spree", "--output", "map.toml")
    kept = Path("map.toml").read_text()
    again = recon("map", "--preset", "spree", "--output", "map.toml")

    assert (added.code, again.code) == (0, 2)
    assert kept.startswith(own)
    assert reading.read_mapping(Path("map.toml")).intents.columns
    assert "has [intents] already" in again.stderr
    assert Path("map.toml").read_text() == kept


def test_the_presets_are_listed_for_people_and_programs(recon: Recon) -> None:
    people, programs = recon("map", "--presets"), recon("map", "--presets", "--format", "json")
    listed = json.loads(programs.stdout)
    names = [each["name"] for each in listed]

    assert all(each["get"].startswith(("as ", "by ")) for each in listed)  # A doubt says: get it by ...
    assert "lago" in names
    assert all(f"{name}  " in people.stdout for name in names)


def test_neither_a_file_nor_a_preset_is_a_question_back(recon: Recon) -> None:
    run = recon("map")

    assert run.code == 2
    assert "Name a FILE" in run.stderr


def test_text_of_a_file_cannot_command_a_terminal(recon: Recon) -> None:
    Path("shop.csv").write_text(SHOP.replace("R-1", "R\x1b[31m-1").replace("Queued", "Que\x1b[2Jued"))
    run = recon("map", "shop.csv", "--side", "intents", "--zone", "UTC")

    assert "\x1b" not in run.stdout


def test_of_a_long_cell_only_its_beginning_is_looked_at_and_shown(recon: Recon) -> None:
    long = "x" * 100_000
    Path("shop.csv").write_text(SHOP.replace("R-1,8812", f"R-1{long},8812"))
    people = recon("map", "shop.csv", "--side", "intents", "--zone", "UTC")
    programs = recon("map", "shop.csv", "--side", "intents", "--zone", "UTC", "--format", "json")

    assert "key R-1xxxxx" in people.stdout
    assert people.stdout.count("x") < 100
    assert programs.stdout.count("x") < 10_000
    assert programs.document["trial"]["rows"][0]["before"]["amount"] == "49.00"


def test_no_map_is_said_to_be_needless_where_no_row_is_read_or_tied(recon: Recon) -> None:
    head = "id,amount_minor,currency,status,created_at"
    Path("unread.csv").write_text(f"{head},charge\nre_1,4900,usd,succeeded,yesterday,ch_1\n")
    Path("untied.csv").write_text(f"{head}\nre_1,4900,usd,succeeded,2026-03-06T17:00:00Z\n")
    unread, untied = recon("map", "unread.csv"), recon("map", "untied.csv")

    assert (unread.code, untied.code) == (1, 1)
    assert "0 fit to be judged, 1 rejected" in unread.stdout
    assert "recon diff would judge none of these rows" in unread.stdout
    assert "1 fit to be judged, 0 rejected" in untied.stdout
    assert "No map is needed" not in unread.stdout + untied.stdout


@pytest.mark.parametrize("category, code", [("charge", 1), ("refund", 0)])
def test_a_map_whose_filter_keeps_none_of_the_rows_is_not_fine(
    recon: Recon, category: str, code: int
) -> None:
    money = {"gross": "-49.00", "net": "-49.00", "currency": "usd", "created_utc": "2026-03-06 17:00:00"}
    ids = {"source_id": "re_1", "payment_intent_id": "pi_1", "charge_id": "ch_1"}
    Path("balance.json").write_text(json.dumps([{**ids, **money, "reporting_category": category}]))

    run = recon("map", "balance.json", "--preset", "stripe-balance")

    assert (run.code, "would judge none of these rows" in run.stdout) == (code, code == 1)


def test_a_map_that_still_asks_is_no_argument_of_a_diff(recon: Recon) -> None:
    Path("shop.csv").write_text(SHOP.replace("2026-03-06 ", "06.03.2026 "))
    Path("bank.csv").write_text("id,amount_minor,currency,created_at\n")
    recon("map", "shop.csv", "--side", "intents", "--output", "map.toml")
    run = recon("diff", "shop.csv", "bank.csv", "--columns", "map.toml")

    assert run.code == 2
    assert "map.toml still has 1 question for [intents] (created_at on line" in run.stderr


def test_amounts_are_shown_without_a_currency_before_somebody_says_which(recon: Recon) -> None:
    Path("shop.csv").write_text(SHOP.replace(",curr", "").replace(",EUR", ""))
    known = ("--side", "intents", "--zone", "UTC")

    assert "amount 49.00," in recon("map", "shop.csv", *known).stdout
    assert "amount 49.00 -> 49.00 CAD," in recon("map", "shop.csv", *known, "--currency", "cad").stdout
