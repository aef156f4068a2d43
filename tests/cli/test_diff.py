import csv
import io
import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recon.cli.main import main

INTENT = {
    "key": "k1",
    "payment": "pi_1",
    "amount_minor": 4900,
    "currency": "usd",
    "status": "done",
    "created_at": "2026-03-06T17:00:00Z",
}
REFUND = {
    "id": "re_1",
    "payment_intent": "pi_1",
    "amount_minor": 4900,
    "currency": "usd",
    "status": "succeeded",
    "created_at": "2026-03-06T17:00:01Z",
    "intent_key": "k1",
}
LATER = ("--as-of", "2026-03-06T19:00:00Z")
ROOT = Path(__file__).parents[2]
STARTED = [sys.executable, "-c", "from recon.cli.main import main; main()"]
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}


@dataclass(frozen=True)
class Run:
    returncode: int
    stdout: str
    stderr: str


Recon = Callable[..., Run]


@pytest.fixture
def recon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Recon:
    """Run the command in this process, in a folder of its own with one intent and its refund."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    write([INTENT], [REFUND])

    def run(*arguments: str) -> Run:
        monkeypatch.setattr(sys, "argv", ["recon", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Run(int(ended.value.code or 0), said.out, said.err)

    return run


@pytest.fixture
def diff(recon: Recon) -> Recon:
    return partial(recon, "diff", "intents.json", "refunds.json")


def write(intents: list[dict[str, Any]], refunds: list[dict[str, Any]]) -> None:
    Path("intents.json").write_text(json.dumps(intents))
    Path("refunds.json").write_text(json.dumps(refunds))


def test_agreement_is_exit_0_and_nothing_but_the_report_is_on_stdout(diff: Recon) -> None:
    run = diff("--format", "json", *LATER)

    document = json.loads(run.stdout)
    assert (run.returncode, run.stderr) == (0, "")
    assert (document["verdict"], document["as_of"]) == ("reconciled", "2026-03-06T19:00:00Z")
    assert (document["counts"]["matched"], document["mismatches"]) == (1, [])


def test_a_mismatch_is_exit_1_and_reads_well_in_a_pipe(diff: Recon) -> None:
    write([INTENT], [])

    run = diff(*LATER)

    assert run.returncode == 1
    assert "missing: 1\n  intent:k1  49.00 USD\n" in run.stdout
    assert "\x1b" not in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 80


def test_a_csv_of_the_mismatches(diff: Recon) -> None:
    write([INTENT, {**INTENT, "key": "k2", "currency": "xyz"}], [])

    run = diff("--format", "csv", *LATER)

    (row,) = csv.DictReader(io.StringIO(run.stdout))
    assert (row["kind"], row["subject"], row["amount_at_risk"]) == ("missing", "intent:k1", "4900")
    assert "intents.json row 2: currency must be" in run.stderr
    assert run.returncode == 3


def test_a_rejected_row_is_exit_3_and_said_first(diff: Recon) -> None:
    write([INTENT], [REFUND, {**REFUND, "id": None, "intent_key": None}])

    run = diff(*LATER)

    assert run.returncode == 3
    assert run.stdout.startswith("Rejected rows: 1, not judged\n  refunds.json row 2: id is missing\n")


def test_an_incomplete_side_is_exit_3_and_proves_no_absence(diff: Recon) -> None:
    write([INTENT], [])

    run = diff("--incomplete", "refunds", "--format", "json", *LATER)

    document = json.loads(run.stdout)
    assert (run.returncode, document["verdict"]) == (3, "incomplete")
    assert (document["mismatches"], document["counts"]["withheld"]) == ([], 1)


def test_a_page_that_has_more_is_said_and_makes_the_result_incomplete(diff: Recon) -> None:
    page = {"object": "list", "has_more": True, "data": []}
    Path("refunds.json").write_text(json.dumps(page))

    run = diff("--format", "json", *LATER)

    assert (run.returncode, json.loads(run.stdout)["verdict"]) == (3, "incomplete")
    assert "has_more" in run.stderr


@pytest.mark.parametrize(
    "since, exit_code", [("2026-03-06T16:00:00Z", 1), ("2026-03-06T17:00:00.000001Z", 3)]
)
def test_refunds_from_says_what_the_file_can_know(diff: Recon, since: str, exit_code: int) -> None:
    write([INTENT], [])

    assert diff("--refunds-from", since, *LATER).returncode == exit_code


@pytest.mark.parametrize("since, exit_code", [("2026-03-06T16:00:00Z", 1), ("2026-03-06T18:00:00Z", 3)])
def test_intents_from_says_what_the_file_can_know(diff: Recon, since: str, exit_code: int) -> None:
    write([], [{**REFUND, "intent_key": None}])

    assert diff("--intents-from", since, *LATER).returncode == exit_code


def test_without_as_of_the_latest_time_of_both_files_is_used_and_said(diff: Recon) -> None:
    write([{**INTENT, "updated_at": "2026-03-06T18:00:00+01:00"}], [REFUND])

    run = diff("--format", "json")

    assert json.loads(run.stdout)["as_of"] == "2026-03-06T17:00:01Z"
    assert run.stderr == (
        "recon: Judged as of 2026-03-06T17:00:01Z, the latest time in the two files; --as-of sets another.\n"
    )


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (("--as-of", "2026-03-06T19:00:00"), "--as-of must be an ISO 8601 time with its zone"),
        (("--as-of", "yesterday"), "--as-of must be an ISO 8601 time with its zone"),
        (("--refunds-from", "2026-03-06"), "--refunds-from must be"),
        (("--columns", "nowhere.toml"), "nowhere.toml cannot be read"),
        (("--output", "nowhere/report.txt", *LATER), "nowhere/report.txt"),
        (("--format", "yaml"), "--format"),
        (("--incomplete", "everything"), "--incomplete"),
    ],
)
def test_an_argument_that_cannot_be_used_is_exit_2_and_a_sentence(
    diff: Recon, arguments: tuple[str, ...], expected: str
) -> None:
    run = diff(*arguments)

    assert (run.returncode, run.stdout) == (2, "")
    assert expected in run.stderr
    assert "Traceback" not in run.stderr


def test_an_unusable_file_is_exit_2_and_one_sentence(recon: Recon) -> None:
    run = recon("diff", "intents.json", "missing.csv")

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "recon: missing.csv cannot be read: No such file or directory.\n"


def test_two_files_without_a_time_need_one_said(diff: Recon) -> None:
    write([], [])

    assert diff().returncode == 2
    assert "--as-of" in diff().stderr
    assert diff(*LATER).returncode == 0


def test_an_output_file_holds_the_report_and_stdout_nothing(diff: Recon) -> None:
    for form in ("table", "json", "csv"):
        run = diff("--output", f"report.{form}", "--format", form, *LATER)

        assert (run.returncode, run.stdout) == (0, "")
        assert f"written to report.{form}" in run.stderr
    assert json.loads(Path("report.json").read_text())["verdict"] == "reconciled"
    assert Path("report.table").read_text().startswith("reconciled as of")
    assert Path("report.csv").read_text().startswith("kind,certainty")
    assert sorted(path.name for path in Path().iterdir()) == [
        "intents.json",
        "refunds.json",
        "report.csv",
        "report.json",
        "report.table",
    ]


def test_a_column_map_reads_other_peoples_headers(recon: Recon) -> None:
    Path("map.toml").write_text("[intents]\nkey = 'Ref'\namount = 'Sum'\ncreated_at = 'When'\n")
    Path("intents.csv").write_text("Ref,Sum,When,currency,status\nk1,49.00,2026-03-06T17:00:00Z,USD,done\n")

    run = recon("diff", "intents.csv", "refunds.json", "--columns", "map.toml", *LATER)

    assert (run.returncode, run.stderr) == (0, "")


def test_headers_that_nobody_knows_are_said_first_and_how_to_name_them(recon: Recon) -> None:
    Path("intents.json").write_text('[{"Ticket": "k1", "amount": "49.00", "currency": "usd"}]')
    Path("refunds.csv").write_text("Refund,Currency\nre_1,usd\n")
    result = recon("diff", "intents.json", "refunds.csv")

    first, second = result.stderr.splitlines()[:2]
    assert result.returncode == 2
    assert first.startswith("recon: intents.json: no column is called key, status, created_at, which intents")
    assert "no column is called id, amount_minor or amount, created_at" in second
    assert "'Refund', 'Currency'; --columns MAP.toml" in second


def test_help_and_version_answer_without_loading_frames() -> None:
    script = (
        "import sys\nfrom recon.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'pandas', 'pyarrow', 'sqlalchemy', 'stripe'} & sys.modules.keys()))"
    )
    for argument, expected in (("--help", "Usage: recon"), ("--version", "recon 0.")):
        run = subprocess.run(
            [sys.executable, "-c", script, argument],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=True,
        )

        assert expected in run.stdout
        assert run.stdout.endswith("\n[]\n")


def test_a_reader_that_stops_listening_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write([{**INTENT, "key": f"k{n}"} for n in range(3000)], [])
    command = f"{shlex.join(STARTED)} diff intents.json refunds.json --format json | head -n 1"

    run = subprocess.run(["sh", "-c", command], env=ENVIRONMENT, capture_output=True, text=True, check=False)

    assert run.stdout == "{\n"
    assert run.stderr.count("\n") == 1  # The time it was judged at.


def test_without_its_extra_the_command_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError('no', name='typer')")

    run = subprocess.run(
        STARTED,
        env={**ENVIRONMENT, "PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "recon: This command needs typer, which is not installed: pip install 'refund-recon[job]' "
        "(in the folder of a clone: pip install '.[job]').\n"
    )


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_beyond_the_calendar_is_refused(diff: Recon, time: str) -> None:
    run = diff("--as-of", time)

    assert run.returncode == 2
    assert "--as-of must be an ISO 8601 time" in run.stderr


def test_without_a_time_the_rejected_rows_say_why(diff: Recon) -> None:
    write([{**INTENT, "created_at": "soon"}], [])

    run = diff()

    assert run.returncode == 2
    assert "intents.json row 1: created_at must be" in run.stderr
    assert "has a time to judge at: see first to what is said above, or say one" in run.stderr


def test_what_the_options_times_leave_unjudged_is_said(diff: Recon) -> None:
    write([INTENT], [])

    run = diff("--refunds-from", "2026-03-06T17:00:01Z", "--format", "json", *LATER)

    assert (run.returncode, json.loads(run.stdout)["verdict"]) == (3, "incomplete")
    assert "was not judged" in run.stderr


@pytest.mark.parametrize("format_", ["table", "json"])
def test_a_report_that_stdout_does_not_take_is_exit_2(recon: Recon, format_: str) -> None:
    command = [*STARTED, "diff", "intents.json", "refunds.json", "--format", format_, *LATER]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False, text=True
        )

    assert ended.returncode == 2
    assert ended.stderr.startswith("recon: The report cannot be written to standard output: No space left")


@pytest.mark.parametrize("format_, expected", [("table", b"intent:k?"), ("json", "intent:k\u20ac".encode())])
def test_a_terminal_of_another_alphabet_still_gets_its_report(
    recon: Recon, format_: str, expected: bytes
) -> None:
    write([{**INTENT, "key": "k\u20ac"}], [])
    command = [*STARTED, "diff", "intents.json", "refunds.json", "--format", format_, *LATER]

    ended = subprocess.run(
        command, capture_output=True, env={**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}, check=False
    )

    assert ended.returncode == 1
    assert expected in ended.stdout


def test_a_terminal_of_no_width_still_gets_its_report(diff: Recon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "0")

    assert "reconciled" in diff(*LATER).stdout


def test_a_bug_does_not_end_like_an_answer(diff: Recon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recon.doors.files.reading.read_intents", lambda *_, **__: 1 / 0)

    run = diff(*LATER)

    assert run.returncode == 70
    assert "ZeroDivisionError" in run.stderr


def test_a_sum_beyond_any_integer_column_is_a_sum_all_the_same(diff: Recon) -> None:
    largest = 2**63 - 1
    write([INTENT], [{**REFUND, "id": id_, "amount_minor": largest} for id_ in ("re_1", "re_2")])

    (mismatch,) = json.loads(diff("--format", "json", *LATER).stdout)["mismatches"]

    assert mismatch["kind"] == "duplicate"
    assert mismatch["amount_at_risk"] == 2 * largest - 4900


@pytest.mark.parametrize(
    "created_at, apart",
    [
        ("2026-03-06T17:00:01Z", "in the same second as"),
        ("2026-03-06T17:00:00Z", "1 second before"),
        ("2026-03-06T17:30:01Z", "30 minutes after"),
    ],
)
def test_a_twin_is_named_with_how_far_apart_the_two_are(diff: Recon, created_at: str, apart: str) -> None:
    write([INTENT], [REFUND, {**REFUND, "id": "re_2", "intent_key": None, "created_at": created_at}])

    (mismatch,) = json.loads(diff("--format", "json", *LATER).stdout)["mismatches"]

    assert mismatch["why"] == (
        f"re_2 sent 49.00 USD that no intent asked for, {apart} re_1 on the same payment:"
        " the customer seems to have been refunded twice."
    )
