import csv
import io
import json
import re
import subprocess
from pathlib import Path

import openpyxl
import pytest

from tests.cli.test_diff import ENVIRONMENT, INTENT, LATER, REFUND, STARTED, Recon, diff, recon, write

__all__ = ["diff", "recon"]  # Fixtures.

EARLIER = ("--as-of", "2026-03-06T18:59:59Z")


@pytest.fixture
def old(diff: Recon) -> str:
    """A former report: one missing, one refunded twice, one refund that nobody asked for."""
    write(
        [INTENT, {**INTENT, "key": "k2", "payment": "pi_2"}],
        [
            {**REFUND, "intent_key": "k2", "payment_intent": "pi_2"},
            {**REFUND, "id": "re_2", "intent_key": "k2", "payment_intent": "pi_2"},
            {**REFUND, "id": "re_9", "intent_key": None, "payment_intent": "pi_9"},
        ],
    )
    assert diff("--format", "json", "--output", "old.json", *EARLIER).returncode == 1
    return "old.json"


def now() -> None:
    """What came after: the missing one is there in part, the orphan got its intent, and one is new."""
    write(
        [
            INTENT,
            {**INTENT, "key": "k2", "payment": "pi_2"},
            {**INTENT, "key": "k3", "payment": "pi_3"},
            {**INTENT, "key": "k9", "payment": "pi_9", "refund_id": "re_9"},
        ],
        [
            {**REFUND, "amount_minor": 900},
            {**REFUND, "id": "re_3", "intent_key": "k2", "payment_intent": "pi_2"},
            {**REFUND, "id": "re_2", "intent_key": "k2", "payment_intent": "pi_2", "amount_minor": 5000},
            {**REFUND, "id": "re_9", "intent_key": None, "payment_intent": "pi_9"},
        ],
    )


def test_a_comparison_in_json_has_one_key_more_and_adds_up(diff: Recon, old: str) -> None:
    now()

    document = json.loads(diff("--format", "json", "--compare", old, *LATER).stdout)
    plain = json.loads(diff("--format", "json", *LATER).stdout)
    compared = document.pop("compared")

    assert document == plain
    assert compared["with"] == {
        "source": "old.json",
        "as_of": "2026-03-06T18:59:59Z",
        "verdict": "breaks",
        "mismatches": 3,
    }
    assert compared["counts"] == {
        "new": 1,
        "persisting": 1,
        "reclassified": 1,
        "resolved": 1,
        "not_judged": 0,
        "changed_amount": 2,
    }
    assert compared["at_risk"] == {
        "new": {"before": {}, "now": {"usd": 4900}},
        "persisting": {"before": {"usd": 4900}, "now": {"usd": 5000}},
        "reclassified": {"before": {"usd": 4900}, "now": {"usd": 4000}},
        "resolved": {"before": {"usd": 4900}, "now": {}},
        "not_judged": {"before": {}, "now": {}},
    }
    assert {each["subject"]: each["standing"] for each in compared["subjects"]} == {
        "intent:k3": "new",
        "intent:k2": "persisting",
        "intent:k1": "reclassified",
        "refund:re_9": "resolved",
    }
    assert compared["subjects"][-1]["now_is"] == "no mismatch"


def test_a_comparison_in_every_other_form(diff: Recon, old: str) -> None:
    now()

    rows = list(csv.DictReader(io.StringIO(diff("--format", "csv", "--compare", old, *LATER).stdout)))
    table = diff("--compare", old, *LATER).stdout
    page = diff("--format", "html", "--compare", old, *LATER).stdout
    diff("--format", "xlsx", "--compare", old, "--output", "new.xlsx", *LATER)
    sheet = openpyxl.load_workbook("new.xlsx")["Compared"]

    standings = {row["subject"]: (row["standing"], row["kind"], row["earlier_kind"]) for row in rows}
    assert standings == {
        "intent:k1": ("reclassified", "amount_mismatch", "missing"),
        "intent:k2": ("persisting", "duplicate", "duplicate"),
        "intent:k3": ("new", "missing", ""),
        "refund:re_9": ("resolved", "", "orphan"),
    }
    assert "Since old.json, as of 2026-03-06T18:59:59Z" in table
    assert "resolved: refund:re_9  orphan 49.00 USD  then no mismatch" in table
    assert "reclassified: intent:k1  missing 49.00 USD  then amount mismatch 40.00 USD" in table
    assert re.search(r"^earlier report +3 +147\.00 USD *$", table, re.MULTILINE)
    assert re.search(r"^this report +3 +139\.00 USD *$", table, re.MULTILINE)
    assert max(map(len, table.splitlines())) <= 80
    assert "Since the earlier report" in page
    assert [row[0].value for row in sheet.iter_rows()] == [
        "Standing",
        "new",
        "persisting",
        "reclassified",
        "resolved",
    ]


