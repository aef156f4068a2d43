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


def test_many_rows_that_hold_different_values_are_of_one_cause() -> None:
    tied = [f"different rows are about intent 'k{row // 2}', and no updated_at says more" for row in range(9)]
    wrong = [f"made is no time; found '{day}.3.', as it's 'so'; status is x; found 'no'" for day in range(4)]
    every = [Reject("shop.csv", row, None, each) for row, each in enumerate([*tied, *wrong], 1)]

    assert [each.text.partition(": ")[0::2] for each in causes.lines(every)] == [
        (
            "shop.csv rows 1, 2, 3 and 6 more",
            "different rows are about intent 'k0', 'k1', 'k2' and 2 more, and no updated_at says more",
        ),
        (
            "shop.csv rows 10, 11, 12 and 1 more",
            "made is no time; found '0.3.', '1.3.', '2.3.' and 1 more, as it's 'so'; status is x; found 'no'",
        ),
    ]


def test_few_rows_that_hold_different_values_have_a_line_each() -> None:
    wrong = [Reject("shop.csv", row, None, f"status must be x; found '{row}'") for row in range(1, 4)]

    assert [each.text for each in causes.lines(wrong)] == [
        f"shop.csv row {row}: status must be x; found '{row}'" for row in range(1, 4)
    ]


def test_a_value_that_looks_like_the_end_of_another_loses_no_line() -> None:
    wrong = [
        Reject("shop.csv", row, None, f"status must be x; found 'a', '{row}'; b'") for row in range(1, 9)
    ]

    assert sum(each.number for each in causes.lines(wrong)) == 8
