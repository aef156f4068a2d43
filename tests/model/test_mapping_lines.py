import pytest

from recon.model import layout, mapping_toml
from recon.model.errors import UnusableInput
from recon.model.layout import Named

MAP = """# shop.csv as intents
[intents]
# DECIDE: Which column tells rows apart? No name says so.
# key = "No."  # No. is different in every row
# key = "Row"  # Row is different in every row
# DECIDE: Are the amounts in minor or in major units?
# amount_minor = "Sum"  # 4900 is 49.00: minor units
# amount = "Sum"  # 4900 is 4900.00: major units
# DECIDE: Which zone are they in?
# created_at = { column = "Day", zone = "UTC" }  # they are in UTC
# zone = "UTC"  # they are in UTC
currency = "Cur"  # its name says so
status = "State"
# 1 of 300 are below zero: sign = "either" takes them as refunds.
# DECIDE: Is it what you meant to refund (--side intents) or what the provider did?

[refunds]
# DECIDE: Which column holds the payment?
# charge = "Pay"  # Pay could be it
"""
SHOP = Named("shop.csv", names=dict.fromkeys(["No.", "Row", "Sum", "Day", "Cur", "State"]))


def answered(*lines: int) -> str:
    text = MAP.split("\n")
    for line in lines:
        text[line - 1] = text[line - 1].removeprefix("# ")
    return "\n".join(text)


@pytest.mark.parametrize(
    "lines, open_",
    [
        ((), [(3, "key"), (6, "amount_minor"), (9, "created_at")]),
        ((4,), [(6, "amount_minor"), (9, "created_at")]),
        ((5, 8, 10), [(9, "zone")]),
        ((4, 7, 11), [(9, "created_at")]),
        ((5, 7, 10, 11), []),
    ],
)
def test_a_question_is_open_until_one_of_its_answers_is_a_line(
    lines: tuple[int, ...], open_: list[tuple[int, str]]
) -> None:
    told = mapping_toml.read(answered(*lines), file="map.toml")

    assert [(each.line, each.names[0]) for each in told.intents.unanswered] == open_
    assert [(each.line, each.names) for each in told.refunds.unanswered] == [(18, ("charge",))]


def test_an_answer_in_other_words_or_in_a_table_of_its_own_is_one() -> None:
    text = answered(8, 10, 11).replace("[intents]", "[intents]\nkey = 'Third'")
    with_table = answered(8, 10, 11).replace("\n[refunds]", "\n[intents.columns]\nkey = 'Third'\n[refunds]")

    assert mapping_toml.read(text, file="map.toml").intents.unanswered == ()
    assert mapping_toml.read(with_table, file="map.toml").intents.unanswered == ()


def test_a_table_whose_map_still_asks_for_what_it_needs_is_refused_with_every_question() -> None:
    told = mapping_toml.read(answered(4), file="map.toml").intents

    with pytest.raises(UnusableInput) as refused:
        layout.check(SHOP, "intents", told)

    questions = "2 questions for [intents] (amount_minor on line 6, created_at on line 9)"
    assert str(refused.value) == f"map.toml still has {questions}: take the # off one answer of each."


def test_a_question_without_which_rows_can_be_judged_is_said_and_refuses_nothing() -> None:
    told = mapping_toml.read(MAP, file="map.toml").refunds
    names = ["id", "amount_minor", "currency", "created_at", "Pay"]

    layout.check(Named("bank.csv", names=dict.fromkeys(names)), "refunds", told)

    (note,) = layout.notes(names, "refunds", layout.of(names, "refunds", told))
    assert note.startswith(
        "map.toml still has 1 question for [refunds] (charge on line 18), of which nothing"
    )


@pytest.mark.parametrize(
    "text, says",
    [
        (answered(4, 5), "map.toml says key twice, on line 4 and on line 5: put a # before one of them."),
        ("[intents]\nkey = 'a'\n[refunds]\nid = 'a'\nid = 'b'", "map.toml says id twice, on line 4 and on"),
        ("[intents]\nkey = { column = 'a', column = 'b' }", "map.toml must be a TOML file: "),
        ("[intents]\nkey = 'a'\n[intents]\n", "map.toml must be a TOML file: "),
    ],
)
def test_what_is_said_twice_is_said_with_both_lines(text: str, says: str) -> None:
    with pytest.raises(UnusableInput) as refused:
        mapping_toml.read(text, file="map.toml")

    assert str(refused.value).startswith(says)
