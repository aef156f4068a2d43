"""How the report of a run reads, where a command of its own would only be slower."""

from dataclasses import replace

from recon.cli import run, run_table
from recon.hourly import RunReport
from recon.model.records.results import Reject
from recon.model.records.words import IntentStatus
from tests.hours import Town


def told(report: RunReport) -> list[str]:
    return [line.text for line in run_table.lines(report, dashboard="", delivers=False)]


def rejected(reason: str, *ids: str | None) -> list[Reject]:
    return [Reject("requests", row, named, reason) for row, named in enumerate(ids, 1)]


def test_rejected_rows_are_one_line_for_each_reason_the_commonest_first(town: Town) -> None:
    rows = [
        *rejected("one is missing", "a"),
        *rejected("two is missing", "a", "b", "c", "d", "e"),
        *rejected("three is missing", None, "b"),
        *(row for word in ("four", "five", "six", "seven") for row in rejected(f"{word} is missing", "z")),
    ]
    report = town.run()
    report = replace(report, result=replace(report.result, rejected=tuple(rows)))

    assert told(report)[:7] == [
        "Rejected rows: 12; what they touch was not judged",
        "5 rows of requests (a, b, c and 2 more): two is missing",
        "2 rows of requests (row 1, b): three is missing",
        "1 row of requests (a): one is missing",
        "1 row of requests (z): four is missing",
        "1 row of requests (z): five is missing",
        "and 2 more for other reasons; --format json lists every row",
    ]
    listed = run.as_json(report)["rejected"]
    assert isinstance(listed, list)
    assert len(listed) == len(rows)


def test_a_reclassified_case_says_what_it_was(town: Town) -> None:
    intent = town.intend("lost")
    town.pass_time(hours=1)
    opened = town.run()
    town.record(intent, status=IntentStatus.PENDING_UNKNOWN)
    report = town.run()

    assert not any("was:" in line for line in told(opened))
    (line,) = (line for line in told(report) if line.startswith("Reclassified"))
    assert line.startswith("Reclassified: Outcome unknown (stuck) (was: missing), ")
    changes = run.as_json(report)["changes"]
    assert isinstance(changes, list)
    assert [(each["kind"], each["was"]) for each in changes] == [("stuck", "missing")]


def test_a_reply_to_an_earlier_message_is_told_by_itself(town: Town) -> None:
    town.run()
    town.street.fault("GET /v1/refunds", "drop_before", times=2)
    town.run()
    lines = told(town.run())
    (over,) = [line for line in lines if line.startswith("#operators, in its thread: Over: the test run of ")]

    assert lines[lines.index(over) - 1] == "Notices: 1 (0 in channels, 1 in their threads)"
