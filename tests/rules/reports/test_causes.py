import pytest

from recon.model.records.results import Reject
from recon.rules.reports import causes


def rejects(number: int, reason: str, source: str = "shop.csv", first: int = 1) -> list[Reject]:
    return [Reject(source, row, f"k{row}", reason) for row in range(first, first + number)]


@pytest.mark.parametrize(
    "number, expected",
    [
        (0, []),
        (1, [("shop.csv row 1 (k1): currency is missing", 1)]),
        (
            3,
            [
                ("shop.csv row 1 (k1): currency is missing", 1),
                ("shop.csv row 2 (k2): currency is missing", 1),
                ("shop.csv row 3 (k3): currency is missing", 1),
            ],
        ),
        (4, [("shop.csv rows 1, 2, 3 and 1 more: currency is missing", 4)]),
        (1_301, [("shop.csv rows 1, 2, 3 and 1,298 more: currency is missing", 1_301)]),
    ],
)
def test_many_rows_of_one_cause_are_one_line(number: int, expected: list[tuple[str, int]]) -> None:
    found = causes.lines(rejects(number, "currency is missing"), ids=True)

    assert [(each.text, each.number) for each in found] == expected


def test_a_cause_is_of_one_file_and_wherever_its_lines_are() -> None:
    many = [each for row in range(1, 6) for each in rejects(1, f"id is missing (line {row + 1})", first=row)]

    found = causes.lines([*many, *rejects(1, "id is missing", "b.csv"), *rejects(1, "other (line 9)")])

    assert [each.text for each in found] == [
        "shop.csv rows 1, 2, 3 and 2 more: id is missing",
        "b.csv row 1: id is missing",
        "shop.csv row 1: other (line 9)",
    ]


def test_many_of_one_cause_hide_no_other() -> None:
    text = [each.text for each in causes.lines([*rejects(500, "a"), *rejects(1, "b", first=501)])]

    assert text == ["shop.csv rows 1, 2, 3 and 497 more: a", "shop.csv row 501: b"]