@pytest.mark.parametrize(
    "options, now_is, said",
    [
        ((), "not in these files", "3 earlier mismatches rest on rows that are not in these files"),
        (
            ("--refunds-from", "2026-03-06T18:30:00Z", "--intents-from", "2026-03-06T18:30:00Z"),
            "not judged",
            "2 earlier mismatches were read and not judged",
        ),
    ],
)
def test_what_nobody_could_see_this_time_is_not_resolved(
    diff: Recon, old: str, options: tuple[str, ...], now_is: str, said: str
) -> None:
    if not options:
        write([{**INTENT, "key": "k5"}], [{**REFUND, "id": "re_5", "intent_key": "k5"}])
    arguments = ("--compare", old, *options, *LATER)

    document = json.loads(diff("--format", "json", *arguments).stdout)["compared"]
    rows = list(csv.DictReader(io.StringIO(diff("--format", "csv", *arguments).stdout)))
    diff("--format", "xlsx", "--output", "new.xlsx", *arguments)
    sheets = openpyxl.load_workbook("new.xlsx")
    gone = document["counts"]["not_judged"]

    assert document["counts"]["resolved"] == 0
    assert gone == int(said[0])
    assert gone + document["counts"]["persisting"] == document["with"]["mismatches"]
    assert [row["now_is"] for row in rows if row["standing"] == "not_judged"] == [now_is] * gone
    assert [row[-1].value for row in sheets["Compared"].iter_rows()][-gone:] == [now_is] * gone
    assert said in str([row[1].value for row in sheets["Summary"].iter_rows()])
    assert said in " ".join(diff(*arguments).stdout.split())
    assert f"{now_is}: refund:re_9  orphan 49.00 USD\n" in diff(*arguments).stdout
    assert said in diff("--format", "html", *arguments).stdout


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("--compare", "nowhere.json"), "nowhere.json cannot be read: No such file"),
        (("--compare", "intents.json"), "intents.json must be a report that recon diff --format json wrote"),
        (("--compare", "old.json", "--as-of", "2026-03-06T18:00:00Z"), "old.json was judged as of"),
        (("--policy", "nowhere.toml"), "nowhere.toml cannot be read"),
        (("--policy", "odd.toml"), "'stuck_after' is no grace; known are stuck_after_minutes"),
        (("--zone", "Europe/Nowhere"), "--zone must be the name of a time zone"),
        (("--zone", "Europe"), "--zone must be the name of a time zone"),
        (("--zone", "../UTC"), "--zone must be the name of a time zone"),
        (("--zone", ""), "--zone must be the name of a time zone"),
    ],
)
def test_what_cannot_be_used_is_exit_2_and_a_sentence(
    diff: Recon, old: str, arguments: tuple[str, ...], said: str
) -> None:
    Path("odd.toml").write_text("stuck_after = 60\n")

    run = diff(*arguments)

    assert (run.returncode, run.stdout) == (2, "")
    assert said in run.stderr
    assert "Traceback" not in run.stderr


def test_other_graces_judge_otherwise_and_the_page_says_so(diff: Recon) -> None:
    Path("policy.toml").write_text("[policy]\nmissing_after_minutes = 180\n")
    write([INTENT], [])

    run = diff("--policy", "policy.toml", "--format", "html", *LATER)

    assert run.returncode == 0
    assert "Nothing disagrees; 1 too young to judge." in run.stdout
    assert "The graces are those of policy.toml" in run.stdout
    assert diff(*LATER).returncode == 1


def test_the_zone_is_the_pages(diff: Recon) -> None:
    page = diff("--format", "html", "--zone", "Asia/Kolkata", *LATER).stdout

    assert "As of 2026-03-07 00:30. All times are Asia/Kolkata." in page


def test_a_spreadsheet_goes_into_a_pipe_or_a_file_and_not_onto_a_terminal(
    diff: Recon, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [*STARTED, "diff", "intents.json", "refunds.json", "--format", "xlsx", *LATER]
    piped = subprocess.run(command, capture_output=True, env=ENVIRONMENT, check=False)
    written = diff("--format", "xlsx", "--output", "r.xlsx", *LATER)
    monkeypatch.setattr("recon.cli.diff._on_a_terminal", lambda: True)
    shown = diff("--format", "xlsx", *LATER)

    assert (piped.returncode, written.returncode, shown.returncode) == (0, 0, 2)
    assert piped.stdout == Path("r.xlsx").read_bytes()
    assert openpyxl.load_workbook(io.BytesIO(piped.stdout)).sheetnames[0] == "Summary"
    assert "say --output FILE.xlsx" in shown.stderr


def test_a_page_of_rejected_rows_lists_them(diff: Recon) -> None:
    write([INTENT], [REFUND, {**REFUND, "id": None, "intent_key": None}])

    run = diff("--format", "html", *LATER)

    assert run.returncode == 3
    assert "Rejected rows: 1" in run.stdout
    assert "id is missing" in run.stdout


def test_what_the_table_says_to_see_is_there_and_each_side_has_its_sums(diff: Recon) -> None:
    write([INTENT], [{**REFUND, "intent_key": None, "payment_intent": "pi_9"}])

    since = ("--refunds-from", "2026-03-06T18:30:00Z", *LATER)
    run = diff(*since)

    assert run.returncode == 3
    assert "was not judged: --format xlsx lists it." in diff("--format", "json", *since).stderr
    assert "see withheld" in run.stderr
    assert "withheld: 1, not judged\n  1: older than what the file of refunds holds" in run.stdout
    assert re.search(r"^intents done +1 +49\.00 USD *$", run.stdout, re.MULTILINE)
    assert re.search(r"^refunds live: went out, or will +1 +49\.00 USD *$", run.stdout, re.MULTILINE)


def test_a_page_of_refunds_that_is_not_the_last_is_called_a_part(diff: Recon) -> None:
    write([INTENT], [{"object": "list", "has_more": True, "data": []}])

    run = diff("--format", "html", *LATER)

    assert "only a part: absence proves nothing" in run.stdout
    assert "Not all refunds were read" in run.stdout
